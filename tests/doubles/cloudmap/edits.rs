//! What another editor does between two requests of a client. A test plans it; a double asks at each request.

use std::sync::{Mutex, PoisonError};

/// What another editor does at a double of type `D`.
type DoubleEdit<D> = Box<dyn FnOnce(&D) + Send>;

/// The edits that are still to come.
pub struct EditPlan<D> {
    /// In the order in which they were planned.
    edits: Mutex<Vec<PlannedEdit<D>>>,
}

/// An edit, and the request before which it comes.
struct PlannedEdit<D> {
    /// The name of the operation.
    operation: String,
    /// How many requests of the operation are left alone first.
    skip: u64,
    /// What is done.
    edit: DoubleEdit<D>,
}

impl<D> Default for EditPlan<D> {
    fn default() -> Self {
        Self { edits: Mutex::default() }
    }
}

impl<D> EditPlan<D> {
    /// Adds an edit that comes before the n-th request of an operation from now on, counted from 1.
    pub fn add(&self, operation: &str, n: u64, edit: impl FnOnce(&D) + Send + 'static) {
        let planned = PlannedEdit { operation: operation.to_owned(), skip: n.saturating_sub(1), edit: Box::new(edit) };
        self.edits.lock().unwrap_or_else(PoisonError::into_inner).push(planned);
    }

    /// Takes the edits that are due before a request of an operation, in the order in which they were planned.
    pub fn take(&self, operation: &str) -> Vec<DoubleEdit<D>> {
        let mut edits = self.edits.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        for planned in std::mem::take(&mut *edits) {
            if planned.operation != operation {
                edits.push(planned);
            } else if planned.skip > 0 {
                edits.push(PlannedEdit { skip: planned.skip - 1, ..planned });
            } else {
                due.push(planned.edit);
            }
        }
        due
    }
}
