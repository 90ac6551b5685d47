use super::*;
use crate::dns::{Name, Rdata, RdataRef, Rrset, Ttl, ZoneBuilder, ZoneName};

/// The zone example.net with a SOA, a NS and these records, one a line: owner, type, RDATA, names relative to the zone.
fn zone_of(records: &str) -> ZoneContents {
    let name = |text: &str| match text {
        "@" => Name::parse("example.net").unwrap(),
        text if text.ends_with('.') => Name::parse(text).unwrap(),
        text => Name::parse(&format!("{text}.example.net")).unwrap(),
    };
    let apex = name("@");
    let mut builder = ZoneBuilder::new(ZoneName::new(apex.clone()));
    builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
    let ttl = Ttl::from_secs(60).unwrap();
    for line in ["@ NS ns"].into_iter().chain(records.lines()) {
        let [owner, rtype, data] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let rtype: Rtype = rtype.parse().unwrap();
        let rdata = match rtype {
            Rtype::NS | Rtype::CNAME | Rtype::DNAME => Rdata::from_name(name(data).as_name()),
            _ => Rdata::parse(rtype, data).unwrap(),
        };
        builder.push(name(owner).as_name(), rtype, ttl, rdata.as_octets()).unwrap();
    }
    builder.finish().unwrap()
}

/// What a zone with these records and its SOA answers about names, one line for each.
fn answers(records: &str, questions: &[(&str, Rtype)]) -> String {
    let contents = zone_of(records);
    let line = |(name, rtype): &(&str, Rtype)| {
        let question = Question { name: Name::parse(name).unwrap(), rtype: *rtype };
        let texts = |rtype, rrset: &crate::dns::Rrset| rrset.rdata_texts(rtype).join(", ");
        let said = match answer(&contents, &question) {
            Answer::Holds(rtype, rrset) => format!("holds {rtype} {} {}", rrset.ttl(), texts(rtype, &rrset)),
            Answer::Nothing => "nothing".to_owned(),
            Answer::Delegated(cut, servers) => {
                format!("delegated at {cut} to {}", texts(Rtype::NS, &servers.unwrap()))
            }
            Answer::BelowDname(owner, rrset) => format!("below {owner} DNAME {}", texts(Rtype::DNAME, &rrset)),
        };
        format!("{name} {rtype}: {said}\n")
    };
    questions.iter().map(line).collect()
}

#[test]
fn what_stands_at_a_name_is_the_answer_or_the_cname_in_its_place() {
    let records = "a AAAA ::2\na AAAA ::1\nc CNAME a\n* A 192.0.2.1\nx.y A 192.0.2.1\n";
    let names = ["example.net", "a.example.net", "c.example.net", "absent.example.net", "y.example.net"];
    let mut questions: Vec<_> = names.iter().map(|name| (*name, Rtype::AAAA)).collect();
    questions.extend([("c.example.net", Rtype::CNAME), ("example.net", Rtype::NS)]);
    insta::assert_snapshot!(answers(records, &questions), @r"
    example.net AAAA: nothing
    a.example.net AAAA: holds AAAA 60 ::1, ::2
    c.example.net AAAA: holds CNAME 60 a.example.net.
    absent.example.net AAAA: nothing
    y.example.net AAAA: nothing
    c.example.net CNAME: holds CNAME 60 a.example.net.
    example.net NS: holds NS 60 ns.example.net.
    ");
}

#[test]
fn what_is_delegated_or_renamed_is_answered_from_above() {
    let records = "sub NS ns.sub\nns.sub AAAA ::1\nlow.sub NS ns\nd DNAME sub\nd A 192.0.2.1\nx.d NS ns\n";
    let names = ["sub", "ns.sub", "x.low.sub", "d", "x.d"].map(|name| format!("{name}.example.net"));
    let questions: Vec<_> = names.iter().map(|name| (name.as_str(), Rtype::A)).collect();
    insta::assert_snapshot!(answers(records, &questions), @r"
    sub.example.net A: delegated at sub.example.net. to ns.sub.example.net.
    ns.sub.example.net A: nothing
    x.low.sub.example.net A: delegated at sub.example.net. to ns.sub.example.net.
    d.example.net A: holds A 60 192.0.2.1
    x.d.example.net A: below d.example.net. DNAME sub.example.net.
    ");
    let at_apex =
        answers("@ DNAME example.com.\n@ A 192.0.2.1\n", &[("example.net", Rtype::A), ("a.b.example.net", Rtype::A)]);
    insta::assert_snapshot!(at_apex, @r"
    example.net A: holds A 60 192.0.2.1
    a.b.example.net A: below example.net. DNAME example.com.
    ");
}

/// A name.
fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A question.
fn question(text: &str, rtype: Rtype) -> Question {
    Question { name: name(text), rtype }
}

/// The RRset of one pointer.
fn to(target: &str) -> Rrset {
    Rrset::new(Ttl::DEFAULT, vec![Rdata::from_name(name(target).as_name())]).unwrap()
}

/// The zone `example.net.` with a SOA and these pointers.
fn zone(records: &[(&str, Rtype, &str)]) -> ZoneContents {
    let mut builder = ZoneBuilder::new(ZoneName::new(name("example.net")));
    let soa = RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata();
    builder.push(name("example.net").as_name(), Rtype::SOA, Ttl::DEFAULT, soa.as_octets()).unwrap();
    for (owner, rtype, target) in records {
        let rdata = Rdata::from_name(name(target).as_name());
        builder.push(name(owner).as_name(), *rtype, Ttl::DEFAULT, rdata.as_octets()).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn a_whole_zone_answers_as_its_server_would() {
    let zone = zone(&[
        ("example.net", Rtype::NS, "ns.example.net"),
        ("p.example.net", Rtype::PTR, "x.example.net"),
        ("c.example.net", Rtype::CNAME, "x.example.net"),
        ("cut.example.net", Rtype::NS, "ns.cut.example.net"),
        ("d.example.net", Rtype::DNAME, "e.example.net"),
        ("d.example.net", Rtype::PTR, "x.example.net"),
        ("y.d.example.net", Rtype::NS, "ns.example.net"),
    ]);
    let answer = |text, rtype| super::answer(&zone, &question(text, rtype));
    assert_eq!(answer("example.net", Rtype::NS), Answer::Holds(Rtype::NS, to("ns.example.net")));
    assert_eq!(answer("p.example.net", Rtype::PTR), Answer::Holds(Rtype::PTR, to("x.example.net")));
    assert_eq!(answer("p.example.net", Rtype::TXT), Answer::Nothing);
    assert_eq!(answer("c.example.net", Rtype::PTR), Answer::Holds(Rtype::CNAME, to("x.example.net")));
    let cut = Answer::Delegated(name("cut.example.net"), Some(to("ns.cut.example.net")));
    assert_eq!(answer("cut.example.net", Rtype::PTR), cut);
    assert_eq!(answer("a.b.cut.example.net", Rtype::PTR), cut);
    assert_eq!(answer("d.example.net", Rtype::PTR), Answer::Holds(Rtype::PTR, to("x.example.net")));
    let below = Answer::BelowDname(name("d.example.net"), to("e.example.net"));
    assert_eq!(answer("a.d.example.net", Rtype::PTR), below);
    // Names below the DNAME do not exist, including a delegation.
    assert_eq!(answer("y.d.example.net", Rtype::PTR), below);
}
#[test]
fn a_name_exists_where_something_is_at_it_or_below_it_or_a_wildcard_covers_it() {
    let records = "a A 192.0.2.1\nx.y A 192.0.2.1\n*.w TXT \"x\"\nb.w A 192.0.2.1\nsub NS ns.sub\n";
    let contents = zone_of(records);
    let names = ["a", "y", "absent", "c.w", "c.b.w", "z.sub"].map(|name| format!("{name}.example.net"));
    let names = names.map(|name| Name::parse(&name).unwrap());
    let present = NameExistence::Present;
    let cut = NameExistence::Delegated(Name::parse("sub.example.net").unwrap());
    let absent = NameExistence::Absent;
    let expected = [present.clone(), present.clone(), absent.clone(), present, absent, cut];
    assert_eq!(existence(&contents, &names), expected, "`b.w` exists, so that the wildcard covers nothing below it");
}
