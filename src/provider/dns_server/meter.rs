//! How much one read of a zone may bring, and how much it has brought.
//!
//! Comes in: the limits of the settings, what the zone held last, and each message as it comes. Goes out: the message,
//! or the limit that is passed. A server that never ends, or sends what no zone holds, costs no more than this.

use std::time::{Duration, Instant};

use super::explain_wire;
use super::failure::{PassedLimit, ServerFailure, TransferProgress};
use super::wire::{Connection, WireFault};
use crate::provider::cache::KeptSize;
use crate::provider::limits::ReadLimits;

/// As many records as a zone may have however few it held last, so that a new zone may be filled.
const GROWN_RECORDS: u64 = 100_000;

/// The same in octets: records of 160 octets each.
const GROWN_OCTETS: u64 = 16 << 20;

/// The measure of one read.
#[derive(Debug)]
pub struct ReadMeter {
    /// The limits.
    limits: ReadLimits,
    /// What the zone held last, where that is known.
    held: Option<KeptSize>,
    /// When it must be over; none where that is beyond the clock.
    end: Option<Instant>,
    /// How many octets came.
    octets: u64,
}

impl ReadMeter {
    /// Begins to measure a read of a zone that held so much last.
    pub fn start(limits: ReadLimits, held: Option<KeptSize>) -> ReadMeter {
        ReadMeter { limits, held, end: Instant::now().checked_add(limits.time), octets: 0 }
    }

    /// Receives the next message after `progress`; it must be whole before `patience` is over.
    pub fn receive(
        &mut self,
        connection: &mut Connection,
        patience: Duration,
        message: &mut Vec<u8>,
        progress: TransferProgress,
    ) -> Result<(), ServerFailure> {
        let deadline = Instant::now() + patience;
        let deadline = self.end.map_or(deadline, |end| end.min(deadline));
        connection.receive_until(deadline, message).map_err(|fault| match fault {
            WireFault::TimedOut if self.end.is_some_and(|end| Instant::now() >= end) => {
                ServerFailure::ReadLimit { passed: PassedLimit::Time(self.limits.time), progress }
            }
            fault => explain_wire(fault, progress),
        })?;
        self.octets += message.len() as u64;
        self.check(progress)
    }

    /// How many octets of messages came.
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Checks how much has come.
    pub fn check(&self, progress: TransferProgress) -> Result<(), ServerFailure> {
        let records = progress.records as u64;
        let passed = if records > self.limits.records {
            PassedLimit::Records(self.limits.records)
        } else if self.octets > self.limits.octets {
            PassedLimit::Size(self.limits.octets)
        } else if let Some(held) = self.held.filter(|held| self.outgrows(*held, records)) {
            PassedLimit::Growth { times: self.limits.growth, held: held.records }
        } else {
            return Ok(());
        };
        Err(ServerFailure::ReadLimit { passed, progress })
    }

    /// Whether more came than a zone may have that held so much last.
    fn outgrows(&self, held: KeptSize, records: u64) -> bool {
        records > held.records.saturating_mul(self.limits.growth).max(GROWN_RECORDS)
            || self.octets > held.octets.saturating_mul(self.limits.growth).max(GROWN_OCTETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key that a read of so many records and octets passes, where the zone held so many records last.
    fn passed(records: usize, octets: u64, held: Option<u64>) -> Option<&'static str> {
        let limits = ReadLimits { records: 1_000_000, octets: 1 << 30, ..ReadLimits::default() };
        let held = held.map(|records| KeptSize { records, octets: records * 60 });
        let meter = ReadMeter { octets, ..ReadMeter::start(limits, held) };
        match meter.check(TransferProgress { messages: 1, records }) {
            Err(ServerFailure::ReadLimit { passed, .. }) => Some(passed.key()),
            outcome => outcome.map(|()| None).unwrap(),
        }
    }

    #[test]
    fn records_and_octets_are_bounded_each() {
        assert_eq!(passed(1_000_000, 1 << 30, None), None);
        assert_eq!(passed(1_000_001, 0, None), Some("max_records"));
        assert_eq!(passed(1, (1 << 30) + 1, None), Some("max_size"));
    }

    #[test]
    fn a_zone_may_grow_tenfold_and_a_small_one_further() {
        assert_eq!(passed(300_000, 300_000 * 60, Some(30_000)), None);
        assert_eq!(passed(300_001, 0, Some(30_000)), Some("max_growth"));
        assert_eq!(passed(100_000, 16 << 20, Some(3)), None);
        assert_eq!(passed(100_001, 16 << 20, Some(3)), Some("max_growth"));
        assert_eq!(passed(3, (16 << 20) + 1, Some(3)), Some("max_growth"));
    }

    #[test]
    fn the_same_zone_is_within_its_growth_however_it_is_sent() {
        // One record in each message, with a header, a question and a signature.
        let held = KeptSize { records: 200_000, octets: 200_000 * 60 };
        let octets = 200_000 * (60 + 12 + 50 + 200);
        let meter = ReadMeter { octets, ..ReadMeter::start(ReadLimits::default(), Some(held)) };
        assert!(meter.check(TransferProgress { messages: 200_000, records: 200_000 }).is_ok());
    }
}
