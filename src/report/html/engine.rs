//! Templates of pages, filled in.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

use super::escape;

/// What the engine calls the page.
const PAGE: &str = "page.html";

/// A page of what its template gets.
pub fn rendered(page: &str, view: impl Serialize) -> String {
    let environment = engine(page);
    let template = environment.get_template(PAGE).expect("the engine has it");
    template.render(Serde(view)).expect("the template asks for nothing else than a page has")
}

/// The engine. Every text that a template writes is escaped, but for what `html` marks.
fn engine(page: &str) -> Environment<'_> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.set_formatter(|out, _, value| {
        let written = match value.as_str() {
            Some(text) if value.is_safe() => out.write_str(text),
            Some(text) => out.write_str(&escape::escaped(text)),
            None => out.write_str(&escape::escaped(&value.to_string())),
        };
        Ok(written?)
    });
    environment.add_filter("sentence", |text: &str| Value::from_safe_string(escape::sentence(text)));
    environment.add_template(PAGE, page).expect("a test renders it");
    environment
}
