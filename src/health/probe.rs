//! A probe: whether an address answers.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::{AskContext, PAUSE};
use crate::diag::AttemptError;
use crate::inventory::health::{Probe, ProbeQuestion};
use crate::process::BoundedCommand;

/// How long one connection is tried: a signal ends the wait after that. A further one continues it.
const SLICE: Duration = Duration::from_secs(3);

/// Asks whether an address answers, again while it does not and there are attempts left.
///
/// Errors: it cannot be asked, for any address; why, in words.
pub fn answers(probe: &Probe, address: IpAddr, context: AskContext<'_>) -> Result<bool, String> {
    for attempt in 0..=probe.terms.retries {
        if attempt > 0 && !(context.pause)(PAUSE) {
            break;
        }
        if attempt_once(probe, address, context)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asks once.
fn attempt_once(probe: &Probe, address: IpAddr, context: AskContext<'_>) -> Result<bool, String> {
    let AskContext { workspace, is_over, .. } = context;
    match &probe.asks {
        ProbeQuestion::Port(port) => Ok(connects(SocketAddr::new(address, *port), probe.terms.timeout, is_over)),
        ProbeQuestion::Command(words) => {
            let words = words.iter().cloned().chain([address.to_string()]).collect();
            let command = BoundedCommand { words, workspace: workspace.to_owned(), timeout: probe.terms.timeout };
            match command.ask(b"", is_over) {
                Ok(answer) => Ok(answer.failure.is_none()),
                Err(AttemptError { may_pass: true, .. }) => Ok(false),
                Err(AttemptError { message, .. }) => Err(message),
            }
        }
    }
}

/// Whether a connection is accepted or refused: a host that refuses it is there.
fn connects(to: SocketAddr, timeout: Duration, is_over: &dyn Fn() -> bool) -> bool {
    let deadline = Instant::now() + timeout;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || is_over() {
            return false;
        }
        match TcpStream::connect_timeout(&to, left.min(SLICE)) {
            Ok(_) => return true,
            Err(error) if error.kind() == ErrorKind::TimedOut => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionRefused,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::inventory::health::AttemptTerms;

    /// Whether an address answers a probe that asks so, with one attempt.
    fn asked(asks: ProbeQuestion, address: &str) -> Result<bool, String> {
        let terms = AttemptTerms { timeout: Duration::from_millis(500), retries: 0 };
        asked_with(&Probe { asks, terms }, address, &|_| true)
    }

    /// Whether an address answers a probe, with these pauses.
    fn asked_with(probe: &Probe, address: &str, pause: &dyn Fn(Duration) -> bool) -> Result<bool, String> {
        let workspace = &std::env::temp_dir();
        answers(probe, address.parse().unwrap(), AskContext { workspace, pause, is_over: &|| false })
    }

    #[test]
    fn who_accepts_or_refuses_a_connection_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(asked(ProbeQuestion::Port(port), "127.0.0.1"), Ok(true));
        drop(listener);
        assert_eq!(asked(ProbeQuestion::Port(port), "127.0.0.1"), Ok(true), "it refuses");
        // A group of hosts never answers: there is no TCP to one (RFC 9293 section 3.9.2.3).
        assert_eq!(asked(ProbeQuestion::Port(port), "224.0.0.1"), Ok(false));
    }

    #[test]
    fn a_command_gets_the_address_and_says_so_by_its_exit_code() {
        let command = |words: &[&str]| ProbeQuestion::Command(words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(asked(command(&["test", "2001:db8::1", "="]), "2001:db8::1"), Ok(true));
        assert_eq!(asked(command(&["test", "2001:db8::2", "="]), "2001:db8::1"), Ok(false));
        let why = asked(command(&["./no-such-program"]), "2001:db8::1").unwrap_err();
        assert!(why.starts_with("`./no-such-program` cannot be run"), "{why}");
    }

    #[test]
    fn it_is_asked_again_as_long_as_there_are_attempts_and_no_signal_came() {
        let terms = AttemptTerms { timeout: Duration::from_secs(5), retries: 3 };
        let probe = Probe { asks: ProbeQuestion::Command(vec!["false".to_owned()]), terms };
        for (goes_on, pauses) in [(true, 3), (false, 1)] {
            let paused = std::cell::Cell::new(0);
            let pause = |_| {
                paused.set(paused.get() + 1);
                goes_on
            };
            assert_eq!(asked_with(&probe, "192.0.2.1", &pause), Ok(false));
            assert_eq!(paused.get(), pauses);
        }
    }
}
