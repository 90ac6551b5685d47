//! The code of a finding or a problem: a type, so that no other text is mistaken for one.

use std::fmt;

use serde::{Serialize, Serializer};

/// A stable kebab-case code, such as `prereq-failed`: printed in brackets behind `error`, and looked up by
/// `zonewright help`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// Takes a text as a code: lower-case words of letters and digits, joined by hyphens.
    ///
    /// Panics on any other text; in a constant, the build fails.
    pub const fn new(text: &'static str) -> Code {
        assert!(is_kebab_case(text.as_bytes()), "a code is in kebab case");
        Code(text)
    }

    /// The code as text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// Whether a text is words of lower-case letters and digits, joined by single hyphens.
const fn is_kebab_case(text: &[u8]) -> bool {
    let (mut place, mut is_joined) = (0, true);
    while place < text.len() {
        let is_hyphen = text[place] == b'-';
        if !is_hyphen && !text[place].is_ascii_lowercase() && !text[place].is_ascii_digit() || is_hyphen && is_joined {
            return false;
        }
        is_joined = is_hyphen;
        place += 1;
    }
    !is_joined
}

impl From<&'static str> for Code {
    fn from(text: &'static str) -> Code {
        Code::new(text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_words_joined_by_hyphens() {
        for text in ["timeout", "not-a-64", "bad-l3-row"] {
            assert_eq!(Code::new(text).to_string(), text);
        }
        for text in ["", "-a", "a-", "a--b", "A", "a b", "a_b"] {
            assert!(!is_kebab_case(text.as_bytes()), "{text:?}");
        }
    }
}
