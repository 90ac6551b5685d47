//! From octets of a text to lines and columns.

use std::ops::Range;

use crate::diag::{FileId, Origin};

/// Finds places in one text; fastest when asked from top to bottom.
pub struct TextPlaces<'a> {
    /// The file.
    file: FileId,
    /// Its text.
    text: &'a str,
    /// Where each line begins, in octets; sorted, never empty.
    starts: Vec<usize>,
    /// The last answer. Columns are counted on from it, so that many values on one long line take linear time.
    last: (usize, Origin),
}

impl<'a> TextPlaces<'a> {
    /// Starts with a text.
    pub fn new(file: FileId, text: &'a str) -> TextPlaces<'a> {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        TextPlaces { file, text, starts, last: (0, Origin { file, line: 1, col: 1 }) }
    }

    /// The line and column of an octet; of the last one before it, where it is inside a character or beyond the end.
    pub fn origin(&mut self, at: usize) -> Origin {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= at);
        let (from, col) = match self.last {
            (last, origin) if origin.line as usize == line && last <= at => (last, origin.col as usize),
            _ => (self.starts[line - 1], 1),
        };
        let col = col + self.text[from..at].chars().count();
        let origin = Origin { file: self.file, line: line as u32, col: col as u32 };
        self.last = (at, origin);
        origin
    }

    /// How many characters of `range` are on its first line; at least one.
    pub fn width(&self, range: Range<usize>) -> usize {
        let text = self.text.get(range).unwrap_or_default();
        text.lines().next().unwrap_or_default().chars().count().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;

    #[test]
    fn columns_count_characters_in_any_order() {
        let text = "äb\ncd\n";
        let mut places = TextPlaces::new(Files::default().add("x"), text);
        let mut at = |octet| {
            let origin = places.origin(octet);
            (origin.line, origin.col)
        };
        assert_eq!([at(0), at(1), at(2), at(5)], [(1, 1), (1, 1), (1, 2), (2, 2)]);
        assert_eq!([at(4), at(3), at(99)], [(2, 1), (1, 3), (3, 1)]);
    }
}
