//! Name templates: how hosts and fastbones are named.

use std::fmt;

use crate::dns::{Name, NameError, NameRef};

/// The longest label, in octets (RFC 1035 section 2.3.4).
pub const MAX_LABEL: usize = 63;

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePiece {
    /// Text that is used unchanged; valid in a label, lower case.
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

impl TemplatePiece {
    /// How many octets it has at least, for any host and location.
    fn least_octets(&self) -> usize {
        match self {
            TemplatePiece::Literal(text) => text.len(),
            TemplatePiece::Location | TemplatePiece::Bucket => 1,
            TemplatePiece::Index { width } => width.map_or(1, usize::from),
        }
    }
}

/// How the hosts of a project are named, such as `{location}{bucket}-{index:04}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortnameTemplate {
    /// As it is written.
    text: String,
    /// The pieces in order.
    pieces: Vec<TemplatePiece>,
}

impl fmt::Display for ShortnameTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How a fastbone name is made of the backbone's short name, such as `fb-{shortname}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FastboneTemplate {
    /// The text before the short name.
    before: String,
    /// The text after it.
    after: String,
}

/// What is wrong with a template, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTemplateError {
    /// The character in the template, from 0.
    pub at: usize,
    /// How many characters are marked.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What may have been meant, where that can be said.
    pub hint: Option<String>,
}

/// Literal text or the inside of braces, with the place of its first character.
pub(super) enum TemplateToken {
    /// Text outside braces, doubled braces resolved.
    Literal(String, usize),
    /// The text between braces.
    Field(String, usize),
}

/// Cuts a template at its braces.
pub(super) fn tokens(template: &str) -> Result<Vec<TemplateToken>, NameTemplateError> {
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
                    out.push(TemplateToken::Literal(std::mem::take(&mut literal), start));
                }
                out.push(TemplateToken::Field(chars[at + 1..end].iter().collect(), at));
                at = end + 1;
                start = at;
            }
            ('}', _) => return Err(fault(at, 1, "a closing brace without an opening one")),
            (c, _) => {
                literal.push(c);
                at += 1;
            }
        }
    }
    if !literal.is_empty() {
        out.push(TemplateToken::Literal(literal, start));
    }
    Ok(out)
}

/// Makes a [`NameTemplateError`].
pub(super) fn fault(at: usize, width: usize, message: impl Into<String>) -> NameTemplateError {
    NameTemplateError { at, width, message: message.into(), hint: None }
}

/// Checks literal text: letters, digits, hyphens and underscores.
pub(super) fn literal(text: String, at: usize) -> Result<String, NameTemplateError> {
    match text.chars().enumerate().find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))) {
        // The text before it has no doubled brace; that would have been found.
        Some((offset, '{' | '}')) => Err(fault(at + offset, 2, "a brace, which a label may not contain")),
        Some((offset, _)) => Err(fault(at + offset, 1, "a character that a label may not contain")),
        None => Ok(text.to_ascii_lowercase()),
    }
}

impl ShortnameTemplate {
    /// Parses a template: needs `{index}`, and a width for it where there is `{bucket}`.
    ///
    /// Errors: [`NameTemplateError`], the first from the left.
    pub fn parse(template: &str) -> Result<ShortnameTemplate, NameTemplateError> {
        let mut pieces: Vec<TemplatePiece> = Vec::new();
        let (mut index, mut has_bucket) = (None, false);
        for token in tokens(template)? {
            let (piece, at, width) = match token {
                TemplateToken::Literal(text, at) => (TemplatePiece::Literal(literal(text, at)?), at, 0),
                TemplateToken::Field(field, at) => (shortname_field(&field, at)?, at, field.chars().count() + 2),
            };
            match piece {
                TemplatePiece::Index { .. } if index.is_some() => return Err(fault(at, width, "a second `{index}`")),
                TemplatePiece::Index { width: digits } => index = Some((digits, at, width)),
                TemplatePiece::Bucket if has_bucket => return Err(fault(at, width, "a second `{bucket}`")),
                TemplatePiece::Bucket => has_bucket = true,
                TemplatePiece::Literal(_) | TemplatePiece::Location => {}
            }
            pieces.push(piece);
        }
        let whole = template.chars().count();
        let shortest: usize = pieces.iter().map(TemplatePiece::least_octets).sum();
        match index {
            None => Err(fault(0, whole, "no `{index}`, so all hosts would have the same name")),
            Some((None, at, width)) if has_bucket => {
                Err(fault(at, width, "`{bucket}` needs an `{index}` with a width, such as `{index:04}`"))
            }
            Some(_) if shortest > MAX_LABEL => {
                Err(fault(0, whole, format!("all its labels have {shortest} bytes or more; {MAX_LABEL} are allowed")))
            }
            Some(_) => Ok(ShortnameTemplate { text: template.to_owned(), pieces }),
        }
    }

    /// Whether names contain the location.
    pub fn has_location(&self) -> bool {
        self.pieces.contains(&TemplatePiece::Location)
    }

    /// The pieces in order.
    pub fn pieces(&self) -> &[TemplatePiece] {
        &self.pieces
    }
}

/// Reads one field of a short name's template.
fn shortname_field(field: &str, at: usize) -> Result<TemplatePiece, NameTemplateError> {
    let width = field.chars().count() + 2;
    match field {
        "location" => Ok(TemplatePiece::Location),
        "bucket" => Ok(TemplatePiece::Bucket),
        "index" => Ok(TemplatePiece::Index { width: None }),
        _ => match (field.strip_prefix("index:"), field.strip_prefix("index:0").map(str::as_bytes)) {
            (_, Some([digit @ b'1'..=b'9'])) => Ok(TemplatePiece::Index { width: Some(digit - b'0') }),
            (Some(_), _) => Err(fault(at, width, "a width is written `{index:0N}`, N being one digit from 1 to 9")),
            (None, _) => {
                let known = "`{location}`, `{bucket}`, `{index}` and `{index:0N}`";
                Err(fault(at, width, format!("`{{{field}}}` is not a field; there are {known}")))
            }
        },
    }
}

impl FastboneTemplate {
    /// Parses a template: needs `{shortname}` once, and some other text.
    ///
    /// Errors: [`NameTemplateError`], the first from the left.
    pub fn parse(template: &str) -> Result<FastboneTemplate, NameTemplateError> {
        let whole = template.chars().count();
        let mut parts = vec![String::new()];
        for token in tokens(template)? {
            match token {
                TemplateToken::Literal(text, at) => {
                    let text = literal(text, at)?;
                    parts.last_mut().expect("starts with one").push_str(&text);
                }
                TemplateToken::Field(field, _) if field == "shortname" => parts.push(String::new()),
                TemplateToken::Field(field, at) => {
                    let width = field.chars().count() + 2;
                    return Err(fault(at, width, format!("`{{{field}}}` is not a field; there is `{{shortname}}`")));
                }
            }
        }
        match <[String; 2]>::try_from(parts) {
            Ok([before, after]) if before.is_empty() && after.is_empty() => {
                Err(fault(0, whole, "the fastbone would have the backbone's name"))
            }
            Ok([before, after]) if before.len() + after.len() >= MAX_LABEL => {
                let rest = before.len() + after.len();
                Err(fault(
                    0,
                    whole,
                    format!("{rest} bytes in addition to the short name; a label has at most {MAX_LABEL}"),
                ))
            }
            Ok([before, after]) => Ok(FastboneTemplate { before, after }),
            Err(_) => Err(fault(0, whole, "`{shortname}` must be in it once")),
        }
    }

    /// The fastbone's name for a backbone's, in the same domain.
    ///
    /// Errors: the label or the name would become too long.
    pub fn expand(&self, backbone: NameRef<'_>) -> Result<Name, NameError> {
        let (label, domain) = backbone.first_label().zip(backbone.parent()).ok_or(NameError::EmptyLabel)?;
        Name::prepend_parts(&[self.before.as_bytes(), label, self.after.as_bytes()], domain)
    }

    /// Whether a short name is that of the fastbone for a backbone's short name, in lower case.
    pub fn gives(&self, shortname: &[u8], fastbone: &[u8]) -> bool {
        let (before, after) = (self.before.as_bytes(), self.after.as_bytes());
        fastbone.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) == Some(shortname)
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
        let dash = TemplatePiece::Literal("-".into());
        assert_eq!(
            template.pieces(),
            [TemplatePiece::Location, TemplatePiece::Bucket, dash, TemplatePiece::Index { width: Some(4) }]
        );
    }

    #[test]
    fn faults_have_a_place() {
        let at = |template: &str| ShortnameTemplate::parse(template).map_err(|e| (e.at, e.width)).err();
        assert_eq!(at("{location}"), Some((0, 10)));
        assert_eq!(at("{bucket}-{index}"), Some((9, 7)));
        assert_eq!(at("x{rack}-{index}"), Some((1, 6)));
        assert_eq!(at("a.b{index}"), Some((1, 1)));
        assert_eq!(at("a{index"), Some((1, 6)));
        assert_eq!(at("a}{index}"), Some((1, 1)));
        assert_eq!(at("{index:0}"), Some((0, 9)));
        assert_eq!(at("{{{index}"), Some((0, 2)));
    }

    #[test]
    fn a_width_is_one_digit_behind_a_zero() {
        for width in ["4", "04x", "00", "0", "010", "+4", "0+4", "004", "", " 04", "0४"] {
            let error = ShortnameTemplate::parse(&format!("x{{index:{width}}}")).unwrap_err();
            assert_eq!((error.at, error.width), (1, 8 + width.chars().count()), "{width}");
            assert_eq!(error.message, "a width is written `{index:0N}`, N being one digit from 1 to 9");
        }
        let template = ShortnameTemplate::parse("x{index:09}").unwrap();
        assert_eq!(template.pieces()[1], TemplatePiece::Index { width: Some(9) });
    }

    #[test]
    fn a_second_index_or_bucket_is_shown_itself() {
        let fault = |template: &str| ShortnameTemplate::parse(template).map_err(|e| (e.at, e.width, e.message)).err();
        assert_eq!(fault("{index}-{index:02}"), Some((8, 10, "a second `{index}`".into())));
        assert_eq!(fault("{bucket}{index:02}{bucket}"), Some((18, 8, "a second `{bucket}`".into())));
        assert_eq!(fault("{location}{location}{index}"), None);
    }

    #[test]
    fn a_template_whose_shortest_label_is_too_long_is_refused() {
        let template = |literal: usize| format!("{}{{location}}{{bucket}}{{index:04}}", "x".repeat(literal));
        assert!(ShortnameTemplate::parse(&template(57)).is_ok());
        let error = ShortnameTemplate::parse(&template(58)).unwrap_err();
        assert_eq!((error.at, error.width), (0, 58 + 28));
        assert_eq!(error.message, "all its labels have 64 bytes or more; 63 are allowed");
        let fastbone = |literal: usize| FastboneTemplate::parse(&format!("{{shortname}}{}", "x".repeat(literal)));
        assert!(fastbone(62).is_ok());
        assert_eq!(fastbone(63).unwrap_err().message, "63 bytes in addition to the short name; a label has at most 63");
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
