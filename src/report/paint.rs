//! Colours, all of them empty where none are wanted.

use std::ops::Range;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

/// The escape sequence that begins each style, and the one that ends them all.
#[derive(Debug, Serialize)]
pub struct Paint {
    /// Headings.
    pub head: String,
    /// What is created, and new data.
    pub create: String,
    /// What is modified.
    pub modify: String,
    /// What is deleted, and old data.
    pub delete: String,
    /// What needs a person.
    pub alarm: String,
    /// What matters less.
    pub dim: String,
    /// The parts that differ.
    pub mark: String,
    /// Ends all.
    pub off: String,
}

impl Paint {
    /// The styles, or nothing.
    pub fn new(color: bool) -> Paint {
        let on = |style: Style| if color { style.render().to_string() } else { String::new() };
        Paint {
            head: on(Style::new().bold()),
            create: on(AnsiColor::Green.on_default()),
            modify: on(AnsiColor::Yellow.on_default()),
            delete: on(AnsiColor::Red.on_default()),
            alarm: on(AnsiColor::Red.on_default().bold()),
            dim: on(Style::new().dimmed()),
            mark: on(Style::new().bold().underline()),
            off: if color { anstyle::Reset.render().to_string() } else { String::new() },
        }
    }

    /// Whether there are colours.
    pub fn is_on(&self) -> bool {
        !self.off.is_empty()
    }

    /// Paints a text in `style`, and `parts` of it as what differs.
    pub fn marked(&self, style: &str, text: &str, parts: &[Range<usize>]) -> String {
        let mut out = style.to_owned();
        let mut done = 0;
        for part in parts {
            out.extend([&text[done..part.start], &self.mark, &text[part.clone()], &self.off, style]);
            done = part.end;
        }
        out.extend([&text[done..], &self.off]);
        out
    }
}
