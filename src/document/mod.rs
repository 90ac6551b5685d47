//! How values are written in JSON documents: as one exact text, as objects and never as arrays, with each key once.
//!
//! Comes in: a value, or JSON. Goes out: the same, in the other form. A document is the same to the last byte after it
//! was read and written, so that no two spellings have one digest. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

mod words;

pub(crate) use words::words;

/// Lets a type be in documents as its displayed text, and be read only from that very text. `$parse` gives the value
/// of a text, or what is wrong with the text.
macro_rules! text_in_documents {
    ($type:ty, $parse:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                $crate::document::read_exact(deserializer, $parse)
            }
        }
    };
}

pub(crate) use text_in_documents;

/// Lets a type be in documents as an object of these fields, in this order, where that is not its own shape. Fields after a
/// `?` are left out where there is no value.
macro_rules! object_in_documents {
    ($type:ty, $value:ident => { $($key:literal: $field:expr,)* $(? $rare:literal: $maybe:expr,)* }) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let $value = self;
                let mut object = serializer.serialize_map(None)?;
                $(object.serialize_entry($key, &$field)?;)*
                $(if let Some(value) = &$maybe { object.serialize_entry($rare, value)?; })*
                object.end()
            }
        }
    };
}

pub(crate) use object_in_documents;

/// The text of a document for a file or a terminal, with a final newline.
pub fn pretty(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document).expect("texts, numbers and lists are JSON") + "\n"
}

/// Reads a value from its text; any other spelling of the value is an error.
pub fn read_exact<'de, D: Deserializer<'de>, T: fmt::Display>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(ExactVisitor(|text: &str| {
        let value = parse(text)?;
        let written = value.to_string();
        if written == text { Ok(value) } else { Err(format!("`{text}` should be written `{written}`")) }
    }))
}

/// Reads a text with a parser. A visitor gets the text where it is, without a copy.
struct ExactVisitor<F>(F);

impl<T, F: Fn(&str) -> Result<T, String>> Visitor<'_> for ExactVisitor<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// Reads an object. What serde derives for a struct would take an array of its fields, too.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Reads an object that may be left out, and is never null.
pub fn present_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    object(deserializer).map(Some)
}

/// Reads an object that must be there, and may be null.
pub fn nullable_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value: Option<Object<T>> = Option::deserialize(deserializer)?;
    Ok(value.map(|Object(value)| value))
}

/// Reads a list of objects.
pub fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let objects: Vec<Object<T>> = Vec::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(value)| value).collect())
}

/// Reads a list of objects that is left out where it is empty.
pub fn some_objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let objects = objects(deserializer)?;
    if objects.is_empty() { Err(Error::custom("an empty list is left out here")) } else { Ok(objects) }
}

/// Whether a flag is off; documents leave it out then.
pub fn is_false(flag: &bool) -> bool {
    !flag
}

/// Reads a field that must be there, and may be null.
pub fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// Reads a field that may be left out, and is never null.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A JSON object.
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// Reads [`Object`].
struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Object)
    }
}

/// Reads an object of which each key is read: one that is there twice is an error, where a map of serde would keep the
/// last.
pub fn map<'de, D: Deserializer<'de>, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Ord + Clone + fmt::Display,
    V: Deserialize<'de>,
{
    deserializer.deserialize_map(MapVisitor(PhantomData))
}

/// Reads a map for [`map`].
struct MapVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord + Clone + fmt::Display, V: Deserialize<'de>> Visitor<'de> for MapVisitor<K, V> {
    type Value = BTreeMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<BTreeMap<K, V>, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<K, V>()? {
            if found.insert(key.clone(), value).is_some() {
                return Err(Error::custom(format_args!("`{key}` is there twice")));
            }
        }
        Ok(found)
    }
}
