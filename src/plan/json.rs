//! Writes JSON in one of two forms, without a tree in between: a plan of a fleet is hundreds of megabytes.
//!
//! Comes in: calls that describe values. Goes out: text for a file, or the digest of canonical text (RFC 8785). One
//! description of the document serves both, so that the digest cannot drift from what is written.

use std::fmt::{self, Write as _};

use sha2::{Digest, Sha256};

/// How an object or list of the file is laid out; canonical text has no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One field or item a line.
    Lines,
    /// All in one line.
    Inline,
}

/// The value of a field.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// None: the field is left out.
    Absent,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Number(u64),
    /// Text.
    Text(&'a str),
    /// What prints as text.
    Shown(&'a dyn fmt::Display),
    /// Whatever this writes.
    Written(&'a dyn Fn(&mut Emitter)),
}

/// A field of an object: its key and its value.
pub type Field<'a> = (&'a str, Value<'a>);

/// Where text goes, and in which form.
enum Sink {
    /// A file: keys in the order of the description, laid out for people.
    File,
    /// A digest: sorted keys, no blanks.
    Digest(Box<Sha256>),
}

/// Writes JSON values one after another.
pub struct Emitter {
    /// What was written and not yet hashed.
    out: String,
    /// Where it goes.
    sink: Sink,
    /// How many levels of [`Layout::Lines`] are open.
    level: usize,
    /// Holds a value's text before it is escaped.
    scratch: String,
}

/// How many octets are collected before they are hashed.
const BLOCK: usize = 64 * 1024;

impl Emitter {
    /// The text for a file of what `describe` writes, with a final newline.
    pub fn file(describe: impl FnOnce(&mut Emitter)) -> String {
        let mut emitter = Emitter::new(Sink::File);
        describe(&mut emitter);
        emitter.out.push('\n');
        emitter.out
    }

    /// The SHA-256 of the canonical text of what `describe` writes. Source: RFC 8785.
    pub fn digest(describe: impl FnOnce(&mut Emitter)) -> [u8; 32] {
        let mut emitter = Emitter::new(Sink::Digest(Box::default()));
        describe(&mut emitter);
        match emitter.sink {
            Sink::Digest(mut hasher) => {
                hasher.update(&emitter.out);
                hasher.finalize().into()
            }
            Sink::File => unreachable!("it was made a digest above"),
        }
    }

    /// An emitter that has written nothing.
    fn new(sink: Sink) -> Emitter {
        Emitter { out: String::new(), sink, level: 0, scratch: String::new() }
    }

    /// Writes an object. A file has the fields as given; canonical text has them sorted by key as UTF-16 (RFC 8785
    /// section 3.2.3).
    pub fn object(&mut self, layout: Layout, fields: &mut [Field<'_>]) {
        if self.is_canonical() {
            fields.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
        }
        let present = fields.iter().filter(|(_, value)| !matches!(value, Value::Absent));
        self.container(layout, ('{', '}'), present, |out, (key, value)| {
            push_quoted(&mut out.out, key);
            out.out.push_str(if out.is_canonical() { ":" } else { ": " });
            out.value(*value);
        });
    }

    /// Writes a list, each item by `each`.
    pub fn list<I: IntoIterator>(&mut self, layout: Layout, items: I, each: impl Fn(&mut Emitter, I::Item)) {
        self.container(layout, ('[', ']'), items.into_iter(), each);
    }

    /// Writes what is common to objects and lists.
    fn container<I: Iterator>(
        &mut self,
        layout: Layout,
        (open, close): (char, char),
        items: I,
        each: impl Fn(&mut Emitter, I::Item),
    ) {
        let lines = layout == Layout::Lines && !self.is_canonical();
        self.out.push(open);
        self.level += usize::from(lines);
        let mut empty = true;
        for item in items {
            if !empty {
                self.out.push_str(if lines || self.is_canonical() { "," } else { ", " });
            }
            if lines {
                self.line();
            }
            each(self, item);
            empty = false;
        }
        self.level -= usize::from(lines);
        if lines && !empty {
            self.line();
        }
        self.out.push(close);
        self.flush();
    }

    /// Writes one value; an absent one is null outside an object.
    ///
    /// Numbers keep all their digits. RFC 8785 would round those above 2^53, where no double is exact.
    pub fn value(&mut self, value: Value<'_>) {
        match value {
            Value::Absent | Value::Null => self.out.push_str("null"),
            Value::Bool(yes) => self.out.push_str(if yes { "true" } else { "false" }),
            Value::Number(number) => write!(self.out, "{number}").expect("a String takes all text"),
            Value::Text(text) => push_quoted(&mut self.out, text),
            Value::Shown(value) => {
                self.scratch.clear();
                write!(self.scratch, "{value}").expect("a String takes all text");
                push_quoted(&mut self.out, &self.scratch);
            }
            Value::Written(write) => write(self),
        }
    }

    /// Whether the form is canonical.
    fn is_canonical(&self) -> bool {
        matches!(self.sink, Sink::Digest(_))
    }

    /// Begins a line.
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.level));
    }

    /// Hashes what was collected, once it is worth it.
    fn flush(&mut self) {
        if let Sink::Digest(hasher) = &mut self.sink
            && self.out.len() >= BLOCK
        {
            hasher.update(&self.out);
            self.out.clear();
        }
    }
}

/// Writes a JSON string with the escapes that RFC 8785 section 3.2.2.2 demands, and no others.
fn push_quoted(out: &mut String, text: &str) {
    let special = |octet: u8| octet < b' ' || octet == b'"' || octet == b'\\';
    out.push('"');
    // Without an early exit the test takes many octets at once, and hardly any text is special.
    if !text.bytes().fold(false, |found, octet| found | special(octet)) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.bytes().position(special) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            control => write!(out, "\\u{control:04x}").expect("a String takes all text"),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes an object with keys and texts that the two forms treat differently.
    fn describe(out: &mut Emitter) {
        let list = |out: &mut Emitter| out.list(Layout::Lines, [1, 2], |out, number| out.value(Value::Number(number)));
        let none = |out: &mut Emitter| out.list(Layout::Lines, [Value::Null; 0], Emitter::value);
        let deep = |out: &mut Emitter| {
            out.object(
                Layout::Inline,
                &mut [("y", Value::Bool(true)), ("w", Value::Absent), ("x", Value::Written(&none))],
            );
        };
        let fields = &mut [
            ("b", Value::Text("\u{0}\u{8}\t\n\u{c}\r\u{1f}\"\\/\u{7f}é\u{2028}😀")),
            ("a", Value::Written(&list)),
            ("c", Value::Written(&deep)),
            // These two sort one way as UTF-16 and the other way as UTF-8.
            ("😀", Value::Null),
            ("\u{e000}", Value::Shown(&1.5)),
        ];
        out.object(Layout::Lines, fields);
    }

    #[test]
    fn canonical_text_is_what_an_independent_writer_makes() {
        let value: serde_json::Value = serde_json::from_str(&Emitter::file(describe)).unwrap();
        let canonical = serde_jcs::to_vec(&value).unwrap();
        assert_eq!(Emitter::digest(describe), <[u8; 32]>::from(Sha256::digest(canonical)));
    }

    #[test]
    fn a_file_keeps_the_order_and_is_laid_out() {
        let numbers =
            |out: &mut Emitter| out.list(Layout::Lines, [1, 2], |out, number| out.value(Value::Number(number)));
        let inner = |out: &mut Emitter| out.object(Layout::Inline, &mut [("y", Value::Null), ("x", Value::Absent)]);
        let empty = |out: &mut Emitter| out.object(Layout::Lines, &mut []);
        let fields = [("b", Value::Written(&numbers)), ("a", Value::Written(&inner)), ("c", Value::Written(&empty))];
        insta::assert_snapshot!(Emitter::file(|out| out.object(Layout::Lines, &mut fields.clone())), @r#"
        {
          "b": [
            1,
            2
          ],
          "a": {"y": null},
          "c": {}
        }
        "#);
    }
}
