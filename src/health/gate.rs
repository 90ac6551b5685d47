//! A gate: whether a further wave may go.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::{AskContext, PAUSE};
use crate::diag::AttemptError;
use crate::http::{self, HttpAnswer};
use crate::inventory::health::{Gate, GateQuestion};
use crate::process::{BoundedCommand, CommandAnswer, in_one_line};

/// How much of the content of a URL is kept, in octets.
const MAX_CONTENT: u64 = 2048;

/// How long it waits at a time for an answer: a signal ends the wait soon.
const NAP: Duration = Duration::from_millis(50);

/// What a gate said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateAnswer {
    /// Whether it passed.
    pub passed: bool,
    /// What it printed; where it did not pass, why, too: lower case, no full stop.
    pub said: String,
    /// Whether it could be asked: another attempt would help.
    pub is_usable: bool,
}

/// Asks a gate, again while it fails and has attempts left. A command gets `input` as its standard input.
pub fn ask(gate: &Gate, input: &str, context: AskContext<'_>) -> GateAnswer {
    let mut attempts = 1;
    loop {
        let answer = attempt(gate, input, context).unwrap_or_else(|AttemptError { message, may_pass }| GateAnswer {
            passed: false,
            said: message,
            is_usable: may_pass,
        });
        if answer.passed {
            return answer;
        }
        if (context.is_over)() {
            return GateAnswer { said: "a signal ended the run before it answered".to_owned(), ..answer };
        }
        if !answer.is_usable || attempts > gate.terms.retries || !(context.pause)(PAUSE) {
            let said = if attempts == 1 { answer.said } else { format!("{attempts} attempts: {}", answer.said) };
            return GateAnswer { said, ..answer };
        }
        attempts += 1;
    }
}

/// Asks once.
///
/// Errors: it could not be asked.
fn attempt(gate: &Gate, input: &str, context: AskContext<'_>) -> Result<GateAnswer, AttemptError> {
    let (failure, said) = match &gate.asks {
        GateQuestion::Command(words) => {
            let (words, timeout) = (words.clone(), gate.terms.timeout);
            let command = BoundedCommand { words, workspace: context.workspace.to_owned(), timeout };
            let CommandAnswer { failure, said } = command.ask(input.as_bytes(), context.is_over)?;
            (failure, said)
        }
        GateQuestion::Url(url) => {
            let HttpAnswer { host, status, content, .. } = fetch(url, gate.terms.timeout, context.is_over)?;
            let failure = (status != 200).then(|| format!("`{host}` answers with status {status}"));
            (failure, in_one_line(&content))
        }
    };
    let passed = failure.is_none();
    let said = match failure {
        None => said,
        Some(failure) if said.is_empty() => failure,
        Some(failure) => format!("{failure}; it said: {said}"),
    };
    Ok(GateAnswer { passed, said, is_usable: true })
}

/// Fetches a URL on a thread of its own, so that a signal need not wait for the answer.
///
/// Errors: no answer, or it is no longer needed.
fn fetch(url: &str, timeout: Duration, is_over: &dyn Fn() -> bool) -> Result<HttpAnswer, AttemptError> {
    let (sender, receiver) = mpsc::channel();
    let asked = url.to_owned();
    let thread = thread::Builder::new().spawn(move || {
        // The receiver may be gone.
        let _ = sender.send(http::get(&asked, MAX_CONTENT, timeout));
    });
    let failed = |message: &str| AttemptError { message: message.to_owned(), may_pass: true };
    thread.map_err(|error| failed(&format!("the system gives no thread: {error}")))?;
    loop {
        match receiver.recv_timeout(NAP) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if is_over() => return Err(failed("it was not waited for")),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(failed("it gave no answer")),
        }
    }
}
