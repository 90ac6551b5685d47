//! Diagnostics as text.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::diagnostic::{Diagnostic, Diagnostics, SHOWN, Severity};
use super::origin::Files;
use super::wrap::fit;

/// Renders all diagnostics, one after another, as plain text that no terminal treats as commands. Each headline and each note
/// is one line, however long: for files, logs and `grep`.
pub fn render(diagnostics: &Diagnostics, files: &Files) -> String {
    render_in(usize::MAX, diagnostics, files)
}

/// Renders all diagnostics as [`render`] does, in lines of at most `width` columns: for a terminal.
pub fn render_in(width: usize, diagnostics: &Diagnostics, files: &Files) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        render_one(&mut out, width, diagnostic, files);
    }
    for (file, more) in diagnostics.dropped() {
        let _ = writeln!(out, "{}: {more} more findings are not shown", sanitize(files.name(*file)));
    }
    out
}

/// Renders one: the headline for grep and editors, the line with a mark, then the notes.
fn render_one(out: &mut String, width: usize, diagnostic: &Diagnostic, files: &Files) {
    let origin = diagnostic.origin;
    let file = sanitize(files.name(origin.file));
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = match (origin.line, origin.col) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, col) => format!("{file}:{line}:{col}"),
    };
    let code = diagnostic.code;
    let headline = format!("{place}: {severity}[{code}]: {}", sanitize(&diagnostic.message));
    let _ = writeln!(out, "{}", fit(&headline, width, 0, HANGING));
    let number = origin.line.to_string();
    let margin = " ".repeat(number.len());
    if let Some(excerpt) = &diagnostic.excerpt {
        let before = (origin.col as usize).saturating_sub(1 + diagnostic.skipped);
        // A mark below a whole line says nothing.
        let is_part = before > 0 || diagnostic.width < excerpt.chars().count();
        let room = width.saturating_sub(margin.len() + EXCERPT_MARGIN).max(1);
        let cut = left_out(excerpt.chars().count(), before, diagnostic.width, room);
        let excerpt: String = excerpt.chars().skip(cut).take(room).collect();
        let before = before - cut;
        let _ = writeln!(out, "  {number} | {}", sanitize(&excerpt));
        if origin.col > 0 && diagnostic.width > 0 && is_part {
            let carets = columns(&excerpt, before, diagnostic.width.min(SHOWN / 2));
            let _ =
                writeln!(out, "  {margin} | {}{}", " ".repeat(columns(&excerpt, 0, before)), "^".repeat(carets.max(1)));
        }
    }
    let rule = diagnostic.rule.map(|rule| format!("{rule} (zonewright help {code})"));
    let notes = diagnostic.also.iter().map(|fact| ("also", fact.as_str()));
    let notes = notes.chain(rule.as_deref().map(|rule| ("rule", rule)));
    for (kind, text) in notes.chain(diagnostic.hint.as_deref().map(|hint| ("hint", hint))) {
        let note = format!("= {kind}: {}", sanitize(text));
        let first = margin.len() + 3;
        let _ = writeln!(out, "{}", fit(&note, width, first, first + kind.len() + 4));
    }
}

/// The columns by which a headline is indented that goes on in another line.
const HANGING: usize = 4;

/// The columns of a line with an excerpt that are neither excerpt nor line number.
const EXCERPT_MARGIN: usize = 5;

/// How many characters at the start of an excerpt are left out, so that what is marked is among the `room` that are shown.
fn left_out(length: usize, before: usize, marked: usize, room: usize) -> usize {
    if length <= room || before + marked <= room {
        0
    } else {
        before.saturating_sub(room / 3).min(length - room.min(length)).min(before)
    }
}

/// How many columns `count` characters of a line take on a terminal, after the first `from`.
fn columns(line: &str, from: usize, count: usize) -> usize {
    let part: String = line.chars().skip(from).take(count).collect();
    sanitize(&part).width()
}

/// Makes text harmless to a terminal and to the log of a pipeline: control characters, those that reorder text, and the
/// second `#` of what begins a command in such logs, become `\u{…}`.
///
/// A tab becomes one blank, so that marks stay below what they mark.
pub fn sanitize(text: &str) -> String {
    if text.bytes().all(|octet| (b' '..=b'~').contains(&octet)) && !text.contains("##") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for (place, c) in text.char_indices() {
        match c {
            '\t' => out.push(' '),
            c if c.is_control() || is_formatting(c) || (c == '#' && begins_command(&text[..place], &text[place..])) => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// Whether a `#` begins a command in the log of a pipeline, given the text before it and the text from it on: `##[` of
/// GitHub, `##vso[` of Azure, `##teamcity[`, anywhere in a line.
fn begins_command(before: &str, from: &str) -> bool {
    before.ends_with('#') && from[1..].trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('[')
}

/// Whether a code point is none of a text (Unicode section 23.7): browsers call it an error.
pub fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || c as u32 & 0xfffe == 0xfffe
}

/// Whether a character is invisible or changes the direction of text (Unicode Standard Annex 9, and Unicode's format
/// characters except those that Arabic and other scripts show), or is none.
pub fn is_formatting(c: char) -> bool {
    is_noncharacter(c)
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Origin;

    #[test]
    fn a_finding_shows_place_line_mark_and_notes() {
        let mut files = Files::default();
        let file = files.add("racktables/l3-tors.txt");
        let mut all = Diagnostics::default();
        let origin = Origin { file, line: 412, col: 15 };
        all.push(
            Diagnostic::error("not-a-64", origin, "`2a02:6b8:0:1600::/63` is not a /64")
                .excerpt("sas1-s12  604  2a02:6b8:0:1600::/63", 20)
                .rule("switch and VLAN give exactly one /64")
                .hint("correct the prefix"),
        );
        insta::assert_snapshot!(render(&all, &files), @r"
        racktables/l3-tors.txt:412:15: error[not-a-64]: `2a02:6b8:0:1600::/63` is not a /64
          412 | sas1-s12  604  2a02:6b8:0:1600::/63
              |               ^^^^^^^^^^^^^^^^^^^^
              = rule: switch and VLAN give exactly one /64 (zonewright help not-a-64)
              = hint: correct the prefix
        ");
    }

    #[test]
    fn a_finding_fits_a_narrow_terminal() {
        let mut files = Files::default();
        let origin = Origin { file: files.add("racktables/hosts.csv"), line: 12, col: 71 };
        let line = format!("{}here{}", "a".repeat(70), "b".repeat(30));
        let finding = Diagnostic::error("bad-value", origin, "`here` is none of the words that this field may have")
            .excerpt(&line, 4)
            .rule("a field has one of the words that its format lists, and no other")
            .hint("correct the field in the system that exports it");
        let mut all = Diagnostics::default();
        all.push(finding);
        let text = render_in(50, &all, &files);
        assert!(text.lines().all(|line| line.width() <= 50), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        let excerpt = lines.iter().position(|line| line.contains("here") && line.contains(" | "));
        let excerpt = excerpt.expect("the excerpt shows what is marked");
        assert_eq!(lines[excerpt + 1].find('^'), lines[excerpt].find("here"), "{text}");
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat(&text).contains("and no other (zonewright help bad-value)"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let mut files = Files::default();
        let origin = Origin { file: files.add("x"), line: 1, col: 1001 };
        let line = format!("{}here{}", "a".repeat(1000), "b".repeat(1000));
        let mut all = Diagnostics::default();
        all.push(Diagnostic::error("bad", origin, "wrong").excerpt(&line, 4));
        let text = render(&all, &files);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2].find('^'), lines[1].find("here"));
        assert!(text.len() < 500);
    }

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(sanitize("\u{61c}\u{ad}\u{e0041}"), "\\u{61c}\\u{ad}\\u{e0041}");
        assert_eq!(sanitize("a\u{1b}[31m\u{9b}b\u{202e}c\td"), "a\\u{1b}[31m\\u{9b}b\\u{202e}c d");
    }

    #[test]
    fn nothing_reaches_the_log_of_a_pipeline_as_a_command() {
        assert_eq!(sanitize("x ##[add-mask]a ###[b"), "x #\\u{23}[add-mask]a ##\\u{23}[b");
        assert_eq!(sanitize("##vso[task.setvariable variable=a]b"), "#\\u{23}vso[task.setvariable variable=a]b");
        assert_eq!(sanitize("## heading [1] # # [2]"), "## heading [1] # # [2]");
    }
}
