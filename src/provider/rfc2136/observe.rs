//! What single answers are, where a whole zone is at hand, and which of a server's answers a wildcard gave. Pure.
//!
//! A server that makes an answer up from a wildcard (RFC 4592) does not say so. Two further questions tell:
//! 1. for a neighbour that nobody has: another answer, or none, shows that the name's own is no wildcard's;
//! 2. where both are the same, for a name below: no wildcard above reaches what lies below a name that is there (RFC 4592
//!    section 3.3.1), so that the same answer once more shows that the name is not.

use std::collections::{BTreeSet, HashMap};

use crate::dns::{Name, NameRef, Rtype, ZoneContents, ZoneName};
use crate::live::asked::{Answer, Question};

/// The first label of names that nobody has.
const PROBE: &[u8] = b"_zonewright-probe";

/// What a zone answers, as a server would that is asked for it.
pub fn answer_from(contents: &ZoneContents, question: &Question) -> Answer {
    let name = question.name.as_name();
    if let Some(hidden) = hidden_by(contents, name) {
        return hidden;
    }
    let held = |rtype| contents.rrset(name, rtype).map(|rrset| Answer::Holds(rtype, rrset.to_rrset()));
    held(question.rtype).or_else(|| held(Rtype::CNAME)).unwrap_or(Answer::Nothing)
}

/// The highest delegation or DNAME that keeps a name from being answered by this zone.
fn hidden_by(contents: &ZoneContents, name: NameRef<'_>) -> Option<Answer> {
    let apex = contents.apex().as_name();
    let within: Vec<_> = name.ancestors().take_while(|ancestor| ancestor.is_at_or_below(apex)).collect();
    within.into_iter().rev().find_map(|ancestor| {
        let rrset = |rtype| contents.rrset(ancestor, rtype).map(|rrset| rrset.to_rrset());
        let cut = rrset(Rtype::NS).filter(|_| ancestor != apex);
        let cut = cut.map(|servers| Answer::Delegated(ancestor.to_name(), Some(servers)));
        let above = || rrset(Rtype::DNAME).filter(|_| ancestor != name);
        cut.or_else(|| above().map(|dname| Answer::BelowDname(ancestor.to_name(), dname)))
    })
}

/// The questions that tell answers of wildcards apart, and what they were answered.
pub struct Probes<'a> {
    /// The zone.
    pub zone: &'a ZoneName,
    /// What was asked.
    pub questions: &'a [Question],
    /// What was answered, in the same order.
    pub answers: Vec<Answer>,
}

impl Probes<'_> {
    /// The questions for neighbours: sorted, perhaps empty.
    pub fn beside(&self) -> Vec<Question> {
        let doubtful =
            self.questions.iter().zip(&self.answers).filter(|(question, answer)| self.is_open(question, answer));
        let beside: BTreeSet<Question> = doubtful.filter_map(|(question, _)| neighbour(question)).collect();
        beside.into_iter().collect()
    }

    /// The questions for names below those whose neighbours have the same answer: sorted, perhaps empty.
    pub fn below(&self, beside: &HashMap<Question, Answer>) -> Vec<Question> {
        let same = self.questions.iter().zip(&self.answers).filter(|(question, answer)| {
            self.is_open(question, answer) && neighbour(question).and_then(|probe| beside.get(&probe)) == Some(answer)
        });
        let below: BTreeSet<Question> = same.filter_map(|(question, _)| child(question)).collect();
        below.into_iter().collect()
    }

    /// The answers, those of wildcards taken for nothing.
    ///
    /// A name that is there and has a wildcard of the same records below it is taken for nothing too: its prerequisite
    /// fails, and nothing is written.
    pub fn settle(self, below: &HashMap<Question, Answer>) -> Vec<Answer> {
        let is_made_up = |question: &Question, answer: &Answer| {
            matches!(answer, Answer::Holds(..)) && child(question).and_then(|probe| below.get(&probe)) == Some(answer)
        };
        let settled = self.questions.iter().zip(self.answers).map(|(question, answer)| match answer {
            answer if is_made_up(question, &answer) => Answer::Nothing,
            answer => answer,
        });
        settled.collect()
    }

    /// Whether a wildcard may have given an answer: none reaches the apex.
    fn is_open(&self, question: &Question, answer: &Answer) -> bool {
        matches!(answer, Answer::Holds(..)) && question.name.as_name() != self.zone.as_name()
    }
}

/// The question beside another one; none where that would have too long a name.
fn neighbour(question: &Question) -> Option<Question> {
    let name = Name::prepend(PROBE, question.name.as_name().parent()?).ok()?;
    Some(Question { name, rtype: question.rtype })
}

/// The question below another one; none where that would have too long a name.
fn child(question: &Question) -> Option<Question> {
    let name = Name::prepend(PROBE, question.name.as_name()).ok()?;
    Some(Question { name, rtype: question.rtype })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Rdata, RdataRef, Rrset, Ttl, ZoneBuilder};

    /// A name.
    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// A question.
    fn question(text: &str, rtype: Rtype) -> Question {
        Question { name: name(text), rtype }
    }

    /// An RRset of one record.
    fn one(rdata: Rdata) -> Rrset {
        Rrset::new(Ttl::DEFAULT, vec![rdata]).unwrap()
    }

    /// The RRset of one pointer.
    fn to(target: &str) -> Rrset {
        one(Rdata::from_name(name(target).as_name()))
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
        let answer = |text, rtype| answer_from(&zone, &question(text, rtype));
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
        // What is below the DNAME is not there, a delegation among it.
        assert_eq!(answer("y.d.example.net", Rtype::PTR), below);
    }

    /// What is made of the answers to these questions by a zone whose server answers the rest like this.
    fn settled(questions: &[(&str, &str)], rest: impl Fn(&str) -> Answer) -> Vec<bool> {
        let zone = ZoneName::new(name("example.net"));
        let holds = |(_, target): &(&str, &str)| Answer::Holds(Rtype::PTR, to(target));
        let answers = questions.iter().map(holds).collect();
        let questions: Vec<_> = questions.iter().map(|(text, _)| question(text, Rtype::PTR)).collect();
        let probes = Probes { zone: &zone, questions: &questions, answers };
        let ask = |probes: Vec<Question>| -> HashMap<Question, Answer> {
            probes.into_iter().map(|probe| (probe.clone(), rest(&probe.name.to_string()))).collect()
        };
        let beside = ask(probes.beside());
        let below = ask(probes.below(&beside));
        probes.settle(&below).iter().map(|answer| matches!(answer, Answer::Holds(..))).collect()
    }

    #[test]
    fn what_a_wildcard_answers_is_nothing_unless_the_name_is_there() {
        // The zone holds `*.w`, and `a.w` with the same data.
        let server = |name: &str| match name {
            "_zonewright-probe.a.w.example.net." => Answer::Nothing,
            below if below.ends_with(".w.example.net.") => Answer::Holds(Rtype::PTR, to("w.example.net")),
            _ => Answer::Nothing,
        };
        let asked = [
            ("a.w.example.net", "w.example.net"),
            ("b.w.example.net", "w.example.net"),
            ("c.w.example.net", "other.example.net"),
            ("d.example.net", "w.example.net"),
            ("example.net", "w.example.net"),
        ];
        assert_eq!(settled(&asked, server), [true, false, true, true, true]);
    }

    #[test]
    fn nothing_more_is_asked_where_nothing_stands() {
        let zone = ZoneName::new(name("example.net"));
        let questions = [question("a.example.net", Rtype::PTR), question("example.net", Rtype::PTR)];
        let answers = vec![Answer::Nothing, Answer::Holds(Rtype::PTR, to("x.example.net"))];
        let probes = Probes { zone: &zone, questions: &questions, answers };
        assert_eq!(probes.beside(), []);
    }
}
