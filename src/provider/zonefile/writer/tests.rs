//! Zone files that are written, and that are not.

use std::fs;

use super::super::load::TargetFolder;
use super::*;
use crate::dns::{ChangeKind, Name, Rdata, RrKey, Rrset, Ttl};

/// A zone with one host, whose serial tells a date.
const ZONE: &str = "$TTL 60\n@ SOA ns host 2026111903 2 3 4 5\n; a host\na AAAA ::1\nc CNAME a\n";

/// A workspace with zone files.
struct Workspace(tempfile::TempDir);

impl Workspace {
    /// One with these files in `zones`.
    fn new(files: &[(&str, &str)]) -> Workspace {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("zones")).unwrap();
        let workspace = Workspace(folder);
        files.iter().for_each(|(name, text)| fs::write(workspace.path(name), text).unwrap());
        workspace
    }

    /// The path of a file in `zones`.
    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join("zones").join(name)
    }

    /// What the zone's file holds.
    fn text(&self) -> String {
        fs::read_to_string(self.path("example.net.zone")).unwrap()
    }

    /// How many files there are in `zones`.
    fn file_count(&self) -> usize {
        fs::read_dir(self.path("")).unwrap().count()
    }

    /// Writes the zones in it, on 2026-11-20, and runs a shell command afterwards.
    fn writer(&self, reload: Option<&str>) -> FileWriter {
        let words = |script: &str| ["sh", "-c", script].map(str::to_owned).to_vec();
        let timeout = std::time::Duration::from_secs(20);
        let reload =
            reload.map(|script| BoundedCommand { words: words(script), workspace: self.0.path().to_owned(), timeout });
        FileWriter {
            files: ZoneFiles { folder: TargetFolder::open(self.0.path(), "zones").unwrap() },
            today: Date::constant(2026, 11, 20),
            reload,
            dir: "zones".to_owned(),
            is_changed: AtomicBool::new(false),
        }
    }
}

/// The zone of all tests.
fn apex() -> ZoneName {
    ZoneName::new(Name::parse("example.net").unwrap())
}

/// The key of the AAAA of a host.
fn key(host: &str) -> RrKey {
    let name = Name::parse(&format!("{host}.example.net")).unwrap();
    RrKey { owner: apex().owner(name.as_name()).unwrap(), rtype: Rtype::AAAA }
}

/// An RRset of one AAAA.
fn aaaa(ttl: u64, address: &str) -> Rrset {
    Rrset::new(Ttl::from_secs(ttl).unwrap(), vec![Rdata::parse(Rtype::AAAA, address).unwrap()]).unwrap()
}

/// The outcome of one update, in one line.
fn send(writer: &FileWriter, edits: &[(RrKey, ChangeKind)]) -> String {
    let zone = apex();
    let edits = edits.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
    let mut open = writer.open(&zone);
    let ticket = open.send(&Update { zone: &zone, edits }).unwrap();
    match open.reply(ticket) {
        UpdateReply::Done => "done".to_owned(),
        UpdateReply::Prerequisite(words) => format!("prerequisite: {words}"),
        UpdateReply::Refused(error) => format!("refused: {error}"),
        UpdateReply::Failed(error) => format!("failed: {error}"),
        UpdateReply::Unknown(error) => format!("unknown: {error}"),
        UpdateReply::Raced(error) => format!("raced: {error}"),
        UpdateReply::RefusedInPart(error) => format!("refused in part: {error}"),
    }
}

/// The edit that a host gets an address.
fn create(host: &str) -> (RrKey, ChangeKind) {
    (key(host), ChangeKind::Create { after: aaaa(60, "::9") })
}

/// The edit that a host gets another address than this.
fn modify(host: &str, ttl: u64, before: &str) -> (RrKey, ChangeKind) {
    (key(host), ChangeKind::Modify { before: aaaa(ttl, before), after: aaaa(60, "::9") })
}

/// The edit that a host loses its address.
fn delete(host: &str, ttl: u64, before: &str) -> (RrKey, ChangeKind) {
    (key(host), ChangeKind::Delete { before: aaaa(ttl, before) })
}

#[test]
fn the_edits_of_an_update_are_one_file_and_one_serial() {
    let workspace = Workspace::new(&[("example.net.zone", ZONE)]);
    let writer = workspace.writer(None);
    assert_eq!(writer.place(&apex()), "zones/example.net.zone");
    assert_eq!(send(&writer, &[create("b"), modify("a", 60, "::1"), create("d")]), "done");
    insta::assert_snapshot!(workspace.text(), @r"
    $TTL 60
    @ SOA ns host 2026112000 2 3 4 5
    ; a host
    a 60 AAAA ::9
    c CNAME a
    b.example.net. 60 AAAA ::9
    d.example.net. 60 AAAA ::9
    ");
    assert_eq!(send(&writer, &[delete("a", 60, "::9"), delete("d", 60, "::9")]), "done");
    insta::assert_snapshot!(workspace.text(), @r"
    $TTL 60
    @ SOA ns host 2026112001 2 3 4 5
    ; a host
    c CNAME a
    b.example.net. 60 AAAA ::9
    ");
    assert_eq!(workspace.file_count(), 1);
    assert!(writer.finish(&|| false).is_ok());
}

#[test]
fn a_cname_gives_way_or_takes_the_place_of_others_in_one_file() {
    let workspace = Workspace::new(&[("example.net.zone", ZONE)]);
    let writer = workspace.writer(None);
    let cname = |target: &str| {
        let target = Name::parse(target).unwrap();
        Rrset::new(Ttl::from_secs(60).unwrap(), vec![Rdata::from_name(target.as_name())]).unwrap()
    };
    let at = |host| RrKey { rtype: Rtype::CNAME, ..key(host) };
    let gone = |target| (at("c"), ChangeKind::Delete { before: cname(target) });
    assert_eq!(
        send(&writer, &[create("c"), gone("b.example.net")]),
        "prerequisite: the CNAME records of `c.example.net.` have changed"
    );
    assert_eq!(send(&writer, &[create("c"), gone("a.example.net")]), "done");
    let alias = (at("a"), ChangeKind::Create { after: cname("c.example.net") });
    assert_eq!(send(&writer, &[alias, delete("a", 60, "::1")]), "done");
    insta::assert_snapshot!(workspace.text(), @r"
    $TTL 60
    @ SOA ns host 2026112001 2 3 4 5
    ; a host
    a 60 CNAME c.example.net.
    c 60 AAAA ::9
    ");
}

#[test]
fn nothing_is_written_unless_all_is_as_it_was() {
    let zone = format!("{ZONE}s NS ns\nx.s AAAA ::1\nd DNAME a\n");
    let workspace = Workspace::new(&[("example.net.zone", &zone)]);
    let writer = workspace.writer(Some("touch reloaded"));
    let refused = |edit: (RrKey, ChangeKind)| send(&writer, &[create("new"), edit]);
    let said = [
        refused(modify("a", 60, "::2")),
        refused(modify("a", 61, "::1")),
        refused(delete("b", 60, "::1")),
        refused(create("a")),
        refused(create("c")),
        refused(delete("x.s", 60, "::1")),
        refused(create("s")),
        refused(create("x.d")),
    ];
    insta::assert_snapshot!(said.join("\n"), @"
    prerequisite: the AAAA records of `a.example.net.` have changed
    prerequisite: the TTL of the AAAA records of `a.example.net.` is now 60
    prerequisite: `b.example.net.` no longer has AAAA records
    prerequisite: `a.example.net.` now has AAAA records
    prerequisite: there is a CNAME at `c.example.net.`
    prerequisite: `x.s.example.net.` is at or below the delegation of `s.example.net.`
    prerequisite: `s.example.net.` is at or below the delegation of `s.example.net.`
    prerequisite: `x.d.example.net.` is below the DNAME of `d.example.net.`
    ");
    assert_eq!(workspace.text(), zone);
    assert!(writer.finish(&|| false).is_ok());
    assert!(!workspace.0.path().join("reloaded").exists());
}

#[test]
fn a_file_that_is_replaced_between_reading_and_writing_stays() {
    let workspace = Workspace::new(&[("example.net.zone", ZONE)]);
    let writer = workspace.writer(None);
    let path = workspace.path("example.net.zone");
    let reply = writer.replace(&apex(), &path, b"what was read\n", b"new\n");
    assert!(
        matches!(reply, Err(UpdateReply::Prerequisite(words)) if words == "another editor changed the file in the meantime")
    );
    assert_eq!(workspace.text(), ZONE);
    assert_eq!(workspace.file_count(), 1);
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let signed = format!("{ZONE}a RRSIG AAAA 5 3 86400 20300322173103 20300220173103 2642 example.net. AAAA\n");
    let workspace = Workspace::new(&[("example.net.zone", &signed)]);
    let writer = workspace.writer(None);
    let message = "zones/example.net.zone: error[signed-zone-file]: the file holds signatures (RRSIG), which would be wrong \
                after a change";
    assert_eq!(send(&writer, &[create("b")]), format!("refused: {message}"));
    assert_eq!(writer.observe(&apex(), &[], None).unwrap_err().to_string(), message);
    assert_eq!(workspace.text(), signed);

    let including = format!("{ZONE}$INCLUDE hosts.inc\n");
    let workspace = Workspace::new(&[("example.net.zone", &including), ("hosts.inc", "\nb AAAA ::1\n")]);
    let writer = workspace.writer(None);
    let message = "zones/example.net.zone: error[record-in-included-file]: the AAAA of `b.example.net.` is in the \
                included file, at zones/hosts.inc:2";
    assert_eq!(send(&writer, &[create("d"), modify("b", 60, "::1")]), format!("refused: {message}"));
    assert_eq!(workspace.text(), including);
    assert_eq!(send(&writer, &[create("d")]), "done");

    let workspace =
        Workspace::new(&[("example.net.zone", "$INCLUDE soa.inc\n"), ("soa.inc", "@ 60 SOA ns host 1 2 3 4 5\n")]);
    let message = "zones/example.net.zone: error[record-in-included-file]: the SOA of `example.net.` is in the \
                included file, at zones/soa.inc:1";
    assert_eq!(workspace.writer(None).observe(&apex(), &[], None).unwrap_err().to_string(), message);
}

#[test]
fn a_ttl_from_an_included_file_stays_what_it_is() {
    let zone = "@ 60 SOA ns host 1 2 3 4 5\na 90 AAAA ::1\nc AAAA ::3\n$INCLUDE hosts.inc\nd AAAA ::4\n";
    let workspace = Workspace::new(&[("example.net.zone", zone), ("hosts.inc", "b 30 AAAA ::2\n")]);
    assert_eq!(send(&workspace.writer(None), &[delete("a", 90, "::1"), create("e")]), "done");
    insta::assert_snapshot!(workspace.text(), @r"
    @ 60 SOA ns host 2 2 3 4 5
    c 90 AAAA ::3
    $INCLUDE hosts.inc
    d AAAA ::4
    e.example.net. 60 AAAA ::9
    ");
}

#[test]
fn an_edit_that_would_say_something_else_is_refused() {
    let zone = "a 60 AAAA ::1\n@ 5 SOA ns host 1 2 3 4 5\na 60 A 192.0.2.1\n$INCLUDE hosts.inc\n";
    let workspace = Workspace::new(&[("example.net.zone", zone), ("hosts.inc", "b AAAA ::1\n")]);
    let mut edit = create("a");
    edit.0.rtype = Rtype::TXT;
    edit.1 = ChangeKind::Create { after: Rrset::new(Ttl::DEFAULT, vec![Rdata::from_text("x").unwrap()]).unwrap() };
    let message = "refused: zones/example.net.zone: error[zone-file-not-editable]: the edited file would not have \
                the planned records, so it was left unchanged";
    assert_eq!(send(&workspace.writer(None), &[edit]), message);
    assert_eq!(workspace.text(), zone);
    assert_eq!(workspace.file_count(), 2);
}

#[test]
fn a_file_that_is_wrong_or_gone_is_a_failure() {
    let workspace = Workspace::new(&[("example.net.zone", "a A\n")]);
    let message = send(&workspace.writer(None), &[create("b")]);
    assert_eq!(message, "failed: zones/example.net.zone: error[bad-zone-file]: 1 error in the files of `example.net.`");
    fs::remove_file(workspace.path("example.net.zone")).unwrap();
    let message = send(&workspace.writer(None), &[create("b")]);
    assert_eq!(message, "failed: zones/example.net.zone: error[missing-file]: there is no such file");
}

#[test]
fn a_folder_that_takes_no_file_leaves_the_old_one() {
    // The name of the temporary file would be longer than names of files can be.
    let long = "x".repeat(250);
    let workspace = Workspace::new(&[(&long, ZONE)]);
    let (writer, path) = (workspace.writer(None), workspace.path(&long));
    let Err(UpdateReply::Failed(error)) = writer.replace(&apex(), &path, ZONE.as_bytes(), b"new\n") else {
        panic!("the temporary file cannot be written")
    };
    assert_eq!(error.code.as_str(), "file-not-written");
    assert_eq!(fs::read_to_string(&path).unwrap(), ZONE);
    assert_eq!(workspace.file_count(), 1);
    assert!(!writer.is_changed.into_inner());
}

#[cfg(unix)]
#[test]
fn a_folder_that_must_not_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let workspace = Workspace::new(&[("example.net.zone", ZONE)]);
    let folder = workspace.path("");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write where no other user may.
    let is_root = fs::write(folder.join("probe"), "").is_ok();
    let message = send(&workspace.writer(None), &[create("b")]);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    if is_root {
        assert_eq!(message, "done");
    } else {
        assert!(message.starts_with("refused: zones/example.net.zone: error[file-not-written]: "), "{message}");
        assert_eq!(workspace.text(), ZONE);
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_file_keeps_its_mode() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let workspace = Workspace::new(&[("real", ZONE)]);
    fs::set_permissions(workspace.path("real"), fs::Permissions::from_mode(0o664)).unwrap();
    symlink("real", workspace.path("example.net.zone")).unwrap();
    assert_eq!(send(&workspace.writer(None), &[create("b")]), "done");
    let link = fs::symlink_metadata(workspace.path("example.net.zone")).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(workspace.path("real")).unwrap().permissions().mode() & 0o777, 0o664);
    assert!(workspace.text().contains("b.example.net. 60 AAAA ::9\n"));
}

#[test]
fn names_are_observed_as_a_server_would_answer() {
    let workspace = Workspace::new(&[("example.net.zone", &format!("{ZONE}s NS ns\n* AAAA ::1\n"))]);
    let questions = ["a", "b", "c", "x.s"].map(|host| {
        let RrKey { owner, rtype } = key(host);
        Question { name: owner.as_name().to_name(), rtype }
    });
    let answers = workspace.writer(None).observe(&apex(), &questions, Some(5)).unwrap();
    assert_eq!(answers[0], Answer::Holds(Rtype::AAAA, aaaa(60, "::1")));
    assert_eq!(answers[1], Answer::Nothing);
    assert!(matches!(answers[2], Answer::Holds(Rtype::CNAME, _)));
    assert!(matches!(answers[3], Answer::Delegated(..)));
}

#[test]
fn servers_are_told_once_after_the_last_file() {
    let workspace = Workspace::new(&[("example.net.zone", ZONE)]);
    let writer = workspace.writer(Some("echo x >> reloaded"));
    assert_eq!(send(&writer, &[create("b")]), "done");
    assert_eq!(send(&writer, &[create("d")]), "done");
    writer.finish(&|| false).unwrap();
    writer.finish(&|| false).unwrap();
    assert_eq!(fs::read_to_string(workspace.0.path().join("reloaded")).unwrap(), "x\n");
}

#[test]
fn a_reload_that_fails_is_reported_and_the_file_stays() {
    let workspace = Workspace::new(&[("example.net.zone", ZONE)]);
    let writer = workspace.writer(Some("echo refused; exit 1"));
    assert_eq!(send(&writer, &[create("b")]), "done");
    let message = writer.finish(&|| false).unwrap_err().to_string();
    assert_eq!(message, "zones: error[reload-failed]: `sh` failed: exit status: 1; it said: refused");
    assert!(workspace.text().contains("b.example.net."));
}
