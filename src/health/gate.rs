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
}

/// Asks a gate, again while it fails and has attempts left. A command gets `input` as its standard input. `pause` waits
/// between two attempts, and says whether to go on.
pub fn ask(gate: &Gate, workspace: &Path, input: &str, pause: impl Fn(Duration) -> bool) -> GateAnswer {
    let mut attempts = 1;
    loop {
        let (answer, may_pass) = match attempt(gate, workspace, input) {
            Ok(answer) => (answer, true),
            Err(AttemptError { message, may_pass }) => (GateAnswer { passed: false, said: message }, may_pass),
        };
        if answer.passed {
            return answer;
        }
        if !may_pass || attempts > gate.terms.retries || !pause(PAUSE) {
            let said = if attempts == 1 { answer.said } else { format!("{} ({attempts} attempts)", answer.said) };
            return GateAnswer { said, ..answer };
        }
        attempts += 1;
    }
}

/// Asks once.
///
/// Errors: it could not be asked.
fn attempt(gate: &Gate, workspace: &Path, input: &str) -> Result<GateAnswer, AttemptError> {
    let (failure, said) = match &gate.asks {
        GateQuestion::Command(words) => {
            let (words, timeout) = (words.clone(), gate.terms.timeout);
            let command = BoundedCommand { words, workspace: workspace.to_owned(), timeout };
            let CommandAnswer { failure, said } = command.ask(input.as_bytes())?;
            (failure, said)
        }
        GateQuestion::Url(url) => {
            let HttpAnswer { host, status, content } = http::get(url, MAX_CONTENT, gate.terms.timeout)?;
            let failure = (status != 200).then(|| format!("`{host}` answers with status {status}"));
            (failure, in_one_line(&content))
        }
    };
    Ok(match failure {
        None => GateAnswer { passed: true, said },
        Some(failure) if said.is_empty() => GateAnswer { passed: false, said: failure },
        Some(failure) => GateAnswer { passed: false, said: format!("{failure}; it said: {said}") },
    })
}
