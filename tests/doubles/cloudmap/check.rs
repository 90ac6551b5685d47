//! Holds a request to the model: all that is wrong with it, in the words of the service.

use serde_json::{Map, Value};

use super::errors::MapError;
use super::model::{ModelMember, ModelShape};

/// How long a quotation of a value may be in a message, in characters.
const MAX_QUOTATION: usize = 200;

/// A check of one request.
struct RequestCheck {
    /// Whether members that the model does not have are refused.
    is_strict: bool,
    /// What is wrong, in order.
    faults: Vec<String>,
}

/// Parses the body of a request and checks it. A member that is null is as one that is not there.
pub fn checked_input(body: &[u8], members: &[ModelMember], is_strict: bool) -> Result<Value, MapError> {
    let mut input: Value = serde_json::from_slice(body).map_err(|_| MapError::serialization("it is no JSON"))?;
    drop_nulls(&mut input);
    let object = input.as_object().ok_or_else(|| MapError::serialization("it is no object"))?;
    let mut check = RequestCheck { is_strict, faults: Vec::new() };
    check.members(object, members, "")?;
    if check.faults.is_empty() {
        return Ok(input);
    }
    let count = check.faults.len();
    let noun = if count == 1 { "error" } else { "errors" };
    Err(MapError::invalid(format!("{count} validation {noun} detected: {}", check.faults.join("; "))))
}

/// Drops members that are null, at all depths.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, part| !part.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

impl RequestCheck {
    /// Checks the members of a structure. Errors: one of a type that cannot be read at all.
    fn members(&mut self, object: &Map<String, Value>, members: &[ModelMember], path: &str) -> Result<(), MapError> {
        let strange = object.keys().find(|key| members.iter().all(|member| member.name != key.as_str()));
        if let Some(strange) = strange.filter(|_| self.is_strict) {
            return Err(MapError::serialization(&format!("the member {strange} is not in the model")));
        }
        for member in members {
            let place = format!("{path}{}", lower_first(member.name));
            match object.get(member.name) {
                Some(value) => self.value(value, member.shape, &place)?,
                None if member.is_required => self.fault("null", &place, "Member must not be null"),
                None => {}
            }
        }
        Ok(())
    }

    /// Checks a value.
    fn value(&mut self, value: &Value, shape: &ModelShape, place: &str) -> Result<(), MapError> {
        match shape {
            ModelShape::Text(least, most, pattern) => {
                let text = value.as_str().ok_or_else(|| unreadable(place, "a string"))?;
                let mut faults = length_faults(text.chars().count(), *least, *most);
                if let Some(pattern) = pattern.filter(|pattern| !pattern.fits(text)) {
                    faults.push(format!("Member must satisfy regular expression pattern: {}", pattern.text()));
                }
                faults.iter().for_each(|words| self.fault(&quoted(text), place, words));
            }
            ModelShape::Word(words) => {
                let text = value.as_str().ok_or_else(|| unreadable(place, "a string"))?;
                if !words.contains(&text) {
                    let words = format!("Member must satisfy enum value set: [{}]", words.join(", "));
                    self.fault(&quoted(text), place, &words);
                }
            }
            ModelShape::Number(least, most) => {
                let number = value.as_i64().ok_or_else(|| unreadable(place, "a whole number"))?;
                if number < *least {
                    let words = format!("Member must have value greater than or equal to {least}");
                    self.fault(&quoted(number), place, &words);
                }
                if number > *most {
                    self.fault(&quoted(number), place, &format!("Member must have value less than or equal to {most}"));
                }
            }
            ModelShape::List(item, least, most) => {
                let items = value.as_array().ok_or_else(|| unreadable(place, "a list"))?;
                let faults = length_faults(items.len(), *least, *most);
                faults.iter().for_each(|words| self.fault(&quoted(value), place, words));
                for (n, value) in items.iter().enumerate() {
                    self.value(value, item, &format!("{place}.{}.member", n + 1))?;
                }
            }
            ModelShape::Map(key, item) => {
                let object = value.as_object().ok_or_else(|| unreadable(place, "a map"))?;
                for (name, value) in object {
                    self.value(&Value::String(name.clone()), key, &format!("{place}.key"))?;
                    self.value(value, item, &format!("{place}.{name}.member"))?;
                }
            }
            ModelShape::Structure(members) => {
                let object = value.as_object().ok_or_else(|| unreadable(place, "a structure"))?;
                self.members(object, members, &format!("{place}."))?;
            }
        }
        Ok(())
    }

    /// Notes what is wrong.
    fn fault(&mut self, quotation: &str, place: &str, words: &str) {
        self.faults.push(format!("Value {quotation} at '{place}' failed to satisfy constraint: {words}"));
    }
}

/// Says what is wrong with a length.
fn length_faults(length: usize, least: usize, most: usize) -> Vec<String> {
    let short = (length < least).then(|| format!("Member must have length greater than or equal to {least}"));
    let long = (length > most).then(|| format!("Member must have length less than or equal to {most}"));
    short.into_iter().chain(long).collect()
}

/// Quotes a value.
fn quoted(value: impl ToString) -> String {
    let text: String = value.to_string().chars().take(MAX_QUOTATION).collect();
    format!("'{text}'")
}

/// The error of a value of the wrong type.
fn unreadable(place: &str, kind: &str) -> MapError {
    MapError::serialization(&format!("{place} must be {kind}"))
}

/// Writes the first letter small, as messages have the names of members.
fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase().to_string() + letters.as_str()).unwrap_or_default()
}
