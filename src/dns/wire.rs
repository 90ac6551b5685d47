//! Wire format: names and RDATA in messages, made canonical while they are read.
//!
//! One buffer serves for all names of a message or file, so that a million records need no allocation each.

use std::fmt;
use std::ops::Range;

use domain::base::Rtype;

use super::name::{MAX_LABEL, MAX_NAME, NameError, NameRef, append_parsed, are_four_labels};

/// The longest RDATA, in octets: its length is a 16-bit field (RFC 1035 section 3.2.1).
const MAX_RDATA: usize = 65_535;

/// Why octets are not a name or RDATA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireError {
    /// They end too early.
    Short,
    /// A label of a kind that does not exist.
    BadLabel,
    /// A compression pointer that does not point back, or is not allowed here.
    BadPointer,
    /// A name of over 255 octets.
    NameTooLong,
    /// RDATA that goes on after its last field.
    Trailing,
    /// RDATA that becomes longer than 65 535 octets.
    RdataTooLong,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WireError::Short => "the data end too early",
            WireError::BadLabel => "a label of unknown kind",
            WireError::BadPointer => "a compression pointer that does not point back",
            WireError::NameTooLong => "a name of over 255 bytes",
            WireError::Trailing => "the data go on after the last field",
            WireError::RdataTooLong => "RDATA of over 65535 bytes",
        })
    }
}

impl std::error::Error for WireError {}

/// Room for one name; holds the root at first, and after an error.
#[derive(Debug, Clone)]
pub struct NameBuffer(Vec<u8>);

impl Default for NameBuffer {
    fn default() -> NameBuffer {
        let mut wire = Vec::with_capacity(MAX_NAME);
        wire.push(0);
        NameBuffer(wire)
    }
}

impl NameBuffer {
    /// The name in it.
    pub fn as_name(&self) -> NameRef<'_> {
        NameRef::trusted(&self.0)
    }

    /// Takes a copy of a name.
    pub fn set(&mut self, name: NameRef<'_>) {
        self.0.clear();
        self.0.extend_from_slice(name.as_wire());
    }

    /// Parses presentation format; a name without a final dot is completed by `origin`.
    ///
    /// Errors: see [`NameError`].
    pub fn parse(&mut self, text: &[u8], origin: NameRef<'_>) -> Result<(), NameError> {
        self.0.clear();
        append_parsed(&mut self.0, text, Some(origin)).inspect_err(|_| self.reset())
    }

    /// Makes it the root.
    fn reset(&mut self) {
        self.0.clear();
        self.0.push(0);
    }
}

/// Octets in wire format.
#[derive(Debug, Clone, Copy)]
pub struct WireOctets<'a> {
    /// A message or RDATA, whole.
    octets: &'a [u8],
    /// Whether names in it may be compressed.
    compressed: bool,
}

/// What RDATA is made of, as far as names in it and its length are concerned.
#[derive(Debug, Clone, Copy)]
enum WireField {
    /// This many octets.
    Octets(usize),
    /// A name.
    Name,
    /// One character string: an octet of length, then that many.
    Text,
    /// Character strings up to the end, at least one.
    Texts,
    /// The rest, which may be empty.
    Rest,
}

/// The fields of a type's RDATA: those of the types of RFC 4034 section 6.2, whose names are lowered in the canonical
/// form, of SVCB and HTTPS, whose targets compare without regard to case all the same, and of some whose length is
/// known.
///
/// Names in all of them are decompressed: those of RFC 1035 may come compressed, and RFC 3597 section 4 asks receivers
/// to be lenient with the others. A6 is left out: it is historic (RFC 6563), and counts as unknown.
fn fields(rtype: Rtype) -> &'static [WireField] {
    use WireField::{Name, Octets, Rest, Text, Texts};
    match rtype {
        Rtype::A => &[Octets(4)],
        Rtype::AAAA => &[Octets(16)],
        Rtype::NS | Rtype::CNAME | Rtype::PTR | Rtype::DNAME => &[Name],
        Rtype::MD | Rtype::MF | Rtype::MB | Rtype::MG | Rtype::MR => &[Name],
        Rtype::SOA => &[Name, Name, Octets(20)],
        Rtype::MX | Rtype::AFSDB | Rtype::RT | Rtype::KX => &[Octets(2), Name],
        Rtype::TXT | Rtype::SPF => &[Texts],
        Rtype::SRV => &[Octets(6), Name],
        Rtype::HINFO => &[Text, Text],
        Rtype::MINFO | Rtype::RP => &[Name, Name],
        Rtype::PX => &[Octets(2), Name, Name],
        Rtype::NAPTR => &[Octets(4), Text, Text, Text, Name],
        Rtype::RRSIG | Rtype::SIG => &[Octets(18), Name, Rest],
        Rtype::NSEC | Rtype::NXT => &[Name, Rest],
        Rtype::SVCB | Rtype::HTTPS => &[Octets(2), Name, Rest],
        _ => &[Rest],
    }
}

impl<'a> WireOctets<'a> {
    /// A whole message, in which names may be compressed.
    pub fn message(octets: &'a [u8]) -> WireOctets<'a> {
        WireOctets { octets, compressed: true }
    }

    /// RDATA by itself, where there is nothing to point to.
    pub fn rdata(octets: &'a [u8]) -> WireOctets<'a> {
        WireOctets { octets, compressed: false }
    }

    /// Reads the name that begins at `at` into `name`, in lower case; gives the place after it.
    ///
    /// Every pointer must lead to before the label that led to it, so that no name makes the reader run in circles.
    /// Source: RFC 1035 section 4.1.4.
    pub fn read_name(self, at: usize, name: &mut NameBuffer) -> Result<usize, WireError> {
        name.0.clear();
        let end = self.append_name(at, &mut name.0).inspect_err(|_| name.reset())?;
        name.0.make_ascii_lowercase();
        Ok(end)
    }

    /// Gives the place after the name that begins at `at`; pointers are not followed.
    pub fn skip_name(self, at: usize) -> Result<usize, WireError> {
        let mut from = at;
        loop {
            from = self.skip_nibbles(from, MAX_NAME);
            match usize::from(*self.octets.get(from).ok_or(WireError::Short)?) {
                0 => return Ok(from + 1),
                length @ 1..=MAX_LABEL => from += 1 + length,
                0xc0.. => return Ok(from + 2),
                _ => return Err(WireError::BadLabel),
            }
        }
    }

    /// Appends the RDATA at `range` to `out`: uncompressed, names of RFC 4034 section 6.2 in lower case.
    ///
    /// Errors: RDATA that do not have the fields of their type; the octets in `out` are then undefined.
    pub fn append_rdata(self, rtype: Rtype, range: Range<usize>, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.append_fields::<true>(rtype, range, out)
    }

    /// Appends the RDATA at `range` to `out`: uncompressed, names in the letters that they are written with.
    ///
    /// Errors: as of [`WireOctets::append_rdata`].
    pub fn append_written(self, rtype: Rtype, range: Range<usize>, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.append_fields::<false>(rtype, range, out)
    }

    /// Appends RDATA, names in lower case or as they are written.
    fn append_fields<const LOWER: bool>(
        self,
        rtype: Rtype,
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let whole = self.octets.get(..range.end).ok_or(WireError::Short)?;
        let first = out.len();
        let mut at = range.start;
        for field in fields(rtype) {
            let length = match field {
                WireField::Octets(octets) => *octets,
                WireField::Rest => whole.len().saturating_sub(at),
                WireField::Text => 1 + usize::from(*whole.get(at).ok_or(WireError::Short)?),
                WireField::Texts => texts_length(whole.get(at..).unwrap_or_default())?,
                WireField::Name => {
                    at = if LOWER { self.append_lower_name(at, out)? } else { self.append_name(at, out)? };
                    if at > range.end {
                        return Err(WireError::Short);
                    }
                    continue;
                }
            };
            out.extend_from_slice(whole.get(at..at + length).ok_or(WireError::Short)?);
            at += length;
        }
        if at != range.end {
            return Err(WireError::Trailing);
        }
        if out.len() - first > MAX_RDATA { Err(WireError::RdataTooLong) } else { Ok(()) }
    }

    /// Returns a place behind labels of one octet each, at most about `most` octets further. Names of addresses below
    /// ip6.arpa have up to 32 such labels, which are skipped four at a time.
    fn skip_nibbles(self, mut at: usize, most: usize) -> usize {
        let end = at + most;
        let four = |at: usize| self.octets.get(at..).and_then(|rest| rest.first_chunk::<8>());
        while at < end && four(at).is_some_and(are_four_labels) {
            at += 8;
        }
        at
    }

    /// Appends the name that begins at `at` to `out`, uncompressed and in lower case; gives the place after it.
    ///
    /// Errors: as of [`WireOctets::read_name`]; the octets in `out` are then undefined.
    pub(super) fn append_lower_name(self, at: usize, out: &mut Vec<u8>) -> Result<usize, WireError> {
        let start = out.len();
        let end = self.append_name(at, out)?;
        out[start..].make_ascii_lowercase();
        Ok(end)
    }

    /// Appends the name that begins at `at` to `out`, uncompressed; gives the place after it.
    fn append_name(self, at: usize, out: &mut Vec<u8>) -> Result<usize, WireError> {
        let first = out.len();
        let (mut from, mut barrier, mut end) = (at, at, None);
        // Where the labels that end at `from` begin; they are copied in one piece.
        let mut labels = at;
        loop {
            from = self.skip_nibbles(from, MAX_NAME);
            let length = usize::from(*self.octets.get(from).ok_or(WireError::Short)?);
            match length {
                0 => {
                    if out.len() - first + (from - labels) >= MAX_NAME {
                        return Err(WireError::NameTooLong);
                    }
                    out.extend_from_slice(&self.octets[labels..=from]);
                    return Ok(end.unwrap_or(from + 1));
                }
                1..=MAX_LABEL => {
                    from += 1 + length;
                    if from > self.octets.len() {
                        return Err(WireError::Short);
                    }
                    // The root label is still to come.
                    if out.len() - first + (from - labels) >= MAX_NAME {
                        return Err(WireError::NameTooLong);
                    }
                }
                0xc0.. => {
                    let low = usize::from(*self.octets.get(from + 1).ok_or(WireError::Short)?);
                    let target = (length & 0x3f) << 8 | low;
                    if !self.compressed || target >= barrier {
                        return Err(WireError::BadPointer);
                    }
                    if out.len() - first + (from - labels) >= MAX_NAME {
                        return Err(WireError::NameTooLong);
                    }
                    out.extend_from_slice(&self.octets[labels..from]);
                    end.get_or_insert(from + 2);
                    (barrier, from, labels) = (target, target, target);
                }
                _ => return Err(WireError::BadLabel),
            }
        }
    }
}

/// Whether all names in canonical RDATA are of letters, digits, hyphens, underscores and asterisks, so that they can be
/// printed without escapes.
pub(super) fn has_plain_names(rtype: Rtype, octets: &[u8]) -> bool {
    let plain = |octet: &u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'*');
    let mut name = NameBuffer::default();
    let mut at = 0;
    for field in fields(rtype) {
        at += match field {
            WireField::Octets(length) => *length,
            WireField::Text => 1 + octets.get(at).map_or(0, |length| usize::from(*length)),
            WireField::Texts | WireField::Rest => return true,
            WireField::Name => match WireOctets::rdata(octets).read_name(at, &mut name) {
                Ok(end) if name.as_name().labels().flatten().all(plain) => end - at,
                _ => return false,
            },
        };
    }
    true
}

/// Whether RDATA have no service parameter that the library (0.12.3) prints in a way that other software misreads: it
/// names keys that are newer than RFC 9460, which BIND 9.18 does not load, and writes protocols without escapes.
pub(super) fn has_plain_params(rtype: Rtype, octets: &[u8]) -> bool {
    /// The number of `mandatory`, a list of such numbers.
    const MANDATORY: u16 = 0;
    /// The number of `alpn`, a list of character strings.
    const ALPN: u16 = 1;
    /// The highest number that RFC 9460 section 14.3.2 names.
    const IPV6HINT: u16 = 6;
    if !matches!(rtype, Rtype::SVCB | Rtype::HTTPS) {
        return true;
    }
    let number = |octets: &[u8]| Some(u16::from_be_bytes(*octets.first_chunk()?));
    let plain = |octet: &u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'.' | b'/');
    let mut rest = WireOctets::rdata(octets).skip_name(2).ok().and_then(|end| octets.get(end..));
    while let Some(param) = rest.filter(|rest| !rest.is_empty()) {
        let value = number(param).zip(param.get(2..).and_then(number)).and_then(|(key, length)| {
            let (value, after) = param[4..].split_at_checked(usize::from(length))?;
            Some((key, value, after))
        });
        let Some((key, value, after)) = value else { return false };
        let is_plain = match key {
            MANDATORY => value.chunks(2).all(|key| number(key).is_some_and(|key| key <= IPV6HINT)),
            ALPN => strings(value).is_some_and(|mut strings| strings.all(|string| string.iter().all(plain))),
            _ => key <= IPV6HINT,
        };
        if !is_plain {
            return false;
        }
        rest = Some(after);
    }
    rest.is_some()
}

/// The character strings that make up `octets`; `None` where they are none.
fn strings(octets: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    texts_length(octets).ok()?;
    let mut rest = octets;
    Some(std::iter::from_fn(move || {
        let (length, after) = rest.split_first()?;
        let (string, after) = after.split_at(usize::from(*length));
        rest = after;
        Some(string)
    }))
}

/// The length of the character strings that make up `octets`, at least one.
fn texts_length(octets: &[u8]) -> Result<usize, WireError> {
    let mut at = 0;
    while at < octets.len() || at == 0 {
        at += 1 + usize::from(*octets.get(at).ok_or(WireError::Short)?);
    }
    if at > octets.len() { Err(WireError::Short) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    /// Reads the name at a place and gives it as text, with the place after it.
    fn name_at(octets: &[u8], at: usize) -> Result<(String, usize), WireError> {
        let mut name = NameBuffer::default();
        let end = WireOctets::message(octets).read_name(at, &mut name)?;
        Ok((name.as_name().to_string(), end))
    }

    #[test]
    fn compressed_names_are_followed_and_lowered() {
        let message = b"\x03NET\0\x07Example\xc0\x00\x01a\xc0\x05";
        assert_eq!(name_at(message, 0), Ok(("net.".into(), 5)));
        assert_eq!(name_at(message, 5), Ok(("example.net.".into(), 15)));
        assert_eq!(name_at(message, 15), Ok(("a.example.net.".into(), 19)));
    }

    #[test]
    fn names_of_short_labels_are_read_and_passed_over_whatever_they_end_with() {
        for labels in 0..=128 {
            let short = b"\x01A".repeat(labels);
            // The root, another label, a pointer to the root in front, and labels of two octets between those of one.
            let between = [&short[..], b"\x02bc", &short].concat();
            let names = [
                &[&short[..], b"\0"].concat(),
                &[&short[..], b"\x03net\0"].concat(),
                &[&short[..], b"\xc0\0"].concat(),
            ];
            for name in names.into_iter().chain([&[&between[..], b"\0"].concat()]) {
                let message = [b"\0".as_slice(), name].concat();
                let octets = if name.ends_with(b"\xc0\0") { name.len() - 1 } else { name.len() };
                let found = name_at(&message, 1);
                if octets > MAX_NAME {
                    assert_eq!(found, Err(WireError::NameTooLong), "{name:?}")
                } else {
                    let text = String::from_utf8_lossy(name).to_lowercase();
                    let text = text.replace(['\u{1}', '\u{2}', '\u{3}'], "");
                    let letters: String = found.clone().unwrap().0.split('.').collect();
                    assert_eq!(letters, text.trim_end_matches(['\0', '\u{fffd}']), "{name:?}");
                    assert_eq!(found.map(|(_, end)| end), Ok(message.len()));
                }
                assert_eq!(WireOctets::message(&message).skip_name(1), Ok(message.len()), "{name:?}");
                // Both find that a cut name ends too early.
                let cut = &message[..message.len() - 1];
                assert_eq!(
                    WireOctets::message(cut).read_name(1, &mut NameBuffer::default()).is_err(),
                    !name.is_empty()
                );
            }
        }
        for bad in [b"\x40a\0".as_slice(), b"\x01a\x80\0", b"\x02a", b"\x01a\x01a\x01a\x01a", b""] {
            assert_eq!(WireOctets::message(bad).skip_name(0).err(), name_at(bad, 0).err(), "{bad:?}");
        }
    }

    #[test]
    fn pointers_that_do_not_lead_back_are_refused() {
        assert_eq!(name_at(b"\xc0\x00", 0), Err(WireError::BadPointer));
        assert_eq!(name_at(b"\x01a\xc0\x00", 0), Err(WireError::BadPointer));
        assert_eq!(name_at(b"\xc0\x02\x01a\x00", 0), Err(WireError::BadPointer));
        assert_eq!(name_at(b"\0\xc0\x03\xc0\x01", 3), Err(WireError::BadPointer));
        assert_eq!(name_at(b"\x40a\0", 0), Err(WireError::BadLabel));
        assert_eq!(name_at(b"\x02a", 0), Err(WireError::Short));
        let long = [b"\x3f".as_slice(), &[b'a'; 63]].concat().repeat(4);
        assert_eq!(name_at(&long, 0), Err(WireError::NameTooLong));
    }

    #[test]
    fn rdata_loses_compression_and_case() {
        let message = b"\x03net\0\0\x0a\x02MX\xc0\x00";
        let mut out = Vec::new();
        WireOctets::message(message).append_rdata(Rtype::MX, 5..12, &mut out).unwrap();
        assert_eq!(out, b"\0\x0a\x02mx\x03net\0");
        let mut written = Vec::new();
        WireOctets::message(message).append_written(Rtype::MX, 5..12, &mut written).unwrap();
        assert_eq!(written, b"\0\x0a\x02MX\x03net\0");
        let plain = &message[5..];
        assert_eq!(WireOctets::rdata(plain).append_rdata(Rtype::MX, 0..7, &mut out), Err(WireError::BadPointer));
    }

    #[test]
    fn rdata_of_another_length_is_refused() {
        let check =
            |rtype, octets: &[u8]| WireOctets::rdata(octets).append_rdata(rtype, 0..octets.len(), &mut Vec::new());
        assert_eq!(check(Rtype::A, &[1, 2, 3, 4]), Ok(()));
        assert_eq!(check(Rtype::A, &[1, 2, 3]), Err(WireError::Short));
        assert_eq!(check(Rtype::A, &[1, 2, 3, 4, 5]), Err(WireError::Trailing));
        assert_eq!(check(Rtype::TXT, b"\x01a\0"), Ok(()));
        assert_eq!(check(Rtype::TXT, b""), Err(WireError::Short));
        assert_eq!(check(Rtype::TXT, b"\x02a"), Err(WireError::Short));
        assert_eq!(check(Rtype::PTR, b"\x01a\0\0"), Err(WireError::Trailing));
        assert_eq!(check(Rtype::from_int(65280), b""), Ok(()));
    }

    #[test]
    fn a_buffer_is_the_root_after_an_error() {
        let origin = Name::parse("example.net").unwrap();
        let mut name = NameBuffer::default();
        name.parse(b"A", origin.as_name()).unwrap();
        assert_eq!(name.as_name().to_string(), "a.example.net.");
        assert_eq!(name.parse(b"a..", origin.as_name()), Err(NameError::EmptyLabel));
        assert_eq!(name.as_name().to_string(), ".");
    }
}
