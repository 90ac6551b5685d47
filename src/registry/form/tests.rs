use super::*;

/// A form with a prefix or a suffix, each empty where there is none, and a replacement.
fn form(prefix: &str, suffix: &str, wildcard: &str) -> MarkForm {
    let prefix = (!prefix.is_empty()).then(|| MarkAffix::prefix(prefix).unwrap());
    let suffix = (!suffix.is_empty()).then(|| MarkAffix::suffix(suffix).unwrap());
    let wildcard = (!wildcard.is_empty()).then(|| MarkForm::wildcard(wildcard).unwrap());
    MarkForm { affix: prefix.or(suffix), wildcard }
}

/// A name.
fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// The names that count for an RRset, without the final dot.
fn names(form: &MarkForm, owner: &str, rtype: Rtype) -> Vec<String> {
    form.names(name(owner).as_name(), rtype).map(|name| name.to_string().trim_end_matches('.').to_owned()).collect()
}

#[test]
fn names_have_the_type_before_the_first_label_and_what_is_set_around_it() {
    let at = |form: &MarkForm, owner: &str, rtype: Rtype| {
        form.txt_name(name(owner).as_name(), rtype).unwrap().map(|name| name.to_string()).unwrap()
    };
    assert_eq!(at(&form("", "", ""), "www.example.net", Rtype::AAAA), "aaaa-www.example.net.");
    assert_eq!(at(&form("", "", ""), "*.example.net", Rtype::A), "a-*.example.net.");
    assert_eq!(at(&form("", "", "Any"), "*.example.net", Rtype::A), "a-any.example.net.");
    assert_eq!(at(&form("Edns-", "", ""), "www.example.net", Rtype::A), "edns-a-www.example.net.");
    assert_eq!(at(&form("_mark.x-", "", ""), "www.example.net", Rtype::MX), "_mark.x-mx-www.example.net.");
    assert_eq!(at(&form("%{record_type}.", "", ""), "example.net", Rtype::MX), "mx.example.net.");
    assert_eq!(at(&form("e-%{record_type}-", "", ""), "www.example.net", Rtype::SRV), "e-srv-www.example.net.");
    assert_eq!(at(&form("", "-edns", ""), "www.example.net", Rtype::TXT), "txt-www-edns.example.net.");
    assert_eq!(at(&form("", "-.%{record_type}", ""), "www.example.net", Rtype::CNAME), "www-.cname.example.net.");
    assert_eq!(at(&form("", ".edns", "any"), "*.example.net", Rtype::CAA), "caa-any.edns.example.net.");
    assert!(form("", "", "").txt_name(Name::root().as_name(), Rtype::A).is_none());
    let long = name(&format!("{}.example.net", "x".repeat(62)));
    assert_eq!(form("", "", "").txt_name(long.as_name(), Rtype::A), Some(Err(NameError::LabelTooLong(64))));
}

#[test]
fn where_earlier_versions_wrote_counts_but_for_aaaa_and_where_it_says_something_else() {
    let plain = form("", "", "");
    assert_eq!(names(&plain, "www.example.net", Rtype::A), ["a-www.example.net", "www.example.net"]);
    assert_eq!(names(&plain, "www.example.net", Rtype::AAAA), ["aaaa-www.example.net"]);
    // That one is the mark of the A at `foo`.
    assert_eq!(names(&plain, "a-foo.example.net", Rtype::A), ["a-a-foo.example.net"]);
    assert_eq!(names(&plain, "mx.example.net", Rtype::A), ["a-mx.example.net", "mx.example.net"]);
    let prefix = form("edns-%{record_type}-", "", "");
    let all = ["edns-a-www.example.net", "edns--a-www.example.net", "edns--www.example.net"];
    assert_eq!(names(&prefix, "www.example.net", Rtype::A), all);
    let suffix = form("", "-edns", "any");
    assert_eq!(names(&suffix, "*.example.net", Rtype::A), ["a-any-edns.example.net", "any-edns.example.net"]);
}

#[test]
fn names_are_read_back_as_external_dns_reads_them() {
    let read = |form: &MarkForm, txt: &str| {
        form.recorded_by(name(txt).as_name()).map(|(rtype, name)| (rtype, name.to_string()))
    };
    let of = |rtype: Option<Rtype>, name: &str| Some((rtype, name.to_owned()));
    let plain = form("", "", "");
    assert_eq!(read(&plain, "a-www.example.net"), of(Some(Rtype::A), "www.example.net."));
    assert_eq!(read(&plain, "www.example.net"), of(None, "www.example.net."));
    assert_eq!(read(&plain, "caa-www.example.net"), of(Some(Rtype::CAA), "www.example.net."));
    assert_eq!(read(&plain, "uri-www.example.net"), of(Some(Rtype::URI), "www.example.net."));
    assert_eq!(read(&plain, "hinfo-www.example.net"), of(Some(Rtype::HINFO), "www.example.net."));
    assert_eq!(read(&plain, "type65501-www.example.net"), of(Some(Rtype::from_int(65501)), "www.example.net."));
    assert_eq!(read(&plain, "typewriter-www.example.net"), of(None, "typewriter-www.example.net."));
    let prefix = form("e.%{record_type}-", "", "");
    assert_eq!(read(&prefix, "e.cname-www.example.net"), of(Some(Rtype::CNAME), "www.example.net."));
    assert_eq!(read(&prefix, "e.-cname-www.example.net"), of(Some(Rtype::CNAME), "www.example.net."));
    assert_eq!(read(&prefix, "www.example.net"), None);
    assert_eq!(read(&prefix, "e.uri-www.example.net"), of(Some(Rtype::URI), "www.example.net."));
    let suffix = form("", ".x-%{record_type}", "");
    assert_eq!(read(&suffix, "www.x-srv.example.net"), of(Some(Rtype::SRV), "www.example.net."));
    assert_eq!(read(&suffix, "www.example.net"), None);
    assert_eq!(read(&suffix, "www"), None);
}

#[test]
fn what_fits_no_name_is_refused() {
    let prefix = |text: &str| MarkAffix::prefix(text).unwrap_err();
    assert_eq!(prefix(""), AffixFault::Empty);
    assert_eq!(prefix("a b"), AffixFault::Character(' '));
    assert_eq!(prefix("%{type}-"), AffixFault::Character('%'));
    assert_eq!(prefix(".x"), AffixFault::EmptyLabel);
    assert_eq!(prefix("a..x"), AffixFault::EmptyLabel);
    assert_eq!(prefix(&"x".repeat(64)), AffixFault::TooLong);
    let suffix = |text: &str| MarkAffix::suffix(text).unwrap_err();
    assert_eq!(suffix("x."), AffixFault::EmptyLabel);
    assert_eq!(suffix("-x..y"), AffixFault::EmptyLabel);
    assert_eq!(MarkForm::wildcard("a.b"), Err(AffixFault::Character('.')));
    assert_eq!(MarkForm::wildcard("%{record_type}"), Err(AffixFault::Character('%')));
    assert_eq!(MarkForm::wildcard("Any"), Ok("any".to_owned()));
    assert_eq!(prefix(".").to_string(), "it gives an empty label");
}
