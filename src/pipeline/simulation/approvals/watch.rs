//! Watches what DNS has for hosts, and when name servers serve it.

use super::stage::Stage;
use super::world::{SETTLE, TrueChange, TrueHost, zone};
use crate::dns::{Rrset, Rtype};
use crate::provider::memory::zone::MemoryZone;

impl Stage {
    /// What DNS has for a host.
    fn look_up(&self, host: &TrueHost) -> Option<Rrset> {
        let find = |zone: &MemoryZone| zone.rrset(host.name.as_name(), Rtype::AAAA).cloned();
        self.primary.with_zone(&zone(host.project), find).flatten()
    }

    /// Sees which hosts were changed since it last looked.
    pub fn observe(&self) {
        let mut cast = self.cast();
        let cast = &mut *cast;
        let mut affected: Vec<usize> = Vec::new();
        for (number, host) in cast.hosts.iter_mut().enumerate() {
            let live = self.look_up(host);
            if live == host.live {
                continue;
            }
            // A host that has left is no longer watched by anyone.
            let counts = live.is_some() && cast.counted.contains(&number);
            host.changes.push(TrueChange { served: None, counts });
            host.live = live;
            affected.extend(cast.affected.get(&number));
        }
        for number in affected {
            let counts = cast.counted.contains(&number);
            cast.hosts[number].changes.push(TrueChange { served: None, counts });
        }
    }

    /// All name servers serve what the primary has.
    pub fn catch_up(&self) {
        let mut cast = self.cast();
        let now = cast.now;
        for change in cast.hosts.iter_mut().flat_map(|host| &mut host.changes) {
            change.served.get_or_insert(now);
        }
        cast.hosts.iter_mut().for_each(|host| {
            host.changes.retain(|change| change.served.is_none_or(|served| now < served.plus(SETTLE)))
        });
    }
}
