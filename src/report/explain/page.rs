//! A page of text: headings, facts with their labels, and the lines below them.

use super::super::paint::Paint;
use super::super::text::TextOptions;
use super::super::wrap::wrap;
use crate::diag::sanitize;

/// The columns that labels take.
const LABEL: usize = 12;

/// Text that is written from top to bottom. Whatever is written is sanitized and kept within the width.
pub struct ExplainPage {
    /// What was written.
    out: String,
    /// The columns to keep within.
    width: usize,
    /// The evidence that was shown last.
    evidence: Vec<String>,
    /// The styles.
    pub paint: Paint,
}

impl ExplainPage {
    /// An empty page.
    pub fn new(options: &TextOptions) -> ExplainPage {
        ExplainPage { out: String::new(), width: options.width, evidence: Vec::new(), paint: Paint::new(options.color) }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.out
    }

    /// Whether evidence is the same as what was shown last: most changes of a host depend on the same lines.
    pub fn is_as_above(&mut self, evidence: &[String]) -> bool {
        let same = self.evidence == evidence;
        self.evidence = evidence.to_vec();
        same
    }

    /// A paragraph, from the left edge.
    pub fn paragraph(&mut self, text: &str) {
        self.line(text, 0, 0);
    }

    /// The heading of a section, behind a blank line.
    pub fn heading(&mut self, text: &str) {
        let (head, off) = (&self.paint.head, &self.paint.off);
        let text = wrap(&sanitize(text), self.width, 0, 2);
        self.evidence.clear();
        self.out.push_str(&format!("\n{head}{text}{off}\n"));
    }

    /// A fact: its label, then what it is.
    pub fn fact(&mut self, label: &str, text: &str) {
        let text = wrap(&sanitize(text), self.width, 2 + LABEL, 2 + LABEL);
        self.out.push_str(&format!("  {label:<LABEL$}{}\n", text.trim_start()));
    }

    /// A line at some depth; what does not fit is indented further.
    pub fn item(&mut self, depth: usize, text: &str) {
        self.line(text, depth, depth + 2);
    }

    /// A line at some depth, in a style.
    pub fn styled(&mut self, depth: usize, style: &str, text: &str) {
        let text = wrap(&sanitize(text), self.width, depth, depth + 2);
        let off = if style.is_empty() { "" } else { &self.paint.off };
        self.out.push_str(&format!("{style}{text}{off}\n"));
    }

    /// A line whose blanks are kept; it is short.
    pub fn exact(&mut self, depth: usize, text: &str) {
        self.out.push_str(&format!("{}{}\n", " ".repeat(depth), sanitize(text).trim_end()));
    }

    /// A line, its first row and the others indented so far.
    fn line(&mut self, text: &str, first: usize, rest: usize) {
        self.out.push_str(&wrap(&sanitize(text), self.width, first, rest));
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_harmless_and_keeps_within_the_width() {
        let mut page = ExplainPage::new(&TextOptions { width: 30, ..TextOptions::default() });
        page.heading("A\u{1b}[31m heading");
        page.fact("label", "a fact that takes more than one line");
        page.item(4, "an item that takes more than one line");
        insta::assert_snapshot!(page.finish(), @r"

        A\u{1b}[31m heading
          label       a fact that
                      takes more than
                      one line
            an item that takes more
              than one line
        ");
    }

    #[test]
    fn colour_is_ended_in_each_line() {
        let mut page = ExplainPage::new(&TextOptions { color: true, ..TextOptions::default() });
        page.heading("heading");
        let style = page.paint.alarm.clone();
        page.styled(2, &style, "alarm");
        page.styled(2, "", "plain");
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("\u{1b}[0m") && lines[2].ends_with("\u{1b}[0m"), "{lines:?}");
        assert_eq!(lines[3], "  plain");
    }

    #[test]
    fn the_same_evidence_is_shown_once_in_a_section() {
        let mut page = ExplainPage::new(&TextOptions::default());
        let evidence = ["a:1".to_owned()];
        assert!(!page.is_as_above(&evidence));
        assert!(page.is_as_above(&evidence));
        page.heading("next");
        assert!(!page.is_as_above(&evidence));
    }
}
