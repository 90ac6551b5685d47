//! Updates of zones in etcd, delivered: what was seen of their names becomes a transaction, which is tried anew where another
//! editor wrote next to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::change::{self, ChangeFault, PlannedTransaction, is_of_marker};
use super::client::EtcdFault;
use super::json::{Operation, Transaction, TransactionDone};
use super::keys::{EtcdKey, ZoneKeys};
use super::layout::EtcdLayout;
use super::seen::{SeenKeys, reads_of};
use super::target::EtcdReader;
use crate::diag::Problem;
use crate::dns::{Name, ZoneName};
use crate::parallel::HELD;
use crate::provider::in_turn::UpdateTurn;
use crate::target::{ReadTarget as _, Update, UpdateReply};

/// How many names one transaction reads: two ranges each, and those of zonewright.
const NAMES_AT_ONCE: usize = 60;

/// How often a transaction is tried whose keys were read before another editor wrote others next to them.
const TRIES: usize = 3;

/// How long a transaction waits while the one before is under way, so that it does not overtake that one: a transaction of this size
/// takes several times as long.
const HEAD_START: Duration = Duration::from_millis(1);

/// What delivers updates. Zones may be written side by side.
pub struct EtcdDelivery {
    /// Reads zones.
    pub reader: EtcdReader,
    /// The keys that were seen and not written since.
    seen: Mutex<HashMap<ZoneName, SeenKeys>>,
}

impl EtcdDelivery {
    /// One to which nothing is known.
    pub fn new(reader: EtcdReader) -> EtcdDelivery {
        EtcdDelivery { reader, seen: Mutex::default() }
    }

    /// Does something with what was seen of a zone.
    fn with_seen<R>(&self, zone: &ZoneName, work: impl FnOnce(&mut SeenKeys) -> R) -> R {
        work(self.seen.lock().expect(HELD).entry(zone.clone()).or_default())
    }

    /// Keeps what a read of a whole zone says of names.
    pub fn keep(&self, layout: &EtcdLayout, zone: &ZoneName, keys: &ZoneKeys, names: &BTreeSet<Name>) {
        self.with_seen(zone, |seen| seen.take(layout, keys, names, true));
    }

    /// Reads the keys of names, and keeps them as they were seen.
    ///
    /// Errors: there is no answer.
    pub fn see(&self, layout: &EtcdLayout, zone: &ZoneName, names: &BTreeSet<Name>) -> Result<ZoneKeys, EtcdFault> {
        let paths: Vec<(&Name, String)> =
            names.iter().filter_map(|name| Some((name, layout.path(name.as_name())?))).collect();
        let mut all = ZoneKeys::read(layout, Vec::new(), 0, self.reader.owners());
        let chunks: Vec<&[(&Name, String)]> =
            if paths.is_empty() { vec![&[]] } else { paths.chunks(NAMES_AT_ONCE).collect() };
        for chunk in chunks {
            let mut operations: Vec<Operation> = chunk.iter().flat_map(|(_, path)| reads_of(path)).collect();
            operations.extend([Operation::Get(layout.marker()), Operation::Get(layout.made())]);
            let looked = self.reader.client.look(&Transaction { comparisons: Vec::new(), operations })?;
            let keys: BTreeMap<String, EtcdKey> = looked.keys.into_iter().map(|key| (key.key.clone(), key)).collect();
            let keys = ZoneKeys::read(layout, keys.into_values().collect(), looked.revision, self.reader.owners());
            let of_chunk: BTreeSet<Name> = chunk.iter().map(|(name, _)| (*name).clone()).collect();
            self.with_seen(zone, |seen| seen.take(layout, &keys, &of_chunk, false));
            all.add(keys);
        }
        all.drop_repeats();
        Ok(all)
    }

    /// Makes the transaction of an update, by what was seen or, where `anew` says so, by what is seen now.
    fn plan(
        &self,
        layout: &EtcdLayout,
        update: &Update<'_>,
        anew: bool,
        turn: &UpdateTurn<'_>,
    ) -> Result<PlannedOr, EtcdFault> {
        let edits = update.edits.iter().filter(|edit| !is_of_marker(update.zone, edit));
        let names: BTreeSet<Name> = edits.map(|edit| edit.key.owner.as_name().to_name()).collect();
        let missing: BTreeSet<Name> = self.with_seen(update.zone, |seen| {
            names.iter().filter(|name| anew || seen.lacks(layout, name)).cloned().collect()
        });
        if !missing.is_empty() {
            // The update before may write them.
            turn.await_before();
            self.see(layout, update.zone, &missing)?;
        }
        Ok(self.with_seen(update.zone, |seen| change::transaction(layout, update, seen, self.reader.owners())))
    }

    /// Sends an update.
    pub fn deliver(&self, update: &Update<'_>, turn: &mut UpdateTurn<'_>) -> UpdateReply {
        let layout = match self.reader.layout(update.zone) {
            Ok(layout) => layout,
            Err(problem) => return UpdateReply::Refused(problem),
        };
        let problem = |fault: EtcdFault| self.reader.problem(update.zone, fault);
        let mut last = UpdateReply::Prerequisite("the zone was written by others all the time".to_owned());
        for attempt in 0..TRIES {
            let planned = match self.plan(&layout, update, attempt > 0, turn) {
                Ok(planned) => planned,
                // Nothing was sent that writes.
                Err(fault) => return UpdateReply::Failed(problem(fault)),
            };
            let planned = match planned {
                Ok(planned) => planned,
                Err(fault) if attempt > 0 => return self.reply_of(update.zone, fault),
                Err(_) => continue,
            };
            match self.write(&layout, update.zone, &planned, turn) {
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

    /// Sends a transaction, and lets the next one be made. Where the one before was under way, and this one overtook it, its
    /// comparison of the marker failed: then it is sent again, as it is.
    fn write(
        &self,
        layout: &EtcdLayout,
        zone: &ZoneName,
        PlannedTransaction { transaction, names }: &PlannedTransaction,
        turn: &mut UpdateTurn<'_>,
    ) -> Result<TransactionDone, EtcdFault> {
        let request = transaction.to_json();
        self.with_seen(zone, |seen| seen.begin(layout, names));
        let is_alone = turn.is_alone();
        turn.pass();
        if !is_alone {
            thread::sleep(HEAD_START);
        }
        let mut written = self.reader.client.write(&request);
        if !is_alone && written.as_ref().is_ok_and(|done| !done.is_made) && turn.await_before() {
            written = self.reader.client.write(&request);
        }
        let revision = written.as_ref().ok().filter(|done| done.is_made).map(|done| done.revision);
        self.with_seen(zone, |seen| seen.end(layout, names, revision));
        written
    }

    /// The reply to an update of which no transaction can be made.
    fn reply_of(&self, zone: &ZoneName, fault: ChangeFault) -> UpdateReply {
        match fault {
            ChangeFault::Differs(words) => UpdateReply::Prerequisite(words),
            ChangeFault::Impossible(why) => {
                let problem = Problem::new(self.reader.place(zone), "update-rejected", why);
                UpdateReply::Refused(problem.hint("docs/targets.md says what CoreDNS reads in etcd"))
            }
        }
    }
}

/// A transaction, or why there is none.
type PlannedOr = Result<PlannedTransaction, ChangeFault>;
