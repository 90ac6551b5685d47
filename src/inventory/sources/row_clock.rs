//! What the clock says of the times in rows, and when it will next say something else of one of them.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::inventory::value::{CLOCK_SKEW, Duration, Time, is_cooling};

/// The clock that rows are compared with, from any thread. It remembers when the answer to a question will be another one.
#[derive(Debug)]
pub struct RowClock {
    /// What it shows.
    now: Time,
    /// When the first answer will be another one, in nanoseconds since 1970; the last moment that there is where none will.
    next: AtomicI64,
}

impl RowClock {
    /// A clock that shows this.
    pub fn at(now: Time) -> RowClock {
        RowClock { now, next: AtomicI64::new(i64::MAX) }
    }

    /// The latest time that a row may have. It goes on with the clock.
    pub fn latest(&self) -> Time {
        self.note(self.now);
        self.now.plus(CLOCK_SKEW)
    }

    /// Whether a time is after the latest one that a row may have.
    pub fn is_ahead(&self, time: Time) -> bool {
        let is_ahead = time > self.now.plus(CLOCK_SKEW);
        if is_ahead {
            self.note(time.minus(CLOCK_SKEW));
        }
        is_ahead
    }

    /// Whether a name that was given up then is not to be given again yet.
    pub fn is_cooling(&self, released: Time, cooldown: Duration) -> bool {
        let is_cooling = is_cooling(released, self.now, cooldown);
        if is_cooling {
            self.note(released.plus(cooldown));
        }
        is_cooling
    }

    /// When the first of its answers will be another one; none where none will.
    pub fn next(&self) -> Option<Time> {
        let next = self.next.load(Ordering::Relaxed);
        (next < i64::MAX).then(|| Time::from_nanos(next))
    }

    /// Remembers a moment.
    fn note(&self, moment: Time) {
        self.next.fetch_min(moment.as_nanos(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time, so many seconds after a moment.
    fn at(seconds: i64) -> Time {
        Time::from_nanos((1_800_000_000 + seconds) * 1_000_000_000)
    }

    #[test]
    fn it_says_when_an_answer_will_be_another_one() {
        let asked = |ask: &dyn Fn(&RowClock)| {
            let clock = RowClock::at(at(0));
            ask(&clock);
            clock.next()
        };
        let hour = Duration::from_secs(3600);
        assert_eq!(asked(&|_| ()), None);
        assert_eq!(asked(&|clock| assert!(!clock.is_ahead(at(300)))), None);
        assert_eq!(asked(&|clock| assert!(clock.is_ahead(at(301)) && clock.is_ahead(at(400)))), Some(at(1)));
        assert_eq!(asked(&|clock| assert!(clock.is_cooling(at(-600), hour))), Some(at(3000)));
        assert_eq!(asked(&|clock| assert!(!clock.is_cooling(at(-3601), hour))), None);
        assert_eq!(asked(&|clock| assert_eq!(clock.latest(), at(300))), Some(at(0)));
    }
}
