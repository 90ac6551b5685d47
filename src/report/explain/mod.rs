//! An explanation as text for people, or as the document `zonewright.explain/1`.

pub mod json;

pub mod text;

mod chain;

mod page;

mod site;

mod verdict;
