//! What is served, and a workspace to try it on: zones from files, and a copy of a workspace whose targets are the server.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Findings, load_config};
use crate::dns::{Name, ZoneContents, ZoneName};
use crate::inventory::config::retarget::Retarget;
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::provider::{self, Access, Context, TargetError, ZoneRead};

/// The type of the targets whose zones are served, and that a copy replaces.
const FILES: &str = "zonefile";

/// What the files of zones end in.
const ENDING: &str = "zone";

/// The settings of a workspace.
const SETTINGS: &str = "zonewright.toml";

/// The folder of a workspace's state.
const STATE: &str = ".zonewright";

/// The algorithm of the server's key (RFC 8945 section 6: the one that all must have).
pub const ALGORITHM: &str = "hmac-sha256";

/// Where the secret is in a copy of a workspace.
pub const SECRET_FILE: &str = "keys/serve.secret";

/// Zones that were read, and what was found in their files.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The zones, in the order in which they were named.
    pub zones: Vec<ZoneContents>,
    /// What was found; zones that could not be read among it.
    pub findings: Findings,
}

impl Loaded {
    /// Takes a zone, or why there is none.
    fn take(&mut self, read: Result<ZoneRead, TargetError>) {
        match read {
            Ok(ZoneRead { contents, findings, .. }) => {
                self.zones.push(contents);
                self.findings.zones.extend(findings.map(|findings| *findings));
            }
            Err(error) => self.findings.unread.push(error),
        }
    }
}

/// Reads the zones that a workspace has in files.
///
/// Errors: what is wrong with zonewright.toml.
pub fn load_workspace(workspace: &Path, now: Time) -> Result<Loaded, Box<Findings>> {
    let (config, files) = load_config(workspace)?;
    let mut loaded = Loaded { findings: Findings { files, ..Findings::default() }, ..Loaded::default() };
    for spec in &config.zones {
        let target = &config.pools[spec.pool].target;
        if target.provider == FILES {
            let context = Context { workspace, source: &config.source, now };
            loaded.take(match provider::open(&target.provider, &target.settings, &context) {
                Ok(Access::Whole(target)) => target.read_zone(&spec.name),
                Ok(Access::ByName(_)) => unreachable!("nobody asks files name by name"),
                Err(error) => Err(error),
            });
        }
    }
    Ok(loaded)
}

/// Reads zones from files `APEX.zone`, and from all such files of folders.
pub fn load_files(paths: &[PathBuf]) -> Loaded {
    let mut loaded = Loaded::default();
    for path in paths {
        match files_of(path) {
            Ok(files) => files.iter().for_each(|file| loaded.take(read_file(file))),
            Err(error) => loaded.findings.unread.push(error),
        }
    }
    let mut names: Vec<&ZoneName> = loaded.zones.iter().map(ZoneContents::apex).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_string());
    loaded.findings.unread.extend(twice.map(|zone| TargetError {
        place: zone,
        code: "zone-twice",
        message: "two files are of this zone".to_owned(),
        hint: Some("a zone is served from one file".to_owned()),
        findings: None,
    }));
    loaded
}

/// The files that a path means: itself, or what is in the folder.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, TargetError> {
    let failed = |error: io::Error| file_error(path, "unreadable-file", error.to_string().to_lowercase());
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
    let is_zone = |file: &PathBuf| file.extension().is_some_and(|ending| ending == ENDING);
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(is_zone).collect();
    files.sort();
    match files.is_empty() {
        true => Err(file_error(path, "missing-file", "no file of this folder ends in `.zone`".to_owned())),
        false => Ok(files),
    }
}

/// Reads the zone of a file, which has its name.
fn read_file(file: &Path) -> Result<ZoneRead, TargetError> {
    let is_zone = file.extension().is_some_and(|ending| ending == ENDING);
    let stem = file.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_zone);
    let name = stem.and_then(|stem| Name::parse(stem).ok()).ok_or_else(|| {
        file_error(file, "no-zone-name", "the name of the file does not say which zone it is of".to_owned())
    })?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    provider::read_in(folder, &ZoneName::new(name))
}

/// What is wrong with a file that was to be served.
fn file_error(path: &Path, code: &'static str, message: String) -> TargetError {
    let hint = "give files that are called APEX.zone, such as `example.net.zone`, or folders of such files";
    TargetError { place: path.display().to_string(), code, message, hint: Some(hint.to_owned()), findings: None }
}

/// What a target must say to have its zones on a server.
#[derive(Debug)]
pub struct ServedAt {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name of its key, and in which file the target finds the secret; `None` where it has no key.
    pub key: Option<(Name, String)>,
}

impl ServedAt {
    /// The keys of such a target, with their values as TOML.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let key = self.key.as_ref().map(|(name, file)| {
            let secret = toml_text(file);
            let name = toml_text(&name.to_string());
            ("tsig_key", format!("{{ name = {name}, algorithm = \"{ALGORITHM}\", secret_file = {secret} }}"))
        });
        std::iter::once(("server", format!("\"{}\"", self.address))).chain(key).collect()
    }
}

/// A text as TOML writes it (a basic string).
fn toml_text(text: &str) -> String {
    // What JSON escapes, TOML escapes alike (TOML 1.0.0, "String").
    serde_json::Value::from(text).to_string()
}

/// Makes a copy of a workspace, without its state, whose zones in files are on a server instead; `secret` is that of the
/// server's key, in base64.
///
/// Errors: the copy exists, or a file cannot be read or written.
pub fn copy_workspace(workspace: &Path, copy: &Path, served: &ServedAt, secret: &str) -> Result<(), String> {
    let failed = |error: &io::Error| error.to_string().to_lowercase();
    let (config, _) = load_config(workspace).map_err(|_| "its settings cannot be used any more".to_owned())?;
    fs::create_dir(copy).map_err(|error| failed(&error))?;
    let made = copy_all(workspace, copy, &config).and_then(|()| write_secret(&copy.join(SECRET_FILE), secret));
    made.map_err(|error| failed(&error))?;
    let settings = served.settings();
    let retarget = Retarget { from: FILES, to: "rfc2136", dropped: &["dir", "reload"], added: &settings };
    let (text, _) = retarget.apply(&config.source.text);
    fs::write(copy.join(SETTINGS), text).map_err(|error| failed(&error))
}

/// Copies what is in a workspace but its state.
fn copy_all(workspace: &Path, copy: &Path, config: &Config) -> io::Result<()> {
    let own = copy.canonicalize()?;
    let state = workspace.join(&config.state_file);
    let is_left = |path: &Path| {
        let beside_state = path.to_string_lossy().starts_with(&*state.to_string_lossy());
        beside_state || path == workspace.join(STATE) || path.canonicalize().is_ok_and(|path| path == own)
    };
    copy_folder(workspace, copy, &is_left)
}

/// Copies what is in a folder but what is left out.
fn copy_folder(from: &Path, to: &Path, is_left: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if is_left(&path) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::create_dir(&to)?;
            copy_folder(&path, &to, is_left)?;
        } else if fs::metadata(&path)?.is_file() {
            fs::copy(&path, &to)?;
        } else {
            // A link to a folder may lead anywhere, to itself too; a pipe has no end.
            return Err(io::Error::other(format!("`{}` is no file or folder", path.display())));
        }
    }
    Ok(())
}

/// Writes a secret for its owner alone.
fn write_secret(path: &Path, secret: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(secret.as_bytes())?;
    file.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_settings_are_toml() {
        for text in ["zonewright.", "a \"b\" \\ c", "\u{7}", "\u{e4}\n"] {
            let document = format!("x = {}", toml_text(text));
            let parsed: toml::Table = document.parse().unwrap();
            assert_eq!(parsed["x"].as_str(), Some(text));
        }
    }

    #[test]
    fn a_file_says_by_its_name_which_zone_it_is_of() {
        let folder = tempfile::tempdir().unwrap();
        let zone = "$TTL 60\n@ SOA ns x 1 1 1 1 1\n@ NS ns\nns A 192.0.2.1\n";
        for name in ["example.net.zone", "0/25.2.0.192.in-addr.arpa.zone", "readme.txt"] {
            fs::write(folder.path().join(name.replace('/', "\\047")), zone).unwrap();
        }
        let loaded = load_files(&[folder.path().to_owned()]);
        assert!(loaded.findings.unread.is_empty(), "{:?}", loaded.findings.unread);
        let names: Vec<String> = loaded.zones.iter().map(|zone| zone.apex().to_string()).collect();
        assert_eq!(names, ["0/25.2.0.192.in-addr.arpa.", "example.net."]);
        let codes = |paths: &[&str]| -> Vec<&str> {
            let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path().join(path)).collect();
            load_files(&paths).findings.unread.iter().map(|error| error.code).collect()
        };
        assert_eq!(codes(&["readme.txt"]), ["no-zone-name"]);
        assert_eq!(codes(&["gone.zone"]), ["unreadable-file"]);
        assert_eq!(codes(&["example.net.zone", "example.net.zone"]), ["zone-twice"]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert_eq!(codes(&["empty"]), ["missing-file"]);
    }
}
