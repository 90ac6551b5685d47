//! A gate: whether a further wave may go.

use std::path::Path;
use std::time::Duration;

use super::PAUSE;
use crate::diag::AttemptError;
use crate::http::{self, HttpAnswer};
use crate::inventory::health::{Gate, GateQuestion};
use crate::process::{BoundedCommand, CommandAnswer, in_one_line};

/// How much of the content of a URL is kept, in octets.
const MAX_CONTENT: u64 = 2048;

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

/// What a gate is asked with.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    /// The folder in which a command runs.
    pub workspace: &'a Path,
    /// What a command gets as its standard input.
    pub input: &'a str,
    /// Waits between two attempts, and says whether to go on.
    pub pause: &'a dyn Fn(Duration) -> bool,
    /// Whether the answer is no longer needed: a command is ended then.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Asks a gate, again while it fails and has attempts left.
pub fn ask(gate: &Gate, context: GateContext<'_>) -> GateAnswer {
    let mut attempts = 1;
    loop {
        let answer = attempt(gate, context).unwrap_or_else(|AttemptError { message, may_pass }| GateAnswer {
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
fn attempt(gate: &Gate, context: GateContext<'_>) -> Result<GateAnswer, AttemptError> {
    let (failure, said) = match &gate.asks {
        GateQuestion::Command(words) => {
            let (words, timeout) = (words.clone(), gate.terms.timeout);
            let command = BoundedCommand { words, workspace: context.workspace.to_owned(), timeout };
            let CommandAnswer { failure, said } = command.ask(context.input.as_bytes(), context.is_over)?;
            (failure, said)
        }
        GateQuestion::Url(url) => {
            let HttpAnswer { host, status, content } = http::get(url, MAX_CONTENT, gate.terms.timeout)?;
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
