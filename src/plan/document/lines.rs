//! The layout of a document for people: a line for each field down to those of the items of its lists. What is deeper
//! stays on the line.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Down to which depth fields and items have lines of their own: document, list, item.
const MAX_DEPTH_OF_LINES: usize = 3;

/// The blanks of a level.
const INDENT: &[u8] = b"  ";

/// Lays out a document.
#[derive(Default)]
pub struct Lines {
    /// How many lists and objects are open.
    depth: usize,
    /// Whether the innermost of them holds something.
    has_value: bool,
}

impl Lines {
    /// Opens a list or object.
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    /// Closes a list or object.
    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let has_lines = self.has_value && self.depth <= MAX_DEPTH_OF_LINES;
        self.depth -= 1;
        if has_lines {
            self.break_line(writer)?;
        }
        writer.write_all(bracket)
    }

    /// Separates an item or field from the one before.
    fn separate<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        match (is_first, self.depth <= MAX_DEPTH_OF_LINES) {
            (true, true) => self.break_line(writer),
            (true, false) => Ok(()),
            (false, true) => writer.write_all(b",").and_then(|()| self.break_line(writer)),
            (false, false) => writer.write_all(b", "),
        }
    }

    /// Begins a line.
    fn break_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(INDENT))
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.separate(writer, is_first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        self.separate(writer, is_first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}
