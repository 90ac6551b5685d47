//! Values in code: the only way in which anything that comes from input gets into Markdown.
//!
//! Comes in: text of any kind. Goes out: one line of Markdown or HTML that shows it and means nothing. In code no renderer
//! looks for markup, links, mentions, issues or emoji. What ends code is settled here: line ends and other control characters
//! become escapes, and a delimiter is longer than any run of backticks within.

use super::super::paste::is_page;
use crate::diag::sanitize;

/// How many characters of a value are shown: a name of 255 octets, all of them escaped (no official source).
const LONGEST: usize = 1020;

/// How many characters are shown of the end of a longer one.
const END: usize = 60;

/// A value in a code span.
pub fn code(value: &str) -> String {
    let value = plain(value);
    let ticks = "`".repeat(longest_run(&value) + 1);
    // A renderer takes one blank off both ends where there is one at each.
    let needs_blanks = value.starts_with(['`', ' ']) || value.ends_with(['`', ' ']);
    let blank = if needs_blanks && value.contains(|c| c != ' ') { " " } else { "" };
    format!("{ticks}{blank}{value}{blank}{ticks}")
}

/// A value in a code span in the cell of a table, where a bar would end the cell.
///
/// Source: GitHub Flavored Markdown Spec 0.29, section 4.10 (example 200).
pub fn cell(value: &str) -> String {
    code(value).replace('|', "\\|")
}

/// A value in a `code` element, for where Markdown is not looked at.
pub fn html(value: &str) -> String {
    let mut out = String::from("<code>");
    for c in plain(value).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out + "</code>"
}

/// Lines in a fenced block; each ends in LF, and what is in them is [`plain`].
pub fn fenced(language: &str, lines: &str) -> String {
    let fence = "`".repeat(longest_run(lines).max(2) + 1);
    format!("{fence}{language}\n{lines}{fence}\n")
}

/// A value in one line that harms no renderer, and is not too long; never empty.
pub fn plain(value: &str) -> String {
    let value = sanitize(value);
    match value.chars().count() {
        // There is no empty code span.
        0 => "\"\"".to_owned(),
        count if count <= LONGEST => value,
        count => {
            let head: String = value.chars().take(LONGEST - END).collect();
            let tail: String = value.chars().skip(count - END).collect();
            format!("{head} [{} more characters] {tail}", count - LONGEST)
        }
    }
}

/// The address of a page as a link, where nothing in it could be taken for anything else; else in a code span.
pub fn link(url: &str) -> String {
    let is_safe = |octet: u8| !b"<>\"'`\\|{}[]^".contains(&octet);
    let is_link = is_page(url) && url.len() <= LONGEST && url.bytes().all(is_safe);
    if is_link { format!("<{url}>") } else { code(url) }
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_is_longer_than_any_run_of_backticks_within() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a `b` ``c``d"), "```a `b` ``c``d```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(code(" a "), "`  a  `", "one blank goes at each end");
        assert_eq!(code(" "), "` `", "of blanks alone none goes");
        assert_eq!(code(""), "`\"\"`");
        assert_eq!(code("a\nb\r\u{202e}"), "`a\\u{a}b\\u{d}\\u{202e}`");
        assert_eq!(cell("a|`b\\|"), "``a\\|`b\\\\|``");
    }

    #[test]
    fn html_has_no_tags_but_its_own() {
        assert_eq!(html("</code><b a='1'>&\""), "<code>&lt;/code&gt;&lt;b a=&#39;1&#39;&gt;&amp;&quot;</code>");
    }

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks_within() {
        assert_eq!(fenced("diff", "- a\n"), "```diff\n- a\n```\n");
        assert_eq!(fenced("", "  ````\n"), "`````\n  ````\n`````\n");
    }

    #[test]
    fn a_long_value_shows_its_ends_and_how_much_is_between() {
        let long = plain(&format!("{}{}", "a".repeat(2000), "z".repeat(60)));
        assert!(long.ends_with(&format!("a [1040 more characters] {}", "z".repeat(60))), "{long}");
        assert_eq!(long.len(), LONGEST + " [1040 more characters] ".len());
        assert_eq!(plain(&"ä".repeat(LONGEST)), "ä".repeat(LONGEST));
    }

    #[test]
    fn only_a_plain_address_is_a_link() {
        assert_eq!(link("https://ci.example.net/runs/7?a=b#c"), "<https://ci.example.net/runs/7?a=b#c>");
        for url in ["javascript:alert(1)", "https://", "https://a b", "https://a>b", "https://a`b", "https://ä.example"]
        {
            assert!(link(url).starts_with('`'), "{url}");
        }
    }
}
