//! Interned text: switches and locations occur a thousand times each.

use foldhash::HashMap;

/// The number of a text in [`Symbols`]; equal numbers mean equal texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

/// Texts by number, compared as written.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// The texts.
    texts: Vec<Box<str>>,
    /// Their numbers.
    numbers: HashMap<Box<str>, Symbol>,
}

impl Symbols {
    /// The number of `text`, a new one where it has none.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.numbers.get(text) {
            return *symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(text.into());
        self.numbers.insert(text.into(), symbol);
        symbol
    }

    /// The number of `text`, as [`Symbols::intern`] gives it; quick where it is the one that it is `likely` to be, as
    /// in rows of one rack.
    pub fn intern_likely(&mut self, text: &str, likely: Option<Symbol>) -> Symbol {
        likely.filter(|likely| self.text(*likely) == text).unwrap_or_else(|| self.intern(text))
    }

    /// The number of `text`, where it has one.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.numbers.get(text).copied()
    }

    /// The text with this number.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }

    /// The text whose number is this as an index, where there is one.
    pub fn text_at(&self, index: usize) -> Option<&str> {
        self.texts.get(index).map(|text| &**text)
    }

    /// All texts, in the order of their numbers.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Adds all of `other`; the answer maps its numbers, by place, to numbers here.
    pub fn merge(&mut self, other: &Symbols) -> Vec<Symbol> {
        other.texts.iter().map(|text| self.intern(text)).collect()
    }

    /// The number as an index, for what [`Symbols::merge`] gave.
    pub fn index(symbol: Symbol) -> usize {
        symbol.0 as usize
    }
}
