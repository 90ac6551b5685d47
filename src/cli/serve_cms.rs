//! `serve --cms`: the reference service of approvals on loopback.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use super::cms_args::ServeCmsArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::signals;
use crate::report::{self, ApprovalFacts};
use crate::serve::ListenError;
use crate::serve::cms::{ApprovalDesk, ApprovalOptions, TaskStore, listen};
use crate::web::RunningWeb;

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Serves approvals until it is interrupted; `cannot_listen` says why it cannot.
pub fn run(
    args: &ServeCmsArgs,
    addresses: &[SocketAddr],
    cannot_listen: fn(ListenError) -> CommandFailure,
) -> Result<Exit, CommandFailure> {
    let token = args.cms_token.as_deref().map(token).transpose()?;
    let store = TaskStore::open(args.cms_db.as_deref())
        .map_err(|error| CommandFailure::new(format!("the database of the tasks cannot be used: {error}")))?;
    let options = ApprovalOptions {
        version: args.cms_version,
        max_busy: args.cms_max_busy,
        rejects: args.cms_reject.iter().map(|host| host.trim_end_matches('.').to_lowercase()).collect(),
        token: token.clone(),
        faults: args.cms_faults.clone(),
    };
    let interrupted = signals::watch()?;
    let desk = Arc::new(ApprovalDesk::new(options, store));
    let listening = addresses.iter().map(|address| listen(&desk, *address));
    let running: Vec<RunningWeb> = listening.collect::<Result<_, _>>().map_err(cannot_listen)?;
    let facts = ApprovalFacts {
        urls: running.iter().map(|running| format!("http://{}", running.address())).collect(),
        version: args.cms_version.as_str(),
        max_busy: args.cms_max_busy,
        token_file: args.cms_token.as_ref().map(|file| file.display().to_string()),
        is_kept: args.cms_db.is_some(),
    };
    output::print(&report::serving_approvals(&facts))?;
    while !interrupted.load(Ordering::Relaxed) {
        thread::sleep(LOOK);
    }
    drop(running);
    output::print(&report::served_approvals(desk.counts()))?;
    Ok(Exit::Done)
}

/// Reads the token.
fn token(file: &Path) -> Result<String, CommandFailure> {
    let text = fs::read_to_string(file)
        .map_err(|error| CommandFailure::new(format!("`{}` cannot be read: {error}", file.display())))?;
    match text.trim() {
        "" => Err(CommandFailure::new(format!("`{}` has no token", file.display()))),
        token => Ok(token.to_owned()),
    }
}
