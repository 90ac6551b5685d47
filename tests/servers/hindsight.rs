//! Whether all is as it must be once an apply was killed, or failed, and was taken up again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use zonewright::dns::{Name, Rtype};
use zonewright::state::{self, ApplyId, SentFate, State, StateAddress};

use crate::rig::{Applied, Edit, Zone, apply_in, folded, key_of, marker_name, plan_in, status_in};
use crate::yard::{COMING, Records, STATE, Yard, Zones};

impl Yard {
    /// How zones differ from what they were before the apply, the markers too.
    pub fn differ_from_before(&self, zones: &Zones) -> Result<(), String> {
        same(&records(zones), &records(&self.before))
    }

    /// How zones differ from what they are to be after the apply, but for the markers.
    pub fn differ_from_after(&self, zones: &Zones) -> Result<(), String> {
        let without = |(zone, of): (&String, &Zone)| (zone.clone(), without_marker(zone, &of.records));
        same(&zones.iter().map(without).collect(), &self.after)
    }

    /// The state, to read it.
    pub fn state(&self) -> Box<dyn State> {
        let state = state::open_to_read(&StateAddress::of_file(&self.workspace().join(STATE), "state.db"));
        state.expect("the state can be read").expect("there is a state")
    }

    /// What of the state is not as it should be once an apply has done all of the plan.
    fn wrong_in_state(&self, apply: ApplyId) -> Result<(), String> {
        let state = self.state();
        let mut left: BTreeSet<(String, String)> = self.plan.changes().iter().map(|change| change.key()).collect();
        for sent in state.sent(apply).expect("the journal") {
            match sent.fate {
                SentFate::Done => {}
                SentFate::Undone(_) => continue,
                SentFate::Unknown(why) => return Err(format!("update {} is open: {why:?}", sent.number)),
            }
            for change in sent.changes {
                let key = (change.name.to_string(), change.rtype.to_string());
                if !left.remove(&key) {
                    return Err(format!("{key:?} is done twice"));
                }
            }
        }
        if !left.is_empty() {
            return Err(format!("the journal lacks {left:?}"));
        }
        let summary = state.apply(apply).expect("the journal").ok_or("the journal lacks the apply")?;
        if summary.finished.is_none() || summary.updates_open > 0 {
            return Err(format!("not ended: {summary:?}"));
        }
        if let Some(open) = state.markers().expect("markers").copies().values().find(|known| !known.open.is_empty()) {
            return Err(format!("markers are awaited: {open:?}"));
        }
        let own = self.own();
        if own != self.own { Err(format!("own are {own:?}")) } else { Ok(()) }
    }

    /// Whether the apply has begun.
    pub fn has_begun(&self) -> bool {
        self.state().apply(COMING).expect("the journal").is_some()
    }

    /// Checks that the journal has everything that took effect, and nothing else.
    pub fn check_journal(&self) -> Result<(), String> {
        let sent = self.state().sent(COMING).expect("the journal");
        let mut fates: BTreeMap<(String, String), Vec<&SentFate>> = BTreeMap::new();
        for (change, fate) in sent.iter().flat_map(|sent| sent.changes.iter().map(move |change| (change, &sent.fate))) {
            fates.entry((change.name.to_string(), change.rtype.to_string())).or_default().push(fate);
        }
        let zones = self.zones();
        let keys: BTreeSet<(String, String)> = self.plan.changes().iter().map(Edit::key).collect();
        same(&others(&zones, &keys), &others(&self.before, &keys))?;
        for change in self.plan.changes() {
            let found = zones[&change.zone].rrset(&change.name, &change.rtype);
            let of_change = fates.remove(&change.key()).unwrap_or_default();
            let is_done = of_change.contains(&&SentFate::Done);
            let is_open = of_change.iter().any(|fate| matches!(fate, SentFate::Unknown(_)));
            match (found == change.after, found == change.before) {
                (true, _) if is_done || is_open => {}
                (_, true) if !is_done => {}
                _ => return Err(format!("the journal has {of_change:?} of {:?}: {found:?}", change.key())),
            }
        }
        if fates.is_empty() { Ok(()) } else { Err(format!("the journal has {fates:?}, too")) }
    }

    /// Checks that a resumption ended well, and the zones are as planned; as they were, where the apply had not begun.
    pub fn check_resumed(&self, resumed: &Applied, has_begun: bool) -> Result<(), String> {
        let is_fine = |outcome: &String| outcome == "applied" || outcome == "already-applied";
        let has_all = resumed.outcomes().values().flatten().all(is_fine);
        if resumed.exit != Some(0) || resumed.refused().is_some() || !has_all {
            return Err(format!("begun {has_begun}, resume: {}", resumed.said()));
        }
        if has_begun { self.differ_from_after(&self.zones()) } else { self.differ_from_before(&self.zones()) }
    }

    /// Checks that nothing is left: the plan finds everything done or, where it had not begun, does it; a new one is
    /// empty, the state has all of it once, and there is nothing to resume.
    pub fn check_rest(&self, has_begun: bool) -> Result<(), String> {
        let again = apply_in(self.workspace(), &self.plan.file, &[]);
        let outcome = if has_begun { "already-applied" } else { "applied" };
        if again.exit != Some(0) || again.outcomes().values().flatten().any(|each| each != outcome) {
            return Err(format!("begun {has_begun}, apply again: {}", again.said()));
        }
        self.wrong_in_state(COMING)?;
        let new = plan_in(self.workspace(), &[]);
        fs::remove_file(&new.file).expect("it is ours");
        if !new.changes().is_empty() {
            return Err(format!("a new plan has {:?}", new.changes()));
        }
        let status = status_in(self.workspace());
        if status.contains("Unfinished") {
            return Err(status);
        }
        let before = self.zones();
        let resumed = self.resume();
        if resumed.exit != Some(0) || !resumed.document["plan"].is_null() {
            return Err(format!("resume once more: {}", resumed.said()));
        }
        let zones = self.zones();
        self.differ_from_after(&zones)?;
        if zones == before { Ok(()) } else { Err("the same resume once more changed DNS".to_owned()) }
    }

    /// The own RRsets of the state, of all that were, are or are to be.
    pub fn own(&self) -> BTreeSet<(String, String)> {
        let own = self.state().own().expect("own RRsets");
        let before = self.before.values().flat_map(|zone| &zone.records).map(|line| key_of(line));
        let keys = before.chain(self.plan.changes().into_iter().map(|change| change.key()));
        keys.filter(|(name, rtype)| {
            let (name, rtype) = key(name, rtype);
            own.contains(name.as_name(), rtype)
        })
        .collect()
    }

    /// What is own before the apply, and what it creates, without what it deletes.
    pub fn own_after(&self) -> BTreeSet<(String, String)> {
        let mut own = self.own();
        for change in self.plan.changes() {
            match (change.before.is_empty(), change.after.is_empty()) {
                (true, _) => drop(own.insert(change.key())),
                (_, true) => drop(own.remove(&change.key())),
                _ => {}
            }
        }
        own
    }
}

/// Records without the marker of their zone; names in lower case.
pub fn without_marker(zone: &str, records: &BTreeSet<String>) -> BTreeSet<String> {
    let marker = (marker_name(zone), "TXT".to_owned());
    records.iter().filter(|line| key_of(line) != marker).map(|line| folded(line)).collect()
}

/// The records that a plan has no business with, and no marker.
fn others(zones: &Zones, keys: &BTreeSet<(String, String)>) -> Records {
    let mut records: Records =
        zones.iter().map(|(zone, of)| (zone.clone(), without_marker(zone, &of.records))).collect();
    records.values_mut().for_each(|records| records.retain(|line| !keys.contains(&key_of(line))));
    records
}

/// The records of zones as they are.
fn records(zones: &Zones) -> Records {
    zones.iter().map(|(zone, of)| (zone.clone(), of.records.clone())).collect()
}

/// How two contents of all zones differ.
fn same(is: &Records, should: &Records) -> Result<(), String> {
    let wrong: Vec<String> = should
        .iter()
        .flat_map(|(zone, should)| differences(&is[zone], should))
        .map(|(is_missing, line)| format!("{} {line}", if is_missing { "-" } else { "+" }))
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("the zones have too much and too little:\n{}", wrong.join("\n")))
    }
}

/// What is to be deleted (`false`) and added (`true`) to make one set of records of another, deletions first.
pub fn differences<'a>(is: &'a BTreeSet<String>, was: &'a BTreeSet<String>) -> Vec<(bool, &'a String)> {
    let deleted = is.difference(was).map(|line| (false, line));
    deleted.chain(was.difference(is).map(|line| (true, line))).collect()
}

/// A record's line without its TTL, as a deletion has it.
pub fn without_ttl(line: &str) -> String {
    let fields: Vec<&str> = line.splitn(3, ' ').collect();
    format!("{} {}", fields[0], fields[2])
}

/// What zonewright may know about.
fn key(name: &str, rtype: &str) -> (Name, Rtype) {
    (Name::parse(name).expect("a name"), rtype.parse().expect("a type"))
}
