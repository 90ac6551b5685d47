//! Our tokens as the library's `Scanner`, so that it reads the RDATA of the types that we do not read ourselves.

use std::fmt;

use domain::base::Name as LibraryName;
use domain::base::charstr::CharStr;
use domain::base::scan::{ConvertSymbols, EntrySymbol, Scanner, ScannerError, Symbol};
use domain::dep::octseq::str::Str;

use super::entry::Token;
use crate::dns::{NameBuffer, NameRef};

/// Hands out the tokens of one RDATA.
#[derive(Debug)]
pub struct TokenScanner<'a> {
    /// The text that contains the tokens.
    pub text: &'a [u8],
    /// The tokens of the RDATA.
    pub tokens: &'a [Token],
    /// How many of them were handed out.
    pub taken: usize,
    /// What completes names without a final dot.
    pub origin: NameRef<'a>,
}

/// What the library says of a token.
#[derive(Debug, Clone, Copy)]
pub struct ScanError(&'static str);

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for ScanError {}

impl ScannerError for ScanError {
    fn custom(message: &'static str) -> ScanError {
        ScanError(message)
    }

    fn end_of_entry() -> ScanError {
        ScanError("something is missing at the end")
    }

    fn short_buf() -> ScanError {
        ScanError("too long")
    }

    fn trailing_tokens() -> ScanError {
        ScanError("something follows the last field")
    }
}

impl<'a> TokenScanner<'a> {
    /// The next token.
    fn next(&mut self) -> Result<Token, ScanError> {
        let token = *self.tokens.get(self.taken).ok_or_else(ScanError::end_of_entry)?;
        self.taken += 1;
        Ok(token)
    }

    /// Hands the symbols of a token to `op`.
    fn symbols(&self, token: Token, mut op: impl FnMut(Symbol) -> Result<(), ScanError>) -> Result<(), ScanError> {
        let octets = token.text(self.text);
        let mut at = 0;
        while at < octets.len() {
            let symbol = Symbol::from_slice_index(octets, at).map_err(|_| ScanError("a bad escape or character"))?;
            let (symbol, next) = symbol.ok_or(ScanError("a bad escape or character"))?;
            op(symbol)?;
            at = next;
        }
        Ok(())
    }

    /// Appends the octets that a token means.
    fn octets(&self, token: Token, out: &mut Vec<u8>) -> Result<(), ScanError> {
        self.symbols(token, |symbol| {
            out.push(symbol.into_octet().map_err(|_| ScanError("a character that is not ASCII"))?);
            Ok(())
        })
    }
}

impl Scanner for TokenScanner<'_> {
    type Octets = Vec<u8>;
    type OctetsBuilder = Vec<u8>;
    type Name = LibraryName<Vec<u8>>;
    type Error = ScanError;

    fn has_space(&self) -> bool {
        self.tokens.get(self.taken).is_some_and(|token| !token.glued)
    }

    fn continues(&mut self) -> bool {
        self.taken < self.tokens.len()
    }

    fn scan_symbols<F>(&mut self, op: F) -> Result<(), ScanError>
    where
        F: FnMut(Symbol) -> Result<(), ScanError>,
    {
        let token = self.next()?;
        self.symbols(token, op)
    }

    fn scan_entry_symbols<F>(&mut self, mut op: F) -> Result<(), ScanError>
    where
        F: FnMut(EntrySymbol) -> Result<(), ScanError>,
    {
        while self.continues() {
            let token = self.next()?;
            self.symbols(token, |symbol| op(symbol.into()))?;
            op(EntrySymbol::EndOfToken)?;
        }
        Ok(())
    }

    fn convert_token<C: ConvertSymbols<Symbol, ScanError>>(&mut self, mut convert: C) -> Result<Vec<u8>, ScanError> {
        let mut out = Vec::new();
        self.scan_symbols(|symbol| {
            out.extend_from_slice(convert.process_symbol(symbol)?.unwrap_or_default());
            Ok(())
        })?;
        out.extend_from_slice(convert.process_tail()?.unwrap_or_default());
        Ok(out)
    }

    fn convert_entry<C: ConvertSymbols<EntrySymbol, ScanError>>(
        &mut self,
        mut convert: C,
    ) -> Result<Vec<u8>, ScanError> {
        let mut out = Vec::new();
        while self.continues() {
            let token = self.next()?;
            // The ends of tokens are not passed on: converters take them for symbols that they do not know.
            self.symbols(token, |symbol| {
                out.extend_from_slice(convert.process_symbol(symbol.into())?.unwrap_or_default());
                Ok(())
            })?;
        }
        out.extend_from_slice(convert.process_tail()?.unwrap_or_default());
        Ok(out)
    }

    fn scan_octets(&mut self) -> Result<Vec<u8>, ScanError> {
        let token = self.next()?;
        let mut out = Vec::new();
        self.octets(token, &mut out)?;
        Ok(out)
    }

    fn scan_svcb_octets(&mut self) -> Result<Vec<u8>, ScanError> {
        let mut out = self.scan_octets()?;
        while self.tokens.get(self.taken).is_some_and(|token| token.glued) {
            let token = self.next()?;
            self.octets(token, &mut out)?;
        }
        Ok(out)
    }

    fn scan_ascii_str<F, T>(&mut self, op: F) -> Result<T, ScanError>
    where
        F: FnOnce(&str) -> Result<T, ScanError>,
    {
        let octets = self.scan_octets()?;
        match str::from_utf8(&octets) {
            Ok(text) if text.is_ascii() => op(text),
            _ => Err(ScanError("a character that is not ASCII")),
        }
    }

    fn scan_name(&mut self) -> Result<LibraryName<Vec<u8>>, ScanError> {
        let token = self.next()?;
        let mut name = NameBuffer::default();
        match token.text(self.text) {
            b"@" => name.set(self.origin),
            text => name.parse(text, self.origin).map_err(|_| ScanError("a bad name"))?,
        }
        LibraryName::from_octets(name.as_name().as_wire().to_vec()).map_err(|_| ScanError("a bad name"))
    }

    fn scan_charstr(&mut self) -> Result<CharStr<Vec<u8>>, ScanError> {
        CharStr::from_octets(self.scan_octets()?).map_err(|_| ScanError("a string of over 255 bytes"))
    }

    fn scan_string(&mut self) -> Result<Str<Vec<u8>>, ScanError> {
        let octets = self.scan_octets()?;
        Str::from_utf8(octets).map_err(|_| ScanError("a character that is not UTF-8"))
    }

    fn scan_charstr_entry(&mut self) -> Result<Vec<u8>, ScanError> {
        let mut out = Vec::new();
        while self.continues() {
            let string = self.scan_charstr()?;
            out.push(string.len() as u8);
            out.extend_from_slice(string.as_slice());
        }
        Ok(out)
    }

    fn scan_opt_unknown_marker(&mut self) -> Result<bool, ScanError> {
        // The notation of RFC 3597 is read before the library is asked.
        Ok(false)
    }

    fn octets_builder(&mut self) -> Result<Vec<u8>, ScanError> {
        Ok(Vec::new())
    }
}
