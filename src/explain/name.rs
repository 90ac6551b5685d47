//! From a name back to its host, or to no host.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::model::{ExplainSubject, Explanation, HolderFacts, NameFacts, StatementFacts};
use super::{ExplainCase, changes, claimed_by, host};
use crate::change::DelayedRrset;
use crate::claim::{RrsetClaim, Subject, TtlHold};
use crate::desired::records::{LostClaim, StatedClaim, published_at};
use crate::diff::former_names;
use crate::diff::gone_endpoints;
use crate::diff::left_behind::LeftOrphan;
use crate::diff::orphans::ProjectDomains;
use crate::diff::pod_doubt::PodDoubts;
use crate::diff::pod_names::{PodNameFate, PodNames};
use crate::diff::protect::is_untouchable;
use crate::diff::statements::ADOPTED;
use crate::diff::{RuleContext, protect, words};
use crate::dns::{Name, NameRef, Rtype, reverse};
use crate::inventory::model::HostStatus;
use crate::inventory::pods::{PodSet, PodSetIndex, PodState};
use crate::inventory::stated::{EntryContent, StatedEntry};
use crate::inventory::value::{Inv, Time};
use crate::names::holders::name_of;
use crate::names::{HolderRow, NameHolder, taken};

/// Explains a name.
pub fn explain(case: &ExplainCase<'_>, name: &Name) -> Explanation {
    let facts = case.name_facts(name.as_name());
    let mut now: Vec<u64> = facts.holders.iter().filter(|holder| holder.now).map(|holder| holder.inv).collect();
    now.dedup();
    let chain = match now.as_slice() {
        [inv] => Some(case.host(Inv(*inv))),
        _ => None,
    };
    let whose = match (now.as_slice(), facts.holders.first()) {
        ([inv], Some(holder)) => format!("{name} is the {} name of host {inv}.", holder.interface),
        ([], Some(first)) => case.gone_words(name, latest(&facts.holders).unwrap_or(first)),
        ([], None) if !facts.stated.is_empty() => stated_words(name, &facts.stated),
        ([], None) if let Some(words) = case.pod_row_words(name) => words,
        ([], None) if let Some(words) = case.pod_name_words(name) => words,
        ([], None) => match case.published_name_words(name) {
            Some(published) => format!("No host has the name {name} now.{} {published}", case.next_words(name)),
            None => match case.noted_words(name.as_name()) {
                Some(noted) => {
                    let is_sure = case.unread_files(name.as_name()).next().is_none();
                    let file = if is_sure { "no file states it now" } else { "no file that could be read states it" };
                    if facts.is_without_hosts {
                        format!("{name}: {file}. {noted}")
                    } else {
                        format!("No host has {name}, and {file}. {noted}")
                    }
                }
                None if facts.is_without_hosts => format!("{name} is stated by no file."),
                None => format!("{name} has no host: no host has or had it.{}", case.next_words(name)),
            },
        },
        (several, _) => claimed_by(name, several),
    };
    let then = match &chain {
        Some(chain) => host::answer(chain),
        None => host::touched(facts.changes.len()),
    };
    Explanation {
        subject: ExplainSubject::Name(name.to_string()),
        now: case.context.now.to_string(),
        unseen: Vec::new(),
        answer: format!("{whose} {then}"),
        name: Some(facts),
        address: None,
        host: chain,
    }
}

/// What a claim asks for, in words.
fn claim_words(claim: &RrsetClaim) -> String {
    if claim.want.values().is_empty() {
        return format!("no {}", claim.rtype);
    }
    let texts: Vec<String> =
        claim.want.values().iter().map(|value| value.rdata.as_rdata(claim.rtype).to_string()).collect();
    let ttl = claim.ttl.filter(|ttl| ttl.hold == TtlHold::Always).map(|ttl| format!(" ttl {}", ttl.ttl));
    format!("{} {}{}", claim.rtype, texts.join(", "), ttl.unwrap_or_default())
}

/// What states a name that no host has, in a sentence.
fn stated_words(name: &Name, stated: &[StatementFacts]) -> String {
    let mut by: Vec<&str> = stated.iter().map(|own| own.by.as_str()).collect();
    by.dedup();
    let blocked = stated.iter().find_map(|own| Some((own, own.blocked.as_ref()?)));
    let of_pods = stated.first().filter(|own| own.subject.starts_with("pod:") || own.subject.starts_with("endpoints:"));
    match (of_pods, blocked) {
        (Some(own), None) => format!("{name} belongs to {}.", own.subject),
        (Some(own), Some((_, why))) => format!("{name} belongs to {}, which is blocked: {why}.", own.subject),
        (None, Some((own, why))) => {
            format!("Files state {name}: {}. {} is blocked: {why}.", by.join(", "), own.subject)
        }
        (None, None) => format!("Files state {name}: {}.", by.join(", ")),
    }
}

/// The host that gave a name up last.
fn latest(holders: &[HolderFacts]) -> Option<&HolderFacts> {
    // Texts of times to the second in UTC sort as the times do.
    holders.iter().filter(|holder| holder.released.is_some()).max_by_key(|holder| &holder.released)
}

impl ExplainCase<'_> {
    /// Which host had a name that no host has now, and until when the name stays taken.
    fn gone_words(
        &self,
        name: &Name,
        HolderFacts { inv, interface, released, taken_until, .. }: &HolderFacts,
    ) -> String {
        let with = if *interface == "fastbone" { " with the name that it is the fastbone of" } else { "" };
        let then = match (released, taken_until) {
            (None, _) => {
                format!("; hosts.csv gives it to host {inv}, but names.lock does not, and only names.lock counts.")
            }
            (Some(at), Some(until)) => {
                format!(": host {inv} gave it up{with} at {at}, and it stays taken until {until}.")
            }
            (Some(at), None) => {
                format!(": host {inv} gave it up{with} at {at}, and {}.", self.again_words(name.as_name()))
            }
        };
        format!("{name} has no host now{then}{}", self.next_words(name))
    }

    /// What is said of a name that stays with a pod which the pod has not, or no longer asks for; none where no row is of it.
    fn pod_row_words(&self, name: &Name) -> Option<String> {
        let pods = &self.context.inventory.pods;
        let place = self.pod_with(name.as_name())?;
        let pod = &pods.rows[place];
        let subject = Subject::pod(&*pods.set_of(pod).id, &*pod.id);
        let mut found = self.context.live.rrsets_at(name.as_name()).map(|found| found.rrset.rtype().to_string());
        let first = found.next();
        let live = first.into_iter().chain(found).collect::<Vec<_>>().join(", ");
        let has = match (pod.state, live.is_empty()) {
            (PodState::Prepared, true) => "has no records at it yet: it gets them when it is `active`".to_owned(),
            (PodState::Prepared, false) => format!("keeps what is live there ({live}) until it is `active`"),
            (_, true) => "has no records at it, and gets none in this state".to_owned(),
            (_, false) => format!("keeps what is live there ({live}), and gets nothing new in this state"),
        };
        let line = self.line(pod.origin);
        Some(format!("{name} belongs to {subject}, which is `{}` by its row ({line}): it {has}.", pod.state))
    }

    /// The place of the pod with a row whose constant name this is.
    fn pod_with(&self, name: NameRef<'_>) -> Option<usize> {
        let (inventory, label) = (self.context.inventory, name.first_label()?);
        let pods = &inventory.pods;
        let of_set = |(place, set): (usize, &PodSet)| {
            let terms = set.terms().filter(|terms| name.parent() == Some(terms.domain.as_name()))?;
            let set = PodSetIndex(place as u32);
            let mut places = terms.constant.pods_of(label).into_iter().filter_map(|id| pods.place_of(set, id));
            places.find(|place| {
                let constant = pods.rows[*place].constant_name(terms, &inventory.symbols);
                constant.is_ok_and(|constant| constant.as_name() == name)
            })
        };
        pods.sets.iter().enumerate().find_map(of_set)
    }

    /// What happens to a name of a set that no pod has, in a sentence; none where nothing is there, or it is of no set.
    fn pod_name_words(&self, name: &Name) -> Option<String> {
        let mut live = self.context.live.rrsets_at(name.as_name()).chain(self.context.live.pointing_to(name.as_name()));
        live.next()?;
        if let Some(why) = self.pod_doubt(name.as_name()) {
            return Some(format!("It is not known whether a pod has {name} now: {why}. Nothing of it is removed."));
        }
        let is_any = !self.context.inventory.pods.sets.is_empty();
        let names = is_any.then(|| PodNames::of(self.context))?;
        let of_set = |set: PodSetIndex| format!("`{}`", self.context.inventory.pods.sets[set.0 as usize].id);
        let srv = self.context.live.rrset(name.as_name(), Rtype::SRV);
        if let Some((set, _)) = srv.and_then(|srv| gone_endpoints::endpoint_of(self.context, &names, srv)) {
            let set = of_set(set);
            return Some(format!("{name} is of the set {set}, and no endpoint has it now: an own SRV there goes."));
        }
        match names.fate(name.as_name()) {
            PodNameFate::OfNoSet => None,
            PodNameFate::Stays => Some(format!(
                "{name} is of a set of pods, and no pod has it now. It stays while clients may still be led there: while its pod \
                 has its addresses or is not in service, and while an SRV lists it."
            )),
            PodNameFate::Settles(set, until) => Some(format!(
                "{name} is of the set {}, and no pod has it now. It stays since caches may still lead there, and goes {}.",
                of_set(set),
                former_names::when(until)
            )),
            PodNameFate::Goes(set) => {
                Some(format!("{name} is of the set {}, and no pod has it now: own records there go.", of_set(set)))
            }
            PodNameFate::Replaced(set, pod) => Some(format!(
                "{name} is of {pod} of the set {}, which another pod replaces: own records there go once that one is in \
                 service.",
                of_set(set)
            )),
        }
    }

    /// Why it is not known whether a pod has a name that no host has, in words; none where it is known.
    fn pod_doubt(&self, name: NameRef<'_>) -> Option<String> {
        let project = ProjectDomains::of_all(self.context).project_of(name);
        PodDoubts::of(self.context).words(name, project)
    }

    /// What stated a name, as applies noted it, in a sentence; none where no apply noted anything about what is there.
    fn noted_words(&self, name: NameRef<'_>) -> Option<String> {
        let context = self.context;
        let noted: Vec<String> = context
            .live
            .rrsets_at(name)
            .filter_map(|found| {
                let rtype = found.rrset.rtype();
                let by = context.statements.by(name, rtype);
                let by: Vec<String> = by.iter().filter(|by| **by != ADOPTED).map(|by| format!("`{by}`")).collect();
                (!by.is_empty()).then(|| format!("{} stated its {rtype}", by.join(", ")))
            })
            .collect();
        (!noted.is_empty()).then(|| format!("When it was applied last, {}.", noted.join("; ")))
    }

    /// The files that may state a name, and that could not be read completely: a sentence for each.
    fn unread_files(&self, name: NameRef<'_>) -> impl Iterator<Item = String> {
        let RuleContext { inventory, .. } = self.context;
        let may_state = move |project| self.context.admin(project).is_none_or(|admin| admin.contains(name));
        let sources = inventory.stated.sources.iter().filter(move |source| may_state(source.project));
        sources.flat_map(|source| source.unread.keys()).map(|file| {
            let file = inventory.files.name(*file);
            format!("{file} may state it, and could not be read completely: `zonewright check` shows why")
        })
    }

    /// The host that would get a name that no host has, in a sentence.
    fn next_words(&self, name: &Name) -> String {
        let said = |(inv, is_fastbone)| {
            let role = if is_fastbone { " as the name of its fastbone" } else { "" };
            format!(" `zonewright allocate --write` gives it to host {inv}{role}.")
        };
        self.context.foreseen.taker(self.context.inventory, name.as_name()).map(said).unwrap_or_default()
    }

    /// All about a name.
    fn name_facts(&self, name: NameRef<'_>) -> NameFacts {
        let context = self.context;
        let holders: Vec<NameHolder> = context.names.holders(context.inventory, name).collect();
        let project = holders.iter().find(|holder| holder.now).and_then(|holder| match holder.by {
            HolderRow::Host(place) => Some(context.inventory.hosts[place as usize].project),
            HolderRow::Lock(_) => None,
        });
        let changes = self.changes(|change| changes::touches_name(change, name));
        let is_without_hosts = context.inventory.is_without_hosts();
        let stays = if changes.is_empty() && !is_without_hosts { self.stays(name) } else { None };
        NameFacts {
            is_without_hosts,
            holders: holders.into_iter().map(|holder| self.holder(holder)).collect(),
            stated: self.stated(name),
            live: self.whole_site(name, project),
            pointers: self.addresses_pointing(name, |_| false),
            unread_reverse: self.unread_reverse(),
            changes,
            remarks: self.remarks(name).into_iter().chain(stays).collect(),
        }
    }

    /// What files state that has an address, by name.
    pub(super) fn stated_with(&self, address: IpAddr) -> Vec<StatementFacts> {
        let inventory = self.context.inventory;
        let entries = inventory.stated.entries.iter().chain(&inventory.published.entries);
        let has_it = |entry: &&StatedEntry| match &entry.content {
            EntryContent::Rrset(rrset) => {
                rrset.values.iter().any(|value| value.as_rdata(rrset.rtype).address() == Some(address))
            }
            _ => false,
        };
        let mut names: Vec<NameRef<'_>> = entries.filter(has_it).map(|entry| entry.owner.as_name()).collect();
        names.sort_unstable_by(|one, other| one.cmp_text(*other));
        names.dedup();
        names.into_iter().flat_map(|name| self.stated_for(name, Some(address))).collect()
    }

    /// What files state for a name.
    fn stated(&self, name: NameRef<'_>) -> Vec<StatementFacts> {
        self.stated_for(name, None)
    }

    /// What files state for a name; where an address is given, the claims alone that have it.
    fn stated_for(&self, name: NameRef<'_>, with: Option<IpAddr>) -> Vec<StatementFacts> {
        let mut facts = Vec::new();
        let published = published_at(self.context.inventory, self.context.live, name);
        for subject in self.context.stated.about(name).chain(&published) {
            let blocked = self.decision.blocked.iter().find(|blocked| blocked.subject == subject.subject);
            let entry = |origin, because: Vec<String>, says: String| StatementFacts {
                subject: subject.subject.to_string(),
                by: subject.subject.stated_by().unwrap_or_default(),
                line: self.line(origin),
                because,
                says,
                blocked: blocked.map(|blocked| format!("{}: {}", blocked.code, blocked.message)),
            };
            let has_it = |own: &&StatedClaim| {
                let mut values = own.claim.want.values().iter().map(|value| value.rdata.as_rdata(own.claim.rtype));
                with.is_none_or(|address| values.any(|value| value.address() == Some(address)))
            };
            let claims = subject.claims.iter().filter(|own| own.claim.owner.as_name() == name).filter(has_it);
            // An address may be that of several names.
            let says = |own: &StatedClaim| match with {
                Some(_) => format!("{name} {}", claim_words(&own.claim)),
                None => claim_words(&own.claim),
            };
            facts.extend(claims.map(|own| entry(own.origin, self.lines_behind(own), says(own))));
            if with.is_some() {
                continue;
            }
            facts.extend(subject.faults.iter().map(|fault| entry(fault.origin, Vec::new(), fault.message.clone())));
            let at = name.to_name();
            let lost = |lost: &LostClaim| words::entry_lost(self.context, &at, lost);
            facts.extend(subject.lost.iter().map(|own| entry(own.origin, Vec::new(), lost(own))));
        }
        facts
    }

    /// The lines that a claim follows from, without that of its entry; each once, in the order of the values.
    fn lines_behind(&self, own: &StatedClaim) -> Vec<String> {
        let mut lines = Vec::new();
        for origin in own.claim.want.values().iter().flat_map(|value| &value.evidence) {
            let line = self.line(*origin);
            if *origin != own.origin && !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// Says that `allocate` does not give a free name because of the records there.
    fn stays(&self, name: NameRef<'_>) -> Option<String> {
        let RuleContext { inventory, live, names, .. } = self.context;
        let is_given = name.parent().is_some_and(|parent| taken::domains(inventory).contains(parent.as_wire()));
        let is_ignored = is_given
            && !names.is_held(inventory, name)
            && !self.context.stated.has_name(name)
            && live.rrsets_at(name).next().is_some();
        is_ignored.then(|| "`allocate` gives it to no host while live DNS has records at it".to_owned())
    }

    /// A host that has or had a name.
    fn holder(&self, holder: NameHolder) -> HolderFacts {
        let inventory = self.context.inventory;
        let (inv, origin, released) = match holder.by {
            HolderRow::Host(place) => {
                let host = &inventory.hosts[place as usize];
                let given = name_of(inventory, host).and_then(|(_, row)| row);
                let origin = given.filter(|_| holder.now).map_or(host.origin, |row| row.origin);
                (host.inv, origin, None)
            }
            HolderRow::Lock(row) => {
                let row = &inventory.lock[row as usize];
                (row.inv, row.origin, row.released)
            }
        };
        let until = released.and_then(|released| self.taken_until(released));
        HolderFacts {
            inv: inv.0,
            interface: if holder.fastbone { "fastbone" } else { "backbone" },
            now: holder.now,
            line: self.line(origin),
            released: released.map(|released| released.to_string()),
            taken_until: until.map(|until| until.to_string()),
            said: self.holder_words(holder, released, until),
        }
    }

    /// What it means that a host has or had a name.
    fn holder_words(&self, holder: NameHolder, released: Option<Time>, until: Option<Time>) -> String {
        let inventory = self.context.inventory;
        let is_free = |place: u32| inventory.hosts[place as usize].status == HostStatus::Free;
        match (holder.by, released, until) {
            (HolderRow::Host(place), ..) if holder.now && is_free(place) => "has it, and is free".to_owned(),
            (HolderRow::Host(_), ..) if holder.now => "has it".to_owned(),
            (HolderRow::Host(place), ..) => {
                let has_other = name_of(inventory, &inventory.hosts[place as usize]).is_some();
                let does = if has_other { "gives it another" } else { "says that it has none" };
                format!("hosts.csv gives it the name, but names.lock {does}, and only names.lock counts")
            }
            (HolderRow::Lock(_), None, _) => "a current row of names.lock gives it the name".to_owned(),
            (HolderRow::Lock(_), Some(at), Some(until)) => {
                format!("gave it up {at}; it stays taken until {until}")
            }
            (HolderRow::Lock(_), Some(at), None) => format!("gave it up {at}, so long ago that it may be given again"),
        }
    }

    /// Until when the records of a name that no host has wait, and PTR that name it: a sentence for each time.
    pub(super) fn waits_of(&self, name: NameRef<'_>) -> Vec<String> {
        let points = |waiting: &DelayedRrset| {
            let found = self.context.live.rrset(waiting.key.owner.as_name(), waiting.key.rtype);
            found.is_some_and(|found| found.rrset.rdata().any(|rdata| rdata.target() == Some(name)))
        };
        let is_of_name = |waiting: &&DelayedRrset| waiting.key.owner.as_name() == name || points(waiting);
        self.waits_words(self.decision.waiting.iter().filter(is_of_name), Some(name))
    }

    /// Until when RRsets wait: a sentence for each time. The name that they are `about` is not repeated.
    pub(super) fn waits_words<'w>(
        &self,
        waiting: impl Iterator<Item = &'w DelayedRrset>,
        about: Option<NameRef<'_>>,
    ) -> Vec<String> {
        let mut times: BTreeMap<(Option<Time>, Option<Time>), Vec<String>> = BTreeMap::new();
        for waiting in waiting {
            let (owner, rtype) = (waiting.key.owner.as_name(), waiting.key.rtype);
            let rrset = match reverse::address_of(owner) {
                Some(address) => format!("the {rtype} of {address}"),
                None if about == Some(owner) => format!("the {rtype}"),
                None => format!("the {rtype} of {owner}"),
            };
            times.entry((waiting.since, waiting.due)).or_default().push(rrset);
        }
        let delay = self.context.inventory.config.delete_after;
        let said = |((since, due), rrsets): ((Option<Time>, Option<Time>), Vec<String>)| {
            let verb = if rrsets.len() == 1 { "waits" } else { "wait" };
            let until = match since.zip(due) {
                Some((since, due)) => format!("an apply first planned that {since}, so it is due {due}"),
                None => format!("{delay} after the first apply that plans it; there was none yet"),
            };
            format!("{} {verb} to be deleted, as `delete_after` says: {until}", rrsets.join(" and "))
        };
        times.into_iter().map(said).collect()
    }

    /// What else is to be known of a name.
    fn remarks(&self, name: NameRef<'_>) -> Vec<String> {
        let (context, mut remarks) = (self.context, Vec::new());
        if context.live.is_apex(name) {
            remarks.push("it is the apex of a zone: rules change only the records of hosts there".to_owned());
        }
        if context.live.is_exchanger(name) {
            remarks.push("MX records name it, so rules 3, 8 and 9 remove nothing there".to_owned());
        }
        if let Some(why) = protect::protection(context, name).filter(|_| !context.live.is_apex(name)) {
            remarks.push(format!("it is protected, so no rule changes it: {}", protect::reason(context, why)));
        }
        remarks.extend(self.waits_of(name));
        if context.names.may_be_held(context.inventory, name) {
            remarks
                .push("it may be a fastbone's name: a project's file cannot be read, so it is left alone".to_owned());
        }
        if name.is_wildcard() {
            remarks.push("it is a wildcard, which no rule touches".to_owned());
        }
        let is_stated = context.stated.has_name(name);
        let is_nobodys = !is_stated && context.names.holders(context.inventory, name).next().is_none();
        if !is_stated {
            remarks.extend(self.unread_files(name));
        }
        let is_of_pods = || self.pod_doubt(name).is_some() || PodNames::of(context).fate(name) != PodNameFate::OfNoSet;
        let has_host_rules = is_nobodys && self.noted_words(name).is_none() && !is_of_pods();
        if has_host_rules && !is_untouchable(context, name) && context.live.rrset(name, Rtype::AAAA).is_some() {
            remarks.push(
                "no host has or had it. zonewright removes only records that it created there, and only if they hold a \
                 host's address, or if the name is in the domain of a project with policy `sync`. If the zone has \
                 `claim_addresses = \"all\"`, zonewright removes the address of any host there"
                    .to_owned(),
            );
        }
        let notices = self.decision.notices.iter().filter(|notice| notice.name == name.to_string());
        remarks.extend(notices.map(|notice| notice.message.clone()));
        // Of a name of a host that only the journal knows, the answer says it.
        let is_said = |left: &LeftOrphan| is_nobodys && !left.is_of_files;
        let left = self.decision.left_behind.iter();
        let left = left.filter(|left| !is_said(left) && left.orphan.name.as_name() == name);
        remarks.extend(left.map(|left| left.message("")));
        remarks
    }
}
