//! When `run` begins its passes, and whether it is well. Pure.
//!
//! Comes in: how passes ended, and what a clock shows. Goes out: how long to wait, and whether a watchdog may be satisfied.

use std::time::Duration;

/// How many times longer than the interval a pause is at most.
const MOST: u32 = 10;

/// What a failure doubles, where the interval is shorter.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// After so many intervals without the end of a pass it is not well.
const WELL_FOR: u32 = 10;

/// It is well at least so long: an interval may be very short.
const LEAST_WELL: Duration = Duration::from_secs(60);

/// When the next pass begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassSchedule {
    /// The interval of the settings.
    interval: Duration,
    /// How many passes failed since one did not.
    failures: u32,
}

impl PassSchedule {
    /// No pass has ended yet.
    pub fn new(interval: Duration) -> PassSchedule {
        PassSchedule { interval, failures: 0 }
    }

    /// Takes the end of a pass.
    pub fn ended(&mut self, is_failure: bool) {
        self.failures = if is_failure { self.failures.saturating_add(1) } else { 0 };
    }

    /// How many passes failed since one did not.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// How long to wait until the next pass: the interval, doubled by each failure, at most ten times as long; a tenth of that
    /// less or more, by `drawn` from 0 to 1, so that programs that began together do not ask together.
    pub fn pause(&self, drawn: f64) -> Duration {
        let times = 1u32.checked_shl(self.failures).unwrap_or(MOST).clamp(1, MOST);
        // A pause of nothing would stay that.
        let interval = if self.failures > 0 { self.interval.max(LEAST_PAUSE) } else { self.interval };
        (interval * times).mul_f64(0.9 + 0.2 * drawn.clamp(0.0, 1.0))
    }

    /// How long it is well without the end of a pass: ten intervals; and where failures make pauses that long, two pauses.
    pub fn well_for(&self) -> Duration {
        let pauses = self.pause(1.0) * 2;
        (self.interval * WELL_FOR).max(pauses).max(LEAST_WELL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_pause_is_the_interval_and_a_tenth_less_or_more() {
        let schedule = PassSchedule::new(MINUTE);
        assert_eq!([0.0, 0.5, 1.0].map(|drawn| schedule.pause(drawn).as_secs()), [54, 60, 66]);
        assert_eq!(PassSchedule::new(Duration::ZERO).pause(1.0), Duration::ZERO);
    }

    #[test]
    fn each_failure_doubles_the_pause_up_to_ten_times() {
        let mut schedule = PassSchedule::new(MINUTE);
        let mut pause = |is_failure| {
            schedule.ended(is_failure);
            schedule.pause(0.5).as_secs() / 60
        };
        let failed: Vec<u64> = (0..40).map(|_| pause(true)).collect();
        assert_eq!(failed[..5], [2, 4, 8, 10, 10]);
        assert_eq!(failed[39], 10);
        assert_eq!(pause(false), 1);
    }

    #[test]
    fn it_is_well_for_ten_intervals_and_through_two_long_pauses() {
        let mut schedule = PassSchedule::new(MINUTE);
        assert_eq!(schedule.well_for(), MINUTE * 10);
        (0..10).for_each(|_| schedule.ended(true));
        assert!(schedule.well_for() > schedule.pause(1.0));
        assert_eq!(PassSchedule::new(Duration::ZERO).well_for(), LEAST_WELL);
        let mut schedule = PassSchedule::new(Duration::ZERO);
        schedule.ended(true);
        assert_eq!(schedule.pause(0.5), LEAST_PAUSE * 2);
    }
}
