//! Writes zones to a primary, and reads of them what writing needs.

use std::sync::Arc;

use domain::base::iana::Rcode;
use domain::tsig::Key;

use super::ask::{Asker, DEFAULT_WINDOW, MAX_WINDOW};
use super::failure::ServerFailure;
use super::lower::{self, LIMITS};
use super::making;
use super::primary::Primary;
use super::read_error;
use super::session::UpdateSession;
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::provider::exchange::ExchangeSettings;
use crate::target::{
    Answer, EditSize, Question, ReadingManner, RrsetEdit, UpdateLimits, UpdateZone, WriteTarget, ZoneApex, answers,
    transfer_is_cheaper,
};

impl WriteTarget for Primary {
    fn place(&self, zone: &ZoneName) -> String {
        Primary::place(self, zone)
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        EditSize::of_octets(lower::octets(zone, edit))
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.key(zone)?;
        let transferred = self.transfer_pays(questions.len(), rrsets).then(|| {
            let contents = self.servers.transfer(self.server(), zone, key.clone(), self.servers.kept_size(zone))?;
            Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
        });
        let answers = match transferred {
            Some(Err(failure)) if !may_be_answered_else(&failure) => Err(failure),
            Some(Ok(answers)) => Ok(answers),
            Some(Err(_)) | None => self.ask(zone, key, questions),
        };
        answers.map_err(|failure| read_error(self.place(zone), &failure, ""))
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(UpdateSession::new(self, zone))
    }

    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        making::create(self, zone, apex)
    }

    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        making::delete(self, zone)
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        Ok(())
    }
}

impl Primary {
    /// Whether a transfer costs the server less than so many questions.
    fn transfer_pays(&self, questions: usize, rrsets: Option<u64>) -> bool {
        self.exchange().read != ReadingManner::ByName
            && rrsets.is_some_and(|rrsets| transfer_is_cheaper(questions as u64, rrsets))
    }

    /// Asks questions, and those that recognize answers from wildcards.
    fn ask(
        &self,
        zone: &ZoneName,
        key: Option<Arc<Key>>,
        questions: &[Question],
    ) -> Result<Vec<Answer>, ServerFailure> {
        let &ExchangeSettings { timeout, window, .. } = self.exchange();
        let window = window.map_or(DEFAULT_WINDOW, |window| usize::from(window).min(MAX_WINDOW));
        let limits = self.servers.settings.limits;
        Asker { server: self.server(), zone, key, timeout, window, limits }.observe(questions)
    }
}

/// Whether questions may be answered although a transfer failed: because no transfer of the zone is allowed, or too
/// many run at the moment (BIND answers SERVFAIL where its `transfers-out`, 10 by default, are all used).
fn may_be_answered_else(failure: &ServerFailure) -> bool {
    match failure {
        ServerFailure::Refused { rcode, .. } => {
            matches!(*rcode, Rcode::REFUSED | Rcode::NOTAUTH | Rcode::NOTIMP | Rcode::SERVFAIL)
        }
        // Knot says so of a key that no `acl` lets transfer the zone, and some servers just hang up.
        ServerFailure::BadKey { by_server: true } => true,
        ServerFailure::Cut { progress } => progress.messages == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::sync::mpsc::{self, Receiver};
    use std::thread;

    use super::super::primary::MAX_IN_FLIGHT;
    use super::super::settings::ServerAddress;
    use super::super::tests::{a, answer, apex, framed, reader, zone};
    use super::*;
    use crate::dns::{Name, Rtype};

    /// A primary of a small zone that may be transferred or not, and each type that it was asked for.
    fn primary(transfers: bool, read: ReadingManner) -> (Primary, Receiver<u8>) {
        primary_that_says(if transfers { 0 } else { 5 }, read)
    }

    /// The same, which answers transfers with an error unless it is 0.
    fn primary_that_says(rcode: u8, read: ReadingManner) -> (Primary, Receiver<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, is_asked) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                while let Some(question) = super::super::tests::read(&mut stream) {
                    let rtype = question[question.len() - 3];
                    // The test may have seen enough.
                    let _ = asked.send(rtype);
                    let answers = answers(&question, rtype, rcode);
                    stream.write_all(&framed(&answers)).unwrap();
                }
            }
        });
        let mut servers = reader(vec![ServerAddress { host: "127.0.0.1".into(), port }], false);
        servers.settings.exchange.read = read;
        (Primary::new(servers), is_asked)
    }

    /// What the server answers: to a transfer the zone or an error, and that `a.example.net` alone has an address.
    fn answers(question: &[u8], rtype: u8, rcode: u8) -> Vec<Vec<u8>> {
        let id = u16::from_be_bytes([question[0], question[1]]);
        match (rtype, rcode) {
            (252, 0) => zone().iter().map(|records| answer(id, 0, records)).collect(),
            (252, rcode) => vec![answer(id, rcode, &[])],
            _ => {
                let records =
                    if question[13] == b'a' { vec![a("a.example.net", 1), a("a.example.net", 3)] } else { vec![] };
                let authority = if records.is_empty() { vec![super::super::tests::soa(1)] } else { vec![] };
                let mut message = answer(id, 0, &[records.clone(), authority.clone()].concat());
                message.splice(12..29, question[12..].iter().copied());
                (message[7], message[9]) = (records.len() as u8, authority.len() as u8);
                vec![message]
            }
        }
    }

    /// What these primaries were asked for when they were to report the RRsets at so many names.
    fn asked(primary: (Primary, Receiver<u8>), count: usize, rrsets: Option<u64>) -> Vec<u8> {
        let (primary, asked) = primary;
        let name = |number| if number == 0 { "a".to_owned() } else { format!("x{number}") };
        let name = |number| Name::parse(&format!("{}.example.net", name(number))).unwrap();
        let questions: Vec<_> = (0..count).map(|number| Question { name: name(number), rtype: Rtype::A }).collect();
        let answers = primary.observe(&apex(), &questions, rrsets).unwrap();
        assert_eq!(answers.len(), count);
        for (number, answer) in answers.iter().enumerate() {
            match answer {
                Answer::Holds(Rtype::A, rrset) => assert_eq!((number, rrset.rdata().len()), (0, 2)),
                other => assert_eq!((number > 0, other), (true, &Answer::Nothing)),
            }
        }
        let mut asked: Vec<_> = asked.try_iter().collect();
        asked.dedup();
        asked
    }

    #[test]
    fn a_zone_is_read_by_whatever_costs_the_server_least() {
        let (axfr, question) = (252, 1);
        let open = || primary(true, ReadingManner::Whole);
        assert!(asked(open(), 0, Some(3)).is_empty());
        assert_eq!(asked(open(), 2, Some(3)), [axfr]);
        assert_eq!(asked(open(), 2, Some(11)), [question]);
        assert_eq!(asked(open(), 2, None), [question]);
        assert_eq!(asked(primary(true, ReadingManner::ByName), 2, Some(3)), [question]);
        assert_eq!(asked(primary(true, ReadingManner::Either), 2, Some(3)), [axfr]);
        assert_eq!(asked(primary(false, ReadingManner::Whole), 2, Some(3)), [axfr, question]);
        let busy = primary_that_says(2, ReadingManner::Whole);
        assert_eq!(asked(busy, 2, Some(3)), [axfr, question]);
    }

    #[test]
    fn the_settings_say_how_many_updates_are_in_flight() {
        let (mut primary, _asked) = primary(true, ReadingManner::Whole);
        assert_eq!(primary.window(), 1);
        for (window, expected) in [(1, 1), (4, 4), (1000, MAX_IN_FLIGHT)] {
            primary = Primary::new(primary.servers);
            primary.servers.settings.exchange.window = Some(window);
            assert_eq!(primary.window(), expected);
        }
    }
}
