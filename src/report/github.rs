//! What a check found as annotations on the files of a pull request at GitHub.
//!
//! A workflow command is a line `::error file=…,line=…::message` on standard output. What is escaped, and how, is what
//! GitHub's toolkit and runner do: no data can end the line, or the command's head, or begin another.

use std::fmt::Write as _;

use super::checked::CheckReport;
use super::summary::counted;
use crate::diag::{Code, Diagnostic, Severity, sanitize};

/// How many annotations of each kind GitHub shows of one step; it leaves out the others without a word.
/// Source: docs/problem-matchers.md of github.com/actions/toolkit, limitations.
const SHOWN: usize = 10;

/// The title of each annotation.
const TITLE: &str = "zonewright";

/// Renders what a check found: errors first, as GitHub shows a few; without warnings where these are not wanted.
pub fn annotations(checked: &CheckReport<'_>, has_warnings: bool) -> String {
    let mut out = String::new();
    for error in &checked.unread {
        let hint = error.hint.as_deref().map(|hint| ("hint", hint));
        let text = lines(error.code, &format!("{}: {}", error.place, error.message), hint.into_iter());
        command(&mut out, "error", &[], &text);
    }
    write(&mut out, checked, Severity::Error);
    let found = checked.found.iter();
    let errors = checked.unread.len() + found.map(|(_, diagnostics)| diagnostics.error_count()).sum::<usize>();
    let mut warnings = 0;
    if has_warnings {
        write(&mut out, checked, Severity::Warning);
        warnings = checked.found.iter().map(|(_, diagnostics)| diagnostics.warning_count()).sum();
    }
    if errors > SHOWN || warnings > SHOWN {
        let left = [(errors, "error"), (warnings, "warning")].map(|(count, what)| (count.saturating_sub(SHOWN), what));
        let left: Vec<String> =
            left.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what)).collect();
        let text =
            format!("{} more: GitHub shows {SHOWN} of a kind; the log of this step lists all", left.join(" and "));
        command(&mut out, "notice", &[], &text);
    }
    out
}

/// Writes the findings of one kind, in their order.
fn write(out: &mut String, checked: &CheckReport<'_>, severity: Severity) {
    let name = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    for (files, diagnostics) in &checked.found {
        for found in diagnostics.iter().filter(|found| found.severity == severity) {
            let Diagnostic { origin, code, message, also, hint, .. } = found;
            let mut place = vec![("file", checked.path(files.name(origin.file)))];
            let numbers = [("line", origin.line), ("col", origin.col)];
            let numbers = numbers.iter().filter(|(_, number)| origin.line > 0 && *number > 0);
            place.extend(numbers.map(|(name, number)| (*name, number.to_string())));
            let more = also.iter().map(|fact| ("also", fact)).chain(hint.iter().map(|hint| ("hint", hint)));
            command(out, name, &place, &lines(*code, message, more.map(|(what, text)| (what, text.as_str()))));
        }
    }
}

/// A message with its code, and below it what else there is to say.
fn lines<'a>(code: Code, message: &str, more: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let more: String = more.map(|(what, text)| format!("\n{what}: {}", sanitize(text))).collect();
    format!("{code}: {}{more}", sanitize(message))
}

/// Writes a command. `text` is sanitized, but for the ends of its lines.
fn command(out: &mut String, name: &str, place: &[(&str, String)], text: &str) {
    let _ = write!(out, "::{name} ");
    for (key, value) in place {
        let _ = write!(out, "{key}={},", property(&sanitize(value)));
    }
    let _ = writeln!(out, "title={TITLE}::{}", data(text));
}

/// Escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes what a log at GitHub would read as a command in text for people: two colons at the beginning of a line.
/// [`sanitize`] has already escaped what may be a command elsewhere in a line.
pub fn inert(text: &str) -> String {
    let line = |line: &str| match line.trim_start().strip_prefix("::") {
        Some(rest) => format!("{}\\u{{3a}}:{rest}", &line[..line.len() - line.trim_start().len()]),
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::diag::Problem;
    use crate::diag::{Diagnostics, Files, Origin};

    /// The annotations of some findings in a file, and of a zone that could not be read.
    fn shown(file: &str, found: Vec<Diagnostic>, unread: &[Problem]) -> String {
        let mut files = Files::default();
        files.add(file);
        let mut diagnostics = Diagnostics::default();
        found.into_iter().for_each(|one| diagnostics.push(one));
        let read = BTreeSet::new();
        let found = vec![(&files, &diagnostics)];
        annotations(
            &CheckReport { folder: Path::new("dns"), read: &read, found, unread: unread.iter().collect() },
            true,
        )
    }

    /// The first file.
    fn file() -> crate::diag::FileId {
        Files::default().add("x")
    }

    /// An error with everything.
    fn error(text: &str) -> Diagnostic {
        let origin = Origin { file: file(), line: 412, col: 15 };
        Diagnostic::error("not-a-64", origin, text).also(text).hint(text)
    }

    /// What a runner makes of a line: name, properties, message.
    ///
    /// Source: `ActionCommand.cs` of github.com/actions/runner.
    fn read(line: &str) -> (String, Vec<(String, String)>, String) {
        let unescaped = |text: &str, escapes: &[(&str, &str)]| {
            escapes.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
        };
        let ends = [("%0D", "\r"), ("%0A", "\n"), ("%25", "%")];
        let all = [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")];
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (name, properties) = head.split_once(' ').unwrap();
        let pair = |text: &str| {
            let (key, value) = text.split_once('=').unwrap();
            (key.to_owned(), unescaped(value, &all))
        };
        (name.to_owned(), properties.split(',').map(pair).collect(), unescaped(message, &ends))
    }

    #[test]
    fn errors_come_first_and_carry_code_and_hint() {
        let warning = Diagnostic::warning("odd", Origin::line(file(), 3), "100% odd, as it were: yes");
        let whole = Diagnostic::file_error("cut", file(), "the file was cut");
        let unread = Problem::new("zones/a.zone", "zone-missing", "there is no file").hint("create it");
        let text = shown("racktables/a,b:c.txt", vec![warning, error("wrong"), whole], &[unread]);
        insta::assert_snapshot!(text, @r"
        ::error title=zonewright::zone-missing: zones/a.zone: there is no file%0Ahint: create it
        ::error file=dns/racktables/a%2Cb%3Ac.txt,line=412,col=15,title=zonewright::not-a-64: wrong%0Aalso: wrong%0Ahint: wrong
        ::error file=dns/racktables/a%2Cb%3Ac.txt,title=zonewright::cut: the file was cut
        ::warning file=dns/racktables/a%2Cb%3Ac.txt,line=3,title=zonewright::odd: 100%25 odd, as it were: yes
        ");
    }

    #[test]
    fn what_github_does_not_show_is_counted() {
        let errors = |count: u32| (0..count).map(|line| Diagnostic::error("bad", Origin::line(file(), line + 1), "x"));
        let warning = Diagnostic::warning("odd", Origin::line(file(), 3), "odd");
        let few = shown("x", errors(10).chain([warning.clone()]).collect(), &[]);
        assert_eq!(few.lines().filter(|line| line.starts_with("::notice")).count(), 0);
        let many = shown("x", errors(13).chain(vec![warning; 11]).collect(), &[]);
        let last = "::notice title=zonewright::3 errors and 1 warning more: GitHub shows 10 of a kind; the log of this step lists all";
        assert_eq!(many.lines().last(), Some(last));
    }

    #[test]
    fn text_for_people_begins_no_command() {
        let text = "::add-mask::a: error[x]: y\n  ::b::c\n  3 | ::d::e\nplain";
        assert_eq!(inert(text), "\\u{3a}:add-mask::a: error[x]: y\n  \\u{3a}:b::c\n  3 | ::d::e\nplain");
    }

    proptest! {
        #[test]
        fn no_data_begin_another_command(
            text in "([a-z]|\n|\r|::|%0A|%25|%|,|=|##\\[add-mask\\]|::set-output name=x::|\u{1b}|\u{2028}){0,12}",
        ) {
            let unread = Problem::new(text.clone(), "zone-missing", text.clone()).hint(text.clone());
            let name = format!("f{text}");
            let out = shown(&name, vec![error(&text)], &[unread]);
            let lines: Vec<&str> = out.split(['\n', '\r']).collect();
            prop_assert_eq!(lines.len(), 3, "{:?}", out);
            prop_assert!(!out.contains("##["));
            let told = sanitize(&text);
            let (command, properties, message) = read(lines[0]);
            prop_assert_eq!((&*command, properties), ("error", vec![("title".to_owned(), TITLE.to_owned())]));
            prop_assert_eq!(message, format!("zone-missing: {told}: {told}\nhint: {told}"));
            let (command, properties, message) = read(lines[1]);
            prop_assert_eq!(&*command, "error");
            let names: Vec<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
            prop_assert_eq!(names, ["file", "line", "col", "title"]);
            prop_assert_eq!(&properties[0].1, &format!("dns/{}", sanitize(&name)));
            prop_assert_eq!(message, format!("not-a-64: {told}\nalso: {told}\nhint: {told}"));
        }
    }
}
