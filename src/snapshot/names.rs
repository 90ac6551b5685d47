//! What is known about a zone that was asked name by name: one line for each name, in a file next to the zone's.
//!
//! Comes in: which names were asked for, and the results. Goes out: a text, and from it the same again. Pure.

use super::text::END;
use crate::dns::{Name, ZoneName};
use crate::live::ZoneKnowledge;

/// What a line begins with: the name was asked for its addresses, or its PTR.
const KNOWN: &str = "known";

/// The name was asked for its TXT.
const TEXT: &str = "text";

/// Its records remain unknown.
const DOUBTFUL: &str = "doubtful";

/// It is a delegation.
const CUT: &str = "cut";

/// The text of the file, sorted.
pub fn to_text(knowledge: &ZoneKnowledge) -> String {
    let ZoneKnowledge { names, texts, doubtful, cuts } = knowledge;
    let lists = [(KNOWN, names), (TEXT, texts), (DOUBTFUL, doubtful), (CUT, cuts)];
    let lines = lists.iter().flat_map(|(word, list)| list.iter().map(move |name| format!("{word} {name}\n")));
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    lines.concat() + END
}

/// Reads such a text; `None` where it has another form, was cut, or is another zone's.
pub fn parse(zone: &ZoneName, text: &str) -> Option<ZoneKnowledge> {
    let mut knowledge = ZoneKnowledge::default();
    for line in text.strip_suffix(END)?.lines() {
        let (word, name) = line.split_once(' ')?;
        let name = Name::parse(name).ok().filter(|name| name.as_name().is_at_or_below(zone.as_name()))?;
        let list = match word {
            KNOWN => &mut knowledge.names,
            TEXT => &mut knowledge.texts,
            DOUBTFUL => &mut knowledge.doubtful,
            CUT => &mut knowledge.cuts,
            _ => return None,
        };
        list.insert(name);
    }
    Some(knowledge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_as_it_was_written() {
        let set = |names: &[&str]| names.iter().map(|name| Name::parse(name).unwrap()).collect();
        let names = set(&["a.example.net", "b.example.net", "odd\\032\\010\\\\.example.net"]);
        let (doubtful, cuts) = (set(&["b.example.net"]), set(&["c.example.net"]));
        let knowledge = ZoneKnowledge { names, texts: set(&["t.example.net"]), doubtful, cuts };
        let text = to_text(&knowledge);
        assert_eq!(
            text,
            "cut c.example.net.\ndoubtful b.example.net.\nknown a.example.net.\nknown b.example.net.\n\
             known odd\\032\\010\\\\.example.net.\ntext t.example.net.\n; end of the zone\n"
        );
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let read = parse(&zone, &text).unwrap();
        assert_eq!((&read.names, &read.texts), (&knowledge.names, &knowledge.texts));
        assert_eq!((&read.doubtful, &read.cuts), (&knowledge.doubtful, &knowledge.cuts));
        for bad in [
            "",
            "known a.example.net.\n",
            "known a..b\n; end of the zone\n",
            "lost a.example.net.\n; end of the zone\n",
            "known a.example.org.\n; end of the zone\n",
        ] {
            assert!(parse(&zone, bad).is_none(), "{bad}");
        }
    }
}
