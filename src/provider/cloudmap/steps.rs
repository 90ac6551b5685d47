//! What is done to a service so that a name has other RRsets. Pure.
//!
//! What comes is registered before anything goes, so that at no moment a name has fewer values than it had and is to have. Only the
//! types of a service cannot be changed: the service goes, and another one comes.

use std::collections::{BTreeMap, BTreeSet};

use super::description::with_mark;
use super::document::{CloudMapInstance, routing_of};
use super::held::{HeldService, NameSets};
use super::names::{ATTRIBUTES, attribute_of, digest_id, instance_id, parse_value, value_text};
use crate::dns::{Rrset, RrsetMark, Rtype, Ttl};
use crate::target::{RrsetEdit, Update};

/// How many instances a service may have.
pub const MAX_INSTANCES: usize = 1_000;

/// What a service is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceWish {
    /// Its types with their TTLs, sorted.
    pub types: Vec<(Rtype, Ttl)>,
    /// Its description.
    pub note: Option<String>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceStep {
    /// A service is made.
    Create(ServiceWish),
    /// Instances are registered: their identifiers, with their values by the words of attributes.
    Register(Vec<(String, BTreeMap<&'static str, String>)>),
    /// A service gets other TTLs, or another description.
    Update(ServiceWish),
    /// Instances with these identifiers go.
    Deregister(Vec<String>),
    /// The service goes, because one with other types takes its place.
    Replace,
    /// The service goes where it is one that goes with its last instance.
    Leave,
}

/// What is at a name, compared with what an update says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameProgress {
    /// All RRsets are as the update saw them.
    Before,
    /// Some are on their way: an update may have ended in the middle.
    Between,
    /// All are as they are to be.
    After,
    /// One is something else.
    Other,
}

/// How far an update is.
pub fn progress(sets: &NameSets, update: &Update<'_>) -> NameProgress {
    let of_edit = |edit: &RrsetEdit<'_>| {
        let (live, before, after) = (sets.get(&edit.key.rtype), edit.kind.before(), edit.kind.after());
        if live == after {
            NameProgress::After
        } else if live == before {
            NameProgress::Before
        } else if edit.kind.is_between(live) {
            NameProgress::Between
        } else {
            NameProgress::Other
        }
    };
    let all: Vec<NameProgress> = update.edits.iter().map(of_edit).collect();
    if all.contains(&NameProgress::Other) {
        NameProgress::Other
    } else if all.iter().all(|own| *own == NameProgress::After) {
        NameProgress::After
    } else if all.iter().all(|own| *own == NameProgress::Before) {
        NameProgress::Before
    } else {
        NameProgress::Between
    }
}

/// What is left to do so that a name that has this service, or none, has these RRsets; empty where nothing is.
///
/// Errors: why that cannot be, in words that go on after the name.
pub fn steps(held: Option<&HeldService>, wanted: &NameSets) -> Result<Vec<ServiceStep>, String> {
    let types: Vec<(Rtype, Ttl)> = wanted.iter().map(|(rtype, rrset)| (*rtype, rrset.ttl())).collect();
    let rtypes: Vec<Rtype> = types.iter().map(|(rtype, _)| *rtype).collect();
    let Some(held) = held else {
        if types.is_empty() {
            return Ok(Vec::new());
        }
        let service = ServiceWish { note: with_mark(None, mark_of(wanted)?)?, types: checked(types)? };
        return Ok(vec![ServiceStep::Create(service), ServiceStep::Register(missing(wanted)?)]);
    };
    let all = || held.instances.iter().map(|own| own.id.clone()).collect();
    if types.is_empty() {
        let gone = (!held.instances.is_empty()).then(|| ServiceStep::Deregister(all()));
        return Ok(gone.into_iter().chain([ServiceStep::Leave]).collect());
    }
    let types = checked(types)?;
    let (has, mark) = (held.types()?, mark_of(wanted)?);
    let live_mark = held.mark()?;
    let is_other = |own: &RrsetMark| mark.is_none_or(|mark| mark.owner != own.owner);
    if let Some(own) = live_mark.as_ref().filter(|own| held.instances.is_empty() && is_other(own)) {
        return Err(format!("has a service without instances, of the owner `{}`", own.owner));
    }
    let has_rtypes: Vec<Rtype> = has.iter().map(|(rtype, _)| *rtype).collect();
    // An empty service may have been made with another routing.
    let is_fit = held.service.routing().is_empty() || held.service.routing() == routing_of(&rtypes);
    if has_rtypes != rtypes || !is_fit {
        if let Some(stays) = has_rtypes.iter().find(|own| rtypes.contains(own)).filter(|_| !held.instances.is_empty()) {
            let words = |rtypes: &[Rtype]| rtypes.iter().map(Rtype::to_string).collect::<Vec<_>>().join(" and ");
            let (has, wanted) = (words(&has_rtypes), words(&rtypes));
            return Err(format!(
                "has a service of {has}, and Cloud Map cannot make it one of {wanted} without taking its {stays} away"
            ));
        }
        if held.instances.is_empty() && !held.is_own(mark.map(|own| own.owner.as_str())) {
            return Err(
                "has a service of other types or another routing, without instances, that zonewright did not make"
                    .to_owned(),
            );
        }
        let gone = (!held.instances.is_empty()).then(|| ServiceStep::Deregister(all()));
        let service = ServiceWish { note: with_mark(None, mark)?, types };
        let new = [ServiceStep::Replace, ServiceStep::Create(service), ServiceStep::Register(missing(wanted)?)];
        return Ok(gone.into_iter().chain(new).collect());
    }
    let (kept, surplus): (Vec<&CloudMapInstance>, Vec<&CloudMapInstance>) =
        held.instances.iter().partition(|own| is_wanted(own, wanted));
    let note = held.service.description.as_deref();
    let is_marked = !held.has_marks || live_mark.as_ref() == mark;
    let note = if is_marked { note.map(str::to_owned) } else { with_mark(note, mark)? };
    let new = missing_next_to(wanted, &kept, &held.instances)?;
    let (has_new, has_surplus) = (!new.is_empty(), !surplus.is_empty());
    let gone: Vec<String> = surplus.iter().map(|own| own.id.clone()).collect();
    let steps = [
        has_new.then_some(ServiceStep::Register(new)),
        (has != types || !is_marked).then_some(ServiceStep::Update(ServiceWish { types, note })),
        has_surplus.then_some(ServiceStep::Deregister(gone)),
    ];
    Ok(steps.into_iter().flatten().collect())
}

/// What an update that ended in the middle may have asked for: instances that are to come, and are listed, perhaps before they are
/// there; none where there are none.
pub fn coming(held: &HeldService, wanted: &NameSets, update: &Update<'_>) -> Option<ServiceStep> {
    let before: NameSets =
        update.edits.iter().filter_map(|edit| Some((edit.key.rtype, edit.kind.before().cloned()?))).collect();
    let was_there = |own: &CloudMapInstance| !before.is_empty() && is_wanted(own, &before);
    let values = |own: &CloudMapInstance| {
        let value = |(_, word): &(Rtype, &'static str)| Some((*word, own.attributes.get(*word)?.clone()));
        ATTRIBUTES.iter().filter_map(value).collect()
    };
    let come = held.instances.iter().filter(|own| is_wanted(own, wanted) && !was_there(own));
    let come: Vec<NewInstance> = come.map(|own| (own.id.clone(), values(own))).collect();
    (!come.is_empty()).then_some(ServiceStep::Register(come))
}

/// The one mark that RRsets of a name have.
///
/// Errors: they have two; in words that go on after the name.
fn mark_of(wanted: &NameSets) -> Result<Option<&RrsetMark>, String> {
    let marks: BTreeSet<Option<&RrsetMark>> = wanted.values().map(Rrset::mark).collect();
    if marks.len() > 1 {
        let words = |rtype: &Rtype| rtype.to_string();
        let types = wanted.keys().map(words).collect::<Vec<_>>().join(" and ");
        return Err(format!("would have two owners, and a service of Cloud Map with {types} has one"));
    }
    Ok(marks.into_iter().next().flatten())
}

/// Types that a service can have with these TTLs.
fn checked(types: Vec<(Rtype, Ttl)>) -> Result<Vec<(Rtype, Ttl)>, String> {
    let rtypes: Vec<Rtype> = types.iter().map(|(rtype, _)| *rtype).collect();
    if rtypes.len() > 1 && rtypes.contains(&Rtype::CNAME) {
        return Err("would have a CNAME and other data".to_owned());
    }
    if types.windows(2).any(|pair| pair[0].1 != pair[1].1) {
        return Err("would have A and AAAA with two TTLs, and a service of Cloud Map has one".to_owned());
    }
    Ok(types)
}

/// Whether all values of an instance are wanted.
fn is_wanted(instance: &CloudMapInstance, wanted: &NameSets) -> bool {
    wanted.iter().all(|(rtype, rrset)| {
        let value = attribute_of(*rtype).and_then(|word| instance.attributes.get(word));
        let value = value.and_then(|text| parse_value(*rtype, text));
        value.is_some_and(|value| rrset.rdata().binary_search(&value).is_ok())
    })
}

/// The instances that are needed for RRsets, without any that there are.
fn missing(wanted: &NameSets) -> Result<Vec<NewInstance>, String> {
    missing_next_to(wanted, &[], &[])
}

/// An instance that is to come: its identifier, with its values by the words of attributes.
type NewInstance = (String, BTreeMap<&'static str, String>);

/// The instances that are needed for RRsets in addition to those that are kept, of all that there are. Each has a value of every
/// type: with two types, a value of the shorter RRset may be at several.
fn missing_next_to(
    wanted: &NameSets,
    kept: &[&CloudMapInstance],
    all: &[CloudMapInstance],
) -> Result<Vec<NewInstance>, String> {
    let columns: Vec<Column> = wanted.iter().filter_map(|(rtype, rrset)| Column::of(*rtype, rrset, kept)).collect();
    let count = columns.iter().map(|column| column.missing.len()).max().unwrap_or_default();
    // What goes is there until all that comes has come.
    let most = all.len() + count;
    if most > MAX_INSTANCES {
        return Err(format!("would have {most} instances for a moment, and a service may have {MAX_INSTANCES}"));
    }
    let row = |number: usize| -> NewInstance {
        let values: Vec<(&'static str, &str)> =
            columns.iter().map(|column| (column.word, column.value(number))).collect();
        let id = instance_id(&values.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        // Another editor may have given the identifier to another value, which must not be written over.
        let is_taken = all.iter().any(|own| own.id == id);
        let id = if is_taken { digest_id(&id) } else { id };
        (id, values.into_iter().map(|(word, value)| (word, value.to_owned())).collect())
    };
    Ok((0..count).map(row).collect())
}

/// The values of one type.
struct Column {
    /// The word of the attribute.
    word: &'static str,
    /// Those that no kept instance has.
    missing: Vec<String>,
    /// Any wanted one.
    any: String,
}

impl Column {
    /// Those of an RRset.
    fn of(rtype: Rtype, rrset: &Rrset, kept: &[&CloudMapInstance]) -> Option<Column> {
        let word = attribute_of(rtype)?;
        let held = |own: &&CloudMapInstance| parse_value(rtype, own.attributes.get(word)?);
        let held: Vec<_> = kept.iter().filter_map(held).collect();
        let missing = rrset.rdata().iter().filter(|rdata| !held.contains(rdata));
        let missing = missing.map(|rdata| value_text(rtype, rdata)).collect();
        Some(Column { word, missing, any: value_text(rtype, rrset.rdata().first()?) })
    }

    /// The value of the instance with this number.
    fn value(&self, number: usize) -> &str {
        self.missing.get(number).unwrap_or(&self.any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{NameRef, Rdata};

    /// RRsets of these types and values, with this TTL.
    fn sets(ttl: u64, of: &[(Rtype, &[&str])]) -> NameSets {
        let rrset = |(rtype, values): &(Rtype, &[&str])| {
            let values = values.iter().map(|value| Rdata::read(*rtype, value, NameRef::ROOT).unwrap()).collect();
            Some((*rtype, Rrset::new(Ttl::from_secs(ttl)?, values)?))
        };
        of.iter().filter_map(rrset).collect()
    }

    /// A service of these types with instances, each with its values.
    fn held(types: &[&str], instances: &[(&str, &[(&str, &str)])]) -> HeldService {
        let routing = if types == ["CNAME"] { "WEIGHTED" } else { "MULTIVALUE" };
        let records: Vec<_> = types.iter().map(|rtype| serde_json::json!({"Type": rtype, "TTL": 60})).collect();
        let service = serde_json::json!({
            "Id": "srv-1", "Name": "a", "DnsConfig": {"RoutingPolicy": routing, "DnsRecords": records},
        });
        let instance = |(id, values): &(&str, &[(&str, &str)])| CloudMapInstance {
            id: (*id).to_owned(),
            attributes: values
                .iter()
                .map(|(word, value)| (format!("AWS_INSTANCE_{word}"), (*value).to_owned()))
                .collect(),
        };
        let service = serde_json::from_value(service).unwrap();
        HeldService { service, instances: instances.iter().map(instance).collect(), has_marks: false }
    }

    /// What is done, in short words.
    fn shown(held: Option<&HeldService>, wanted: &NameSets) -> String {
        let types = |types: &[(Rtype, Ttl)]| {
            types.iter().map(|(rtype, ttl)| format!("{rtype}/{}", ttl.as_secs())).collect::<Vec<_>>().join("+")
        };
        let step = |step: &ServiceStep| match step {
            ServiceStep::Create(own) => format!("create {}", types(&own.types)),
            ServiceStep::Register(own) => {
                format!("+{}", own.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>().join(" +"))
            }
            ServiceStep::Update(own) => format!("update {} {}", types(&own.types), own.note.as_deref().unwrap_or("-")),
            ServiceStep::Deregister(own) => format!("-{}", own.join(" -")),
            ServiceStep::Replace => "replace".to_owned(),
            ServiceStep::Leave => "leave".to_owned(),
        };
        match steps(held, wanted) {
            Ok(steps) => steps.iter().map(step).collect::<Vec<_>>().join(", "),
            Err(words) => words,
        }
    }

    const A1: (&str, &[(&str, &str)]) = ("192.0.2.1", &[("IPV4", "192.0.2.1")]);

    #[test]
    fn what_comes_is_registered_before_anything_goes() {
        let one = held(&["A"], &[A1]);
        let wanted = |ttl, values: &[&str]| sets(ttl, &[(Rtype::A, values)]);
        assert_eq!(shown(None, &wanted(60, &["192.0.2.1"])), "create A/60, +192.0.2.1");
        assert_eq!(shown(Some(&one), &wanted(60, &["192.0.2.2"])), "+192.0.2.2, -192.0.2.1");
        assert_eq!(shown(Some(&one), &wanted(60, &["192.0.2.1"])), "");
        assert_eq!(shown(Some(&one), &wanted(300, &["192.0.2.1"])), "update A/300 -");
        assert_eq!(shown(Some(&one), &wanted(300, &["192.0.2.3"])), "+192.0.2.3, update A/300 -, -192.0.2.1");
        assert_eq!(shown(Some(&one), &NameSets::new()), "-192.0.2.1, leave");
        assert_eq!(shown(Some(&held(&["A"], &[])), &wanted(60, &["192.0.2.1"])), "+192.0.2.1");
        assert_eq!(shown(None, &NameSets::new()), "");
    }

    #[test]
    fn an_identifier_that_another_value_has_is_not_written_over() {
        let other = held(&["A"], &[("192.0.2.2", &[("IPV4", "192.0.2.9")])]);
        let steps = steps(Some(&other), &sets(60, &[(Rtype::A, &["192.0.2.9", "192.0.2.2"])])).unwrap();
        let [ServiceStep::Register(new)] = steps.as_slice() else { panic!("{steps:?}") };
        assert_eq!((new[0].0.len(), new[0].1["AWS_INSTANCE_IPV4"].as_str()), (64, "192.0.2.2"));
    }

    #[test]
    fn with_two_types_each_instance_has_a_value_of_both() {
        let both = |a: &[&str], aaaa: &[&str]| sets(60, &[(Rtype::A, a), (Rtype::AAAA, aaaa)]);
        let shown_new = shown(None, &both(&["192.0.2.1", "192.0.2.2"], &["2001:db8::1"]));
        assert_eq!(shown_new, "create A/60+AAAA/60, +192.0.2.1_2001:db8::1 +192.0.2.2_2001:db8::1");
        let pair = ("x", &[("IPV4", "192.0.2.1"), ("IPV6", "2001:db8::1")][..]);
        let one = held(&["AAAA", "A"], &[pair]);
        let more = both(&["192.0.2.1"], &["2001:db8::1", "2001:db8::2"]);
        assert_eq!(shown(Some(&one), &more), "+192.0.2.1_2001:db8::2");
        let other = both(&["192.0.2.7"], &["2001:db8::1"]);
        assert_eq!(shown(Some(&one), &other), "+192.0.2.7_2001:db8::1, -x");
        let mut two_ttls = other;
        two_ttls.extend(sets(300, &[(Rtype::AAAA, &["2001:db8::1"])]));
        assert!(shown(Some(&one), &two_ttls).starts_with("would have A and AAAA with two TTLs"));
    }

    #[test]
    fn the_types_of_a_service_are_not_changed_while_one_of_them_stays() {
        let cname = held(&["CNAME"], &[("b.example.net", &[("CNAME", "b.example.net")])]);
        let address = sets(60, &[(Rtype::A, &["192.0.2.1"])]);
        assert_eq!(shown(Some(&cname), &address), "-b.example.net, replace, create A/60, +192.0.2.1");
        let both = sets(60, &[(Rtype::A, &["192.0.2.1"]), (Rtype::AAAA, &["2001:db8::1"])]);
        let refused = shown(Some(&held(&["A"], &[A1])), &both);
        let expected = "has a service of A, and Cloud Map cannot make it one of A and AAAA without taking its A away";
        assert_eq!(refused, expected);
        let mut empty = held(&["A"], &[]);
        assert!(shown(Some(&empty), &both).ends_with("without instances, that zonewright did not make"));
        empty.service.creator_request_id = Some("zonewright-1".to_owned());
        assert_eq!(shown(Some(&empty), &both), "replace, create A/60+AAAA/60, +192.0.2.1_2001:db8::1");
        let mixed = sets(60, &[(Rtype::A, &["192.0.2.1"]), (Rtype::CNAME, &["b.example.net"])]);
        assert_eq!(shown(None, &mixed), "would have a CNAME and other data");
    }

    #[test]
    fn a_mark_is_the_services() {
        let mark = |sets: NameSets, owner: &str| -> NameSets {
            sets.into_iter().map(|(rtype, own)| (rtype, own.marked(Some(RrsetMark::of(owner))))).collect()
        };
        let wanted = mark(sets(60, &[(Rtype::A, &["192.0.2.1"])]), "us");
        let Ok(steps_of_new) = steps(None, &wanted) else { panic!("it can be made") };
        let text = "heritage=external-dns,external-dns/owner=us";
        let ServiceStep::Create(made) = &steps_of_new[0] else { panic!("{steps_of_new:?}") };
        assert_eq!(made.note.as_deref(), Some(text));
        let of = |description: &str, instances| {
            let mut own = held(&["A"], instances);
            own.service.description = Some(description.to_owned());
            HeldService { has_marks: true, ..own }
        };
        let theirs = of("heritage=external-dns,external-dns/owner=them", &[A1]);
        assert_eq!(shown(Some(&theirs), &wanted), format!("update A/60 {text}"));
        assert_eq!(shown(Some(&of(text, &[A1])), &wanted), "");
        let empty = of("heritage=external-dns,external-dns/owner=them", &[]);
        assert_eq!(shown(Some(&empty), &wanted), "has a service without instances, of the owner `them`");
        // Another registry lets descriptions be.
        let plain = sets(300, &[(Rtype::A, &["192.0.2.1"])]);
        let unread = HeldService { has_marks: false, ..of("the shop", &[A1]) };
        assert_eq!(shown(Some(&unread), &plain), "update A/300 the shop");
        let mut both = wanted;
        both.extend(mark(sets(60, &[(Rtype::AAAA, &["2001:db8::1"])]), "them"));
        assert!(shown(None, &both).starts_with("would have two owners"));
    }

    #[test]
    fn a_service_has_a_thousand_instances_at_most() {
        let values: Vec<String> = (0..=1_000).map(|number| format!("10.0.{}.{}", number / 250, number % 250)).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        assert!(steps(None, &sets(60, &[(Rtype::A, &values[..1_000])])).is_ok());
        let refused = steps(None, &sets(60, &[(Rtype::A, &values)])).unwrap_err();
        assert_eq!(refused, "would have 1001 instances for a moment, and a service may have 1000");
        // While old and new ones are there, both count.
        let one = held(&["A"], &[("x", &[("IPV4", "192.0.2.1")])]);
        assert!(steps(Some(&one), &sets(60, &[(Rtype::A, &values[..1_000])])).is_err());
    }
}
