//! Master-file text to entries: the text between two ends of line, cut into tokens.
//!
//! Comes in: the text of one file. Goes out: one entry after another, each with the octets that it spans and its
//! tokens, comments and blanks left out. A fault does not stop the rest: the entry is read to its end, and the next one
//! begins where it would have. What the tokens mean is not decided here.

use std::ops::Range;

use memchr::memchr;

/// One token, by its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its first octet, after the quote where it is quoted.
    start: u32,
    /// The octet after its last, before the closing quote.
    end: u32,
    /// Whether it is in quotes.
    pub quoted: bool,
    /// Whether it follows the one before without a blank, as in `alpn="h2"`.
    pub glued: bool,
}

impl Token {
    /// The octets between its ends, escapes as written.
    pub fn text(self, text: &[u8]) -> &[u8] {
        &text[self.range()]
    }

    /// Its place in the text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One entry: a record or a directive; its tokens are in [`EntrySplitter::tokens`], at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The octets of its lines, the last end of line included.
    pub range: Range<usize>,
    /// The number of its first line, from 1.
    pub line: u32,
    /// Whether it begins with a blank, which means the owner name of the record before.
    pub indented: bool,
    /// The first fault in it.
    pub fault: Option<TextFault>,
}

/// A fault in the text, before any meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFault {
    /// What it is.
    pub kind: FaultKind,
    /// The octets that it is about.
    pub range: Range<usize>,
}

/// The kinds of [`TextFault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A quote that is not closed on its line.
    UnclosedQuote,
    /// An opening parenthesis that is not closed before the text ends.
    UnclosedParenthesis,
    /// A closing parenthesis that none opened.
    StrayParenthesis,
    /// A NUL octet: no text holds one.
    Nul,
    /// A backslash at the end of a line.
    StrayEscape,
}

/// What an octet means outside quotes and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OctetClass {
    /// Part of a token.
    Word,
    /// Takes the next octet into the token.
    Escape,
    /// Is between tokens.
    Blank,
    /// Ends the line.
    Newline,
    /// Opens a quoted token.
    Quote,
    /// Opens a comment.
    Comment,
    /// Lets the entry go on over ends of line.
    Open,
    /// Ends that.
    Close,
    /// Never right.
    Nul,
}

/// The class of every octet.
const CLASSES: [OctetClass; 256] = {
    let mut classes = [OctetClass::Word; 256];
    classes[b'\\' as usize] = OctetClass::Escape;
    classes[b' ' as usize] = OctetClass::Blank;
    classes[b'\t' as usize] = OctetClass::Blank;
    // Lines may end in CR LF; a CR elsewhere is only a blank.
    classes[b'\r' as usize] = OctetClass::Blank;
    classes[b'\n' as usize] = OctetClass::Newline;
    classes[b'"' as usize] = OctetClass::Quote;
    classes[b';' as usize] = OctetClass::Comment;
    classes[b'(' as usize] = OctetClass::Open;
    classes[b')' as usize] = OctetClass::Close;
    classes[0] = OctetClass::Nul;
    classes
};

/// Cuts a text into entries.
#[derive(Debug)]
pub struct EntrySplitter<'a> {
    /// The text; empty, or ends with a newline.
    text: &'a [u8],
    /// Where the next entry begins.
    at: usize,
    /// The line that this is, from 1.
    line: u32,
    /// The tokens of the latest entry.
    tokens: Vec<Token>,
}

impl<'a> EntrySplitter<'a> {
    /// Starts with a text. What follows its last newline is not read, and a byte order mark is skipped.
    pub fn new(text: &'a [u8]) -> EntrySplitter<'a> {
        let end = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3.min(end) } else { 0 };
        EntrySplitter { text: &text[..end], at, line: 1, tokens: Vec::new() }
    }

    /// The tokens of the entry that [`EntrySplitter::next_entry`] gave last.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The next entry that has a token or a fault; `None` at the end.
    pub fn next_entry(&mut self) -> Option<FileEntry> {
        while self.at < self.text.len() {
            let entry = self.split_entry();
            if !self.tokens.is_empty() || entry.fault.is_some() {
                return Some(entry);
            }
        }
        None
    }

    /// Reads from the beginning of a line to the end of the line that ends the entry.
    fn split_entry(&mut self) -> FileEntry {
        let text = self.text;
        let (start, line) = (self.at, self.line);
        let indented = matches!(CLASSES[usize::from(text[start])], OctetClass::Blank);
        let mut at = start;
        let mut fault = None;
        let mut note = |kind, range| {
            fault.get_or_insert(TextFault { kind, range });
        };
        // Where the outermost parenthesis was opened, and how many are.
        let mut opened = 0;
        let mut depth = 0u32;
        let mut blank = true;
        self.tokens.clear();
        while let Some(octet) = text.get(at) {
            let class = CLASSES[usize::from(*octet)];
            match class {
                OctetClass::Word | OctetClass::Escape | OctetClass::Nul => {
                    let (end, bad) = word_end(text, at);
                    if let Some(bad) = bad {
                        note(bad.kind, bad.range);
                    }
                    self.tokens.push(Token { start: at as u32, end: end as u32, quoted: false, glued: !blank });
                    at = end;
                }
                OctetClass::Quote => {
                    let (end, bad) = quote_end(text, at + 1);
                    if let Some(kind) = bad {
                        note(kind, at..end);
                    }
                    self.tokens.push(Token { start: at as u32 + 1, end: end as u32, quoted: true, glued: !blank });
                    at = if bad == Some(FaultKind::UnclosedQuote) { end } else { end + 1 };
                }
                OctetClass::Comment => at += memchr(b'\n', &text[at..]).expect("the text ends with a newline"),
                OctetClass::Newline => {
                    self.line += 1;
                    at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                OctetClass::Open => {
                    if depth == 0 {
                        opened = at;
                    }
                    depth += 1;
                    at += 1;
                }
                OctetClass::Close => {
                    if depth == 0 {
                        note(FaultKind::StrayParenthesis, at..at + 1);
                    }
                    depth = depth.saturating_sub(1);
                    at += 1;
                }
                OctetClass::Blank => at += 1,
            }
            blank = !matches!(class, OctetClass::Word | OctetClass::Escape | OctetClass::Nul | OctetClass::Quote);
        }
        if depth > 0 {
            // All further errors in the rest of the text follow from this one.
            fault = Some(TextFault { kind: FaultKind::UnclosedParenthesis, range: opened..opened + 1 });
        }
        self.at = at;
        FileEntry { range: start..at, line, indented, fault }
    }
}

/// The end of the unquoted token that begins at `at`, and what is wrong in it.
fn word_end(text: &[u8], mut at: usize) -> (usize, Option<TextFault>) {
    let mut fault = None;
    while let Some(octet) = text.get(at) {
        match CLASSES[usize::from(*octet)] {
            OctetClass::Word => at += 1,
            OctetClass::Escape if matches!(text.get(at + 1), Some(b'\n' | b'\r') | None) => {
                fault.get_or_insert(TextFault { kind: FaultKind::StrayEscape, range: at..at + 1 });
                at += 1;
            }
            // The octet after the backslash is looked at too: a NUL is wrong there as well.
            OctetClass::Escape if text[at + 1] == 0 => at += 1,
            OctetClass::Escape => at += 2,
            OctetClass::Nul => {
                fault.get_or_insert(TextFault { kind: FaultKind::Nul, range: at..at + 1 });
                at += 1;
            }
            _ => break,
        }
    }
    (at, fault)
}

/// The place of the quote that closes the token that begins at `at`, or of the end of its line; and what is wrong.
fn quote_end(text: &[u8], mut at: usize) -> (usize, Option<FaultKind>) {
    let mut fault = None;
    loop {
        match text.get(at) {
            Some(b'"') => return (at, fault),
            Some(b'\n') | None => return (at, Some(FaultKind::UnclosedQuote)),
            Some(b'\\') if !matches!(text.get(at + 1), Some(b'\n' | 0) | None) => at += 2,
            Some(0) => {
                fault = Some(FaultKind::Nul);
                at += 1;
            }
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every entry as its line, whether it is indented, its tokens (quoted ones in quotes, glued ones behind a plus),
    /// and its fault.
    fn shown(text: &str) -> String {
        let mut splitter = EntrySplitter::new(text.as_bytes());
        let mut out = String::new();
        while let Some(entry) = splitter.next_entry() {
            out += &format!("{}{}", entry.line, if entry.indented { " >" } else { "" });
            for token in splitter.tokens() {
                let word = String::from_utf8_lossy(token.text(text.as_bytes()));
                let quote = if token.quoted { "\"" } else { "" };
                out += &format!(" {}{quote}{word}{quote}", if token.glued { "+" } else { "" });
            }
            if let Some(fault) = entry.fault {
                out += &format!(" {:?} at {:?}", fault.kind, fault.range);
            }
            out.push('\n');
        }
        out
    }

    #[test]
    fn entries_end_with_their_line_unless_a_parenthesis_is_open() {
        let text = "\u{feff}a A 1\r\n\n; c\n  B ( 2 ; ) x\n ) 3\nc \"q;( \\\" \" k=\"v\"\n";
        insta::assert_snapshot!(shown(text), @r#"
        1 a A 1
        4 > B 2 3
        6 c "q;( \" " k= +"v"
        "#);
    }

    #[test]
    fn a_fault_does_not_stop_what_follows() {
        let text = "a \"x\nb )\nc \\\nd \\; e\nf\0g\n\"h\0\"\nz ( 1\ny 2\n";
        insta::assert_snapshot!(shown(text).replace('\0', "NUL"), @r#"
        1 a "x" UnclosedQuote at 2..4
        2 b StrayParenthesis at 7..8
        3 c \ StrayEscape at 11..12
        4 d \; e
        5 fNULg Nul at 21..22
        6 "hNUL" Nul at 24..27
        7 z 1 y 2 UnclosedParenthesis at 31..32
        "#);
    }

    #[test]
    fn an_entry_spans_its_lines() {
        let text = b"a (\n1 )\nb\n";
        let mut splitter = EntrySplitter::new(text);
        assert_eq!(splitter.next_entry().unwrap().range, 0..8);
        assert_eq!(splitter.next_entry().unwrap().range, 8..10);
        assert_eq!(splitter.next_entry(), None);
        assert_eq!(EntrySplitter::new(b"no newline").next_entry(), None);
    }
}
