//! The values of parameters: nodes to typed values.

use super::parameters::ValueForm;
use crate::dns::Name;
use crate::inventory::domain_filter::DomainSuffix;
use crate::inventory::node::{SettingsNode, SettingsValue};
use crate::inventory::update_record::ParameterValue;
use crate::registry::{MarkAffix, MarkForm, OWNER_RULE, is_owner};

/// Why a value cannot be used, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueFault {
    /// Why, without the value.
    pub why: String,
    /// Where in a list the fault is; the value itself where it is no list.
    pub item: Option<usize>,
}

impl ValueFault {
    /// A fault of the value as a whole.
    fn new(why: impl Into<String>) -> ValueFault {
        ValueFault { why: why.into(), item: None }
    }
}

/// The units of a time of Go, in nanoseconds, longer words before those that begin them.
const SPAN_UNITS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// The longest time, in milliseconds: a year, beyond which a slip of the pen is likelier.
const MAX_SPAN: f64 = 366.0 * 86_400e3;

/// Reads a value.
///
/// Errors: it is not of the form.
pub fn read(form: ValueForm, node: &SettingsNode) -> Result<ParameterValue, ValueFault> {
    match form {
        ValueForm::Texts => texts(node, |_| Ok(())),
        ValueForm::Domains => texts(node, |text| DomainSuffix::parse(text).map(|_| ())),
        ValueForm::Zones => texts(node, |text| match Name::parse(text) {
            Ok(name) if name == Name::root() => Err("the root cannot be updated".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }),
        _ => scalar(form, scalar_text(node)?),
    }
}

/// The text of a scalar.
fn scalar_text(node: &SettingsNode) -> Result<&str, ValueFault> {
    match &node.value {
        SettingsValue::Text(text) => Ok(text),
        SettingsValue::Plain(text) if !node.is_null() => Ok(text),
        SettingsValue::Plain(_) => Err(ValueFault::new("the value is missing")),
        _ => Err(ValueFault::new("a single value belongs here")),
    }
}

/// Reads a scalar.
fn scalar(form: ValueForm, text: &str) -> Result<ParameterValue, ValueFault> {
    let of_text =
        |result: Result<(), String>| result.map(|()| ParameterValue::Text(text.to_owned())).map_err(ValueFault::new);
    let unless_empty = |result: Result<(), String>| of_text(if text.is_empty() { Ok(()) } else { result });
    match form {
        ValueForm::Flag => flag(text),
        ValueForm::AxfrFlag if text == "axfr" => Ok(ParameterValue::Flag(true)),
        ValueForm::AxfrFlag => flag(text),
        ValueForm::Number(least, most) => match text.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(ParameterValue::Number(number)),
            _ => Err(ValueFault::new(format!("it is not a number of {least} to {most}"))),
        },
        ValueForm::Span => span(text),
        ValueForm::Word(words) if words.contains(&text) => Ok(ParameterValue::Text(text.to_owned())),
        ValueForm::Word(words) => {
            let words: Vec<String> =
                words.iter().filter(|word| !word.is_empty()).map(|word| format!("`{word}`")).collect();
            Err(ValueFault::new(format!("it is not one of {}", words.join(", "))))
        }
        ValueForm::Text if text.chars().any(char::is_control) => Err(ValueFault::new("it has control characters")),
        ValueForm::Owner => unless_empty(is_owner(text).then_some(()).ok_or_else(|| OWNER_RULE.to_owned())),
        ValueForm::Prefix => unless_empty(MarkAffix::prefix(text).map(|_| ()).map_err(|fault| fault.to_string())),
        ValueForm::Suffix => unless_empty(MarkAffix::suffix(text).map(|_| ()).map_err(|fault| fault.to_string())),
        ValueForm::Wildcard => unless_empty(MarkForm::wildcard(text).map(|_| ()).map_err(|fault| fault.to_string())),
        ValueForm::Text | ValueForm::Texts | ValueForm::Domains | ValueForm::Zones => of_text(Ok(())),
    }
}

/// Reads a switch, which may be quoted.
fn flag(text: &str) -> Result<ParameterValue, ValueFault> {
    match text {
        "true" => Ok(ParameterValue::Flag(true)),
        "false" => Ok(ParameterValue::Flag(false)),
        _ => Err(ValueFault::new("it is not `true` or `false`")),
    }
}

/// Reads a text with commas or a list of texts; blanks around them and empty ones count for nothing.
fn texts(node: &SettingsNode, check: impl Fn(&str) -> Result<(), String>) -> Result<ParameterValue, ValueFault> {
    let items: Vec<&SettingsNode> = match &node.value {
        SettingsValue::List(items) => items.iter().collect(),
        _ => vec![node],
    };
    let is_list = matches!(node.value, SettingsValue::List(_));
    let mut found = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        let at = |fault: ValueFault| ValueFault { item: is_list.then_some(place), ..fault };
        let text = scalar_text(item).map_err(at)?;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part.chars().any(char::is_control) {
                return Err(at(ValueFault::new("it has control characters")));
            }
            check(part).map_err(|why| at(ValueFault::new(why)))?;
            found.push(part.to_owned());
        }
    }
    Ok(ParameterValue::Texts(found))
}

/// Reads a time as Go's `time.ParseDuration` does; it is not negative.
fn span(text: &str) -> Result<ParameterValue, ValueFault> {
    let fault = || ValueFault::new("it is not a time such as `0s`, `90s` or `1m30s`");
    if text == "0" {
        return Ok(ParameterValue::Milliseconds(0));
    }
    let (mut rest, mut nanoseconds) = (text, 0.0);
    if text.is_empty() {
        return Err(fault());
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|octet| octet.is_ascii_digit() || *octet == b'.').count();
        let number: f64 = rest[..digits].parse().map_err(|_| fault())?;
        let (unit, factor) = SPAN_UNITS.iter().find(|(unit, _)| rest[digits..].starts_with(unit)).ok_or_else(fault)?;
        nanoseconds += number * factor;
        rest = &rest[digits + unit.len()..];
    }
    let milliseconds = nanoseconds / 1e6;
    if milliseconds > MAX_SPAN {
        return Err(ValueFault::new("it is longer than a year"));
    }
    Ok(ParameterValue::Milliseconds(milliseconds.round() as u64))
}
