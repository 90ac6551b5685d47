//! net-layout.xml: datacenter and VLAN to networks, in order of preference.

use std::collections::HashSet;
use std::ops::Range;

use ipnet::IpNet;
use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::escape::EscapeError;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::meaning::{ExportRows, RowMeaning};
use super::text::{BAD_NETWORK, BAD_TIME, BAD_VLAN, NOT_A_64, RowFault};
use super::{
    Draft, ExportFormat, Renumbering, RowContext, SourceDate, SourceFile, SourceInput, SourcePart, SourceTally,
};
use crate::diag::{Code, Diagnostic, FileId, Origin, Severity};
use crate::inventory::model::{ExportEntry, LayoutNetworks, NetLayout, Trust};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::{Net64, Time, Vlan};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "net_layout",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// The code of a file that ends too early.
const SOURCE_CUT: Code = Code::new("source-cut");

/// An element where it does not belong.
const BAD_ELEMENT: RowFault = RowFault {
    code: Code::new("xml-element"),
    rule: "net-layout holds datacenters, a datacenter holds vlans, a vlan holds networks, and nothing else",
    hint: "remove it; its content is not read",
};

/// An attribute that is missing or wrong.
const BAD_ATTRIBUTE: RowFault = RowFault {
    code: Code::new("xml-attribute"),
    rule: "a datacenter has a `name`, a vlan an `id`",
    hint: "correct the attribute; until then the element is not read",
};

/// What makes the whole file unknown.
const RULE: &str = "zonewright does not use a file that may be incomplete or hide something";

/// Reads net-layout.xml.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let mut tally = SourceTally::default();
    let mut rows = LayoutRows::default();
    for file in &input.files {
        let mut below = SourceTally::default();
        read_file(*file, context, &mut rows, &mut below);
        tally.append(below);
    }
    let fold = move |draft: &mut Draft, trust: Trust| {
        let numbers = Renumbering::merge(&mut draft.symbols, &rows.symbols);
        let networks = rows.layout.networks.into_iter();
        let networks = networks.map(|((location, vlan), entry)| ((numbers.symbol(location), vlan), entry)).collect();
        let unreadable = rows.layout.unreadable.into_iter();
        let unreadable =
            unreadable.map(|(location, origin)| (location.map(|own| numbers.symbol(own)), origin)).collect();
        draft.layout = NetLayout { networks, unreadable, ignored: rows.layout.ignored };
        draft.layout_trust = trust;
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// What was read.
#[derive(Default)]
struct LayoutRows {
    /// The locations.
    symbols: Symbols,
    /// The networks.
    layout: NetLayout,
    /// Those that were added.
    seen: HashSet<((Symbol, Vlan), Net64)>,
}

impl LayoutRows {
    /// Adds a good network, once.
    fn add(&mut self, location: Symbol, vlan: Vlan, network: Net64, origin: Origin) {
        let key = (location, vlan);
        if !self.seen.insert((key, network)) {
            return;
        }
        let entry = self.layout.networks.entry(key).or_insert_with(|| ExportEntry::Good(Vec::new(), origin));
        if let ExportEntry::Good(list, _) = entry {
            list.push((network, origin));
        }
    }
}

/// Reads one file; an error about the whole file makes the source unknown.
fn read_file(file: SourceFile<'_>, context: &RowContext<'_>, rows: &mut LayoutRows, tally: &mut SourceTally) {
    let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
    let whole = |code, message: &str, hint: &str| Diagnostic::file_error(code, file.id, message).rule(RULE).hint(hint);
    let text = match std::str::from_utf8(bytes) {
        Ok("") => {
            let diagnostic = whole("source-empty", "the file is empty", "export again");
            return tally.distrust(file.id, context.files, "is empty", diagnostic);
        }
        Ok(text) => text,
        Err(_) => {
            let diagnostic = whole("not-utf-8", "the file is not UTF-8", "export again");
            return tally.distrust(file.id, context.files, "is not UTF-8", diagnostic);
        }
    };
    let mut walk = LayoutWalk::new(file.id, text, rows, tally);
    match walk.run() {
        Err(fault) => {
            let cause = if fault.code == SOURCE_CUT { "was cut" } else { "cannot be read as XML" };
            let diagnostic = locate(file.id, text, fault.code, fault.at, fault.message);
            tally.distrust(file.id, context.files, cause, diagnostic.rule(RULE).hint(fault.hint));
        }
        Ok(()) if tally.rows == 0 => {
            let diagnostic = whole("source-empty", "the file has no networks", "export again");
            tally.distrust(file.id, context.files, "has no networks", diagnostic);
        }
        Ok(()) => {}
    }
}

/// What ends the reading of a file.
struct LayoutError {
    /// The code.
    code: Code,
    /// Where.
    at: Range<usize>,
    /// What was found.
    message: String,
    /// What to do.
    hint: String,
}

/// Makes a [`LayoutError`].
fn fatal(code: impl Into<Code>, at: Range<usize>, message: impl Into<String>, hint: &str) -> LayoutError {
    LayoutError { code: code.into(), at, message: message.into(), hint: hint.to_owned() }
}

/// Where the reader is in the file.
struct LayoutWalk<'a> {
    /// The file.
    file: FileId,
    /// Its text.
    text: &'a str,
    /// What was read.
    rows: &'a mut LayoutRows,
    /// What is wrong.
    tally: &'a mut SourceTally,
    /// The elements around the reader, outermost first; skipped elements are not among them.
    open: Vec<OpenElement>,
    /// How deep the reader is inside an element that is skipped.
    skipped: usize,
    /// Whether the outermost element was closed.
    done: bool,
    /// The last place that was asked for: octet and line.
    last: (usize, u32),
}

/// An element that the format knows.
enum OpenElement {
    /// `net-layout`.
    Root,
    /// `datacenter`, where its name can be read.
    Datacenter(Option<Symbol>),
    /// `vlan`, where it and its datacenter can be read.
    Vlan(Option<(Symbol, Vlan)>),
    /// `network`.
    Network {
        /// Its text so far.
        text: String,
        /// Where it begins.
        start: usize,
    },
}

impl<'a> LayoutWalk<'a> {
    /// Starts at the top.
    fn new(file: FileId, text: &'a str, rows: &'a mut LayoutRows, tally: &'a mut SourceTally) -> LayoutWalk<'a> {
        LayoutWalk { file, text, rows, tally, open: Vec::new(), skipped: 0, done: false, last: (0, 1) }
    }

    /// Reads to the end of the file.
    fn run(&mut self) -> Result<(), LayoutError> {
        let mut reader = Reader::from_str(self.text);
        reader.config_mut().enable_all_checks(true);
        reader.config_mut().expand_empty_elements = true;
        loop {
            let start = reader.buffer_position() as usize;
            let event = reader.read_event();
            let at = start..(reader.buffer_position() as usize).max(start);
            match event {
                Ok(Event::Eof) => break,
                Ok(event) => self.take(event, at)?,
                Err(error) => return Err(self.syntax(&error, reader.error_position() as usize)),
            }
        }
        let end = self.text.len()..self.text.len();
        if !self.done {
            return Err(fatal(SOURCE_CUT, end, "the file ends before its last element ends: it was cut", EXPORT_AGAIN));
        }
        Ok(())
    }

    /// What a fault of syntax means: at the end of the file, that it was cut.
    fn syntax(&self, error: &Error, at: usize) -> LayoutError {
        let at = at.min(self.text.len());
        match error {
            Error::Syntax(error) => fatal(SOURCE_CUT, at..at, format!("{error}: the file was cut"), EXPORT_AGAIN),
            error => fatal("xml-syntax", at..at, error.to_string(), EXPORT_AGAIN),
        }
    }

    /// Adds one event.
    fn take(&mut self, event: Event<'_>, at: Range<usize>) -> Result<(), LayoutError> {
        match event {
            Event::Start(element) => self.begin(&element, at)?,
            Event::End(_) => self.end(at),
            Event::Text(text) => self.content(&text.xml10_content(), at)?,
            Event::CData(text) => self.content(&text.xml10_content(), at)?,
            Event::GeneralRef(reference) => {
                let text = resolve(&reference, &at)?;
                self.content(&text, at)?;
            }
            Event::DocType(_) => {
                let message = "document types are refused";
                return Err(fatal("xml-doctype", at, message, "export without a document type and its entities"));
            }
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::Empty(_) | Event::Eof => {}
        }
        Ok(())
    }

    /// Handles the beginning of an element.
    fn begin(&mut self, element: &BytesStart<'_>, at: Range<usize>) -> Result<(), LayoutError> {
        if self.skipped > 0 {
            self.skipped += 1;
            // Rows are counted whether or not they can be used, so that shares of bad ones stay shares.
            self.tally.rows += usize::from(element.name().0 == "network");
            return Ok(());
        }
        if self.done {
            return Err(fatal("xml-syntax", at, "a second outermost element", EXPORT_AGAIN));
        }
        let open = match (self.open.last(), element.name().0) {
            (None, "net-layout") => {
                self.read_date(element, &at)?;
                OpenElement::Root
            }
            (None, name) => {
                let message = format!("the outermost element is `{name}` instead of `net-layout`");
                return Err(fatal("xml-syntax", at, message, "name the right file in zonewright.toml"));
            }
            (Some(OpenElement::Root), "datacenter") => {
                let name = self.attribute(element, "name", &at)?.filter(|name| !name.is_empty());
                if name.is_none() {
                    self.bad(&BAD_ATTRIBUTE, at, "a datacenter without a `name`".into());
                    self.tally.rows += 1;
                }
                OpenElement::Datacenter(name.map(|name| self.rows.symbols.intern(&name)))
            }
            (Some(OpenElement::Datacenter(datacenter)), "vlan") => {
                let datacenter = *datacenter;
                let origin = self.line(at.start);
                let vlan = self.read_vlan(element, at)?;
                if vlan.is_none() || datacenter.is_none() {
                    self.rows.layout.unreadable.entry(datacenter).or_insert(origin);
                }
                OpenElement::Vlan(datacenter.zip(vlan))
            }
            (Some(OpenElement::Vlan(_)), "network") => OpenElement::Network { text: String::new(), start: at.start },
            (Some(_), name) => {
                let message = format!("the element `{name}` does not belong here");
                self.skipped = 1;
                self.tally.rows += 1;
                self.spoil(&at);
                self.bad(&BAD_ELEMENT, at, message);
                return Ok(());
            }
        };
        self.open.push(open);
        Ok(())
    }

    /// Handles the end of an element.
    fn end(&mut self, at: Range<usize>) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if let Some(OpenElement::Network { text, start }) = self.open.pop() {
            self.read_network(&text, start..at.end);
        }
        self.done = self.open.is_empty();
    }

    /// Handles text.
    fn content(&mut self, more: &str, at: Range<usize>) -> Result<(), LayoutError> {
        if let Some(flaw) = more.find(is_control) {
            let at = at.start + flaw.min(at.len())..at.end;
            return Err(fatal("xml-syntax", at, CONTROL, EXPORT_AGAIN));
        }
        match self.open.last_mut() {
            _ if self.skipped > 0 => {}
            Some(OpenElement::Network { text, .. }) => text.push_str(more),
            _ if more.trim().is_empty() => {}
            None => return Err(fatal("xml-syntax", at, "text outside the outermost element", EXPORT_AGAIN)),
            Some(_) => {
                self.tally.rows += 1;
                self.spoil(&at);
                self.bad(&BAD_ELEMENT, at, "text outside a network".into());
            }
        }
        Ok(())
    }

    /// Reads the `id` of a VLAN; one that is not a VLAN is a bad row, and its networks are ignored.
    fn read_vlan(&mut self, element: &BytesStart<'_>, at: Range<usize>) -> Result<Option<Vlan>, LayoutError> {
        let id = self.attribute(element, "id", &at)?;
        let digits = id.as_deref().filter(|id| !id.is_empty() && id.bytes().all(|octet| octet.is_ascii_digit()));
        let vlan = digits.and_then(|id| id.parse().ok()).and_then(Vlan::new);
        if vlan.is_none() {
            self.tally.rows += 1;
            match id {
                Some(id) => self.bad(&BAD_VLAN, at, format!("`{id}` is not a VLAN")),
                None => self.bad(&BAD_ATTRIBUTE, at, "a vlan without an `id`".into()),
            }
        }
        Ok(vlan)
    }

    /// Reads the text of a network.
    fn read_network(&mut self, text: &str, at: Range<usize>) {
        self.tally.rows += 1;
        let text = text.trim();
        let Ok(network) = text.parse::<IpNet>() else {
            self.spoil(&at);
            return self.bad(&BAD_NETWORK, at, format!("`{text}` is not a network"));
        };
        let network = match network {
            IpNet::V6(network) if network.prefix_len() == 64 => network,
            _ => {
                self.rows.layout.ignored += 1;
                return;
            }
        };
        let Some(net64) = Net64::new(network) else {
            self.spoil(&at);
            return self.bad(&NOT_A_64, at, format!("`{text}` has bits behind its prefix"));
        };
        if let Some(OpenElement::Vlan(Some((location, vlan)))) = self.open.last() {
            let (location, vlan) = (*location, *vlan);
            let origin = self.line(at.start);
            self.rows.add(location, vlan, net64, origin);
        }
    }

    /// Makes the entry of the VLAN around the reader bad.
    fn spoil(&mut self, at: &Range<usize>) {
        let around = self.open.iter().rev().find(|open| !matches!(open, OpenElement::Network { .. }));
        if let Some(OpenElement::Vlan(Some(key))) = around {
            let key = *key;
            let origin = self.line(at.start);
            let entry = self.rows.layout.networks.entry(key).or_insert(ExportEntry::Bad(origin));
            if matches!(entry, ExportEntry::Good(..)) {
                *entry = ExportEntry::Bad(origin);
            }
        }
    }

    /// Takes the date of the file from `generated`; warns of one that gives no time.
    fn read_date(&mut self, element: &BytesStart<'_>, at: &Range<usize>) -> Result<(), LayoutError> {
        let date = self.attribute(element, "generated", at)?;
        let time = date.as_ref().and_then(|date| date.parse::<Time>().ok());
        self.tally.dated = SourceDate::of(time);
        if let (Some(date), None) = (date, time) {
            let message = format!("`{date}` is not a time, so the export has no date");
            let diagnostic = locate(self.file, self.text, BAD_TIME.code, at.clone(), message);
            let diagnostic = diagnostic.rule(BAD_TIME.rule).hint(BAD_TIME.hint);
            self.tally.diagnostics.push(Diagnostic { severity: Severity::Warning, ..diagnostic });
        }
        Ok(())
    }

    /// The value of an attribute.
    fn attribute(
        &self,
        element: &BytesStart<'_>,
        name: &str,
        at: &Range<usize>,
    ) -> Result<Option<String>, LayoutError> {
        let mut found = None;
        for attribute in element.attributes() {
            let value = attribute.map_err(Error::from).and_then(|attribute| {
                let value = attribute.normalized_value(XmlVersion::Explicit1_0)?;
                Ok((attribute.key.0 == name).then(|| value.into_owned()))
            });
            let value = value.map_err(|error| explain(&error, at))?;
            if value.as_deref().is_some_and(has_control) {
                return Err(fatal("xml-syntax", at.clone(), CONTROL, EXPORT_AGAIN));
            }
            found = found.or(value);
        }
        Ok(found)
    }

    /// Reports a bad row.
    fn bad(&mut self, fault: &RowFault, at: Range<usize>, message: String) {
        self.tally.bad += 1;
        let (file, text) = (self.file, self.text);
        self.tally
            .diagnostics
            .push_bounded(file, || locate(file, text, fault.code, at, message).rule(fault.rule).hint(fault.hint));
    }

    /// The line of an octet; asked mostly from top to bottom, so that lines are counted once.
    fn line(&mut self, at: usize) -> Origin {
        let (last, line) = if self.last.0 <= at { self.last } else { (0, 1) };
        let line = line + memchr::memchr_iter(b'\n', &self.text.as_bytes()[last..at]).count() as u32;
        self.last = (at, line);
        Origin::line(self.file, line)
    }
}

/// Makes an error at some octets of a text.
fn locate(file: FileId, text: &str, code: impl Into<Code>, at: Range<usize>, message: String) -> Diagnostic {
    let mut start = at.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let before = &text[..start];
    let line_start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |newline| newline + 1);
    let line = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count() as u32;
    let col = text[line_start..start].chars().count() as u32 + 1;
    let marked = text.get(start..at.end).unwrap_or_default().lines().next().unwrap_or_default();
    let shown = text[line_start..].lines().next().unwrap_or_default();
    Diagnostic::error(code, Origin { file, line, col }, message).excerpt(shown, marked.chars().count().max(1))
}

/// What a text with a control character is refused for.
const CONTROL: &str = "a control character, which XML does not allow";

/// Whether a character controls something; tabs and ends of lines do not.
fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// Whether a text holds a control character.
fn has_control(text: &str) -> bool {
    text.contains(is_control)
}

/// What an attribute that cannot be read means; `at` is its element.
fn explain(error: &Error, at: &Range<usize>) -> LayoutError {
    match error {
        Error::Escape(EscapeError::UnrecognizedEntity(_, name)) => entity(name, at),
        Error::Escape(EscapeError::UnterminatedEntity(_)) => {
            fatal("xml-syntax", at.clone(), "an `&` without a `;` behind it", "write `&amp;` for the character itself")
        }
        error => fatal("xml-syntax", at.clone(), error.to_string(), EXPORT_AGAIN),
    }
}

/// Refuses an entity that XML does not predefine.
fn entity(name: &str, at: &Range<usize>) -> LayoutError {
    fatal("xml-entity", at.clone(), format!("the entity `{name}` is refused"), "write the text itself")
}

/// What to do about a broken file.
const EXPORT_AGAIN: &str = "export again; let the exporter write to another name and rename the complete file";

/// The text of a reference: one of the five entities that XML predefines, or a character by number.
fn resolve(reference: &BytesRef<'_>, at: &Range<usize>) -> Result<String, LayoutError> {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return Ok(c.to_string());
    }
    match quick_xml::escape::resolve_xml_entity(reference) {
        Some(text) => Ok(text.to_owned()),
        None => Err(entity(reference, at)),
    }
}

/// The /64s of each VLAN of a datacenter, in their order.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let meaning = |((location, vlan), entry): (&(Symbol, Vlan), &ExportEntry<LayoutNetworks>)| match entry {
        ExportEntry::Good(networks, _) => {
            let networks: Vec<String> = networks.iter().map(|(network, _)| network.to_string()).collect();
            Some((format!("{} {vlan}", said.symbols.text(*location)), networks.join(", ")))
        }
        ExportEntry::Bad(_) => None,
    };
    said.layout.networks.iter().filter_map(meaning).collect()
}
