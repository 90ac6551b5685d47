//! How fast a service may be asked: all targets of one account wait for each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use ring::rand;

use crate::parallel::HELD;

/// How long is waited at once where the wait may end before its time: so soon is a signal heard.
const NAP: Duration = Duration::from_millis(200);

/// A clock, and a way to wait.
pub trait PaceClock: Send + Sync {
    /// The time since some moment.
    fn now(&self) -> Duration;

    /// Waits.
    fn sleep(&self, pause: Duration);

    /// A random part of a time, from none of it to all.
    fn part_of(&self, time: Duration) -> Duration;
}

/// The clock of this machine.
pub struct MachineClock(Instant);

impl MachineClock {
    /// One that begins now.
    pub fn begin() -> MachineClock {
        MachineClock(Instant::now())
    }
}

impl PaceClock for MachineClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, pause: Duration) {
        thread::sleep(pause);
    }

    fn part_of(&self, time: Duration) -> Duration {
        // Without random numbers of the system the pauses are only less different from those of other programs.
        let drawn =
            rand::generate::<[u8; 2]>(&rand::SystemRandom::new()).map_or(0, |drawn| u16::from_be_bytes(drawn.expose()));
        time * u32::from(drawn) / u32::from(u16::MAX)
    }
}

/// How fast an account may be asked.
pub struct AccountPace {
    /// The clock.
    clock: Box<dyn PaceClock>,
    /// When the next request may go.
    next: Mutex<Duration>,
}

impl AccountPace {
    /// No request has gone yet.
    pub fn new(clock: Box<dyn PaceClock>) -> AccountPace {
        AccountPace { clock, next: Mutex::default() }
    }

    /// That of an account, which all targets of this process share that name it by the same words.
    pub fn of(account: &str) -> Arc<AccountPace> {
        static ALL: OnceLock<Mutex<HashMap<String, Arc<AccountPace>>>> = OnceLock::new();
        let mut all = ALL.get_or_init(Mutex::default).lock().expect(HELD);
        let new = || Arc::new(AccountPace::new(Box::new(MachineClock::begin())));
        Arc::clone(all.entry(account.to_owned()).or_insert_with(new))
    }

    /// Waits until a request may go, and takes its place; those behind it wait for so long more.
    pub fn take(&self, interval: Duration) {
        let now = self.clock.now();
        let begin = {
            let mut next = self.next.lock().expect(HELD);
            let begin = (*next).max(now);
            *next = begin + interval;
            begin
        };
        self.wait(begin.saturating_sub(now));
    }

    /// Waits, because the service asks for it, or until something has happened.
    pub fn wait(&self, pause: Duration) {
        if pause > Duration::ZERO {
            self.clock.sleep(pause);
        }
    }

    /// Waits until something has happened, but no longer than until `is_over`.
    pub fn wait_until(&self, pause: Duration, is_over: &dyn Fn() -> bool) {
        let end = self.now() + pause;
        while self.now() < end && !is_over() {
            self.wait(NAP.min(end.saturating_sub(self.now())));
        }
    }

    /// Waits before something is tried again that the service was too busy for: for as long as is said, and up to a half more.
    /// Programs that were refused in one moment so do not all come back in one.
    pub fn wait_apart(&self, pause: Duration) {
        self.wait(pause + self.clock.part_of(pause / 2));
    }

    /// The time on the clock.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;

    /// A clock that moves only while something waits.
    #[derive(Clone, Default)]
    pub struct StillClock(pub Arc<Mutex<Duration>>);

    impl PaceClock for StillClock {
        fn now(&self) -> Duration {
            *self.0.lock().expect(HELD)
        }

        fn sleep(&self, pause: Duration) {
            *self.0.lock().expect(HELD) += pause;
        }

        fn part_of(&self, _: Duration) -> Duration {
            Duration::ZERO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::StillClock;
    use super::*;

    #[test]
    fn requests_go_one_after_another_and_no_faster() {
        let clock = StillClock::default();
        let pace = AccountPace::new(Box::new(clock.clone()));
        let interval = Duration::from_millis(200);
        (0..6).for_each(|_| pace.take(interval));
        assert_eq!(pace.now(), Duration::from_secs(1), "the first one goes at once");
        clock.sleep(Duration::from_secs(60));
        pace.take(interval);
        assert_eq!(pace.now(), Duration::from_secs(61), "a pause gives no further ones");
    }

    #[test]
    fn pauses_of_two_programs_differ() {
        let clock = MachineClock::begin();
        let parts: Vec<Duration> = (0..20).map(|_| clock.part_of(Duration::from_secs(1))).collect();
        assert!(parts.iter().all(|part| *part <= Duration::from_secs(1)));
        assert!(parts.iter().any(|part| *part != parts[0]), "{parts:?}");
    }

    #[test]
    fn targets_of_one_account_share_a_pace() {
        let (one, other) = (AccountPace::of("test: a"), AccountPace::of("test: b"));
        assert!(Arc::ptr_eq(&one, &AccountPace::of("test: a")));
        assert!(!Arc::ptr_eq(&one, &other));
    }
}
