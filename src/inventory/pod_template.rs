//! How pods are named: templates, the same for the SRV of their sets, and the text for a placement.

use std::fmt;
use std::net::IpAddr;

use sha2::{Digest, Sha256};
use smallvec::SmallVec;

use super::template::{MAX_LABEL, NameTemplateError, TemplateToken, fault, literal, tokens};
use crate::diag::did_you_mean;
use crate::dns::{Name, NameError, NameRef};

/// How many hexadecimal digits a placement has.
const PLACEMENT_DIGITS: usize = 8;

/// The place of a pod as a short text: eight hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement([u8; PLACEMENT_DIGITS]);

impl Placement {
    /// That of a row; none without a node or an address.
    pub fn of_row(node: Option<&str>, addresses: &[IpAddr]) -> Option<Placement> {
        let node = node.filter(|_| !addresses.is_empty())?;
        Some(Placement::of(node, addresses))
    }

    /// The first digits of SHA-256 over the node and the addresses as RFC 5952 writes them, sorted as text; each is
    /// followed by a line end.
    pub fn of(node: &str, addresses: &[IpAddr]) -> Placement {
        let mut texts: SmallVec<[String; 4]> = addresses.iter().map(IpAddr::to_string).collect();
        texts.sort_unstable();
        let mut digest = Sha256::new();
        for line in std::iter::once(node).chain(texts.iter().map(String::as_str)) {
            digest.update(line.as_bytes());
            digest.update(b"\n");
        }
        let digest = digest.finalize();
        let mut digits = [0; PLACEMENT_DIGITS];
        for (place, digit) in digits.iter_mut().enumerate() {
            let octet = digest[place / 2];
            let nibble = if place % 2 == 0 { octet >> 4 } else { octet & 0xf };
            *digit = b"0123456789abcdef"[usize::from(nibble)];
        }
        Placement(digits)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
    }

    /// Whether a text may be a placement.
    pub fn may_be(text: &[u8]) -> bool {
        text.len() == PLACEMENT_DIGITS && text.iter().all(|octet| matches!(octet, b'0'..=b'9' | b'a'..=b'f'))
    }
}

/// A field of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PodField {
    /// `{pod}`: the id of the pod.
    Pod,
    /// `{placement}`: eight digits for its place.
    Placement,
    /// `{node}`: the first label of its node.
    Node,
    /// `{rack}`: the rack of the node.
    Rack,
    /// `{location}`: the location of the node.
    Location,
}

/// The fields of names, by their words.
const FIELDS: [(&str, PodField); 5] = [
    ("pod", PodField::Pod),
    ("placement", PodField::Placement),
    ("node", PodField::Node),
    ("rack", PodField::Rack),
    ("location", PodField::Location),
];

/// What a pod has under each field; empty where it has nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct PodFields<'p> {
    /// Its id.
    pub pod: &'p str,
    /// Its placement.
    pub placement: &'p str,
    /// The first label of its node.
    pub node: &'p str,
    /// The rack.
    pub rack: &'p str,
    /// The location.
    pub location: &'p str,
}

impl<'p> PodFields<'p> {
    /// What is under a field.
    fn of(&self, field: PodField) -> &'p str {
        match field {
            PodField::Pod => self.pod,
            PodField::Placement => self.placement,
            PodField::Node => self.node,
            PodField::Rack => self.rack,
            PodField::Location => self.location,
        }
    }
}

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PodPiece {
    /// Text that is used unchanged; valid in a label, lower case.
    Literal(Box<str>),
    /// A field.
    Field(PodField),
}

/// How a label is made of what is known of a pod, such as `{pod}-{placement}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodTemplate {
    /// As it is written.
    text: Box<str>,
    /// The pieces in order; never empty.
    pieces: Vec<PodPiece>,
}

impl fmt::Display for PodTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a template gives a pod no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PodNameError {
    /// A field of it is empty.
    Empty(&'static str),
    /// A field of it holds a character that a label may not contain.
    Character(&'static str, char),
    /// The name is too long.
    Name(NameError),
}

impl fmt::Display for PodNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PodNameError::Empty(field) => write!(f, "the row has nothing for `{{{field}}}`"),
            PodNameError::Character(field, found) => {
                write!(f, "`{{{field}}}` holds `{}`, which a label may not contain", found.escape_debug())
            }
            PodNameError::Name(error) => error.fmt(f),
        }
    }
}

impl PodTemplate {
    /// Parses a template of some of the fields.
    ///
    /// Errors: [`NameTemplateError`], the first from the left.
    pub fn parse(template: &str, allowed: &[PodField]) -> Result<PodTemplate, NameTemplateError> {
        let (mut pieces, mut least) = (Vec::new(), 0);
        for token in tokens(template)? {
            let piece = match token {
                TemplateToken::Literal(text, at) => PodPiece::Literal(literal(text, at)?.into()),
                TemplateToken::Field(word, at) => PodPiece::Field(field(&word, at, allowed)?),
            };
            least += match &piece {
                PodPiece::Literal(text) => text.len(),
                PodPiece::Field(_) => 1,
            };
            pieces.push(piece);
        }
        let whole = template.chars().count();
        match least {
            0 => Err(fault(0, whole, "an empty name")),
            _ if least > MAX_LABEL => {
                Err(fault(0, whole, format!("all its labels have {least} bytes or more; {MAX_LABEL} are allowed")))
            }
            _ => Ok(PodTemplate { text: template.into(), pieces }),
        }
    }

    /// The template as it is written.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// Whether a field is in it.
    pub fn has(&self, field: PodField) -> bool {
        self.pieces.contains(&PodPiece::Field(field))
    }

    /// The label for a pod.
    ///
    /// Errors: a field is empty, or holds what a label may not contain.
    pub fn label(&self, fields: &PodFields<'_>) -> Result<String, PodNameError> {
        let mut label = String::with_capacity(MAX_LABEL);
        for piece in &self.pieces {
            match piece {
                PodPiece::Literal(text) => label.push_str(text),
                PodPiece::Field(field) => {
                    let text = fields.of(*field);
                    let word = word_of(*field);
                    if text.is_empty() {
                        return Err(PodNameError::Empty(word));
                    }
                    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_');
                    let is_bad = |c: &char| !u8::try_from(*c).is_ok_and(is_plain);
                    if !text.bytes().all(is_plain)
                        && let Some(found) = text.chars().find(is_bad)
                    {
                        return Err(PodNameError::Character(word, found));
                    }
                    label.push_str(text);
                }
            }
        }
        label.make_ascii_lowercase();
        Ok(label)
    }

    /// The name for a pod below a domain.
    ///
    /// Errors: [`PodNameError`].
    pub fn expand(&self, fields: &PodFields<'_>, domain: NameRef<'_>) -> Result<Name, PodNameError> {
        let label = self.label(fields)?;
        Name::prepend_parts(&[label.as_bytes()], domain).map_err(PodNameError::Name)
    }

    /// Whether a label may be made by it for some pod.
    pub fn may_give(&self, label: &[u8]) -> bool {
        matches(&self.pieces, label, None)
    }

    /// The ids of pods for which a label may be made by it, without those that hold what no id holds.
    pub fn pods_of<'l>(&self, label: &'l [u8]) -> Vec<&'l str> {
        let all = (0..label.len()).flat_map(|from| (from + 1..=label.len()).map(move |to| &label[from..to]));
        let mut ids: Vec<&str> = all.filter_map(|id| std::str::from_utf8(id).ok()).collect();
        ids.retain(|id| self.may_give_for(id, label));
        ids
    }

    /// Whether a label may be made by it for the pod with this id, at whatever place.
    pub fn may_give_for(&self, pod: &str, label: &[u8]) -> bool {
        matches(&self.pieces, label, Some(pod))
    }
}

/// Whether a text may be what pieces make; for a pod where one is given.
fn matches(pieces: &[PodPiece], text: &[u8], pod: Option<&str>) -> bool {
    let Some((first, rest)) = pieces.split_first() else { return text.is_empty() };
    let fixed = match first {
        PodPiece::Literal(literal) => Some(literal.as_bytes()),
        PodPiece::Field(PodField::Pod) => pod.map(str::as_bytes),
        PodPiece::Field(_) => None,
    };
    match (fixed, first) {
        (Some(fixed), _) => text.strip_prefix(fixed).is_some_and(|left| matches(rest, left, pod)),
        (None, PodPiece::Field(PodField::Placement)) => {
            text.split_at_checked(8).is_some_and(|(own, left)| Placement::may_be(own) && matches(rest, left, pod))
        }
        (None, _) => (1..=text.len()).any(|length| matches(rest, &text[length..], pod)),
    }
}

/// Reads one field.
fn field(word: &str, at: usize, allowed: &[PodField]) -> Result<PodField, NameTemplateError> {
    let known = FIELDS.iter().filter(|(_, field)| allowed.contains(field));
    let found = known.clone().find(|(own, _)| *own == word).map(|(_, field)| *field);
    found.ok_or_else(|| {
        let known: Vec<String> = known.map(|(own, _)| format!("{{{own}}}")).collect();
        let are = if known.len() == 1 { "is" } else { "are" };
        let message = format!("`{{{word}}}` is not a field; there {are} `{}`", known.join("`, `"));
        let hint = did_you_mean(&format!("{{{word}}}"), known.iter().map(String::as_str));
        NameTemplateError { hint, ..fault(at, word.chars().count() + 2, message) }
    })
}

/// The word of a field.
fn word_of(field: PodField) -> &'static str {
    FIELDS.iter().find(|(_, own)| *own == field).expect("every field has a word").0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All fields.
    const ALL: [PodField; 5] = [PodField::Pod, PodField::Placement, PodField::Node, PodField::Rack, PodField::Location];

    #[test]
    fn a_template_makes_a_label_and_knows_its_own() {
        let template = PodTemplate::parse("{pod}-{placement}", &ALL).unwrap();
        let fields = PodFields { pod: "ab12cd", placement: "0011aaff", ..PodFields::default() };
        assert_eq!(template.label(&fields).unwrap(), "ab12cd-0011aaff");
        assert!(template.may_give(b"ab12cd-0011aaff") && template.may_give(b"a-b-00000000"));
        assert!(!template.may_give(b"ab12cd-0011aafg") && !template.may_give(b"-0011aaff"));
        assert!(template.may_give_for("ab12cd", b"ab12cd-ffffffff"));
        assert!(!template.may_give_for("ab12c", b"ab12cd-ffffffff"));
    }

    #[test]
    fn what_a_label_cannot_contain_is_said() {
        let template = PodTemplate::parse("{pod}-{rack}", &ALL).unwrap();
        let label = |rack: &'static str| template.label(&PodFields { pod: "a", rack, ..PodFields::default() });
        assert_eq!(label(""), Err(PodNameError::Empty("rack")));
        assert_eq!(label("sas 1"), Err(PodNameError::Character("rack", ' ')));
        assert_eq!(label("SAS1").unwrap(), "a-sas1");
        let error = PodTemplate::parse("{pod}{nod}", &ALL[..2]).unwrap_err();
        assert_eq!((error.at, error.width), (5, 5));
        assert_eq!(error.message, "`{nod}` is not a field; there are `{pod}`, `{placement}`");
        assert_eq!(error.hint.as_deref(), Some("did you mean `{pod}`?"));
        let error = PodTemplate::parse("{pod}-{placment}", &ALL).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean `{placement}`?"));
        let error = PodTemplate::parse("{rack}", &[PodField::Location]).unwrap_err();
        assert_eq!((error.message.as_str(), error.hint), ("`{rack}` is not a field; there is `{location}`", None));
        assert!(PodTemplate::parse("", &ALL).is_err() && PodTemplate::parse("a.{pod}", &ALL).is_err());
        let long = PodTemplate::parse("{pod}", &ALL).unwrap();
        let pod = "a".repeat(64);
        let fields = PodFields { pod: &pod, ..PodFields::default() };
        let domain = Name::parse("example.net").unwrap();
        assert!(matches!(long.expand(&fields, domain.as_name()), Err(PodNameError::Name(_))));
    }

    #[test]
    fn a_placement_is_of_the_node_and_all_addresses() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let (one, two) = (address("2a02:6b8::1"), address("192.0.2.10"));
        // printf 'sas1-0001.example.net\n192.0.2.10\n2a02:6b8::1\n' | sha256sum
        assert_eq!(Placement::of("sas1-0001.example.net", &[one, two]).as_str(), "31ef994b");
        assert_eq!(
            Placement::of("sas1-0001.example.net", &[one, two]),
            Placement::of("sas1-0001.example.net", &[two, one])
        );
        assert_ne!(Placement::of("sas1-0002.example.net", &[one]), Placement::of("sas1-0001.example.net", &[one]));
        assert!(Placement::may_be(b"0011aaff") && !Placement::may_be(b"0011AAFF") && !Placement::may_be(b"0011aaf"));
    }
}
