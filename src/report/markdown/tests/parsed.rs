//! What a Markdown parser finds in a report.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// All that a report may have of HTML.
const TAGS: [&str; 10] = [
    "<!-- zonewright plan -->",
    "<details>",
    "<details open>",
    "</details>",
    "<summary>",
    "</summary>",
    "<code>",
    "</code>",
    "<b>",
    "</b>",
];

/// What a parser finds in a report.
#[derive(Debug, Default)]
pub struct Parsed {
    /// All that is neither in code nor HTML: the words of the report, the targets and titles of links, what is math.
    pub words: String,
    /// What code spans, fences and `code` elements hold, one after another.
    pub code: String,
    /// The targets of links that show nothing else.
    pub links: Vec<String>,
}

/// Parses a report with all that parsers know beyond CommonMark.
///
/// Panics where HTML is in it that a report does not write, or an element that does not end where it should.
pub fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let (mut html, mut link, mut fences) = (String::new(), None, 0);
    for event in Parser::new_ext(text, Options::all() - Options::ENABLE_SMART_PUNCTUATION) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                fences += 1;
                parsed.words.push_str(&format!(" {kind:?} "));
            }
            Event::End(TagEnd::CodeBlock) => fences -= 1,
            Event::Text(text) if fences > 0 => parsed.code.push_str(&text),
            Event::Code(code) => parsed.code.push_str(&code),
            Event::Start(Tag::Link { dest_url, title, .. }) => {
                parsed.words.push_str(&title);
                link = Some(dest_url.to_string());
            }
            Event::End(TagEnd::Link) => parsed.links.extend(link.take()),
            Event::Text(text) if link.as_deref() == Some(&text) => {}
            Event::Text(text) => parsed.words.push_str(&text),
            Event::Html(part) | Event::InlineHtml(part) => html.push_str(&part),
            Event::Start(tag @ (Tag::Image { .. } | Tag::FootnoteDefinition(_) | Tag::MetadataBlock(_))) => {
                panic!("{tag:?} in {text}")
            }
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {
                panic!("{event:?} in {text}")
            }
            Event::SoftBreak | Event::HardBreak => parsed.words.push('\n'),
            Event::Start(_) | Event::End(_) | Event::Rule => {}
        }
    }
    read_html(&html, &mut parsed);
    parsed
}

/// Reads the HTML of a report, all of it in one piece.
fn read_html(html: &str, parsed: &mut Parsed) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        read_text(&rest[..start], &open, parsed);
        rest = &rest[start..];
        let end = rest.find('>').unwrap_or_else(|| panic!("a tag has no end: {rest}")) + 1;
        let tag = &rest[..end];
        assert!(TAGS.contains(&tag), "{tag} in {html}");
        match tag.strip_prefix("</") {
            Some(name) => assert_eq!(open.pop(), Some(name), "{html}"),
            None if tag.starts_with("<!") => assert!(rest.len() == html.len(), "the mark is first"),
            None if tag == "<details open>" => open.push("details>"),
            None => open.push(&tag[1..]),
        }
        rest = &rest[end..];
    }
    read_text(rest, &open, parsed);
    assert!(open.is_empty(), "{open:?} in {html}");
}

/// Reads the text between two tags.
fn read_text(text: &str, open: &[&str], parsed: &mut Parsed) {
    assert!(!text.contains('>'), "{text}");
    let is_code = open.contains(&"code>");
    let into = if is_code { &mut parsed.code } else { &mut parsed.words };
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    into.push_str(&entities.iter().fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c)));
}
