//! Reports of tests in JUnit's XML, as GitLab, Jenkins and reporters of GitHub show them.
//!
//! There is no standard. What is written here passes the schema of Jenkins (`junit-10.xsd` of its xUnit plugin).
//! Readers differ: GitLab shows the text of an element and no `message`, Jenkins both; GitLab groups by `classname` and
//! keeps only the first of test cases that are called alike, so that no two are.

mod check;

mod plan;

use std::collections::HashSet;
use std::fmt::Write as _;

pub use self::check::check;
pub use self::plan::plan;

use crate::diag::{Code, sanitize};

/// Some test cases.
struct TestSuite {
    /// What it is called.
    name: String,
    /// What its cases are grouped by.
    class: String,
    /// The file that it is about.
    file: Option<String>,
    /// When it was run.
    created: Option<String>,
    /// What else is known.
    properties: Vec<(&'static str, String)>,
    /// The cases.
    cases: Vec<TestCase>,
}

impl TestSuite {
    /// A suite of which nothing but the cases is known; they are grouped by its name.
    fn new(name: String, cases: Vec<TestCase>) -> TestSuite {
        TestSuite { class: name.clone(), name, file: None, created: None, properties: Vec::new(), cases }
    }
}

/// One test case.
struct TestCase {
    /// What is tested.
    name: String,
    /// The outcome.
    outcome: CaseOutcome,
}

impl TestCase {
    /// A case that passed, with something to know of it, or nothing.
    fn passed(name: impl Into<String>, says: impl Into<String>) -> TestCase {
        TestCase { name: name.into(), outcome: CaseOutcome::Passed { says: says.into() } }
    }

    /// A case that failed, with what to do about it.
    fn failed(name: impl Into<String>, code: impl Into<Code>, message: &str, hint: Option<&str>) -> TestCase {
        let hint = hint.filter(|hint| !hint.is_empty()).map(|hint| format!("\nhint: {}", sanitize(hint)));
        let body = format!("{}{}", sanitize(message), hint.unwrap_or_default());
        TestCase {
            name: name.into(),
            outcome: CaseOutcome::Failed { code: code.into(), message: message.to_owned(), body },
        }
    }
}

/// The outcome of a test case. Texts of several lines are sanitized line by line.
enum CaseOutcome {
    /// Nothing is wrong.
    Passed {
        /// What there is to know of it; may be empty.
        says: String,
    },
    /// It was not looked at.
    Skipped {
        /// The code.
        code: Code,
        /// Why.
        message: String,
    },
    /// Something must be fixed.
    Failed {
        /// The code.
        code: Code,
        /// What is wrong.
        message: String,
        /// The same in full, with what to do.
        body: String,
    },
}

/// What is counted: cases, failures, skipped cases.
#[derive(Default)]
struct CaseCounts([usize; 3]);

impl CaseCounts {
    /// Counts the cases of a suite.
    fn of(suite: &TestSuite) -> CaseCounts {
        let count = |wanted: fn(&CaseOutcome) -> bool| suite.cases.iter().filter(|case| wanted(&case.outcome)).count();
        CaseCounts([
            suite.cases.len(),
            count(|outcome| matches!(outcome, CaseOutcome::Failed { .. })),
            count(|outcome| matches!(outcome, CaseOutcome::Skipped { .. })),
        ])
    }
}

/// Writes suites as a document, without those that have no cases.
fn document(name: &str, suites: &[TestSuite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut total = CaseCounts::default();
    for suite in suites {
        total.0.iter_mut().zip(CaseCounts::of(suite).0).for_each(|(sum, more)| *sum += more);
    }
    let CaseCounts([tests, failures, _]) = total;
    // Formatting into a String cannot fail, here and below.
    let _ = writeln!(
        out,
        "<testsuites name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">",
        attribute(name)
    );
    let mut known = HashSet::new();
    suites.iter().filter(|suite| !suite.cases.is_empty()).for_each(|suite| write_suite(&mut out, suite, &mut known));
    out.push_str("</testsuites>\n");
    out
}

/// Writes a suite.
fn write_suite(out: &mut String, suite: &TestSuite, known: &mut HashSet<(String, String)>) {
    let CaseCounts([tests, failures, skipped]) = CaseCounts::of(suite);
    let _ = write!(
        out,
        "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"",
        attribute(&suite.name)
    );
    for (name, value) in [("file", &suite.file), ("timestamp", &suite.created)] {
        if let Some(value) = value {
            let _ = write!(out, " {name}=\"{}\"", attribute(value));
        }
    }
    out.push_str(">\n");
    if !suite.properties.is_empty() {
        out.push_str("    <properties>\n");
        for (name, value) in &suite.properties {
            let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", attribute(value));
        }
        out.push_str("    </properties>\n");
    }
    let class = attribute(&suite.class);
    for case in &suite.cases {
        write_case(out, &class, case, known);
    }
    out.push_str("  </testsuite>\n");
}

/// Writes a case, under a name that no other of its class has.
fn write_case(out: &mut String, class: &str, case: &TestCase, known: &mut HashSet<(String, String)>) {
    let plain = attribute(&case.name);
    let names = std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain} ({number})")));
    let mut fresh = names.filter(|name| known.insert((class.to_owned(), name.clone())));
    let name = fresh.next().expect("there are names without end");
    let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\"");
    let inner = match &case.outcome {
        CaseOutcome::Passed { says } if says.is_empty() => {
            out.push_str("/>\n");
            return;
        }
        CaseOutcome::Passed { says } => format!("<system-out>{}</system-out>", escaped(says)),
        CaseOutcome::Skipped { code, message } => {
            format!("<skipped type=\"{code}\" message=\"{}\">{}</skipped>", attribute(message), attribute(message))
        }
        CaseOutcome::Failed { code, message, body } => {
            format!("<failure type=\"{code}\" message=\"{}\">{}</failure>", attribute(message), escaped(body))
        }
    };
    let _ = writeln!(out, ">\n      {inner}\n    </testcase>");
}

/// A text of one line, for an attribute.
fn attribute(text: &str) -> String {
    escaped(&sanitize(text))
}

/// Any text as XML 1.0 can hold it: characters that it forbids become `\u{…}` (section 2.2).
fn escaped(text: &str) -> String {
    let mut legal = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => legal.push(c),
            _ => {
                let _ = write!(legal, "\\u{{{:x}}}", c as u32);
            }
        }
    }
    quick_xml::escape::escape(legal).into_owned()
}

#[cfg(test)]
mod tests;
