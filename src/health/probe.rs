//! A probe: whether an address answers.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use super::PAUSE;
use crate::diag::AttemptError;
use crate::inventory::health::{Probe, ProbeQuestion};
use crate::process::BoundedCommand;

/// Asks whether an address answers, again while it does not and there are attempts left. `pause` waits between two
/// attempts, and says whether to go on.
///
/// Errors: it cannot be asked, for any address; why, in words.
pub fn answers(
    probe: &Probe,
    workspace: &Path,
    address: IpAddr,
    pause: impl Fn(Duration) -> bool,
) -> Result<bool, String> {
    for attempt in 0..=probe.terms.retries {
        if attempt > 0 && !pause(PAUSE) {
            break;
        }
        if attempt_once(probe, workspace, address)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asks once.
fn attempt_once(probe: &Probe, workspace: &Path, address: IpAddr) -> Result<bool, String> {
    match &probe.asks {
        ProbeQuestion::Port(port) => {
            let connected = TcpStream::connect_timeout(&SocketAddr::new(address, *port), probe.terms.timeout);
            // A host that refuses the connection is there.
            Ok(connected.map_or_else(|error| error.kind() == ErrorKind::ConnectionRefused, |_| true))
        }
        ProbeQuestion::Command(words) => {
            let words = words.iter().cloned().chain([address.to_string()]).collect();
            let command = BoundedCommand { words, workspace: workspace.to_owned(), timeout: probe.terms.timeout };
            match command.run(b"") {
                Ok(()) => Ok(true),
                Err(AttemptError { may_pass: true, .. }) => Ok(false),
                Err(AttemptError { message, .. }) => Err(message),
            }
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
        answers(&Probe { asks, terms }, &std::env::temp_dir(), address.parse().unwrap(), |_| true)
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
            assert_eq!(answers(&probe, &std::env::temp_dir(), "192.0.2.1".parse().unwrap(), pause), Ok(false));
            assert_eq!(paused.get(), pauses);
        }
    }
}
