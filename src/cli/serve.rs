//! `serve`: an authoritative server on loopback, to try things out on.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::serve_args::ServeArgs;
use super::shared_args::SharedArgs;
use super::{serve_cms, signals};
use crate::dns::{Name, ZoneContents};
use crate::pipeline::serve::{self, ALGORITHM, LoadedZones, SECRET_FILE, ServedAt};
use crate::provider::secret::{Secret, SecretSource};
use crate::report::{self, ServingFacts};
use crate::serve::{ListenError, RunningServer, ServerKey, Service, ServiceOptions, listen, quirk};

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long it waits for the secret, which comes from a file.
const SECRET: Duration = Duration::from_secs(5);

/// A key, and what is said of it.
struct KeyChoice {
    /// The key, where there is one.
    key: Option<ServerKey>,
    /// Its name, and the file that a target names.
    shown: Option<(Name, String)>,
    /// The secret in base64, where it is a new one.
    fresh: Option<String>,
}

/// Serves zones until it is interrupted.
pub fn run(shared: &SharedArgs, args: &ServeArgs) -> Result<Exit, CommandFailure> {
    if args.approvals.cms {
        return serve_cms::run(&args.approvals, &args.listen, cannot_listen);
    }
    let Some(zones) = load(shared, args)? else { return Ok(Exit::Error) };
    if let Some(copy) = args.try_on.as_deref().filter(|copy| copy.exists()) {
        let failure = CommandFailure::new(format!("`{}` exists: nothing is copied over it", copy.display()));
        return Err(failure.hint("`--try` names a folder that does not exist yet"));
    }
    let KeyChoice { key, shown, fresh } = key(args)?;
    let interrupted = signals::watch()?;
    let options = ServiceOptions { key, quirks: quirk::collect(&args.quirks), faults: args.faults.clone() };
    let service = Arc::new(Service::new(&zones, options));
    let listening = args.listen.iter().map(|address| listen(&service, *address));
    let running: Vec<RunningServer> = listening.collect::<Result<_, _>>().map_err(cannot_listen)?;
    let served = ServedAt { address: running[0].address(), key: shown };
    let others = match args.try_on.as_deref().zip(fresh.as_deref()) {
        Some((copy, secret)) => serve::copy_workspace(&shared.workspace, copy, &served, secret)
            .map_err(|error| CommandFailure::new(format!("the workspace cannot be copied: {error}")))?,
        None => Vec::new(),
    };
    output::print(&report::serving(&ServingFacts { others, ..told(shared, args, &zones, &running, &served) }))?;
    while !interrupted.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
    }
    drop(running);
    output::print(&report::served(service.counts()))?;
    Ok(Exit::Done)
}

/// Reads the zones that are to be served; `None` where there are none, or where one cannot be read, which is reported.
fn load(shared: &SharedArgs, args: &ServeArgs) -> Result<Option<Vec<ZoneContents>>, CommandFailure> {
    let loaded = if !args.paths.is_empty() {
        Ok(serve::load_files(&args.paths))
    } else {
        serve::load_workspace(&shared.workspace, output::now(shared)?)
    };
    let LoadedZones { zones, findings } = match loaded {
        Ok(loaded) => loaded,
        Err(findings) => {
            output::findings(shared, &findings);
            return Ok(None);
        }
    };
    output::findings(shared, &findings);
    if !findings.unread.is_empty() {
        return Ok(None);
    }
    if zones.is_empty() {
        let failure = CommandFailure::new("the workspace has no zones in files: no target is of type `zonefile`");
        return Err(failure.hint("name the files or folders to serve: `zonewright serve FILE|DIR...`"));
    }
    Ok(Some(zones))
}

/// Makes the key: from a file, a new one for a copy of the workspace, or none.
fn key(args: &ServeArgs) -> Result<KeyChoice, CommandFailure> {
    let named = |secret: &Secret, file: String| {
        let key = Some(ServerKey::new(args.key_name.clone(), secret));
        KeyChoice { key, shown: Some((args.key_name.clone(), file)), fresh: None }
    };
    if args.try_on.is_some() {
        let (secret, text) =
            Secret::random().map_err(|error| CommandFailure::new(format!("there is no key: {error}")))?;
        return Ok(KeyChoice { fresh: Some(text), ..named(&secret, SECRET_FILE.to_owned()) });
    }
    let Some(path) = &args.key else { return Ok(KeyChoice { key: None, shown: None, fresh: None }) };
    let source = SecretSource::File(path.display().to_string());
    let secret = source
        .fetch(Path::new("."), SECRET)
        .map_err(|error| CommandFailure::new(error.message).maybe_hint(error.hint))?;
    // A target's paths start at its workspace, wherever that is.
    let file = path.canonicalize().unwrap_or_else(|_| path.clone());
    Ok(named(&secret, file.display().to_string()))
}

/// Why there is no server.
fn cannot_listen(error: ListenError) -> CommandFailure {
    let hint = match &error {
        ListenError::NotLoopback(_) => "this server is for trying things out: it listens on 127.0.0.0/8 and ::1 only",
        ListenError::Io(_, error) if error.kind() == ErrorKind::AddrInUse => {
            "another program has this port, perhaps another `serve`; `--listen 127.0.0.1:0` takes any that is free"
        }
        ListenError::Io(..) => "`--listen 127.0.0.1:0` takes any port that is free",
    };
    CommandFailure::new(error).hint(hint)
}

/// What is printed about a server that has begun.
fn told<'a>(
    shared: &SharedArgs,
    args: &ServeArgs,
    zones: &[ZoneContents],
    running: &[RunningServer],
    served: &'a ServedAt,
) -> ServingFacts<'a> {
    let now = shared.now.map(|now| format!(" --now {now}")).unwrap_or_default();
    ServingFacts {
        addresses: running.iter().map(|running| running.address().to_string()).collect(),
        key: served.key.as_ref().map(|(name, _)| (name.to_string(), ALGORITHM)),
        zones: zones.iter().map(|zone| (zone.apex().to_string(), zone.record_count())).collect(),
        target: served.settings(),
        command: args.try_on.as_ref().map(|copy| format!("zonewright -C {}{now} plan", copy.display())),
        others: Vec::new(),
    }
}
