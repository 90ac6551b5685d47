//! YAML files as JSON values, as far as pipelines use YAML.

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A collection that is being read: its items so far, keys and values of a mapping alike.
struct Open {
    /// Whether it is a mapping.
    is_mapping: bool,
    /// What it holds so far.
    items: Vec<Value>,
}

impl Open {
    /// The collection, all of it read.
    fn close(self) -> Value {
        if !self.is_mapping {
            return Value::Array(self.items);
        }
        let mut map = Map::new();
        let mut items = self.items.into_iter();
        while let Some(key) = items.next() {
            let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            assert!(
                map.insert(key.clone(), items.next().expect("a value for each key")).is_none(),
                "{key} is there twice"
            );
        }
        Value::Object(map)
    }
}

/// Parses a file of one document. A key `on` is a text, as with GitHub, and not a truth.
pub fn parse(text: &str) -> Value {
    let mut open = vec![Open { is_mapping: false, items: Vec::new() }];
    for event in Parser::new_from_str(text) {
        let done = match event.expect("well-formed YAML").0 {
            Event::MappingStart(..) => {
                open.push(Open { is_mapping: true, items: Vec::new() });
                continue;
            }
            Event::SequenceStart(..) => {
                open.push(Open { is_mapping: false, items: Vec::new() });
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().expect("it was opened").close(),
            Event::Scalar(text, ScalarStyle::Plain, ..) => plain(&text),
            Event::Scalar(text, ..) => Value::String(text.into_owned()),
            Event::Alias(_) => panic!("no aliases here"),
            _ => continue,
        };
        open.last_mut().expect("the document").items.push(done);
    }
    open.pop().expect("the document").items.pop().expect("it holds something")
}

/// A scalar without quotes, by the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), Value::from),
    }
}
