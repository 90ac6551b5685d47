//! Runs and other editors that write the same RRset at once.

use std::process::Child;

use crate::rig::text_of;

/// One of those that write: its number, and whether it is a run.
pub type Racer = (usize, bool);

/// One round of a race of runs, which have the first numbers, and of editors, which have the next ones; gives those that say
/// that they won. In two of five rounds one side is over before the other begins, so that both win some rounds however busy the
/// machine is.
pub fn race<E>(
    round: usize,
    begin_runs: impl FnOnce() -> Vec<Child>,
    begin_editors: impl FnOnce() -> Vec<E>,
    has_edited: impl FnMut(E) -> bool,
) -> Vec<Racer> {
    let end_runs = |runs: Vec<Child>| -> Vec<bool> { runs.into_iter().map(has_applied).collect() };
    let end_editors = |editors: Vec<E>| -> Vec<bool> { editors.into_iter().map(has_edited).collect() };
    let (of_runs, of_editors) = match round % 5 {
        0 => {
            let of_editors = end_editors(begin_editors());
            (end_runs(begin_runs()), of_editors)
        }
        1 => {
            let of_runs = end_runs(begin_runs());
            (of_runs, end_editors(begin_editors()))
        }
        _ => {
            let (runs, editors) = (begin_runs(), begin_editors());
            (end_runs(runs), end_editors(editors))
        }
    };
    let first = of_runs.len();
    let all = of_runs.into_iter().chain(of_editors).enumerate();
    all.filter(|(_, has_won)| *has_won).map(|(number, _)| (number, number < first)).collect()
}

/// Whether a run ends with its one change applied.
fn has_applied(run: Child) -> bool {
    let output = run.wait_with_output().expect("a child");
    output.status.code() == Some(0) && text_of(&output.stdout).contains("\"applied\": 1")
}
