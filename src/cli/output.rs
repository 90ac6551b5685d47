//! What goes to standard output and standard error, and how.

use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use super::args::{Color, LogFormat, Shared};
use crate::diag::{Diagnostics, Files, Severity, render, sanitize};
use crate::inventory::value::Time;
use crate::pipeline::Findings;
use crate::pipeline::base::Remark;
use crate::provider::TargetError;
use crate::report::{self, TextOptions};

/// Why a command could not do what it was asked; a headline, and what to do.
#[derive(Debug)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(message: impl fmt::Display) -> Failure {
        Failure { message: message.to_string(), hint: None }
    }

    /// Says what to do.
    pub fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }
}

/// Prints a failure on standard error: the headline as it is where it names a place and a code, else behind `error:`.
pub fn failure(shared: &Shared, failure: &Failure) {
    let message = sanitize(&failure.message);
    let hint = failure.hint.as_deref().map(sanitize);
    if shared.log_format == LogFormat::Json {
        tracing::error!(hint, "{message}");
        return;
    }
    let start = if message.contains("error[") { "" } else { "error: " };
    let hint = hint.map(|hint| format!("  = hint: {hint}\n")).unwrap_or_default();
    // A standard error that nobody reads leaves nothing to be done about it.
    let _ = write!(std::io::stderr().lock(), "{start}{message}\n{hint}");
    point_to_help(shared, &message);
}

/// Prints a warning about a place on standard error; under `--quiet` nothing.
pub fn warning(shared: &Shared, place: &str, code: &str, message: &str) {
    let (place, message) = (sanitize(place), sanitize(message));
    match shared.log_format {
        LogFormat::Json => tracing::warn!(place = &*place, code, "{message}"),
        LogFormat::Text if shared.quiet => {}
        // A standard error that nobody reads leaves nothing to be done about it.
        LogFormat::Text => drop(writeln!(std::io::stderr().lock(), "{place}: warning[{code}]: {message}")),
    }
}

/// Writes text to standard output.
///
/// A reader that closes the pipe early, as `head` does, has read what it wanted: that is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Warns that the state has not seen all that was applied, so that it does not know all that is own.
fn forgotten(shared: &Shared, found: &Findings) {
    let zones: Vec<String> = found.forgotten.iter().map(|zone| format!("`{zone}`")).collect();
    if zones.is_empty() {
        return;
    }
    let message = format!(
        "the markers of {} are of applies that this state has not seen: it does not know all RRsets that are own, and \
         `apply` will refuse (docs/state.md)",
        zones.join(", ")
    );
    warning(shared, "the state", "state-lost", &message);
}

/// Prints what was found in files, and the zones that could not be read, on standard error.
///
/// Under `--quiet` warnings are left out.
pub fn findings(shared: &Shared, findings: &Findings) {
    forgotten(shared, findings);
    for Remark { place, code, message } in &findings.base {
        warning(shared, place, code, message);
    }
    if shared.log_format == LogFormat::Json {
        log_findings(findings);
        return;
    }
    let told = told(shared, findings);
    // A standard error that nobody reads leaves nothing to be done about it.
    let _ = std::io::stderr().lock().write_all(told.as_bytes());
    point_to_help(shared, &told);
}

/// Says once, to a person at a terminal, where a code that was just printed is explained. Logs and pipelines are spared it.
fn point_to_help(shared: &Shared, told: &str) {
    /// Whether it was said.
    static SAID: AtomicBool = AtomicBool::new(false);
    let has_code = told.contains(" error[") || told.contains(" warning[");
    let is_read = has_code && !shared.quiet && shared.log_format == LogFormat::Text && std::io::stderr().is_terminal();
    if is_read && !SAID.swap(true, Ordering::Relaxed) {
        // As above.
        let _ = writeln!(std::io::stderr().lock(), "`zonewright help CODE` explains a code");
    }
}

/// Prints what a check found as [`findings`] does, so that GitHub takes nothing of it for a command: it looks for those on
/// standard error too. Nothing is printed where messages are JSON, which cannot be kept from holding one.
pub fn findings_inert(shared: &Shared, findings: &Findings) {
    if shared.log_format == LogFormat::Text {
        // As above.
        let _ = std::io::stderr().lock().write_all(report::inert(&told(shared, findings)).as_bytes());
    }
}

/// What was found in files, and the zones that could not be read; under `--quiet` without warnings.
fn told(shared: &Shared, findings: &Findings) -> String {
    let mut text = String::new();
    for (files, diagnostics) in findings.in_files() {
        match shared.quiet {
            true => text.push_str(&render(&diagnostics.errors(), files)),
            false => text.push_str(&render(diagnostics, files)),
        }
    }
    text.push_str(&unread(findings));
    text
}

/// Prints the zones that could not be read, and how much was found in files, on standard error.
///
/// For answers about one thing, to which most of what is wrong in files does not matter. With `-v`, and in JSON, all of
/// it is told as [`findings`] does.
pub fn findings_in_short(shared: &Shared, found: &Findings) {
    if shared.verbose > 0 || shared.log_format == LogFormat::Json {
        return findings(shared, found);
    }
    forgotten(shared, found);
    let mut text = unread(found);
    let count: usize = found.in_files().map(|(_, diagnostics)| diagnostics.iter().count()).sum();
    let findings = match count {
        0 => None,
        1 => Some("1 finding".to_owned()),
        count => Some(format!("{count} findings")),
    };
    if let Some(findings) = findings.filter(|_| !shared.quiet) {
        text.push_str(&format!("note: {findings} in files of the workspace; -v or `zonewright check` lists them\n"));
    }
    // As above.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Prints on standard error what was found in the files of zones, where that is why they could not be read or written.
pub fn details(shared: &Shared, problems: &[TargetError]) {
    let mut text = String::new();
    for (files, found) in problems.iter().filter_map(|problem| problem.findings.as_deref()) {
        match shared.log_format {
            LogFormat::Json => log_diagnostics(files, found),
            LogFormat::Text => text.push_str(&render(&found.errors(), files)),
        }
    }
    // As above.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The zones that could not be read, and what to do about it.
fn unread(findings: &Findings) -> String {
    let mut text = String::new();
    for error in &findings.unread {
        text.push_str(&format!("{}\n", sanitize(&error.to_string())));
        if let Some(hint) = &error.hint {
            text.push_str(&format!("  = hint: {}\n", sanitize(hint)));
        }
    }
    text
}

/// Logs each finding as an event with its fields.
fn log_findings(findings: &Findings) {
    for (files, diagnostics) in findings.in_files() {
        log_diagnostics(files, diagnostics);
    }
    for error in &findings.unread {
        let hint = error.hint.as_deref().unwrap_or_default();
        tracing::error!(place = error.place, code = error.code, hint, "{}", error.message);
    }
}

/// Logs what was found in files.
fn log_diagnostics(files: &Files, diagnostics: &Diagnostics) {
    for found in diagnostics.iter() {
        let file = files.name(found.origin.file);
        let (line, col) = (found.origin.line, found.origin.col);
        let (code, hint) = (found.code, found.hint.as_deref().unwrap_or_default());
        match found.severity {
            Severity::Error => tracing::error!(file, line, col, code, hint, "{}", found.message),
            Severity::Warning => tracing::warn!(file, line, col, code, hint, "{}", found.message),
        }
    }
}

/// The reason that somebody gives, where there has to be one.
///
/// Errors: there is none: `message` says why it is needed, `hint` what to say.
pub fn reason<'a>(shared: &'a Shared, message: &str, hint: &str) -> Result<&'a str, Failure> {
    let given = shared.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    given.ok_or_else(|| Failure::new(message).hint(hint))
}

/// The clock that ages are measured against: what the command line says, else the machine's.
pub fn now(shared: &Shared) -> Result<Time, Failure> {
    match shared.now {
        Some(now) => Ok(now),
        None => Time::from_timestamp(jiff::Timestamp::now())
            .ok_or_else(|| Failure::new("the machine's clock is centuries off").hint("set it, or give `--now`")),
    }
}

/// Whether standard output gets colour.
pub fn color(shared: &Shared) -> bool {
    match shared.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// How reports are printed: how wide, how long, with colour or not.
pub fn text_options(shared: &Shared) -> TextOptions {
    TextOptions { color: color(shared), width: width(), verbose: shared.verbose > 0, ..TextOptions::default() }
}

/// The columns of standard output: the terminal's, else 80, so that a file does not depend on who wrote it.
pub fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(80, |(width, _)| usize::from(width.0))
}
