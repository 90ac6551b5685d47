//! The objects of a JSON export by their octets: found without reading them, so that they can be read side by side.
//!
//! An export is a list of objects, one page of an API or several with `results`, or objects one after another (JSON
//! lines).

use std::ops::Range;

/// What a document holds.
#[derive(Debug, Default, PartialEq)]
pub struct SkimmedDocument {
    /// The octets of each row, in order; a row that is not an object counts, too.
    pub rows: Vec<Range<usize>>,
    /// The octets of each page but its rows.
    pub pages: Vec<PageRest>,
    /// Whether the last of several objects, one a line, ended with its line: nothing else shows that none is missing.
    pub has_open_end: bool,
}

/// What a page says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PageRest {
    /// The octets of `count`.
    pub count: Option<Range<usize>>,
    /// The octets of `next`.
    pub next: Option<Range<usize>>,
    /// How many rows it has.
    pub rows: usize,
}

/// Why a document cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkimError {
    /// It ends too early.
    Cut,
    /// There is no JSON at an octet.
    Unexpected(usize),
}

/// Finds the rows of a document.
pub fn skim(bytes: &[u8]) -> Result<SkimmedDocument, SkimError> {
    let mut skimmer = Skimmer { bytes, at: 0, found: SkimmedDocument::default() };
    while let Some(octet) = skimmer.next_octet() {
        match octet {
            // Of several lists nothing would show that the last is there.
            b'[' if skimmer.found != SkimmedDocument::default() => return Err(SkimError::Unexpected(skimmer.at)),
            b'[' => skimmer.list()?,
            b'{' => skimmer.object()?,
            _ => return Err(SkimError::Unexpected(skimmer.at)),
        }
    }
    Ok(skimmer.found)
}

/// A place in a document.
struct Skimmer<'a> {
    /// The document.
    bytes: &'a [u8],
    /// The place.
    at: usize,
    /// What was found.
    found: SkimmedDocument,
}

impl Skimmer<'_> {
    /// The octet behind blanks, and moves to it.
    fn next_octet(&mut self) -> Option<u8> {
        let blanks = self.bytes[self.at..].iter().take_while(|octet| octet.is_ascii_whitespace()).count();
        self.at += blanks;
        self.bytes.get(self.at).copied()
    }

    /// Takes an octet that must follow.
    fn take(&mut self, wanted: u8) -> Result<(), SkimError> {
        match self.next_octet() {
            Some(octet) if octet == wanted => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(SkimError::Unexpected(self.at)),
            None => Err(SkimError::Cut),
        }
    }

    /// Whether a member follows in a list or object that `close` ends, `is_first` or behind a comma; takes what
    /// separates it.
    fn has_member(&mut self, close: u8, is_first: bool) -> Result<bool, SkimError> {
        match self.next_octet() {
            None => Err(SkimError::Cut),
            Some(octet) if octet == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if is_first => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(SkimError::Unexpected(self.at)),
        }
    }

    /// Takes a list of rows; gives their number.
    fn rows(&mut self) -> Result<usize, SkimError> {
        self.take(b'[')?;
        let mut count = 0;
        while self.has_member(b']', count == 0)? {
            let row = self.value()?;
            self.found.rows.push(row);
            count += 1;
        }
        Ok(count)
    }

    /// Takes an outermost list.
    fn list(&mut self) -> Result<(), SkimError> {
        self.rows().map(|_| ())
    }

    /// Takes an outermost object: a page, or a row.
    fn object(&mut self) -> Result<(), SkimError> {
        let from = self.at;
        let mut page = None;
        let mut rest = PageRest::default();
        self.take(b'{')?;
        let mut is_first = true;
        while self.has_member(b'}', std::mem::take(&mut is_first))? {
            if self.next_octet() != Some(b'"') {
                return Err(if self.at == self.bytes.len() { SkimError::Cut } else { SkimError::Unexpected(self.at) });
            }
            let key = self.value()?;
            self.take(b':')?;
            let is_list = self.next_octet() == Some(b'[');
            match &self.bytes[key] {
                b"\"results\"" if is_list && page.is_none() => page = Some(self.rows()?),
                b"\"results\"" if is_list => return Err(SkimError::Unexpected(self.at)),
                b"\"count\"" => rest.count = Some(self.value()?),
                b"\"next\"" => rest.next = Some(self.value()?),
                _ => {
                    self.value()?;
                }
            }
        }
        match page {
            Some(rows) => self.found.pages.push(PageRest { rows, ..rest }),
            None => {
                self.found.rows.push(from..self.at);
                self.found.has_open_end = self.bytes.get(self.at).is_none();
            }
        }
        Ok(())
    }

    /// Takes a value of any depth, without asking whether it is well formed inside; gives its octets.
    fn value(&mut self) -> Result<Range<usize>, SkimError> {
        let first = self.next_octet().ok_or(SkimError::Cut)?;
        let from = self.at;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => self.nested()?,
            _ => {
                let is_part = |octet: &&u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'+' | b'.');
                let length = self.bytes[from..].iter().take_while(is_part).count();
                if length == 0 {
                    return Err(SkimError::Unexpected(from));
                }
                self.at += length;
            }
        }
        Ok(from..self.at)
    }

    /// Takes text in quotes.
    fn string(&mut self) -> Result<(), SkimError> {
        self.at += 1;
        loop {
            let next = memchr::memchr2(b'"', b'\\', &self.bytes[self.at..]).ok_or(SkimError::Cut)?;
            self.at += next + 1;
            if self.bytes[self.at - 1] == b'"' {
                return Ok(());
            }
            self.at += 1;
            if self.at > self.bytes.len() {
                return Err(SkimError::Cut);
            }
        }
    }

    /// Takes an object or list with all that is in it; counting instead of descending, so that no depth is too deep.
    fn nested(&mut self) -> Result<(), SkimError> {
        let mut depth = 0_usize;
        while let Some(octet) = self.bytes.get(self.at) {
            match octet {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(SkimError::Cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a document as text.
    fn rows(text: &str) -> Vec<&str> {
        skim(text.as_bytes()).unwrap().rows.into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn lists_pages_and_lines_have_rows() {
        assert_eq!(rows("[{\"a\": [\"}\\\"\"]} , 7]"), ["{\"a\": [\"}\\\"\"]}", "7"]);
        assert_eq!(rows("{\"count\":2,\"next\":null,\"results\":[{},{}]}{\"results\":[]}\n"), ["{}", "{}"]);
        assert_eq!(rows("{\"results\":null}\n{\"a\":1}\n"), ["{\"results\":null}", "{\"a\":1}"]);
        assert_eq!(rows(" [ ] "), [] as [&str; 0]);
        let page = skim(b"{\"count\":2,\"next\":null,\"results\":[]}").unwrap().pages.remove(0);
        assert_eq!(page, PageRest { count: Some(9..10), next: Some(18..22), rows: 0 });
    }

    #[test]
    fn what_does_not_close_is_cut() {
        let whole = "{\"count\":1,\"results\":[{\"a\":\"\\\\\",\"b\":[1,{}]}],\"next\":null}";
        for end in 1..whole.len() {
            assert_eq!(skim(&whole.as_bytes()[..end]), Err(SkimError::Cut), "{end}");
        }
        for (text, at) in [
            ("[{} {}]", 4),
            ("{} x", 3),
            ("{a}", 1),
            ("[,]", 1),
            ("[{},}]", 4),
            ("{\"a\" 1}", 5),
            ("[{}]\n[{}]", 5),
            ("{\"results\":[],\"results\":[]}", 24),
        ] {
            assert_eq!(skim(text.as_bytes()), Err(SkimError::Unexpected(at)), "{text}");
        }
        assert!(skim(format!("[{}", "[".repeat(1_000_000)).as_bytes()).is_err());
        assert!(skim(b"{}").unwrap().has_open_end && !skim(b"{}\n").unwrap().has_open_end);
    }
}
