//! A zone whose names were asked for one by one, because it may not be transferred.
//!
//! Comes in: questions with their answers. Goes out: the part of the zone that they show, the names that it is known
//! for, and the answers that prove nothing. Pure.
//!
//! A server that makes answers up from a wildcard (RFC 4592) does not say so. Therefore each name with records is asked
//! for together with a neighbour that no host has ([`AskedZone::probes`]): where both answers are the same, the name
//! may not exist at all, and nothing is known about it.

use std::collections::{HashMap, HashSet};

use super::{LiveZone, ZoneKnowledge};
use crate::dns::{ContentsError, Name, Rrset, Rtype, ZoneBuilder, ZoneContents, ZoneName};
use crate::target::{Answer, PROBE, Question};

/// The questions and answers of one zone.
#[derive(Debug)]
pub struct AskedZone {
    /// The zone.
    apex: ZoneName,
    /// All answers.
    answers: HashMap<Question, Answer>,
    /// The questions answered with records since neighbours were last asked for.
    unprobed: Vec<Question>,
}

impl AskedZone {
    /// Starts with nothing known.
    pub fn new(apex: ZoneName) -> AskedZone {
        AskedZone { apex, answers: HashMap::new(), unprobed: Vec::new() }
    }

    /// The zone.
    pub fn apex(&self) -> &ZoneName {
        &self.apex
    }

    /// What is asked first: whether the server has the zone, and what its NS and MX point to.
    pub fn opening(&self) -> Vec<Question> {
        let name = self.apex.as_name().to_name();
        [Rtype::SOA, Rtype::NS, Rtype::MX].map(|rtype| Question { name: name.clone(), rtype }).to_vec()
    }

    /// Whether a question has its answer.
    pub fn has_answer(&self, question: &Question) -> bool {
        self.answers.contains_key(question)
    }

    /// Takes the answers to [`AskedZone::opening`]. The apex does not become known by them: its addresses were not
    /// asked.
    pub fn open(&mut self, answers: Vec<Answer>) {
        self.answers.extend(self.opening().into_iter().zip(answers));
    }

    /// Takes answers, in the order of their questions.
    pub fn take(&mut self, questions: Vec<Question>, answers: Vec<Answer>) {
        self.answers.reserve(questions.len());
        for (question, answer) in questions.into_iter().zip(answers) {
            if matches!(answer, Answer::Holds(..)) && self.needs_probe(&question) {
                self.unprobed.push(question.clone());
            }
            self.answers.insert(question, answer);
        }
    }

    /// What is still to be asked for, so that answers from wildcards are recognized: sorted, perhaps empty. The caller
    /// must ask these questions.
    pub fn probes(&mut self) -> Vec<Question> {
        let mut probes: Vec<Question> = self.unprobed.drain(..).filter_map(|question| question.neighbour()).collect();
        probes.sort_unstable();
        probes.dedup();
        probes.retain(|probe| !self.answers.contains_key(probe));
        probes
    }

    /// Whether a wildcard could have given the answer to a question: there is none above the apex, and the content of
    /// probes does not matter.
    fn needs_probe(&self, question: &Question) -> bool {
        question.name.as_name() != self.apex.as_name() && !is_probe(&question.name)
    }

    /// The zone as far as it is known.
    ///
    /// Errors: [`ContentsError`], where the answers make no zone, such as one without a SOA.
    pub fn to_live(&self) -> Result<LiveZone, ContentsError> {
        let doubtful = self.doubtful();
        let mut builder = ZoneBuilder::new(self.apex.clone());
        let mut cuts = HashSet::new();
        for (question, answer) in &self.answers {
            match answer {
                Answer::Holds(rtype, rrset) => {
                    if !is_probe(&question.name) && !doubtful.contains(&question.name) {
                        push(&mut builder, &question.name, *rtype, rrset)?;
                    }
                }
                Answer::Nothing => {}
                Answer::Delegated(cut, servers) => {
                    if let Some(servers) = servers {
                        push(&mut builder, cut, Rtype::NS, servers)?;
                    }
                    cuts.insert(cut.clone());
                }
                Answer::BelowDname(owner, rrset) => push(&mut builder, owner, Rtype::DNAME, rrset)?,
            }
        }
        let contents: ZoneContents = builder.finish()?;
        // A name that was asked for its A alone is not known for its addresses.
        let names = self.asked_for(&[Rtype::AAAA, Rtype::PTR]);
        let texts = self.asked_for(&[Rtype::TXT]);
        Ok(LiveZone::asked(contents, ZoneKnowledge { names, texts, doubtful, cuts }))
    }

    /// The names that were asked for any of these types, probes left out.
    fn asked_for(&self, rtypes: &[Rtype]) -> HashSet<Name> {
        let questions = self.answers.keys().filter(|question| rtypes.contains(&question.rtype));
        questions.map(|question| &question.name).filter(|name| !is_probe(name)).cloned().collect()
    }

    /// The names whose answer equals that of their unused neighbour, or cannot be compared with it.
    fn doubtful(&self) -> HashSet<Name> {
        let is_doubtful = |question: &Question, answer: &Answer| {
            let probe = question.neighbour().map(|probe| self.answers.get(&probe));
            let is_same = probe.is_none_or(|probe| probe == Some(answer));
            matches!(answer, Answer::Holds(..)) && self.needs_probe(question) && is_same
        };
        let doubtful = self.answers.iter().filter(|(question, answer)| is_doubtful(question, answer));
        doubtful.map(|(question, _)| question.name.clone()).collect()
    }
}

/// Whether a name is the unused neighbour of another.
fn is_probe(name: &Name) -> bool {
    name.as_name().first_label() == Some(PROBE)
}

/// Adds an RRset.
fn push(builder: &mut ZoneBuilder, owner: &Name, rtype: Rtype, rrset: &Rrset) -> Result<(), ContentsError> {
    if let Some(mark) = rrset.mark() {
        builder.mark(owner.as_name(), rtype, mark.clone());
    }
    rrset.rdata().iter().try_for_each(|rdata| builder.push(owner.as_name(), rtype, rrset.ttl(), rdata.as_octets()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Rdata, Ttl};
    use crate::live::{Apexes, Live, NamePlace, ZoneIndex};

    /// A name.
    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// An RRset of one record with the default TTL.
    fn one(rdata: Rdata) -> Rrset {
        Rrset::new(Ttl::DEFAULT, vec![rdata]).unwrap()
    }

    /// An AAAA RRset.
    fn aaaa(text: &str) -> Answer {
        Answer::Holds(Rtype::AAAA, one(Rdata::parse(Rtype::AAAA, text).unwrap()))
    }

    /// The zone `example.net.` of which these AAAA were asked, probes answered by `probe`.
    fn asked(answers: &[(&str, Answer)], probe: Answer) -> Live {
        let apex = ZoneName::new(name("example.net"));
        let mut zone = AskedZone::new(apex.clone());
        let soa = one(crate::dns::RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata());
        zone.open(vec![Answer::Holds(Rtype::SOA, soa), Answer::Nothing, Answer::Nothing]);
        let questions = answers.iter().map(|(text, _)| Question { name: name(text), rtype: Rtype::AAAA });
        zone.take(questions.collect(), answers.iter().map(|(_, answer)| answer.clone()).collect());
        let probes = zone.probes();
        let answers = probes.iter().map(|_| probe.clone()).collect();
        zone.take(probes, answers);
        assert_eq!(zone.probes(), []);
        let apexes = Apexes::new(std::iter::once(&apex));
        let live = zone.to_live().unwrap();
        Live::new(vec![live], apexes)
    }

    #[test]
    fn a_name_that_was_not_asked_for_is_unknown_not_empty() {
        let live = asked(&[("a.example.net", aaaa("2a02::1")), ("b.example.net", Answer::Nothing)], Answer::Nothing);
        let place = |text: &str| live.place(name(text).as_name());
        assert_eq!(place("a.example.net"), NamePlace::Open(ZoneIndex(0)));
        assert_eq!(place("b.example.net"), NamePlace::Open(ZoneIndex(0)));
        assert_eq!(place("c.example.net"), NamePlace::Unknown(ZoneIndex(0)));
        assert_eq!(place("example.net"), NamePlace::Unknown(ZoneIndex(0)));
        assert_eq!(live.holding("2a02::1".parse().unwrap()).count(), 1);
    }

    #[test]
    fn a_name_that_was_asked_for_its_text_is_not_known_for_its_addresses() {
        let apex = ZoneName::new(name("example.net"));
        let mut zone = AskedZone::new(apex.clone());
        let soa = one(crate::dns::RdataRef { rtype: Rtype::SOA, octets: &[0; 22] }.to_rdata());
        zone.open(vec![Answer::Holds(Rtype::SOA, soa), Answer::Nothing, Answer::Nothing]);
        let text = name("aaaa-x.example.net");
        let questions = [Rtype::SOA, Rtype::TXT].map(|rtype| Question { name: text.clone(), rtype });
        zone.take(questions.to_vec(), vec![Answer::Nothing; 2]);
        let apexes = Apexes::new(std::iter::once(&apex));
        let live = zone.to_live().unwrap();
        let live = Live::new(vec![live], apexes);
        assert_eq!(live.place(text.as_name()), NamePlace::Unknown(ZoneIndex(0)));
        assert_eq!(live.place_of_text(text.as_name()), NamePlace::Open(ZoneIndex(0)));
    }

    #[test]
    fn an_answer_that_any_name_gets_proves_nothing() {
        let wildcard = aaaa("2a02::1");
        let live = asked(&[("a.example.net", wildcard.clone()), ("b.example.net", aaaa("2a02::2"))], wildcard);
        assert_eq!(live.place(name("a.example.net").as_name()), NamePlace::Unknown(ZoneIndex(0)));
        assert_eq!(live.place(name("b.example.net").as_name()), NamePlace::Open(ZoneIndex(0)));
        assert_eq!(live.holding("2a02::1".parse().unwrap()).count(), 0);
        assert_eq!(live.holding("2a02::2".parse().unwrap()).count(), 1);
    }

    #[test]
    fn a_delegation_hides_what_lies_below_it() {
        let cut = name("sub.example.net");
        let live = asked(&[("x.sub.example.net", Answer::Delegated(cut.clone(), None))], Answer::Nothing);
        let place = live.place(name("x.sub.example.net").as_name());
        assert_eq!(place, NamePlace::Delegated(ZoneIndex(0), cut));
    }
}
