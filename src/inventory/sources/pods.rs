//! Pods: JSON lines, a row a pod, of which the latest counts.
//!
//! Comes in: the files. Goes out: the latest row of each pod, bad ones with what of them could be read. The files of the sets
//! are not looked at here.

use std::cmp::Reverse;
use std::net::IpAddr;

use rayon::prelude::*;
use smallvec::SmallVec;

use super::addresses_csv::{self, parse_address};
use super::json_line::{self, LineFields, LineRead, LineValue};
use super::meaning::{ExportRows, RowMeaning};
use super::text::{self, BAD_NAME, BAD_TIME, LineFormat, RowFault, RowFaults, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowClock, RowContext, SourceDate, SourceInput, SourcePart, SourceTally};
use crate::diag::{Code, Diagnostic, did_you_mean};
use crate::dns::Name;
use crate::inventory::model::Trust;
use crate::inventory::pod_template::Placement;
use crate::inventory::pods::{Pod, PodSet, PodSetFile, PodSetIndex, PodState, Pods, is_pod_id, is_set_id};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::{Inv, Time};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "pods",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// A row that does not say readably which pod it is about.
const STRAY: RowFault = RowFault {
    code: Code::new("bad-pod"),
    rule: "`set` and `pod` are letters, digits, `-` and `_`, a set also has `.`; a pod has at most 63 characters",
    hint: "correct the row; until then zonewright removes no name of a pod that the export lacks",
};

/// A key with the wrong value.
const BAD_POD: RowFault = RowFault {
    code: Code::new("bad-pod"),
    rule: "time, set, pod and state are required; prepared and active pods need a node and addresses",
    hint: "correct the row; until then the pod is blocked `bad-input`",
};

/// An address that no pod can have.
const BAD_ADDRESS: RowFault = RowFault {
    code: addresses_csv::BAD_ADDRESS.code,
    rule: "an address is IPv4 or IPv6, without a prefix length, and one that a pod can have",
    hint: "correct the address; until then the pod is blocked `bad-input`",
};

/// A row from the future.
const FUTURE: RowFault = RowFault {
    code: Code::new("future-pod"),
    rule: "the time of a row is at most 5 minutes ahead of the clock of this machine",
    hint: "correct the clock of the machine that wrote the row; until then the pod is blocked `bad-input`",
};

/// The code of two rows of one pod with one time.
const DUPLICATE: &str = "duplicate-pod";

/// What one chunk holds.
#[derive(Default)]
struct PodRowPiece {
    /// Nodes, all of them names.
    nodes: Symbols,
    /// Racks and locations.
    symbols: Symbols,
    /// The ids of the sets, which the rows count into.
    sets: Symbols,
    /// The rows.
    rows: Vec<Pod>,
    /// Whether some row does not say readably which pod it is about.
    has_strays: bool,
}

/// Reads the rows.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    // Behind a cut there may be rows of other pods, which must not look gone.
    let shape = LineFormat::default();
    let start = |rows| PodRowPiece { rows: Vec::with_capacity(rows), ..PodRowPiece::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, start, |piece, row, faults| {
        read_row(piece, row, faults, context.clock);
    });
    let (mut pods, symbols) = join(pieces);
    keep_latest(&mut pods, context, &mut tally);
    let newest = pods.rows.iter().map(|pod| pod.time).filter(|time| !context.clock.is_ahead(*time)).max();
    tally.dated = newest.map_or(SourceDate::Unsaid, SourceDate::At);
    let fold = move |draft: &mut Draft, trust: Trust| {
        let numbers = Renumbering::merge(&mut draft.symbols, &symbols);
        if !numbers.is_idle() {
            pods.rows.par_iter_mut().for_each(|pod| {
                for symbol in [&mut pod.node, &mut pod.rack, &mut pod.location] {
                    *symbol = symbol.map(|symbol| numbers.symbol(symbol));
                }
            });
        }
        pods.trust = trust;
        draft.pods = pods;
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Joins the pieces; sets are numbered in the order of their ids.
fn join(pieces: Vec<PodRowPiece>) -> (Pods, Symbols) {
    let (mut symbols, mut sets) = (Symbols::default(), Symbols::default());
    let mut rows = Vec::with_capacity(pieces.iter().map(|piece| piece.rows.len()).sum());
    let mut has_strays = false;
    for mut piece in pieces {
        let nodes = Renumbering::merge(&mut symbols, &piece.nodes);
        let others = Renumbering::merge(&mut symbols, &piece.symbols);
        let of_sets = Renumbering::merge(&mut sets, &piece.sets);
        for pod in &mut piece.rows {
            pod.node = pod.node.map(|node| nodes.symbol(node));
            pod.rack = pod.rack.map(|rack| others.symbol(rack));
            pod.location = pod.location.map(|location| others.symbol(location));
            pod.set = PodSetIndex(Symbols::index(of_sets.0[pod.set.0 as usize]) as u32);
        }
        rows.append(&mut piece.rows);
        has_strays |= piece.has_strays;
    }
    let mut ids: Vec<(&str, usize)> = sets.texts().zip(0..).collect();
    ids.sort_unstable();
    let mut numbers = vec![0; ids.len()];
    for (place, (_, number)) in ids.iter().enumerate() {
        numbers[*number] = place as u32;
    }
    rows.par_iter_mut().for_each(|pod: &mut Pod| pod.set = PodSetIndex(numbers[pod.set.0 as usize]));
    let sets = ids.iter().map(|(id, _)| PodSet { id: (*id).into(), file: PodSetFile::Missing }).collect();
    (Pods { sets, rows, has_strays, ..Pods::default() }, symbols)
}

/// Sorts the rows, and keeps of each pod the latest. Where two latest rows say different things, the pod is bad.
fn keep_latest(pods: &mut Pods, context: &RowContext<'_>, tally: &mut SourceTally) {
    let Pods { sets, rows, .. } = pods;
    // No two rows have one place, so that the order is the same whatever the threads do.
    rows.par_sort_unstable_by(|a, b| {
        (a.set, &*a.id, Reverse(a.time), a.origin).cmp(&(b.set, &*b.id, Reverse(b.time), b.origin))
    });
    let is_same = |a: &Pod, b: &Pod| a.set == b.set && a.id == b.id;
    let mut at = 0;
    while at < rows.len() {
        let count = rows[at..].iter().take_while(|other| is_same(&rows[at], other)).count();
        let (latest, others) = rows[at..at + count].split_first_mut().expect("a pod has a row");
        let differs = |other: &&Pod| other.time == latest.time && !says_the_same(latest, other);
        if let Some(other) = others.iter().find(differs) {
            let (first, second) = (context.files.place(latest.origin), context.files.place(other.origin));
            let id = format!("{}/{}", sets[latest.set.0 as usize].id, latest.id);
            let message = format!("pod `{id}` has two rows of {} that say different things", latest.time);
            tally.bad += 1;
            tally.diagnostics.push_bounded(other.origin.file, || {
                let error = Diagnostic::error(DUPLICATE, other.origin, message.as_str());
                error
                    .also(format!("the other is {first}"))
                    .rule("the latest row of a pod counts; where two rows have one time, neither is the latest")
                    .hint("export again; until a later row comes the pod is blocked `bad-input`")
            });
            latest.fault = Some(format!("{message}: {first} and {second}").into());
        }
        at += count;
    }
    rows.dedup_by(|next, kept| is_same(next, kept));
}

/// Whether two rows say the same of a pod.
fn says_the_same(one: &Pod, other: &Pod) -> bool {
    (one.node, one.inv, one.rack, one.location) == (other.node, other.inv, other.rack, other.location)
        && (&one.addresses, one.is_enabled, one.state) == (&other.addresses, other.is_enabled, other.state)
        && (&one.replaces, &one.fault) == (&other.replaces, &other.fault)
}

/// The faults of one row, of which the first is kept with its pod.
struct PodFaults<'f, 'r, 'a> {
    /// Where they are reported.
    faults: &'f mut RowFaults<'r, 'a>,
    /// The first.
    first: Option<Box<str>>,
}

impl PodFaults<'_, '_, '_> {
    /// Reports a fault of the row.
    fn add(&mut self, fault: &RowFault, message: String) {
        self.first.get_or_insert_with(|| message.as_str().into());
        self.faults.add_whole(fault, || message);
    }

    /// A value; where it is wrong, it is reported and there is none.
    fn unless_bad<T>(&mut self, value: Result<Option<T>, String>) -> Option<T> {
        value.unwrap_or_else(|message| {
            self.add(&BAD_POD, message);
            None
        })
    }
}

/// Reads one line. Without a readable set and pod it is reported and belongs to no pod.
fn read_row(piece: &mut PodRowPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>, clock: &RowClock) {
    let first = faults.is_flawed().then(|| "the row holds a control character, or a byte that is not UTF-8".into());
    let Some(LineRead { fields, twice }) = json_line::read::<PodRowFields<'_>>(row, faults) else {
        piece.has_strays = true;
        return;
    };
    let first = first.or(twice.map(|key| format!("the row has the key `{key}` twice").into()));
    let set = read_id(&fields.set, "set", is_set_id, faults);
    let pod = read_id(&fields.pod, "pod", is_pod_id, faults);
    let (Some(set), Some(pod)) = (set, pod) else {
        piece.has_strays = true;
        return;
    };
    let likely = piece.rows.last().map(|pod| SymbolsOfRow::of(piece, pod));
    let likely = likely.unwrap_or_default();
    let mut faults = PodFaults { faults, first };
    let time = read_time(&fields.time, &mut faults, clock);
    let node = faults.unless_bad(json_line::optional_text(&fields.node, "node", faults.faults));
    let node = node.and_then(|node| read_node(node, likely.node, &mut piece.nodes, &mut faults));
    let rack = faults.unless_bad(json_line::optional_text(&fields.rack, "rack", faults.faults));
    let location = faults.unless_bad(json_line::optional_text(&fields.location, "location", faults.faults));
    let inv = match fields.inv {
        LineValue::Number(inv) => Some(Inv(inv)),
        ref inv => faults.unless_bad(unless_said(inv, "inv", "an unsigned integer")),
    };
    let is_enabled = match fields.enabled {
        LineValue::Bool(enabled) => Some(enabled),
        ref enabled => faults.unless_bad(unless_said(enabled, "enabled", "true or false")),
    };
    let replaces = faults.unless_bad(json_line::optional_text(&fields.replaces, "replaces", faults.faults));
    let replaces = replaces.and_then(|id| {
        let read =
            if is_pod_id(id) { Ok(Some(id)) } else { Err(format!("`replaces` is `{id}`, which is no id of a pod")) };
        faults.unless_bad(read)
    });
    let addresses = read_addresses(&fields.addresses, &mut faults);
    let state = read_state(&fields.state, &mut faults);
    check_place(state, node.is_some() || !fields.node.is_none(), &fields.addresses, &mut faults);
    let placement = Placement::of_row(node.map(|node| piece.nodes.text(node)), &addresses);
    let symbols = &mut piece.symbols;
    piece.rows.push(Pod {
        set: PodSetIndex(Symbols::index(piece.sets.intern_likely(set, likely.set)) as u32),
        id: pod.to_ascii_lowercase().into(),
        time: time.unwrap_or_else(|| clock.latest()),
        node,
        inv,
        rack: rack.map(|rack| symbols.intern_likely(rack, likely.rack)),
        location: location.map(|location| symbols.intern_likely(location, likely.location)),
        addresses,
        placement,
        is_enabled: is_enabled.unwrap_or(true),
        // A pod whose state is unknown is not counted as one that can be reached.
        state: state.unwrap_or(PodState::Dead),
        replaces: replaces.map(|id| id.to_ascii_lowercase().into()),
        fault: faults.first,
        origin: row.origin,
    });
}

/// The texts of a row, by number: those of the next one are probably the same.
#[derive(Default)]
struct SymbolsOfRow {
    /// The set.
    set: Option<Symbol>,
    /// The node.
    node: Option<Symbol>,
    /// The rack.
    rack: Option<Symbol>,
    /// The location.
    location: Option<Symbol>,
}

impl SymbolsOfRow {
    /// Those of a pod of a piece.
    fn of(piece: &PodRowPiece, pod: &Pod) -> SymbolsOfRow {
        let set = piece.sets.text_at(pod.set.0 as usize).and_then(|id| piece.sets.find(id));
        SymbolsOfRow { set, node: pod.node, rack: pod.rack, location: pod.location }
    }
}

/// Reads the id of a set or pod.
fn read_id<'f>(
    value: &'f LineValue<'_>,
    key: &str,
    is_id: fn(&str) -> bool,
    faults: &mut RowFaults<'_, '_>,
) -> Option<&'f str> {
    match value {
        LineValue::Text(text) if is_id(text) => Some(text),
        LineValue::Text(text) => {
            faults.add_whole(&STRAY, || format!("`{text}` cannot be the id of a {key}"));
            None
        }
        _ => {
            faults.add_whole(&STRAY, || value.missing(key, "an id in quotes"));
            None
        }
    }
}

/// Reads the time; one that is ahead counts, and makes the row bad.
fn read_time(value: &LineValue<'_>, faults: &mut PodFaults<'_, '_, '_>, clock: &RowClock) -> Option<Time> {
    let LineValue::Text(text) = value else {
        faults.add(&BAD_POD, value.missing("time", "a time in quotes"));
        return None;
    };
    let time = text.parse::<Time>().ok();
    match time {
        None => faults.add(&BAD_TIME, format!("`{text}` is not a time")),
        Some(time) if clock.is_ahead(time) => faults.add(&FUTURE, format!("the row is dated {time}")),
        Some(_) => {}
    }
    time
}

/// None of a value that is not said.
///
/// Errors: it is said, and is not what is `wanted` under `key`.
fn unless_said<T>(value: &LineValue<'_>, key: &str, wanted: &str) -> Result<Option<T>, String> {
    if value.is_none() { Ok(None) } else { Err(value.missing(key, wanted)) }
}

/// Reads a node: a name, in lower case without its final dot.
fn read_node(
    text: &str,
    likely: Option<Symbol>,
    nodes: &mut Symbols,
    faults: &mut PodFaults<'_, '_, '_>,
) -> Option<Symbol> {
    // All nodes that are known are names.
    let known = likely.filter(|likely| nodes.text(*likely) == text).or_else(|| nodes.find(text));
    known.or_else(|| match Name::parse_host(text) {
        Ok(name) if name != Name::root() => {
            let name = text.trim_end_matches('.').to_ascii_lowercase();
            Some(nodes.intern(&name))
        }
        Ok(_) => {
            faults.add(&BAD_NAME, "the node is the root".to_owned());
            None
        }
        Err(error) => {
            faults.add(&BAD_NAME, format!("the node `{text}` is not a name: {error}"));
            None
        }
    })
}

/// Reads the addresses; sorts them, each once.
fn read_addresses(value: &LineValue<'_>, faults: &mut PodFaults<'_, '_, '_>) -> SmallVec<[IpAddr; 1]> {
    let mut addresses = SmallVec::new();
    match value {
        LineValue::Absent | LineValue::Null => {}
        LineValue::Texts(texts) => {
            for text in texts {
                match parse_address(text) {
                    Ok(address) => addresses.push(address),
                    Err(why) => faults.add(&BAD_ADDRESS, format!("`{text}` {why}")),
                }
            }
        }
        _ => faults.add(&BAD_POD, value.missing("addresses", "a list of addresses in quotes")),
    }
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// Reads the state.
fn read_state(value: &LineValue<'_>, faults: &mut PodFaults<'_, '_, '_>) -> Option<PodState> {
    let words = || PodState::ALL.iter().map(|state| state.as_str());
    let LineValue::Text(text) = value else {
        faults.add(&BAD_POD, value.missing("state", "a state in quotes"));
        return None;
    };
    let state = PodState::parse(text);
    if state.is_none() {
        let near = did_you_mean(text, words());
        let all =
            || format!("the states are {}", words().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "));
        faults.add(&BAD_POD, format!("`{text}` is not a state: {}", near.unwrap_or_else(all)));
    }
    state
}

/// Reports a pod that has no place and needs one, or has one and waits for it.
fn check_place(state: Option<PodState>, has_node: bool, addresses: &LineValue<'_>, faults: &mut PodFaults<'_, '_, '_>) {
    let Some(state) = state else { return };
    let has_addresses = match addresses {
        LineValue::Texts(texts) => !texts.is_empty(),
        other => !other.is_none(),
    };
    if state.is_placed() {
        if !has_node {
            faults.add(&BAD_POD, format!("the pod is `{state}` and has no `node`"));
        }
        if !has_addresses {
            faults.add(&BAD_POD, format!("the pod is `{state}` and has no `addresses`"));
        }
    } else if state == PodState::Waiting && (has_node || has_addresses) {
        let what = if has_node { "`node`" } else { "`addresses`" };
        faults.add(&BAD_POD, format!("the pod is `waiting` and has {what}: a pod that waits has no place yet"));
    }
}

/// The known keys of a row; others are ignored, since exporters may add some.
#[derive(Debug, Default)]
struct PodRowFields<'a> {
    /// `time`.
    time: LineValue<'a>,
    /// `set`.
    set: LineValue<'a>,
    /// `pod`.
    pod: LineValue<'a>,
    /// `node`.
    node: LineValue<'a>,
    /// `inv`.
    inv: LineValue<'a>,
    /// `rack`.
    rack: LineValue<'a>,
    /// `location`.
    location: LineValue<'a>,
    /// `addresses`.
    addresses: LineValue<'a>,
    /// `enabled`.
    enabled: LineValue<'a>,
    /// `state`.
    state: LineValue<'a>,
    /// `replaces`.
    replaces: LineValue<'a>,
}

impl<'a> LineFields<'a> for PodRowFields<'a> {
    fn field(&mut self, key: &str) -> Option<(&'static str, &mut LineValue<'a>)> {
        Some(match key {
            "time" => ("time", &mut self.time),
            "set" => ("set", &mut self.set),
            "pod" => ("pod", &mut self.pod),
            "node" => ("node", &mut self.node),
            "inv" => ("inv", &mut self.inv),
            "rack" => ("rack", &mut self.rack),
            "location" => ("location", &mut self.location),
            "addresses" => ("addresses", &mut self.addresses),
            "enabled" => ("enabled", &mut self.enabled),
            "state" => ("state", &mut self.state),
            "replaces" => ("replaces", &mut self.replaces),
            _ => return None,
        })
    }
}

/// The node and the addresses of each pod.
pub fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let meaning = |pod: &Pod| {
        let node = pod.node.map_or("no node", |node| said.symbols.text(node));
        let addresses: String = pod.addresses.iter().map(|address| format!(", {address}")).collect();
        (format!("{}/{}", said.pods.set_of(pod).id, pod.id), format!("{node}{addresses}"))
    };
    said.pods.rows.iter().filter(|pod| pod.fault.is_none()).map(meaning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::node::SourceText;
    use crate::inventory::source::{ExportDemands, FieldMapping, PathPattern, SourceSpec};
    use crate::inventory::value::{Duration, Size};

    use super::super::SourceFile;

    /// What rows say, with the number of bad ones.
    fn read_rows(rows: &str) -> (Draft, SourceTally) {
        let mut files = Files::default();
        let source = SourceText { file: files.add("pods"), text: rows.to_owned() };
        let spec = SourceSpec {
            key: "pods",
            word: OWN,
            name: "pods".into(),
            patterns: Vec::<PathPattern>::new(),
            require_end: false,
            max_size: Size::of(1 << 20),
            demands: ExportDemands::default(),
            max_age: None,
            penalty: Duration::from_secs(0),
            mapping: FieldMapping::default(),
            records: None,
        };
        let free_domain = Name::parse("free.invalid").unwrap();
        let context = RowContext {
            files: &files,
            clock: &RowClock::at("2026-11-20T02:00:00Z".parse().unwrap()),
            free_domain: &free_domain,
            name_cooldown: Duration::from_secs(0),
            admins: &Default::default(),
        };
        let input =
            SourceInput { spec: &spec, files: vec![SourceFile { id: source.file, bytes: source.text.as_bytes() }] };
        let part = read(&input, &context);
        let mut draft = Draft::default();
        (part.fold)(&mut draft, Trust::Known);
        (draft, part.tally)
    }

    /// A row of a pod that is dead, with more keys.
    fn row(time: &str, pod: &str, more: &str) -> String {
        format!("{{\"time\":\"2026-11-20T{time}:00Z\",\"set\":\"s\",\"pod\":\"{pod}\",\"state\":\"dead\"{more}}}\n")
    }

    /// The pods, each with its fault.
    fn shown(rows: &str) -> Vec<String> {
        let (draft, tally) = read_rows(rows);
        let shown = |pod: &Pod| format!("{} {}", pod.id, pod.fault.as_deref().unwrap_or("good"));
        let mut all: Vec<String> = draft.pods.rows.iter().map(shown).collect();
        all.push(format!("{} of {} bad{}", tally.bad, tally.rows, if draft.pods.has_strays { ", strays" } else { "" }));
        all
    }

    #[test]
    fn a_later_good_row_makes_up_for_a_bad_one_and_not_the_other_way() {
        let (good, bad) = (row("01:00", "a", ""), row("01:30", "a", ",\"inv\":-1"));
        let fault = "a `inv` is not an unsigned integer";
        assert_eq!(shown(&format!("{good}{bad}")), [fault, "1 of 2 bad"]);
        let later = row("01:40", "A", "");
        assert_eq!(shown(&format!("{later}{bad}{good}")), ["a good", "1 of 3 bad"]);
        // What has no time may be the latest.
        let timeless = good.replace("2026-11-20T01:00:00Z", "now");
        assert_eq!(shown(&format!("{later}{timeless}")), ["a `now` is not a time", "1 of 2 bad"]);
    }

    #[test]
    fn rows_of_one_time_may_say_the_same_alone() {
        let one = row("01:00", "a", ",\"rack\":\"r\"");
        assert_eq!(shown(&format!("{one}{one}")), ["a good", "0 of 2 bad"]);
        let other = row("01:00", "a", ",\"rack\":\"r2\"");
        let fault = "a pod `s/a` has two rows of 2026-11-20T01:00:00Z that say different things: pods:1 and pods:2";
        assert_eq!(shown(&format!("{one}{other}")), [fault, "1 of 2 bad"]);
        let later = row("01:01", "a", "");
        assert_eq!(shown(&format!("{one}{other}{later}")), ["a good", "0 of 3 bad"]);
    }

    #[test]
    fn a_row_of_no_pod_is_a_stray() {
        let good = row("01:00", "a", "");
        for stray in [good.replace("\"s\"", "\"s/t\""), good.replace("\"a\"", "null"), "{\n".to_owned()] {
            assert_eq!(shown(&format!("{good}{stray}")), ["a good", "1 of 2 bad, strays"], "{stray}");
        }
    }
}
