//! Takes over RRsets of another owner: only the owner in the TXT of the registry, or in the marks of RRsets, changes. Pure.
//!
//! Comes in: live DNS, and what hosts and files claim. Goes out: a change for each TXT or mark that names the other owner, at
//! RRsets that a subject claims, or at all; what an apply notes of them; and what keeps its owner, in notices.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::act::{RrsetDeed, RuleAct, RuleActor};
use super::context::RuleContext;
use super::judge::FleetDecisions;
use super::orphans::ProjectDomains;
use super::protect::{self, Protection};
use super::standing::kept_or_gained;
use super::statements::{ADOPTED, RrsetStatement};
use super::subject_standing::{SubjectStanding, SubjectStandings};
use super::{copies, merge, words};
use crate::change::{BlockCode, Change, Notice, NoticeCode, RecordedRrset};
use crate::claim::{OrphanName, Rule, Subject};
use crate::desired::records::StatedSubject;
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Rdata, RrsetMark, Rtype, reverse};
use crate::inventory::model::{Policy, ProjectIndex};
use crate::live::{LiveRrset, PoolCopies, ZoneIndex};
use crate::registry::Registry;

/// How many RRsets a notice names.
const NAMED: usize = 3;

/// Whose RRsets are taken over.
#[derive(Debug, Clone, Copy)]
pub struct AdoptionTerms<'a> {
    /// The owner that TXT or marks name now.
    pub from: &'a str,
    /// Whether those are taken over, too, that no subject claims.
    pub is_all: bool,
}

/// Decides what is taken over, by the reference copies and by those of each other target.
pub fn decide(
    context: &RuleContext<'_>,
    standings: &SubjectStandings,
    pools: &[PoolCopies],
    terms: AdoptionTerms<'_>,
) -> FleetDecisions {
    let (claimed, domains) = (ClaimedPointers::of(context), ProjectDomains::of_all(context));
    let adopt =
        |context: &RuleContext<'_>| Adoption { context, standings, terms, claimed: &claimed, domains: &domains }.find();
    let AdoptionParts { changes, mut notices, mut statements } = adopt(context);
    let changes = copies::at_all_targets(context.inventory, changes, pools, |seen| {
        let other = adopt(&RuleContext { live: &seen.live, ..*context });
        copies::add_notices(&mut notices, &seen.target, other.notices);
        statements.extend(other.statements);
        other.changes
    });
    statements.sort();
    statements.dedup();
    FleetDecisions { changes, notices, statements, ..FleetDecisions::default() }
}

/// Which host has which address now.
struct ClaimedPointers(HashMap<IpAddr, usize>);

impl ClaimedPointers {
    /// The addresses of all hosts.
    fn of(context: &RuleContext<'_>) -> ClaimedPointers {
        let address = |(address, place): (std::net::Ipv6Addr, usize)| {
            let address = address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
            (address, place)
        };
        ClaimedPointers(context.used.addresses().map(address).collect())
    }
}

/// What was found in one view of DNS.
struct AdoptionParts {
    /// The changes.
    changes: Vec<Change>,
    /// What keeps its owner.
    notices: Vec<Notice>,
    /// What an apply notes.
    statements: Vec<RrsetStatement>,
}

/// What was found in one view of DNS, before acts are joined.
#[derive(Default)]
struct AdoptionFinds {
    /// What is done.
    acts: Vec<RuleAct>,
    /// What an apply notes.
    statements: Vec<RrsetStatement>,
    /// The RRsets that keep their owner, and why.
    kept: BTreeMap<(ZoneIndex, KeptOwner), Vec<RecordedRrset>>,
}

impl AdoptionFinds {
    /// Gives an RRset another mark, where it has an heir.
    fn mark(&mut self, zone: ZoneIndex, recorded: RecordedRrset, mark: RrsetMark, heir: Result<Heir, KeptOwner>) {
        match heir {
            Ok(Heir { subject, project, evidence }) => {
                self.statements.extend(subject.host().is_none().then(|| adopted(&recorded)));
                self.acts.push(RuleAct {
                    zone,
                    owner: recorded.name,
                    rtype: recorded.rtype,
                    deed: RrsetDeed::SetMark(mark),
                    rule: Rule::Adopted,
                    actor: RuleActor { subject, project, by_right: true },
                    evidence: evidence.into_iter().collect(),
                });
            }
            Err(KeptOwner::NotSelected) => {}
            Err(why) => self.kept.entry((zone, why)).or_default().push(recorded),
        }
    }
}

/// Who gets an RRset, and by which line.
struct Heir {
    /// The subject.
    subject: Subject,
    /// The project.
    project: ProjectIndex,
    /// The line that claims the RRset; none where nothing does.
    evidence: Option<Origin>,
}

/// Why an RRset keeps its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KeptOwner {
    /// The TXT is where an earlier version of external-dns wrote it, and may record several RRsets.
    Earlier,
    /// The TXT at the name also name a third owner.
    Several,
    /// No subject claims it.
    Unclaimed,
    /// It is in no project's domains.
    NoProject,
    /// Its name is protected.
    Protected,
    /// What claims it is left out of plans.
    LeftOut,
    /// The command line names something else.
    NotSelected,
}

impl KeptOwner {
    /// Whether it only keeps an RRset from being looked for, so that its TXT may change for another one.
    fn is_of_unclaimed(self) -> bool {
        matches!(self, KeptOwner::Unclaimed | KeptOwner::NoProject)
    }
}

/// The search in one view of DNS.
struct Adoption<'s, 'c> {
    /// What decisions are based on.
    context: &'s RuleContext<'c>,
    /// Which subjects are skipped.
    standings: &'s SubjectStandings,
    /// Whose RRsets.
    terms: AdoptionTerms<'s>,
    /// Which host has which address.
    claimed: &'s ClaimedPointers,
    /// Which project a name is in.
    domains: &'s ProjectDomains<'s>,
}

impl Adoption<'_, '_> {
    /// Searches all TXT of zones whose registry they are, and all marks.
    fn find(&self) -> AdoptionParts {
        let context = self.context;
        let mut found = self.marks();
        self.unmarked(&mut found);
        let AdoptionFinds { acts, statements, kept } = &mut found;
        let mut recorded_at: HashMap<(ZoneIndex, Name), RecordedRrset> = HashMap::new();
        for found in self.texts(Registry::Txt) {
            // A wildcard and a name like its replacement share a TXT: both are taken over, or none.
            let (mut heirs, mut without) = (Vec::new(), Vec::new());
            for recorded in self.recorded(found) {
                match self.heir(found, &recorded) {
                    Ok(heir) => heirs.push((recorded, heir)),
                    Err(why) => without.push((recorded, why)),
                }
            }
            if heirs.is_empty() || without.iter().any(|(_, why)| !why.is_of_unclaimed()) {
                for (recorded, why) in without.into_iter().filter(|(_, why)| *why != KeptOwner::NotSelected) {
                    kept.entry((found.zone, why)).or_default().push(recorded);
                }
                continue;
            }
            let of_files = heirs.iter().filter(|(_, heir)| heir.subject.host().is_none());
            let live = of_files.filter(|(recorded, _)| self.is_live(recorded));
            statements.extend(live.map(|(recorded, _)| adopted(recorded)));
            let (recorded, Heir { subject, project, evidence }) = heirs.swap_remove(0);
            let actor = RuleActor { subject, project, by_right: true };
            acts.extend(self.swaps(found, &actor, evidence));
            recorded_at.insert((found.zone, found.rrset.owner()), recorded);
        }
        let mut changes = merge::merge(context, acts);
        for change in changes.iter_mut().filter(|change| !change.is_of_mark()) {
            let name = change.key.owner.as_name();
            let zone = context.live.zone_of(name).expect("it was found in a zone");
            let recorded = recorded_at.remove(&(zone, name.to_name())).expect("each change is of such a TXT");
            change.registers = recorded.unless_said_by(name);
        }
        let notice = |((_, why), rrsets): ((ZoneIndex, KeptOwner), Vec<RecordedRrset>)| Notice {
            code: NoticeCode::OwnerKept,
            message: owner_kept(self.terms.from, why, &rrsets),
            name: rrsets[0].name.to_string(),
            subject: None,
        };
        AdoptionParts { changes, notices: found.kept.into_iter().map(notice).collect(), statements: found.statements }
    }

    /// Searches all marks of zones whose registry they are.
    fn marks(&self) -> AdoptionFinds {
        let context = self.context;
        let mut finds = AdoptionFinds::default();
        for found in context.live.marked_rrsets() {
            let marking = context.marking(found.zone);
            let mark = found.rrset.mark().filter(|mark| mark.owner == self.terms.from);
            let Some(mark) = mark.filter(|_| marking.registry.mark_place().is_some()) else { continue };
            let recorded = RecordedRrset { name: found.rrset.owner(), rtype: found.rrset.rtype() };
            let heir = self.heir_of(found.zone, &recorded).and_then(|heir| self.if_plain(&recorded, heir));
            finds.mark(found.zone, recorded, mark.of_owner(&marking.owner), heir);
        }
        finds
    }

    /// Searches the RRsets without a mark that a TXT of external-dns records, where marks are the registry: they get ours, and the
    /// TXT stays as it is.
    fn unmarked(&self, finds: &mut AdoptionFinds) {
        for found in self.texts(Registry::Owner) {
            let ours = &self.context.marking(found.zone).owner;
            let is_unmarked = |RecordedRrset { name, rtype }: &RecordedRrset| {
                let live = self.context.live.stated_rrset(name.as_name(), *rtype);
                live.is_some_and(|live| live.rrset.mark().is_none())
            };
            for recorded in self.recorded(found).into_iter().filter(is_unmarked) {
                let heir = self.heir(found, &recorded).and_then(|heir| self.if_plain(&recorded, heir));
                finds.mark(found.zone, recorded, RrsetMark::of(ours), heir);
            }
        }
    }

    /// An heir, where the name has nothing that no RRset says: an update of its RRsets would be refused.
    fn if_plain(&self, recorded: &RecordedRrset, heir: Heir) -> Result<Heir, KeptOwner> {
        match protect::protection(self.context, recorded.name.as_name()) {
            Some(Protection::Opaque(_)) => Err(KeptOwner::Protected),
            _ => Ok(heir),
        }
    }

    /// The TXT that name the other owner, in zones with this registry.
    fn texts(&self, registry: Registry) -> impl Iterator<Item = LiveRrset<'_>> {
        let is_of = move |found: &LiveRrset<'_>| self.context.marking(found.zone).registry == registry;
        self.context.live.rrsets_of(Rtype::TXT).filter(move |found| is_of(found) && self.names_other(*found))
    }

    /// Whether a TXT names the other owner.
    fn names_other(&self, found: LiveRrset<'_>) -> bool {
        let marking = self.context.marking(found.zone);
        found.rrset.rdata().any(|rdata| marking.labels(rdata).is_some_and(|labels| labels.owner() == self.terms.from))
    }

    /// Whether there is an RRset.
    fn is_live(&self, RecordedRrset { name, rtype }: &RecordedRrset) -> bool {
        self.context.live.stated_rrset(name.as_name(), *rtype).is_some()
    }

    /// The RRsets that a TXT records: those that are live, and those that a subject is to create.
    fn recorded(&self, found: LiveRrset<'_>) -> Vec<RecordedRrset> {
        let (context, form) = (self.context, &self.context.marking(found.zone).form);
        let Some((rtype, name)) = form.recorded_by(found.rrset.owner().as_name()) else { return Vec::new() };
        let wildcard = form.partner(name.as_name()).filter(|other| other.as_name().is_wildcard());
        let live = |name: Name| match rtype {
            Some(rtype) => {
                let recorded = RecordedRrset { name, rtype };
                let counts = self.is_live(&recorded) || self.claimant(recorded.name.as_name(), rtype).is_some();
                counts.then_some(recorded).into_iter().collect()
            }
            None => {
                let types = context.live.rrsets_at(name.as_name()).map(|found| found.rrset.rtype());
                let counted = types.filter(|rtype| !matches!(*rtype, Rtype::AAAA | Rtype::TXT));
                counted.map(|rtype| RecordedRrset { name: name.clone(), rtype }).collect::<Vec<_>>()
            }
        };
        wildcard.into_iter().chain([name]).flat_map(live).collect()
    }

    /// Who gets an RRset that a TXT records, or why it keeps its owner.
    fn heir(&self, found: LiveRrset<'_>, recorded: &RecordedRrset) -> Result<Heir, KeptOwner> {
        let (context, marking) = (self.context, self.context.marking(found.zone));
        let at = found.rrset.owner();
        let name = recorded.name.as_name();
        match marking.form.txt_name(name, recorded.rtype) {
            Some(Ok(own)) if own == at && context.live.zone_of(name) == Some(found.zone) => {}
            _ => return Err(KeptOwner::Earlier),
        }
        let is_third = |rdata| {
            let labels = marking.labels(rdata);
            labels.is_some_and(|labels| labels.owner() != self.terms.from && labels.owner() != marking.owner)
        };
        if found.rrset.rdata().any(is_third) {
            return Err(KeptOwner::Several);
        }
        self.heir_of(found.zone, recorded)
    }

    /// Who gets an RRset, or why it keeps its owner.
    fn heir_of(&self, zone: ZoneIndex, recorded: &RecordedRrset) -> Result<Heir, KeptOwner> {
        let name = recorded.name.as_name();
        if matches!(protect::protection(self.context, name), Some(Protection::Listed(_) | Protection::Marker)) {
            return Err(KeptOwner::Protected);
        }
        match self.claimant(name, recorded.rtype) {
            Some(heir) => heir,
            None if self.terms.is_all => self.heir_of_unclaimed(zone, recorded),
            None if self.is_unselected(zone, recorded) => Err(KeptOwner::NotSelected),
            None => Err(KeptOwner::Unclaimed),
        }
    }

    /// The subject that claims an RRset; none where none does.
    fn claimant(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Result<Heir, KeptOwner>> {
        let context = self.context;
        if let Some((place, origin)) = context.stated.claimant(name, rtype) {
            let StatedSubject { subject, project, .. } = context.stated.subject(place);
            let heir = Heir { subject: subject.clone(), project: *project, evidence: Some(origin) };
            let is_selected = context.selection.includes_subject(subject, *project);
            return Some(self.inherits(heir, is_selected, &self.standings.stated[place]));
        }
        let place = match rtype {
            Rtype::PTR => {
                let address = reverse::address_of(name)?;
                let place = *self.claimed.0.get(&address)?;
                // A PTR of an address that the host does not have in the end is not claimed.
                Some(place).filter(|place| self.keeps(*place, address))?
            }
            _ if context.has_claiming_host(name, rtype) => context.names.hosts_now(context.inventory, name).next()?,
            _ => return None,
        };
        let host = &context.inventory.hosts[place];
        let heir = Heir { subject: Subject::Host(host.inv), project: host.project, evidence: Some(host.origin) };
        let is_selected = context.selection.includes(host.inv, host.project);
        Some(self.inherits(heir, is_selected, &self.standings.hosts[place]))
    }

    /// An heir, where the command line names it and plans have it.
    fn inherits(&self, heir: Heir, is_selected: bool, standing: &SubjectStanding) -> Result<Heir, KeptOwner> {
        match standing {
            _ if !is_selected => Err(KeptOwner::NotSelected),
            standing if self.is_left_out(standing) => Err(KeptOwner::LeftOut),
            _ => Ok(heir),
        }
    }

    /// Whether a host has an address once its rules have run.
    fn keeps(&self, place: usize, address: IpAddr) -> bool {
        let context = self.context;
        let policy = match &self.standings.hosts[place] {
            SubjectStanding::Open(policy) => *policy,
            _ => context.settings(context.inventory.hosts[place].project).map_or(Policy::CreateOnly, |own| own.policy),
        };
        let mut interfaces = context.desired[place].interfaces.iter();
        interfaces.any(|interface| {
            kept_or_gained(context, interface, policy).contains(&address)
                || matches!(address, IpAddr::V4(v4) if interface.own_a.contains(&v4))
        })
    }

    /// The project in whose domain an RRset is; that of a PTR follows from what it points to, unless its own name is in one.
    fn project_of(&self, RecordedRrset { name, rtype }: &RecordedRrset) -> Option<ProjectIndex> {
        let of_targets = || {
            let found = self.context.live.rrset(name.as_name(), *rtype).filter(|_| *rtype == Rtype::PTR)?;
            let mut targets = found.rrset.rdata().filter_map(|rdata| rdata.target());
            targets.find_map(|target| self.domains.project_of(target))
        };
        self.domains.project_of(name.as_name()).or_else(of_targets)
    }

    /// Whether the command line names something else than an RRset that no subject claims, or the project in whose domain
    /// it is.
    fn is_unselected(&self, zone: ZoneIndex, recorded: &RecordedRrset) -> bool {
        let selection = self.context.selection;
        let subject = self.unclaimed(zone, recorded);
        let is_selected = |project| selection.includes_subject(&subject, project);
        !selection.is_all() && !self.project_of(recorded).is_some_and(is_selected)
    }

    /// The subject of an RRset that no other claims.
    fn unclaimed(&self, zone: ZoneIndex, recorded: &RecordedRrset) -> Subject {
        Subject::Orphan(OrphanName { pool: self.context.pool_of(zone).clone(), name: recorded.name.clone() })
    }

    /// Who gets an RRset that no subject claims: the project in whose domain it is.
    fn heir_of_unclaimed(&self, zone: ZoneIndex, recorded: &RecordedRrset) -> Result<Heir, KeptOwner> {
        let context = self.context;
        if self.is_unselected(zone, recorded) {
            return Err(KeptOwner::NotSelected);
        }
        let project = self.project_of(recorded).ok_or(KeptOwner::NoProject)?;
        let is_allowed = context.admin(project).is_some_and(|admin| admin.automation_allowed);
        let is_on = is_allowed && context.settings(project).is_some_and(|settings| settings.automation);
        // What is not read may claim it.
        let rests = context.removals_rest() || context.files_rest(project) || context.is_tripped(project);
        if !is_on || rests {
            return Err(KeptOwner::LeftOut);
        }
        Ok(Heir { subject: self.unclaimed(zone, recorded), project, evidence: None })
    }

    /// Whether a subject is in no plan: it is skipped, or what is said of it is not believed.
    fn is_left_out(&self, standing: &SubjectStanding) -> bool {
        match standing {
            SubjectStanding::Skipped(_) | SubjectStanding::Free => true,
            // That it is another owner's is why it is taken over.
            SubjectStanding::Blocked(block) => block.code != BlockCode::NotOwner,
            SubjectStanding::Open(_) => false,
        }
    }

    /// Replaces the owner in each TXT that names the other one.
    fn swaps(&self, found: LiveRrset<'_>, actor: &RuleActor, evidence: Option<Origin>) -> Vec<RuleAct> {
        let marking = self.context.marking(found.zone);
        let act = |deed: RrsetDeed| RuleAct {
            zone: found.zone,
            owner: found.rrset.owner(),
            rtype: Rtype::TXT,
            deed,
            rule: Rule::Adopted,
            actor: actor.clone(),
            evidence: evidence.into_iter().collect(),
        };
        let swap = |rdata: Rdata| {
            let labels = marking.labels(rdata.as_rdata(Rtype::TXT))?;
            let is_other = labels.owner() == self.terms.from;
            is_other.then(|| {
                [act(RrsetDeed::Remove(rdata)), act(RrsetDeed::Add(labels.of_owner(&marking.owner).to_rdata()))]
            })
        };
        found.rrset.rdata().filter_map(|rdata| swap(rdata.to_rdata())).flatten().collect()
    }
}

/// That an RRset is taken over for what a file states.
fn adopted(RecordedRrset { name, rtype }: &RecordedRrset) -> RrsetStatement {
    RrsetStatement { by: ADOPTED.to_owned(), is_kept: true, name: name.clone(), rtype: *rtype }
}

/// That RRsets keep another owner; `rrsets` is not empty.
fn owner_kept(from: &str, why: KeptOwner, rrsets: &[RecordedRrset]) -> String {
    let shown =
        |RecordedRrset { name, rtype }: &RecordedRrset| format!("{rtype} of {}", words::readable(name.as_name()));
    let what = match rrsets {
        [one] => format!("the {} keeps its owner `{from}`", shown(one)),
        _ => {
            let named: Vec<String> = rrsets.iter().take(NAMED).map(shown).collect();
            let more = rrsets.len() - named.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} RRsets keep their owner `{from}` ({}{more})", rrsets.len(), named.join(", "))
        }
    };
    let why = match why {
        KeptOwner::Earlier => {
            "the TXT is where an earlier version of external-dns wrote it; let a newer one write it anew"
        }
        KeptOwner::Several => "the TXT at the same name also name another owner",
        KeptOwner::Unclaimed => "no host, manifest or file claims it; `--all` takes it over, too",
        KeptOwner::NoProject => "in no project's domain",
        KeptOwner::Protected => {
            "`protect` of the zone lists the name, it is that of a marker, or there is what no RRset says"
        }
        KeptOwner::LeftOut => "what claims it is skipped, blocked or not believed (`zonewright plan` says why)",
        KeptOwner::NotSelected => "the command line names something else",
    };
    format!("{what}: {why}")
}
