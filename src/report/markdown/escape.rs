//! Values in code: the only way in which input gets into Markdown, except for words of a sentence that have only
//! letters.
//!
//! Comes in: text of any kind. Goes out: one line of Markdown or HTML that shows it and means nothing. In code no
//! renderer looks for markup, links, mentions, issues or emoji. Nothing ends the code early: line ends and other
//! control characters become escapes, and a delimiter is longer than any run of backticks within.

use super::super::paste::is_page;
use crate::claim::Subject;
use crate::diag::sanitize;
use crate::inventory::value::Inv;
use crate::plan::Plan;

/// How many characters of a value are shown: a name of 255 octets, all of them escaped.
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

/// A host: its name in code with its inventory number behind it, or the number where the plan knows no name.
pub fn host(plan: &Plan, inv: Inv) -> String {
    match plan.name_of(inv) {
        Some(name) => format!("{} ({inv})", code(name)),
        None => code(&inv.to_string()),
    }
}

/// A subject, as [`host`] shows a host.
pub fn subject_label(plan: &Plan, subject: &Subject) -> String {
    subject.host().map_or_else(|| code(&subject.to_string()), |inv| host(plan, inv))
}

/// A value in a code span in the cell of a table, where a bar would end the cell.
///
/// Source: GitHub Flavored Markdown Spec 0.29, section 4.10 (example 200).
pub fn cell(value: &str) -> String {
    code(value).replace('|', "\\|")
}

/// A value in a `code` element, for where a renderer does not read Markdown.
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

/// A sentence in which only what can mean something to a renderer is in code: text in backticks, and each word that has
/// more than letters, such as a name, an address or `file:line`. `code` makes code of a value.
pub fn sentence(text: &str, code: impl Fn(&str) -> String) -> String {
    let text = plain(text);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some((before, (value, after))) = rest.split_once('`').and_then(|(a, b)| Some((a, b.split_once('`')?))) {
        words(&mut out, before, &code);
        if !value.is_empty() {
            push(&mut out, &code(value));
        }
        rest = after;
    }
    words(&mut out, rest, &code);
    out
}

/// Adds words without backticks to a sentence; a last one may have a backtick without partner.
fn words(out: &mut String, text: &str, code: impl Fn(&str) -> String) {
    for (place, word) in text.split(' ').enumerate() {
        if place > 0 && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        let core = word.trim_start_matches('(').trim_end_matches([',', ';', ':', ')']);
        // The last dot of a name is part of it, that of a sentence is not.
        let without_dot = core.strip_suffix('.').filter(|core| is_word(core) || is_number(core));
        let core = without_dot.unwrap_or(core);
        let start = word.len() - word.trim_start_matches('(').len();
        let (open, close) = (&word[..start], &word[start + core.len()..]);
        // At the start of a line a number, `+` or `=` can mean something.
        let is_harmless = is_word(core) || matches!(core, "" | ".") || !out.is_empty() && is_number(core);
        out.push_str(open);
        if is_harmless {
            out.push_str(core);
        } else {
            push(out, &code(core));
        }
        out.push_str(close);
    }
}

/// Adds code to a sentence. Two pieces without a blank between them would be one.
fn push(out: &mut String, code: &str) {
    if out.ends_with('`') && code.starts_with('`') {
        out.push(' ');
    }
    out.push_str(code);
}

/// Whether a word is letters, with hyphens or an apostrophe in it.
fn is_word(word: &str) -> bool {
    let is_letters = |part: &str| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_alphabetic());
    word == "'s" || word.split(['-', '\'']).all(is_letters)
}

/// Whether a word is a number that names no commit, or a sign between two numbers.
fn is_number(word: &str) -> bool {
    let digits = word.strip_suffix('%').unwrap_or(word);
    matches!(word, "+" | "=") || (1..7).contains(&digits.len()) && digits.bytes().all(|octet| octet.is_ascii_digit())
}

/// A value in code that links to a page, where the address can mean nothing else.
pub fn linked(value: &str, url: Option<&str>) -> String {
    match url.filter(|url| is_target(url)) {
        Some(url) => format!("[{}]({url})", code(value)),
        None => code(value),
    }
}

/// The same where a renderer does not read Markdown.
pub fn linked_html(value: &str, url: Option<&str>) -> String {
    match url.filter(|url| is_target(url) && !url.contains('&')) {
        Some(url) => format!("<a href=\"{url}\">{}</a>", html(value)),
        None => html(value),
    }
}

/// Whether an address ends neither a link nor an attribute.
fn is_target(url: &str) -> bool {
    is_page(url) && url.len() <= LONGEST && url.bytes().all(|octet| !b"<>\"'`\\|{}[]^()".contains(&octet))
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

/// The address of a page as a link, where nothing in it could mean anything else; else in a code span.
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
    fn of_a_sentence_only_what_can_mean_something_is_code() {
        let said = |text| sentence(text, code);
        assert_eq!(said("no source reports a MAC of host 200100"), "no source reports a MAC of host 200100");
        assert_eq!(said("a.txt:4: `a::/63` is no /64 (5%)"), "`a.txt:4`: `a::/63` is no `/64` (5%)");
        assert_eq!(said("the host's agent, `x`'s"), "the host's agent, `x`'s");
        assert_eq!(
            said("a *b* @me #1 GH-1 :x: www.x _ [y](z)"),
            "a `*b*` `@me` `#1` `GH-1` `:x`: `www.x` `_` `[y](z`)"
        );
        assert_eq!(said("see `a`. It is b. At c.d.: e"), "see `a`. It is b. At `c.d.`: e");
        assert_eq!(said("1. a"), "`1`. a", "no list begins");
        assert_eq!(said("+ 1 + 1 = 2"), "`+` 1 + 1 = 2");
        assert_eq!(said("`a``b`/c `"), "`a` `b` `/c` `` ` ``");
        assert_eq!(sentence("a<b> `c`", html), "<code>a&lt;b&gt;</code> <code>c</code>");
    }

    #[test]
    fn a_link_is_made_of_an_address_that_ends_nothing() {
        let url = "https://git.example.net/dns/names.lock#L11";
        assert_eq!(linked("names.lock:11", Some(url)), format!("[`names.lock:11`]({url})"));
        assert_eq!(linked_html("a:1", Some(url)), format!("<a href=\"{url}\"><code>a:1</code></a>"));
        assert_eq!([linked("a", Some("https://a/)b")), linked("a", None)], ["`a`", "`a`"]);
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
