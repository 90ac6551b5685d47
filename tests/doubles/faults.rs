//! What goes wrong on purpose, and when. A test plans it; a double asks at each request.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::DoubleAnswer;

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The request is lost: it is not done, and there is no answer.
    DropBefore,
    /// The answer is lost: the request is done.
    DropAfter,
    /// The request is done, and the answer is an internal error (500).
    FailAfter,
    /// The request is not done, and the answer is an internal error (500).
    FailBefore,
    /// The request arrives twice; the answer is the first one.
    Twice,
    /// The request arrives twice; the answer is the second one.
    TwiceLast,
    /// The answer is late by that much.
    Delay(Duration),
    /// The request is not done; the service says in its own way that there are too many.
    Throttle,
    /// The request is not done, and the answer is 429 without a body that says why.
    TooManyRequests,
    /// The request is not done, and the answer is 503.
    Unavailable,
    /// The request is done; half of the body of the answer arrives.
    CutBody,
    /// A listing has half of the items that fit, and says that more follow, which is legal. Anything else is as it is.
    HalfPage,
    /// A listing has half of the items that fit, and says that nothing follows. No client can know.
    LostItems,
    /// The request is not done; the service says that the credentials are expired.
    ExpiredToken,
}

/// How a page is spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageFault {
    /// It is whole.
    None,
    /// It has half of the items, and says that more follow.
    Half,
    /// It has half of the items, and says that nothing follows.
    Lost,
}

impl PageFault {
    /// Says how a fault spoils a page.
    pub fn of(fault: Option<&FaultKind>) -> Self {
        match fault {
            Some(FaultKind::HalfPage) => Self::Half,
            Some(FaultKind::LostItems) => Self::Lost,
            _ => Self::None,
        }
    }

    /// Cuts a page: how many of `count` items it has, and whether it hides that items follow.
    pub fn cut(self, count: usize) -> (usize, bool) {
        match self {
            Self::None => (count, false),
            // A page of one item cannot be less and still say where the next one begins.
            Self::Half => (count.div_ceil(2).max(1).min(count), false),
            Self::Lost => (count / 2, true),
        }
    }
}

/// What a service can do with one request.
pub trait FaultyRequest {
    /// Does it, and notes it.
    fn run(&self) -> DoubleAnswer;

    /// Notes it as one that was not done, with the status of the answer, where there is one.
    fn note(&self, status: Option<u16>);

    /// Notes it as one that was refused for this reason, and gives the answer.
    fn refuse(&self, kind: &FaultKind) -> DoubleAnswer;

    /// The answer of an internal error; nothing is noted.
    fn internal_error(&self) -> DoubleAnswer;
}

/// Does a request with what goes wrong with it; none where the connection breaks without an answer.
pub fn suffer(fault: Option<&FaultKind>, request: &impl FaultyRequest) -> Option<DoubleAnswer> {
    let Some(fault) = fault else { return Some(request.run()) };
    match fault {
        FaultKind::HalfPage | FaultKind::LostItems => Some(request.run()),
        FaultKind::DropBefore => {
            request.note(None);
            None
        }
        FaultKind::DropAfter => {
            request.run();
            None
        }
        FaultKind::FailAfter => {
            request.run();
            Some(request.internal_error())
        }
        FaultKind::Twice => {
            let first = request.run();
            request.run();
            Some(first)
        }
        FaultKind::TwiceLast => {
            request.run();
            Some(request.run())
        }
        FaultKind::Delay(delay) => Some(DoubleAnswer { delay: *delay, ..request.run() }),
        FaultKind::CutBody => {
            let mut answer = request.run();
            answer.body.truncate(answer.body.len() / 2);
            Some(answer)
        }
        FaultKind::TooManyRequests => {
            request.note(Some(429));
            Some(DoubleAnswer::new(429, "text/plain", b"Too Many Requests".to_vec()))
        }
        FaultKind::FailBefore | FaultKind::Throttle | FaultKind::Unavailable | FaultKind::ExpiredToken => {
            Some(request.refuse(fault))
        }
    }
}

/// A fault, and the requests that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The only operation that it is for, by its name at the service; none for all.
    pub operation: Option<String>,
    /// How many requests that fit are left alone first, from when the fault is planned.
    pub skip: u64,
    /// How many requests it is for, at least 1.
    pub times: u64,
    /// What goes wrong.
    pub kind: FaultKind,
}

impl Fault {
    /// Makes a fault of the n-th request from now on, counted from 1.
    pub fn nth(n: u64, kind: FaultKind) -> Self {
        Self { operation: None, skip: n.saturating_sub(1), times: 1, kind }
    }

    /// Makes a fault of the n-th request of an operation from now on, counted from 1.
    pub fn nth_of(operation: &str, n: u64, kind: FaultKind) -> Self {
        Self { operation: Some(operation.to_owned()), ..Self::nth(n, kind) }
    }

    /// Makes the fault one of several requests, one after the other.
    pub fn times(self, times: u64) -> Self {
        Self { times, ..self }
    }
}

/// The faults that are still to come.
#[derive(Debug, Default)]
pub struct FaultPlan {
    /// In the order in which they were planned.
    faults: Mutex<Vec<Fault>>,
}

impl FaultPlan {
    /// Adds a fault.
    pub fn add(&self, fault: Fault) {
        self.lock().push(fault);
    }

    /// Forgets all faults that are still to come.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Says what goes wrong with the next request of an operation. Each fault counts all requests that fit it; where
    /// several are due, the one that was planned first has effect, and the others have had their request.
    pub fn take(&self, operation: &str) -> Option<FaultKind> {
        let mut faults = self.lock();
        let mut found = None;
        for fault in faults.iter_mut() {
            if fault.operation.as_deref().is_some_and(|only| only != operation) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.times > 0 {
                fault.times -= 1;
                found.get_or_insert_with(|| fault.kind.clone());
            }
        }
        faults.retain(|fault| fault.times > 0);
        found
    }

    /// Locks the list. A test that panicked elsewhere leaves it whole.
    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
