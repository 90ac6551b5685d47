//! JSON lines, one object a line: what the formats of such lines share.
//!
//! Comes in: a line. Goes out: the values of the known keys, each of any type, and what is wrong with the line as JSON.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::text::{BAD_TIME, RowFault, RowFaults, TextRow};
use crate::diag::Code;
use crate::inventory::value::Time;

mod plain;

/// A line that is not a JSON object.
pub const BAD_JSON: RowFault = RowFault {
    code: Code::new("bad-json"),
    rule: "each line is one JSON object, each key once",
    hint: "find out which program wrote this line",
};

/// A line without an end.
pub const CUT: RowFault = RowFault {
    code: Code::new("cut-line"),
    rule: "every line ends with a newline; the last one may be incomplete without it",
    hint: "export again; append whole lines only",
};

/// The known keys of a kind of line, with their values.
pub trait LineFields<'a>: Default {
    /// The value of a known key, with the key.
    fn field(&mut self, key: &str) -> Option<(&'static str, &mut LineValue<'a>)>;
}

/// Reads a line as one JSON object; `None` where it is none, which is reported. A key that is there twice is reported, too,
/// and nothing after it.
pub fn read<'a, F: LineFields<'a>>(row: &TextRow<'a>, faults: &mut RowFaults<'_, '_>) -> Option<LineRead<F>> {
    if row.cut {
        faults.add_whole(&CUT, || "the last line has no end".into());
    }
    let plain = plain::read(row.text).map(|fields| LineRead { fields, twice: None });
    let read: LineRead<F> = match plain.map_or_else(|| serde_json::from_str(row.text), Ok) {
        Ok(read) => read,
        Err(error) => {
            // The library counts octets, from 1, and may point behind the end.
            let at = error.column().saturating_sub(1).min(row.text.len());
            let at = (0..=at).rev().find(|at| row.text.is_char_boundary(*at)).unwrap_or(0);
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what).to_owned();
            // A line that was cut, or has characters that are not text, is not JSON for that reason.
            faults.hush();
            faults.add(&BAD_JSON, at..row.text.len(), || message);
            return None;
        }
    };
    if let Some(key) = read.twice {
        faults.add_whole(&BAD_JSON, || format!("it has the key `{key}` twice"));
        faults.hush();
    }
    Some(read)
}

/// Reads the time of a line; `missing` is the fault of a line without one.
pub fn read_time(time: &LineValue<'_>, missing: &RowFault, faults: &mut RowFaults<'_, '_>) -> Option<Time> {
    let LineValue::Text(text) = time else {
        faults.add_whole(missing, || time.missing("time", "a time in quotes"));
        return None;
    };
    let time = text.parse::<Time>().ok();
    if time.is_none() {
        faults.add_whole(&BAD_TIME, || format!("`{text}` is not a time"));
    }
    time
}

/// A value of any type, as far as a line may hold it.
#[derive(Debug, PartialEq, Default)]
pub enum LineValue<'a> {
    /// The key is not there.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// Text, borrowed where it has no escapes.
    Text(Cow<'a, str>),
    /// An unsigned integer.
    Number(u64),
    /// `true` or `false`.
    Bool(bool),
    /// A list of texts; perhaps an empty one.
    Texts(Vec<Cow<'a, str>>),
    /// Anything else.
    Other,
}

impl LineValue<'_> {
    /// What to say where `wanted` belongs under `key`.
    pub fn missing(&self, key: &str, wanted: &str) -> String {
        match self {
            LineValue::Absent => format!("there is no `{key}`"),
            _ => format!("`{key}` is not {wanted}"),
        }
    }

    /// Whether nothing is said.
    pub fn is_none(&self) -> bool {
        matches!(self, LineValue::Absent | LineValue::Null)
    }
}

/// Text that may be left out, null or empty.
///
/// Errors: what is wrong with it under `key`.
pub fn optional_text<'f>(
    value: &'f LineValue<'_>,
    key: &str,
    faults: &RowFaults<'_, '_>,
) -> Result<Option<&'f str>, String> {
    match value {
        // A row without a flaw holds control characters only behind escapes, and text with escapes is not borrowed.
        LineValue::Text(text)
            if (faults.is_flawed() || matches!(text, Cow::Owned(_))) && text.contains(|c: char| c.is_control()) =>
        {
            Err(format!("`{key}` holds a control character"))
        }
        LineValue::Text(text) => Ok(Some(&**text).filter(|text| !text.is_empty())),
        LineValue::Absent | LineValue::Null => Ok(None),
        _ => Err(value.missing(key, "text")),
    }
}

/// What is read of a line.
#[derive(Debug, PartialEq)]
pub struct LineRead<F> {
    /// The values of the known keys.
    pub fields: F,
    /// A known key that is there twice.
    pub twice: Option<&'static str>,
}

impl<'de, F: LineFields<'de>> Deserialize<'de> for LineRead<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor(PhantomData))
    }
}

/// Collects the known keys. A derived reader would end at the first value of a wrong type, and it would be unknown what the
/// line is about.
struct FieldsVisitor<F>(PhantomData<F>);

impl<'de, F: LineFields<'de>> Visitor<'de> for FieldsVisitor<F> {
    type Value = LineRead<F>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<LineRead<F>, M::Error> {
        let (mut fields, mut twice) = (F::default(), None);
        while let Some(key) = map.next_key::<KeyText<'de>>()? {
            let Some((name, field)) = fields.field(&key.0) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value()?;
            if matches!(field, LineValue::Absent) {
                *field = value;
            } else {
                // It is unknown which of the two is right.
                *field = LineValue::Other;
                twice = Some(name);
            }
        }
        Ok(LineRead { fields, twice })
    }
}

/// A key, borrowed where it has no escapes.
struct KeyText<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for KeyText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(ScalarVisitor)? {
            LineValue::Text(text) => Ok(KeyText(text)),
            _ => Ok(KeyText(Cow::Borrowed(""))),
        }
    }
}

impl<'de> Deserialize<'de> for LineValue<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Takes any value.
struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = LineValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Other)
    }

    fn visit_bool<E>(self, value: bool) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<LineValue<'de>, E> {
        Ok(LineValue::Null)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<LineValue<'de>, S::Error> {
        let mut texts = Vec::new();
        while let Some(item) = items.next_element()? {
            match item {
                LineValue::Text(text) => texts.push(text),
                _ => {
                    while items.next_element::<IgnoredAny>()?.is_some() {}
                    return Ok(LineValue::Other);
                }
            }
        }
        Ok(LineValue::Texts(texts))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<LineValue<'de>, M::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(LineValue::Other)
    }
}
