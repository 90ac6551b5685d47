//! Values that a reader pastes or follows: words of a command line, and addresses of pages.

use crate::diag::sanitize;

/// A word of a command line as a shell takes it (POSIX.1-2024, Shell Command Language, section 2.2.2); none where it
/// cannot be shown as it is: the shown word would name something else.
pub fn shell(word: &str) -> Option<String> {
    let is_bare = |octet: u8| octet.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&octet);
    match word {
        word if word.is_empty() || sanitize(word) != word => None,
        word if word.starts_with('-') => shell(&format!("./{word}")),
        word if word.bytes().all(is_bare) => Some(word.to_owned()),
        word => Some(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

/// Whether a text is the address of a page: other schemes run scripts, or start programs.
pub fn is_page(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|octet| octet.is_ascii_graphic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_for_the_shell() {
        assert_eq!(shell("out/plan-1.json").unwrap(), "out/plan-1.json");
        assert_eq!(shell("my plan's.json").unwrap(), r"'my plan'\''s.json'");
        assert_eq!(shell("a b'c$(d).json").unwrap(), r"'a b'\''c$(d).json'");
        assert_eq!(shell("-v").unwrap(), "./-v", "no option");
        for unshown in ["", "a\nb", "a\u{202e}b", "-\u{1b}"] {
            assert_eq!(shell(unshown), None, "{unshown:?}");
        }
    }

    #[test]
    fn only_addresses_of_pages_are_followed() {
        assert!(is_page("https://ci.example.net/runs/17?a=b#c"));
        for text in [
            "javascript:alert(1)",
            "https://",
            "data:text/html,x",
            "ci.example.net",
            "https://a b",
            "https://a\nb",
            "https://a\u{202e}b",
            "//a",
        ] {
            assert!(!is_page(text), "{text}");
        }
    }
}
