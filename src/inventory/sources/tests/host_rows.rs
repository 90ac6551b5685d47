//! hosts.csv.

use super::*;

#[test]
fn hosts_are_read_sorted_and_numbered() {
    let outcome = hosts(
        "# a comment\n\
         7,,search,free,man,,,,,\n\
         \n\
         5,\"Sas1-0001.search.example.net\",search,assigned,sas,\"a \"\"q\"\", b\",r1,sas1-s1,ge1,x; automated-dns\r\n\
         6,free-6.FREE.invalid.,other,assigned,sas,,,sas1-s1,,\n",
    );
    assert_eq!((outcome.text().as_str(), &outcome.trust), ("", &Trust::Known));
    let [five, six, seven] = outcome.draft.hosts.as_slice() else { panic!("three hosts") };
    assert_eq!((five.inv, six.inv, seven.inv), (Inv(5), Inv(6), Inv(7)));
    assert_eq!(five.name, Some(Name::parse("sas1-0001.search.example.net").unwrap()));
    assert!(five.restricted && !six.restricted && !five.bad);
    assert_eq!((six.name.as_ref(), seven.name.as_ref(), seven.switch), (None, None, None));
    assert_eq!((five.switch, five.location), (six.switch, six.location));
    assert_eq!((five.status, seven.status), (HostStatus::Assigned, HostStatus::Free));
    assert_eq!((five.origin.line, seven.origin.line), (5, 3));
    assert_eq!(outcome.draft.projects.texts().collect::<Vec<_>>(), ["search", "other"]);
    assert!(!outcome.draft.has_bad_names);
}

#[test]
fn bad_host_rows_say_what_is_wrong_and_freeze_their_host() {
    let outcome = hosts(
        "1,sas 1.example.net,search,assigned,sas,,,s,,\n\
         x,,search,assigned,sas,,,s,,\n\
         2,,search,maybe,sas,,,s,\n\
         3,,,assigned,,,,s,,\n\
         4,\"a\"b,search,assigned,sas,,,s,,\n\
         8,,search,assigned,sas,,,s\0,,\n\
         9,\"open,search\n",
    );
    insta::assert_snapshot!(outcome.text(), @r#"
    hosts-1: error[too-many-bad-rows]: source `hosts`: 7 of 7 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    hosts-1:2:3: error[bad-name]: `sas 1.example.net` is not a host name: the character ' '
      2 | 1,sas 1.example.net,search,assigned,sas,,,s,,
        |   ^^^^^^^^^^^^^^^^^
        = rule: labels are 1 to 63 letters, digits, hyphens and underscores, names at most 255 bytes (zonewright help bad-name)
        = hint: correct the name
    hosts-1:3:1: error[bad-inv]: `x` is not an inventory number
      3 | x,,search,assigned,sas,,,s,,
        | ^
        = rule: an inventory number is an unsigned integer in decimal digits (zonewright help bad-inv)
        = hint: correct the number; until then the row belongs to no host
    hosts-1:4:1: error[field-count]: 9 fields instead of 10
      4 | 2,,search,maybe,sas,,,s,
        = rule: every row has exactly the fields of its format (zonewright help field-count)
        = hint: complete the row, or quote a field that holds a comma
    hosts-1:5:4: error[empty-field]: the project is empty
      5 | 3,,,assigned,,,,s,,
        |    ^
        = rule: inv, project, status and location are never empty (zonewright help empty-field)
        = hint: complete the row
    hosts-1:5:14: error[empty-field]: the location is empty
      5 | 3,,,assigned,,,,s,,
        |              ^
        = rule: inv, project, status and location are never empty (zonewright help empty-field)
        = hint: complete the row
    hosts-1:6:3: error[bad-quoting]: text behind the closing quote of a field
      6 | 4,"a"b,search,assigned,sas,,,s,,
        |   ^^^^
        = rule: a quoted field begins and ends with a quote, with quotes in it doubled (RFC 4180 section 2) (zonewright help bad-quoting)
        = hint: correct the quotes
    hosts-1:7:27: error[bad-character]: a control character, or a byte that is not UTF-8
      7 | 8,,search,assigned,sas,,,s\u{0},,
        |                           ^^^^^
        = rule: exports are UTF-8 without control characters (zonewright help bad-character)
        = hint: find out which program wrote this byte, and export again
    hosts-1:8:3: error[bad-quoting]: a quote that is never closed
      8 | 9,"open,search
        |   ^^^^^^^^^^^^
        = rule: a quoted field begins and ends with a quote, with quotes in it doubled (RFC 4180 section 2) (zonewright help bad-quoting)
        = hint: correct the quotes
    "#);
    assert_eq!(outcome.draft.hosts.iter().map(|host| host.inv.0).collect::<Vec<_>>(), [1, 2, 3, 4, 8, 9]);
    assert!(outcome.draft.hosts.iter().all(|host| host.bad));
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (7, 7));
    assert_eq!(outcome.doubt(), "source `hosts`: 7 of 7 rows are bad");
    assert!(outcome.draft.has_bad_names);
}

#[test]
fn names_have_bounds() {
    for name in [
        &format!("{}.example.net", "a".repeat(64)),
        &[&*"a".repeat(63); 4].join("."),
        "a..b",
        "a\\032b.c",
        "\u{e4}.example.net",
        ".",
        "*.example.net",
    ] {
        let outcome = hosts(&format!("1,{name},search,assigned,sas,,,s,,\n"));
        assert_eq!(outcome.codes(), ["bad-name"], "{name}");
        assert_eq!((outcome.tally.bad, outcome.doubt()), (1, "known"));
    }
}

#[test]
fn octets_that_are_no_text_are_a_bad_row() {
    let bytes = [HEADER.as_bytes(), b"1,,search,assigned,s\xffs,,,,,\n2,,search,assigned,sas,,,,,\n"].concat();
    let outcome = read_with("hosts", &[&bytes], |_| {});
    assert_eq!(outcome.codes(), ["bad-character"]);
    assert_eq!(outcome.draft.hosts.iter().map(|host| host.bad).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_number_on_two_rows_freezes_both() {
    let outcome = read_with(
        "hosts",
        &[
            format!("{HEADER}1,,search,assigned,sas,,,,,\n2,,search,assigned,sas,,,,,\n").as_bytes(),
            format!("{HEADER}1,,search,free,sas,,,,,\n").as_bytes(),
        ],
        |_| {},
    );
    insta::assert_snapshot!(outcome.text(), @"
    hosts-1: error[too-many-bad-rows]: source `hosts`: 2 of 3 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    hosts-1:2: error[duplicate-inv]: 1 is on several rows
      2 | 1,,search,assigned,sas,,,,,
        = also: the other is hosts-2:2
        = rule: an inventory number always means the same host (zonewright help duplicate-inv)
        = hint: remove or correct one of the rows; until then all of them are frozen
    hosts-2:2: error[duplicate-inv]: 1 is on several rows
      2 | 1,,search,free,sas,,,,,
        = also: the other is hosts-1:2
        = rule: an inventory number always means the same host (zonewright help duplicate-inv)
        = hint: remove or correct one of the rows; until then all of them are frozen
    ");
    assert_eq!(outcome.draft.hosts.iter().map(|host| host.bad).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn another_header_makes_hosts_unknown() {
    let outcome = read("hosts", "inv,name\n1,a\n");
    assert_eq!(outcome.codes(), ["bad-header"]);
    assert_eq!(outcome.doubt(), "source `hosts`: hosts-1 has another header");
    let outcome = read("hosts", &format!("\u{feff}# exported\n{}1,,p,free,sas,,,,,\r\n", HEADER.replace('\n', "\r\n")));
    assert_eq!((outcome.text().as_str(), outcome.draft.hosts.len()), ("", 1));
}

#[test]
fn rows_are_one_in_a_hundred_bad_at_most_and_one_always_may() {
    let rows = |bad: usize, good: usize| {
        let bad: String = (0..bad).map(|n| format!("{n},,search,x,sas,,,,,\n")).collect();
        let good: String = (1000..1000 + good).map(|n| format!("{n},,search,free,sas,,,,,\n")).collect();
        hosts(&(bad + &good)).trust
    };
    assert_eq!(rows(1, 0), Trust::Known);
    assert_eq!(rows(2, 198), Trust::Known);
    assert_ne!(rows(2, 197), Trust::Known);
}

#[test]
fn chunks_are_joined_in_order() {
    let name = |n: usize| if n.is_multiple_of(3) { String::new() } else { format!("h{n}.search.example.net") };
    let count = 60_000;
    let rows: String =
        (0..count).map(|n| format!("{},{},p{},assigned,sas,,,s{},,\n", count - n, name(n), n % 7, n % 1000)).collect();
    let text = format!("{HEADER}{}\n{rows}0,,p,x,sas,,,,,\n# end {}\n", "# long\n".repeat(300_000), count + 1);
    let outcome = read("hosts", &text);
    assert_eq!((outcome.doubt(), outcome.codes()), ("known", vec!["bad-status"]));
    assert_eq!(outcome.draft.hosts.len(), count + 1);
    for (place, host) in outcome.draft.hosts.iter().enumerate().skip(1) {
        let n = count - place;
        assert_eq!(host.inv, Inv(place as u64));
        assert_eq!(host.origin.line as usize, n + 300_003);
        assert_eq!(host.switch.map(|switch| outcome.draft.symbols.text(switch)), Some(&*format!("s{}", n % 1000)));
        assert_eq!(host.name.is_none(), n % 3 == 0);
    }
}

#[test]
fn a_date_before_the_header_moves_no_line() {
    let outcome = read("hosts", &format!("# generated: 2026-11-20T01:00:00Z\n{HEADER}7,,search,maybe,man,,,,,\n"));
    assert_eq!(outcome.draft.hosts[0].origin.line, 3);
    assert_eq!((outcome.tally.rows, outcome.codes()), (1, vec!["bad-status"]));
}
