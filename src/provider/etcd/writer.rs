//! Zones in etcd, written: each update is one transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::change::{self, LIMITS};
use super::client::EtcdFault;
use super::delivery::EtcdDelivery;
use super::json::{Comparison, Operation, Transaction};
use super::target::EtcdReader;
use crate::diag::{Code, Problem};
use crate::dns::{Name, ZoneName};
use crate::provider::in_turn::InTurn;
use crate::target::{
    Answer, EditSize, Question, ReadTarget as _, RrsetEdit, UpdateLimits, UpdateZone, WriteTarget, ZoneApex, answers,
    transfer_is_cheaper,
};

/// Writes zones.
pub struct EtcdWriter {
    /// What delivers updates, also to the threads of the zones.
    delivery: Arc<EtcdDelivery>,
}

impl EtcdWriter {
    /// A writer of which nothing was seen.
    pub fn new(reader: EtcdReader) -> EtcdWriter {
        EtcdWriter { delivery: Arc::new(EtcdDelivery::new(reader)) }
    }

    /// What reads.
    fn reader(&self) -> &EtcdReader {
        &self.delivery.reader
    }

    /// Makes a transaction about a zone as a whole.
    fn make(&self, zone: &ZoneName, transaction: &Transaction, code: &'static str, lost: &str) -> Result<(), Problem> {
        match self.reader().client.write(&transaction.to_json()) {
            Ok(done) if done.is_made => Ok(()),
            Ok(_) => Err(Problem::new(self.place(zone), code, lost).hint("plan again: the next plan reads it")),
            Err(fault) => Err(Problem { code: Code::new(code), ..self.reader().problem(zone, fault) }),
        }
    }
}

impl WriteTarget for EtcdWriter {
    fn place(&self, zone: &ZoneName) -> String {
        self.reader().place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn size(&self, _: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        change::size(edit)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let layout = self.reader().layout(zone)?;
        let names: BTreeSet<Name> = questions.iter().map(|question| question.name.clone()).collect();
        let contents = if rrsets.is_some_and(|rrsets| transfer_is_cheaper(names.len() as u64, rrsets)) {
            let read = self.reader().read(zone)?;
            self.delivery.keep(&layout, zone, &read.keys, &names);
            read.contents
        } else {
            let seen = self.delivery.see(&layout, zone, &names);
            let keys = seen.map_err(|fault| self.reader().problem(zone, fault))?;
            let unusable = |error| EtcdFault::unusable(format!("its keys make no zone: {error}"));
            keys.contents(zone).map_err(|error| self.reader().problem(zone, unusable(error)))?.0
        };
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        let delivery = Arc::clone(&self.delivery);
        Box::new(InTurn::new(self.place(zone), move |update, turn| delivery.deliver(update, turn)))
    }

    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        let layout = self.reader().layout(zone)?;
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
        let layout = self.reader().layout(zone)?;
        let transaction = Transaction {
            comparisons: vec![Comparison::NoneSince(layout.range(), 0)],
            operations: vec![Operation::Delete(layout.made()), Operation::Delete(layout.marker())],
        };
        self.make(zone, &transaction, "zone-not-deleted", "the zone has keys")
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        Ok(())
    }
}
