//! Subjects as the command line picks them: one by its text, or many by a pattern.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;

use super::Subject;
use crate::document::text_in_documents;

/// What picks subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectPick {
    /// This subject, as a person names it: switches and breakers do not stop it.
    One(Subject),
    /// All that are like it: what is picked so is only narrowed.
    Like(SubjectPattern),
}

impl FromStr for SubjectPick {
    type Err = String;

    fn from_str(text: &str) -> Result<SubjectPick, String> {
        if text.contains(['*', '?']) { text.parse().map(SubjectPick::Like) } else { text.parse().map(SubjectPick::One) }
    }
}

/// A pattern of the texts of subjects: `*` is any text, `?` any character, and all else is itself. The order is that of the
/// texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubjectPattern {
    /// The text.
    text: String,
    /// The same, as it is matched.
    pattern: Pattern,
}

impl SubjectPattern {
    /// Whether a subject is like it.
    pub fn matches(&self, subject: &Subject) -> bool {
        self.pattern.matches(&subject.to_string())
    }

    /// The pattern of what is before the first `/`: `pod:web` of `pod:web/*`; none where there is no `/`, so that it is a
    /// pattern of whole texts.
    pub fn head(&self) -> Option<SubjectPattern> {
        self.text.split_once('/').and_then(|(head, _)| head.parse().ok())
    }

    /// Whether some subject of a kind could be like it: `kind` is what texts of the kind begin with, such as `orphan:`.
    pub fn may_be_of(&self, kind: &str) -> bool {
        let plain = self.text.split(['*', '?']).next().unwrap_or_default();
        plain.starts_with(kind) || kind.starts_with(plain)
    }

    /// Whether a text is like it.
    pub fn matches_text(&self, text: &str) -> bool {
        self.pattern.matches(text)
    }
}

impl FromStr for SubjectPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<SubjectPattern, String> {
        let text = match text.split_once('/') {
            // Case does not count in the id of a pod.
            Some((set, pod)) if set.starts_with("pod:") => format!("{set}/{}", pod.to_ascii_lowercase()),
            _ => text.to_owned(),
        };
        let mut escaped = text.replace('[', "[[]");
        // To the library two stars are about folders.
        while escaped.contains("**") {
            escaped = escaped.replace("**", "*");
        }
        let pattern = Pattern::new(&escaped);
        let pattern = pattern.map_err(|error| format!("`{text}` is not a pattern of subjects: {}", error.msg))?;
        Ok(SubjectPattern { text, pattern })
    }
}

text_in_documents!(SubjectPattern, str::parse);

impl fmt::Display for SubjectPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_picks_one_and_a_pattern_many() {
        let subject = |text: &str| text.parse::<Subject>().unwrap();
        let pick = |text: &str| text.parse::<SubjectPick>().unwrap();
        assert_eq!(pick("record:static/www.example.net"), SubjectPick::One(subject("record:static/www.example.net.")));
        let like = |text: &str, other: &str| match pick(text) {
            SubjectPick::Like(pattern) => pattern.matches(&subject(other)),
            SubjectPick::One(_) => panic!("{text} is a pattern"),
        };
        assert!(like("endpoint:apps/prod/*", "endpoint:apps/prod/web/a/b.example.net."));
        assert!(like("host:10?", "host:100") && !like("host:10?", "host:10"));
        assert!(!like("record:*", "endpoint:apps/prod/web/www.example.net."));
        assert!(
            like("record:static/[a]*.", "record:static/[a]x.example.net.")
                && !like("record:static/[a]*.", "record:static/ax.")
        );
        let pattern: SubjectPattern = "pod:w*/a*".parse().unwrap();
        assert!(pattern.head().unwrap().matches_text("pod:web") && !pattern.may_be_of("orphan:"));
        let all: SubjectPattern = "*".parse().unwrap();
        assert!(all.head().is_none() && all.may_be_of("orphan:"));
        assert!("hosts:1".parse::<SubjectPick>().is_err() && "record:a/**b".parse::<SubjectPick>().is_ok());
    }
}
