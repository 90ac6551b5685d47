//! XML of the API, as a tree. Pure.

use quick_xml::escape::{escape, resolve_xml_entity};
use quick_xml::events::Event;
use quick_xml::reader::Reader;

/// How deep elements may be in each other, by far.
const MAX_DEPTH: usize = 32;

/// An element, with its text and the elements in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct XmlElement {
    /// Its name, without a prefix.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The elements in it.
    pub children: Vec<XmlElement>,
}

impl XmlElement {
    /// Reads a document; what is no element and no text is ignored.
    ///
    /// Errors: in words.
    pub fn parse(octets: &[u8]) -> Result<XmlElement, String> {
        let text = str::from_utf8(octets).map_err(|error| error.to_string())?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        // What is open, the outermost first; the first holds the document.
        let mut open = vec![XmlElement::default()];
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Start(_) if open.len() > MAX_DEPTH => return Err("its elements are too deep".to_owned()),
                Event::Start(start) => {
                    let name = start.local_name().as_ref().to_owned();
                    open.push(XmlElement { name, ..XmlElement::default() });
                }
                Event::End(_) => {
                    let ended = open.pop().unwrap_or_default();
                    open.last_mut().ok_or("an element ends that did not begin")?.children.push(ended);
                }
                Event::Text(text) => push_text(&mut open, &text.xml10_content()),
                Event::CData(text) => push_text(&mut open, &text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let number = reference.resolve_char_ref().map_err(|error| error.to_string())?;
                    match (number, resolve_xml_entity(&reference)) {
                        (Some(character), _) => push_text(&mut open, &character.to_string()),
                        (None, Some(text)) => push_text(&mut open, text),
                        (None, None) => return Err("it has an entity that is unknown".to_owned()),
                    }
                }
                // An entity of its own could be as long as it likes; AWS declares none.
                Event::DocType(_) => return Err("it declares a type of document".to_owned()),
                Event::Eof if open.len() > 1 => return Err("it ends too early".to_owned()),
                Event::Eof => {
                    let document = open.pop().and_then(|all| all.children.into_iter().next());
                    return document.ok_or_else(|| "it has no element".to_owned());
                }
                Event::Empty(_) | Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            }
        }
    }

    /// The text of the first element of this name anywhere in it that has a text and no elements.
    pub fn leaf(&self, name: &str) -> Option<&str> {
        let own = self.text.trim();
        if self.name == name && self.children.is_empty() && !own.is_empty() {
            return Some(own);
        }
        self.children.iter().find_map(|child| child.leaf(name))
    }

    /// The first element of this name in it.
    pub fn child(&self, name: &str) -> Option<&XmlElement> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first element of this name in it.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// The elements in the first element of this name; none where there is no such element.
    pub fn list_of(&self, name: &str) -> &[XmlElement] {
        self.child(name).map_or(&[], |child| &child.children)
    }
}

/// Adds text to the innermost element that is open.
fn push_text(open: &mut [XmlElement], text: &str) {
    if let Some(innermost) = open.last_mut() {
        innermost.text.push_str(text);
    }
}

/// A text as an element has it.
pub fn escaped(text: &str) -> String {
    escape(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_a_tree() {
        let text =
            br#"<?xml version="1.0"?><A xmlns="x"><!-- no --><B>1 &lt; &#50;</B><C/><n:D><E>e</E><E/></n:D></A>"#;
        let tree = XmlElement::parse(text).unwrap();
        assert_eq!((tree.name.as_str(), tree.text_of("B"), tree.text_of("C")), ("A", Some("1 < 2"), Some("")));
        assert_eq!(tree.list_of("D").len(), 2);
        assert_eq!((tree.list_of("F").len(), tree.child("F")), (0, None));
        assert_eq!((tree.leaf("E"), tree.leaf("C"), tree.leaf("D")), (Some("e"), None, None));
        assert_eq!(escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        for bad in ["", "text", "<A>", "<A></B>", "<A>&nothing;</A>", "<!DOCTYPE A><A/>", &"<A>".repeat(50)] {
            assert!(XmlElement::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
