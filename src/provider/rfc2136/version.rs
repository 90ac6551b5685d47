//! What a server is, as far as it says so: some do better with several updates in flight.
//!
//! Source: RFC 4892 section 3.1 and the customs that it describes: the name `version.bind`, and `version.server` beside it.

use std::time::Duration;

use domain::base::MessageBuilder;
use domain::base::iana::Class;
use domain::base::name::Name as LibraryName;

use super::message::Header;
use super::random_id;
use super::settings::Server;
use super::wire::{Connection, WireFault};
use crate::dns::Rtype;

/// How long a server may take: it is not worth more (no official source).
const DEADLINE: Duration = Duration::from_secs(5);

/// The names that servers answer for, in wire format.
const NAMES: [&[u8]; 2] = [b"\x07version\x06server\0", b"\x07version\x04bind\0"];

/// What Knot begins to say of itself.
const KNOT: &[u8] = b"Knot";

/// Whether a server says that it is Knot. One that says nothing is not.
pub fn is_knot(server: &Server, timeout: Duration) -> bool {
    let said = Connection::open(server, timeout.min(DEADLINE)).and_then(|mut connection| {
        let answers = NAMES.map(|name| ask(&mut connection, name));
        answers.into_iter().collect::<Result<Vec<_>, _>>()
    });
    said.is_ok_and(|answers| answers.iter().any(|answer| says(answer, KNOT)))
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

/// Whether a word is in the answer section of a message, or behind it.
fn says(answer: &[u8], word: &[u8]) -> bool {
    Header::read(answer).is_some_and(|header| header.counts[1] > 0)
        && answer.windows(word.len()).any(|part| part == word)
}
