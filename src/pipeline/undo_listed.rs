//! What an undo needs of what SRV list: which live SRV list the names that would go, and which names that SRV would list again
//! are not there. An apply asks it of the names that it takes, too.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use super::targets::OpenedZones;
use crate::apply::{CopyAccess, SIDE_BY_SIDE};
use crate::change::{Change, Notice};
use crate::diag::Problem;
use crate::dns::{Name, NameRef, RrKey, Rtype, ZoneName};
use crate::inventory::model::{Config, ZoneSpec};
use crate::inventory::value::Time;
use crate::parallel::side_by_side;
use crate::rollout::listed::listed_anew;
use crate::state::{ApplyId, SightedRrset, State};
use crate::target::{Answer, CopyId, Question};
use crate::undo::{ListedNow, ListingFault, LiveSrv, UnitLeft, notice_of_left, takes_name};

/// Who is asked, and when.
pub struct ListedQuestion<'a> {
    /// What zonewright wrote.
    pub state: &'a dyn State,
    /// The settings.
    pub config: &'a Config,
    /// The workspace.
    pub workspace: &'a Path,
    /// The clock.
    pub now: Time,
}

/// An RRset that is asked for, by its name and type.
type AskedRrset = (Name, Rtype);

/// What is asked for, by zone.
type AskedOfZones<'z> = BTreeMap<&'z ZoneName, Vec<AskedRrset>>;

impl ListedQuestion<'_> {
    /// Reads what the changes of an undo need. Of a copy that cannot be read, an SRV is what the journal says, and each name
    /// is there.
    pub fn ask(&self, changes: &[Change]) -> Result<ListedNow, Problem> {
        let asked = self.asked(changes)?;
        let specs = self.config.zones.iter().filter(|spec| asked.contains_key(&spec.name)).collect();
        let opened = OpenedZones::open(self.config, specs, self.workspace, self.now);
        self.read(&asked, changes, opened.copies())
    }

    /// Reads it in these copies; where a zone has none of them, all is as in a copy that cannot be read.
    pub fn ask_copies(&self, changes: &[Change], copies: Vec<CopyAccess<'_>>) -> Result<ListedNow, Problem> {
        self.read(&self.asked(changes)?, changes, copies)
    }

    /// Reads what is asked in these copies.
    fn read(
        &self,
        asked: &AskedOfZones<'_>,
        changes: &[Change],
        mut copies: Vec<CopyAccess<'_>>,
    ) -> Result<ListedNow, Problem> {
        copies.retain(|access| asked.contains_key(&access.copy.zone));
        let read = side_by_side(copies, SIDE_BY_SIDE, |access: CopyAccess<'_>| {
            let asked = &asked[&access.copy.zone];
            let questions: Vec<Question> = asked.iter().filter_map(|own| question(&access.copy.zone, own)).collect();
            let answers = access.writer.clone().and_then(|writer| writer.observe(&access.copy.zone, &questions, None));
            (access, asked, answers)
        });
        let absent = changes.iter().flat_map(listed_anew).map(NameRef::to_name).collect();
        let mut now = ListedNow { absent, ..ListedNow::default() };
        let mut unread = asked.clone();
        for (access, asked, answers) in read {
            let CopyId { target, zone } = &access.copy;
            unread.remove(zone);
            let target = access.share.map(|_| target.name.clone());
            for (place, (name, rtype)) in asked.iter().enumerate() {
                let answer = answers.as_ref().ok().and_then(|answers| answers.get(place));
                self.take((zone, &target), (name, *rtype), answer, &mut now)?;
            }
        }
        for (zone, asked) in unread {
            asked.iter().try_for_each(|(name, rtype)| self.take((zone, &None), (name, *rtype), None, &mut now))?;
        }
        Ok(now)
    }

    /// What is to be asked, by zone.
    fn asked(&self, changes: &[Change]) -> Result<AskedOfZones<'_>, Problem> {
        let mut asked: BTreeSet<AskedRrset> =
            self.listing(changes)?.into_iter().map(|name| (name, Rtype::SRV)).collect();
        let types = [Rtype::AAAA, Rtype::A];
        let anew = changes.iter().flat_map(listed_anew);
        asked.extend(anew.flat_map(|name| types.map(|rtype| (name.to_name(), rtype))));
        let mut of_zone = AskedOfZones::new();
        for own in asked {
            if let Some(spec) = self.zone_of(own.0.as_name()) {
                of_zone.entry(&spec.name).or_default().push(own);
            }
        }
        Ok(of_zone)
    }

    /// Takes in what one copy holds at a name: that of a target, where the pool has several.
    fn take(
        &self,
        (zone, target): (&ZoneName, &Option<String>),
        (name, rtype): (&Name, Rtype),
        answer: Option<&Answer>,
        now: &mut ListedNow,
    ) -> Result<(), Problem> {
        if rtype != Rtype::SRV {
            if !matches!(answer, Some(Answer::Nothing)) {
                now.absent.remove(name.as_wire());
            }
            return Ok(());
        }
        let Some(owner) = zone.owner(name.as_name()) else { return Ok(()) };
        let key = RrKey { owner, rtype };
        let rrset = match answer {
            Some(Answer::Holds(Rtype::SRV, rrset)) => Some(rrset.clone()),
            Some(_) => None,
            None => {
                let written = self.state.last_written(&[SightedRrset::anywhere(&key)])?.pop().flatten();
                written.and_then(|written| written.after?.to_rrset(rtype).ok())
            }
        };
        let (zone, target) = (zone.clone(), target.clone());
        now.srv.extend(rrset.map(|rrset| LiveSrv { zone, key, target, rrset }));
        Ok(())
    }

    /// The own SRV that may list a name which the changes take: those of the domain that the name is directly below.
    fn listing(&self, changes: &[Change]) -> Result<Vec<Name>, Problem> {
        let taken = changes.iter().filter(|change| takes_name(change));
        let domains: HashSet<NameRef<'_>> = taken.filter_map(|change| change.key.owner.as_name().parent()).collect();
        if domains.is_empty() {
            return Ok(Vec::new());
        }
        let is_of_domain = |srv: &&Name| {
            let domain = srv.as_name().parent().and_then(NameRef::parent);
            domain.is_some_and(|domain| domains.contains(&domain))
        };
        Ok(self.state.own()?.owners(Rtype::SRV).filter(is_of_domain).cloned().collect())
    }

    /// The notices about units that are left; `all` is what the undone apply did.
    pub fn notices(&self, id: ApplyId, left: &[UnitLeft], all: &[Change]) -> Result<Vec<Notice>, Problem> {
        let notice = |left: &UnitLeft| {
            let key = self.cause(left);
            let later = match &key {
                Some(key) => self.state.last_changed(id, &[SightedRrset::anywhere(key)])?.pop().flatten(),
                None => None,
            };
            let with = key.and_then(|key| all.iter().find(|change| change.key == key)).map(|change| &change.subject);
            Ok(notice_of_left(id, left, later, with))
        };
        left.iter().map(notice).collect()
    }

    /// The RRset because of which a unit is left.
    fn cause(&self, left: &UnitLeft) -> Option<RrKey> {
        match &left.fault {
            ListingFault::Listed { srv, .. } => Some(srv.clone()),
            ListingFault::Absent { name } => {
                let owner = self.zone_of(name.as_name())?.name.owner(name.as_name())?;
                Some(RrKey { owner, rtype: Rtype::AAAA })
            }
        }
    }

    /// The zone that a name is in.
    fn zone_of(&self, name: NameRef<'_>) -> Option<&ZoneSpec> {
        let above = self.config.zones.iter().filter(|spec| name.is_at_or_below(spec.name.as_name()));
        above.max_by_key(|spec| spec.name.as_name().as_wire().len())
    }
}

/// The question for an RRset of a zone.
fn question(zone: &ZoneName, (name, rtype): &AskedRrset) -> Option<Question> {
    let owner = zone.owner(name.as_name())?;
    Some(Question::of(&RrKey { owner, rtype: *rtype }))
}
