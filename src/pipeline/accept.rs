//! Accepts an export because an operator says so, whatever it lost or changed.
//!
//! Comes in: the name of a source, who accepts it, and why. Goes out: how the export differs from the one that was
//! accepted before, and a state in which it is the accepted one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::inputs::load;
use super::settings::{OpenError, state_address};
use super::{acceptance, accepted, pod_states};
use crate::diag::Problem;
use crate::guard::baseline::{ExportDifference, difference};
use crate::inventory::Inventory;
use crate::inventory::model::Export;
use crate::inventory::sources::meaning;
use crate::inventory::value::Time;
use crate::progress::Progress;
use crate::state::{
    self, AcceptanceRecord, Acceptor, ExportExchange, ExportToAccept, NewExport, StateAddress, StateLock,
};

/// The key of l3-tors.
const L3_TORS: &str = "l3_tors";

/// The key of pods.
const PODS: &str = "pods";

/// What is accepted, by whom and why.
#[derive(Debug, Clone, Copy)]
pub struct AcceptRequest<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock.
    pub now: Time,
    /// The source, as messages call it.
    pub source: &'a str,
    /// Who accepts it; empty where this is not known.
    pub who: &'a str,
    /// Why.
    pub reason: &'a str,
}

/// Why nothing was accepted.
#[derive(Debug)]
pub enum AcceptError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The export is not accepted.
    Refused(AcceptRefusal),
}

/// Why an export is not accepted.
#[derive(Debug)]
pub enum AcceptRefusal {
    /// There is no such source; lists the sources.
    NoSuchSource(Vec<String>),
    /// It fails a test that is not about what it lost or changed; says which.
    Doubted(String),
    /// Its files changed while they were read.
    Changing,
}

impl From<AcceptRefusal> for AcceptError {
    fn from(refusal: AcceptRefusal) -> AcceptError {
        AcceptError::Refused(refusal)
    }
}

impl From<Problem> for AcceptError {
    fn from(error: Problem) -> AcceptError {
        AcceptError::Open(error.into())
    }
}

/// Makes the present export of a source the accepted one.
///
/// Errors: [`AcceptError`]; nothing was accepted then.
pub fn accept(request: &AcceptRequest<'_>, progress: &dyn Progress) -> Result<ExportExchange, AcceptError> {
    let loaded = load(request.workspace, request.now, progress).map_err(OpenError::from);
    let (inventory, _) = loaded.map_err(AcceptError::Open)?;
    let address = state_address(request.workspace, &inventory.config);
    let Some(export) = inventory.exports.iter().find(|export| export.spec.name == request.source) else {
        if let Some(exchange) = forget(request, &address)? {
            return Ok(exchange);
        }
        let names = inventory.exports.iter().map(|export| export.spec.name.clone());
        return Err(AcceptRefusal::NoSuchSource(names.collect()).into());
    };
    if let Some(doubt) = inventory.trust_of(&export.spec).doubt() {
        return Err(AcceptRefusal::Doubted(doubt.to_owned()).into());
    }
    let new = acceptance::new_export(&inventory, export, request.workspace).ok_or(AcceptRefusal::Changing)?;
    let _lock = StateLock::take(&address, request.who, request.now)?;
    let mut state = state::open_to_write(&address)?;
    let exchange = exchange(&inventory, export, &*state)?;
    let acceptor = Acceptor::Person(request.who, request.reason);
    state.accept(&[ExportToAccept::Anew(new)], &acceptor, request.now)?;
    if export.spec.key == PODS {
        let down = pod_states::with_dead(&inventory, state.pods_down()?, request.now);
        state.keep_pods_down(&down)?;
    }
    Ok(exchange)
}

/// Lets all switches leave their L3 segment, where zonewright.toml no longer has l3-tors and accepted exports listed
/// some. Otherwise they would stay there for ever. `None` where the operator named another source.
fn forget(request: &AcceptRequest<'_>, address: &StateAddress) -> Result<Option<ExportExchange>, Problem> {
    if request.source != L3_TORS {
        return Ok(None);
    }
    let known = state::open_to_read(address)?.map(|state| state.l3_switches()).transpose()?;
    if known.is_none_or(|known| known.is_empty()) {
        return Ok(None);
    }
    let _lock = StateLock::take(address, request.who, request.now)?;
    let mut state = state::open_to_write(address)?;
    let (source, rows, dated) = (L3_TORS.to_owned(), 0, None);
    let before = state.exports()?.into_iter().find(|before| before.source == L3_TORS);
    let leaving = state.l3_switches()?;
    let none = NewExport { source: source.clone(), rows, dated, files: Vec::new(), switches: Vec::new() };
    let acceptor = Acceptor::Person(request.who, request.reason);
    state.accept(&[ExportToAccept::Anew(none)], &acceptor, request.now)?;
    Ok(Some(ExportExchange { source, rows, dated, before, difference: ExportDifference::default(), leaving }))
}

/// How an export differs from the accepted one of its source.
fn exchange(inventory: &Inventory, export: &Export, state: &dyn AcceptanceRecord) -> Result<ExportExchange, Problem> {
    let spec = &export.spec;
    let before = state.exports()?.into_iter().find(|before| before.source == spec.name);
    let was = match &before {
        Some(before) => accepted::said(inventory, spec, before, state)?.0,
        None => BTreeMap::new(),
    };
    let leaving = match spec.key {
        L3_TORS => {
            let listed = inventory.tors.switches.iter().map(|switch| inventory.symbols.text(*switch));
            let listed: BTreeSet<&str> = listed.collect();
            state.l3_switches()?.into_iter().filter(|switch| !listed.contains(switch.as_str())).collect()
        }
        _ => Vec::new(),
    };
    Ok(ExportExchange {
        source: spec.name.clone(),
        rows: export.rows,
        dated: export.dated,
        before,
        difference: difference(&was, &meaning::meanings(inventory, spec)),
        leaving,
    })
}
