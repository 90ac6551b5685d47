//! What a zone is known for that was asked name by name: one line a name, beside the zone's file.
//!
//! Comes in: which names were asked for, and with what success. Goes out: a text, and from it the same again. Pure.

use std::collections::HashSet;

use super::text::END;
use crate::dns::{Name, ZoneName};
use crate::live::asked::Knowledge;

/// What a line begins with: the name was asked for.
const KNOWN: &str = "known";

/// What stands at it is not known all the same.
const DOUBTFUL: &str = "doubtful";

/// It is a delegation.
const CUT: &str = "cut";

/// The text of the file, sorted.
pub fn to_text(knowledge: &Knowledge) -> String {
    let Knowledge { names, doubtful, cuts } = knowledge;
    let known = names.iter().filter(|name| !doubtful.contains(*name)).map(|name| (KNOWN, name));
    let all = known.chain(doubtful.iter().map(|name| (DOUBTFUL, name))).chain(cuts.iter().map(|name| (CUT, name)));
    let mut lines: Vec<String> = all.map(|(word, name)| format!("{word} {name}\n")).collect();
    lines.sort_unstable();
    lines.concat() + END
}

/// Reads such a text; none where it is none, was cut, or is another zone's.
pub fn parse(zone: &ZoneName, text: &str) -> Option<Knowledge> {
    let mut knowledge = Knowledge::default();
    for line in text.strip_suffix(END)?.lines() {
        let (word, name) = line.split_once(' ')?;
        let name = Name::parse(name).ok().filter(|name| name.as_name().is_at_or_below(zone.as_name()))?;
        let Knowledge { names, doubtful, cuts } = &mut knowledge;
        let lists: &mut [&mut HashSet<Name>] = match word {
            KNOWN => &mut [names],
            DOUBTFUL => &mut [names, doubtful],
            CUT => &mut [cuts],
            _ => return None,
        };
        for list in lists {
            list.insert(name.clone());
        }
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
        let knowledge = Knowledge { names, doubtful: set(&["b.example.net"]), cuts: set(&["c.example.net"]) };
        let text = to_text(&knowledge);
        assert_eq!(
            text,
            "cut c.example.net.\ndoubtful b.example.net.\nknown a.example.net.\n\
             known odd\\032\\010\\\\.example.net.\n; end of the zone\n"
        );
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let read = parse(&zone, &text).unwrap();
        assert_eq!((&read.names, &read.doubtful, &read.cuts), (&knowledge.names, &knowledge.doubtful, &knowledge.cuts));
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
