//! Whether names are free in zones that may not be transferred: the server is queried for each name.
//!
//! Comes in: those zones, and short names that would be given. Goes out: which of them exist. A name counts as free
//! only where the server says that there is no such name: any record at the name makes it exist, and so does any record
//! below it. Each name is queried once.

use std::collections::HashSet;

use crate::diag::Problem;
use crate::dns::{Name, NameRef};
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::live::Apexes;
use crate::names::allocate::{AllocationTerms, NameCandidates, allocate_and_tell};
use crate::names::{NamesOutcome, TakenNames};
use crate::reading::side_by_side::side_by_side;
use crate::reading::some::AskedFor;
use crate::target::{NameExistence, Question, TargetId};

/// The zones that are queried, with the domains of projects in each.
pub struct FreeNamesInquiry<'t> {
    /// The zones.
    zones: Vec<(AskedFor<'t>, Vec<Name>)>,
    /// The short names that were queried.
    known: HashSet<Vec<u8>>,
}

/// Why a zone cannot say which names are free.
#[derive(Debug)]
pub enum UnclearZone {
    /// Its servers do not answer.
    Unread(Problem),
    /// Its answers do not say it; in words.
    NoAnswer(String),
}

impl<'t> FreeNamesInquiry<'t> {
    /// Finds the domains of each zone, and queries a name in each that cannot exist.
    ///
    /// Errors: zones that cannot be queried, and domains in which every name exists.
    pub fn open(
        inventory: &Inventory,
        asked: &[AskedFor<'t>],
        domains: &HashSet<Name>,
    ) -> Result<FreeNamesInquiry<'t>, Vec<UnclearZone>> {
        let apexes = Apexes::new(inventory.config.listed_zones().map(|spec| &spec.name));
        let mut sorted: Vec<&Name> = domains.iter().collect();
        sorted.sort();
        let own = |zone: &AskedFor<'_>| {
            let number = apexes.zone_of(zone.zone.as_name());
            let inside = sorted.iter().filter(|domain| apexes.zone_of(domain.as_name()) == number);
            inside.map(|domain| Name::clone(domain)).collect()
        };
        let zones: Vec<(AskedFor<'t>, Vec<Name>)> = asked.iter().map(|zone| (*zone, own(zone))).collect();
        let answers = ask(&zones, |domains| domains.iter().map(probe).collect());
        let mut unclear = Vec::new();
        let mut open = Vec::new();
        for ((zone, domains), answers) in zones.into_iter().zip(answers) {
            match answers {
                Ok(answers) => {
                    let (own, wild) = sort_out(domains, answers);
                    unclear.extend(wild.iter().map(|domain| UnclearZone::NoAnswer(wildcard_message(zone, domain))));
                    open.push((zone, own));
                }
                Err(error) => unclear.push(UnclearZone::Unread(error)),
            }
        }
        if unclear.is_empty() { Ok(FreeNamesInquiry { zones: open, known: HashSet::new() }) } else { Err(unclear) }
    }

    /// Gives names that do not exist in these zones; `taken` knows which others are taken.
    ///
    /// Each round gives names by what is known and queries them. If one exists, the next round gives names without it.
    /// A round also queries as many names ahead as earlier rounds found to exist, so that a thousand existing names in
    /// a row take ten rounds.
    ///
    /// Errors: zones that can no longer be queried.
    pub fn allocate(
        &mut self,
        inventory: &Inventory,
        taken: &mut TakenNames,
        invs: &[Inv],
        giving: AllocationTerms,
    ) -> Result<NamesOutcome, Vec<UnclearZone>> {
        loop {
            let (outcome, NameCandidates { given, next }) = allocate_and_tell(inventory, taken, invs, giving);
            let found = self.find(given.iter().chain(&next))?;
            if !given.iter().any(|label| found.contains(label)) {
                return Ok(outcome);
            }
            taken.give_back(&given);
            found.iter().for_each(|label| taken.add_live_name(label));
        }
    }

    /// Queries short names that were not queried before, in all domains; gives those that exist in any.
    fn find<'l>(&mut self, labels: impl Iterator<Item = &'l Vec<u8>>) -> Result<HashSet<Vec<u8>>, Vec<UnclearZone>> {
        let new: Vec<&Vec<u8>> = labels.filter(|label| self.known.insert(label.to_vec())).collect();
        // A label or a name that is too long cannot exist.
        let name = |label: &Vec<u8>, domain: &Name| Name::prepend(label, domain.as_name()).ok();
        let names = |domains: &[Name]| -> Vec<Name> {
            domains.iter().flat_map(|domain| new.iter().filter_map(|label| name(label, domain))).collect()
        };
        let (mut found, mut unclear) = (HashSet::new(), Vec::new());
        for ((_, domains), answers) in self.zones.iter().zip(ask(&self.zones, names)) {
            match answers {
                Ok(answers) => {
                    let existing = names(domains).into_iter().zip(answers);
                    let existing = existing.filter(|(_, answer)| *answer != NameExistence::Absent);
                    found.extend(existing.map(|(name, _)| first_label(name.as_name())));
                }
                Err(error) => unclear.push(UnclearZone::Unread(error)),
            }
        }
        if unclear.is_empty() { Ok(found) } else { Err(unclear) }
    }
}

/// The first label of a name.
fn first_label(name: NameRef<'_>) -> Vec<u8> {
    name.first_label().unwrap_or_default().to_vec()
}

/// Queries the names of each zone's domains, in parallel; gives the answers in the order of the zones.
fn ask(
    zones: &[(AskedFor<'_>, Vec<Name>)],
    names: impl Fn(&[Name]) -> Vec<Name> + Sync,
) -> Vec<Result<Vec<NameExistence>, Problem>> {
    let targets: Vec<&TargetId> = zones.iter().map(|(zone, _)| zone.target_id).collect();
    side_by_side(&targets, |place| {
        let (zone, domains) = &zones[place];
        match names(domains) {
            names if names.is_empty() => Ok(Vec::new()),
            names => zone.target.find(zone.zone, &names),
        }
    })
}

/// A name in a domain that cannot exist; the domain itself, which exists, where such a name would be too long.
fn probe(domain: &Name) -> Name {
    Question::whether(domain.clone()).below().map_or_else(|| domain.clone(), |probe| probe.name)
}

/// The domains whose names can be queried, and those in which every name exists, by the answers for [`probe`]. A domain
/// that is delegated, or below a DNAME, is in no configured zone: nothing would be known about it from a transfer,
/// either.
fn sort_out(domains: Vec<Name>, answers: Vec<NameExistence>) -> (Vec<Name>, Vec<Name>) {
    let (mut own, mut wild) = (Vec::new(), Vec::new());
    for (domain, answer) in domains.into_iter().zip(answers) {
        match answer {
            NameExistence::Absent => own.push(domain),
            NameExistence::Present => wild.push(domain),
            NameExistence::Delegated(_) | NameExistence::BelowDname(_) => {}
        }
    }
    (own, wild)
}

/// The message about a domain in which every name exists.
fn wildcard_message(zone: AskedFor<'_>, domain: &Name) -> String {
    format!(
        "queries of `{}` find every name in `{domain}`, probably because of a wildcard: zonewright cannot find out \
         which names are free",
        zone.zone
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Mutex;

    use super::*;
    use crate::dns::ZoneName;
    use crate::inventory::read::{WorkspaceExtent, load_extent};
    use crate::inventory::value::Time;
    use crate::names::allocate::NameHandling;
    use crate::names::taken;
    use crate::provider::memory::primary::MemoryPrimary;
    use crate::provider::memory::zone::MemoryZone;
    use crate::provider::parse_text;
    use crate::target::{Answer, PoolName, ReadTarget, ZoneRead};

    /// The clock.
    const NOW: &str = "2026-11-20T02:00:00Z";

    /// A primary that records which names it is queried for.
    struct Counting {
        /// The primary.
        primary: MemoryPrimary,
        /// The names of each call.
        asked: Mutex<Vec<Vec<Name>>>,
    }

    impl ReadTarget for Counting {
        fn place(&self, zone: &ZoneName) -> String {
            ReadTarget::place(&self.primary, zone)
        }

        fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
            self.primary.read_zone(zone)
        }

        fn ask(&self, zone: &ZoneName, questions: &[Question]) -> Result<Vec<Answer>, Problem> {
            self.primary.ask(zone, questions)
        }

        fn find(&self, zone: &ZoneName, names: &[Name]) -> Result<Vec<NameExistence>, Problem> {
            self.asked.lock().unwrap().push(names.to_vec());
            self.primary.find(zone, names)
        }
    }

    /// A workspace with two projects of one template, and so many hosts of the first that have no name.
    fn inventory(hosts: u64) -> Inventory {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        let settings = "owner = \"o\"\n[sources]\nprojects = \"*.yaml\"\nhosts = \"hosts.csv\"\n\
                        [project.p]\ndns_domain = \"example.net\"\n[project.q]\ndns_domain = \"q.example.net\"\n\
                        [pool.m]\n[[pool.m.target]]\ntype = \"zonefile\"\ndir = \".\"\n\
                        [[zone]]\nname = \"example.net\"\npool = \"m\"\n";
        write("zonewright.toml", settings.to_owned());
        for id in ["p", "q"] {
            let template = "shortname_template: \"h{index}\"\nvlan_scheme: static\nvlans: {main: 604}\n";
            write(&format!("{id}.yaml"), format!("id: {id}\n{template}"));
        }
        let rows: String = (1..=hosts).map(|inv| format!("{inv},,p,assigned,sas,,,s1,,\n")).collect();
        let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
        write("hosts.csv", format!("{header}{rows}"));
        load_extent(folder.path(), WorkspaceExtent::Names, NOW.parse().unwrap(), &|_| {}).inventory.unwrap()
    }

    /// The names that hosts get where a zone with these records is queried, and how many names were queried in each
    /// round; or why this is not known.
    fn given(hosts: u64, records: &str) -> Result<(Vec<String>, Vec<usize>), Vec<String>> {
        let inventory = inventory(hosts);
        let apex = ZoneName::new(Name::parse("example.net").unwrap());
        let text = format!("$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns\n{records}");
        let contents = parse_text(&apex, "zone", text.into_bytes()).unwrap();
        let target = Counting { primary: MemoryPrimary::new([MemoryZone::of(&contents)]), asked: Mutex::default() };
        let zone = AskedFor { zone: &apex, target_id: &TargetId::only(&PoolName::unknown()), target: &target };
        let now: Time = NOW.parse().unwrap();
        let invs: Vec<Inv> = inventory.hosts.iter().map(|host| host.inv).collect();
        let giving = AllocationTerms { holding: NameHandling::Keep, to: None, now };
        let outcome =
            FreeNamesInquiry::open(&inventory, &[zone], &taken::domains(&inventory)).and_then(|mut inquiry| {
                inquiry.allocate(&inventory, &mut TakenNames::by_hosts(&inventory, now), &invs, giving)
            });
        let outcome = outcome.map_err(|unclear| {
            let told = |unclear| match unclear {
                UnclearZone::NoAnswer(message) => message,
                UnclearZone::Unread(error) => error.to_string(),
            };
            unclear.into_iter().map(told).collect::<Vec<_>>()
        })?;
        let names = outcome.namings.into_iter().map(|naming| naming.after.unwrap().to_string()).collect();
        let asked = target.asked.into_inner().unwrap();
        let all: HashSet<&Name> = asked.iter().flatten().collect();
        assert_eq!(all.len(), asked.iter().map(Vec::len).sum::<usize>(), "each name is asked for once");
        Ok((names, asked.iter().map(Vec::len).collect()))
    }

    #[test]
    fn what_exists_in_any_domain_is_given_to_nobody() {
        let records = "h1 TXT x\nh2.q CNAME x\nx.h3 A 192.0.2.1\nh5 NS ns\nh6 DNAME x\n";
        let (names, asked) = given(2, records).unwrap();
        assert_eq!(names, ["h4.example.net.", "h7.example.net."]);
        // In two domains: a probe; h1 and h2; h3, h4 and two ahead; h7 and five ahead, as h1, h2, h3, h5 and h6 exist.
        assert_eq!(asked, [2, 4, 8, 12]);
    }

    #[test]
    fn many_names_that_somebody_has_take_few_rounds() {
        let records: String = (1..=1000).map(|number| format!("h{number} A 192.0.2.1\n")).collect();
        let (names, asked) = given(1, &records).unwrap();
        assert_eq!(names, ["h1001.example.net."]);
        assert!(asked.len() <= 12 && asked.iter().sum::<usize>() < 5000, "{asked:?}");
    }

    #[test]
    fn where_every_name_exists_none_is_known_to_be_free() {
        let told = given(1, "*.q TXT x\n").unwrap_err();
        assert_eq!(
            told,
            ["queries of `example.net.` find every name in `q.example.net.`, probably because of a wildcard: \
              zonewright cannot find out which names are free"]
        );
    }

    #[test]
    fn a_domain_that_is_another_zones_is_not_asked_about() {
        let (names, asked) = given(1, "q NS ns\n").unwrap();
        assert_eq!((names, asked), (vec!["h1.example.net.".to_owned()], vec![2, 1]));
    }
}
