use super::super::lock::write;
use super::*;
use crate::inventory::load_workspace;

/// The clock.
const NOW: &str = "2026-11-20T12:00:00Z";

/// Hosts 1 to 9 are in `web`, which has fastbones, 10 and above in `db`.
const SETTINGS: &str = "\
owner = \"fleet\"
[sources]
projects = \"*.yaml\"
hosts = \"hosts.csv\"
[project.web]
dns_domain = \"web.test\"
also_domains = [\"also.test\"]
[project.db]
dns_domain = \"db.test\"
";

/// names.lock as a fix leaves it, and what that decided: lines, `---`, decisions, `! ` before those that are left.
fn fixed(lock: &[&str]) -> String {
    let (new, settlement) = fix(&text(lock), NOW);
    let (again, nothing) = fix(&new, "2026-11-20T13:00:00Z");
    assert_eq!((again, nothing.decided), (new.clone(), Vec::new()), "a settled file stays unchanged");
    let mut turned: Vec<&str> = lock.to_vec();
    turned.reverse();
    let (again, same) = fix(&text(&turned), NOW);
    assert_eq!((&again, &same.decided, &same.left), (&new, &settlement.decided, &settlement.left), "any order will do");
    let shown = |decisions: &[HostDecision], sign: &str| {
        let lines = decisions.iter().map(|decision| format!("{sign}host {} {}\n", decision.inv, decision.message));
        lines.collect::<String>()
    };
    let Settlement { decided, left, .. } = &settlement;
    new.replace('\t', " ").replace("2026-11-", "")
        + "---\n"
        + &(shown(decided, "") + &shown(left, "! ")).replace("2026-11-", "")
}

/// Lines of names.lock: fields with blanks between them, `DD` for times in November.
fn text(lock: &[&str]) -> String {
    let time = |field: &str| match field.strip_prefix('@') {
        Some(day) => format!("2026-11-{day}T00:00:00Z"),
        None => field.to_owned(),
    };
    let line = |line: &&str| {
        if line.starts_with(['<', '|', '=', '>', '#']) {
            format!("{line}\n")
        } else {
            line.split(' ').map(time).collect::<Vec<_>>().join("\t") + "\n"
        }
    };
    lock.iter().map(line).collect()
}

/// A fix of a file.
fn fix(lock: &str, now: &str) -> (String, Settlement) {
    let folder = tempfile::tempdir().unwrap();
    let put = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    put("zonewright.toml", SETTINGS);
    put("web.yaml", "id: web\nvlan_scheme: search\nvlans: {main: 604, fastbone: 761}\nautomation: true\n");
    put("db.yaml", "id: db\nvlan_scheme: static\nvlans: {main: 700}\nautomation: true\n");
    let rows = (1..12).map(|inv| format!("{inv},,{},assigned,sas,,,s1,,\n", if inv < 10 { "web" } else { "db" }));
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    put("hosts.csv", &(header.to_owned() + &rows.collect::<String>()));
    put("names.lock", lock);
    let now = now.parse().unwrap();
    let loaded = load_workspace(folder.path(), now, &|_| {});
    let inventory = loaded.inventory.unwrap();
    let settlement = settle(&inventory, lock, now);
    (write(lock, &inventory, &settlement.edits, now), settlement)
}

#[test]
fn equal_rows_stand_once() {
    let lock =
        ["1 x.web.test web @18 -", "1 x.web.test web @18 -", "1 y.web.test web @16 @18", "1 y.web.test web @16 @18"];
    insta::assert_snapshot!(fixed(&lock), @"
    1 x.web.test web 18T00:00:00Z -
    1 y.web.test web 16T00:00:00Z 18T00:00:00Z
    ---
    host 1 gave up `y.web.test.` in 2 equal rows: one stays
    host 1 has `x.web.test.` in 2 equal rows: one stays
    ");
    // Rows that say the same in other words are one too.
    insta::assert_snapshot!(fixed(&["1 X.web.test. web @18 -", "1 x.web.test web @18 -"]), @"
    1 X.web.test. web 18T00:00:00Z -
    ---
    host 1 has `x.web.test.` in 2 equal rows: one stays
    ");
}

#[test]
fn a_release_beats_the_row_that_it_was_made_of() {
    let lock = ["1 x.web.test web @10 -", "1 x.web.test web @10 @18", "1 free-1.free.invalid web @18 -"];
    insta::assert_snapshot!(fixed(&lock), @"
    1 free-1.free.invalid web 18T00:00:00Z -
    1 x.web.test web 10T00:00:00Z 18T00:00:00Z
    ---
    host 1 no longer has `x.web.test.`: it gave it up at 18T00:00:00Z, and this older row was left over
    ");
}

#[test]
fn a_name_that_was_given_again_is_held() {
    let lock = ["1 x.web.test web @19 -", "1 x.web.test web @10 @18", "1 x.web.test web @10 @17"];
    insta::assert_snapshot!(fixed(&lock), @"
    1 x.web.test web 19T00:00:00Z -
    ---
    host 1 has `x.web.test.` in one row now: since 19T00:00:00Z, in `web`
    ");
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "1 x.web.test web @10 @18"]), @"
    1 x.web.test web 18T00:00:00Z -
    ---
    host 1 has `x.web.test.` in one row now: since 18T00:00:00Z, in `web`
    ");
    insta::assert_snapshot!(fixed(&["1 x.web.test web @17 -", "1 x.web.test web @10 @18"]), @"
    1 x.web.test web 10T00:00:00Z 18T00:00:00Z
    ---
    host 1 no longer has `x.web.test.`: it gave it up at 18T00:00:00Z, and this older row was left over
    ");
    insta::assert_snapshot!(fixed(&["1 x.web.test web @17 @19", "1 x.web.test web @10 @18"]), @r"
    1 x.web.test web 17T00:00:00Z 19T00:00:00Z
    ---
    host 1 gave up `x.web.test.` several times: the last, at 19T00:00:00Z, stays
    ");
}

#[test]
fn of_two_rows_of_a_name_the_first_counts_in_the_project_of_hosts_csv() {
    insta::assert_snapshot!(fixed(&["1 x.web.test db @17 -", "1 x.web.test web @18 -"]), @"
    1 x.web.test web 17T00:00:00Z -
    ---
    host 1 has `x.web.test.` in one row now: since 17T00:00:00Z, in `web`
    ");
    insta::assert_snapshot!(fixed(&["1 x.web.test db @17 -", "1 x.web.test web @17 -"]), @"
    1 x.web.test web 17T00:00:00Z -
    ---
    host 1 has `x.web.test.` in one row now: since 17T00:00:00Z, in `web`
    ");
}

#[test]
fn a_release_and_a_name_of_one_host_are_decided_by_the_later() {
    let renamed = "1 x.web.test web @10 @19";
    let released = "1 x.web.test web @10 @18";
    let lock = [released, "1 free-1.free.invalid web @18 -", renamed, "1 y.web.test web @19 -"];
    insta::assert_snapshot!(fixed(&lock), @r"
    1 x.web.test web 10T00:00:00Z 19T00:00:00Z
    1 y.web.test web 19T00:00:00Z -
    ---
    host 1 gave up `x.web.test.` several times: the last, at 19T00:00:00Z, stays
    host 1 has `y.web.test.`: it was given after the release
    ");
    let lock = [released, "1 y.web.test web @18 -", renamed, "1 free-1.free.invalid web @19 -"];
    insta::assert_snapshot!(fixed(&lock), @r"
    1 free-1.free.invalid web 19T00:00:00Z -
    1 x.web.test web 10T00:00:00Z 19T00:00:00Z
    1 y.web.test web 18T00:00:00Z 20T12:00:00Z
    ---
    host 1 gave up `x.web.test.` several times: the last, at 19T00:00:00Z, stays
    host 1 has no name: its release at 19T00:00:00Z came after `y.web.test.`
    ");
    let lock = ["1 y.web.test web @18 -", "1 free-1.free.invalid web @18 -", "1 free-1.free.invalid web @17 -"];
    insta::assert_snapshot!(fixed(&lock), @"
    1 y.web.test web 18T00:00:00Z -
    ---
    host 1 has `y.web.test.`: it was given after the release
    host 1 has no name in one row now: since 18T00:00:00Z, in `web`
    ");
}

#[test]
fn a_host_keeps_the_name_that_it_had_first() {
    insta::assert_snapshot!(fixed(&["1 a.web.test web @18 -", "1 b.web.test web @17 -"]), @r"
    1 a.web.test web 18T00:00:00Z 20T12:00:00Z
    1 b.web.test web 17T00:00:00Z -
    ---
    host 1 keeps `b.web.test.`, which it had first, and gives up `a.web.test.`
    ");
    insta::assert_snapshot!(fixed(&["1 b.web.test web @17 -", "1 a.web.test web @17 -"]), @r"
    1 a.web.test web 17T00:00:00Z -
    1 b.web.test web 17T00:00:00Z 20T12:00:00Z
    ---
    host 1 keeps `a.web.test.`, the lower one, and gives up `b.web.test.`
    ");
    let lock = ["1 a.web.test web @10 -", "1 b.web.test web @14 -", "1 free-1.free.invalid web @12 -"];
    insta::assert_snapshot!(fixed(&lock), @r"
    1 a.web.test web 10T00:00:00Z 20T12:00:00Z
    1 b.web.test web 14T00:00:00Z -
    ---
    host 1 has `b.web.test.`: it was given after the release
    host 1 keeps `b.web.test.`, which it was given after a release, and gives up `a.web.test.`
    ");
}

#[test]
fn a_name_stays_with_the_host_that_had_it_first() {
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "2 x.web.test web @17 -"]), @r"
    1 free-1.free.invalid web 20T12:00:00Z -
    1 x.web.test web 18T00:00:00Z 20T12:00:00Z
    2 x.web.test web 17T00:00:00Z -
    ---
    host 1 gives up `x.web.test.`: host 2 has it since 17T00:00:00Z, earlier than 18T00:00:00Z
    ");
    insta::assert_snapshot!(fixed(&["2 x.web.test web @17 -", "1 x.web.test web @17 -"]), @r"
    1 x.web.test web 17T00:00:00Z -
    2 free-2.free.invalid web 20T12:00:00Z -
    2 x.web.test web 17T00:00:00Z 20T12:00:00Z
    ---
    host 2 gives up `x.web.test.`: host 1 has it since 17T00:00:00Z as well, and has the lower number
    ");
    // What else the loser gave up stays.
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "1 y.web.test web @09 @18", "2 x.web.test web @17 -"]), @r"
    1 free-1.free.invalid web 20T12:00:00Z -
    1 x.web.test web 18T00:00:00Z 20T12:00:00Z
    1 y.web.test web 09T00:00:00Z 18T00:00:00Z
    2 x.web.test web 17T00:00:00Z -
    ---
    host 1 gives up `x.web.test.`: host 2 has it since 17T00:00:00Z, earlier than 18T00:00:00Z
    ");
}

#[test]
fn a_short_name_is_one_hosts_in_all_domains() {
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "10 x.db.test db @17 -", "2 x.also.test web @19 -"]), @r"
    1 free-1.free.invalid web 20T12:00:00Z -
    1 x.web.test web 18T00:00:00Z 20T12:00:00Z
    2 free-2.free.invalid web 20T12:00:00Z -
    2 x.also.test web 19T00:00:00Z 20T12:00:00Z
    10 x.db.test db 17T00:00:00Z -
    ---
    host 1 gives up `x.web.test.`: host 10 has `x.db.test.`, the same short name, since 17T00:00:00Z, earlier than 18T00:00:00Z
    host 2 gives up `x.also.test.`: host 10 has `x.db.test.`, the same short name, since 17T00:00:00Z, earlier than 19T00:00:00Z
    ");
}

#[test]
fn a_fastbone_takes_its_short_name() {
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "10 fb-x.db.test db @19 -"]), @r"
    1 x.web.test web 18T00:00:00Z -
    10 fb-x.db.test db 19T00:00:00Z 20T12:00:00Z
    10 free-10.free.invalid db 20T12:00:00Z -
    ---
    host 10 gives up `fb-x.db.test.`: host 1 has `x.web.test.`, and a fastbone is in the way, since 18T00:00:00Z, earlier than 19T00:00:00Z
    ");
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "10 fb-x.db.test db @17 -"]), @r"
    1 free-1.free.invalid web 20T12:00:00Z -
    1 x.web.test web 18T00:00:00Z 20T12:00:00Z
    10 fb-x.db.test db 17T00:00:00Z -
    ---
    host 1 gives up `x.web.test.`: host 10 has `fb-x.db.test.`, and a fastbone is in the way, since 17T00:00:00Z, earlier than 18T00:00:00Z
    ");
    // A host of a project without fastbones leaves that name to others; and a host that lost its name takes none from
    // another host.
    insta::assert_snapshot!(fixed(&["10 x.db.test db @18 -", "1 fb-x.web.test web @19 -", "2 fb-fb-x.web.test web @20 -"]), @r"
    1 fb-x.web.test web 19T00:00:00Z -
    2 fb-fb-x.web.test web 20T00:00:00Z 20T12:00:00Z
    2 free-2.free.invalid web 20T12:00:00Z -
    10 x.db.test db 18T00:00:00Z -
    ---
    host 2 gives up `fb-fb-x.web.test.`: host 1 has `fb-x.web.test.`, and a fastbone is in the way, since 19T00:00:00Z, earlier than 20T00:00:00Z
    ");
}

#[test]
fn a_name_that_no_row_may_say_released_is_left_to_people() {
    insta::assert_snapshot!(fixed(&["1 x.db.test web @18 -", "10 x.db.test db @17 -"]), @"
    1 x.db.test web 18T00:00:00Z -
    10 x.db.test db 17T00:00:00Z -
    ---
    ! host 1 gives up `x.db.test.`: host 10 has it since 17T00:00:00Z, earlier than 18T00:00:00Z; but `x.db.test.` is in no domain of its project, so an operator must do this by hand
    ");
}

#[test]
fn a_release_stays_while_the_name_before_it_is_left_to_people() {
    let lock = ["1 x.db.test web @10 -", "1 free-1.free.invalid web @12 -", "1 y.web.test web @14 -"];
    insta::assert_snapshot!(fixed(&lock), @"
    1 free-1.free.invalid web 12T00:00:00Z -
    1 x.db.test web 10T00:00:00Z -
    1 y.web.test web 14T00:00:00Z -
    ---
    ! host 1 keeps `y.web.test.`, which it was given after a release, and gives up `x.db.test.`; but `x.db.test.` is in no domain of its project, so an operator must do this by hand
    ");
}

#[test]
fn bad_rows_stay_as_they_are() {
    let lock =
        ["1 x.web.test web never -", "2 x.web.test web @17 -", "2 x.web.test web @17 -", "3", "x y.web.test web @01 -"];
    insta::assert_snapshot!(fixed(&lock), @"
    1 x.web.test web never -
    2 x.web.test web 17T00:00:00Z -
    3
    x y.web.test web 01T00:00:00Z -
    ---
    host 2 has `x.web.test.` in 2 equal rows: one stays
    ");
    // Two current rows would be one too many.
    insta::assert_snapshot!(fixed(&["1 x.web.test web @18 -", "1 y.web.test web never -", "2 x.web.test web @17 -"]), @r"
    1 x.web.test web 18T00:00:00Z 20T12:00:00Z
    1 y.web.test web never -
    2 x.web.test web 17T00:00:00Z -
    ---
    host 1 gives up `x.web.test.`: host 2 has it since 17T00:00:00Z, earlier than 18T00:00:00Z
    ");
}

#[test]
fn a_merge_that_git_left_undone_is_done() {
    let lock = [
        "# who has which name",
        "<<<<<<< HEAD",
        "1 x.web.test web @17 -",
        "||||||| 123abcd",
        "3 z.web.test web @12 -",
        "=======",
        "2 x.web.test web @18 -",
        ">>>>>>> other",
    ];
    let (new, settlement) = fix(&text(&lock), NOW);
    insta::assert_snapshot!(new.replace('\t', " "), @r"
    # who has which name
    1 x.web.test web 2026-11-17T00:00:00Z -
    2 free-2.free.invalid web 2026-11-20T12:00:00Z -
    2 x.web.test web 2026-11-18T00:00:00Z 2026-11-20T12:00:00Z
    ");
    assert_eq!(settlement.decided.len(), 1);
}
