//! Zones of a plan that could not be read, gathered by outage: each is reported once, and not once a zone.

use std::collections::BTreeSet;

use super::notice::says;
use super::summary::counted;
use crate::diag::sanitize;
use crate::plan::{Notice, NoticeCode, Plan};
use crate::provider::outage::{listed, sentence, servers_and_zone};

/// How many zones a notice names: they are in the plan by name, and a page of them hides the rest.
const MAX_ZONES_NAMED: usize = 10;

/// How many sources or files a clause of the verdict names: it is one sentence.
const FEW: usize = 3;

/// Zones that could not be read for one cause.
pub struct ZoneOutage<'p> {
    /// The servers, or the file or folder.
    pub place: &'p str,
    /// The code of the error.
    pub code: &'p str,
    /// What happened, of the first zone.
    pub message: &'p str,
    /// The zones, in the order of the notices.
    pub zones: Vec<&'p str>,
}

impl<'p> ZoneOutage<'p> {
    /// What a notice says of a zone, in its parts: `PLACE: error[CODE]: MESSAGE`, as the error is printed.
    fn of_notice(notice: &'p Notice) -> ZoneOutage<'p> {
        let parts = notice.message.split_once(": error[").and_then(|(place, rest)| {
            let (code, message) = rest.split_once("]: ")?;
            Some((servers_and_zone(place).map_or(place, |(servers, _)| servers), code, message))
        });
        let (place, code, message) = parts.unwrap_or((&notice.name, "", &notice.message));
        ZoneOutage { place, code, message, zones: vec![&notice.name] }
    }

    /// What a notice of all the zones says.
    fn says(&self) -> String {
        let ZoneOutage { place, code, message, zones } = self;
        let zones = format!("{} could not be read: {}", counted(zones.len(), "zone"), listed(zones, MAX_ZONES_NAMED));
        format!("{place}: error[{code}]: {message}; {zones}")
    }
}

/// Gathers notices about zones by outage; every other notice is by itself. Each has the first notice with it.
fn gather<'p>(notices: impl Iterator<Item = &'p Notice>) -> Vec<(&'p Notice, ZoneOutage<'p>)> {
    let mut gathered: Vec<(&Notice, ZoneOutage<'_>)> = Vec::new();
    for notice in notices {
        let found = ZoneOutage::of_notice(notice);
        let is_alike = |(first, other): &&mut (&Notice, ZoneOutage<'_>)| {
            first.code == NoticeCode::ZoneUnknown && (other.place, other.code) == (found.place, found.code)
        };
        // Without a code it is not known what they have in common.
        let may_be_alike = notice.code == NoticeCode::ZoneUnknown && !found.code.is_empty();
        let other = gathered.iter_mut().filter(|_| may_be_alike).find(is_alike);
        match other {
            Some((_, outage)) => outage.zones.extend(found.zones),
            None => gathered.push((notice, found)),
        }
    }
    gathered
}

/// What notices say, each with its code; one notice is for all zones of an outage. Not sanitized.
pub fn said_once<'p>(notices: impl Iterator<Item = &'p Notice>) -> Vec<(NoticeCode, String)> {
    let say = |(notice, outage): (&Notice, ZoneOutage<'_>)| match outage.zones.as_slice() {
        [_] => (notice.code, says(notice)),
        _ => (notice.code, outage.says()),
    };
    gather(notices).into_iter().map(say).collect()
}

/// The outages that keep zones from being read, in the order of the notices.
pub fn outages(plan: &Plan) -> Vec<ZoneOutage<'_>> {
    let notices = plan.notices.iter().filter(|notice| notice.code == NoticeCode::ZoneUnknown);
    gather(notices).into_iter().map(|(_, outage)| outage).collect()
}

/// Says that there is no plan at all, because no zone could be read, and what else the plan lacks.
pub fn no_plan(plan: &Plan) -> Option<String> {
    nothing_read(plan).map(|says| format!("No plan: {says}"))
}

/// Says why no zone could be read, and what else the plan lacks; none where a zone was read.
pub fn nothing_read(plan: &Plan) -> Option<String> {
    let zones = unread(plan);
    is_unread(plan).then(|| {
        let zones = format!("{zones} of {} could not be read", counted(zones, "zone"));
        let outages = outages(plan);
        let first = outages.first().expect("a zone could not be read");
        let others = match outages.len() - 1 {
            0 => String::new(),
            others => format!("; {}", counted(others, "other cause")),
        };
        let cause = sanitize(&sentence(first.place, first.message));
        let clauses: String = short_of(plan).iter().map(|clause| format!("; {clause}")).collect();
        format!("{zones}; {cause}{others}{clauses}")
    })
}

/// What a plan lacks, in clauses; empty where it is whole. They do not say that no zone could be read.
pub fn short_of(plan: &Plan) -> Vec<String> {
    let names = |code| plan.notices.iter().filter(move |notice| notice.code == code).map(|notice| notice.name.as_str());
    let unread = unread(plan);
    let zones = (unread > 0 && !is_unread(plan)).then(|| match zones_read(plan) {
        // A plan that undoes an apply does not say which zones it read.
        0 => format!("no plan for {}", counted(unread, "zone")),
        read => format!("no plan for {unread} of {}", counted(unread + read, "zone")),
    });
    let sources = |code, what: &str| {
        sources_with(plan, code).map(|named| format!("no plan for what needs {named}, which {what}"))
    };
    let settings: Vec<&str> = names(NoticeCode::BadSettings).collect();
    let have = if settings.len() == 1 { "has" } else { "have" };
    let settings = (!settings.is_empty()).then(|| {
        let counted = counted(settings.len(), "settings file");
        format!("{counted} {have} errors: {}", listed(&settings, FEW))
    });
    let sets: Vec<&str> = names(NoticeCode::UnknownSet).collect();
    let sets = (!sets.is_empty()).then(|| match sets.as_slice() {
        [only] => format!("1 set of pods has no file: {only}"),
        all => format!("{} sets of pods have no file: {}", all.len(), listed(all, FEW)),
    });
    let unknown = sources(NoticeCode::SourceUnknown, "could not be read");
    let untrusted = sources(NoticeCode::SourceUntrusted, "failed a test");
    let clauses = [zones, unread_targets(plan), unknown, untrusted, settings, sets, unread_records(plan)];
    clauses.into_iter().flatten().map(|clause| sanitize(&clause)).collect()
}

/// The sources with this notice: `sources `a`, `b``; none where there is none.
fn sources_with(plan: &Plan, code: NoticeCode) -> Option<String> {
    let notices = plan.notices.iter().filter(|notice| notice.code == code);
    let quoted: BTreeSet<String> = notices.map(|notice| format!("`{}`", notice.name)).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    let source = if quoted.len() == 1 { "source" } else { "sources" };
    (!quoted.is_empty()).then(|| format!("{source} {}", listed(&quoted, FEW)))
}

/// The sources of records of which files could not be read completely, in a clause; none where there is none. Not sanitized.
pub fn unread_records(plan: &Plan) -> Option<String> {
    let sources = sources_with(plan, NoticeCode::RecordsUnread);
    sources.map(|sources| format!("files of {sources} could not be read completely"))
}

/// The targets of which a copy could not be read, while enough others were: `target `b` could not be read`; none where
/// there is no such target. Not sanitized.
pub fn unread_targets(plan: &Plan) -> Option<String> {
    let is_unread = |notice: &&Notice| notice.code == NoticeCode::TargetUnknown && notice.subject.is_none();
    let names: BTreeSet<&str> = plan.notices.iter().filter(is_unread).map(|notice| notice.name.as_str()).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
    let target = if quoted.len() == 1 { "target" } else { "targets" };
    (!quoted.is_empty()).then(|| format!("{target} {} could not be read", listed(&quoted, FEW)))
}

/// Whether no zone could be read, so that there is nothing to plan.
fn is_unread(plan: &Plan) -> bool {
    unread(plan) > 0 && plan.zones.is_empty() && plan.changes.is_empty()
}

/// How many zones were read, however many copies of each.
fn zones_read(plan: &Plan) -> usize {
    plan.zones.chunk_by(|a, b| (&a.pool, &a.zone) == (&b.pool, &b.zone)).count()
}

/// How many zones could not be read.
pub fn unread(plan: &Plan) -> usize {
    plan.notices.iter().filter(|notice| notice.code == NoticeCode::ZoneUnknown).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Subject;
    use crate::inventory::value::Inv;
    use crate::plan::fixture;

    /// Notices about zones, each with the place of its error.
    fn unread(places: &[(&str, &str)]) -> Vec<Notice> {
        let notice = |(place, zone): &(&str, &str)| Notice {
            code: NoticeCode::ZoneUnknown,
            name: (*zone).to_owned(),
            subject: None,
            message: format!("{place}: error[connect-failed]: the server refuses connections"),
        };
        places.iter().map(notice).collect()
    }

    /// Two zones of a server, and one of another.
    fn plan() -> Plan {
        let places = [("ns1:53 zone a.", "a."), ("ns2:53 zone b.", "b."), ("ns1:53 zone c.", "c.")];
        Plan { notices: unread(&places), ..fixture::empty() }
    }

    #[test]
    fn zones_of_one_outage_are_said_once() {
        let said: Vec<String> = said_once(plan().notices.iter()).into_iter().map(|(_, says)| says).collect();
        insta::assert_snapshot!(said.join("\n"), @"
        ns1:53: error[connect-failed]: the server refuses connections; 2 zones could not be read: a., c.
        ns2:53 zone b.: error[connect-failed]: the server refuses connections
        ");
        let odd = Notice { message: "odd".to_owned(), ..plan().notices[0].clone() };
        assert_eq!(said_once([&odd, &odd].into_iter()).len(), 2);
    }

    #[test]
    fn the_verdict_counts_what_is_missing() {
        let none = Plan { zones: Vec::new(), ..plan() };
        assert_eq!(
            no_plan(&none).as_deref(),
            Some("No plan: 3 of 3 zones could not be read; ns1:53 refuses connections; 1 other cause")
        );
        assert_eq!((no_plan(&plan()), short_of(&none)), (None, Vec::new()));
        assert_eq!(short_of(&plan()), ["no plan for 3 of 6 zones"]);
        assert_eq!((no_plan(&fixture::empty()), short_of(&fixture::empty())), (None, Vec::new()));
        let notice = |code, name: &str| Notice { code, name: name.to_owned(), subject: None, message: String::new() };
        let notices = vec![
            notice(NoticeCode::SourceUnknown, "hosts"),
            notice(NoticeCode::TargetUnknown, "knot"),
            notice(NoticeCode::TargetUnknown, "bind"),
            notice(NoticeCode::TargetUnknown, "knot"),
            Notice { subject: Some(Subject::Host(Inv(7))), ..notice(NoticeCode::TargetUnknown, "of a host") },
            notice(NoticeCode::BadSettings, "projects/a.yaml"),
            notice(NoticeCode::BadSettings, "projects/b.yaml"),
            notice(NoticeCode::UnknownSet, "wob"),
            notice(NoticeCode::RecordsUnread, "apps"),
            notice(NoticeCode::RecordsUnread, "apps"),
            notice(NoticeCode::SourceUntrusted, "eine"),
        ];
        insta::assert_snapshot!(short_of(&Plan { notices, ..fixture::empty() }).join("\n"), @"
        targets `bind`, `knot` could not be read
        no plan for what needs source `hosts`, which could not be read
        no plan for what needs source `eine`, which failed a test
        2 settings files have errors: projects/a.yaml, projects/b.yaml
        1 set of pods has no file: wob
        files of source `apps` could not be read completely
        ");
    }
}
