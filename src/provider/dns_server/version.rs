//! The software of a server, if it says so: some is faster with several updates in flight, and some takes not all types.
//!
//! Source: RFC 4892 section 3.1 and the customs that it describes: the name `version.bind`, and `version.server` as
//! well.

use std::time::Duration;

use domain::base::MessageBuilder;
use domain::base::iana::{Class, Rcode};
use domain::base::name::Name as LibraryName;

use super::message::{HEADER, MessageHeader, read_record};
use super::random_id;
use super::settings::ServerAddress;
use super::wire::{Connection, WireFault};
use crate::dns::{NameBuffer, Rtype};

/// How long a server may take: it is not worth more.
const DEADLINE: Duration = Duration::from_secs(5);

/// The names that servers answer for, in wire format.
const NAMES: [&[u8]; 2] = [b"\x07version\x06server\0", b"\x07version\x04bind\0"];

/// The software of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerSoftware {
    /// BIND.
    Bind,
    /// Knot DNS.
    Knot,
    /// PowerDNS.
    PowerDns,
    /// Another, or one that does not say.
    Other,
}

/// Finds out what a server says that it is. One that says nothing is another.
pub fn software(server: &ServerAddress, timeout: Duration) -> ServerSoftware {
    let said = Connection::open(server, timeout.min(DEADLINE)).and_then(|mut connection| {
        let answers = NAMES.map(|name| ask(&mut connection, name));
        answers.into_iter().collect::<Result<Vec<_>, _>>()
    });
    let texts = said.iter().flatten().zip(NAMES).filter_map(|(answer, name)| text(answer, name));
    let known = texts.map(software_of).find(|software| *software != ServerSoftware::Other);
    known.unwrap_or(ServerSoftware::Other)
}

/// The software that gives itself this text: Knot and PowerDNS their names and versions, BIND its bare version, all of which
/// begin alike.
fn software_of(text: &[u8]) -> ServerSoftware {
    match text {
        _ if text.starts_with(b"PowerDNS ") => ServerSoftware::PowerDns,
        [b'K', b'n', b'o', b't', ..] => ServerSoftware::Knot,
        [b'9', b'.', ..] => ServerSoftware::Bind,
        _ => ServerSoftware::Other,
    }
}

/// Asks for the text at a name of class CH; gives the answer.
fn ask(connection: &mut Connection, name: &'static [u8]) -> Result<Vec<u8>, WireFault> {
    let mut message = MessageBuilder::new_vec();
    message.header_mut().set_id(random_id());
    let mut message = message.question();
    let name = LibraryName::from_octets(name).expect("a name in wire format");
    message.push((name, Rtype::TXT, Class::CH)).expect("a question fits");
    connection.send(&message.finish())?;
    let mut answer = Vec::new();
    connection.receive(&mut answer)?;
    Ok(answer)
}

/// The first text that an answer to the question for this name holds.
fn text<'a>(answer: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let header = MessageHeader::read(answer)?;
    if header.rcode() != Rcode::NOERROR || header.counts[0] != 1 || header.counts[1] == 0 {
        return None;
    }
    let record = read_record(answer, HEADER + name.len() + 4, &mut NameBuffer::default()).ok()?;
    if record.rtype != Rtype::TXT {
        return None;
    }
    let (length, texts) = answer[record.start..record.end].split_first()?;
    texts.get(..usize::from(*length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The version in an answer for `version.bind` with this record, whose owner name is a pointer.
    fn version(rcode: u8, answers: u8, record: &[u8]) -> Option<Vec<u8>> {
        let head = [0, 7, 0x84, rcode, 0, 1, 0, answers, 0, 0, 0, 0];
        let answer = [&head, NAMES[1], &[0, 16, 0, 3], &[0xc0, 12], record].concat();
        text(&answer, NAMES[1]).map(<[u8]>::to_vec)
    }

    #[test]
    fn servers_are_known_by_what_they_say_first() {
        let said =
            ["9.18.49-1~deb12u3-Debian", "Knot DNS 3.2.6", "PowerDNS Authoritative Server 4.7.3", "NSD 4.6.1", ""];
        let known = said.map(|text| software_of(text.as_bytes()));
        assert_eq!(
            known,
            [
                ServerSoftware::Bind,
                ServerSoftware::Knot,
                ServerSoftware::PowerDns,
                ServerSoftware::Other,
                ServerSoftware::Other
            ]
        );
    }

    #[test]
    fn only_a_text_in_the_answer_counts() {
        let txt = b"\0\x10\0\x03\0\0\0\0\0\x05\x04Knot";
        assert_eq!(version(0, 1, txt), Some(b"Knot".to_vec()));
        assert_eq!(version(0, 0, txt), None);
        assert_eq!(version(5, 1, txt), None);
        assert_eq!(version(0, 1, b"\0\x05\0\x03\0\0\0\0\0\x05\x04Knot"), None);
        assert_eq!(version(0, 1, b"\0\x10\0\x03\0\0\0\0\0\x05\x05Knot"), None);
        assert_eq!(version(0, 1, b"\0\x10\0\x03\0\0\0\0\0\0"), None);
        assert_eq!(version(0, 1, b"\0\x10\0\x03\0\0\0\0\0\x09\x04Knot"), None);
    }
}
