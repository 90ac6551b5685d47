//! The secrets of TSIG keys: fetched where the settings say, and shown nowhere.

mod clause;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::utils::base64;
use ring::rand;

use crate::diag::{Diagnostics, Problem};
use crate::dns::Name;
use crate::inventory::config::shared::read_command;
use crate::inventory::node::{SettingsNode, SourceText, TableReader};
use crate::process::BoundedCommand;

/// The most octets that a secret may have as text, by far: a longer file is another file.
const MAX_TEXT: u64 = 64 * 1024;

/// The variable in which systemd passes a service the folder of its credentials (systemd.exec(5), "Credentials").
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// A secret. Nothing prints it, not even for debugging.
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// A new unpredictable secret, with its base64: as long as what HMAC-SHA256 makes (RFC 8945 section 6, RFC
    /// 2104 section 3).
    ///
    /// Errors: the system gives no random numbers.
    pub fn random() -> io::Result<(Secret, String)> {
        let octets = rand::generate::<[u8; 32]>(&rand::SystemRandom::new());
        let octets = octets.map_err(|_| io::Error::other("the system gives no random numbers"))?.expose();
        Ok((Secret(octets.to_vec()), base64::encode_string(&octets)))
    }

    /// The octets, for making a key.
    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

/// Where a secret is.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// In a file, absolute or relative to the workspace.
    File(String),
    /// In an environment variable.
    Variable(String),
    /// In a file of this name in the folder in which a service manager hands over credentials.
    Credential(String),
    /// In what a command prints: its program and arguments. No shell reads them.
    Command(Vec<String>),
}

impl SecretSource {
    /// Reads a table that says where the secret is and nothing else, with what is wrong with it.
    pub fn of_table(settings: &SettingsNode, source: &SourceText) -> (Option<SecretSource>, Diagnostics) {
        if settings.as_text().is_some() {
            let message = "text is here, and a table that says where the secret is belongs here";
            let error = source.error("bad-secret", settings.origin, settings.width, message);
            let hint = "write `{ secret_file = \"keys/NAME\" }`; if the text is the secret itself, make a new one";
            let mut found = Diagnostics::default();
            found.push(error.hint(hint));
            return (None, found);
        }
        let mut reader = TableReader::new(settings, source);
        let from = SecretSource::read(&mut reader);
        // A key that is unknown here may have the secret as its value.
        let found = reader.finish().without_excerpts();
        (from.filter(|_| found.error_count() == 0), found)
    }

    /// Reads where the secret is: exactly one of four keys says so.
    pub fn read(reader: &mut TableReader<'_>) -> Option<SecretSource> {
        let file = reader.text("secret_file").map(|path| SecretSource::File(path.to_owned()));
        let variable = reader.text("secret_env").map(|name| SecretSource::Variable(name.to_owned()));
        let credential = reader.text("secret_credential").map(|name| SecretSource::Credential(name.to_owned()));
        let command = reader.take("secret_command");
        let command = command.map(|node| read_command(reader, node).map(SecretSource::Command));
        let mut sources: Vec<_> =
            [file.map(Some), variable.map(Some), credential.map(Some), command].into_iter().flatten().collect();
        if sources.len() != 1 {
            let message = "set exactly one of `secret_file`, `secret_env`, `secret_credential` and `secret_command`";
            reader.error(reader.node(), "bad-secret", message);
            return None;
        }
        let source = sources.pop()?;
        if let Some(SecretSource::File(text) | SecretSource::Variable(text)) = &source
            && text.is_empty()
        {
            reader.error(reader.node(), "bad-secret", "an empty name of a file or variable");
            return None;
        }
        if let Some(SecretSource::Credential(name)) = &source
            && (matches!(name.as_str(), "" | "." | "..") || name.contains('/'))
        {
            reader.error(
                reader.node(),
                "bad-secret",
                "the name of a credential is the name of a file, without a folder",
            );
            return None;
        }
        source
    }

    /// Fetches the secret; a command may take as long as `timeout`.
    pub fn fetch(&self, workspace: &Path, timeout: Duration) -> Result<Secret, Problem> {
        decode(&self.fetch_text(workspace, (timeout, OF_TSIG))?, &self.to_string())
    }

    /// Fetches what is there, whatever it is; a command may take as long as `timeout`, and `hints` say what is to be there.
    pub fn fetch_text(&self, workspace: &Path, (timeout, hints): (Duration, SecretHints)) -> Result<Vec<u8>, Problem> {
        let text = match self {
            SecretSource::File(path) => read_file(&workspace.join(path), (path, hints.file)),
            SecretSource::Variable(name) => read_variable(name, hints.variable),
            SecretSource::Credential(name) => {
                read_credential(name, std::env::var_os(CREDENTIALS).map(PathBuf::from), hints.file)
            }
            SecretSource::Command(words) => run(words, (workspace, timeout), hints.command),
        };
        text.map_err(|error| self.pasted().unwrap_or(error))
    }

    /// The error of settings that hold what looks like the secret itself in place of its name.
    ///
    /// It quotes nothing: errors are kept in plans, and plans are shown to many.
    fn pasted(&self) -> Option<Problem> {
        let (key, name) = match self {
            SecretSource::File(name) => ("secret_file", name),
            SecretSource::Variable(name) => ("secret_env", name),
            SecretSource::Credential(name) => ("secret_credential", name),
            SecretSource::Command(_) => return None,
        };
        let message =
            format!("the value of `{key}` names nothing that can be read, and looks like a secret, so it is not shown");
        is_like_a_secret(name).then(|| {
            Problem::new(key, "secret-unreadable", message).hint(
                "put the secret into a file of mode 600 and name that file; if the settings were shared, make a new key",
            )
        })
    }
}

/// What is to be where a secret is read from, as hints.
#[derive(Clone, Copy)]
pub struct SecretHints {
    /// In a file.
    pub file: &'static str,
    /// In an environment variable.
    pub variable: &'static str,
    /// In what a command prints.
    pub command: &'static str,
}

/// Those of a key of TSIG.
const OF_TSIG: SecretHints = SecretHints {
    file: "the file holds the key's secret in base64, or a key of named.conf as `tsig-keygen` prints it",
    variable: "set it to the key's secret in base64",
    command: "run it by hand: it must print the key's secret in base64 and exit with 0",
};

/// The shortest base64 of a secret that is looked for: 12 octets, less than any key has.
const SHORTEST_SECRET: usize = 16;

/// Whether the name of a file or variable looks like base64 or a key clause that was pasted in its place.
///
/// Names of files are made of the same letters, so that base64 must end in `=`, or have capitals, small letters and
/// digits.
fn is_like_a_secret(name: &str) -> bool {
    let name = name.trim();
    let digits = name.trim_end_matches('=');
    let is_base64 = digits.bytes().all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'+' | b'/'));
    let has = |kind: fn(&u8) -> bool| digits.as_bytes().iter().any(kind);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    let is_long = name.len() >= SHORTEST_SECRET;
    is_long && is_base64 && (digits.len() < name.len() || is_mixed) || clause::parse(name).is_some()
}

impl fmt::Display for SecretSource {
    /// Names the source. The arguments of a command are left out: they may be secrets themselves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::File(name) | SecretSource::Variable(name) | SecretSource::Credential(name)
                if is_like_a_secret(name) =>
            {
                f.write_str("a place that looks like a secret")
            }
            SecretSource::File(path) => write!(f, "`{path}`"),
            SecretSource::Variable(name) => write!(f, "the environment variable `{name}`"),
            SecretSource::Credential(name) => write!(f, "the credential `{name}`"),
            SecretSource::Command(words) => write!(f, "the command `{}`", words.first().map_or("", String::as_str)),
        }
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Reads a credential from the folder that the environment names.
fn read_credential(name: &str, folder: Option<PathBuf>, hint: &str) -> Result<Vec<u8>, Problem> {
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).ok_or_else(|| {
        let message = format!("there is no credential `{name}`: the environment variable `{CREDENTIALS}` is not set");
        Problem::new(CREDENTIALS, "secret-unreadable", message).hint(
            "systemd sets it for a service with `LoadCredential`; elsewhere set it to the folder with the secret's file",
        )
    })?;
    let path = folder.join(name);
    read_file(&path, (&path.to_string_lossy(), hint))
}

/// Reads a file that only its owner may read, or to which root has let a group.
fn read_file(path: &Path, (shown, hint): (&str, &str)) -> Result<Vec<u8>, Problem> {
    let file = open_private(path, (shown, hint))?;
    let mut text = Vec::new();
    file.take(MAX_TEXT + 1).read_to_end(&mut text).map_err(|error| unreadable((shown, hint), &error))?;
    Ok(text)
}

/// Opens a file that only its owner may read, or to which root has let a group; messages call it `shown`, and `hint` says what is
/// to be there.
///
/// Errors: it cannot be opened, it is no regular file, or others can use it.
pub fn open_private(path: &Path, (shown, hint): (&str, &str)) -> Result<File, Problem> {
    let failed = |error: io::Error| unreadable((shown, hint), &error);
    // Asked before it is opened: opening a pipe could wait for ever. Asked again after, of what was really opened.
    let regular = path.metadata().map_err(failed)?.is_file();
    let file = if regular { Some(File::open(path).map_err(failed)?) } else { None };
    let metadata = file.as_ref().map(File::metadata).transpose().map_err(failed)?;
    let (Some(file), Some(metadata)) = (file, metadata.filter(std::fs::Metadata::is_file)) else {
        return Err(failed(io::Error::other("it is not a regular file")));
    };
    if others_can_use(&metadata) {
        return Err(Problem::new(
            shown,
            "secret-exposed",
            format!("users other than its owner can read or write `{shown}`, which holds a secret"),
        )
        .hint("run `chmod 600` on it, and change the secret if another user may have read it"));
    }
    Ok(file)
}

/// The problem of a file with a secret that cannot be read.
pub fn unreadable((shown, hint): (&str, &str), error: &io::Error) -> Problem {
    let message = format!("the secret in `{shown}` cannot be read: {}", error.to_string().to_lowercase());
    Problem::new(shown, "secret-unreadable", message).hint(hint)
}

/// Whether others than those whom the file's owner chose may read or write it.
#[cfg(unix)]
fn others_can_use(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    is_exposed(metadata.permissions().mode(), metadata.uid(), rustix::process::geteuid().as_raw())
}

/// Whether a file of this mode and owner is open to more than it should be, for a process of the user `user`.
///
/// A file of the user's own is for the user alone. A file that belongs to root may be readable for its group: so root
/// gives a service's account a secret that the account cannot alter. systemd's credentials look like that (an entry of
/// an access control list shows as the group's permission), and Kubernetes' secrets in a pod with `fsGroup`.
///
/// Source: PostgreSQL holds the private keys of its servers to the same rule (its documentation, section "SSL Server
/// File Usage").
#[cfg(unix)]
fn is_exposed(mode: u32, owner: u32, user: u32) -> bool {
    let refused = if owner == 0 && user != 0 { 0o026 } else { 0o066 };
    mode & refused != 0
}

/// Systems without such permissions have other ways to keep files to oneself, which cannot be judged here.
#[cfg(not(unix))]
fn others_can_use(_: &std::fs::Metadata) -> bool {
    false
}

/// Reads an environment variable.
fn read_variable(name: &str, hint: &str) -> Result<Vec<u8>, Problem> {
    std::env::var_os(name).map(|value| value.into_encoded_bytes()).ok_or_else(|| {
        Problem::new(name, "secret-unreadable", format!("the environment variable `{name}` with the secret is not set"))
            .hint(hint)
    })
}

/// Runs a command in the workspace and gives what it prints on standard output. The rest is thrown away: it may hold secrets.
fn run(words: &[String], (workspace, timeout): (&Path, Duration), hint: &str) -> Result<Vec<u8>, Problem> {
    let command = BoundedCommand { words: words.to_owned(), workspace: workspace.to_owned(), timeout };
    command.read(MAX_TEXT + 1).map_err(|error| {
        let program = format!("`{}`", command.program());
        let message = error.message.replacen(&program, &format!("the command {program} for the secret"), 1);
        Problem::new(command.program(), "secret-command-failed", message).hint(hint)
    })
}

/// Decodes base64 with blanks around it, or takes the secret out of a key clause of named.conf.
fn decode(text: &[u8], source: &str) -> Result<Secret, Problem> {
    let text = str::from_utf8(text).ok().filter(|text| text.len() as u64 <= MAX_TEXT);
    let clause = text.and_then(clause::parse);
    let decoded = clause.map(|clause| clause.secret).or_else(|| text.and_then(decode_base64));
    decoded.ok_or_else(|| {
        Problem::new(source, "secret-malformed", format!("the secret from {source} is not base64")).hint(
            "the secret itself belongs there, the text between the quotes of `secret` in a key of named.conf; or one \
             whole key as `tsig-keygen` prints it",
        )
    })
}

/// Decodes base64 with blanks around it; none where it is something else, or nothing.
fn decode_base64(text: &str) -> Option<Secret> {
    let octets = base64::decode::<Vec<u8>>(text.trim()).ok()?;
    (!octets.is_empty()).then_some(Secret(octets))
}

/// What a file says of a key: its name and algorithm, where a key clause of named.conf says them.
///
/// Errors: as for [`SecretSource::fetch`].
pub fn look_at_file(path: &Path) -> Result<Option<(Name, String)>, Problem> {
    let shown = path.display().to_string();
    let text = read_file(path, (&shown, OF_TSIG.file))?;
    decode(&text, &format!("`{shown}`"))?;
    let clause = str::from_utf8(&text).ok().and_then(clause::parse);
    Ok(clause.map(|clause| (clause.name, clause.algorithm)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A secret in base64, and its octets.
    const SECRET: (&str, &[u8]) = ("c2VjcmV0IG9jdGV0cw==", b"secret octets");

    /// Writes a file with a mode and fetches the secret in it.
    fn fetch_file(text: &str, mode: u32) -> Result<Secret, Problem> {
        let workspace = tempfile::tempdir().unwrap();
        let path = workspace.path().join("key");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        SecretSource::File("key".into()).fetch(workspace.path(), Duration::from_secs(1))
    }

    /// Runs a shell command for the secret, for so many seconds.
    fn fetch_command(script: &str, seconds: u64) -> Result<Secret, Problem> {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        SecretSource::Command(words).fetch(Path::new("."), Duration::from_secs(seconds))
    }

    #[test]
    fn a_secret_file_is_for_its_owner_alone() {
        let text = format!(" {}\r\n", SECRET.0);
        for mode in [0o600, 0o400, 0o700] {
            assert_eq!(fetch_file(&text, mode).unwrap().octets(), SECRET.1);
        }
        for mode in [0o640, 0o604, 0o620, 0o602, 0o666] {
            assert_eq!(fetch_file(&text, mode).unwrap_err().code.as_str(), "secret-exposed", "{mode:o}");
        }
        let none = SecretSource::File("none".into()).fetch(Path::new("."), Duration::from_secs(1)).unwrap_err();
        assert_eq!(none.message, "the secret in `none` cannot be read: no such file or directory (os error 2)");
        let folder = SecretSource::File("src".into()).fetch(Path::new("."), Duration::from_secs(1)).unwrap_err();
        assert_eq!(folder.message, "the secret in `src` cannot be read: it is not a regular file");
    }

    #[test]
    fn a_secret_in_the_place_of_its_name_is_not_shown() {
        let clause = "key \"x\" { algorithm hmac-sha256; secret \"c2VjcmV0IG9jdGV0cw==\"; };";
        for name in [SECRET.0, "aB3dE5gH7jK9mN1pQ3sT5vW7yZ", "q83vEjRWeJASNFZ4kBI0Vg==", clause] {
            let (file, variable) = (SecretSource::File(name.into()), SecretSource::Variable(name.into()));
            for source in [file, variable, SecretSource::Credential(name.into())] {
                let error = source.fetch(Path::new("."), Duration::from_secs(1)).unwrap_err();
                assert_eq!(error.code.as_str(), "secret-unreadable");
                let shown = format!("{error:?} {source} {source:?}");
                assert!(shown.contains("looks like a secret") && !shown.contains(name), "{shown}");
            }
        }
        for name in
            ["keys/production/primary/tsig/main", "ZONEWRIGHT_TSIG_SECRET", "/etc/zonewright/Key1.secret", "Key1"]
        {
            assert!(!is_like_a_secret(name), "{name}");
        }
    }

    #[test]
    fn root_may_let_a_group_read_a_secret() {
        for (mode, owner, user, exposed) in [
            (0o100_440, 0, 990, false),
            (0o640, 0, 990, false),
            (0o660, 0, 990, true),
            (0o644, 0, 990, true),
            (0o440, 990, 990, true),
            (0o440, 991, 990, true),
            (0o440, 0, 0, true),
            (0o400, 0, 0, false),
        ] {
            assert_eq!(is_exposed(mode, owner, user), exposed, "{mode:o} of {owner} for {user}");
        }
    }

    #[test]
    fn a_credential_lies_in_the_folder_that_the_environment_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main");
        std::fs::write(&path, SECRET.0).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).unwrap();
        assert_eq!(read_credential("main", Some(folder.path().to_owned()), OF_TSIG.file).unwrap(), SECRET.0.as_bytes());
        for unset in [None, Some(PathBuf::new())] {
            let error = read_credential("main", unset, OF_TSIG.file).unwrap_err();
            let message = "there is no credential `main`: the environment variable `CREDENTIALS_DIRECTORY` is not set";
            assert_eq!((error.code.as_str(), error.message.as_str()), ("secret-unreadable", message));
        }
        let error = read_credential("none", Some(folder.path().to_owned()), OF_TSIG.file).unwrap_err();
        assert!(error.message.contains("/none` cannot be read: no such file"), "{}", error.message);
    }

    #[test]
    fn a_secret_is_base64_and_never_shown() {
        for text in ["", "\n", "c2Vj?", "key \"x\" { secret \"c2VjcmV0\"; };", "\u{e4}"] {
            let error = fetch_file(text, 0o600).unwrap_err();
            assert_eq!(
                (error.code.as_str(), error.message.as_str()),
                ("secret-malformed", "the secret from `key` is not base64")
            );
        }
        assert_eq!(format!("{:?}", fetch_file(SECRET.0, 0o600).unwrap()), "Secret(…)");
    }

    #[test]
    fn a_key_of_named_conf_holds_its_secret() {
        let text = format!("key \"x.\" {{\n\talgorithm hmac-sha256;\n\tsecret \"{}\";\n}};\n", SECRET.0);
        assert_eq!(fetch_file(&text, 0o600).unwrap().octets(), SECRET.1);
    }

    #[test]
    fn a_command_prints_the_secret_in_time() {
        assert_eq!(fetch_command(&format!("echo {}", SECRET.0), 20).unwrap().octets(), SECRET.1);
        let message = |script, seconds| fetch_command(script, seconds).unwrap_err().message;
        assert_eq!(message("echo c2VjcmV0; exit 3", 20), "the command `sh` for the secret failed: exit status: 3");
        assert_eq!(message("echo c2VjcmV0; sleep 20", 1), "the command `sh` for the secret did not end within 1 s");
        assert_eq!(message("sleep 20 & echo c2VjcmV0", 1), "the command `sh` for the secret did not end within 1 s");
        let none = SecretSource::Command(vec!["./none".into(), "password".into()]);
        let error = none.fetch(Path::new("."), Duration::from_secs(1)).unwrap_err();
        assert!(error.message.starts_with("the command `./none` for the secret cannot be run"), "{}", error.message);
    }

    #[test]
    fn a_variable_must_be_set() {
        let variable = SecretSource::Variable("ZONEWRIGHT_NO_SUCH_VARIABLE".into());
        let error = variable.fetch(Path::new("."), Duration::from_secs(1)).unwrap_err();
        assert_eq!(error.code.as_str(), "secret-unreadable");
    }
}
