//! Names as the service takes them, shows them and sorts them.

/// The longest label, in octets. Source: RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;

/// The longest name on the wire, in octets. Source: RFC 1035 section 2.3.4.
const MAX_NAME: usize = 255;

/// The name of an RRset or zone: labels in lower case, the leftmost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleName {
    /// Without the root's empty label.
    labels: Vec<Vec<u8>>,
}

impl DoubleName {
    /// Parses a name in any case, with or without the final dot; `\ooo` is an octet in octal.
    ///
    /// Errors: the words in which the service refuses it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut labels = vec![Vec::new()];
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            let octet = match first {
                b'.' => {
                    labels.push(Vec::new());
                    continue;
                }
                b'\\' => {
                    let (octet, after) =
                        octal(after).ok_or_else(|| fault("InvalidEscape", "Escape is invalid", text))?;
                    rest = after;
                    octet
                }
                0x21..=0x7e => *first,
                _ => return Err(fault("UnsupportedCharacter", "Value contains unsupported characters", text)),
            };
            labels.last_mut().expect("there is always a last label").push(octet.to_ascii_lowercase());
        }
        // A final dot leaves an empty label; so does the empty text, which is no name.
        if labels.len() > 1 && labels.last().is_some_and(Vec::is_empty) {
            labels.pop();
        }
        let is_root = text == ".";
        if labels.iter().any(Vec::is_empty) && !is_root {
            return Err(fault("DomainLabelEmpty", "Domain label is empty", text));
        }
        if labels.iter().any(|label| label.len() > MAX_LABEL) {
            return Err(fault("DomainLabelTooLong", "Domain label is too long", text));
        }
        if labels.iter().map(|label| label.len() + 1).sum::<usize>() + 1 > MAX_NAME {
            return Err(fault("DomainNameTooLong", "Domain name is too long", text));
        }
        Ok(Self { labels: labels.into_iter().filter(|label| !label.is_empty()).collect() })
    }

    /// Shows the name as answers have it: lower case, the final dot, `\ooo` for all but letters, digits, `-` and `_`.
    pub fn shown(&self) -> String {
        if self.labels.is_empty() {
            return ".".to_owned();
        }
        self.labels.iter().map(|label| shown_label(label) + ".").collect()
    }

    /// Returns what the service sorts by: the labels as shown, reversed, each with a dot behind it.
    pub fn order(&self) -> String {
        self.labels.iter().rev().map(|label| shown_label(label) + ".").collect()
    }

    /// Whether the name is the zone's apex or below it.
    pub fn is_in(&self, zone: &DoubleName) -> bool {
        self.labels.ends_with(&zone.labels)
    }
}

/// Shows one label.
fn shown_label(label: &[u8]) -> String {
    let mut text = String::new();
    for octet in label {
        match octet {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => text.push(char::from(*octet)),
            _ => text.push_str(&format!("\\{octet:03o}")),
        }
    }
    text
}

/// Reads the three digits of an escape, and returns what follows them.
fn octal(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, after) = text.split_at_checked(3)?;
    if digits[0] > b'3' || !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return None;
    }
    Some((digits.iter().fold(0, |value, digit| value * 8 + (digit - b'0')), after))
}

/// Words a refusal as the service does.
pub fn fault(code: &str, words: &str, text: &str) -> String {
    format!("FATAL problem: {code} ({words}) encountered with '{text}'")
}
