//! `zonewright completions bash`: what bash completes of a workspace, by the script itself.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The built binary.
const PROGRAM: &str = env!("CARGO_BIN_EXE_zonewright");

/// Asks bash for what the last word may be, by the script that the program prints.
const ASK: &str = r#"
eval "$("$1" completions bash)"
cd "$2"
shift 2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_TYPE=9
_clap_complete_zonewright zonewright "${COMP_WORDS[COMP_CWORD]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash completes in a folder; none where there is no bash. Nothing else may be printed.
fn completed(folder: &Path, words: &[&str]) -> Option<Vec<String>> {
    let programs = Path::new(PROGRAM).parent().expect("the binary is in a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let asked = Command::new("bash")
        .args(["-c", ASK, "bash", PROGRAM])
        .arg(folder)
        .arg("zonewright")
        .args(words)
        .env("PATH", format!("{programs}:{path}"))
        .output();
    let Ok(output) = asked else {
        eprintln!("SKIPPED: there is no bash");
        return None;
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
    let text = String::from_utf8(output.stdout).expect("words are UTF-8");
    Some(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("the entry can be read");
        let (own, other) = (entry.path(), to.join(entry.file_name()));
        if own.is_dir() {
            copy(&own, &other);
        } else {
            fs::copy(&own, &other).expect("the file can be copied");
        }
    }
}

/// The small workspace of the cases, with one apply in its journal.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), folder.path());
    let zone = folder.path().join("zones/web.example.net.zone");
    let text = fs::read_to_string(&zone).expect("the zone is there");
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("sas0-0002 ")).collect();
    fs::write(&zone, kept.join("\n") + "\n").expect("the zone can be written");
    let apply = ["-q", "apply", "--yes", "--now", "2026-11-20T02:00:00Z", "-C"];
    let output = Command::new(PROGRAM).args(apply).arg(folder.path()).output().expect("the binary was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

#[test]
fn bash_completes_what_the_workspace_knows() {
    let folder = workspace();
    let path = folder.path().display().to_string();
    let expected: [(&[&str], &[&str]); 9] = [
        (&["plan", "--host", "sas0-"], &["sas0-0001", "sas0-0002"]),
        (&["fix", "20"], &["201"]),
        (&["plan", "--project", "w"], &["web"]),
        (&["plan", "--zone", "db"], &["db.example.net"]),
        (&["accept", "l"], &["l3_tors"]),
        (&["undo", ""], &["1"]),
        (&["help", "not-a-6"], &["not-a-64"]),
        (&["comp"], &["completions"]),
        (&["apply", "--max-f"], &["--max-failures"]),
    ];
    for (words, wanted) in expected {
        let Some(found) = completed(folder.path(), words) else { return };
        assert!(wanted.iter().all(|word| found.iter().any(|own| own == word)), "{words:?}: {found:?}");
        let elsewhere = [&["-C", path.as_str()], words].concat();
        assert_eq!(completed(Path::new("/"), &elsewhere), Some(found), "{words:?}");
    }
}

#[test]
fn what_cannot_be_read_completes_nothing_in_silence() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("zonewright.toml"), "this is no TOML").expect("the file can be written");
    for words in [&["plan", "--host", "x"][..], &["plan", "--project", "x"], &["undo", "1"], &["plan", "--zone", "x"]] {
        let Some(found) = completed(folder.path(), words) else { return };
        assert_eq!(found, [""; 0], "{words:?}");
    }
}
