//! The tokens of one RDATA, taken one after another, and what each adds to the wire format.

use std::collections::BTreeSet;

use domain::utils::{base16, base64};

use super::entry::Token;
use super::{RdataFault, RdataFaultKind, RdataText, bad, digits, mnemonic, name_fault, parsed, push_string};
use crate::dns::wire::NameBuffer;

/// What reading a field gives.
pub type FieldResult<T = ()> = Result<T, RdataFault>;

/// The tokens of one RDATA.
#[derive(Debug)]
pub struct RdataFields<'a, 'o> {
    /// The tokens, with what they need around them.
    source: RdataText<'a>,
    /// How many of them were taken.
    taken: usize,
    /// The wire format so far.
    pub out: &'o mut Vec<u8>,
}

impl<'a, 'o> RdataFields<'a, 'o> {
    /// All tokens of an RDATA, of which the wire format goes to `out`.
    pub fn new(source: RdataText<'a>, out: &'o mut Vec<u8>) -> RdataFields<'a, 'o> {
        RdataFields { source, taken: 0, out }
    }

    /// Whether all tokens were taken.
    pub fn is_at_end(&self) -> bool {
        self.taken == self.source.tokens.len()
    }

    /// The next token, which stays.
    pub fn peek(&self) -> Option<Token> {
        self.source.tokens.get(self.taken).copied()
    }

    /// The next token.
    ///
    /// Errors: there is none, and `what` is missing.
    pub fn token(&mut self, what: &str) -> FieldResult<Token> {
        let missing = || RdataFault {
            token: None,
            kind: RdataFaultKind::BadData,
            message: format!("the RDATA end before {what}"),
        };
        let token = self.peek().ok_or_else(missing)?;
        self.taken += 1;
        Ok(token)
    }

    /// The text of a token.
    pub fn text_of(&self, token: Token) -> &'a [u8] {
        token.text(self.source.text)
    }

    /// The next token as text.
    pub fn word(&mut self, what: &str) -> FieldResult<&'a [u8]> {
        Ok(self.token(what)?.text(self.source.text))
    }

    /// The next token as a value.
    pub fn value<T>(&mut self, what: &str, parse: impl FnOnce(&[u8]) -> Option<T>) -> FieldResult<T> {
        let word = self.word(what)?;
        parse(word).ok_or_else(|| self.fault(format!("`{}` is not {what}", String::from_utf8_lossy(word))))
    }

    /// A fault of the token that was taken last.
    pub fn fault(&self, message: String) -> RdataFault {
        bad(self.taken.saturating_sub(1), message)
    }

    /// Ends.
    ///
    /// Errors: there is another token, or the RDATA are too long.
    pub fn finish(self) -> FieldResult {
        match (self.is_at_end(), self.out.len()) {
            (false, _) => Err(bad(self.taken, "this follows the last field of the RDATA".to_owned())),
            (true, 0..=0xffff) => Ok(()),
            (true, _) => Err(bad(0, "RDATA of over 65535 bytes".to_owned())),
        }
    }

    /// A number of 8 bits, or a word for one.
    pub fn octet(&mut self, what: &str, parse: impl FnOnce(&[u8]) -> Option<u8>) -> FieldResult<u8> {
        let octet = self.value(what, parse)?;
        self.out.push(octet);
        Ok(octet)
    }

    /// A number of 8 bits.
    pub fn u8(&mut self) -> FieldResult<u8> {
        self.octet("a number of 0 to 255", |word| digits(word)?.try_into().ok())
    }

    /// A number of 16 bits, or a word for one.
    pub fn pair(&mut self, what: &str, parse: impl FnOnce(&[u8]) -> Option<u16>) -> FieldResult<u16> {
        let number = self.value(what, parse)?;
        self.out.extend_from_slice(&number.to_be_bytes());
        Ok(number)
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> FieldResult<u16> {
        self.pair("a number of 0 to 65535", |word| digits(word)?.try_into().ok())
    }

    /// A number of 32 bits, in another form where `parse` reads one.
    pub fn quad(&mut self, what: &str, parse: impl FnOnce(&[u8]) -> Option<u32>) -> FieldResult {
        let number = self.value(what, parse)?;
        self.out.extend_from_slice(&number.to_be_bytes());
        Ok(())
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> FieldResult {
        self.quad("a number of 0 to 4294967295", |word| digits(word)?.try_into().ok())
    }

    /// An IPv4 address.
    pub fn v4(&mut self) -> FieldResult {
        let address: std::net::Ipv4Addr = self.value("an IPv4 address", parsed)?;
        self.out.extend_from_slice(&address.octets());
        Ok(())
    }

    /// An IPv6 address.
    pub fn v6(&mut self) -> FieldResult {
        let address: std::net::Ipv6Addr = self.value("an IPv6 address", parsed)?;
        self.out.extend_from_slice(&address.octets());
        Ok(())
    }

    /// A name.
    pub fn name(&mut self) -> FieldResult {
        let token = self.token("a name")?;
        let mut name = NameBuffer::default();
        match self.text_of(token) {
            b"@" if !token.quoted => name.set(self.source.origin),
            word => name.parse(word, self.source.origin).map_err(|error| {
                let (kind, message) = name_fault(&error);
                RdataFault { token: Some(self.taken - 1), kind, message }
            })?,
        }
        self.out.extend_from_slice(name.as_name().as_wire());
        Ok(())
    }

    /// A character string.
    pub fn text(&mut self) -> FieldResult {
        let word = self.word("a string")?;
        push_string(self.out, word, true).map_err(|message| self.fault(message))
    }

    /// Character strings up to the end, at least one.
    pub fn texts(&mut self) -> FieldResult {
        self.text()?;
        while !self.is_at_end() {
            self.text()?;
        }
        Ok(())
    }

    /// All further tokens as one text: data in hexadecimal digits or base64 may have blanks between them.
    fn rest(&mut self, what: &str) -> FieldResult<String> {
        let mut rest = self.word(what)?.to_vec();
        while !self.is_at_end() {
            rest.extend_from_slice(self.word(what)?);
        }
        String::from_utf8(rest).map_err(|_| self.fault(format!("this is not {what}")))
    }

    /// Hexadecimal data up to the end.
    pub fn hex(&mut self) -> FieldResult {
        let digits = self.rest(HEX)?;
        let octets: Vec<u8> = base16::decode(&digits).map_err(|_| self.fault(format!("this is not {HEX}")))?;
        self.out.extend_from_slice(&octets);
        Ok(())
    }

    /// Hexadecimal data in one token.
    pub fn hex_word(&mut self) -> FieldResult<Vec<u8>> {
        self.value(HEX, |word| base16::decode(str::from_utf8(word).ok()?).ok())
    }

    /// Base64 up to the end.
    pub fn base64(&mut self) -> FieldResult {
        let digits = self.rest(BASE64)?;
        let octets: Vec<u8> = base64::decode(&digits).map_err(|_| self.fault(format!("this is not {BASE64}")))?;
        self.out.extend_from_slice(&octets);
        Ok(())
    }

    /// Base64 up to the end, or nothing.
    pub fn base64_or_nothing(&mut self) -> FieldResult {
        if self.is_at_end() { Ok(()) } else { self.base64() }
    }

    /// Base64 in one token.
    pub fn base64_word(&mut self) -> FieldResult<Vec<u8>> {
        self.value(BASE64, |word| base64::decode(str::from_utf8(word).ok()?).ok())
    }

    /// The numbers of types up to the end, sorted.
    pub fn types(&mut self) -> FieldResult<BTreeSet<u16>> {
        let mut types = BTreeSet::new();
        while !self.is_at_end() {
            types.insert(self.value("a type", mnemonic::rtype)?.to_int());
        }
        Ok(types)
    }
}

/// What hexadecimal digits are called.
const HEX: &str = "hexadecimal data";

/// What base64 is called.
const BASE64: &str = "base64";
