//! What goes to standard output and standard error, and how.

use std::ffi::OsString;
use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use super::shared_args::SharedArgs;
use super::values::{Color, LogFormat};
use crate::diag::{CallError, Code, Diagnostics, Files, Problem, Severity, fit, render_in, sanitize};
use crate::inventory::value::Time;
use crate::pipeline::{BaseRemark, Findings};
use crate::report::{self, TextOptions};

/// Why a command could not do what it was asked; a headline, and what to do.
#[derive(Debug)]
pub struct CommandFailure {
    /// What happened.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
    /// What it is a failure of.
    pub kind: FailureKind,
}

/// What a failure is a failure of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Servers, sources, settings, the state or the machine: the same call may do better later.
    World,
    /// The call: the caller reads the message, and no other person is needed.
    Call,
}

impl CommandFailure {
    /// A failure of the world, without a hint.
    pub fn new(message: impl fmt::Display) -> CommandFailure {
        CommandFailure { message: message.to_string(), hint: None, kind: FailureKind::World }
    }

    /// A mistake of the call, without a hint.
    pub fn of_call(message: impl fmt::Display) -> CommandFailure {
        CommandFailure { kind: FailureKind::Call, ..CommandFailure::new(message) }
    }

    /// Says what to do, where it is known.
    pub fn maybe_hint(self, hint: Option<String>) -> CommandFailure {
        CommandFailure { hint, ..self }
    }

    /// Says what to do.
    pub fn hint(self, hint: impl Into<String>) -> CommandFailure {
        CommandFailure { hint: Some(hint.into()), ..self }
    }
}

impl From<Problem> for CommandFailure {
    fn from(problem: Problem) -> CommandFailure {
        CommandFailure::new(&problem).maybe_hint(problem.hint)
    }
}

impl From<CallError> for CommandFailure {
    fn from(error: CallError) -> CommandFailure {
        CommandFailure::of_call(&error).hint(error.hint)
    }
}

/// Prints a failure on standard error: the headline as it is where it names a place and a code, else behind `error:`.
pub fn failure(shared: &SharedArgs, failure: &CommandFailure) {
    let message = sanitize(&failure.message);
    let hint = failure.hint.as_deref().map(sanitize);
    if shared.log_format == LogFormat::Json {
        tracing::error!(hint, "{message}");
        return;
    }
    let start = if message.contains("error[") { "" } else { "error: " };
    // If standard error is closed, there is no place to report that.
    let _ = std::io::stderr().lock().write_all(in_lines(&format!("{start}{message}"), hint.as_deref()).as_bytes());
    point_to_help(shared, &message);
}

/// Prints a failure of a command line that cannot be read on standard error.
pub fn usage_failure(CommandFailure { message, hint, .. }: &CommandFailure) {
    let hint = hint.as_deref().map(sanitize);
    let text = in_lines(&format!("error: {}", sanitize(message)), hint.as_deref());
    // As above.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// A message with its hint, in lines that fit the terminal that standard error is, if it is one.
fn in_lines(message: &str, hint: Option<&str>) -> String {
    let width = stderr_width();
    let hint = hint.map(|hint| fit(&format!("= hint: {hint}"), width, 2, HINT_INDENT) + "\n");
    format!("{}\n{}", fit(message, width, 0, MESSAGE_INDENT), hint.unwrap_or_default())
}

/// The columns by which a message is indented that goes on in another line.
const MESSAGE_INDENT: usize = 4;

/// The columns by which a hint is indented that goes on in another line: those of `  = hint: `.
const HINT_INDENT: usize = 10;

/// Prints a warning about a place on standard error; under `--quiet` nothing.
pub fn warning(shared: &SharedArgs, place: &str, code: impl Into<Code>, message: &str) {
    let code = code.into();
    let (place, message) = (sanitize(place), sanitize(message));
    match shared.log_format {
        LogFormat::Json => tracing::warn!(place = &*place, code = code.as_str(), "{message}"),
        LogFormat::Text if shared.quiet => {}
        // As above.
        LogFormat::Text => drop(writeln!(std::io::stderr().lock(), "{place}: warning[{code}]: {message}")),
    }
}

/// Says what is going on, which is neither an error nor a warning.
pub fn note(format: LogFormat, quiet: bool, message: &str) {
    match format {
        LogFormat::Json => tracing::info!("{message}"),
        LogFormat::Text if quiet => {}
        // If standard error is closed, there is no place to report that.
        LogFormat::Text => drop(writeln!(std::io::stderr().lock(), "note: {message}")),
    }
}

/// Writes text to standard output.
///
/// A reader that closes the pipe early, as `head` does, has read enough: that is no error.
pub fn print(text: &str) -> Result<(), CommandFailure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CommandFailure::new(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Whether pages for people are printed. They are not where messages are JSON, as in an unattended run: there the
/// outcome is an event. Documents (`--format json` and the like) are printed all the same.
pub fn shows_pages(shared: &SharedArgs) -> bool {
    shared.log_format == LogFormat::Text
}

/// Warns that the state has not seen all applies, so that it does not know all own RRsets.
fn forgotten(shared: &SharedArgs, found: &Findings) {
    let zones: Vec<String> = found.forgotten.iter().map(|zone| format!("`{zone}`")).collect();
    if zones.is_empty() {
        return;
    }
    let message = format!(
        "applies that this state does not know wrote the markers of {}: the state lacks some own RRsets, and `apply` \
         will refuse (zonewright help state-lost)",
        zones.join(", ")
    );
    warning(shared, "the state", "state-lost", &message);
}

/// Prints what was found in files, and the zones that could not be read, on standard error.
///
/// Under `--quiet` warnings are left out.
pub fn findings(shared: &SharedArgs, findings: &Findings) {
    remarks(shared, findings);
    if shared.log_format == LogFormat::Json {
        log_findings(findings);
        return;
    }
    write_findings(shared, &rendered(shared, findings));
}

/// Warns of a lost state, and of what is questionable about the base.
fn remarks(shared: &SharedArgs, findings: &Findings) {
    forgotten(shared, findings);
    for BaseRemark { place, code, message } in &findings.base {
        warning(shared, place, *code, message);
    }
}

/// Writes findings to standard error, and says where their codes are explained.
fn write_findings(shared: &SharedArgs, text: &str) {
    // If standard error is closed, there is no place to report that.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
    point_to_help(shared, text);
}

/// Says once, to a person at a terminal, where a code that was just printed is explained. Logs and pipelines do not get
/// it.
fn point_to_help(shared: &SharedArgs, told: &str) {
    /// Whether it was said.
    static SAID: AtomicBool = AtomicBool::new(false);
    let has_code = told.contains(" error[") || told.contains(" warning[");
    let is_read = has_code && !shared.quiet && shared.log_format == LogFormat::Text && std::io::stderr().is_terminal();
    if is_read && !SAID.swap(true, Ordering::Relaxed) {
        // As above.
        let _ = writeln!(std::io::stderr().lock(), "`zonewright help CODE` explains a code");
    }
}

/// Prints what a check found as [`findings`] does, but so that GitHub reads no command in it: GitHub looks for commands
/// on standard error, too. Nothing is printed where messages are JSON, which may hold a command.
pub fn findings_inert(shared: &SharedArgs, findings: &Findings) {
    if shared.log_format == LogFormat::Text {
        // As above.
        let _ = std::io::stderr().lock().write_all(report::inert(&rendered(shared, findings)).as_bytes());
    }
}

/// What was found in files, and the zones that could not be read; under `--quiet` without warnings.
pub fn rendered(shared: &SharedArgs, findings: &Findings) -> String {
    let mut text = String::new();
    for (files, diagnostics) in findings.in_files() {
        if shared.quiet {
            text.push_str(&render_in(stderr_width(), &diagnostics.errors(), files))
        } else {
            text.push_str(&render_in(stderr_width(), diagnostics, files))
        }
    }
    text.push_str(&unread(findings));
    text
}

/// Prints what was found in settings and zones, the zones that could not be read, and how much was found in exports, on
/// standard error.
///
/// What is wrong in exports matters to `check`, and to some hosts, which the plan lists as blocked. With `-v`, in JSON,
/// and where an export as a whole is not believed, all of it is printed as [`findings`] does.
pub fn findings_in_short(shared: &SharedArgs, found: &Findings) {
    if shared.verbose > 0 || shared.log_format == LogFormat::Json || !found.are_exports_believed {
        return findings(shared, found);
    }
    remarks(shared, found);
    let settings = found.diagnostics.of_files(|file| found.is_settings(file));
    let exports = found.diagnostics.of_files(|file| !found.is_settings(file));
    let others = found.in_files().skip(1);
    let mut text = String::new();
    for (files, diagnostics) in std::iter::once((&found.files, &settings)).chain(others) {
        let errors = shared.quiet.then(|| diagnostics.errors());
        text.push_str(&render_in(stderr_width(), errors.as_ref().unwrap_or(diagnostics), files));
    }
    text.push_str(&unread(found));
    text.push_str(&in_exports(shared, &exports));
    write_findings(shared, &text);
}

/// How much was found in exports, in a line; under `--quiet` only where there are errors.
fn in_exports(shared: &SharedArgs, exports: &Diagnostics) -> String {
    let (errors, warnings) = (exports.error_count(), exports.warning_count());
    let counts = [(errors, "error"), (if shared.quiet { 0 } else { warnings }, "warning")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| report::counted(count, what)).collect();
    match counts.as_slice() {
        [] => String::new(),
        counts => format!("note: {} in exports; `zonewright check` lists them\n", counts.join(" and ")),
    }
}

/// Prints on standard error what was found in the files of zones, where that is why they could not be read or written.
pub fn details(shared: &SharedArgs, problems: &[Problem]) {
    let mut text = String::new();
    for (files, found) in problems.iter().filter_map(|problem| problem.findings.as_deref()) {
        match shared.log_format {
            LogFormat::Json => log_diagnostics(files, found),
            LogFormat::Text => text.push_str(&render_in(stderr_width(), &found.errors(), files)),
        }
    }
    // As above.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The zones that could not be read, and what to do about it.
fn unread(findings: &Findings) -> String {
    let mut text = String::new();
    for error in &findings.unread {
        text.push_str(&in_lines(&sanitize(&error.to_string()), error.hint.as_deref().map(sanitize).as_deref()));
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
        tracing::error!(place = error.place, code = error.code.as_str(), hint, "{}", error.message);
    }
}

/// Logs what was found in files.
fn log_diagnostics(files: &Files, diagnostics: &Diagnostics) {
    for found in diagnostics.iter() {
        let file = files.name(found.origin.file);
        let (line, col) = (found.origin.line, found.origin.col);
        let (code, hint) = (found.code.as_str(), found.hint.as_deref().unwrap_or_default());
        match found.severity {
            Severity::Error => tracing::error!(file, line, col, code, hint, "{}", found.message),
            Severity::Warning => tracing::warn!(file, line, col, code, hint, "{}", found.message),
        }
    }
}

/// The `--reason` of a command that needs one.
///
/// Errors: there is none: `message` says why it is needed, `hint` what to say.
pub fn reason<'a>(shared: &'a SharedArgs, message: &str, hint: &str) -> Result<&'a str, CommandFailure> {
    let given = shared.reason.as_deref().filter(|reason| !reason.trim().is_empty());
    given.ok_or_else(|| CommandFailure::new(message).hint(hint))
}

/// The time on the machine's clock; none where that is centuries off.
pub fn clock() -> Option<Time> {
    // People read these times, and nothing needs more digits.
    let now = jiff::Timestamp::now();
    let cut = jiff::TimestampRound::new().smallest(jiff::Unit::Millisecond).mode(jiff::RoundMode::Trunc);
    Time::from_timestamp(now.round(cut).unwrap_or(now))
}

/// The clock that ages are measured against: what the command line says, else the machine's, to the millisecond.
pub fn now(shared: &SharedArgs) -> Result<Time, CommandFailure> {
    match shared.now {
        Some(now) => Ok(now),
        None => clock()
            .ok_or_else(|| CommandFailure::new("the machine's clock is centuries off").hint("set it, or give `--now`")),
    }
}

/// Whether standard output gets colour.
pub fn color(shared: &SharedArgs) -> bool {
    match shared.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_color_asked_for(|name| std::env::var_os(name), std::io::stdout().is_terminal()),
    }
}

/// Whether the variables of the environment, else the terminal, ask for colour. NO_COLOR wins over those that force it.
///
/// Source: no-color.org, force-color.org, bixense.com/clicolors.
fn is_color_asked_for(variable: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> bool {
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is_on = |name: &str| is_set(name) && variable(name).is_some_and(|value| value != "0");
    let is_off = variable("CLICOLOR").is_some_and(|value| value == "0");
    !is_set("NO_COLOR") && (is_on("CLICOLOR_FORCE") || is_on("FORCE_COLOR") || is_terminal && !is_off)
}

/// How many hosts of a project show their changes on a terminal: about three screens of 40 lines.
/// A pipe or a file gets all.
const TERMINAL_HOSTS: usize = 20;

/// How reports are printed: how wide, how long, with colour or not.
pub fn text_options(shared: &SharedArgs) -> TextOptions {
    let (color, verbose) = (color(shared), shared.verbose > 0);
    let max_hosts = (!verbose && std::io::stdout().is_terminal()).then_some(TERMINAL_HOSTS);
    TextOptions { color, width: width(), verbose, max_hosts, ..TextOptions::default() }
}

/// The columns of standard output: what `COLUMNS` says (POSIX.1-2024, section 8.3), else the terminal's, else 80.
/// Shells set `COLUMNS` for themselves and do not export it, so that a plan in a file is 80 columns wide unless an
/// operator asks for another width.
pub fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let of_terminal = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    said.or_else(of_terminal).unwrap_or(80)
}

/// The columns of the terminal that standard error is; without bound where it is a file or a pipe, so that a line is a
/// message.
fn stderr_width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(usize::MAX, |(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether colour is wanted with these variables.
    fn has_color(variables: &[(&str, &str)], is_terminal: bool) -> bool {
        let value = |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value));
        is_color_asked_for(value, is_terminal)
    }

    #[test]
    fn colour_is_forced_and_forbidden_by_the_usual_variables() {
        assert!(has_color(&[], true) && !has_color(&[], false));
        for name in ["CLICOLOR_FORCE", "FORCE_COLOR"] {
            assert!(has_color(&[(name, "1")], false), "{name}");
            assert!(!has_color(&[(name, "0")], false) && !has_color(&[(name, "")], false), "{name}");
            assert!(!has_color(&[(name, "1"), ("NO_COLOR", "1")], true), "{name}");
        }
        assert!(has_color(&[("NO_COLOR", "")], true) && !has_color(&[("CLICOLOR", "0")], true));
    }
}
