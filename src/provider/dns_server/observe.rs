//! Which of a server's answers about single names a wildcard gave. Pure.
//!
//! A server that makes an answer up from a wildcard (RFC 4592) does not say so. Two further questions show it. First a
//! neighbour of the name that no host has is asked for: if its answer differs, or it has none, the answer for the name
//! is not from a wildcard. If both are the same, a name below it is asked for: no wildcard above reaches names below an
//! existing name (RFC 4592 section 3.3.1), so the same answer again shows that the name does not exist.

use std::collections::{BTreeSet, HashMap};

use crate::dns::ZoneName;
use crate::target::{Answer, Question};

/// The questions that recognize answers from wildcards, and their answers.
pub struct WildcardProbes<'a> {
    /// The zone.
    pub zone: &'a ZoneName,
    /// What was asked.
    pub questions: &'a [Question],
    /// What was answered, in the same order.
    pub answers: Vec<Answer>,
}

impl WildcardProbes<'_> {
    /// The questions for neighbours: sorted, perhaps empty.
    pub fn neighbours(&self) -> Vec<Question> {
        let doubtful =
            self.questions.iter().zip(&self.answers).filter(|(question, answer)| self.is_open(question, answer));
        let neighbours: BTreeSet<Question> = doubtful.filter_map(|(question, _)| question.neighbour()).collect();
        neighbours.into_iter().collect()
    }

    /// The questions for names below those whose neighbours have the same answer: sorted, perhaps empty.
    pub fn below(&self, neighbours: &HashMap<Question, Answer>) -> Vec<Question> {
        let same = self.questions.iter().zip(&self.answers).filter(|(question, answer)| {
            self.is_open(question, answer)
                && question.neighbour().and_then(|probe| neighbours.get(&probe)) == Some(answer)
        });
        let below: BTreeSet<Question> = same.filter_map(|(question, _)| question.below()).collect();
        below.into_iter().collect()
    }

    /// The answers, with those from wildcards treated as nothing.
    ///
    /// A name that exists and has a wildcard with the same records below it is treated as nothing, too: its
    /// prerequisite fails, and nothing is written.
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

    /// The settled answers to these questions, if the server answers all others like this.
    fn settled(questions: &[(&str, &str)], rest: impl Fn(&str) -> Answer) -> Vec<bool> {
        let zone = ZoneName::new(name("example.net"));
        let holds = |(_, target): &(&str, &str)| Answer::Holds(Rtype::PTR, to(target));
        let answers = questions.iter().map(holds).collect();
        let questions: Vec<_> = questions.iter().map(|(text, _)| question(text, Rtype::PTR)).collect();
        let probes = WildcardProbes { zone: &zone, questions: &questions, answers };
        let ask = |probes: Vec<Question>| -> HashMap<Question, Answer> {
            probes.into_iter().map(|probe| (probe.clone(), rest(&probe.name.to_string()))).collect()
        };
        let neighbours = ask(probes.neighbours());
        let below = ask(probes.below(&neighbours));
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
    fn no_further_question_is_asked_where_nothing_is() {
        let zone = ZoneName::new(name("example.net"));
        let questions = [question("a.example.net", Rtype::PTR), question("example.net", Rtype::PTR)];
        let answers = vec![Answer::Nothing, Answer::Holds(Rtype::PTR, to("x.example.net"))];
        let probes = WildcardProbes { zone: &zone, questions: &questions, answers };
        assert_eq!(probes.neighbours(), []);
    }
}
