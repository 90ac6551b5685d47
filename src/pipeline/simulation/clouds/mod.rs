//! A double of a cloud service as the place where zones are written: what it does is the truth, and the primary in memory keeps
//! the log of it, loses and delays requests, and lets other editors write.

mod azure;
mod cloudmap;
mod route53;
mod service;

use std::sync::{Arc, Mutex};

use domain::base::iana::Rcode;

use self::azure::AzureSubscription;
use self::cloudmap::CloudMapAccount;
use self::route53::Route53Account;
use self::service::CloudService;
use super::fleet::Fleet;
use super::seed_play::{PrimaryKind, Weakness};
use crate::dns::{Name, Rtype, ZoneName};
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::http::{HttpAnswer, HttpAsker, HttpFailure, HttpQuestion};
use crate::provider::double_asker::{broken, heard, request};
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage, UpdatePrerequisite};
use crate::provider::memory::primary::{MemoryPrimary, SettledUpdate, UpdateBackend};
use crate::provider::memory::rules::RrsetDifference;
use crate::target::WriteTarget;
use crate::verify::truth::{self, Numbers};

/// An account of a service.
pub struct CloudAccount {
    /// The service.
    service: Arc<dyn CloudService>,
    /// The network before it.
    primary: Arc<MemoryPrimary>,
    /// What was asked, and answered.
    carried: Arc<Mutex<CarriedRequests>>,
    /// What is switched off.
    weakness: Weakness,
}

/// The requests that write, by their numbers.
#[derive(Default)]
struct CarriedRequests(Vec<CarriedRequest>);

/// A request that writes.
struct CarriedRequest {
    /// The request.
    request: DoubleRequest,
    /// How many updates there had been when it was sent.
    sent_at: usize,
    /// The last answer to it.
    answer: Option<DoubleAnswer>,
}

impl CloudAccount {
    /// The account behind a primary, with what the fleet holds at first; none where the primary has nothing behind it.
    pub fn new(
        (kind, weakness): (PrimaryKind, Weakness),
        primary: &Arc<MemoryPrimary>,
        fleet: &Fleet,
        dice: &mut Numbers,
    ) -> Option<CloudAccount> {
        let service: Arc<dyn CloudService> = match kind {
            PrimaryKind::Memory => return None,
            PrimaryKind::Route53 => Arc::new(Route53Account::new(&fleet.zones)),
            PrimaryKind::Azure => Arc::new(AzureSubscription::new(&fleet.zones, dice)),
            PrimaryKind::CloudMap => Arc::new(CloudMapAccount::new(&fleet.zones, dice, weakness == Weakness::Wait)),
        };
        for (key, rrset) in fleet.keys.iter().zip(&fleet.first).filter(|(_, rrset)| rrset.is_some()) {
            service.put(fleet.zone_of(key), key.owner.as_name(), key.rtype, rrset.as_ref());
        }
        let carried = Arc::new(Mutex::new(CarriedRequests::default()));
        primary.put_behind(Box::new(AccountBackend { service: Arc::clone(&service), carried: Arc::clone(&carried) }));
        Some(CloudAccount { service, primary: Arc::clone(primary), carried, weakness })
    }

    /// What a process writes with; `point` is called before each request.
    pub fn writer(&self, point: impl Fn() + Send + Sync + 'static) -> Box<dyn WriteTarget> {
        self.service.writer(Box::new(AccountAsker {
            service: Arc::clone(&self.service),
            primary: Arc::clone(&self.primary),
            carried: Arc::clone(&self.carried),
            weakness: self.weakness,
            point: Box::new(point),
        }))
    }

    /// How many updates there had been when the request of an update was sent.
    pub fn sent_at(&self, message: &UpdateMessage) -> usize {
        self.carried.lock().unwrap().0[number_of(message)].sent_at
    }

    /// Whether the service has yet to do something that it took.
    pub fn is_busy(&self) -> bool {
        self.service.is_busy()
    }

    /// Whether the service lists what it took before that is done.
    pub fn lists_early(&self) -> bool {
        self.service.lists_early()
    }

    /// Lets so much time pass that the service does all that it took.
    pub fn pass(&self) {
        self.service.pass();
        self.primary.settle_behind();
    }

    /// Writes what no run writes, as another editor.
    pub fn disturb(&self, number: usize) {
        self.service.disturb(number);
        self.primary.settle_behind();
    }

    /// What the service does not hold as the log says, and what another editor lost.
    pub fn differences(&self, fleet: &Fleet) -> Vec<String> {
        let mut found = self.service.lost();
        for key in &fleet.keys {
            let held = self.service.held(fleet.zone_of(key), key.owner.as_name(), key.rtype);
            if held != truth::standing(&self.primary, key) {
                found.push(format!("the service does not hold {} {} as the log says", key.owner, key.rtype));
            }
        }
        found
    }
}

/// The number of a request, as its update has it: no two updates are the same. The primary does not look at it.
fn numbered(number: usize) -> UpdatePrerequisite {
    UpdatePrerequisite::InUse(Name::parse(&format!("{number}.request")).unwrap())
}

/// The number of the request of an update.
fn number_of(message: &UpdateMessage) -> usize {
    let [UpdatePrerequisite::InUse(name)] = message.prerequisites.as_slice() else { panic!("{message:?}") };
    std::str::from_utf8(name.as_name().first_label().unwrap()).unwrap().parse().unwrap()
}

/// The service, as the end of the network.
struct AccountBackend {
    /// The service.
    service: Arc<dyn CloudService>,
    /// What was asked.
    carried: Arc<Mutex<CarriedRequests>>,
}

impl UpdateBackend for AccountBackend {
    fn carry_out(&mut self, message: &UpdateMessage) -> Result<Vec<UpdateInstruction>, Rcode> {
        let mut carried = self.carried.lock().unwrap();
        let carried = &mut carried.0[number_of(message)];
        let (answer, at_once) = self.service.carry_out(&carried.request, message);
        let is_done = (200..300).contains(&answer.status);
        carried.answer = Some(answer);
        if is_done { Ok(at_once) } else { Err(Rcode::NXRRSET) }
    }

    fn settled(&mut self) -> Vec<SettledUpdate> {
        self.service.settled()
    }

    fn take_edit(&mut self, zone: &ZoneName, differences: &[RrsetDifference]) {
        let own = |found: &&RrsetDifference| found.rtype != Rtype::SOA;
        // What goes makes room for what comes.
        let (gone, there): (Vec<_>, Vec<_>) = differences.iter().filter(own).partition(|found| found.after.is_none());
        for RrsetDifference { name, rtype, after, .. } in gone.into_iter().chain(there) {
            self.service.put(zone, name.as_name(), *rtype, after.as_ref());
        }
    }
}

/// The way of a process to the service.
struct AccountAsker {
    /// The service.
    service: Arc<dyn CloudService>,
    /// The network before it.
    primary: Arc<MemoryPrimary>,
    /// What was asked.
    carried: Arc<Mutex<CarriedRequests>>,
    /// What is switched off.
    weakness: Weakness,
    /// What is called before each request: others may write there, and the process may die there.
    point: Box<dyn Fn() + Send + Sync>,
}

impl HttpAsker for AccountAsker {
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        (self.point)();
        if self.primary.is_down() {
            return Err(broken());
        }
        let request = request(question);
        let Some(update) = self.service.update_of(&request) else {
            let answer = self.service.answer(&request);
            self.primary.settle_behind();
            return Ok(heard(answer));
        };
        let is_bare = self.weakness == Weakness::Prerequisites;
        let request = if is_bare { self.service.unguarded(request) } else { request };
        let sent_at = self.primary.with_log(<[_]>::len);
        let number = {
            let mut carried = self.carried.lock().unwrap();
            carried.0.push(CarriedRequest { request, sent_at, answer: None });
            carried.0.len() - 1
        };
        let (zone, instructions) = (update.zone, update.instructions);
        let message = UpdateMessage { zone, prerequisites: vec![numbered(number)], instructions };
        let said = self.primary.deliver(&message).ok_or_else(broken)?;
        let answer = self.carried.lock().unwrap().0[number].answer.clone();
        Ok(heard(match (said, answer) {
            (Rcode::SERVFAIL, _) | (_, None) => self.service.busy(),
            (_, Some(answer)) => answer,
        }))
    }
}
