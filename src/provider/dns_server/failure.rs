//! What can go wrong with a server, in words and codes.

use std::fmt;
use std::io;
use std::time::Duration;

use domain::base::iana::Rcode;

use crate::inventory::value;
use crate::target::Question;

/// Why a zone could not be read from one server, or written to it.
#[derive(Debug)]
pub enum ServerFailure {
    /// The server's name has no known address.
    Unresolved(io::Error),
    /// There is no connection.
    Connect(io::Error),
    /// No whole message came in time.
    TimedOut {
        /// What had come before.
        progress: TransferProgress,
    },
    /// The connection ended before the transfer.
    Cut {
        /// What had come before.
        progress: TransferProgress,
    },
    /// The system says no.
    Io(io::Error),
    /// The server answered with an error.
    Refused {
        /// The error.
        rcode: Rcode,
        /// Whether our question was signed.
        keyed: bool,
        /// Whether a signature proves that the answer is from the server.
        proven: bool,
    },
    /// The server does not know the key, or signs with another.
    BadKey {
        /// Whether the server says so of our message.
        by_server: bool,
    },
    /// A signature is wrong.
    BadSignature {
        /// Whether the server says so of our message.
        by_server: bool,
    },
    /// A signature is too old or too young.
    BadTime {
        /// How many seconds the server's clock is ahead of ours; negative where it is behind; unknown where the server
        /// does not send its time.
        ahead: Option<i64>,
    },
    /// A message that should be signed is not.
    Unsigned,
    /// A message that breaks the rules of the protocol.
    BadMessage(String),
    /// A record outside the zone.
    OutsideZone(String),
    /// The SOA at the end is not that of the beginning.
    SoaChanged,
    /// The server answered a question about one name with an error.
    QueryRefused {
        /// The error.
        rcode: Rcode,
        /// Whether our question was signed and the answer is not.
        unproven: bool,
    },
    /// The server answers a question about one name, but not as the authority for the zone.
    NoAuthority,
    /// The server answered an update with an error.
    UpdateRefused {
        /// The error.
        rcode: Rcode,
        /// Whether the update was signed and the answer is not.
        unproven: bool,
    },
    /// The connection ended before the answer to an update; with what the system says, where it does.
    UpdateCut(Option<io::Error>),
    /// An update that no message holds.
    UpdateTooLarge,
    /// More came than one read may bring, so that reading ended.
    ReadLimit {
        /// The limit.
        passed: PassedLimit,
        /// How far it came.
        progress: TransferProgress,
    },
    /// What went wrong with this one question of many.
    AtQuestion(Question, Box<ServerFailure>),
}

/// How far a transfer came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransferProgress {
    /// Messages.
    pub messages: usize,
    /// Records in them.
    pub records: usize,
}

impl fmt::Display for TransferProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.messages {
            0 => f.write_str("before any answer"),
            messages => {
                let plural = |count: usize| if count == 1 { "" } else { "s" };
                let (of_messages, of_records) = (plural(messages), plural(self.records));
                write!(f, "after {messages} message{of_messages} with {} record{of_records}", self.records)
            }
        }
    }
}

/// A limit of the settings that a read passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassedLimit {
    /// So many records.
    Records(u64),
    /// So many octets.
    Size(u64),
    /// So much time.
    Time(Duration),
    /// A multiple of what the zone held last.
    Growth {
        /// How many times as much.
        times: u64,
        /// The records that it held.
        held: u64,
    },
}

impl PassedLimit {
    /// The key that sets it.
    pub fn key(self) -> &'static str {
        match self {
            PassedLimit::Records(_) => "max_records",
            PassedLimit::Size(_) => "max_size",
            PassedLimit::Time(_) => "max_time",
            PassedLimit::Growth { .. } => "max_growth",
        }
    }
}

impl fmt::Display for PassedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key();
        match self {
            PassedLimit::Records(records) => write!(f, "more than {records} records came, the `{key}` of this target"),
            PassedLimit::Size(octets) => {
                write!(f, "more than {} came, the `{key}` of this target", value::Size::of(*octets))
            }
            PassedLimit::Time(time) => {
                let time = value::Duration::from_secs(time.as_secs());
                write!(f, "the answer took longer than {time}, the `{key}` of this target")
            }
            PassedLimit::Growth { times, held } => write!(
                f,
                "more than {times} times as much came as the zone held last, {held} records: the `{key}` of this target"
            ),
        }
    }
}

impl ServerFailure {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ServerFailure::Unresolved(_) | ServerFailure::Connect(_) => "connect-failed",
            ServerFailure::TimedOut { .. } => "timeout",
            ServerFailure::Cut { .. } | ServerFailure::Io(_) => "transfer-cut",
            ServerFailure::Refused { rcode: Rcode::REFUSED, .. } => "transfer-refused",
            // Nothing proves that it is about the zone: PowerDNS and Knot say the same of a wrong key.
            ServerFailure::Refused { rcode: Rcode::NOTAUTH, keyed: true, proven: false } => "transfer-refused",
            ServerFailure::Refused { rcode: Rcode::NOTAUTH, .. } => "zone-not-served",
            ServerFailure::Refused { .. } => "server-failure",
            ServerFailure::BadKey { .. } => "tsig-bad-key",
            ServerFailure::BadSignature { .. } => "tsig-bad-sig",
            ServerFailure::BadTime { .. } => "tsig-bad-time",
            ServerFailure::Unsigned => "tsig-unsigned",
            ServerFailure::BadMessage(_) => "bad-message",
            ServerFailure::OutsideZone(_) => "outside-zone",
            ServerFailure::SoaChanged => "soa-changed",
            ServerFailure::QueryRefused { rcode: Rcode::REFUSED, .. } => "query-refused",
            ServerFailure::QueryRefused { rcode: Rcode::NOTAUTH, unproven: true } => "query-refused",
            ServerFailure::QueryRefused { rcode: Rcode::NOTAUTH, .. } | ServerFailure::NoAuthority => "zone-not-served",
            ServerFailure::QueryRefused { .. } => "server-failure",
            ServerFailure::UpdateRefused { rcode: Rcode::REFUSED, .. } => "update-refused",
            // As above: nothing proves that it is about the zone.
            ServerFailure::UpdateRefused { rcode: Rcode::NOTAUTH, unproven: true } => "update-refused",
            ServerFailure::UpdateRefused { rcode: Rcode::NOTAUTH, .. } => "zone-not-served",
            ServerFailure::UpdateRefused { rcode: Rcode::NOTIMP, .. } => "update-not-implemented",
            ServerFailure::UpdateRefused { rcode: Rcode::SERVFAIL, .. } => "server-failure",
            ServerFailure::UpdateRefused { .. } => "update-rejected",
            ServerFailure::UpdateCut(_) => "update-cut",
            ServerFailure::UpdateTooLarge => "update-too-large",
            ServerFailure::ReadLimit { .. } => "read-limit",
            ServerFailure::AtQuestion(_, failure) => failure.code(),
        }
    }

    /// What to do.
    pub fn hint(&self) -> &'static str {
        match self {
            ServerFailure::Unresolved(_) => {
                "check the server's name, and that this machine can resolve it; an address works as well"
            }
            ServerFailure::Connect(_) => "check that the server is running, and that no firewall blocks TCP to it",
            ServerFailure::TimedOut { .. } => {
                "the server may be overloaded: check it, or give this target a longer `timeout`"
            }
            ServerFailure::Cut { .. } | ServerFailure::Io(_) => {
                "try again; the server's log says why it ended the connection"
            }
            ServerFailure::Refused { rcode: Rcode::REFUSED | Rcode::NOTAUTH, keyed: true, proven: false } => {
                "the server does not say why (PowerDNS never does, Knot not always): compare the key's name, algorithm and \
                 secret and both clocks, and check that it has the zone and lets the key transfer it (PowerDNS: \
                 `TSIG-ALLOW-AXFR`; Knot: `acl`)"
            }
            ServerFailure::Refused { rcode: Rcode::REFUSED, keyed: true, .. } => {
                "allow the key to transfer this zone on the server (BIND: `allow-transfer { key NAME; };`; NSD: \
                 `provide-xfr`, to a key of this algorithm)"
            }
            ServerFailure::Refused { rcode: Rcode::REFUSED, .. } => {
                "allow this machine to transfer this zone on the server, or give this target a `tsig_key`"
            }
            ServerFailure::Refused { rcode: Rcode::NOTAUTH, .. } => {
                "check the zone's name, and that this server has the zone; without a `tsig_key`, Knot and PowerDNS \
                 give the same answer if this machine may not transfer the zone"
            }
            ServerFailure::Refused { .. } => "the server's log says why",
            ServerFailure::BadKey { by_server: false } => {
                "key name and algorithm must be the same here and on the server"
            }
            ServerFailure::BadKey { .. } => {
                "key name and algorithm must be the same here and on the server; Knot gives the same answer if no \
                 `acl` grants the key this zone, or this action (`action`, `update-type`)"
            }
            ServerFailure::BadSignature { by_server: true } => {
                "the secret here is not the secret of the server's key with this name"
            }
            ServerFailure::BadSignature { .. } => {
                "a device on the network path may change messages; if the error comes again, compare the secrets"
            }
            ServerFailure::BadTime { .. } => {
                "set both clocks by NTP: clocks may differ by at most 300 s (RFC 8945 section 10)"
            }
            ServerFailure::Unsigned => "another machine on the network path may answer instead of the server",
            ServerFailure::BadMessage(_) => {
                "the server, or a machine on the network path, violates the protocol: try another server"
            }
            ServerFailure::OutsideZone(_) => "the server sends data of another zone: try another server",
            ServerFailure::SoaChanged => "the zone changed during the transfer: try again",
            ServerFailure::QueryRefused { rcode: Rcode::REFUSED | Rcode::NOTAUTH, unproven: true } => {
                "the server does not say why: compare the key's name, algorithm and secret and both clocks, and check that it \
                 has the zone"
            }
            ServerFailure::QueryRefused { rcode: Rcode::REFUSED, .. } => {
                "check that the zone is configured on this server, and that this machine may ask for its names"
            }
            ServerFailure::NoAuthority => "name a server that has the zone itself, not a resolver",
            ServerFailure::QueryRefused { .. } => "the server's log says why",
            ServerFailure::UpdateRefused { rcode: Rcode::REFUSED | Rcode::NOTAUTH, unproven: true } => {
                "the server does not say why: compare the key's name, algorithm and secret and both clocks, check that \
                 it is the zone's primary, and make it accept updates of AAAA, PTR and TXT from the key, including \
                 those of `_zonewright.ZONE` (BIND: `update-policy` or `allow-update`; Knot: an `acl` with `action: \
                 update` and `update-type`; PowerDNS: `dnsupdate=yes`, `ALLOW-DNSUPDATE-FROM`, \
                 `TSIG-ALLOW-DNSUPDATE`); zonewright writes its marker there, unless the zone has `fence = \"none\"`"
            }
            ServerFailure::UpdateRefused { rcode: Rcode::REFUSED, .. } => {
                "check that the server is the primary of this zone, and make it accept updates of AAAA, PTR and TXT \
                 from the key or this machine, including those of `_zonewright.ZONE` (BIND: `update-policy` or \
                 `allow-update`; Knot: an `acl` with `action: update` and `update-type`; PowerDNS: `dnsupdate=yes`, \
                 `ALLOW-DNSUPDATE-FROM`, `TSIG-ALLOW-DNSUPDATE`); zonewright writes its marker there, unless the zone \
                 has `fence = \"none\"`. If it accepts other updates, its log says why: BIND refuses underscores in \
                 names of hosts (`check-names`)"
            }
            ServerFailure::UpdateRefused { rcode: Rcode::NOTAUTH, .. } => {
                "check the zone's name, and that this server is its primary; without a `tsig_key`, Knot gives the same \
                 answer if this machine may not update the zone"
            }
            ServerFailure::UpdateRefused { rcode: Rcode::NOTIMP, .. } => {
                "this server accepts no updates (NSD never does): in `server`, put a primary first that accepts updates"
            }
            ServerFailure::UpdateRefused { .. } => "the server's log says why",
            ServerFailure::UpdateCut(_) => "the server's log says why it ended the connection",
            ServerFailure::UpdateTooLarge => "give the host fewer records, or change some of them by hand",
            ServerFailure::ReadLimit { passed: PassedLimit::Growth { .. }, .. } => {
                "look at the zone: where it really grew so much, give this target a higher `max_growth` for one run"
            }
            ServerFailure::ReadLimit { .. } => {
                "look at the server: no fleet of 10 million records needs that much; a larger one takes a higher limit"
            }
            ServerFailure::AtQuestion(_, failure) => failure.hint(),
        }
    }
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lowered = |error: &io::Error| error.to_string().to_lowercase();
        match self {
            ServerFailure::Connect(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                write!(f, "the server refuses connections")
            }
            ServerFailure::Unresolved(error) | ServerFailure::Connect(error) => {
                write!(f, "no connection: {}", lowered(error))
            }
            ServerFailure::TimedOut { progress: TransferProgress { messages: 0, .. } } => {
                write!(f, "the server does not answer in time")
            }
            ServerFailure::TimedOut { progress } => write!(f, "no whole message in time, {progress}"),
            ServerFailure::Cut { progress } => {
                write!(f, "the connection was closed {progress}: the answer is incomplete")
            }
            ServerFailure::Io(error) => write!(f, "the connection broke: {}", lowered(error)),
            ServerFailure::Refused { rcode, keyed, proven } => {
                write!(f, "the server answers {rcode}")?;
                if *keyed && !*proven { write!(f, ", unsigned, so another machine may have sent it") } else { Ok(()) }
            }
            ServerFailure::BadKey { by_server: true } => write!(f, "the server does not know the TSIG key (BADKEY)"),
            ServerFailure::BadKey { by_server: false } => write!(f, "the answer is signed with another TSIG key"),
            ServerFailure::BadSignature { by_server: true } => {
                write!(f, "the server finds our signature wrong (BADSIG)")
            }
            ServerFailure::BadSignature { by_server: false } => write!(f, "the signature of the answer is wrong"),
            ServerFailure::BadTime { ahead: Some(ahead) } => {
                let side = if *ahead < 0 { "behind" } else { "ahead of" };
                write!(f, "the clocks differ: the server's is {} s {side} ours", ahead.unsigned_abs())
            }
            ServerFailure::BadTime { ahead: None } => write!(f, "the server says that the clocks differ (BADTIME)"),
            ServerFailure::Unsigned => write!(f, "a message is not signed, but it must be"),
            ServerFailure::BadMessage(what) => write!(f, "a message breaks the protocol: {what}"),
            ServerFailure::OutsideZone(name) => write!(f, "the transfer holds `{name}`, which is outside the zone"),
            ServerFailure::SoaChanged => {
                write!(f, "the SOA at the end of the transfer differs from the SOA at its start")
            }
            ServerFailure::QueryRefused { rcode, unproven } => {
                let unproven = if *unproven { ", unsigned, so another machine may have sent it" } else { "" };
                write!(f, "the server answers {rcode} to a question about a name{unproven}")
            }
            ServerFailure::NoAuthority => {
                write!(f, "the server answers, but its answer is not authoritative for the zone")
            }
            ServerFailure::UpdateRefused { rcode, unproven } => {
                let unproven = if *unproven { ", unsigned, so another machine may have sent it" } else { "" };
                write!(f, "the server answers {rcode} to an update{unproven}")
            }
            ServerFailure::UpdateCut(None) => write!(f, "the connection was closed before the answer to an update"),
            ServerFailure::UpdateCut(Some(error)) => {
                write!(f, "the connection broke before the answer to an update: {}", lowered(error))
            }
            ServerFailure::UpdateTooLarge => {
                write!(f, "the update is longer than the limit of a message, 65 535 bytes")
            }
            ServerFailure::ReadLimit { passed, progress } => write!(f, "{passed}, so reading ended {progress}"),
            ServerFailure::AtQuestion(Question { name, rtype }, failure) => {
                write!(f, "{failure} (the question was `{name}` {rtype})")
            }
        }
    }
}

impl std::error::Error for ServerFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServerFailure::Unresolved(error)
            | ServerFailure::Connect(error)
            | ServerFailure::Io(error)
            | ServerFailure::UpdateCut(Some(error)) => Some(error),
            _ => None,
        }
    }
}
