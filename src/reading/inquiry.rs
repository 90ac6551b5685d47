//! Zones that may not be transferred: which names are queried, round by round.
//!
//! Comes in: live DNS of the zones that were read completely, and the zones that are queried name by name. Goes out:
//! live DNS with the answers added. The rounds: every name that a selected host has or had; then the reverse name of
//! every address that such a host may have, or that is at such a name; then every name that a PTR found there points
//! to. For a plan of only some hosts, a last round queries the names of other hosts whose standing matters to these.
//! Other names of such a zone are not queried. In the zones of DNS update records one round queries what they publish now,
//! and what applies noted that they published.

use super::needed::{NeededNames, sorted};
use super::side_by_side::side_by_side;
use crate::claim::host_rtypes;
use crate::diag::Problem;
use crate::diff::statements::KeptStatements;
use crate::dns::{Name, NameRef, Rtype, reverse};
use crate::inventory::Inventory;
use crate::inventory::model::Project;
use crate::inventory::stated::StatedEntry;
use crate::live::asked::AskedZone;
use crate::live::{Live, LiveZone, ZoneIndex};
use crate::progress::{Progress, RunStage};
use crate::target::{Question, ReadTarget, TargetId, transfer_is_cheaper};

/// A zone that is queried name by name.
pub struct QueriedZone<'t> {
    /// The zone.
    pub zone: ZoneIndex,
    /// Which target is queried: its zones share its servers.
    pub target_id: &'t TargetId,
    /// The target.
    pub target: &'t dyn ReadTarget,
    /// How many records the zone probably has, where the target transfers it if that is cheaper; none where it is always
    /// queried.
    pub records: Option<u64>,
    /// The answers so far.
    pub asked: AskedZone,
    /// Why it is unknown, if it is.
    pub failed: Option<Problem>,
}

impl QueriedZone<'_> {
    /// The zone as far as it is known now.
    pub fn known(&mut self) -> LiveZone {
        let name = self.asked.apex();
        if self.failed.is_none() {
            match self.asked.to_live() {
                Ok(live) => return live,
                Err(error) => {
                    self.failed = Some(
                        Problem::new(
                            self.target.place(name),
                            "bad-message",
                            format!("its answers are not a valid zone: {error}"),
                        )
                        .hint("the server, or a device on the way, violates the protocol"),
                    );
                }
            }
        }
        LiveZone::unknown(name.clone())
    }
}

/// Queries all that the rules need in the zones `asking`; `live` is a draft that has only their first answers.
pub fn follow(
    (inventory, statements): (&Inventory, &KeptStatements),
    needed: &mut NeededNames<'_>,
    live: Live,
    asking: &mut [QueriedZone<'_>],
    progress: &dyn Progress,
) -> Live {
    let mut rounds = InquiryRounds::new(inventory, live, asking);
    progress.stage(RunStage::HostNames, None);
    let names = needed.names();
    rounds.ask(&names, QueryScope::All);
    needed.derive(&rounds.live);
    if needed.may_share_by_ipv4() {
        rounds.ask(&needed.names_of_rest(), QueryScope::Ipv4);
        needed.derive_all(&rounds.live);
    }
    progress.stage(RunStage::Addresses, None);
    let reverse_names = needed.reverse_names(&rounds.live, &names);
    rounds.ask(&reverse_names, QueryScope::All);
    progress.stage(RunStage::PtrTargets, None);
    let targets = reverse_names.iter().flat_map(|name| targets(&rounds.live, name.as_name()));
    let mut further = sorted(targets);
    further.extend(needed.note_others(&rounds.live, &[&names[..], &further].concat()));
    rounds.ask(&sorted(further.into_iter()), QueryScope::All);
    needed.derive(&rounds.live);
    rounds.ask(&needed.reverse_names_of_others(&rounds.live), QueryScope::All);
    rounds.ask_records(statements);
    rounds.live
}

/// The names that the PTR at a name point to.
fn targets(live: &Live, name: NameRef<'_>) -> Vec<Name> {
    let found = live.rrset(name, Rtype::PTR).into_iter();
    found.flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.target()).map(NameRef::to_name).collect()
}

/// What is queried about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QueryScope {
    /// All that a rule may read.
    All,
    /// Its A records alone, which are compared with those of other names.
    Ipv4,
}

/// The values that all rounds share.
struct InquiryRounds<'a, 't> {
    /// The inventory.
    inventory: &'a Inventory,
    /// Live DNS as far as it is known, a draft.
    live: Live,
    /// The zones that are queried.
    asking: &'a mut [QueriedZone<'t>],
    /// For each zone its place among those that are queried; none where it is known completely, or not at all.
    places: Vec<Option<usize>>,
    /// The types that hosts claim at their names.
    of_names: Vec<Rtype>,
    /// What is asked for at their names: also types that hosts may have there without a claim.
    at_names: Vec<Rtype>,
}

impl<'a, 't> InquiryRounds<'a, 't> {
    /// Starts with what is known.
    fn new(inventory: &'a Inventory, live: Live, asking: &'a mut [QueriedZone<'t>]) -> InquiryRounds<'a, 't> {
        let mut places = vec![None; inventory.config.zones.len()];
        for (place, asking) in asking.iter().enumerate() {
            places[asking.zone.0 as usize] = Some(place);
        }
        let are_listed = inventory.projects.iter().any(Project::lists_addresses);
        let claimed = host_rtypes::at_names().filter(|own| own.is_claimed(are_listed));
        let of_names = claimed.map(|own| own.rtype).collect();
        let at_names = std::iter::once(Rtype::SOA).chain(host_rtypes::at_names().map(|own| own.rtype)).collect();
        InquiryRounds { inventory, live, asking, places, of_names, at_names }
    }

    /// Queries what DNS update records publish and published, each in its own zones.
    fn ask_records(&mut self, statements: &KeptStatements) {
        let questions = self.asking.iter().map(|asking| self.questions_of_record(asking, statements)).collect();
        self.exchange_and_keep(questions);
    }

    /// The questions about the names of a DNS update record in one of its zones; none of other zones.
    fn questions_of_record(&self, asking: &QueriedZone<'_>, statements: &KeptStatements) -> Vec<Question> {
        let config = &self.inventory.config;
        let spec = &config.zones[asking.zone.0 as usize];
        if !config.is_of_record(spec) {
            return Vec::new();
        }
        let record = config.pool(spec).name.as_str();
        let own = config.zones.iter().filter(|other| other.pool == spec.pool);
        let apexes: Vec<NameRef<'_>> = own.map(|other| other.name.as_name()).collect();
        let apex_of = |name: NameRef<'_>| {
            let above = apexes.iter().filter(|apex| name.is_at_or_below(**apex));
            above.max_by_key(|apex| apex.as_wire().len()).copied()
        };
        let is_inside = |name: &Name| apex_of(name.as_name()) == Some(spec.name.as_name());
        let published = &self.inventory.published;
        let is_own = |entry: &&StatedEntry| *published.sources[usize::from(entry.source)].name == *record;
        let now = published.entries.iter().filter(is_own).map(|entry| &entry.owner);
        let is_noted = |by: &str| by.split_once('/').is_some_and(|(source, _)| source == record);
        let noted = statements.iter().filter(|(_, _, by)| by.iter().any(|by| is_noted(by)));
        let names = now.chain(noted.map(|(name, _, _)| name)).filter(|name| is_inside(name)).cloned();
        let marking = config.marking(spec);
        let mut questions = Vec::new();
        for name in sorted(names) {
            let mut ask = |name: &Name, rtypes: &[Rtype]| {
                questions.extend(rtypes.iter().map(|rtype| Question { name: name.clone(), rtype: *rtype }));
            };
            ask(&name, &[Rtype::SOA, Rtype::AAAA, Rtype::A, Rtype::TXT]);
            let types = [Rtype::AAAA, Rtype::A, Rtype::CNAME, Rtype::TXT].into_iter();
            let texts = types.filter(|_| marking.registry.reads_texts());
            let texts = texts.flat_map(|rtype| marking.form.names(name.as_name(), rtype)).filter(is_inside);
            texts.for_each(|text| ask(&text, &[Rtype::SOA, Rtype::TXT]));
        }
        questions.sort_unstable();
        questions.dedup();
        questions
    }

    /// Queries names, each in its zone where that is one of the queried zones, and keeps the answers.
    fn ask(&mut self, names: &[Name], about: QueryScope) {
        let mut questions: Vec<Vec<Question>> = self.asking.iter().map(|_| Vec::new()).collect();
        for name in names {
            if let Some(place) = self.place_of(name.as_name()) {
                self.add_questions(place, name, about, &mut questions[place]);
            }
        }
        if about == QueryScope::Ipv4 {
            self.transfer(&mut questions);
        }
        self.exchange_and_keep(questions);
    }

    /// Asks each zone its list of questions and what shows wildcards, and keeps what is known then.
    fn exchange_and_keep(&mut self, questions: Vec<Vec<Question>>) {
        let touched: Vec<bool> = questions.iter().map(|questions| !questions.is_empty()).collect();
        self.exchange(questions);
        let probes = self.asking.iter_mut().map(|asking| asking.asked.probes()).collect();
        self.exchange(probes);
        for (asking, _) in self.asking.iter_mut().zip(touched).filter(|(_, touched)| *touched) {
            let known = asking.known();
            self.live.put(asking.zone, known);
        }
    }

    /// The place of a name's zone among those that are queried.
    fn place_of(&self, name: NameRef<'_>) -> Option<usize> {
        self.live.zone_of(name).and_then(|zone| self.places[zone.0 as usize])
    }

    /// Adds the questions about a name: which zone it belongs to, what is at the name, and what the registry says about
    /// that.
    ///
    /// A name may have been queried for another type: the registry TXT of one name can be at the name of another host.
    fn add_questions(&self, place: usize, name: &Name, about: QueryScope, questions: &mut Vec<Question>) {
        let asked = &self.asking[place].asked;
        let mut add = |name: &Name, rtypes: &[Rtype]| {
            let all = rtypes.iter().map(|rtype| Question { name: name.clone(), rtype: *rtype });
            questions.extend(all.filter(|one| !asked.has_answer(one)));
        };
        let is_reverse = reverse::address_of(name.as_name()).is_some();
        let managed: &[Rtype] = if is_reverse { &[Rtype::PTR] } else { &self.of_names };
        let config = &self.inventory.config;
        let marking = config.marking(&config.zones[self.asking[place].zone.0 as usize]);
        if about == QueryScope::All && marking.registry.reads_texts() {
            for txt in managed.iter().flat_map(|rtype| marking.form.names(name.as_name(), *rtype)) {
                if self.place_of(txt.as_name()) == Some(place) {
                    add(&txt, &[Rtype::SOA, Rtype::TXT]);
                }
            }
        }
        match (about, is_reverse) {
            (QueryScope::Ipv4, _) => add(name, &[Rtype::SOA, Rtype::A]),
            (QueryScope::All, true) => add(name, &[Rtype::SOA, Rtype::PTR]),
            (QueryScope::All, false) => add(name, &self.at_names),
        }
    }

    /// Transfers the zones for which this is cheaper than their questions, where the server permits it; leaves the
    /// questions of the others.
    fn transfer(&mut self, questions: &mut [Vec<Question>]) {
        let asking = &*self.asking;
        let targets: Vec<_> = asking.iter().map(|asking| asking.target_id).collect();
        let read = side_by_side(&targets, |place| {
            let QueriedZone { target, records, failed, asked, .. } = &asking[place];
            let records = records.filter(|_| failed.is_none())?;
            let pays = transfer_is_cheaper(questions[place].len() as u64, records);
            // If the server refuses the transfer, queries are still possible; servers give no findings in files.
            pays.then(|| target.read_zone(asked.apex()).ok()).flatten().map(|read| read.contents)
        });
        for (place, contents) in read.into_iter().enumerate() {
            let Some(contents) = contents else { continue };
            let zone = self.asking[place].zone;
            self.live.put(zone, LiveZone::known(contents));
            self.places[zone.0 as usize] = None;
            questions[place].clear();
        }
    }

    /// Asks each zone its list of questions, and keeps the answers, or why there are none.
    fn exchange(&mut self, questions: Vec<Vec<Question>>) {
        let asking = &*self.asking;
        let targets: Vec<_> = asking.iter().map(|asking| asking.target_id).collect();
        let outcomes = side_by_side(&targets, |place| {
            let QueriedZone { target, asked, failed, .. } = &asking[place];
            match questions[place].as_slice() {
                questions if questions.is_empty() || failed.is_some() => Ok(Vec::new()),
                questions => target.ask(asked.apex(), questions),
            }
        });
        for ((asking, questions), outcome) in self.asking.iter_mut().zip(questions).zip(outcomes) {
            match outcome {
                Ok(answers) => asking.asked.take(questions, answers),
                Err(error) => asking.failed = Some(error),
            }
        }
    }
}
