//! Events to the receivers of the settings: a command, a webhook.
//!
//! Comes in: an event as a line of JSON. Goes out: why a receiver did not get it. A run never fails because of that.

use std::path::Path;
use std::time::Duration;

use crate::diag::AttemptError;
use crate::http;
use crate::inventory::config::notify::{NotifySpec, Webhook, is_url};
use crate::process::BoundedCommand;

/// The pauses before the second and the third attempt: a receiver that restarts is back after a few seconds.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// Sends an event to each receiver, with up to three attempts each. `pause` waits between them, and says whether to go on.
///
/// Gives, for each receiver that did not get it, why, in words.
pub fn deliver(spec: &NotifySpec, workspace: &Path, event: &str, pause: impl Fn(Duration) -> bool) -> Vec<String> {
    let mut failures = Vec::new();
    if let Some(words) = &spec.command {
        let command = BoundedCommand { words: words.clone(), workspace: workspace.to_owned(), timeout: spec.timeout };
        let line = format!("{event}\n");
        // The exit code of a command does not say whether another attempt would help.
        failures.extend(try_thrice(|| command.run(line.as_bytes()), &pause).err());
    }
    if let Some(webhook) = &spec.webhook {
        let sent = url_of(webhook).and_then(|url| try_thrice(|| http::post_json(&url, event, spec.timeout), &pause));
        failures.extend(sent.err());
    }
    failures
}

/// The URL of a webhook.
fn url_of(webhook: &Webhook) -> Result<String, String> {
    let name = match webhook {
        Webhook::Url(url) => return Ok(url.clone()),
        Webhook::Variable(name) => name,
    };
    let url =
        std::env::var(name).map_err(|_| format!("the environment variable `{name}` with the webhook is not set"))?;
    let url = url.trim().to_owned();
    if is_url(&url) { Ok(url) } else { Err(format!("the environment variable `{name}` does not hold a URL")) }
}

/// Makes up to three attempts; gives why the last one failed.
fn try_thrice(attempt: impl Fn() -> Result<(), AttemptError>, pause: &impl Fn(Duration) -> bool) -> Result<(), String> {
    let mut failed = match attempt() {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    let mut attempts = 1;
    for wait in PAUSES {
        if !failed.may_pass || !pause(wait) {
            break;
        }
        attempts += 1;
        match attempt() {
            Ok(()) => return Ok(()),
            Err(error) => failed = error,
        }
    }
    Err(if attempts == 1 { failed.message } else { format!("{} ({attempts} attempts)", failed.message) })
}
