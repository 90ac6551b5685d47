//! Zones that may not be transferred: which names are asked for, round by round.
//!
//! Comes in: live DNS as far as it could be read whole, and the zones that are asked name by name. Goes out: live DNS with
//! what the answers show. The rounds: every name that a host has or had; then the reverse name of every address that a
//! host may have, or that stands at such a name; then every name that a PTR found there points to. What stands anywhere
//! else in such a zone is not looked for.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use rayon::prelude::*;

use super::Progress;
use super::zones::side_by_side;
use crate::desired::{Desired, DesiredHost};
use crate::diff::own;
use crate::dns::{Name, NameRef, Rtype, reverse};
use crate::inventory::Inventory;
use crate::inventory::model::Registry;
use crate::inventory::value::Time;
use crate::live::asked::{AskedZone, Question};
use crate::live::{Live, LiveZone, ZoneIndex};
use crate::names::NameIndex;
use crate::provider::{AskZone, TargetError};

/// A zone that is asked name by name.
pub struct Asking<'t> {
    /// The zone.
    pub zone: ZoneIndex,
    /// The pool of its target: zones of one pool share its servers.
    pub pool: usize,
    /// Who is asked.
    pub target: &'t dyn AskZone,
    /// What was answered so far.
    pub asked: AskedZone,
    /// Why it is unknown, if it is.
    pub failed: Option<TargetError>,
}

impl Asking<'_> {
    /// The zone as far as it is known now.
    pub fn known(&mut self) -> LiveZone {
        let name = self.asked.apex();
        if self.failed.is_none() {
            match self.asked.to_live() {
                Ok(live) => return live,
                Err(error) => {
                    self.failed = Some(TargetError {
                        place: self.target.place(name),
                        code: "bad-message",
                        message: format!("its answers make no zone: {error}"),
                        hint: Some("the server, or something on the way, breaks the protocol".to_owned()),
                        findings: None,
                    });
                }
            }
        }
        LiveZone::unknown(name.clone())
    }
}

/// Asks for all that the rules need in the zones `asking`; `live` has them as their first answers show them.
pub fn follow(
    inventory: &Inventory,
    now: Time,
    live: Live,
    asking: &mut [Asking<'_>],
    progress: &dyn Progress,
) -> Live {
    let mut rounds = Rounds { inventory, asking };
    progress.stage("asking for the names of hosts", None);
    let names: Vec<Name> = NameIndex::new(inventory).names(inventory).collect();
    let live = rounds.run(live, names.iter().cloned().collect());
    progress.stage("asking for the names of addresses", None);
    let derived = Desired::new(inventory, &live, now);
    let desired = (0..inventory.hosts.len()).into_par_iter().map(|place| derived.derive(place)).collect::<Vec<_>>();
    let reverse_names: BTreeSet<Name> =
        addresses(&live, &names, &desired).into_iter().map(reverse::reverse_name).collect();
    let live = rounds.run(live, reverse_names.clone());
    progress.stage("asking for the names that addresses point to", None);
    let targets = reverse_names.iter().flat_map(|name| targets(&live, name.as_name())).collect();
    rounds.run(live, targets)
}

/// The addresses that hosts may have, and those that stand at any of `names`.
fn addresses(live: &Live, names: &[Name], desired: &[DesiredHost]) -> BTreeSet<IpAddr> {
    let interfaces = desired.iter().flat_map(|host| &host.interfaces);
    let mut addresses: BTreeSet<IpAddr> = BTreeSet::new();
    for interface in interfaces {
        addresses.extend(interface.acceptable.iter().map(|(address, _): &(Ipv6Addr, _)| IpAddr::V6(*address)));
    }
    for (name, rtype) in names.iter().flat_map(|name| [(name, Rtype::AAAA), (name, Rtype::A)]) {
        let found = live.rrset(name.as_name(), rtype).into_iter();
        addresses.extend(found.flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.address()));
    }
    addresses
}

/// The names that the PTR at a name point to.
fn targets(live: &Live, name: NameRef<'_>) -> Vec<Name> {
    let found = live.rrset(name, Rtype::PTR).into_iter();
    found.flat_map(|found| found.rrset.rdata()).filter_map(|rdata| rdata.target()).map(NameRef::to_name).collect()
}

/// What all rounds share.
struct Rounds<'a, 't> {
    /// The inventory.
    inventory: &'a Inventory,
    /// The zones that are asked.
    asking: &'a mut [Asking<'t>],
}

impl Rounds<'_, '_> {
    /// Asks for names, each in its zone where that is one of these, and puts what the answers show into `live`.
    fn run(&mut self, live: Live, names: BTreeSet<Name>) -> Live {
        let mut questions: Vec<Vec<Question>> = self.asking.iter().map(|_| Vec::new()).collect();
        // A name may have been asked for another type: the TXT beside one name can be where another has its address.
        for name in names {
            let zone = live.zone_of(name.as_name());
            let Some(place) = self.asking.iter().position(|asking| Some(asking.zone) == zone) else { continue };
            self.add_questions(&live, place, name, &mut questions[place]);
        }
        if questions.iter().all(Vec::is_empty) {
            return live;
        }
        self.exchange(questions);
        let probes = self.asking.iter().map(|asking| asking.asked.probes()).collect();
        self.exchange(probes);
        let known = self.asking.iter_mut().map(|asking| (asking.zone, asking.known())).collect();
        live.replace(known)
    }

    /// Adds what is asked about a name: to which zone it belongs, what stands at it, and what the registry says of that.
    fn add_questions(&self, live: &Live, place: usize, name: Name, questions: &mut Vec<Question>) {
        let asked = &self.asking[place].asked;
        let mut add = |all: Vec<Question>| questions.extend(all.into_iter().filter(|one| !asked.has_answer(one)));
        let is_reverse = reverse::address_of(name.as_name()).is_some();
        let (rtypes, managed) = match is_reverse {
            true => (&[Rtype::SOA, Rtype::PTR][..], Rtype::PTR),
            false => (&[Rtype::SOA, Rtype::AAAA, Rtype::A][..], Rtype::AAAA),
        };
        if self.inventory.config.registry == Registry::Txt
            && let Some(Ok(txt)) = own::txt_name(name.as_name(), managed)
            && live.zone_of(txt.as_name()) == Some(self.asking[place].zone)
        {
            add([Rtype::SOA, Rtype::TXT].map(|rtype| Question { name: txt.clone(), rtype }).to_vec());
        }
        add(rtypes.iter().map(|rtype| Question { name: name.clone(), rtype: *rtype }).collect());
    }

    /// Asks one list of questions a zone, and keeps the answers, or why there are none.
    fn exchange(&mut self, questions: Vec<Vec<Question>>) {
        let asking = &*self.asking;
        let pools: Vec<usize> = asking.iter().map(|asking| asking.pool).collect();
        let outcomes = side_by_side(&pools, |place| {
            let Asking { target, asked, failed, .. } = &asking[place];
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
