//! Values as text inside HTML.
//!
//! Comes in: any text. Goes out: HTML that shows it and nothing else: no element, no attribute, no control character,
//! no change of direction.

use std::fmt::Write as _;

use super::super::summary::{SubjectCounts, listed, plural};
use crate::diag::sanitize;

/// A text that is shown as it is, inside an element or a quoted attribute.
pub fn escaped(text: &str) -> String {
    let text = sanitize(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A sentence, with text in backticks as code. A backtick without partner stays a backtick.
pub fn sentence(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (code, after))) = rest.split_once('`').and_then(|(a, b)| Some((a, b.split_once('`')?))) {
        let _ = write!(out, "{}<code>{}</code>", escaped(before), escaped(code));
        rest = after;
    }
    out + &escaped(rest)
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    /// A narrow blank at which no line breaks, as in ISO 80000-1 section 7.3.1; four digits need none.
    const APART: char = '\u{202f}';
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len() > 4 && (digits.len() - place).is_multiple_of(3) {
            out.push(APART);
        }
        out.push(digit);
    }
    out
}

/// A number with its thousands apart and what it counts, in the plural where that is right.
pub fn counted(number: usize, what: &str) -> String {
    format!("{} {}", grouped(number as u64), plural(number, what))
}

/// How many subjects there are of each kind, of so many hosts where there is a number: `28 of 111 hosts and 3 pods`.
pub fn subjects(counts: SubjectCounts, fleet: u64) -> String {
    let [hosts, others @ ..] = counts.by_kind();
    let of_hosts = match fleet {
        0 => hosts.in_words(counted),
        fleet => format!("{} of {}", grouped(hosts.number as u64), counted(fleet as usize, hosts.noun)),
    };
    let others = others.into_iter().filter(|own| own.number > 0).map(|own| own.in_words(counted));
    let said: Vec<String> = (hosts.number > 0).then(|| of_hosts.clone()).into_iter().chain(others).collect();
    if said.is_empty() { of_hosts } else { listed(&said) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_makes_neither_elements_nor_ends_attributes() {
        assert_eq!(
            escaped("<a b='c' d=\"&\">\u{202e}\n"),
            "&lt;a b=&#39;c&#39; d=&quot;&amp;&quot;&gt;\\u{202e}\\u{a}"
        );
    }

    #[test]
    fn backticks_are_code_in_pairs() {
        assert_eq!(sentence("VLAN 604 of `s<1` and `b`"), "VLAN 604 of <code>s&lt;1</code> and <code>b</code>");
        assert_eq!(sentence("a ` b"), "a ` b");
        assert_eq!(sentence("`a` `b"), "<code>a</code> `b");
    }

    #[test]
    fn thousands_are_grouped_from_five_digits_on() {
        assert_eq!(
            [7, 4200, 16_777, 1_000_000].map(grouped),
            ["7", "4200", "16\u{202f}777", "1\u{202f}000\u{202f}000"]
        );
        assert_eq!(counted(1, "host"), "1 host");
    }
}
