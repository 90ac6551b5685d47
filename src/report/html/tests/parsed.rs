//! A page as a browser reads it: elements, attributes and text.

use std::cell::RefCell;

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// A page.
#[derive(Default)]
pub struct Parsed {
    /// The elements as they begin.
    pub elements: Vec<Element>,
    /// What the parser found wrong, and comments, which the page has none of.
    pub faults: Vec<String>,
    /// The elements that are open, as places.
    open: Vec<usize>,
}

/// An element.
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes.
    pub attributes: Vec<(String, String)>,
    /// All text in it, that of elements in it too.
    pub text: String,
}

impl Element {
    /// An attribute; empty where there is none.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    /// The element without what it says: its name and those of its attributes.
    pub fn shape(&self) -> String {
        let names: Vec<&str> = self.attributes.iter().map(|(name, _)| name.as_str()).collect();
        format!("{} {}", self.name, names.join(" "))
    }
}

impl Parsed {
    /// Parses a page.
    pub fn new(html: &str) -> Parsed {
        let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts { exact_errors: true, ..Default::default() });
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(html));
        // At the end of a script the tokenizer stops, for a browser to run it.
        while let TokenizerResult::Script(()) = tokenizer.feed(&input) {}
        tokenizer.end();
        tokenizer.sink.page.into_inner()
    }

    /// The elements of a name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.elements.iter().filter(move |element| element.name == name)
    }

    /// The element with an `id`.
    pub fn by_id(&self, id: &str) -> &Element {
        self.elements.iter().find(|element| element.attribute("id") == id).unwrap_or_else(|| panic!("no #{id}"))
    }

    /// Begins an element.
    fn begin(&mut self, tag: &Tag) {
        let attributes = tag.attrs.iter().map(|one| (one.name.local.to_string(), one.value.to_string())).collect();
        self.elements.push(Element { name: tag.name.to_string(), attributes, text: String::new() });
        let is_void = matches!(&*tag.name, "meta" | "br" | "input");
        if !is_void && !tag.self_closing {
            self.open.push(self.elements.len() - 1);
        }
    }

    /// Ends an element.
    fn end(&mut self, tag: &Tag) {
        let ended = self.open.pop().map(|place| self.elements[place].name.as_str());
        if ended != Some(&*tag.name) {
            self.faults.push(format!("</{}> ends {ended:?}", tag.name));
        }
    }

    /// Adds text to all elements that are open.
    fn text(&mut self, text: &str) {
        self.open.iter().for_each(|place| self.elements[*place].text.push_str(text));
    }
}

/// What takes the tokens.
#[derive(Default)]
struct Sink {
    /// The page so far.
    page: RefCell<Parsed>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut page = self.page.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                let is_drawn = page.open.iter().any(|place| page.elements[*place].name == "svg");
                page.begin(&tag);
                match &*tag.name {
                    "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
                    "style" => return TokenSinkResult::RawData(RawKind::Rawtext),
                    "title" if !is_drawn => return TokenSinkResult::RawData(RawKind::Rcdata),
                    _ => {}
                }
            }
            Token::TagToken(tag) => {
                page.end(&tag);
                if &*tag.name == "script" {
                    return TokenSinkResult::Script(());
                }
            }
            Token::CharacterTokens(text) => page.text(&text),
            Token::NullCharacterToken => page.faults.push(format!("NUL in line {line}")),
            Token::CommentToken(text) => page.faults.push(format!("comment in line {line}: {text}")),
            Token::ParseError(error) => page.faults.push(format!("line {line}: {error}")),
            Token::EOFToken if !page.open.is_empty() => page.faults.push("an element has no end".to_owned()),
            Token::DoctypeToken(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}
