//! The pages of codes as text.

use super::TextOptions;
use super::page::TextPage;
use super::wrap::wrap;
use crate::codes::{CodeFamily, CodePage};

/// Where the pages are, from the root of the project.
const FOLDER: &str = "docs/codes";

/// Renders the page of a code.
pub fn code(page: &CodePage, options: &TextOptions) -> String {
    let mut sheet = TextPage::new(options);
    let kinds: Vec<&str> = page.kinds.iter().map(|kind| kind.says()).collect();
    sheet.painted(0, &sheet.paint.head.clone(), &format!("{}: {}", page.code, listed(&kinds)));
    sheet.part("Means", &page.means);
    sheet.heading("Example");
    for line in &page.example {
        sheet.example(line);
    }
    sheet.part("What to do", &page.advice);
    if let Some(text) = &page.in_a_cloud {
        sheet.part("In a cloud", text);
    }
    let see: Vec<String> = page.see.iter().map(|(says, path)| told(says, path)).collect();
    sheet.part("See", &see.join("; "));
    sheet.out
}

/// Renders the list of all codes.
pub fn codes(families: &[CodeFamily], options: &TextOptions) -> String {
    let mut sheet = TextPage::new(options);
    sheet.line(0, "`zonewright help CODE` says more about a code: an example, and what to do.");
    for family in families {
        sheet.heading(&format!("{} ({FOLDER}/{})", family.title, family.file));
        for page in &family.pages {
            sheet.line(2, page.code);
            sheet.line(6, page.brief());
        }
    }
    sheet.out
}

/// Several things in a sentence.
fn listed(things: &[&str]) -> String {
    match things {
        [init @ .., last] if !init.is_empty() => format!("{} and {last}", init.join(", ")),
        _ => things.concat(),
    }
}

/// A text of a page without the marks of its links; a link to another document says which one that is.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, says, path, behind)) = next_link(rest) {
        out.push_str(before);
        out.push_str(says);
        if path.starts_with("../") {
            out.push_str(&format!(" ({})", told("", path)));
        }
        rest = behind;
    }
    out + rest
}

/// The first link of a text: what is before it, its words, where it leads, and what is behind it.
fn next_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (middle, _) = text.match_indices("](").next()?;
    let start = text[..middle].rfind('[')?;
    let (path, behind) = text[middle + 2..].split_once(')')?;
    Some((&text[..start], &text[start + 1..middle], path, behind))
}

/// Where a document says more: a path from the root of the project, with the section if there is one.
fn told(says: &str, path: &str) -> String {
    let file = path.split('#').next().unwrap_or(path).trim_start_matches("../");
    match says.split_once(": ") {
        Some((_, section)) => format!("docs/{file}, {section}"),
        None => format!("docs/{file}"),
    }
}

impl TextPage<'_> {
    /// Adds a part of a page: its heading, and a paragraph.
    fn part(&mut self, heading: &str, text: &str) {
        self.heading(heading);
        self.out.push_str(&wrap(&without_links(text), self.options.width, 2, 2));
        self.out.push('\n');
    }

    /// Adds a line of an example: as it is, or where it is too wide, broken at blanks and indented further; a word that
    /// is too wide is broken, too.
    fn example(&mut self, line: &str) {
        let indent = 2 + line.len() - line.trim_start().len();
        let (first, rest) = (self.options.width.saturating_sub(indent).max(20), indent + 4);
        let room = first.saturating_sub(4).max(16);
        if line.chars().count() + 2 <= self.options.width {
            self.out.push_str(&format!("  {line}\n"));
            return;
        }
        let words: Vec<String> = line.trim_start().split(' ').map(|word| broken(word, room)).collect();
        self.out.push_str(&wrap(&words.join(" "), self.options.width, indent, rest));
        self.out.push('\n');
    }
}

/// A word with blanks in it, so that no part is wider than the room.
fn broken(word: &str, room: usize) -> String {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(room).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}
