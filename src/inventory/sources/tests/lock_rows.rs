//! names.lock.

use super::*;

#[test]
fn locks_say_who_has_and_had_which_name() {
    let outcome = read(
        "names_lock",
        "2\tb.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\ta.old.example.net\tsearch\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n\
         1\tfree-1.free.invalid\tsearch\t2026-11-19T00:00:00Z\t-\n\
         3\tx.elsewhere\tsearch\t2026-01-01T00:00:00Z\t2026-11-13T11:59:59Z\n\
         4\tx.elsewhere\tunknown\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n",
    );
    assert_eq!((outcome.text().as_str(), &outcome.trust), ("", &Trust::Known));
    let rows: Vec<_> =
        outcome.draft.lock.iter().map(|row| (row.inv.0, row.name.is_some(), row.released.is_some())).collect();
    assert_eq!(rows, [(1, false, false), (1, true, true), (2, true, false), (3, true, true), (4, true, true)]);
}

#[test]
fn rows_of_names_lock_that_contradict_say_which_counts() {
    let outcome = read(
        "names_lock",
        "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n\
         2\ta.search.example.net\tsearch\t2026-01-02T00:00:00Z\t-\n\
         2\tfree-2.free.invalid\tsearch\t2026-01-01T00:00:00Z\t-\n\
         3\tc.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         3\tc.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         4\td.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         4\tfree-4.free.invalid\tsearch\t2026-01-02T00:00:00Z\t-\n\
         <<<<<<< HEAD\n\
         =======\n\
         ======\n",
    );
    let heads: Vec<String> = outcome.text().lines().filter(|line| line.contains('[')).map(str::to_owned).collect();
    insta::assert_snapshot!(heads.join("\n"), @"
    names_lock-1: error[too-many-bad-rows]: source `names_lock`: 10 of 11 rows are bad; at most 1 may be
    names_lock-1:1: warning[current-and-released]: host 1 has `a.search.example.net.` in this row, but another row says that it gave the name up at 2026-11-19T00:00:00Z
    names_lock-1:1: error[two-current-holders]: `a.search.example.net.` is current in several rows; host 2 keeps it: host 1 gave `a.search.example.net.` up at 2026-11-19T00:00:00Z
    names_lock-1:3: error[two-current-holders]: `a.search.example.net.` is current in several rows; host 2 keeps it: host 1 gave `a.search.example.net.` up at 2026-11-19T00:00:00Z
    names_lock-1:3: error[two-current-names]: host 2 has several current rows; it keeps `a.search.example.net.`: since 2026-01-02T00:00:00Z, no earlier than its release at 2026-01-01T00:00:00Z
    names_lock-1:4: error[two-current-names]: host 2 has several current rows; it keeps `a.search.example.net.`: since 2026-01-02T00:00:00Z, no earlier than its release at 2026-01-01T00:00:00Z
    names_lock-1:5: error[two-current-names]: host 3 has several current rows; it keeps `c.search.example.net.`: one row since 2026-01-01T00:00:00Z is enough
    names_lock-1:6: error[two-current-names]: host 3 has several current rows; it keeps `c.search.example.net.`: one row since 2026-01-01T00:00:00Z is enough
    names_lock-1:7: error[two-current-names]: host 4 has several current rows; it keeps no name: it was released at 2026-01-02T00:00:00Z, after 2026-01-01T00:00:00Z
    names_lock-1:8: error[two-current-names]: host 4 has several current rows; it keeps no name: it was released at 2026-01-02T00:00:00Z, after 2026-01-01T00:00:00Z
    names_lock-1:9:1: error[conflict-marker]: git could not merge the rows here
    names_lock-1:10:1: error[conflict-marker]: git could not merge the rows here
    names_lock-1:11:1: error[field-count]: 1 field instead of `inv name project since released`
    ");
}

#[test]
fn a_name_from_before_a_release_does_not_count_though_it_is_the_first() {
    let outcome = read(
        "names_lock",
        "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\tfree-1.free.invalid\tsearch\t2026-01-02T00:00:00Z\t-\n\
         1\tb.search.example.net\tsearch\t2026-01-03T00:00:00Z\t-\n",
    );
    let expected = "it keeps `b.search.example.net.`: since 2026-01-03T00:00:00Z: the host got it after a release, \
                    and `a.search.example.net.` before that release";
    assert_eq!(outcome.text().matches(expected).count(), 2, "{}", outcome.text());
}

#[test]
fn bad_lock_rows_are_bad_for_all_concerned() {
    let outcome = read(
        "names_lock",
        "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         1\tb.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
         2\tB.search.example.net.\tsearch\t2026-01-01T00:00:00Z\t-\n\
         3\tc.elsewhere\tsearch\t2026-01-01T00:00:00Z\t2026-11-13T12:00:00Z\n\
         4\td.search.example.net\tsearch\tlong ago\tnever\n\
         5 e.search.example.net search\n\
         x\tf.search.example.net\t\t2026-01-01T00:00:00Z\t-\n\
         6\tg.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n",
    );
    insta::assert_snapshot!(outcome.text(), @"
    names_lock-1: error[too-many-bad-rows]: source `names_lock`: 7 of 8 rows are bad; at most 1 may be
        = rule: zonewright does not use a source with more bad rows than `max_bad_rows` (zonewright help too-many-bad-rows)
        = hint: correct the rows, or raise `max_bad_rows` in zonewright.toml
    names_lock-1:1: error[two-current-names]: host 1 has several current rows; it keeps `a.search.example.net.`: since 2026-01-01T00:00:00Z like `b.search.example.net.`, and it is the lower of the two
      1 | 1 a.search.example.net search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:2
        = rule: a host has one current row (zonewright help two-current-names)
        = hint: let `zonewright check --fix-lock` settle it, or give all but one of the rows the time of the release
    names_lock-1:2: error[two-current-holders]: `b.search.example.net.` is current in several rows; host 2 keeps it: host 1 keeps another name
      2 | 1 b.search.example.net search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:3
        = rule: a name is current in one row (zonewright help two-current-holders)
        = hint: let `zonewright check --fix-lock` settle it, or release the name of all but one of the hosts
    names_lock-1:2: error[two-current-names]: host 1 has several current rows; it keeps `a.search.example.net.`: since 2026-01-01T00:00:00Z like `b.search.example.net.`, and it is the lower of the two
      2 | 1 b.search.example.net search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:1
        = rule: a host has one current row (zonewright help two-current-names)
        = hint: let `zonewright check --fix-lock` settle it, or give all but one of the rows the time of the release
    names_lock-1:3: error[two-current-holders]: `b.search.example.net.` is current in several rows; host 2 keeps it: host 1 keeps another name
      3 | 2 B.search.example.net. search 2026-01-01T00:00:00Z -
        = also: the other is names_lock-1:2
        = rule: a name is current in one row (zonewright help two-current-holders)
        = hint: let `zonewright check --fix-lock` settle it, or release the name of all but one of the hosts
    names_lock-1:4:3: error[foreign-released-name]: `c.elsewhere.` is not directly below a domain of project `search`
      4 | 3 c.elsewhere search 2026-01-01T00:00:00Z 2026-11-13T12:00:00Z
        |   ^^^^^^^^^^^
        = rule: a released name is directly below a domain of its project (zonewright help foreign-released-name)
        = hint: correct the project of the row, or give the project the domain in `also_domains`
    names_lock-1:5:31: error[bad-time]: `long ago` is not a time
      5 | 4 d.search.example.net search long ago never
        |                               ^^^^^^^^
        = rule: times are RFC 3339 with an offset, such as 2026-11-20T01:00:00Z (zonewright help bad-time)
        = hint: correct the time
    names_lock-1:5:40: error[bad-time]: `never` is not a time
      5 | 4 d.search.example.net search long ago never
        |                                        ^^^^^
        = rule: times are RFC 3339 with an offset, such as 2026-11-20T01:00:00Z (zonewright help bad-time)
        = hint: correct the time
    names_lock-1:6:1: error[field-count]: 1 field instead of `inv name project since released`
      6 | 5 e.search.example.net search
        = rule: every row has exactly the fields of its format (zonewright help field-count)
        = hint: write its five fields with one tab between them
    names_lock-1:7:1: error[bad-inv]: `x` is not an inventory number
      7 | x f.search.example.net  2026-01-01T00:00:00Z -
        | ^
        = rule: an inventory number is an unsigned integer in decimal digits (zonewright help bad-inv)
        = hint: correct the number; until then the row belongs to no host
    names_lock-1:7:24: error[empty-field]: the project is empty
      7 | x f.search.example.net  2026-01-01T00:00:00Z -
        |                        ^
        = rule: a row is `inv name project since released`, separated by tabs (zonewright help empty-field)
        = hint: complete the row
    ");
    let bad: Vec<_> = outcome.draft.lock.iter().map(|row| (row.inv.0, row.bad)).collect();
    assert_eq!(bad, [(1, true), (1, true), (2, true), (3, true), (4, true), (6, false)]);
    assert_eq!((outcome.tally.rows, outcome.tally.bad), (8, 7));
}
