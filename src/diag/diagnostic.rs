//! One diagnostic, and many.

use super::Code;
use super::origin::{FileId, Origin};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something cannot be used as it is.
    Error,
    /// Everything can be used, but a person should look at it.
    Warning,
}

/// One finding about an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file it is about, and the place in it: line 0 means the file as a whole.
    pub origin: Origin,
    /// The row that it is about, if that row is not on this line or shares the line with others.
    pub row: Option<Origin>,
    /// A stable kebab-case code, such as `not-a-64`.
    pub code: Code,
    /// What was found: lower case, no full stop, names in backticks.
    pub message: String,
    /// The line of the file around the column, without its end; `None` where no line is meant.
    pub excerpt: Option<String>,
    /// How many characters of the line are cut before the excerpt: a line may be as long as its file.
    pub skipped: usize,
    /// How many characters from the column on are meant; 0 where the line as a whole is.
    pub width: usize,
    /// Further facts.
    pub also: Vec<String>,
    /// The rule that was broken, with the page that explains it.
    pub rule: Option<&'static str>,
    /// Something to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: impl Into<Code>, origin: Origin, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            origin,
            row: None,
            code: code.into(),
            message: message.into(),
            excerpt: None,
            skipped: 0,
            width: 0,
            also: Vec::new(),
            rule: None,
            hint: None,
        }
    }

    /// A warning at a place.
    pub fn warning(code: impl Into<Code>, origin: Origin, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, origin, message) }
    }

    /// An error about a file as a whole.
    pub fn file_error(code: impl Into<Code>, file: FileId, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, Origin { file, line: 0, col: 0 }, message)
    }

    /// Shows the line, as far as it fits, and marks `width` characters from the column on.
    pub fn excerpt(mut self, line: impl AsRef<str>, width: usize) -> Diagnostic {
        let col = self.origin.col as usize;
        self.skipped = if col + width > SHOWN { col.saturating_sub(SHOWN / 2) } else { 0 };
        self.excerpt = Some(line.as_ref().chars().skip(self.skipped).take(SHOWN).collect());
        self.width = width;
        self
    }

    /// Adds a further fact.
    pub fn also(mut self, fact: impl Into<String>) -> Diagnostic {
        self.also.push(fact.into());
        self
    }

    /// Names the rule.
    pub fn rule(mut self, rule: &'static str) -> Diagnostic {
        self.rule = Some(rule);
        self
    }

    /// Says what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

/// The most characters of a line that are kept; what is longer is cut around the column.
pub(super) const SHOWN: usize = 160;

/// How many diagnostics of one file are kept; the rest is only counted. A source that is wrong throughout would
/// otherwise need more memory than a correct one, and a person does not read more.
const KEPT_PER_FILE: usize = 200;

/// Collects diagnostics; does not stop at the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// What was kept.
    list: Vec<Diagnostic>,
    /// The files over the limit, each with how many more diagnostics there were.
    dropped: Vec<(FileId, usize)>,
    /// How many errors there were, kept or dropped.
    errors: usize,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.push(diagnostic);
    }

    /// Adds one of many about a file of any length. `make` is called, and its result kept, only while there are few.
    ///
    /// A reader may read a file in pieces, from top to bottom, each into its own collection: everything that
    /// [`Diagnostics::settle`] would keep is kept.
    pub fn push_bounded(&mut self, file: FileId, make: impl FnOnce() -> Diagnostic) {
        if self.list.len() < KEPT_PER_FILE {
            return self.push(make());
        }
        self.errors += 1;
        match self.dropped.last_mut() {
            Some((last, more)) if *last == file => *more += 1,
            _ => self.dropped.push((file, 1)),
        }
    }

    /// Adds all of `other`.
    pub fn append(&mut self, other: Diagnostics) {
        self.errors += other.errors;
        self.list.extend(other.list);
        self.dropped.extend(other.dropped);
    }

    /// How many errors there were.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Without the warnings.
    pub fn errors(&self) -> Diagnostics {
        let mut errors = self.clone();
        errors.list.retain(|diagnostic| diagnostic.severity == Severity::Error);
        errors
    }

    /// The same, of which no line of a file is shown.
    pub fn without_excerpts(mut self) -> Diagnostics {
        self.list.iter_mut().for_each(|diagnostic| diagnostic.excerpt = None);
        self
    }

    /// Those about files of which `is_wanted` is true.
    pub fn of_files(&self, is_wanted: impl Fn(FileId) -> bool) -> Diagnostics {
        let wanted = |diagnostic: &&Diagnostic| is_wanted(diagnostic.origin.file);
        let list: Vec<Diagnostic> = self.list.iter().filter(wanted).cloned().collect();
        let errors = list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
        let dropped: Vec<(FileId, usize)> = self.dropped.iter().filter(|(file, _)| is_wanted(*file)).copied().collect();
        let errors = errors + dropped.iter().map(|(_, count)| count).sum::<usize>();
        Diagnostics { list, errors, dropped }
    }

    /// How many warnings are kept.
    pub fn warning_count(&self) -> usize {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count()
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What is there, sorted by file, place and code once [`Diagnostics::settle`] ran.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Gives diagnostics other places.
    pub fn move_origins(&mut self, moved: impl Fn(&mut Origin)) {
        self.list.iter_mut().for_each(|diagnostic| moved(&mut diagnostic.origin));
    }

    /// The files of which not all findings were kept, with how many more there were.
    pub fn dropped(&self) -> &[(FileId, usize)] {
        &self.dropped
    }

    /// Sorts by place, drops repeats, and cuts what a file has over the limit.
    pub fn settle(&mut self) {
        self.list.sort_by(|a, b| (a.origin, a.code, &a.message).cmp(&(b.origin, b.code, &b.message)));
        self.list.dedup();
        let mut kept = Vec::with_capacity(self.list.len());
        for of_file in self.list.chunk_by(|a, b| a.origin.file == b.origin.file) {
            kept.extend_from_slice(&of_file[..of_file.len().min(KEPT_PER_FILE)]);
            if of_file.len() > KEPT_PER_FILE {
                self.dropped.push((of_file[0].origin.file, of_file.len() - KEPT_PER_FILE));
            }
        }
        self.list = kept;
        self.dropped.sort_unstable();
        self.dropped.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0 };
            same
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;

    #[test]
    fn a_file_that_is_wrong_throughout_is_counted_not_kept() {
        let file = Files::default().add("x");
        let piece = |first: u32| {
            let mut piece = Diagnostics::default();
            for line in first..first + 1000 {
                piece.push_bounded(file, || Diagnostic::error("bad", Origin::line(file, line), "wrong"));
            }
            piece
        };
        let mut all = piece(1);
        all.append(piece(1001));
        all.settle();
        assert_eq!((all.iter().count(), all.error_count()), (KEPT_PER_FILE, 2000));
        assert_eq!(all.dropped(), [(file, 2000 - KEPT_PER_FILE)]);
        assert_eq!(all.iter().last().map(|last| last.origin.line), Some(KEPT_PER_FILE as u32));
    }
}
