//! Where the TXT of an RRset is.
//!
//! An RRset of type T at `LABEL.REST` has its TXT at `t-LABEL.REST`. A prefix or a suffix of the first label can be set, with
//! `%{record_type}` in it for the type; and a text in the place of a first label `*`. Source: external-dns v0.22,
//! registry/mapper/mapper.go.

use std::fmt;

use crate::dns::{Name, NameError, NameRef, Rtype};

/// What is replaced by the type in a prefix or suffix.
const TEMPLATE: &str = "%{record_type}";

/// The longest label, in octets (RFC 1035 section 2.3.4).
const MAX_LABEL: usize = 63;

/// The types that external-dns finds in names of TXT, in its order: the first that fits counts.
const TYPES: [Rtype; 10] = [
    Rtype::A,
    Rtype::AAAA,
    Rtype::CNAME,
    Rtype::NS,
    Rtype::MX,
    Rtype::PTR,
    Rtype::SRV,
    Rtype::NAPTR,
    Rtype::TXT,
    Rtype::DNAME,
];

/// The other types that files state. external-dns manages none of them.
const FURTHER_TYPES: [Rtype; 9] =
    [Rtype::CAA, Rtype::DS, Rtype::TLSA, Rtype::SSHFP, Rtype::SVCB, Rtype::HTTPS, Rtype::LOC, Rtype::URI, Rtype::HINFO];

/// How the names of TXT are formed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkForm {
    /// What is put around the first label; none where it is the type and a hyphen alone.
    pub affix: Option<MarkAffix>,
    /// What takes the place of a first label `*`, in lower case; none where it stays.
    pub wildcard: Option<String>,
}

/// What is put around the first label of a name, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkAffix {
    /// Before it.
    Prefix(String),
    /// Behind it.
    Suffix(String),
}

/// What is wrong with a prefix, a suffix or a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AffixFault {
    /// It is empty.
    Empty,
    /// It has a character that no name of a TXT should have.
    Character(char),
    /// It gives an empty label.
    EmptyLabel,
    /// It gives a label of over 63 octets, so that no name has room for it.
    TooLong,
}

impl fmt::Display for AffixFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AffixFault::Empty => f.write_str("it is empty"),
            AffixFault::Character(c) => write!(f, "it has the character {c:?}"),
            AffixFault::EmptyLabel => f.write_str("it gives an empty label"),
            AffixFault::TooLong => f.write_str("it gives a label of over 63 bytes"),
        }
    }
}

impl MarkAffix {
    /// A prefix.
    ///
    /// Errors: it fits no name.
    pub fn prefix(text: &str) -> Result<MarkAffix, AffixFault> {
        let text = checked(text)?;
        // What is before the last dot are whole labels; what is behind it joins the first label of the name.
        let whole = text.rsplit_once('.').map_or("", |(whole, _)| whole);
        check_labels(&text, whole)?;
        Ok(MarkAffix::Prefix(text))
    }

    /// A suffix.
    ///
    /// Errors: it fits no name.
    pub fn suffix(text: &str) -> Result<MarkAffix, AffixFault> {
        let text = checked(text)?;
        let whole = text.split_once('.').map_or("", |(_, whole)| whole);
        check_labels(&text, whole)?;
        Ok(MarkAffix::Suffix(text))
    }
}

/// A prefix or suffix in lower case.
///
/// Errors: it is empty, or has characters that labels of the registry do not have.
fn checked(text: &str) -> Result<String, AffixFault> {
    let text = text.to_ascii_lowercase();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match text.replace(TEMPLATE, "").chars().find(|c| !is_plain(c)) {
        _ if text.is_empty() => Err(AffixFault::Empty),
        Some(c) => Err(AffixFault::Character(c)),
        None => Ok(text),
    }
}

/// Checks the labels that a prefix or suffix brings: the whole ones, and all by their length.
fn check_labels(text: &str, whole: &str) -> Result<(), AffixFault> {
    // The longest type that external-dns has in names; the template is never longer than that.
    let written = text.replace(TEMPLATE, "cname");
    if written.split('.').any(|label| label.len() > MAX_LABEL) {
        return Err(AffixFault::TooLong);
    }
    let has_whole = text.contains('.');
    if has_whole && whole.split('.').any(str::is_empty) { Err(AffixFault::EmptyLabel) } else { Ok(()) }
}

impl MarkForm {
    /// What takes the place of a first label `*`.
    ///
    /// Errors: it is no label.
    pub fn wildcard(text: &str) -> Result<String, AffixFault> {
        match checked(text)? {
            text if text.len() > MAX_LABEL => Err(AffixFault::TooLong),
            text if text.contains('.') => Err(AffixFault::Character('.')),
            text if text.contains(TEMPLATE) => Err(AffixFault::Character('%')),
            text => Ok(text),
        }
    }

    /// The name of the TXT of an RRset of `rtype` at `owner`, whether the TXT can be there or not; none for the root.
    ///
    /// Errors: the name would not be valid.
    pub fn txt_name(&self, owner: NameRef<'_>, rtype: Rtype) -> Option<Result<Name, NameError>> {
        let rtype = rtype.to_string().to_ascii_lowercase();
        let has_template = self.affix_text().contains(TEMPLATE);
        let head = if has_template { String::new() } else { format!("{rtype}-") };
        self.around(owner, &rtype, &head)
    }

    /// The names at which a TXT says who owns an RRset, the first found counts: where it is written now, and where earlier
    /// versions of external-dns wrote it, which knew no type or no type in the prefix. Names that would not be valid are left
    /// out.
    ///
    /// Source: external-dns v0.22, registry/txt/registry.go: a name without a type counts for all types but AAAA. A TXT does not
    /// record the RRset that it is in: the other texts there may be of another editor.
    pub fn names(&self, owner: NameRef<'_>, rtype: Rtype) -> impl Iterator<Item = Name> {
        let now = std::iter::once_with(move || self.txt_name(owner, rtype));
        let is_templated = self.affix_text().contains(TEMPLATE);
        let typed = is_templated.then_some(Some(rtype));
        let untyped = (rtype != Rtype::AAAA).then_some(None);
        let earlier = typed.into_iter().chain(untyped).map(move |named: Option<Rtype>| {
            let head = named.map(|rtype| format!("{}-", rtype.to_string().to_ascii_lowercase())).unwrap_or_default();
            let name = self.around(owner, "", &head)?;
            let records_itself = |name: &Name| rtype == Rtype::TXT && name.as_name() == owner;
            name.map(|name| (self.is_read_as(&name, owner, named) && !records_itself(&name)).then_some(name))
                .transpose()
        });
        now.chain(earlier).filter_map(|name| name?.ok())
    }

    /// The name that shares the TXT of an RRset: of a wildcard one like its replacement, and the other way round.
    pub fn partner(&self, owner: NameRef<'_>) -> Option<Name> {
        let wildcard = self.wildcard.as_ref()?.as_bytes();
        let (label, rest) = owner.first_label().zip(owner.parent())?;
        let other: &[u8] = match label {
            b"*" => wildcard,
            label if label == wildcard => b"*",
            _ => return None,
        };
        Name::prepend(other, rest).ok()
    }

    /// The text of the prefix or suffix.
    fn affix_text(&self) -> &str {
        match &self.affix {
            Some(MarkAffix::Prefix(text) | MarkAffix::Suffix(text)) => text,
            None => "",
        }
    }

    /// A name with the prefix or suffix around its first label, and `head` before the label.
    fn around(&self, owner: NameRef<'_>, rtype: &str, head: &str) -> Option<Result<Name, NameError>> {
        let (label, rest) = owner.first_label().zip(owner.parent())?;
        let label = match &self.wildcard {
            Some(wildcard) if label == b"*" => wildcard.as_bytes(),
            _ => label,
        };
        let Some(affix) = &self.affix else { return Some(Name::prepend_parts(&[head.as_bytes(), label], rest)) };
        let text = self.affix_text().replace(TEMPLATE, rtype);
        Some(match affix {
            MarkAffix::Prefix(_) => {
                let (whole, joined) = text.rsplit_once('.').unwrap_or(("", &text));
                let name = Name::prepend_parts(&[joined.as_bytes(), head.as_bytes(), label], rest);
                name.and_then(|name| below(whole, name))
            }
            MarkAffix::Suffix(_) => {
                let (joined, whole) = text.split_once('.').unwrap_or((&text, ""));
                let rest = below(whole, rest.to_name());
                rest.and_then(|rest| Name::prepend_parts(&[head.as_bytes(), label, joined.as_bytes()], rest.as_name()))
            }
        })
    }

    /// Whether a name of a TXT is read as that of an owner and type.
    fn is_read_as(&self, name: &Name, owner: NameRef<'_>, rtype: Option<Rtype>) -> bool {
        if self.affix.is_none() {
            // No text is needed: only the first label may hold the type.
            let label = name.as_name().first_label().unwrap_or_default();
            let before = label.iter().position(|octet| *octet == b'-').map(|dash| &label[..dash]);
            let named = before.and_then(|before| type_of(&String::from_utf8_lossy(before)));
            return rtype.is_none() && named.is_none();
        }
        let read = self.recorded_by(name.as_name());
        read.is_some_and(|(read, recorded)| {
            let replaced = self.partner(owner).filter(|_| owner.is_wildcard());
            recorded.as_name() == replaced.as_ref().map_or(owner, Name::as_name) && read == rtype
        })
    }

    /// The RRset whose TXT a name is: the other way round as [`MarkForm::names`]; without a type where the name has none, and
    /// none where it is no such name. In the place of `*` there is its replacement.
    pub fn recorded_by(&self, name: NameRef<'_>) -> Option<(Option<Rtype>, Name)> {
        let text = name.to_string();
        let text = text.strip_suffix('.').unwrap_or(&text);
        let (found, rtype) = match &self.affix {
            None => by_type(text),
            Some(affix @ MarkAffix::Prefix(_)) => without(affix, text)?,
            Some(affix @ MarkAffix::Suffix(suffix)) => {
                // The suffix ends within as many labels as it has dots, and one.
                let dots = suffix.matches('.').count();
                let parts: Vec<&str> = text.splitn(2 + dots, '.').collect();
                if parts.len() <= dots {
                    return None;
                }
                let (own, rtype) = without(affix, &parts[..=dots].join("."))?;
                (parts.get(1 + dots).map_or(own.clone(), |rest| format!("{own}.{rest}")), rtype)
            }
        };
        Some((rtype, Name::parse(&found).ok()?))
    }
}

/// A text without a prefix or suffix, and the type that it names; none where it has another.
fn without(affix: &MarkAffix, text: &str) -> Option<(String, Option<Rtype>)> {
    let strip = |with: &str| match affix {
        MarkAffix::Prefix(_) => text.strip_prefix(with),
        MarkAffix::Suffix(_) => text.strip_suffix(with),
    };
    let (MarkAffix::Prefix(own) | MarkAffix::Suffix(own)) = affix;
    if own.contains(TEMPLATE) {
        for rtype in TYPES.into_iter().chain(FURTHER_TYPES) {
            let with = own.replace(TEMPLATE, &rtype.to_string().to_ascii_lowercase());
            if let Some(rest) = strip(&with) {
                return Some((rest.to_owned(), Some(rtype)));
            }
        }
    }
    strip(&own.replace(TEMPLATE, "")).map(by_type)
}

/// A text without the type and hyphen that it begins with, and that type.
fn by_type(text: &str) -> (String, Option<Rtype>) {
    let before = text.split('-').next().unwrap_or_default();
    match type_of(before) {
        // external-dns takes a text that is a type alone for one, too.
        Some(rtype) => (text.strip_prefix(&format!("{before}-")).unwrap_or(text).to_owned(), Some(rtype)),
        None => (text.to_owned(), None),
    }
}

/// The type that a word in lower case is.
fn type_of(word: &str) -> Option<Rtype> {
    let is_it = |rtype: &Rtype| rtype.to_string().eq_ignore_ascii_case(word);
    TYPES.into_iter().chain(FURTHER_TYPES).find(is_it).or_else(|| {
        let is_unknown = word.strip_prefix("type").is_some_and(|number| !number.is_empty());
        is_unknown.then(|| word.to_ascii_uppercase().parse().ok()).flatten()
    })
}

/// A name with whole labels before it.
fn below(labels: &str, name: Name) -> Result<Name, NameError> {
    let labels = labels.rsplit('.').filter(|label| !label.is_empty());
    labels.into_iter().try_fold(name, |name, label| Name::prepend(label.as_bytes(), name.as_name()))
}

#[cfg(test)]
mod tests;
