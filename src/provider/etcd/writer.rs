//! Zones in etcd, written: each update is one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

use super::change::{self, ChangeFault, LIMITS, PlannedTransaction, SeenNames, is_of_marker, reads_of, seen_of};
use super::client::EtcdFault;
use super::json::{Comparison, Operation, Transaction};
use super::keys::{EtcdKey, ZoneKeys};
use super::layout::EtcdLayout;
use super::target::EtcdReader;
use crate::diag::Problem;
use crate::dns::{Name, ZoneName};
use crate::parallel::HELD;
use crate::provider::at_once::AtOnce;
use crate::target::{
    Answer, Question, ReadTarget as _, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateZone, WriteTarget, ZoneApex,
    answers, transfer_is_cheaper,
};

/// How many names one transaction reads: two ranges each, and those of zonewright.
const NAMES_AT_ONCE: usize = 60;

/// How often a transaction is tried whose keys were read before another editor wrote others next to them.
const TRIES: usize = 3;

/// Writes zones.
pub struct EtcdWriter {
    /// Reads them.
    reader: EtcdReader,
    /// The keys that were seen and not written since.
    seen: Mutex<HashMap<ZoneName, SeenNames>>,
}

impl EtcdWriter {
    /// A writer of which nothing was seen.
    pub fn new(reader: EtcdReader) -> EtcdWriter {
        EtcdWriter { reader, seen: Mutex::default() }
    }

    /// What new keys say of whose they are.
    fn owner(&self) -> Option<&str> {
        self.reader.settings.owner.as_deref()
    }

    /// Reads the keys of names, and keeps them as they were seen.
    ///
    /// Errors: there is no answer.
    fn see(&self, layout: &EtcdLayout, zone: &ZoneName, names: &BTreeSet<Name>) -> Result<ZoneKeys, EtcdFault> {
        let paths: Vec<(&Name, String)> =
            names.iter().filter_map(|name| Some((name, layout.path(name.as_name())?))).collect();
        let mut all = ZoneKeys::read(layout, Vec::new(), 0, self.owner());
        let chunks: Vec<&[(&Name, String)]> =
            if paths.is_empty() { vec![&[]] } else { paths.chunks(NAMES_AT_ONCE).collect() };
        for chunk in chunks {
            let mut operations: Vec<Operation> = chunk.iter().flat_map(|(_, path)| reads_of(path)).collect();
            operations.extend([Operation::Get(layout.marker()), Operation::Get(layout.made())]);
            let looked = self.reader.client.look(&Transaction { comparisons: Vec::new(), operations })?;
            let keys: BTreeMap<String, EtcdKey> = looked.keys.into_iter().map(|key| (key.key.clone(), key)).collect();
            let keys = ZoneKeys::read(layout, keys.into_values().collect(), looked.revision, self.owner());
            let of_chunk: BTreeSet<Name> = chunk.iter().map(|(name, _)| (*name).clone()).collect();
            let seen = seen_of(layout, &keys, &of_chunk);
            self.seen.lock().expect(HELD).entry(zone.clone()).or_default().extend(seen);
            all.add(keys);
        }
        all.drop_repeats();
        Ok(all)
    }

    /// Forgets what was seen of names.
    fn forget(&self, zone: &ZoneName, names: &BTreeSet<Name>) {
        if let Some(seen) = self.seen.lock().expect(HELD).get_mut(zone) {
            names.iter().for_each(|name| drop(seen.remove(name)));
        }
    }

    /// Makes the transaction of an update, by what was seen or, where `anew` says so, by what is seen now.
    fn plan(&self, layout: &EtcdLayout, update: &Update<'_>, anew: bool) -> Result<PlannedOr, EtcdFault> {
        let edits = update.edits.iter().filter(|edit| !is_of_marker(update.zone, edit));
        let names: BTreeSet<Name> = edits.map(|edit| edit.key.owner.as_name().to_name()).collect();
        let missing: BTreeSet<Name> = {
            let seen = self.seen.lock().expect(HELD);
            let of_zone = seen.get(update.zone);
            let is_missing = |name: &&Name| anew || of_zone.is_none_or(|seen| !seen.contains_key(*name));
            names.iter().filter(is_missing).cloned().collect()
        };
        if !missing.is_empty() {
            self.see(layout, update.zone, &missing)?;
        }
        let seen = self.seen.lock().expect(HELD);
        let none = SeenNames::new();
        Ok(change::transaction(layout, update, seen.get(update.zone).unwrap_or(&none), self.owner()))
    }

    /// Sends an update.
    fn deliver(&self, update: &Update<'_>) -> UpdateReply {
        let layout = match self.reader.layout(update.zone) {
            Ok(layout) => layout,
            Err(problem) => return UpdateReply::Refused(problem),
        };
        let problem = |fault: EtcdFault| self.reader.problem(update.zone, fault);
        let mut last = UpdateReply::Prerequisite("the zone was written by others all the time".to_owned());
        for attempt in 0..TRIES {
            let planned = match self.plan(&layout, update, attempt > 0) {
                Ok(planned) => planned,
                // Nothing was sent that writes.
                Err(fault) => return UpdateReply::Failed(problem(fault)),
            };
            let PlannedTransaction { transaction, names } = match planned {
                Ok(planned) => planned,
                Err(fault) if attempt > 0 => return self.reply_of(update.zone, fault),
                Err(_) => continue,
            };
            let written = self.reader.client.write(&transaction);
            self.forget(update.zone, &names);
            match written {
                Ok(done) if done.is_made => return UpdateReply::Done,
                Ok(_) => {
                    last = UpdateReply::Prerequisite(
                        "the marker or keys of it have changed since they were read".to_owned(),
                    )
                }
                Err(fault) if fault.is_refusal => return UpdateReply::Refused(problem(fault)),
                Err(fault) => return UpdateReply::Unknown(problem(fault)),
            }
        }
        last
    }

    /// The reply to an update of which no transaction can be made.
    fn reply_of(&self, zone: &ZoneName, fault: ChangeFault) -> UpdateReply {
        match fault {
            ChangeFault::Differs(words) => UpdateReply::Prerequisite(words),
            ChangeFault::Impossible(why) => {
                let problem = Problem::new(self.place(zone), "update-rejected", why);
                UpdateReply::Refused(problem.hint("docs/targets.md says what CoreDNS reads in etcd"))
            }
        }
    }

    /// Makes a transaction about a zone as a whole.
    fn make(&self, zone: &ZoneName, transaction: &Transaction, code: &'static str, lost: &str) -> Result<(), Problem> {
        match self.reader.client.write(transaction) {
            Ok(done) if done.is_made => Ok(()),
            Ok(_) => Err(Problem::new(self.place(zone), code, lost).hint("plan again: the next plan reads it")),
            Err(fault) => Err(Problem { code: crate::diag::Code::new(code), ..self.reader.problem(zone, fault) }),
        }
    }
}

/// A transaction, or why there is none.
type PlannedOr = Result<PlannedTransaction, ChangeFault>;

impl WriteTarget for EtcdWriter {
    fn place(&self, zone: &ZoneName) -> String {
        self.reader.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn octets(&self, _: &ZoneName, edit: RrsetEdit<'_>) -> usize {
        change::octets(edit)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let layout = self.reader.layout(zone)?;
        let names: BTreeSet<Name> = questions.iter().map(|question| question.name.clone()).collect();
        let contents = if rrsets.is_some_and(|rrsets| transfer_is_cheaper(names.len() as u64, rrsets)) {
            let read = self.reader.read(zone)?;
            let seen = seen_of(&layout, &read.keys, &names);
            self.seen.lock().expect(HELD).entry(zone.clone()).or_default().extend(seen);
            read.contents
        } else {
            let keys = self.see(&layout, zone, &names).map_err(|fault| self.reader.problem(zone, fault))?;
            let unusable = |error| EtcdFault::unusable(format!("its keys make no zone: {error}"));
            keys.contents(zone).map_err(|error| self.reader.problem(zone, unusable(error)))?.0
        };
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(AtOnce::new(|update: &Update<'_>| self.deliver(update)))
    }

    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        let layout = self.reader.layout(zone)?;
        let text = serde_json::to_string(apex).expect("names are JSON");
        let transaction = Transaction {
            comparisons: vec![
                Comparison::NoneSince(layout.range(), 0),
                Comparison::Unchanged(layout.marker(), 0),
                Comparison::Unchanged(layout.made(), 0),
            ],
            operations: vec![Operation::Put(layout.made(), text)],
        };
        self.make(zone, &transaction, "zone-not-made", "the zone is there by now")
    }

    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        let layout = self.reader.layout(zone)?;
        let transaction = Transaction {
            comparisons: vec![Comparison::NoneSince(layout.range(), 0)],
            operations: vec![Operation::Delete(layout.made()), Operation::Delete(layout.marker())],
        };
        self.make(zone, &transaction, "zone-not-deleted", "the zone has keys")
    }

    fn finish(&self) -> Result<(), Problem> {
        Ok(())
    }
}
