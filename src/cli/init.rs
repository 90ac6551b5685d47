//! `init`: a workspace to start from.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use super::exit::Exit;
use super::init_args::InitArgs;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::shared_args::SharedArgs;
use super::signals;
use crate::disk::together::PendingFiles;
use crate::dns::{Name, ZoneName};
use crate::git;
use crate::inventory::value::Time;
use crate::pipeline::Findings;
use crate::pipeline::init::{self, ImportRequest, ImportedZones, InitError};
use crate::report::init::{InitReport, made};
use crate::report::paste::shell;
use crate::starter::fleet::FoundFleet;
use crate::starter::imported::SNAPSHOT;
use crate::starter::{IGNORE, ImportTarget, KEYS, KeyGiven, SETTINGS, Starter, ignored};

/// The owner where nothing else says one.
const OWNER: &str = "zonewright";

/// The files that may be there before, and stay as they are: no other file depends on what is in them.
const SPARED: [&str; 3] = [IGNORE, ".gitattributes", "CODEOWNERS.example"];

/// Makes a workspace, and says what is in it and what comes next.
pub fn run(shared: &SharedArgs, args: &InitArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    let folder = match &args.folder {
        Some(folder) => clean(&shared.workspace.join(folder)),
        None => shared.workspace.clone(),
    };
    check_free(&folder)?;
    let owner = owner(&folder);
    let progress = ProgressLine::start(shared);
    let secrets = secrets(args)?;
    let outcome = match asked(args)? {
        None => init::of_folder(&folder, &owner, now, &progress).map(|starter| (starter, None)),
        Some((place, zones)) => target(args, place, &secrets).and_then(|target| {
            let named = target.with_secrets(&|file| named(&folder, Path::new(file)));
            let (target, of_records) = (&target, args.records);
            let request = ImportRequest { target, named: &named, zones: &zones, owner: &owner, now, of_records };
            let (starter, zones) = init::of_target(&request, &progress)?;
            Ok((starter, Some(zones)))
        }),
    };
    progress.finish();
    let (starter, imported) = match outcome {
        Ok(made) => made,
        Err(error) => return Err(failure(shared, args, error)),
    };
    let kept = kept(&folder, &starter, imported.as_ref().is_some_and(ImportedZones::has_snapshot))?;
    let made = NewWorkspace { folder: &folder, starter, imported, kept, secrets: secrets.all() };
    made.write(now)?;
    if !shared.quiet {
        output::print(&made.text())?;
    }
    Ok(Exit::Done)
}

/// Refuses a folder that is a workspace, or no folder.
fn check_free(folder: &Path) -> Result<(), CommandFailure> {
    let settings = folder.join(SETTINGS);
    if fs::symlink_metadata(&settings).is_ok() {
        let failure = CommandFailure::new(format!("`{}` exists: this is a workspace already", settings.display()));
        return Err(failure.hint("nothing was written; name another folder, or move that file"));
    }
    match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => {
            let failure = CommandFailure::new(format!("`{}` is not a folder", folder.display()));
            Err(failure.hint("name a folder, or one that does not exist yet"))
        }
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unusable(folder, &error)),
        _ => Ok(()),
    }
}

/// A path without the parts that change nothing, as people would write it.
fn clean(path: &Path) -> PathBuf {
    let clean: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if clean.as_os_str().is_empty() { PathBuf::from(".") } else { clean }
}

/// The owner: the name of the repository that the folder is in, or else that of the folder.
fn owner(folder: &Path) -> String {
    let real = folder.canonicalize().or_else(|_| std::path::absolute(folder)).unwrap_or_else(|_| folder.to_owned());
    let name = git::root_of(&real).unwrap_or(&real).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let plain: String = plain.trim_matches('-').chars().take(60).collect();
    if plain.is_empty() { OWNER.to_owned() } else { plain }
}

/// The zones of some names, each once.
fn named_zones(names: &[String]) -> Result<Vec<ZoneName>, CommandFailure> {
    let mut parsed: Vec<ZoneName> = Vec::new();
    for text in names {
        let zone = Name::parse(text).map(ZoneName::new);
        let zone = zone.ok().filter(|_| !text.contains(['/', ':'])).ok_or_else(|| {
            let failure = CommandFailure::new(format!("`{text}` is not a zone"));
            failure.hint(
                "write DIR first, then `--from-axfr` or the like, the server and the zones, such as `example.net`",
            )
        })?;
        if !parsed.contains(&zone) {
            parsed.push(zone);
        }
    }
    Ok(parsed)
}

/// The target that the arguments name, and the zones; none where the workspace is made of a folder.
fn asked(args: &InitArgs) -> Result<Option<(&String, Vec<ZoneName>)>, CommandFailure> {
    let named = [&args.from_axfr, &args.from_powerdns, &args.from_etcd];
    let Some((place, zones)) = named.into_iter().find_map(|values| values.split_first()) else { return Ok(None) };
    Ok(Some((place, named_zones(zones)?)))
}

/// The files of secrets that the arguments name, as absolute paths.
struct SecretFiles {
    /// That of the TSIG key.
    tsig: Option<PathBuf>,
    /// That of the API's key.
    api: Option<PathBuf>,
    /// That of the password.
    password: Option<PathBuf>,
    /// That of trusted certificates.
    authorities: Option<PathBuf>,
    /// Those of the client's certificate and its key.
    client: Option<(PathBuf, PathBuf)>,
}

impl SecretFiles {
    /// All of them.
    fn all(&self) -> Vec<PathBuf> {
        let alone = [&self.tsig, &self.api, &self.password, &self.authorities].into_iter().flatten();
        let client = self.client.iter().flat_map(|(cert, key)| [cert, key]);
        let mut all: Vec<PathBuf> = alone.chain(client).cloned().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Finds the files of secrets.
fn secrets(args: &InitArgs) -> Result<SecretFiles, CommandFailure> {
    let absolute = |file: &Option<PathBuf>| {
        let file = file.as_deref().map(std::path::absolute).transpose();
        file.map_err(|error| CommandFailure::new(format!("the file of the secret cannot be named: {error}")))
    };
    let found = SecretFiles {
        tsig: absolute(&args.tsig_secret_file)?,
        api: absolute(&args.api_key_file)?,
        password: absolute(&args.password_file)?,
        authorities: absolute(&args.ca_file)?,
        client: absolute(&args.cert_file)?.zip(absolute(&args.key_file)?),
    };
    let all = found.all();
    let mut named: BTreeMap<String, &Path> = BTreeMap::new();
    for file in &all {
        if let Some(other) = named.insert(copied_to(file), file) {
            let message = format!("{} and {} would have one name in the workspace", other.display(), file.display());
            return Err(CommandFailure::new(message).hint("give one of the files another name"));
        }
    }
    Ok(found)
}

/// The target at a place.
///
/// Errors: the key cannot be used.
fn target(args: &InitArgs, place: &str, secrets: &SecretFiles) -> Result<ImportTarget, InitError> {
    let key_of = |file: &PathBuf| init::key_of(file, args.tsig_key.as_ref(), args.tsig_algorithm.as_deref());
    let key: Option<KeyGiven> = secrets.tsig.as_ref().map(key_of).transpose()?;
    let text = |file: &PathBuf| file.display().to_string();
    if !args.from_etcd.is_empty() {
        let endpoints = place.split(',').map(|url| url.trim().to_owned()).collect();
        let user = args.user.clone().zip(secrets.password.as_ref().map(text));
        let client = secrets.client.as_ref().map(|(cert, key)| (text(cert), text(key)));
        let (prefix, ca_file) = (args.prefix.clone(), secrets.authorities.as_ref().map(text));
        return Ok(ImportTarget::Etcd { endpoints, prefix, user, ca_file, client });
    }
    match &secrets.api {
        None => Ok(ImportTarget::NameServer { server: place.to_owned(), key }),
        Some(file) => {
            let server = args.server.clone().unwrap_or_else(|| host_of(place).to_owned());
            let url = place.trim_end_matches('/').trim_end_matches("/api/v1").to_owned();
            let ca_file = secrets.authorities.as_ref().map(text);
            Ok(ImportTarget::PowerDns { url, key_file: text(file), server, key, ca_file })
        }
    }
}

/// The host of a URL, without its port.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or(rest);
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or(authority),
    }
}

/// How the settings name the file of a secret.
fn named(folder: &Path, file: &Path) -> String {
    inside(folder, file).map_or_else(|| copied_to(file), |inside| inside.display().to_string())
}

/// The path of a file from a folder that it is in; none where it is in another.
fn inside(folder: &Path, file: &Path) -> Option<PathBuf> {
    let [folder, file] = [folder, file].map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    file.strip_prefix(clean(&folder)).ok().map(Path::to_owned)
}

/// The path in the workspace that the file of a key is copied to: settings in git must not name a path of one machine.
fn copied_to(file: &Path) -> String {
    let name = file.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    format!("{KEYS}{name}")
}

/// The files that are there already, and stay.
///
/// Errors: one of them must be written.
fn kept(folder: &Path, starter: &Starter, has_snapshot: bool) -> Result<Vec<String>, CommandFailure> {
    let is_there = |path: &str| fs::symlink_metadata(folder.join(path)).is_ok();
    let files = starter.files.iter().map(|file| file.path.as_str());
    let there: Vec<&str> = files.chain(has_snapshot.then_some(SNAPSHOT)).filter(|path| is_there(path)).collect();
    match there.iter().find(|path| !SPARED.contains(path)) {
        Some(taken) => {
            let failure =
                CommandFailure::new(format!("`{}` exists, and is not overwritten", folder.join(taken).display()));
            Err(failure.hint("nothing was written; name a folder that is empty or does not exist, or move that file"))
        }
        None => Ok(there.into_iter().map(str::to_owned).collect()),
    }
}

/// A workspace that is being made.
struct NewWorkspace<'a> {
    /// Its folder.
    folder: &'a Path,
    /// What is in it.
    starter: Starter,
    /// The zones that were transferred for it, where any were.
    imported: Option<ImportedZones>,
    /// The files that were there before, and stay.
    kept: Vec<String>,
    /// The files of secrets that the arguments name.
    secrets: Vec<PathBuf>,
}

impl NewWorkspace<'_> {
    /// The files of secrets that are copied into the workspace: those that are not in the folder already.
    fn copied_secrets(&self) -> Vec<PathBuf> {
        let is_copied = |file: &&PathBuf| self.imported.is_some() && inside(self.folder, file).is_none();
        self.secrets.iter().filter(is_copied).cloned().collect()
    }

    /// Writes everything, or nothing.
    ///
    /// A key is copied to a folder that git ignores, whatever an existing .gitignore says.
    fn write(&self, now: Time) -> Result<(), CommandFailure> {
        let NewWorkspace { folder, starter, imported, kept, .. } = self;
        let interrupted = signals::watch()?;
        let together = PendingFiles::begin(folder).map_err(|error| unusable(folder, &error))?;
        for file in starter.files.iter().filter(|file| !kept.contains(&file.path)) {
            together
                .write(&file.path, file.text.as_bytes())
                .map_err(|error| unusable(&folder.join(&file.path), &error))?;
        }
        let (copied, ignore) = (self.copied_secrets(), format!("{KEYS}{IGNORE}"));
        for file in &copied {
            let unreadable =
                |error| CommandFailure::new(format!("the file of the secret cannot be read: {error}")).hint(NOTHING);
            let (secret, path) = (fs::read(file).map_err(unreadable)?, copied_to(file));
            together.write_private(&path, &secret).map_err(|error| unusable(&folder.join(&path), &error))?;
        }
        if !copied.is_empty() && !folder.join(&ignore).exists() {
            together.write(&ignore, b"*\n").map_err(|error| unusable(&folder.join(&ignore), &error))?;
        }
        if let Some(imported) = imported {
            imported.save(together.staging(), now).map_err(|error| CommandFailure::new(&error).hint(NOTHING))?;
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(CommandFailure::new("interrupted: nothing was written"));
        }
        together.put_in_place(SETTINGS).map_err(|(place, error)| unusable(&place, &error))
    }

    /// What is printed.
    fn text(self) -> String {
        let copied = self.copied_secrets();
        let NewWorkspace { folder, mut starter, imported, kept, secrets } = self;
        if kept.iter().any(|path| path == IGNORE) {
            let text = fs::read_to_string(folder.join(IGNORE)).unwrap_or_default();
            let missing: Vec<&str> =
                ignored(&starter).filter(|line| !text.lines().any(|own| own.trim() == *line)).collect();
            if !missing.is_empty() {
                let missing = format!("Add to your .gitignore: {}.", missing.join(" "));
                starter.remarks.push(missing);
            }
        }
        let copy = |file: &PathBuf| {
            format!(
                "`{}` is a copy of the secret in {}, and is not in git. Every clone needs it, readable by its user alone.",
                copied_to(file),
                file.display()
            )
        };
        starter.remarks.extend(copied.iter().map(copy));
        starter.remarks.extend(secrets.iter().filter_map(|secret| in_repository(folder, secret)));
        let shown = folder.display().to_string();
        let change = if shown == "." { String::new() } else { format!(" -C {}", quoted(&shown)) };
        let command = |rest: &str| format!("zonewright{change} {rest}");
        let mut next =
            vec![(command("check"), "every file, offline"), (command("plan"), "what would be changed in DNS, and why")];
        let mut others = Vec::new();
        if imported.as_ref().is_some_and(ImportedZones::has_snapshot) {
            others.push((format!("{SNAPSHOT}/"), "the zones as they were read".to_owned()));
            next.push((
                command(&format!(
                    "plan --live-snapshot {}",
                    quoted(&clean(&folder.join(SNAPSHOT)).display().to_string())
                )),
                "the same, without the server",
            ));
        }
        if imported.is_some() {
            next.push((command("doctor"), "what the server allows"));
        } else {
            next.push((command("explain HOST"), "where a host's name and addresses come from"));
        }
        made(&starter, &InitReport { folder: &shown, others: &others, kept: &kept, next: &next }, output::width())
    }
}

/// The hint when writing failed.
const NOTHING: &str = "nothing was written; name a folder in which you may write, on a disk with room";

/// Why nothing can be written at a place.
fn unusable(place: &Path, error: &io::Error) -> CommandFailure {
    let message = format!("`{}` cannot be written: {}", place.display(), error.to_string().to_lowercase());
    CommandFailure::new(message).hint(match error.kind() {
        ErrorKind::NotADirectory => "nothing was written; a file is where a folder must be: move it",
        _ => NOTHING,
    })
}

/// Why nothing was made.
fn failure(shared: &SharedArgs, args: &InitArgs, error: InitError) -> CommandFailure {
    match error {
        InitError::Unread(errors) => {
            let is_refused =
                errors.iter().any(|error| ["transfer-refused", "zone-not-served"].contains(&error.code.as_str()));
            let found = Findings { unread: errors, ..Findings::default() };
            output::findings(shared, &found);
            let failure = CommandFailure::new("not every zone could be read: nothing was written");
            if args.tsig_secret_file.is_none() && !args.from_axfr.is_empty() && is_refused {
                failure.hint("if the server requires a key: `--tsig-secret-file FILE`, as `tsig-keygen` makes it")
            } else {
                failure
            }
        }
        InitError::NoHosts(fleet) => CommandFailure::new(no_hosts(&fleet))
            .hint("nothing was written; name the zones that hold the hosts' own names"),
        InitError::BadKey(error) => CommandFailure::new(error.message).maybe_hint(error.hint),
        InitError::UnnamedKey(file) => {
            CommandFailure::new(format!("`{}` does not say the name of the key", file.display()))
                .hint("give `--tsig-key NAME`, as the server calls it; or give the key as `tsig-keygen` prints it")
        }
        InitError::OtherKey(what, own) => {
            let flag = if what == "name" { "key" } else { what };
            CommandFailure::new(format!("the file of the key says that its {what} is `{own}`"))
                .hint(format!("leave out `--tsig-{flag}`, or give the other key's file"))
        }
        InitError::BadTarget(found) => {
            let first = found.errors().iter().next().map(|found| (found.message.clone(), found.hint.clone()));
            let (message, hint) = first.expect("an error was found");
            CommandFailure::new(format!("the target or its key: {message}")).maybe_hint(hint)
        }
        InitError::Folder(folder, error) => {
            let message = format!("`{}` cannot be read: {}", folder.display(), error.to_string().to_lowercase());
            CommandFailure::new(message).hint("name a folder that you may read")
        }
    }
}

/// Says which names were found where none is a host's.
fn no_hosts(fleet: &FoundFleet) -> String {
    let others: Vec<String> = fleet.others.iter().map(|(reason, names)| format!("{} {reason}", names.len())).collect();
    if others.is_empty() {
        "no name in the zones has an address".to_owned()
    } else {
        format!("no name in the zones looks like a host's: {}", others.join("; "))
    }
}

/// The note about a secret that is outside the workspace and that may get into a git repository.
fn in_repository(folder: &Path, secret: &Path) -> Option<String> {
    let (folder, secret_file) = (folder.canonicalize().ok()?, secret.canonicalize().ok()?);
    let repository = git::root_of(&secret_file)?;
    (!secret_file.starts_with(folder)).then(|| {
        let (file, repository) = (secret.display(), repository.display());
        format!(
            "The secret {file} is in the git repository {repository}: check that its .gitignore names it, or delete \
             it. From now on zonewright reads {}.",
            copied_to(secret)
        )
    })
}

/// A path as a shell reads it; `DIR` for one that cannot be shown.
fn quoted(path: &str) -> String {
    shell(path).unwrap_or_else(|| "DIR".to_owned())
}
