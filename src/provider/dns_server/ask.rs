//! Many questions over one connection, several in flight.
//!
//! Comes in: questions about one zone. Goes out: an answer for each, or the failure that prevented it. Answers may come
//! in any order (RFC 7766 section 7), and twice. A server may close the connection at any time (section 6.2.4);
//! questions that it left unanswered are asked again over another connection.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::base::Message;
use domain::base::iana::Rcode;
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::failure::{ServerFailure, TransferProgress};
use super::message::{self, MessageHeader, bad};
use super::meter::ReadMeter;
use super::observe::WildcardProbes;
use super::settings::ServerAddress;
use super::wire::{Connection, WireFault};
use super::{explain_wire, query, random_id};
use crate::dns::ZoneName;
use crate::provider::limits::ReadLimits;
use crate::target::{Answer, Question};

/// How many questions are in flight where the settings say nothing: enough that neither side waits for the other (with
/// 200 in flight BIND answers 46 000 a second on one core, with one 4 000).
pub const DEFAULT_WINDOW: usize = 100;

/// The most: what waits to be read on the way must fit into the buffers of both systems, or both sides wait for ever.
pub const MAX_WINDOW: usize = 1000;

/// Who is asked, and how.
#[derive(Debug)]
pub struct Asker<'a> {
    /// The server.
    pub server: &'a ServerAddress,
    /// The zone that all questions are about.
    pub zone: &'a ZoneName,
    /// The key that questions are signed with.
    pub key: Option<Arc<Key>>,
    /// How long the server may be silent.
    pub timeout: Duration,
    /// How many questions may be in flight.
    pub window: usize,
    /// How much all answers may bring.
    pub limits: ReadLimits,
}

/// A question that was sent.
struct SentQuestion {
    /// Its place among the questions.
    place: usize,
    /// What its answer's signature is checked with.
    transaction: Option<ClientTransaction<Arc<Key>>>,
}

/// Reads what an answer says, its signature already taken off.
type ReadAnswer<T> = fn(&[u8], &ZoneName, &Question) -> Result<T, ServerFailure>;

/// Questions that are being asked, with what was read from their answers so far.
struct QuestionRun<'a, T> {
    /// The questions.
    questions: &'a [Question],
    /// What reads an answer.
    read: ReadAnswer<T>,
    /// What was read from the answer to each question; `None` where there is none yet.
    answers: Vec<Option<T>>,
    /// How far the server came.
    progress: TransferProgress,
    /// The measure of what it sent.
    meter: ReadMeter,
}

impl Asker<'_> {
    /// Asks all questions; gives the answers in the order of the questions.
    pub fn ask(&self, questions: &[Question]) -> Result<Vec<Answer>, ServerFailure> {
        self.ask_to(questions, query::read_answer)
    }

    /// Asks all questions, and those that recognize answers from wildcards, which count as nothing.
    pub fn observe(&self, questions: &[Question]) -> Result<Vec<Answer>, ServerFailure> {
        let probe = |probes: Vec<Question>| -> Result<HashMap<Question, Answer>, ServerFailure> {
            if probes.is_empty() {
                return Ok(HashMap::new());
            }
            let answers = self.ask(&probes)?;
            Ok(probes.into_iter().zip(answers).collect())
        };
        let probes = WildcardProbes { zone: self.zone, questions, answers: self.ask(questions)? };
        let neighbours = probe(probes.neighbours())?;
        let below = probe(probes.below(&neighbours))?;
        Ok(probes.settle(&below))
    }

    /// Asks all questions; returns what is read from the answers, in the order of the questions.
    pub fn ask_to<T>(&self, questions: &[Question], read: ReadAnswer<T>) -> Result<Vec<T>, ServerFailure> {
        let mut run = QuestionRun {
            questions,
            read,
            answers: questions.iter().map(|_| None).collect(),
            progress: TransferProgress::default(),
            meter: ReadMeter::start(self.limits, None),
        };
        while run.answers.iter().any(Option::is_none) {
            let before = run.progress.messages;
            match self.ask_over_one_connection(&mut run) {
                // A server that answers nothing more before it closes will not be moved by asking again.
                Err(ServerFailure::Cut { .. }) if run.progress.messages > before => {}
                outcome => outcome?,
            }
        }
        Ok(run.answers.into_iter().flatten().collect())
    }

    /// Asks the questions without an answer, until all have one.
    fn ask_over_one_connection<T>(&self, run: &mut QuestionRun<'_, T>) -> Result<(), ServerFailure> {
        let QuestionRun { questions, read, answers, progress, meter } = run;
        let explain = |fault: WireFault, progress: &TransferProgress| explain_wire(fault, *progress);
        let mut connection = Connection::open(self.server, self.timeout).map_err(|fault| explain(fault, progress))?;
        let waiting: Vec<usize> = (0..questions.len()).filter(|place| answers[*place].is_none()).collect();
        let mut waiting = waiting.into_iter().peekable();
        let mut in_flight: HashMap<u16, SentQuestion> = HashMap::new();
        let mut answered: HashSet<u16> = HashSet::new();
        let mut id = random_id();
        let mut message = Vec::new();
        loop {
            // Half a window at a time, so that many questions share a segment.
            if in_flight.len() <= self.window / 2 {
                let mut framed = Vec::new();
                while in_flight.len() < self.window
                    && let Some(place) = waiting.next()
                {
                    id = id.wrapping_add(1);
                    answered.remove(&id);
                    let transaction = self.append_question(&questions[place], id, &mut framed);
                    in_flight.insert(id, SentQuestion { place, transaction });
                }
                connection.send_framed(&framed).map_err(|fault| explain(fault, progress))?;
            }
            if in_flight.is_empty() {
                return Ok(());
            }
            meter.receive(&mut connection, self.timeout, &mut message, *progress)?;
            let header = MessageHeader::read(&message).ok_or_else(|| bad("a message shorter than its header"))?;
            let Some(sent) = in_flight.remove(&header.id) else {
                // What comes twice says nothing new; what comes oftener may never end.
                if answered.remove(&header.id) { continue } else { return Err(bad("the answer to another question")) }
            };
            let question = &questions[sent.place];
            let answer = self.accept(&mut message, &sent).and_then(|()| read(&message, self.zone, question));
            let answer = answer.map_err(|failure| self.tell_question(question, failure))?;
            progress.messages += 1;
            progress.records += usize::from(header.counts[1]);
            meter.check(*progress)?;
            answers[sent.place] = Some(answer);
            answered.insert(header.id);
        }
    }

    /// Appends a question with its length before it, signed where there is a key.
    fn append_question(
        &self,
        question: &Question,
        id: u16,
        framed: &mut Vec<u8>,
    ) -> Option<ClientTransaction<Arc<Key>>> {
        let mut message = message::question(question.name.as_name(), question.rtype, id);
        let sign =
            |key: Arc<Key>| ClientTransaction::request(key, &mut message, Time48::now()).expect("a TSIG record fits");
        let transaction = self.key.clone().map(sign);
        let octets = message.finish();
        let length = u16::try_from(octets.len()).expect("a question is far shorter than a message may be");
        framed.extend_from_slice(&length.to_be_bytes());
        framed.extend_from_slice(&octets);
        transaction
    }

    /// Names the question of a failure that may concern this name only: a failure at the apex concerns the whole zone,
    /// and a wrong signature concerns everything.
    fn tell_question(&self, question: &Question, failure: ServerFailure) -> ServerFailure {
        let is_of_name = matches!(
            failure,
            ServerFailure::QueryRefused { .. } | ServerFailure::NoAuthority | ServerFailure::BadMessage(_)
        );
        if is_of_name && question.name.as_name() != self.zone.as_name() {
            ServerFailure::AtQuestion(question.clone(), Box::new(failure))
        } else {
            failure
        }
    }

    /// Checks the signature of an answer, and takes it off.
    fn accept(&self, octets: &mut Vec<u8>, sent: &SentQuestion) -> Result<(), ServerFailure> {
        if let Some(transaction) = &sent.transaction {
            let now = Time48::now();
            let mut message = Message::from_octets(std::mem::take(octets)).map_err(|_| bad("no message"))?;
            let checked = transaction.answer(&mut message, now);
            *octets = message.into_octets();
            checked.map_err(|error| match message::explain_signature(error, octets, now) {
                // That a name does not exist is an answer, and no refusal to sign it.
                ServerFailure::Refused { rcode: Rcode::NXDOMAIN, .. } => ServerFailure::Unsigned,
                ServerFailure::Refused { rcode, .. } => ServerFailure::QueryRefused { rcode, unproven: true },
                failure => failure,
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::super::tests::{Signer, apex, framed, read, reader};
    use super::*;
    use crate::diag::Problem;
    use crate::dns::{Name, Rtype};
    use crate::target::{NameExistence, ReadTarget as _};

    /// The header flags of an authoritative answer without an error.
    const GOOD: [u8; 2] = [0x84, 0];

    /// Questions for the AAAA of h0, h1 and so on.
    fn questions(count: usize) -> Vec<Question> {
        let name = |number| Name::parse(&format!("h{number}.example.net")).unwrap();
        (0..count).map(|number| Question { name: name(number), rtype: Rtype::AAAA }).collect()
    }

    /// A record of class IN with a TTL of 60.
    fn record(owner: &[u8], rtype: Rtype, rdata: &[u8]) -> Vec<u8> {
        let fixed =
            [rtype.to_int().to_be_bytes(), [0, 1], [0, 0], [0, 60], (rdata.len() as u16).to_be_bytes()].concat();
        [owner, &fixed, rdata].concat()
    }

    /// The answer to a question, with these flags and records in the sections for answers and authority.
    fn reply(question: &[u8], flags: [u8; 2], answers: &[Vec<u8>], authority: &[Vec<u8>]) -> Vec<u8> {
        let end = 12 + question[12..].iter().position(|octet| *octet == 0).unwrap() + 5;
        let counts = [0, 1, 0, answers.len() as u8, 0, authority.len() as u8, 0, 0];
        [&question[..2], &flags, &counts, &question[12..end], &answers.concat(), &authority.concat()].concat()
    }

    /// The AAAA of a host, which ends in the octets of its name's first label.
    fn holds(question: &[u8]) -> Vec<u8> {
        let label = &question[13..13 + usize::from(question[12])];
        let rdata = [vec![0x2a; 16 - label.len()], label.to_vec()].concat();
        reply(question, GOOD, &[record(b"\xc0\x0c", Rtype::AAAA, &rdata)], &[])
    }

    /// The SOA of a zone, as an answer without records contains it.
    fn soa(zone: &[u8]) -> Vec<u8> {
        record(zone, Rtype::SOA, &[0; 22])
    }

    /// `example.net.` in wire format.
    const APEX: &[u8] = b"\x07example\x03net\0";

    /// A server that serves one connection after the other as `act` says, the number of the connection given.
    fn server(connections: usize, act: impl Fn(usize, &mut TcpStream) + Send + 'static) -> ServerAddress {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for number in 0..connections {
                let (mut stream, _) = listener.accept().unwrap();
                act(number, &mut stream);
            }
        });
        ServerAddress { host: "127.0.0.1".into(), port }
    }

    /// A server that answers every question on one connection by itself.
    fn answering(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> ServerAddress {
        answering_all(move |question| vec![answer(question)])
    }

    /// A server that gives every question on one connection these answers.
    fn answering_all(answers: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> ServerAddress {
        server(1, move |_, stream| {
            while let Some(question) = read(stream) {
                // The client may hang up first.
                let _ = stream.write_all(&framed(&answers(&question)));
            }
        })
    }

    /// Asks a server without a key for the AAAA of some hosts.
    fn ask(server: ServerAddress, count: usize) -> Result<Vec<Answer>, Problem> {
        reader(vec![server], false).ask(&apex(), &questions(count))
    }

    /// The code of the error that the answer to one question gives.
    fn code(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> &'static str {
        ask(answering(answer), 1).unwrap_err().code.as_str()
    }

    /// What each answer of [`holds`] holds.
    fn labels(answers: &[Answer]) -> Vec<String> {
        let label = |answer: &Answer| match answer {
            Answer::Holds(Rtype::AAAA, rrset) => {
                let octets = rrset.rdata()[0].as_octets().iter().copied().skip_while(|octet| *octet == 0x2a);
                String::from_utf8(octets.collect()).unwrap()
            }
            other => panic!("{other:?}"),
        };
        answers.iter().map(label).collect()
    }

    #[test]
    fn answers_in_any_order_find_their_questions() {
        let server = server(1, |_, stream| {
            // Fewer than are in flight at any time, so that no side waits for the other.
            for _ in 0..500 / (DEFAULT_WINDOW / 2) {
                let questions: Vec<_> = (0..DEFAULT_WINDOW / 2).map_while(|_| read(stream)).collect();
                let answers: Vec<_> = questions.iter().rev().map(|question| holds(question)).collect();
                stream.write_all(&framed(&answers)).unwrap();
            }
        });
        let expected: Vec<String> = (0..500).map(|number| format!("h{number}")).collect();
        assert_eq!(labels(&ask(server, 500).unwrap()), expected);
    }

    #[test]
    fn an_answer_that_comes_twice_counts_once_and_one_that_comes_oftener_not_at_all() {
        let times = |count: usize| answering_all(move |question| vec![holds(question); count]);
        assert_eq!(labels(&ask(times(2), 3).unwrap()), ["h0", "h1", "h2"]);
        assert_eq!(ask(times(3), 3).unwrap_err().code.as_str(), "bad-message");
    }

    #[test]
    fn what_a_closed_connection_leaves_is_asked_again_as_long_as_something_comes() {
        let seven_each = server(10, |_, stream| {
            for _ in 0..7 {
                let Some(question) = read(stream) else { return };
                stream.write_all(&framed(&[holds(&question)])).unwrap();
            }
        });
        assert_eq!(labels(&ask(seven_each, 20).unwrap()).len(), 20);
        let seven_then_none = server(2, |number, stream| {
            for _ in 0..7 * (1 - number) {
                let Some(question) = read(stream) else { return };
                stream.write_all(&framed(&[holds(&question)])).unwrap();
            }
        });
        assert_eq!(ask(seven_then_none, 20).unwrap_err().code.as_str(), "transfer-cut");
    }

    #[test]
    fn the_authority_tells_of_which_zone_nothing_is_said() {
        let answer =
            |authority: Vec<u8>| ask(answering(move |q| reply(q, GOOD, &[], std::slice::from_ref(&authority))), 1);
        assert_eq!(answer(soa(APEX)).unwrap(), [Answer::Nothing]);
        let child = Answer::Delegated(Name::parse("h0.example.net").unwrap(), None);
        assert_eq!(answer(soa(&[b"\x02h0", APEX].concat())).unwrap(), [child]);
        assert_eq!(answer(soa(b"\x03net\0")).unwrap_err().code.as_str(), "zone-not-served");
        assert_eq!(code(|question| reply(question, GOOD, &[], &[])), "zone-not-served");
    }

    #[test]
    fn a_referral_is_a_delegation_and_nobody_elses_word_counts() {
        let referral = |question: &[u8]| {
            let servers = record(&[b"\x02h0", APEX].concat(), Rtype::NS, b"\x01n\0");
            reply(question, [0x80, 0], &[], &[servers])
        };
        let found = ask(answering(referral), 1).unwrap();
        assert!(matches!(&found[0], Answer::Delegated(_, Some(servers)) if servers.rdata().len() == 1), "{found:?}");
        let hearsay = |question: &[u8]| [&question[..2], &[0x80, 0], &holds(question)[4..]].concat();
        assert_eq!(code(hearsay), "zone-not-served");
    }

    #[test]
    fn a_cname_stands_for_what_was_asked_and_a_dname_above_makes_it_up() {
        let owner = [b"\x02h0", APEX].concat();
        let cname = record(&owner, Rtype::CNAME, b"\x01c\0");
        let further = record(b"\x01c\0", Rtype::AAAA, &[1; 16]);
        let with = |records: Vec<Vec<u8>>| ask(answering(move |q| reply(q, GOOD, &records, &[])), 1).unwrap().remove(0);
        assert!(matches!(with(vec![cname.clone(), further]), Answer::Holds(Rtype::CNAME, _)));
        let dname = record(APEX, Rtype::DNAME, b"\x01d\0");
        assert!(
            matches!(with(vec![dname, cname]), Answer::BelowDname(owner, _) if owner == apex().as_name().to_name())
        );
    }

    #[test]
    fn a_name_exists_unless_the_server_says_that_there_is_none() {
        let name = Name::parse("h0.example.net").unwrap();
        let find = |flags: [u8; 2], records: Vec<Vec<u8>>, authority: Vec<u8>| {
            let server = answering(move |q| reply(q, flags, &records, std::slice::from_ref(&authority)));
            reader(vec![server], false).find(&apex(), std::slice::from_ref(&name)).unwrap().remove(0)
        };
        let denied = [GOOD[0], 3];
        let cname = record(&[b"\x02h0", APEX].concat(), Rtype::CNAME, b"\x01c\0");
        let child = soa(&[b"\x02h0", APEX].concat());
        assert_eq!(find(denied, vec![], soa(APEX)), NameExistence::Absent);
        assert_eq!(find(GOOD, vec![], soa(APEX)), NameExistence::Present);
        // Here the name that the CNAME points to is the one that is not there.
        assert_eq!(find(denied, vec![cname], soa(APEX)), NameExistence::Present);
        assert_eq!(find(denied, vec![], child), NameExistence::Delegated(name.clone()));
    }

    #[test]
    fn refusals_and_nonsense_are_no_answers() {
        assert_eq!(code(|question| reply(question, [0x84, 5], &[], &[])), "query-refused");
        assert_eq!(code(|question| reply(question, [0x84, 2], &[], &[])), "server-failure");
        assert_eq!(code(|question| reply(question, [0x86, 0], &[], &[soa(APEX)])), "bad-message");
        assert_eq!(code(|question| question.to_vec()), "bad-message");
        assert_eq!(code(|_| vec![0; 5]), "bad-message");
        let other = |question: &[u8]| [&[question[0] ^ 1], &holds(question)[1..]].concat();
        assert_eq!(code(other), "bad-message");
        let renamed = |question: &[u8]| [&holds(question)[..13], b"x", &holds(question)[14..]].concat();
        assert_eq!(code(renamed), "bad-message");
        let elsewhere = |question: &[u8]| reply(question, GOOD, &[record(APEX, Rtype::AAAA, &[1; 16])], &[]);
        assert_eq!(code(elsewhere), "bad-message");
    }

    #[test]
    fn errors_name_all_servers_that_a_zone_is_asked_of() {
        let server = |port| ServerAddress { host: "127.0.0.1".into(), port };
        let place = reader(vec![server(53), server(54)], false).place(&apex());
        assert_eq!(place, "127.0.0.1:53, 127.0.0.1:54 zone example.net.");
    }

    #[test]
    fn a_name_that_alone_is_refused_is_named() {
        let only_h2 = |question: &[u8]| {
            if question[13..15] == *b"h2" { reply(question, [0x84, 2], &[], &[]) } else { holds(question) }
        };
        assert_eq!(
            ask(answering(only_h2), 3).unwrap_err().message,
            "the server answers SERVFAIL to a question about a name (the question was `h2.example.net.` AAAA)"
        );
    }

    #[test]
    fn with_a_key_every_answer_must_be_signed() {
        let signed = |question: &[u8]| {
            let unsigned = holds(question);
            Signer::new(question).sign(unsigned)
        };
        let with_key = |server| reader(vec![server], true).ask(&apex(), &questions(1));
        assert_eq!(labels(&with_key(answering(signed)).unwrap()), ["h0"]);
        assert_eq!(with_key(answering(holds)).unwrap_err().code.as_str(), "tsig-unsigned");
        let no_such_name = |question: &[u8]| reply(question, [0x84, 3], &[], &[soa(APEX)]);
        assert_eq!(with_key(answering(no_such_name)).unwrap_err().code.as_str(), "tsig-unsigned");
        let forged = move |question: &[u8]| {
            let mut message = signed(question);
            let address = message.windows(4).position(|octets| octets == [0x2a; 4]).unwrap();
            message[address] ^= 1;
            message
        };
        assert_eq!(with_key(answering(forged)).unwrap_err().code.as_str(), "tsig-bad-sig");
        let refused = with_key(answering(|question| reply(question, [0x84, 5], &[], &[]))).unwrap_err();
        assert_eq!(refused.code.as_str(), "query-refused");
        assert!(refused.message.contains("unsigned"), "{}", refused.message);
    }

    #[test]
    fn a_server_that_is_silent_is_late() {
        let silent = server(1, |_, stream| while read(stream).is_some() {});
        let mut reader = reader(vec![silent], false);
        reader.settings.exchange.timeout = Duration::from_millis(50);
        assert_eq!(reader.ask(&apex(), &questions(3)).unwrap_err().code.as_str(), "timeout");
    }
}
