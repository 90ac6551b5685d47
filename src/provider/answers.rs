//! What a zone that is known whole answers about single names, as its server would.
//!
//! Comes in: the zone's contents and a question. Goes out: the answer to it, with one thing left out: a name that only
//! a wildcard covers counts as nothing, since it has no records. Pure.

use crate::dns::{NameRef, Rrset, RrsetRef, Rtype, ZoneContents, ZoneName};
use crate::live::asked::{Answer, Question};

/// A zone that is known whole.
pub trait WholeZone {
    /// The zone.
    fn apex(&self) -> &ZoneName;

    /// A copy of one RRset.
    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset>;
}

impl WholeZone for ZoneContents {
    fn apex(&self) -> &ZoneName {
        self.apex()
    }

    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        self.rrset(name, rtype).map(RrsetRef::to_rrset)
    }
}

/// Answers one question about a name in the zone.
///
/// Source: RFC 1034 section 4.3.2 for the order: a delegation comes before names at or below it, a DNAME before names
/// below it (RFC 6672 section 3.2), and the highest of those above the name comes first; then the type that was asked
/// for, then a CNAME. A delegation answers for DS, too, although the zone itself has that (RFC 4035 section 3.1.4.1).
pub fn answer(contents: &impl WholeZone, question: &Question) -> Answer {
    let name = question.name.as_name();
    if let Some(above) = answer_from_above(contents, name) {
        return above;
    }
    let found =
        [question.rtype, Rtype::CNAME].into_iter().find_map(|rtype| Some((rtype, contents.rrset(name, rtype)?)));
    found.map_or(Answer::Nothing, |(rtype, rrset)| Answer::Holds(rtype, rrset))
}

/// The answer of the highest delegation at or above a name, or of the highest DNAME above it.
fn answer_from_above(contents: &impl WholeZone, name: NameRef<'_>) -> Option<Answer> {
    let apex = contents.apex().as_name();
    let inside = name.ancestors().take_while(|ancestor| ancestor.is_at_or_below(apex));
    let found = inside.filter_map(|ancestor| {
        if ancestor != apex
            && let Some(servers) = contents.rrset(ancestor, Rtype::NS)
        {
            return Some(Answer::Delegated(ancestor.to_name(), Some(servers)));
        }
        let dname = (ancestor != name).then(|| contents.rrset(ancestor, Rtype::DNAME)).flatten()?;
        Some(Answer::BelowDname(ancestor.to_name(), dname))
    });
    found.last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Rdata, RdataRef, Rrset, Ttl, ZoneBuilder, ZoneName};
    use crate::provider::parse_text;

    /// What a zone with these records and its SOA answers about names, one line for each.
    fn answers(records: &str, questions: &[(&str, Rtype)]) -> String {
        let apex = ZoneName::new(Name::parse("example.net").unwrap());
        let text = format!("$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns\n{records}");
        let contents = parse_text(&apex, "zone", text.into_bytes()).unwrap();
        let line = |(name, rtype): &(&str, Rtype)| {
            let question = Question { name: Name::parse(name).unwrap(), rtype: *rtype };
            let texts = |rtype, rrset: &crate::dns::Rrset| rrset.rdata_texts(rtype).join(", ");
            let said = match answer(&contents, &question) {
                Answer::Holds(rtype, rrset) => format!("holds {rtype} {} {}", rrset.ttl(), texts(rtype, &rrset)),
                Answer::Nothing => "nothing".to_owned(),
                Answer::Delegated(cut, servers) => {
                    format!("delegated at {cut} to {}", texts(Rtype::NS, &servers.unwrap()))
                }
                Answer::BelowDname(owner, rrset) => format!("below {owner} DNAME {}", texts(Rtype::DNAME, &rrset)),
            };
            format!("{name} {rtype}: {said}\n")
        };
        questions.iter().map(line).collect()
    }

    #[test]
    fn what_stands_at_a_name_is_the_answer_or_the_cname_in_its_place() {
        let records = "a AAAA ::2\na AAAA ::1\nc CNAME a\n* A 192.0.2.1\nx.y A 192.0.2.1\n";
        let names = ["example.net", "a.example.net", "c.example.net", "absent.example.net", "y.example.net"];
        let mut questions: Vec<_> = names.iter().map(|name| (*name, Rtype::AAAA)).collect();
        questions.extend([("c.example.net", Rtype::CNAME), ("example.net", Rtype::NS)]);
        insta::assert_snapshot!(answers(records, &questions), @r"
        example.net AAAA: nothing
        a.example.net AAAA: holds AAAA 60 ::1, ::2
        c.example.net AAAA: holds CNAME 60 a.example.net.
        absent.example.net AAAA: nothing
        y.example.net AAAA: nothing
        c.example.net CNAME: holds CNAME 60 a.example.net.
        example.net NS: holds NS 60 ns.example.net.
        ");
    }

    #[test]
    fn what_is_delegated_or_renamed_is_answered_from_above() {
        let records = "sub NS ns.sub\nns.sub AAAA ::1\nlow.sub NS ns\nd DNAME sub\nd A 192.0.2.1\nx.d NS ns\n";
        let names = ["sub", "ns.sub", "x.low.sub", "d", "x.d"].map(|name| format!("{name}.example.net"));
        let questions: Vec<_> = names.iter().map(|name| (name.as_str(), Rtype::A)).collect();
        insta::assert_snapshot!(answers(records, &questions), @r"
        sub.example.net A: delegated at sub.example.net. to ns.sub.example.net.
        ns.sub.example.net A: delegated at sub.example.net. to ns.sub.example.net.
        x.low.sub.example.net A: delegated at sub.example.net. to ns.sub.example.net.
        d.example.net A: holds A 60 192.0.2.1
        x.d.example.net A: below d.example.net. DNAME sub.example.net.
        ");
        let at_apex = answers(
            "@ DNAME example.com.\n@ A 192.0.2.1\n",
            &[("example.net", Rtype::A), ("a.b.example.net", Rtype::A)],
        );
        insta::assert_snapshot!(at_apex, @r"
        example.net A: holds A 60 192.0.2.1
        a.b.example.net A: below example.net. DNAME example.com.
        ");
    }

    /// A name.
    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// A question.
    fn question(text: &str, rtype: Rtype) -> Question {
        Question { name: name(text), rtype }
    }

    /// The RRset of one pointer.
    fn to(target: &str) -> Rrset {
        Rrset::new(Ttl::DEFAULT, vec![Rdata::from_name(name(target).as_name())]).unwrap()
    }

    /// The zone `example.net.` with a SOA and these pointers.
    fn zone(records: &[(&str, Rtype, &str)]) -> ZoneContents {
        let mut builder = ZoneBuilder::new(ZoneName::new(name("example.net")));
        let soa = RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata();
        builder.push(name("example.net").as_name(), Rtype::SOA, Ttl::DEFAULT, soa.as_octets()).unwrap();
        for (owner, rtype, target) in records {
            let rdata = Rdata::from_name(name(target).as_name());
            builder.push(name(owner).as_name(), *rtype, Ttl::DEFAULT, rdata.as_octets()).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_whole_zone_answers_as_its_server_would() {
        let zone = zone(&[
            ("example.net", Rtype::NS, "ns.example.net"),
            ("p.example.net", Rtype::PTR, "x.example.net"),
            ("c.example.net", Rtype::CNAME, "x.example.net"),
            ("cut.example.net", Rtype::NS, "ns.cut.example.net"),
            ("d.example.net", Rtype::DNAME, "e.example.net"),
            ("d.example.net", Rtype::PTR, "x.example.net"),
            ("y.d.example.net", Rtype::NS, "ns.example.net"),
        ]);
        let answer = |text, rtype| super::answer(&zone, &question(text, rtype));
        assert_eq!(answer("example.net", Rtype::NS), Answer::Holds(Rtype::NS, to("ns.example.net")));
        assert_eq!(answer("p.example.net", Rtype::PTR), Answer::Holds(Rtype::PTR, to("x.example.net")));
        assert_eq!(answer("p.example.net", Rtype::TXT), Answer::Nothing);
        assert_eq!(answer("c.example.net", Rtype::PTR), Answer::Holds(Rtype::CNAME, to("x.example.net")));
        let cut = Answer::Delegated(name("cut.example.net"), Some(to("ns.cut.example.net")));
        assert_eq!(answer("cut.example.net", Rtype::PTR), cut);
        assert_eq!(answer("a.b.cut.example.net", Rtype::PTR), cut);
        assert_eq!(answer("d.example.net", Rtype::PTR), Answer::Holds(Rtype::PTR, to("x.example.net")));
        let below = Answer::BelowDname(name("d.example.net"), to("e.example.net"));
        assert_eq!(answer("a.d.example.net", Rtype::PTR), below);
        // Names below the DNAME do not exist, including a delegation.
        assert_eq!(answer("y.d.example.net", Rtype::PTR), below);
    }
}
