//! The templates: those in the binary, and a workspace's own in their place.

use std::collections::BTreeMap;
use std::fmt;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

use super::wrap;
use crate::diag::sanitize;

/// All templates by the name of their file.
const EMBEDDED: [(&str, &str); 2] = [
    ("plan.txt", include_str!("../../templates/plan.txt")),
    ("plan-host.txt", include_str!("../../templates/plan-host.txt")),
];

/// The parts of the page of a plan, by the name of their file. They are next to the templates, and nothing takes their
/// place: the page's policy knows their digests.
const FIXED: [(&str, &str); 3] = [
    ("plan.html", include_str!("../../templates/plan.html")),
    ("plan.css", include_str!("../../templates/plan.css")),
    ("plan.js", include_str!("../../templates/plan.js")),
];

/// What is wrong with an overriding template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The name of its file.
    pub name: String,
    /// The line, from 1, where one is meant.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl TemplateError {
    /// What the engine says of the template `name`.
    fn new(name: &str, error: &minijinja::Error) -> TemplateError {
        let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        TemplateError { name: name.to_owned(), line: error.line(), message }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "templates/{}:", sanitize(&self.name))?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " error[bad-template]: {}", sanitize(&self.message))
    }
}

impl std::error::Error for TemplateError {}

/// Templates, ready to render.
#[derive(Debug)]
pub struct Templates {
    /// The engine that holds them.
    environment: Environment<'static>,
}

impl Templates {
    /// Takes the templates in the binary, with `overrides`, the text of each by the name of its file, in their place.
    ///
    /// Errors: an override whose syntax is wrong, or that overrides nothing, or what cannot be.
    pub fn load(overrides: BTreeMap<String, String>) -> Result<Templates, TemplateError> {
        let mut environment = engine();
        for (name, text) in EMBEDDED {
            environment.add_template(name, text).expect("a test loads the embedded templates");
        }
        let is_fixed = |(name, text): &(String, String)| FIXED.contains(&(name.as_str(), text.as_str()));
        for (name, text) in overrides.into_iter().filter(|template| !is_fixed(template)) {
            if FIXED.iter().any(|(fixed, _)| *fixed == name) {
                let message = "the page of a plan cannot be overridden".to_owned();
                return Err(TemplateError { name, line: None, message });
            }
            if !EMBEDDED.iter().any(|(known, _)| *known == name) {
                let known = EMBEDDED.map(|(known, _)| format!("`{known}`")).join(", ");
                let message = format!("there is no template of this name to override; there are {known}");
                return Err(TemplateError { name, line: None, message });
            }
            let added = environment.add_template_owned(name.clone(), text);
            added.map_err(|error| TemplateError::new(&name, &error))?;
        }
        Ok(Templates { environment })
    }

    /// Renders one of the templates.
    pub(super) fn render(&self, name: &str, context: impl Serialize) -> Result<String, TemplateError> {
        let template = self.environment.get_template(name).expect("all names in use are embedded");
        template.render(Serde(context)).map_err(|error| TemplateError::new(name, &error))
    }
}

/// The engine with what our templates use: nothing undefined, no blank lines from tags, and our functions.
fn engine() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment
        .add_filter("wrap", |text: &str, width: usize, first: usize, rest: usize| wrap::wrap(text, width, first, rest));
    environment.add_filter("table", |rows: Vec<Vec<Value>>, align: &str, indent: usize| {
        let text = |row: &Vec<Value>| row.iter().map(Value::to_string).collect();
        wrap::table(&rows.iter().map(text).collect::<Vec<_>>(), align, indent)
    });
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads one override.
    fn load(name: &str, text: &str) -> Result<Templates, TemplateError> {
        Templates::load([(name.to_owned(), text.to_owned())].into())
    }

    #[test]
    fn an_override_takes_the_place_of_the_embedded_one() {
        let templates = load("plan-host.txt", "host {{ host }}\n").unwrap();
        let context: BTreeMap<&str, u64> = [("host", 7)].into();
        assert_eq!(templates.render("plan-host.txt", context).unwrap(), "host 7\n");
    }

    #[test]
    fn the_page_of_a_plan_is_what_it_is() {
        for (name, text) in FIXED {
            assert!(load(name, text).is_ok());
            let error = load(name, &format!("{text} ")).unwrap_err();
            assert_eq!(error.message, "the page of a plan cannot be overridden");
        }
    }

    #[test]
    fn what_is_wrong_has_a_line() {
        let syntax = load("plan.txt", "a\n{% if x %}\nb\n").unwrap_err();
        assert_eq!(syntax.line, Some(3), "{syntax}");
        let filter = load("plan.txt", "a\n{{ x | nofilter }}\n");
        let filter = filter.and_then(|templates| templates.render("plan.txt", BTreeMap::from([("x", 1)])));
        assert_eq!(filter.unwrap_err().line, Some(2));
        let undefined = load("plan-host.txt", "a\n\n{{ nothing }}\n").unwrap();
        let undefined = undefined.render("plan-host.txt", BTreeMap::<String, u64>::new()).unwrap_err();
        assert_eq!(undefined.to_string(), "templates/plan-host.txt:3: error[bad-template]: undefined value");
        assert_eq!(
            load("pan.txt", "").unwrap_err().to_string(),
            "templates/pan.txt: error[bad-template]: there is no template of this name to override; there are \
             `plan.txt`, `plan-host.txt`"
        );
    }
}
