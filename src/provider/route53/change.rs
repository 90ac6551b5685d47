//! An update to a batch of changes. Pure.
//!
//! Each RRset that was there is deleted as it was listed, and each one that is to be there is created. The service refuses to
//! delete what is not there like that, and to create what is there: so it compares, and nothing is overwritten.

use std::collections::{BTreeMap, HashMap};

use super::document::{ListedSet, SetAction};
use super::names::value_text;
use crate::dns::{Name, RrKey, Rrset, Rtype};
use crate::target::{EditSize, RrsetEdit, Update, UpdateLimits};

/// How many records, as elements of a request, a batch may have.
pub const RECORDS: usize = 1_000;

/// How many of them may be other records than those of the marker, which is deleted and created.
pub const MOST_RECORDS: usize = RECORDS - 2;

/// How many characters all values of a batch may have.
pub const CHARACTERS: usize = 32_000;

/// What one update may hold, with room for the marker, which is deleted and created.
const LIMITS: UpdateLimits =
    UpdateLimits { edits: RECORDS, octets: CHARACTERS - 2 * MARKER_CHARACTERS, parts: MOST_RECORDS, names: usize::MAX };

/// What one update may hold where the settings allow so many records.
pub fn limits(records: Option<usize>) -> UpdateLimits {
    UpdateLimits { parts: records.unwrap_or(LIMITS.parts).min(LIMITS.parts), ..LIMITS }
}

/// How many characters a marker has at most, by far.
pub const MARKER_CHARACTERS: usize = 200;

/// What an edit takes: the characters and the number of the values that it deletes and creates.
pub fn size(edit: RrsetEdit<'_>) -> EditSize {
    let sides = [edit.kind.before(), edit.kind.after()];
    let values = || sides.iter().flatten().flat_map(|rrset| rrset.rdata());
    let octets = values().map(|rdata| value_text(edit.key.rtype, rdata).len()).sum();
    EditSize { octets, parts: values().count() }
}

/// The sets of names as they were seen, or as they were written since.
#[derive(Debug, Default)]
pub struct SeenSets(HashMap<Name, Vec<ListedSet>>);

impl SeenSets {
    /// Whether a name was not seen.
    pub fn lacks(&self, name: &Name) -> bool {
        !self.0.contains_key(name)
    }

    /// Takes what was read of a name.
    pub fn take(&mut self, name: Name, sets: Vec<ListedSet>) {
        self.0.insert(name, sets);
    }

    /// Forgets what was seen of names.
    pub fn forget<'n>(&mut self, keys: impl Iterator<Item = &'n RrKey>) {
        keys.for_each(|key| drop(self.0.remove(&key.owner.as_name().to_name())));
    }

    /// Notes what a batch did.
    pub fn note(&mut self, update: &Update<'_>) {
        for edit in &update.edits {
            let (owner, rtype) = (edit.key.owner.as_name(), edit.key.rtype);
            if let Some(sets) = self.0.get_mut(&owner.to_name()) {
                sets.retain(|set| set.rtype != rtype.to_string());
                sets.extend(edit.kind.after().map(|after| ListedSet::of(owner, rtype, after)));
            }
        }
    }

    /// The actions of an update: what it deletes first, then what it creates, so that a CNAME can give way to other types.
    ///
    /// Errors: in words, where what was seen is not what the update says.
    pub fn actions(&self, update: &Update<'_>) -> Result<Vec<SetAction>, String> {
        let (mut deleted, mut created) = (Vec::new(), Vec::new());
        let mut after: BTreeMap<Name, Vec<(Rtype, bool)>> = BTreeMap::new();
        for edit in &update.edits {
            let (owner, rtype) = (edit.key.owner.as_name(), edit.key.rtype);
            let name = owner.to_name();
            let sets = self.0.get(&name).map(Vec::as_slice).unwrap_or_default();
            if let Some(Err(what)) = sets.iter().map(ListedSet::rrset).find(Result::is_err) {
                return Err(format!("`{name}` has {what}, which zonewright never touches"));
            }
            let own = sets.iter().find(|set| set.rtype == rtype.to_string());
            let found: Option<Rrset> = own.and_then(|set| set.rrset().ok()).map(|(_, rrset)| rrset);
            if found.as_ref() != edit.kind.before() {
                return Err(format!("{rtype} of `{name}` is not what the plan says"));
            }
            deleted.extend(own.cloned().map(SetAction::Delete));
            created.extend(edit.kind.after().map(|after| SetAction::Create(ListedSet::of(owner, rtype, after))));
            after.entry(name).or_default().push((rtype, edit.kind.after().is_some()));
        }
        for (name, edited) in after {
            let stays = |set: &&ListedSet| !edited.iter().any(|(rtype, _)| set.rtype == rtype.to_string());
            let kept = self.0.get(&name).into_iter().flatten().filter(stays).map(|set| set.rtype.clone());
            let made = edited.iter().filter(|(_, is_there)| *is_there).map(|(rtype, _)| rtype.to_string());
            let all: Vec<String> = kept.chain(made).collect();
            if all.len() > 1 && all.iter().any(|rtype| rtype == "CNAME") && edited.iter().any(|(_, is_there)| *is_there)
            {
                return Err(format!("`{name}` would have a CNAME and other data"));
            }
        }
        deleted.append(&mut created);
        Ok(deleted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::batch;
    use super::*;
    use crate::dns::{ChangeKind, NameRef, Rdata, Ttl, ZoneName};

    fn name(text: &str) -> Name {
        Name::parse(&format!("{text}.example.net")).unwrap()
    }

    fn rrset(rtype: Rtype, value: &str) -> Rrset {
        let ttl = Ttl::from_secs(60).unwrap();
        Rrset::new(ttl, vec![Rdata::read(rtype, value, NameRef::ROOT).unwrap()]).unwrap()
    }

    /// A set as the service lists it.
    fn listed(at: &str, rtype: &str, value: &str, special: Option<&'static str>) -> ListedSet {
        let name = format!("{at}.example.net.");
        ListedSet { name, rtype: rtype.into(), ttl: "60".into(), values: vec![value.into()], special }
    }

    /// What an update does where these sets were seen: the verbs and values, or why nothing; then what a second update sees.
    fn actions(seen: &[ListedSet], edits: &[(&str, Rtype, ChangeKind)]) -> Result<String, String> {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let mut sets = SeenSets::default();
        for (at, ..) in edits {
            let own = seen.iter().filter(|set| set.owner().unwrap() == name(at)).cloned().collect();
            sets.take(name(at), own);
        }
        let keys: Vec<RrKey> = edits
            .iter()
            .map(|(at, rtype, _)| RrKey { owner: zone.owner(name(at).as_name()).unwrap(), rtype: *rtype })
            .collect();
        let edits = keys.iter().zip(edits).map(|(key, (.., kind))| RrsetEdit { key, kind }).collect();
        let update = Update { zone: &zone, edits };
        let made = sets.actions(&update)?;
        sets.note(&update);
        assert!(sets.actions(&update).is_err() || made.is_empty(), "an update is not made twice");
        let shown = |action: &SetAction| match action {
            SetAction::Delete(set) => format!("- {} {} {}", set.name, set.rtype, set.values.join(",")),
            SetAction::Create(set) => format!("+ {} {} {}", set.name, set.rtype, set.values.join(",")),
        };
        assert!(batch(&made).contains("<ChangeBatch>"));
        Ok(made.iter().map(shown).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn what_was_listed_is_deleted_as_it_was_written() {
        let seen = [listed("a", "AAAA", "2001:0db8::000a", None)];
        let (before, after) = (rrset(Rtype::AAAA, "2001:db8::a"), rrset(Rtype::AAAA, "2001:db8::b"));
        let made = actions(&seen, &[("a", Rtype::AAAA, ChangeKind::Modify { before, after })]).unwrap();
        assert_eq!(made, "- a.example.net. AAAA 2001:0db8::000a\n+ a.example.net. AAAA 2001:db8::b");
    }

    #[test]
    fn a_cname_gives_way_in_one_batch() {
        let seen = [listed("a", "CNAME", "b.example.net", None)];
        let cname = ("a", Rtype::CNAME, ChangeKind::Delete { before: rrset(Rtype::CNAME, "b.example.net.") });
        let address = ("a", Rtype::A, ChangeKind::Create { after: rrset(Rtype::A, "192.0.2.1") });
        let made = actions(&seen, &[address.clone(), cname]).unwrap();
        assert_eq!(made, "- a.example.net. CNAME b.example.net\n+ a.example.net. A 192.0.2.1");
        let refused = actions(&seen, &[address]).unwrap_err();
        assert_eq!(refused, "`a.example.net.` would have a CNAME and other data");
    }

    #[test]
    fn what_is_not_as_the_plan_saw_it_is_left() {
        let create = |at| (at, Rtype::A, ChangeKind::Create { after: rrset(Rtype::A, "192.0.2.1") });
        let differs = "A of `a.example.net.` is not what the plan says";
        assert_eq!(actions(&[listed("a", "A", "192.0.2.9", None)], &[create("a")]).unwrap_err(), differs);
        let delete = ("a", Rtype::A, ChangeKind::Delete { before: rrset(Rtype::A, "192.0.2.1") });
        assert_eq!(actions(&[], std::slice::from_ref(&delete)).unwrap_err(), differs);
        let mut later = listed("a", "A", "192.0.2.1", None);
        later.ttl = "61".into();
        assert_eq!(actions(&[later], &[delete]).unwrap_err(), differs, "the TTL counts");
        let weighted = listed("a", "A", "192.0.2.9", Some("a weighted set"));
        let refused = actions(&[weighted], &[create("a")]).unwrap_err();
        assert_eq!(refused, "`a.example.net.` has a weighted set of type A, which zonewright never touches");
    }

    #[test]
    fn a_value_counts_on_both_sides() {
        let key = RrKey {
            owner: ZoneName::new(Name::parse("example.net").unwrap()).owner(name("a").as_name()).unwrap(),
            rtype: Rtype::TXT,
        };
        let (before, after) = (rrset(Rtype::TXT, r#""a""#), rrset(Rtype::TXT, r#""\255""#));
        let kind = ChangeKind::Modify { before, after };
        assert_eq!(size(RrsetEdit { key: &key, kind: &kind }), EditSize { octets: 3 + 6, parts: 2 });
    }
}
