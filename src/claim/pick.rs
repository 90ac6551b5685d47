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
}

impl FromStr for SubjectPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<SubjectPattern, String> {
        let mut escaped = text.replace('[', "[[]");
        // To the library two stars are about folders.
        while escaped.contains("**") {
            escaped = escaped.replace("**", "*");
        }
        let pattern = Pattern::new(&escaped);
        let pattern = pattern.map_err(|error| format!("`{text}` is not a pattern of subjects: {}", error.msg))?;
        Ok(SubjectPattern { text: text.to_owned(), pattern })
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
        assert!("hosts:1".parse::<SubjectPick>().is_err() && "record:a/**b".parse::<SubjectPick>().is_ok());
    }
}
