//! XML in and out: requests as a tree of elements, answers as text.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// The namespace of the API.
pub const NAMESPACE: &str = "https://route53.amazonaws.com/doc/2013-04-01/";

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 20;

/// An element of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct XmlElement {
    /// Its name.
    pub name: String,
    /// The namespace that its own attribute `xmlns` gives.
    pub namespace: Option<String>,
    /// The text inside it; blanks too.
    pub text: String,
    /// The elements inside it, in order.
    pub children: Vec<XmlElement>,
}

impl XmlElement {
    /// Returns the text of the first element of that name inside it.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// Returns the first element of that name inside it.
    pub fn child(&self, name: &str) -> Option<&XmlElement> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// Parses a document. Errors: a text that says what is wrong; an element with both text and elements is wrong, too.
pub fn parse_xml(text: &str) -> Result<XmlElement, String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    // The last one is the innermost that is open; the first one holds the root.
    let mut open = vec![XmlElement::default()];
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match event {
            Event::Start(start) => open.push(started(&start)?),
            Event::End(_) => close(&mut open)?,
            Event::Text(part) => push_text(&mut open, &part.xml10_content()),
            Event::CData(part) => push_text(&mut open, &part.xml10_content()),
            Event::GeneralRef(reference) => {
                let plain = match reference.resolve_char_ref().map_err(|error| error.to_string())? {
                    Some(character) => character.to_string(),
                    None => resolve_xml_entity(&reference.into_inner()).ok_or("an entity is unknown")?.to_owned(),
                };
                push_text(&mut open, &plain);
            }
            Event::Eof => break,
            Event::Decl(_) | Event::Comment(_) => {}
            Event::Empty(_) | Event::PI(_) | Event::DocType(_) => {
                return Err("such markup has no place here".to_owned());
            }
        }
        if open.len() > MAX_DEPTH {
            return Err("the elements are nested too deep".to_owned());
        }
    }
    let document = open.pop().filter(|_| open.is_empty()).ok_or("an element is not closed")?;
    let mut roots = document.children.into_iter();
    match (roots.next(), roots.next()) {
        (Some(root), None) if document.text.trim().is_empty() => Ok(root),
        _ => Err("a document has one root".to_owned()),
    }
}

/// Makes an element of its start tag. The only attribute that may be there is the namespace.
fn started(start: &BytesStart<'_>) -> Result<XmlElement, String> {
    let mut element = XmlElement { name: start.name().as_ref().to_owned(), ..XmlElement::default() };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.as_ref() != "xmlns" {
            return Err("an attribute has no place here".to_owned());
        }
        element.namespace = Some(attribute.value.clone().into_owned());
    }
    Ok(element)
}

/// Closes the innermost element.
fn close(open: &mut Vec<XmlElement>) -> Result<(), String> {
    let mut done = open.pop().ok_or("an end has no start")?;
    if !done.children.is_empty() {
        if !done.text.trim().is_empty() {
            return Err(format!("`{}` has both text and elements", done.name));
        }
        done.text.clear();
    }
    open.last_mut().ok_or("an end has no start")?.children.push(done);
    Ok(())
}

/// Adds text to the innermost element.
fn push_text(open: &mut [XmlElement], text: &str) {
    if let Some(innermost) = open.last_mut() {
        innermost.text.push_str(text);
    }
}

/// Writes a document, element by element.
pub struct XmlWriter {
    /// What is written.
    text: String,
}

impl XmlWriter {
    /// Writes a document whose root is in the namespace of the API.
    pub fn document(root: &str, inside: impl FnOnce(&mut Self)) -> String {
        let mut writer = Self { text: "<?xml version=\"1.0\"?>\n".to_owned() };
        writer.text.push_str(&format!("<{root} xmlns=\"{NAMESPACE}\">"));
        inside(&mut writer);
        writer.text.push_str(&format!("</{root}>"));
        writer.text
    }

    /// Writes an element with others inside it.
    pub fn element(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.text.push_str(&format!("<{name}>"));
        inside(self);
        self.text.push_str(&format!("</{name}>"));
    }

    /// Writes an element with text inside it.
    pub fn leaf(&mut self, name: &str, value: impl AsRef<str>) {
        self.element(name, |writer| writer.text.push_str(&escaped(value.as_ref())));
    }

    /// Writes an element with text inside it, where there is a value.
    pub fn optional(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.leaf(name, value);
        }
    }
}

/// Escapes text.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\r' => text.push_str("&#13;"),
            other => text.push(other),
        }
    }
    text
}
