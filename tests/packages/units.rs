//! `ci/systemd/`: systemd takes the units, they are closed as far as they can be, and the program takes what they call it with.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

use crate::served::Served;
use crate::{NOW, PROGRAM, assert_ended, file, have, text};

/// The units.
const UNITS: [&str; 4] =
    ["zonewright.service", "zonewright.timer", "zonewright-failed@.service", "zonewright-run.service"];

/// The units in a folder, with the built binary in place of the installed one.
fn units() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in UNITS {
        let unit = text(&format!("ci/systemd/{name}")).replace("/usr/bin/zonewright", PROGRAM);
        fs::write(folder.path().join(name), unit).expect("a file");
    }
    let drop_in = folder.path().join("zonewright.service.d");
    fs::create_dir(&drop_in).expect("a folder");
    fs::copy(file("ci/systemd/on-failure.conf"), drop_in.join("on-failure.conf")).expect("a file");
    folder
}

#[test]
fn systemd_takes_the_units() {
    if !have("systemd-analyze") {
        return;
    }
    let folder = units();
    let verify = |name: &str| {
        let mut command = Command::new("systemd-analyze");
        command.args(["verify", "--man=no"]).arg(folder.path().join(name)).output().expect("it runs")
    };
    for name in UNITS {
        let output = verify(name);
        assert_ended(&output, 0, "");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
    }
    let service = folder.path().join("zonewright.service");
    fs::write(&service, text("ci/systemd/zonewright.service").replace("NoNewPrivileges", "NoNewPrivilege"))
        .expect("a file");
    assert_ended(&verify("zonewright.service"), 1, "NoNewPrivilege");
}

#[test]
fn the_service_is_closed_as_far_as_it_can_be() {
    if !have("systemd-analyze") {
        return;
    }
    // In tenths: of 10, where a service without any such setting has 9.6, this one has 1.2, for its network and its account.
    let folder = units();
    for name in ["zonewright.service", "zonewright-run.service"] {
        let mut command = Command::new("systemd-analyze");
        command.args(["security", "--offline=true", "--no-pager", "--threshold=15"]);
        let output = command.arg(folder.path().join(name)).output().expect("it runs");
        assert_ended(&output, 0, "exposure level");
    }
}

#[test]
fn the_program_takes_what_the_service_that_goes_on_calls_it_with() {
    let unit = text("ci/systemd/zonewright-run.service");
    let call = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/zonewright ")).expect("a call");
    let mut command = Command::new(PROGRAM);
    command.args(call.split_whitespace()).args(["--once", "--dry-run"]);
    let empty = tempfile::tempdir().expect("a folder");
    assert_ended(&command.current_dir(empty.path()).output().expect("it runs"), 1, "zonewright.toml");
}

#[test]
fn the_program_takes_what_the_service_calls_it_with() {
    let unit = text("ci/systemd/zonewright.service");
    let call = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/zonewright ")).expect("a call");
    let mut words = call.split('"');
    let (flags, reason) = (words.next().expect("flags"), words.next().expect("a reason"));
    let served = Served::start(&[]);
    let workspace = served.workspace();

    // As the unit's head says: the secret as a credential, the state in a folder that the service has for it.
    let settings = fs::read_to_string(workspace.join("zonewright.toml")).expect("the settings");
    assert!(settings.contains("secret_file = \"keys/serve.secret\""), "{settings}");
    let state = tempfile::tempdir().expect("a folder");
    let settings = settings.replace("secret_file = \"keys/serve.secret\"", "secret_credential = \"main.secret\"");
    let settings = format!("{settings}\n[state]\nurl = \"sqlite:{}/state.db\"\n", state.path().display());
    fs::write(workspace.join("zonewright.toml"), settings).expect("the settings");
    let credentials = tempfile::tempdir().expect("a folder");
    let secret = credentials.path().join("main.secret");
    fs::rename(workspace.join("keys/serve.secret"), &secret).expect("the key");
    fs::set_permissions(&secret, PermissionsExt::from_mode(0o400)).expect("it is ours");

    let call = |credentials: Option<&std::path::Path>| {
        let mut command = Command::new(PROGRAM);
        command.args(flags.split_whitespace()).arg(reason).args(["--now", NOW]).current_dir(&workspace);
        command.env_remove("CREDENTIALS_DIRECTORY").envs(credentials.map(|folder| ("CREDENTIALS_DIRECTORY", folder)));
        command.output().expect("the binary was built for this test")
    };
    assert_ended(&call(None), 1, "`CREDENTIALS_DIRECTORY` is not set");
    assert_ended(&call(Some(credentials.path())), 0, "28 hosts");
    assert!(state.path().join("state.db").exists());
}
