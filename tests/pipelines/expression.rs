//! The expressions of GitHub's workflows, as far as ours use them. What is not known here fails the test.

use serde_json::Value;

/// Replaces each `${{ … }}` of a text by its value.
pub fn fill(text: &str, contexts: &Value) -> String {
    let mut rest = text;
    let mut filled = String::new();
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, after) = after.split_once("}}").expect("an expression ends");
        filled.push_str(before);
        filled.push_str(&text_of(&evaluate(expression, contexts)));
        rest = after;
    }
    filled + rest
}

/// Whether the condition of a job or step holds; it is written in `${{ … }}`.
pub fn holds(condition: &str, contexts: &Value) -> bool {
    let inner = condition.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).expect("an expression");
    is_true(&evaluate(inner, contexts))
}

/// A value as it is written in a text.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => panic!("{value} is no text"),
    }
}

/// Whether a value counts as true.
fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value != "" && value != 0
}

/// The value of an expression.
fn evaluate(text: &str, contexts: &Value) -> Value {
    let mut parser = Parser { tokens: tokens(text), at: 0, contexts };
    let value = parser.or();
    assert_eq!(parser.at, parser.tokens.len(), "{text} is understood whole");
    value
}

/// Splits an expression; texts keep their opening quote.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => rest[1..].find('\'').expect("a text ends") + 2,
            'a'..='z' => rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c))).unwrap_or(rest.len()),
            '&' | '|' | '=' => 2,
            '!' if rest.starts_with("!=") => 2,
            '!' | '(' | ')' => 1,
            _ => panic!("`{first}` of `{text}` is not known"),
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Reads tokens from the left.
struct Parser<'a> {
    /// The tokens.
    tokens: Vec<String>,
    /// The next one.
    at: usize,
    /// The values of names.
    contexts: &'a Value,
}

impl Parser<'_> {
    /// Takes the next token if it is this one.
    fn take(&mut self, token: &str) -> bool {
        let is = self.tokens.get(self.at).is_some_and(|next| next == token);
        self.at += usize::from(is);
        is
    }

    /// Alternatives: the first value that counts as true, or the last.
    fn or(&mut self) -> Value {
        let mut value = self.and();
        while self.take("||") {
            let other = self.and();
            value = if is_true(&value) { value } else { other };
        }
        value
    }

    /// Conditions that all must hold.
    fn and(&mut self) -> Value {
        let mut value = self.equal();
        while self.take("&&") {
            let other = self.equal();
            value = if is_true(&value) { other } else { value };
        }
        value
    }

    /// Comparisons. A value that is not there equals the empty text.
    fn equal(&mut self) -> Value {
        let left = self.single();
        let same = |other: Value| text_of(&left) == text_of(&other);
        if self.take("==") {
            let right = self.single();
            return Value::Bool(same(right));
        }
        if self.take("!=") {
            let right = self.single();
            return Value::Bool(!same(right));
        }
        left
    }

    /// A negation, a group, a text, a function or a name.
    fn single(&mut self) -> Value {
        if self.take("!") {
            return Value::Bool(!is_true(&self.single()));
        }
        if self.take("(") {
            let value = self.or();
            assert!(self.take(")"), "a group ends");
            return value;
        }
        let token = self.tokens.get(self.at).expect("an expression goes on").clone();
        self.at += 1;
        if let Some(text) = token.strip_prefix('\'') {
            return Value::String(text.trim_end_matches('\'').to_owned());
        }
        if self.take("(") {
            assert!(self.take(")") && token == "cancelled", "the function {token} is not known");
            return Value::Bool(false);
        }
        named(&token, self.contexts)
    }
}

/// The value of a name. The context and its first field must be there; further down what is missing is nothing, as with
/// GitHub.
fn named(name: &str, contexts: &Value) -> Value {
    let mut parts = name.split('.');
    let context = parts.next().expect("a name has a part");
    let mut value = contexts.get(context).unwrap_or_else(|| panic!("the context {context} of {name} is not there"));
    let strict = matches!(context, "github" | "secrets" | "runner" | "steps" | "needs");
    for (depth, part) in parts.enumerate() {
        assert!(depth > 0 || !strict || value.get(part).is_some(), "there is no {context}.{part}");
        value = value.get(part).unwrap_or(&Value::Null);
    }
    value.clone()
}

#[test]
fn expressions_are_evaluated_as_github_does() {
    let contexts = serde_json::json!({"github": {"event": {"a": "x", "n": 7}}, "inputs": {}});
    for (text, value) in [
        ("github.event.a == 'x' && !inputs.resume", "true"),
        ("github.event.b == ''", "true"),
        ("github.event.a == 'y' || github.event.n != ''", "true"),
        ("(github.event.a == 'y' || inputs.b) && 'z' == ''", ""),
        ("!cancelled()", "true"),
    ] {
        assert_eq!(fill(&format!("<${{{{ {text} }}}}>"), &contexts), format!("<{value}>"), "{text}");
    }
    assert_eq!(fill("${{ github.event.n }}-${{ github.event.a }}", &contexts), "7-x");
}
