//! What an operator asks about: from a text to a host, a name or an address.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::claim::{Subject, SubjectFamily};
use crate::desired::pods::srv_owner;
use crate::diag::{CallError, did_you_mean};
use crate::diff::RuleContext;
use crate::dns::{Name, reverse};
use crate::inventory::Inventory;
use crate::inventory::pod_template::PodFields;
use crate::inventory::pods::{Pod, PodSet};
use crate::inventory::value::Inv;
use crate::live::NamePlace;
use crate::names::NameIndex;
use crate::names::holders::held_name;

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExplainQuestion {
    /// A host that hosts.csv or names.lock has.
    Host(Inv),
    /// A name that is in a configured zone, or that a host has or had.
    Name(Name),
    /// An address.
    Address(IpAddr),
    /// A host that the inventory lacks, and that the journal knows.
    Left(Inv),
}

/// Makes an error.
pub(super) fn error<T>(message: String, hint: impl Into<String>) -> Result<T, CallError> {
    Err(CallError { message, hint: hint.into() })
}

/// What a question may be.
const EXPECTED: &str =
    "ask about an inventory number such as 100001, a name, an address, or a subject such as pod:SET/POD";

impl ExplainQuestion {
    /// Reads a question: digits are an inventory number, a reverse name means its address, a subject means its name, and a
    /// single label is looked for in the domains of projects and of sets of pods.
    ///
    /// Errors: what is none of these, and what neither the inventory nor any configured zone knows of.
    pub fn find(context: &RuleContext<'_>, text: &str) -> Result<ExplainQuestion, CallError> {
        let RuleContext { inventory, live, names, .. } = *context;
        if let Ok(inv) = text.parse::<Inv>() {
            return host(inventory, inv).map(ExplainQuestion::Host);
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            // Programs print the IPv4 address of a peer so where one socket serves both.
            return Ok(ExplainQuestion::Address(address.to_canonical()));
        }
        if let Ok(subject) = text.parse::<Subject>() {
            return of_subject(inventory, &subject);
        }
        let name = match Name::parse(text) {
            Ok(name) => name,
            Err(wrong) => {
                return error(format!("`{text}` is not an inventory number, a name or an address: {wrong}"), EXPECTED);
            }
        };
        if let Some(address) = reverse::address_of(name.as_name()) {
            return Ok(ExplainQuestion::Address(address));
        }
        if !text.contains('.') {
            return short_name(context, text);
        }
        let known = live.zone_of(name.as_name()).is_some()
            || names.holders(inventory, name.as_name()).next().is_some()
            || context.stated.has_name(name.as_name())
            || inventory.published.entries.iter().any(|entry| entry.owner == name);
        if known {
            Ok(ExplainQuestion::Name(name))
        } else {
            error(
                format!("no configured zone holds `{name}`, no host has or had it, and no file states it"),
                suggested(inventory, names, text)
                    .unwrap_or_else(|| "check the spelling, or add a [[zone]] for it to zonewright.toml".to_owned()),
            )
        }
    }
}

/// A host of the inventory, by its number.
///
/// Errors: neither hosts.csv nor names.lock has it.
pub(super) fn host(inventory: &Inventory, inv: Inv) -> Result<Inv, CallError> {
    let in_lock = inventory.lock.binary_search_by_key(&inv, |row| row.inv).is_ok();
    if in_lock || inventory.place_of(inv).is_some() {
        Ok(inv)
    } else {
        error(
            format!("no host of the inventory has the number {inv}"),
            "hosts.csv and names.lock have no readable row of it; `zonewright check` lists rows that are bad",
        )
    }
}

/// The question about a subject, as reports write it.
///
/// Errors: the files of sets have no such pod or endpoint.
fn of_subject(inventory: &Inventory, subject: &Subject) -> Result<ExplainQuestion, CallError> {
    let of_set = |id: &str| {
        let set = inventory.pods.find_set(id)?;
        Some((set, inventory.pods.sets[set.0 as usize].terms()?))
    };
    let name = match subject.family() {
        SubjectFamily::Host(inv) => return host(inventory, inv).map(ExplainQuestion::Host),
        SubjectFamily::Pod(own) => match of_set(&own.set) {
            Some((set, terms)) => match inventory.pods.place_of(set, &own.pod).map(|place| &inventory.pods.rows[place])
            {
                Some(pod) => match pod.constant_name(terms, &inventory.symbols) {
                    Ok(name) => Some(name),
                    Err(_) => return nameless_pod(inventory, subject, pod),
                },
                None => Pod::constant_name_of(&own.pod, terms),
            },
            None => None,
        },
        SubjectFamily::Endpoints(own) => of_set(&own.set).and_then(|(_, terms)| {
            let endpoint = terms.endpoints.iter().find(|endpoint| endpoint.name.as_text() == &*own.name)?;
            srv_owner(terms, &endpoint.name.label(&PodFields::default()).ok()?, endpoint)
        }),
        SubjectFamily::Stated(own) => Some(own.name.clone()),
        SubjectFamily::Unclaimed(orphan) => Some(orphan.name.clone()),
    };
    match name {
        Some(name) => Ok(ExplainQuestion::Name(name)),
        None => error(
            format!("`{subject}` has no name by the files of sets of pods"),
            "check the spelling, or ask about the name; that of an SRV with `{location}` in it is one for each location",
        ),
    }
}

/// The error about a pod with a row that gives it no name.
fn nameless_pod(inventory: &Inventory, subject: &Subject, pod: &Pod) -> Result<ExplainQuestion, CallError> {
    let line = inventory.files.place(pod.origin);
    error(
        format!(
            "`{subject}` is `{}` by its row ({line}), and has no name: the row lacks what its template needs",
            pod.state
        ),
        "what is live of it stays; ask about such a name",
    )
}

/// The names that a first label may be short for: one in each domain of a project and of a set of pods.
pub fn in_domains(inventory: &Inventory, label: &str) -> Vec<Name> {
    let admins = inventory.projects.iter().filter_map(|project| project.admin.as_ref());
    let domains = admins.flat_map(|admin| std::iter::once(&admin.dns_domain).chain(&admin.also_domains));
    let domains = domains.chain(inventory.pods.sets.iter().filter_map(PodSet::terms).map(|terms| &terms.domain));
    let names: BTreeSet<Name> =
        domains.filter_map(|domain| Name::parse_relative(label.as_bytes(), domain).ok()).collect();
    names.into_iter().collect()
}

/// A name by its first label: the one in these domains that a host has or had, else the one that is live, else
/// the one that a host would get.
fn short_name(context: &RuleContext<'_>, text: &str) -> Result<ExplainQuestion, CallError> {
    let RuleContext { inventory, live, names, foreseen, .. } = *context;
    let candidates = in_domains(inventory, text);
    let held = |name: &&Name| names.holders(inventory, name.as_name()).next().is_some();
    let is_live = |name: &&Name| {
        let open =
            matches!(live.place(name.as_name()), NamePlace::Open(_) | NamePlace::Cname(_) | NamePlace::Opaque(_));
        open && live.rrsets_at(name.as_name()).next().is_some()
    };
    let mut found: Vec<&Name> = candidates.iter().filter(held).collect();
    if found.is_empty() {
        found = candidates.iter().filter(is_live).collect();
    }
    if found.is_empty() {
        found = candidates.iter().filter(|name| foreseen.taker(inventory, name.as_name()).is_some()).collect();
    }
    match found.as_slice() {
        [name] => Ok(ExplainQuestion::Name((*name).clone())),
        [] => error(
            format!("`{text}` is not an inventory number, an address, or a name in the domain of a project"),
            suggested(inventory, names, text)
                .unwrap_or_else(|| format!("{EXPECTED}; write the whole name if it is outside those domains")),
        ),
        several => {
            let list: Vec<String> = several.iter().map(|name| format!("`{name}`")).collect();
            error(format!("`{text}` may be any of {}", list.join(", ")), "give the whole name")
        }
    }
}

/// The hint for a text that is like the name of a host, or the first label of one; none where it is like none.
pub(super) fn suggested(inventory: &Inventory, names: &NameIndex, text: &str) -> Option<String> {
    let is_label = !text.contains('.');
    let current = names.entries().filter(|holder| holder.now);
    let shown = |name: Name| {
        let whole = name.to_string();
        let end = if is_label { whole.find('.') } else { Some(whole.len() - 1) };
        whole[..end.unwrap_or(whole.len())].to_owned()
    };
    let known: BTreeSet<String> = current.filter_map(|holder| held_name(inventory, holder)).map(shown).collect();
    did_you_mean(text.trim_end_matches('.'), known.iter().map(String::as_str))
}
