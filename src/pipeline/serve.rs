//! Loads what is served, and makes a workspace to try it with: zones from files, and a copy of a workspace whose
//! targets are the server.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};

use super::findings::Findings;
use super::settings::{is_of_state, load_config};
use crate::diag::{Code, Problem};
use crate::dns::{Name, ZoneContents, ZoneName};
use crate::inventory::config::retarget::NewTargets;
use crate::inventory::config::settings::STATE_FILE;
use crate::inventory::config::toml::quoted;
use crate::inventory::model::Config;
use crate::inventory::value::Time;
use crate::provider;
use crate::reading::{ReadingTerms, local};
use crate::target::ZoneRead;

/// The type of the targets whose zones are served, and which a copy replaces.
const FILES: &str = "zonefile";

/// The ending of the names of zone files.
const ENDING: &str = ".zone";

/// The settings of a workspace.
const SETTINGS: &str = "zonewright.toml";

/// The folder of a workspace's state.
const STATE: &str = ".zonewright";

/// The algorithm of the server's key (RFC 8945 section 6: all implementations must have it).
pub const ALGORITHM: &str = "hmac-sha256";

/// Where the secret is in a copy of a workspace.
pub const SECRET_FILE: &str = "keys/serve.secret";

/// Zones that were read, and what was found in their files.
#[derive(Debug, Default)]
pub struct LoadedZones {
    /// The zones, in the order in which they were named.
    pub zones: Vec<ZoneContents>,
    /// What was found, including zones that could not be read.
    pub findings: Findings,
}

impl LoadedZones {
    /// Adds a zone, or why there is none.
    fn take(&mut self, read: Result<ZoneRead, Problem>) {
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
pub fn load_workspace(workspace: &Path, now: Time) -> Result<LoadedZones, Box<Findings>> {
    let (config, files) = load_config(workspace)?;
    let mut loaded = LoadedZones { findings: Findings { files, ..Findings::default() }, ..LoadedZones::default() };
    let terms = ReadingTerms { workspace, now, cache: None };
    local::read_local(&config, &terms, |read| read).into_iter().for_each(|read| loaded.take(read));
    Ok(loaded)
}

/// Reads zones from files `APEX.zone`, and from all such files of folders.
pub fn load_files(paths: &[PathBuf]) -> LoadedZones {
    let mut loaded = LoadedZones::default();
    for path in paths {
        match files_of(path) {
            Ok(files) => files.iter().for_each(|file| loaded.take(read_file(file))),
            Err(error) => loaded.findings.unread.push(error),
        }
    }
    let mut names: Vec<&ZoneName> = loaded.zones.iter().map(ZoneContents::apex).collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_string());
    loaded.findings.unread.extend(twice.map(|zone| {
        Problem::new(zone, "zone-twice", "this zone has two files").hint("a zone is served from one file")
    }));
    loaded
}

/// The files that a path means: itself, or what is in the folder.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Problem> {
    let failed = |error: io::Error| file_error(path, "unreadable-file", error.to_string().to_lowercase());
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(failed)?;
    let is_zone = |file: &PathBuf| file.as_os_str().as_encoded_bytes().ends_with(ENDING.as_bytes());
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(is_zone).collect();
    files.sort();
    if files.is_empty() {
        Err(file_error(path, "missing-file", "no file name in this folder ends in `.zone`".to_owned()))
    } else {
        Ok(files)
    }
}

/// Reads the zone of a file, which has its name.
fn read_file(file: &Path) -> Result<ZoneRead, Problem> {
    let called = file.file_name().and_then(|called| called.to_str());
    let zone = called.and_then(zone_of).ok_or_else(|| {
        file_error(file, "no-zone-name", "the name of the file does not say which zone it has".to_owned())
    })?;
    let expected = provider::file_name(&zone);
    if called != Some(&expected) {
        let message = format!("the file of `{zone}` must have the name `{expected}`");
        return Err(file_error(file, "no-zone-name", message));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    provider::read_in(folder, &zone)
}

/// The zone that the name of a file says; that of the root has nothing before the ending.
fn zone_of(called: &str) -> Option<ZoneName> {
    let stem = called.strip_suffix(ENDING)?;
    Name::parse(if stem.is_empty() { "." } else { stem }).ok().map(ZoneName::new)
}

/// The error about a file that cannot be served.
fn file_error(path: &Path, code: impl Into<Code>, message: String) -> Problem {
    let hint = "give files with a name APEX.zone, such as `example.net.zone`, or folders of such files";
    Problem::new(path.display().to_string(), code, message).hint(hint)
}

/// The settings that a target needs to have its zones on a server.
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
            let secret = quoted(file);
            let name = quoted(&name.to_string());
            ("tsig_key", format!("{{ name = {name}, algorithm = \"{ALGORITHM}\", secret_file = {secret} }}"))
        });
        std::iter::once(("server", format!("\"{}\"", self.address))).chain(key).collect()
    }
}

/// Makes a copy of a workspace, without its state; its zones in files are on a server in the copy. `secret` is that of
/// the server's key, in base64. Gives the names of the pools whose targets stay as they were.
///
/// Errors: the copy exists, or a file cannot be read or written; there is no copy then.
pub fn copy_workspace(workspace: &Path, copy: &Path, served: &ServedAt, secret: &str) -> Result<Vec<String>, String> {
    let (config, _) = load_config(workspace).map_err(|_| "its settings can no longer be used".to_owned())?;
    fs::create_dir(copy).map_err(|error| failed(copy, &error))?;
    if let Err(error) = fill(workspace, copy, &config, served, secret) {
        // Half a copy is of no use, and stops the next try. The first error matters more than one of this removal.
        let _ = fs::remove_dir_all(copy);
        return Err(error);
    }
    let others = config.targets().filter(|target| target.provider != FILES);
    Ok(others.map(|target| target.id.pool.to_string()).collect())
}

/// Fills the copy of a workspace.
fn fill(workspace: &Path, copy: &Path, config: &Config, served: &ServedAt, secret: &str) -> Result<(), String> {
    copy_all(workspace, copy, config)?;
    let file = copy.join(SECRET_FILE);
    write_secret(&file, secret).map_err(|error| failed(&file, &error))?;
    let (added, own_state) = (served.settings(), format!("sqlite:{STATE_FILE}"));
    // Applies in the copy must not be in the journal of the workspace.
    let state = leads_out(Path::new(&config.state_file)).then_some(own_state.as_str());
    let retarget = NewTargets { from: FILES, to: "rfc2136", dropped: &["dir", "reload"], added: &added, state };
    let (text, _) = retarget.apply(&config.source.text);
    let settings = copy.join(SETTINGS);
    fs::write(&settings, text).map_err(|error| failed(&settings, &error))
}

/// The message about a file that cannot be read or written.
fn failed(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {}", path.display(), error.to_string().to_lowercase())
}

/// Whether a path may lead out of the folder that it begins in.
fn leads_out(path: &Path) -> bool {
    path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Copies a workspace without its state, and without its settings, which differ in the copy.
fn copy_all(workspace: &Path, copy: &Path, config: &Config) -> Result<(), String> {
    let own = copy.canonicalize().map_err(|error| failed(copy, &error))?;
    let is_left = |path: &Path| {
        is_of_state(workspace, config, path)
            || [STATE, SETTINGS].iter().any(|left| path == workspace.join(left))
            || path.canonicalize().is_ok_and(|path| path == own)
    };
    copy_folder(workspace, copy, &is_left)
}

/// Copies a folder without the paths that are left out.
fn copy_folder(from: &Path, to: &Path, is_left: &dyn Fn(&Path) -> bool) -> Result<(), String> {
    let entries = fs::read_dir(from).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in entries.map_err(|error| failed(from, &error))? {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if is_left(&path) {
            continue;
        }
        let is_link = entry.file_type().map_err(|error| failed(&path, &error))?.is_symlink();
        let met = fs::metadata(&path).map_err(|error| failed(&path, &error))?;
        if met.is_file() {
            fs::copy(&path, &to).map_err(|error| failed(&path, &error))?;
        } else if met.is_dir() && !is_link {
            fs::create_dir(&to).map_err(|error| failed(&to, &error))?;
            copy_folder(&path, &to, is_left)?;
        } else {
            // A link to a folder may lead anywhere, even to itself; a pipe has no end.
            let what = if is_link { "a link to a folder is not followed" } else { "it is not a file or a folder" };
            return Err(format!("`{}`: {what}", path.display()));
        }
    }
    Ok(())
}

/// Writes a secret that only its owner can read.
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
            load_files(&paths).findings.unread.iter().map(|error| error.code.as_str()).collect()
        };
        assert_eq!(codes(&["readme.txt"]), ["no-zone-name"]);
        fs::write(folder.path().join(".zone"), zone).unwrap();
        assert!(codes(&[".zone"]).is_empty());
        for other in ["Example.ORG.zone", "example.org..zone"] {
            fs::write(folder.path().join(other), zone).unwrap();
            assert_eq!(codes(&[other]), ["no-zone-name"], "{other}");
        }
        assert_eq!(codes(&["gone.zone"]), ["unreadable-file"]);
        assert_eq!(codes(&["example.net.zone", "example.net.zone"]), ["zone-twice"]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert_eq!(codes(&["empty"]), ["missing-file"]);
    }

    /// A workspace whose settings are the demo's and these, as they are in its copy, and the pools that stay.
    fn copied(settings: &str, copy: &Path) -> Result<(String, Vec<String>), String> {
        let folder = tempfile::tempdir().unwrap();
        let demo = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/inventory/zonewright.toml")).unwrap();
        let text = format!("{demo}\n{settings}");
        fs::write(folder.path().join(SETTINGS), text).unwrap();
        for file in ["state.db", "state.db-wal", "state.db.lock", "state.dbx"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        if copy.ends_with("linked") {
            std::os::unix::fs::symlink(".", folder.path().join("Round")).unwrap();
        }
        let served = ServedAt { address: "127.0.0.1:53".parse().unwrap(), key: None };
        let others = copy_workspace(folder.path(), copy, &served, "c2VjcmV0")?;
        Ok((fs::read_to_string(copy.join(SETTINGS)).unwrap(), others))
    }

    #[test]
    fn a_copy_has_a_state_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        let (text, others) = copied("[state]\nurl = \"sqlite:state.db\"\n", &copy).unwrap();
        assert!(text.contains("\"sqlite:state.db\"") && others.is_empty(), "{text}");
        let names = fs::read_dir(&copy).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        assert_eq!(names, ["keys", "state.dbx", "zonewright.toml"]);
        for (number, shared) in ["/var/lib/x.db", "../x.db", "a/../../x.db"].into_iter().enumerate() {
            let copy = folder.path().join(number.to_string());
            let (text, _) = copied(&format!("[state]\nurl = \"sqlite:{shared}\"\n"), &copy).unwrap();
            assert!(text.contains("url = \"sqlite:.zonewright/state.db\""), "{text}");
        }
    }

    #[test]
    fn pools_that_are_elsewhere_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let other = "[pool.b]\n[[pool.b.target]]\ntype = \"rfc2136\"\nserver = \"192.0.2.1\"\n";
        assert_eq!(copied(other, &folder.path().join("copy")).unwrap().1, ["b"]);
    }

    #[test]
    fn half_a_copy_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("linked");
        let error = copied("", &copy).unwrap_err();
        assert!(error.ends_with("/Round`: a link to a folder is not followed"), "{error}");
        assert!(!copy.exists());
    }
}
