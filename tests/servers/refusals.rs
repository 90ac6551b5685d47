//! What each kind of server says when it gives away no zone or name, and what is made of it.

use crate::axfr::zone;
use crate::client::{Client, transfer};
use crate::server::{Key, Kind, Server, ServerConfig};
use zonewright::diag::Problem;

on_every_kind! {
    a_refused_transfer_names_its_cause_as_far_as_the_server_does
    a_refused_question_names_its_cause_as_far_as_the_server_does
}

/// What keeps a zone from being transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The key has another secret on the server.
    WrongSecret,
    /// The server has no key of this name.
    UnknownKey,
    /// The key has another algorithm on the server.
    WrongAlgorithm,
    /// The server knows the key, and lets it transfer nothing.
    PowerlessKey,
    /// The question is not signed, and must be.
    NoKey,
    /// The server does not have the zone.
    MissingZone,
    /// The same, asked for without a key.
    MissingZoneAndNoKey,
}

/// What an error says: its code, its message, and a word of its hint by which it is known.
type Said = (&'static str, &'static str, &'static str);

/// The server says BADSIG.
const BAD_SIG: Said =
    ("tsig-bad-sig", "the server finds our signature wrong (BADSIG)", "the secret here is not the secret");

/// The server says BADKEY.
const BAD_KEY: Said = ("tsig-bad-key", "the server does not know the TSIG key (BADKEY)", "key name and algorithm");

/// The server knows the key, and says no.
const KEY_REFUSED: Said = ("transfer-refused", "the server answers REFUSED", "on the server (BIND: `allow-transfer");

/// The server says no to a question without a key.
const REFUSED: Said = ("transfer-refused", "the server answers REFUSED", "or give this target a `tsig_key`");

/// The server says that it does not have the zone.
const NOT_SERVED: Said = ("zone-not-served", "the server answers NOTAUTH", "this server has the zone");

/// The server says no more than no.
const NO_REASON: Said = (
    "transfer-refused",
    "the server answers NOTAUTH, unsigned, so another machine may have sent it",
    "compare the key's name, algorithm and secret and both clocks",
);

/// What may be made of what this kind of server says; versions differ.
fn said(kind: Kind, cause: Cause) -> Vec<Said> {
    use Cause::*;
    match (kind, cause) {
        // To Knot a key that no rule allows is no key. 3.2 says so (BADKEY), 3.4 says nothing.
        (Kind::Knot, UnknownKey | WrongAlgorithm) => vec![BAD_KEY, NO_REASON],
        (Kind::Knot, PowerlessKey) => vec![(BAD_KEY.0, BAD_KEY.1, "if no `acl` grants the key"), NO_REASON],
        _ => vec![said_by_all_versions(kind, cause)],
    }
}

/// The same where all versions that were tried say one thing.
fn said_by_all_versions(kind: Kind, cause: Cause) -> Said {
    use Cause::*;
    match (kind, cause) {
        // Neither tells a zone that it does not have from one that it keeps to itself.
        (Kind::Knot | Kind::PowerDns, NoKey) => NOT_SERVED,
        (Kind::Knot, MissingZone) => NO_REASON,
        (_, MissingZoneAndNoKey) => NOT_SERVED,
        (Kind::PowerDns, _) => NO_REASON,
        // NSD looks for a key by its name alone, and finds out when it looks who may transfer.
        (Kind::Nsd, WrongAlgorithm) => (KEY_REFUSED.0, KEY_REFUSED.1, "NSD: `provide-xfr`, to a key of this algorithm"),
        (_, WrongSecret) => BAD_SIG,
        (_, UnknownKey | WrongAlgorithm) => BAD_KEY,
        (_, PowerlessKey) => KEY_REFUSED,
        (_, NoKey) => REFUSED,
        (_, MissingZone) => NOT_SERVED,
    }
}

/// The server says that it does not have the zone of a name.
const NAME_REFUSED: Said =
    ("query-refused", "the server answers REFUSED to a question about a name", "the zone is configured on this server");

/// The same, unsigned.
const NAME_REFUSED_UNSIGNED: Said = (
    "query-refused",
    "the server answers REFUSED to a question about a name, unsigned, so another machine may have sent it",
    NO_REASON.2,
);

/// The server says no more than no to a question about a name.
const NAME_NO_REASON: Said = (
    "query-refused",
    "the server answers NOTAUTH to a question about a name, unsigned, so another machine may have sent it",
    NO_REASON.2,
);

/// What may be made of what this kind of server says to a question about a name; empty where it answers.
fn said_of_name(kind: Kind, cause: Cause) -> Vec<Said> {
    use Cause::*;
    match (kind, cause) {
        (_, NoKey) => vec![],
        (Kind::PowerDns, WrongSecret | UnknownKey | WrongAlgorithm) => vec![NAME_NO_REASON],
        (Kind::Knot, UnknownKey | WrongAlgorithm | PowerlessKey) => vec![BAD_KEY, NAME_NO_REASON],
        (Kind::Nsd, WrongAlgorithm) => vec![],
        (_, PowerlessKey) => vec![],
        (_, WrongSecret) => vec![BAD_SIG],
        (_, UnknownKey | WrongAlgorithm) => vec![BAD_KEY],
        (Kind::Knot, MissingZone) => vec![NAME_REFUSED_UNSIGNED],
        (_, MissingZone | MissingZoneAndNoKey) => vec![NAME_REFUSED],
    }
}

/// A key and a zone, and why they do not go together.
type Attempt = (Cause, Option<Key>, &'static str);

/// A server of one zone, and everything but the right key for the right zone.
fn server_and_attempts(kind: Kind) -> Option<(Server, Vec<Attempt>)> {
    let key = Key::new("key");
    let config = ServerConfig {
        keys: vec![key.clone()],
        zones: vec![("example.net".to_owned(), zone(kind))],
        ..ServerConfig::default()
    };
    let attempts = vec![
        (Cause::WrongSecret, Some(Key { secret: "d3Jvbmcgc2VjcmV0".to_owned(), ..key.clone() }), "example.net"),
        (Cause::UnknownKey, Some(Key::new("other")), "example.net"),
        (Cause::WrongAlgorithm, Some(Key::with_algorithm("key", "hmac-sha512")), "example.net"),
        (Cause::PowerlessKey, Some(Key::powerless()), "example.net"),
        (Cause::NoKey, None, "example.net"),
        (Cause::MissingZone, Some(key), "example.org"),
        (Cause::MissingZoneAndNoKey, None, "example.org"),
    ];
    Some((Server::start(kind, &config)?, attempts))
}

/// Checks that an error says one of these things, and of which zone of which server.
fn assert_said(error: &Problem, said: &[Said], place: &str) {
    let is_said = |(code, message, hint): &Said| {
        (*code, *message) == (error.code.as_str(), error.message.as_str())
            && error.hint.as_ref().is_some_and(|all| all.contains(hint))
    };
    assert!(said.iter().any(is_said), "{said:?}: {error:?}");
    assert_eq!(error.place, place);
}

/// Asks for the whole zone.
fn a_refused_transfer_names_its_cause_as_far_as_the_server_does(kind: Kind) {
    let Some((server, attempts)) = server_and_attempts(kind) else { return };
    for (cause, key, zone) in attempts {
        let error = transfer(&server.address(), key.as_ref(), zone).expect_err("it must fail");
        assert_said(&error, &said(kind, cause), &format!("{} zone {zone}.", server.address()));
    }
}

/// Asks for a name; servers are less strict with that.
fn a_refused_question_names_its_cause_as_far_as_the_server_does(kind: Kind) {
    let Some((server, attempts)) = server_and_attempts(kind) else { return };
    for (cause, key, zone) in attempts {
        let answer = Client::new(key.as_ref()).ask_soa(&server.address(), zone);
        let said = said_of_name(kind, cause);
        assert_eq!(answer.is_ok(), said.is_empty(), "{cause:?}: {answer:?}");
        if let Err(error) = answer {
            assert_said(&error, &said, &format!("{} zone {zone}.", server.address()));
        }
    }
}
