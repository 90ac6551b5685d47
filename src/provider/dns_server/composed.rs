//! Messages as they are composed, owner names compressed.
//!
//! Comes in: names and other octets. Goes out: a message. Pure. The library's own compressors look for the last label
//! of a name starting with its first label; for reverse names that took most of the time of an update.
//!
//! Source: RFC 1035 section 4.1.4.

use std::collections::HashMap;
use std::convert::Infallible;

use domain::base::ToName;
use domain::base::wire::Composer;
use domain::dep::octseq::{OctetsBuilder, Truncate};
use foldhash::fast::FixedState;

/// The first place that nothing can point to.
const UNREACHABLE: usize = 0x4000;

/// What makes a length octet a pointer.
const POINTER: u8 = 0xc0;

/// Start and factor of the hash of names (FNV-1a, 64 bits).
const HASH: (u64, u64) = (0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3);

/// A message that grows.
#[derive(Debug, Default)]
pub struct ComposedMessage {
    /// What there is of it.
    octets: Vec<u8>,
    /// The places of names in it, by their hashes; of two with the same hash the first.
    seen: HashMap<u64, u16, FixedState>,
}

impl ComposedMessage {
    /// The message.
    pub fn into_octets(self) -> Vec<u8> {
        self.octets
    }

    /// Appends a name; the part that is already in the message becomes a pointer.
    fn push_name(&mut self, name: &[u8]) {
        // A name has at most 127 labels, and 255 octets (RFC 1035 section 3.1).
        let (mut starts, mut count, mut at) = ([0_u8; 128], 0, 0);
        while let Some(length) = name.get(at).copied().filter(|length| *length > 0 && count < starts.len()) {
            starts[count] = at as u8;
            (count, at) = (count + 1, at + 1 + usize::from(length));
        }
        let start = |label: usize| if label < count { usize::from(starts[label]) } else { at };
        let mut hashes = [0; 128];
        let mut hash = HASH.0;
        for label in (0..count).rev() {
            for octet in &name[start(label)..start(label + 1)] {
                hash = (hash ^ u64::from(*octet)).wrapping_mul(HASH.1);
            }
            hashes[label] = hash;
        }
        for label in 0..count {
            let rest = &name[start(label)..];
            let known = self.seen.get(&hashes[label]).copied();
            if let Some(known) = known.filter(|known| self.is_at(usize::from(*known), rest)) {
                self.octets.extend_from_slice(&(known | u16::from(POINTER) << 8).to_be_bytes());
                return;
            }
            let place = self.octets.len();
            if place < UNREACHABLE {
                self.seen.entry(hashes[label]).or_insert(place as u16);
            }
            self.octets.extend_from_slice(&name[start(label)..start(label + 1)]);
        }
        self.octets.push(0);
    }

    /// Whether exactly this name is at a place.
    fn is_at(&self, mut place: usize, mut name: &[u8]) -> bool {
        loop {
            let (Some(&length), Some(&wanted)) = (self.octets.get(place), name.first()) else { return false };
            if length & POINTER == POINTER {
                let Some(&low) = self.octets.get(place + 1) else { return false };
                // Always to the left, so that this ends.
                place = usize::from(u16::from_be_bytes([length & !POINTER, low]));
                continue;
            }
            let end = 1 + usize::from(length);
            if length != wanted || self.octets.get(place..place + end) != name.get(..end) {
                return false;
            }
            if length == 0 {
                return true;
            }
            (place, name) = (place + end, &name[end..]);
        }
    }
}

impl OctetsBuilder for ComposedMessage {
    type AppendError = Infallible;

    fn append_slice(&mut self, slice: &[u8]) -> Result<(), Infallible> {
        self.octets.extend_from_slice(slice);
        Ok(())
    }
}

impl Truncate for ComposedMessage {
    fn truncate(&mut self, length: usize) {
        self.octets.truncate(length);
        self.seen.retain(|_, place| usize::from(*place) < length);
    }
}

impl AsRef<[u8]> for ComposedMessage {
    fn as_ref(&self) -> &[u8] {
        &self.octets
    }
}

impl AsMut<[u8]> for ComposedMessage {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.octets
    }
}

impl Composer for ComposedMessage {
    fn append_compressed_name<N: ToName + ?Sized>(&mut self, name: &N) -> Result<(), Infallible> {
        // A name has at most 255 octets (RFC 1035 section 3.1).
        let (mut octets, mut length) = ([0; 255], 0);
        for label in name.iter_labels() {
            let end = length + 1 + label.len();
            // At most 63 octets.
            octets[length] = label.len() as u8;
            octets[length + 1..end].copy_from_slice(label.as_slice());
            length = end;
        }
        self.push_name(&octets[..length]);
        Ok(())
    }

    fn can_compress(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use domain::base::iana::{Class, Rtype};
    use domain::base::{Message, MessageBuilder, Name};
    use proptest::prelude::*;

    use super::*;

    /// A message that asks for these names, and the names that are read from it.
    fn read_back(names: &[Name<Vec<u8>>]) -> (usize, Vec<Name<Vec<u8>>>) {
        let mut message = MessageBuilder::from_target(ComposedMessage::default()).unwrap().question();
        for name in names {
            message.push((name, Rtype::AAAA, Class::IN)).unwrap();
        }
        let octets = message.finish().into_octets();
        let length = octets.len();
        let message = Message::from_octets(octets).unwrap();
        (length, message.question().map(|question| question.unwrap().qname().to_name()).collect())
    }

    #[test]
    fn what_stands_there_already_is_a_pointer() {
        let names = ["b.a.example.net", "c.a.example.net", "a.example.net", "c.a.example.net", "net", "org", "."];
        let names: Vec<Name<Vec<u8>>> = names.iter().map(|name| name.parse().unwrap()).collect();
        let lengths = [17, 4, 2, 2, 2, 5, 1].map(|name| name + 4);
        assert_eq!(read_back(&names), (12 + lengths.iter().sum::<usize>(), names));
    }

    #[test]
    fn what_is_taken_back_is_pointed_to_no_more() {
        let mut composed = ComposedMessage::default();
        composed.push_name(b"\x01a\x03net\0");
        composed.truncate(2);
        composed.push_name(b"\x01b\x03net\0");
        composed.push_name(b"\x01a\x03net\0");
        assert_eq!(composed.octets, b"\x01a\x01b\x03net\0\x01a\xc0\x04");
    }

    proptest! {
        #[test]
        fn names_are_read_as_they_were_written(
            names in proptest::collection::vec(proptest::collection::vec("[a-c]{1,3}|x{60}", 0..4), 1..2_000)
        ) {
            let name = |labels: &Vec<String>| format!("{}.", labels.join(".")).parse().unwrap();
            let names: Vec<Name<Vec<u8>>> = names.iter().map(name).collect();
            prop_assert_eq!(read_back(&names).1, names);
        }
    }
}
