//! A page of text with headings and indented paragraphs.

use super::paint::Paint;
use super::text::TextOptions;
use super::wrap::wrap;
use crate::diag::sanitize;

/// Text that is written from top to bottom. Whatever is written is sanitized and kept within the width.
pub struct TextPage<'a> {
    /// What was written.
    pub out: String,
    /// How much is shown, and how.
    pub options: &'a TextOptions,
    /// The styles.
    pub paint: Paint,
}

impl<'a> TextPage<'a> {
    /// An empty page.
    pub fn new(options: &'a TextOptions) -> TextPage<'a> {
        TextPage { out: String::new(), options, paint: Paint::new(options.color) }
    }

    /// Adds a paragraph: the first line indented by `depth`, the others by two more.
    pub fn line(&mut self, depth: usize, text: &str) {
        self.painted(depth, "", text);
    }

    /// Adds a paragraph in a style, which ends in each line, as logs show lines alone.
    pub fn painted(&mut self, depth: usize, style: &str, text: &str) {
        let off = if style.is_empty() { "" } else { &self.paint.off };
        for line in wrap(&sanitize(text), self.options.width, depth, depth + 2).lines() {
            self.out.push_str(&format!("{style}{line}{off}\n"));
        }
    }

    /// Adds a heading, with a blank line above it.
    pub fn heading(&mut self, text: &str) {
        self.out.push('\n');
        let style = self.paint.head.clone();
        self.painted(0, &style, text);
    }
}
