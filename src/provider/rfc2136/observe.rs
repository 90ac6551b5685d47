//! Which of a server's answers about single names a wildcard gave. Pure.
//!
//! A server that makes an answer up from a wildcard (RFC 4592) does not say so. Two further questions tell:
//! 1. for a neighbour that nobody has: another answer, or none, shows that the name's own is no wildcard's;
//! 2. where both are the same, for a name below: no wildcard above reaches what lies below a name that is there (RFC 4592
//!    section 3.3.1), so that the same answer once more shows that the name is not.

use std::collections::{BTreeSet, HashMap};

use crate::dns::ZoneName;
use crate::live::asked::{Answer, Question};

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
        let beside: BTreeSet<Question> = doubtful.filter_map(|(question, _)| question.beside()).collect();
        beside.into_iter().collect()
    }

    /// The questions for names below those whose neighbours have the same answer: sorted, perhaps empty.
    pub fn below(&self, beside: &HashMap<Question, Answer>) -> Vec<Question> {
        let same = self.questions.iter().zip(&self.answers).filter(|(question, answer)| {
            self.is_open(question, answer) && question.beside().and_then(|probe| beside.get(&probe)) == Some(answer)
        });
        let below: BTreeSet<Question> = same.filter_map(|(question, _)| question.below()).collect();
        below.into_iter().collect()
    }

    /// The answers, those of wildcards taken for nothing.
    ///
    /// A name that is there and has a wildcard of the same records below it is taken for nothing too: its prerequisite
    /// fails, and nothing is written.
    pub fn settle(self, below: &HashMap<Question, Answer>) -> Vec<Answer> {
        let is_made_up = |question: &Question, answer: &Answer| {
            matches!(answer, Answer::Holds(..)) && question.below().and_then(|probe| below.get(&probe)) == Some(answer)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Rdata, Rrset, Rtype, Ttl};

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
