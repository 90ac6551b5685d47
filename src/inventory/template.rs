//! Name templates: how hosts and fastbones are named.

use std::fmt;

use crate::dns::{Name, NameError, NameRef};

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that stands as it is; valid in a label, lower case.
    Literal(String),
    /// `{location}`: the datacenter's code.
    Location,
    /// `{bucket}`: one digit.
    Bucket,
    /// `{index}`, or `{index:0N}` with N digits.
    Index {
        /// The digits, where they are fixed.
        width: Option<u8>,
    },
}

/// How the hosts of a project are named, such as `{location}{bucket}-{index:04}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortnameTemplate {
    /// As it is written.
    text: String,
    /// The pieces in order.
    pieces: Vec<Piece>,
}

impl fmt::Display for ShortnameTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How a fastbone name is made of the backbone's short name, such as `fb-{shortname}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FastboneTemplate {
    /// What stands before the short name.
    before: String,
    /// What stands after it.
    after: String,
}

/// What is wrong with a template, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The character in the template, from 0.
    pub at: usize,
    /// How many characters are meant.
    pub width: usize,
    /// What is wrong.
    pub message: String,
}

/// Literal text or the inside of braces, with the place of its first character.
enum Token {
    /// Text outside braces, doubled braces resolved.
    Literal(String, usize),
    /// What stands between braces.
    Field(String, usize),
}

/// Cuts a template at its braces.
fn tokens(template: &str) -> Result<Vec<Token>, TemplateError> {
    let chars: Vec<char> = template.chars().collect();
    let mut out = Vec::new();
    let mut literal = String::new();
    let mut start = 0;
    let mut at = 0;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('{', Some('{')) | ('}', Some('}')) => {
                literal.push(chars[at]);
                at += 2;
            }
            ('{', _) => {
                let end = chars[at..].iter().position(|c| *c == '}').map(|offset| at + offset);
                let end = end.ok_or_else(|| fault(at, chars.len() - at, "a brace that is never closed"))?;
                if !literal.is_empty() {
                    out.push(Token::Literal(std::mem::take(&mut literal), start));
                }
                out.push(Token::Field(chars[at + 1..end].iter().collect(), at));
                at = end + 1;
                start = at;
            }
            ('}', _) => return Err(fault(at, 1, "a closing brace that none opened; double it to mean a brace")),
            (c, _) => {
                literal.push(c);
                at += 1;
            }
        }
    }
    if !literal.is_empty() {
        out.push(Token::Literal(literal, start));
    }
    Ok(out)
}

/// Makes a [`TemplateError`].
fn fault(at: usize, width: usize, message: impl Into<String>) -> TemplateError {
    TemplateError { at, width, message: message.into() }
}

/// Checks literal text: letters, digits, hyphens and underscores.
fn literal(text: String, at: usize) -> Result<String, TemplateError> {
    match text.chars().position(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))) {
        Some(offset) => Err(fault(at + offset, 1, "a character that no label may hold")),
        None => Ok(text.to_ascii_lowercase()),
    }
}

impl ShortnameTemplate {
    /// Parses a template: needs `{index}`, and a width for it where there is `{bucket}`.
    ///
    /// Errors: [`TemplateError`], the first from the left.
    pub fn parse(template: &str) -> Result<ShortnameTemplate, TemplateError> {
        let mut pieces = Vec::new();
        for token in tokens(template)? {
            pieces.push(match token {
                Token::Literal(text, at) => Piece::Literal(literal(text, at)?),
                Token::Field(field, at) => shortname_field(&field, at)?,
            });
        }
        let whole = template.chars().count();
        let once = |piece: fn(&Piece) -> bool| pieces.iter().filter(|p| piece(p)).count() <= 1;
        if !once(|piece| matches!(piece, Piece::Index { .. })) || !once(|piece| *piece == Piece::Bucket) {
            return Err(fault(0, whole, "`{index}` or `{bucket}` stands in it twice"));
        }
        let index = pieces.iter().find_map(|piece| match piece {
            Piece::Index { width } => Some(*width),
            _ => None,
        });
        match index {
            None => Err(fault(0, whole, "no `{index}`, so that all hosts would have one name")),
            Some(None) if pieces.contains(&Piece::Bucket) => {
                Err(fault(0, whole, "`{bucket}` needs an `{index}` with a width, such as `{index:04}`"))
            }
            Some(_) => Ok(ShortnameTemplate { text: template.to_owned(), pieces }),
        }
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }
}

/// Reads one field of a short name's template.
fn shortname_field(field: &str, at: usize) -> Result<Piece, TemplateError> {
    let width = field.chars().count() + 2;
    match field {
        "location" => Ok(Piece::Location),
        "bucket" => Ok(Piece::Bucket),
        "index" => Ok(Piece::Index { width: None }),
        _ => match field.strip_prefix("index:0").map(str::parse::<u8>) {
            Some(Ok(digits @ 1..=9)) => Ok(Piece::Index { width: Some(digits) }),
            Some(_) => Err(fault(at, width, "the width of `{index:0N}` is 1 to 9 digits")),
            None => {
                let known = "`{location}`, `{bucket}`, `{index}` and `{index:0N}`";
                Err(fault(at, width, format!("`{{{field}}}` is no field; there are {known}")))
            }
        },
    }
}

impl FastboneTemplate {
    /// Parses a template: needs `{shortname}` once, and something beside it.
    ///
    /// Errors: [`TemplateError`], the first from the left.
    pub fn parse(template: &str) -> Result<FastboneTemplate, TemplateError> {
        let whole = template.chars().count();
        let mut parts = vec![String::new()];
        for token in tokens(template)? {
            match token {
                Token::Literal(text, at) => {
                    let text = literal(text, at)?;
                    parts.last_mut().expect("starts with one").push_str(&text);
                }
                Token::Field(field, _) if field == "shortname" => parts.push(String::new()),
                Token::Field(field, at) => {
                    let width = field.chars().count() + 2;
                    return Err(fault(at, width, format!("`{{{field}}}` is no field; there is `{{shortname}}`")));
                }
            }
        }
        match <[String; 2]>::try_from(parts) {
            Ok([before, after]) if before.is_empty() && after.is_empty() => {
                Err(fault(0, whole, "the fastbone would have the backbone's name"))
            }
            Ok([before, after]) => Ok(FastboneTemplate { before, after }),
            Err(_) => Err(fault(0, whole, "`{shortname}` must stand in it once")),
        }
    }

    /// The fastbone's name for a backbone's, in the same domain.
    ///
    /// Errors: the label or the name would become too long.
    pub fn expand(&self, backbone: NameRef<'_>) -> Result<Name, NameError> {
        let (label, domain) = backbone.first_label().zip(backbone.parent()).ok_or(NameError::EmptyLabel)?;
        Name::prepend(&self.label(label), domain)
    }

    /// The fastbone's short name for a backbone's; may be too long for a label.
    pub fn label(&self, shortname: &[u8]) -> Vec<u8> {
        [self.before.as_bytes(), shortname, self.after.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_cut_at_their_braces() {
        let template = ShortnameTemplate::parse("{location}{bucket}-{index:04}").unwrap();
        let dash = Piece::Literal("-".into());
        assert_eq!(template.pieces(), [Piece::Location, Piece::Bucket, dash, Piece::Index { width: Some(4) }]);
    }

    #[test]
    fn faults_have_a_place() {
        let at = |template: &str| ShortnameTemplate::parse(template).map_err(|e| (e.at, e.width)).err();
        assert_eq!(at("{location}"), Some((0, 10)));
        assert_eq!(at("{bucket}-{index}"), Some((0, 16)));
        assert_eq!(at("x{rack}-{index}"), Some((1, 6)));
        assert_eq!(at("a.b{index}"), Some((1, 1)));
        assert_eq!(at("a{index"), Some((1, 6)));
        assert_eq!(at("a}{index}"), Some((1, 1)));
        assert_eq!(at("{index:0}"), Some((0, 9)));
        assert_eq!(at("{{{index}"), Some((0, 1)));
    }

    #[test]
    fn a_fastbone_name_keeps_the_domain() {
        let template = FastboneTemplate::parse("fb-{shortname}").unwrap();
        let backbone = Name::parse("sas1-0001.search.example.net").unwrap();
        assert_eq!(template.expand(backbone.as_name()).unwrap().to_string(), "fb-sas1-0001.search.example.net.");
        let long = Name::parse(&format!("{}.net", "a".repeat(61))).unwrap();
        assert_eq!(template.expand(long.as_name()), Err(NameError::LabelTooLong(64)));
        assert!(FastboneTemplate::parse("fb").is_err() && FastboneTemplate::parse("{shortname}").is_err());
    }
}
