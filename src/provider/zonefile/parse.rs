//! Entries to records: directives, and what may be left out of a record.
//!
//! Comes in: the files of a zone. Goes out: every good record, in the files' order, and a diagnostic for everything
//! that is not one. Source: RFC 1035 section 5, RFC 2308 section 4 ($TTL), RFC 3597 section 5.

use crate::diag::{Code, Diagnostic, Diagnostics, FileId, Origin};
use crate::dns::{ContentsError, Name, NameBuffer, NameError, NameRef, Rtype, Ttl, ZoneName, is_zone_data};

use super::load::{FileLoader, LoadError};
use crate::dns::presentation::entry::{EntrySplitter, FaultKind, FileEntry, Token};
use crate::dns::presentation::{
    RdataFault, RdataFaultKind, RdataReader, RdataText, name_fault, parse_period, parse_rtype,
};

/// How deep $INCLUDE may nest below the zone file (enough for every sensible layout).
const MAX_DEPTH: usize = 8;

/// How many $INCLUDE one zone may run, so that files that include one another many times come to an end.
const MAX_INCLUDES: usize = 10_000;

/// After how many errors the rest of a zone is not read: a person does not read more.
const MAX_ERRORS: usize = 1_000;

/// One record as it is in a file.
#[derive(Debug, Clone, Copy)]
pub struct FileRecord<'a> {
    /// The owner name.
    pub owner: NameRef<'a>,
    /// The type.
    pub rtype: Rtype,
    /// The TTL, given or taken over.
    pub ttl: Ttl,
    /// Which of these.
    pub ttl_from: TtlFrom,
    /// Canonical wire format.
    pub rdata: &'a [u8],
}

/// Where a record has its TTL from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TtlFrom {
    /// It says it itself.
    Record,
    /// $TTL, or a SOA without a TTL of its own, says it for all records.
    Default,
    /// The record before that says one.
    Latest,
}

/// Takes records; the place makes diagnostics about them.
pub type TakeRecord<'t> = dyn FnMut(&FileRecord<'_>, &EntryPlace<'_>) -> Result<(), ContentsError> + 't;

/// Reads the zone file with the number `first`, and all that it includes.
///
/// `take` gets every good record; what it refuses becomes a diagnostic.
pub fn parse_zone(apex: &ZoneName, loader: &mut FileLoader<'_>, first: usize, take: &mut TakeRecord<'_>) -> ParsedZone {
    let mut parser = ZoneParser {
        loader,
        take,
        found: Diagnostics::default(),
        origin: apex.as_name().to_name(),
        owner: NameBuffer::default(),
        owner_state: OwnerState::None,
        default_ttl: None,
        latest_ttl: None,
        soa: None,
        rdata: RdataReader::default(),
        nesting: Vec::new(),
        includes: 0,
    };
    parser.parse_file(first);
    ParsedZone { found: parser.found, has_soa: parser.soa.is_some() }
}

/// What reading a zone gives in addition to its records.
#[derive(Debug)]
pub struct ParsedZone {
    /// What is wrong.
    pub found: Diagnostics,
    /// Whether there is a SOA, right or wrong.
    pub has_soa: bool,
}

/// The place of an entry: makes diagnostics.
#[derive(Debug, Clone, Copy)]
pub struct EntryPlace<'a> {
    /// The file.
    file: FileId,
    /// Its text.
    text: &'a [u8],
    /// The entry.
    entry: &'a FileEntry,
    /// Its tokens, at least one.
    tokens: &'a [Token],
}

impl EntryPlace<'_> {
    /// An error about some octets of the entry.
    fn error_at(&self, code: impl Into<Code>, range: std::ops::Range<usize>, message: String) -> Diagnostic {
        let text = self.text;
        let newlines = memchr::memchr_iter(b'\n', &text[self.entry.range.start..range.start]).count();
        let start = memchr::memrchr(b'\n', &text[..range.start]).map_or(0, |newline| newline + 1);
        // The byte order mark is not a character of the line.
        let start = if start == 0 && text.starts_with(b"\xef\xbb\xbf") { 3 } else { start };
        let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |newline| start + newline);
        let line = String::from_utf8_lossy(&text[start..end]);
        let col = String::from_utf8_lossy(&text[start..range.start]).chars().count() as u32 + 1;
        let width = String::from_utf8_lossy(&text[range.start..range.end.clamp(range.start, end)]).chars().count();
        let origin = Origin { file: self.file, line: self.entry.line + newlines as u32, col };
        Diagnostic::error(code, origin, message).excerpt(line.trim_end_matches('\r'), width.max(1))
    }

    /// An error about a token.
    fn error(&self, code: impl Into<Code>, token: Token, message: impl Into<String>) -> Diagnostic {
        self.error_at(code, token.range(), message.into())
    }

    /// An error about the record as a whole, shown at its first token.
    pub fn record_error(&self, code: impl Into<Code>, message: impl Into<String>) -> Diagnostic {
        self.error(code, self.tokens[0], message)
    }

    /// The fields before the data of a good record.
    pub fn head(&self) -> RecordTokens<'_> {
        let (owner, rest) = match (self.entry.indented, self.tokens) {
            (false, [owner, rest @ ..]) => (Some(*owner), rest),
            _ => (None, self.tokens),
        };
        let rdata = parse_head(self, rest).expect("the record is good").2;
        let (rtype, options) = rest[..rest.len() - rdata.len()].split_last().expect("a record has a type");
        let ttl = options.iter().find(|token| !is_internet(self.word(**token)));
        let class = options.iter().find(|token| is_internet(self.word(**token)));
        RecordTokens { owner, ttl: ttl.copied(), class: class.copied(), rtype: *rtype, rdata }
    }

    /// The file.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The octets of the record's lines.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.entry.range.clone()
    }

    /// Where the record begins.
    pub fn origin(&self) -> Origin {
        Origin { file: self.file, line: self.entry.line, col: 0 }
    }

    /// The octets of a token.
    fn word(&self, token: Token) -> &[u8] {
        token.text(self.text)
    }

    /// The octets of a token, for messages.
    fn shown(&self, token: Token) -> String {
        String::from_utf8_lossy(self.word(token)).into_owned()
    }
}

/// The tokens of a record.
#[derive(Debug, Clone, Copy)]
pub struct RecordTokens<'a> {
    /// The owner name; none where it is that of the record before.
    pub owner: Option<Token>,
    /// The TTL, where there is one.
    pub ttl: Option<Token>,
    /// The class, where it is said.
    pub class: Option<Token>,
    /// The type.
    pub rtype: Token,
    /// The data.
    pub rdata: &'a [Token],
}

/// What a record without an owner name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnerState {
    /// Nothing: there was no record before it in its file.
    None,
    /// The name that was read last.
    Good,
    /// A name that was wrong, which was reported once.
    Bad,
}

/// The state of reading one zone.
struct ZoneParser<'p, 'l, 't> {
    /// Where files come from.
    loader: &'p mut FileLoader<'l>,
    /// Where records go to.
    take: &'p mut TakeRecord<'t>,
    /// What is wrong so far.
    found: Diagnostics,
    /// What completes names without a final dot.
    origin: Name,
    /// The owner name of the latest record.
    owner: NameBuffer,
    /// Whether that may be used.
    owner_state: OwnerState,
    /// The TTL of $TTL, or of a SOA that has none of its own.
    default_ttl: Option<Ttl>,
    /// The TTL that a record gave last.
    latest_ttl: Option<Ttl>,
    /// The place of the SOA.
    soa: Option<Origin>,
    /// Reads RDATA.
    rdata: RdataReader,
    /// The files that are being read, the outermost first.
    nesting: Vec<usize>,
    /// How many $INCLUDE were run.
    includes: usize,
}

/// A diagnostic as an error.
type ParseError = Box<Diagnostic>;

impl ZoneParser<'_, '_, '_> {
    /// Reads one file, and all that it includes.
    fn parse_file(&mut self, number: usize) {
        let loaded = self.loader.get(number);
        let (file, text) = (loaded.file, loaded.text.clone());
        if text.last() != Some(&b'\n') {
            let what = if text.is_empty() { "the file is empty" } else { "the file does not end with a newline" };
            let error = Diagnostic::file_error("cut-file", file, format!("{what}, so it was cut"));
            self.found.push(error.hint("write the file again, whole"));
        }
        self.nesting.push(number);
        let mut splitter = EntrySplitter::new(&text);
        while let Some(entry) = splitter.next_entry() {
            let place = EntryPlace { file, text: &text, entry: &entry, tokens: splitter.tokens() };
            if let Err(fault) = self.parse_entry(&place) {
                self.found.push(*fault);
            }
            if self.found.error_count() >= MAX_ERRORS {
                let message = format!("over {MAX_ERRORS} errors: the rest of the zone was not read");
                self.found.push(Diagnostic::file_error("too-many-errors", file, message));
                break;
            }
        }
        self.nesting.pop();
    }

    /// Reads one entry.
    fn parse_entry(&mut self, place: &EntryPlace<'_>) -> Result<(), ParseError> {
        if let Some(fault) = &place.entry.fault {
            // Its owner name may be right, but that is unknown.
            self.owner_state = OwnerState::Bad;
            let (code, message, hint) = explain(fault.kind);
            return Err(place.error_at(code, fault.range.clone(), message.to_owned()).hint(hint).into());
        }
        let first = place.tokens[0];
        match place.word(first) {
            [b'$', ..] if !place.entry.indented && !first.quoted => self.parse_directive(place),
            _ => self.parse_record(place),
        }
    }

    /// Reads a directive.
    fn parse_directive(&mut self, place: &EntryPlace<'_>) -> Result<(), ParseError> {
        let (first, arguments) = place.tokens.split_first().expect("an entry has a token");
        let directive = place.word(*first).to_ascii_uppercase();
        match (directive.as_slice(), arguments) {
            (b"$ORIGIN", [name]) => {
                self.origin = self.parse_name(place, *name)?;
                Ok(())
            }
            (b"$TTL", [ttl]) => {
                self.default_ttl = Some(parse_ttl(place, *ttl)?);
                Ok(())
            }
            (b"$INCLUDE", [path]) => self.include(place, *path, None),
            (b"$INCLUDE", [path, name]) => {
                let origin = self.parse_name(place, *name)?;
                self.include(place, *path, Some(origin))
            }
            (b"$ORIGIN" | b"$TTL" | b"$INCLUDE", _) => {
                let usage = "`$ORIGIN NAME`, `$TTL SECONDS` or `$INCLUDE FILE [ORIGIN]`";
                let error = place.error("bad-directive", *first, "a directive with too few or too many arguments");
                Err(error.hint(format!("write {usage}")).into())
            }
            (b"$GENERATE", _) => {
                let error = place.error("generate", *first, "`$GENERATE` is not supported");
                Err(error.hint("write out its records, as `named-checkzone -D` prints them").into())
            }
            _ => {
                let message = format!("`{}` is not a directive", place.shown(*first));
                let error = place.error("bad-directive", *first, message);
                Err(error.hint("there are `$ORIGIN`, `$TTL` and `$INCLUDE`").into())
            }
        }
    }

    /// Reads a name that is not an owner name.
    fn parse_name(&self, place: &EntryPlace<'_>, token: Token) -> Result<Name, ParseError> {
        match place.word(token) {
            b"@" if !token.quoted => Ok(self.origin.clone()),
            word => Name::parse_relative(word, &self.origin).map_err(|error| explain_name(place, token, &error)),
        }
    }

    /// Reads another file in place of the directive; origin and owner name are as before afterwards.
    fn include(&mut self, place: &EntryPlace<'_>, path: Token, origin: Option<Name>) -> Result<(), ParseError> {
        let refuse = |code, message: String, hint: &str| -> Result<(), ParseError> {
            Err(place.error(code, path, message).hint(hint).into())
        };
        let shown = place.shown(path);
        if self.nesting.len() > MAX_DEPTH {
            let message = format!("`$INCLUDE` nests deeper than {MAX_DEPTH} files");
            return refuse("include-depth", message, "include the files from the zone file itself");
        }
        self.includes += 1;
        if self.includes > MAX_INCLUDES {
            let message = format!("over {MAX_INCLUDES} `$INCLUDE` in one zone");
            return refuse("include-limit", message, "put the records into fewer files");
        }
        let number = match self.loader.load(self.nesting.last().copied(), &shown) {
            Ok(number) => number,
            Err(error @ LoadError::Outside) => {
                let hint = "copy the file into the target's folder, and include it by a relative path without `..`";
                return refuse("include-outside", format!("`{shown}`: {error}"), hint);
            }
            Err(error) => {
                let hint = "paths are relative to the folder of the file that includes";
                return refuse("include-missing", format!("`{shown}`: {error}"), hint);
            }
        };
        if self.nesting.contains(&number) {
            let message = format!("`{shown}` is being read already: the files include each other");
            return refuse("include-cycle", message, "remove one of the `$INCLUDE`");
        }
        let new = origin.unwrap_or_else(|| self.origin.clone());
        let (old, owner, state) = (std::mem::replace(&mut self.origin, new), self.owner.clone(), self.owner_state);
        self.owner_state = OwnerState::None;
        self.parse_file(number);
        (self.origin, self.owner, self.owner_state) = (old, owner, state);
        Ok(())
    }

    /// Reads a record.
    fn parse_record(&mut self, place: &EntryPlace<'_>) -> Result<(), ParseError> {
        let tokens = self.parse_owner(place)?;
        if self.owner_state == OwnerState::Bad {
            return Ok(());
        }
        let (ttl, rtype, tokens) = parse_head(place, tokens)?;
        if rtype == Rtype::SOA {
            note_soa(&mut self.soa, place)?;
        }
        let source = RdataText { text: place.text, tokens, origin: self.origin.as_name() };
        let rdata = self.rdata.read(rtype, source).map_err(|fault| explain_rdata(place, tokens, rtype, fault))?;
        let (ttl, ttl_from) = match (ttl, self.default_ttl, self.latest_ttl) {
            (Some(ttl), ..) => (*self.latest_ttl.insert(ttl), TtlFrom::Record),
            (None, Some(ttl), _) => (ttl, TtlFrom::Default),
            (None, None, Some(ttl)) => (ttl, TtlFrom::Latest),
            (None, None, None) if rtype == Rtype::SOA => {
                // What servers do with a SOA of which nothing says the TTL: its last field counts, for all that follow.
                let minimum: [u8; 4] = rdata[rdata.len() - 4..].try_into().expect("four octets");
                (*self.default_ttl.insert(Ttl::from_wire(u32::from_be_bytes(minimum))), TtlFrom::Default)
            }
            (None, None, None) => {
                let error = place.record_error("no-ttl", "this record has no TTL");
                return Err(error.hint("put a line such as `$TTL 3600` at the top of the file").into());
            }
        };
        let record = FileRecord { owner: self.owner.as_name(), rtype, ttl, ttl_from, rdata };
        (self.take)(&record, place).map_err(|error| self.explain_refusal(place, error))
    }

    /// Reads the owner name, where there is one; gives the tokens after it.
    fn parse_owner<'a>(&mut self, place: &EntryPlace<'a>) -> Result<&'a [Token], ParseError> {
        if place.entry.indented {
            if self.owner_state == OwnerState::None {
                let error =
                    place.record_error("no-owner", "this record has no owner name, and no record before it gives one");
                return Err(error.hint("begin the line with a name, or with `@` for the origin").into());
            }
            return Ok(place.tokens);
        }
        let (first, rest) = place.tokens.split_first().expect("an entry has a token");
        self.owner_state = OwnerState::Good;
        match place.word(*first) {
            b"@" if !first.quoted => self.owner.set(self.origin.as_name()),
            word => self.owner.parse(word, self.origin.as_name()).map_err(|error| {
                self.owner_state = OwnerState::Bad;
                explain_name(place, *first, &error)
            })?,
        }
        Ok(rest)
    }

    /// Says why the zone does not take a record.
    fn explain_refusal(&mut self, place: &EntryPlace<'_>, error: ContentsError) -> ParseError {
        let owner = self.owner.as_name();
        let diagnostic = match error {
            ContentsError::OutOfZone => {
                // Once for each owner name.
                self.owner_state = OwnerState::Bad;
                let hint = "move the record into its own zone; or, if the name should be below the origin, remove its \
                            final dot";
                place.record_error("outside-zone", format!("`{owner}` is outside the zone")).hint(hint)
            }
            ContentsError::StraySoa => {
                let hint = "the zone's one SOA is at its apex";
                place.record_error("stray-soa", format!("a SOA at `{owner}`, which is not the apex")).hint(hint)
            }
            other => place.record_error("bad-zone-file", other.to_string()),
        };
        diagnostic.into()
    }
}

/// Keeps the place of the SOA; a second one is a fault, even of the same content.
fn note_soa(soa: &mut Option<Origin>, place: &EntryPlace<'_>) -> Result<(), ParseError> {
    let Some(first) = soa else {
        *soa = Some(place.origin());
        return Ok(());
    };
    let error = place.record_error("two-soas", "a second SOA");
    let also = format!("the first is in line {}", first.line);
    let hint = "remove one of them; a printed transfer has the same SOA at both ends";
    Err(error.also(also).hint(hint).into())
}

/// Reads TTL and class, both of which may be missing, in either order, and the type; gives the tokens after them.
fn parse_head<'a>(
    place: &EntryPlace<'a>,
    mut tokens: &'a [Token],
) -> Result<(Option<Ttl>, Rtype, &'a [Token]), ParseError> {
    let (mut ttl, mut class) = (None, false);
    loop {
        let Some((token, rest)) = tokens.split_first() else {
            let error = place.record_error("missing-type", "the record ends before its type");
            return Err(error.hint("a record is `NAME [TTL] [IN] TYPE DATA`").into());
        };
        tokens = rest;
        let word = place.word(*token);
        match word {
            [b'0'..=b'9', ..] | [b'-' | b'+', b'0'..=b'9', ..] if ttl.is_none() => {
                ttl = Some(parse_ttl(place, *token)?)
            }
            _ if !class && is_internet(word) => class = true,
            _ => return Ok((ttl, parse_type(place, *token)?, rest)),
        }
    }
}

/// Reads a TTL.
fn parse_ttl(place: &EntryPlace<'_>, token: Token) -> Result<Ttl, ParseError> {
    parse_period(place.word(token)).ok_or_else(|| {
        let message = format!("`{}` is not a TTL", place.shown(token));
        let hint = "a TTL is 0 to 2147483647 seconds, or numbers with units such as `1h30m`";
        place.error("bad-ttl", token, message).hint(hint).into()
    })
}

/// Whether a word names the class Internet.
fn is_internet(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"IN") || word.eq_ignore_ascii_case(b"CLASS1")
}

/// Reads a type: its mnemonic, or `TYPE` and a number (RFC 3597 section 5).
fn parse_type(place: &EntryPlace<'_>, token: Token) -> Result<Rtype, ParseError> {
    let word = place.word(token);
    // What zones are full of; the library compares with one mnemonic after another.
    for (mnemonic, rtype) in [("AAAA", Rtype::AAAA), ("PTR", Rtype::PTR), ("A", Rtype::A), ("TXT", Rtype::TXT)] {
        if word.eq_ignore_ascii_case(mnemonic.as_bytes()) {
            return Ok(rtype);
        }
    }
    let upper = place.shown(token).to_ascii_uppercase();
    let class = matches!(upper.as_str(), "CH" | "HS" | "CS" | "CHAOS" | "HESIOD" | "NONE" | "ANY")
        || upper.strip_prefix("CLASS").is_some_and(|number| number.bytes().all(|octet| octet.is_ascii_digit()));
    if class {
        let error = place.error("wrong-class", token, format!("`{upper}`: the class is not IN"));
        return Err(error.hint("zones of other classes cannot be read").into());
    }
    match parse_rtype(upper.as_bytes()) {
        Some(rtype) if is_zone_data(rtype) => Ok(rtype),
        Some(_) => {
            let message = format!("`{upper}` is a type that exists only in messages");
            Err(place.error("bad-type", token, message).hint("remove the record").into())
        }
        None => {
            let message = format!("`{}` is not a type", place.shown(token));
            let hint = "write types without a mnemonic as `TYPE` and their number, their data as `\\# LENGTH HEX`";
            Err(place.error(code_of(RdataFaultKind::UnknownType), token, message).hint(hint).into())
        }
    }
}

/// What to do about a name that is too long.
const LONG_NAME: &str = "a label has at most 63 bytes, a name 255; check the origin";

/// What to do about a name that is not valid.
const BAD_NAME: &str = "labels are separated by single dots; bytes other than letters and digits are written `\\DDD`";

/// The code of a fault of RDATA.
fn code_of(kind: RdataFaultKind) -> Code {
    match kind {
        RdataFaultKind::UnknownType => Code::new("unknown-type"),
        RdataFaultKind::NameTooLong => Code::new("name-too-long"),
        RdataFaultKind::BadName => Code::new("bad-name"),
        RdataFaultKind::BadData => Code::new("bad-rdata"),
    }
}

/// Says what is wrong with a name.
fn explain_name(place: &EntryPlace<'_>, token: Token, error: &NameError) -> ParseError {
    let (kind, message) = name_fault(error);
    let hint = if kind == RdataFaultKind::NameTooLong { LONG_NAME } else { BAD_NAME };
    place.error(code_of(kind), token, message).hint(hint).into()
}

/// Says what is wrong with RDATA, and where.
fn explain_rdata(place: &EntryPlace<'_>, tokens: &[Token], rtype: Rtype, fault: RdataFault) -> ParseError {
    let token = match fault.token {
        Some(number) => tokens.get(number).copied(),
        None => tokens.last().copied(),
    };
    let error = place.error(code_of(fault.kind), token.unwrap_or(place.tokens[place.tokens.len() - 1]), fault.message);
    let hint = match (fault.kind, rtype) {
        (RdataFaultKind::UnknownType, _) => "write the data as `\\# LENGTH HEX`",
        (RdataFaultKind::NameTooLong, _) => LONG_NAME,
        (RdataFaultKind::BadName, _) => BAD_NAME,
        _ if tokens.first().is_some_and(|first| place.word(*first) == b"\\#") => "the notation is `\\# LENGTH HEX`",
        (_, Rtype::A) => "an A record holds one address such as `192.0.2.1`",
        (_, Rtype::AAAA) => "an AAAA record holds one address such as `2001:db8::1`",
        (_, Rtype::SOA) => "a SOA is `PRIMARY MAILBOX SERIAL REFRESH RETRY EXPIRE MINIMUM`",
        (_, Rtype::TXT) => "put text into quotes, in strings of at most 255 bytes",
        _ => "correct the data of this record",
    };
    error.hint(hint).into()
}

/// The code, message and hint of a fault in the text.
fn explain(kind: FaultKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        FaultKind::UnclosedQuote => {
            ("unclosed-quote", "a quote that is not closed on its line", "close it; a quote in text is written `\\\"`")
        }
        FaultKind::UnclosedParenthesis => (
            "unclosed-parenthesis",
            "a parenthesis that is never closed, so the rest of the file belongs to this record",
            "close it behind the last field of the record",
        ),
        FaultKind::StrayParenthesis => (
            "stray-parenthesis",
            "a closing parenthesis without an opening one",
            "remove it, or open one in the line before",
        ),
        FaultKind::Nul => ("nul-octet", "a NUL byte", "write the file again: a text file cannot contain this byte"),
        FaultKind::StrayEscape => {
            ("stray-escape", "a backslash at the end of a line", "remove it; `(` and `)` join lines")
        }
    }
}
