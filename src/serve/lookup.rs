//! What a zone says to a question. Pure.
//!
//! Source: RFC 1034 section 4.3.2, with the wildcards of RFC 4592, the DNAME of RFC 6672, and RFC 2308 for what is not
//! there.

use domain::base::iana::{Class, Rcode};

use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, Ttl};
use crate::provider::memory::zone::MemoryZone;

/// How many aliases are followed: more than a real zone needs, and an end to circles.
const MAX_ALIASES: usize = 16;

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupAnswer {
    /// The rcode.
    pub rcode: Rcode,
    /// Whether it is from authority, not a referral.
    pub is_authoritative: bool,
    /// What was asked for, aliases that lead there first.
    pub answer: Vec<AnswerRrset>,
    /// The SOA where something is not there, or who knows more.
    pub authority: Vec<AnswerRrset>,
    /// The addresses of those.
    pub additional: Vec<AnswerRrset>,
}

/// The records of one owner and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRrset {
    /// The owner name.
    pub owner: Name,
    /// The type.
    pub rtype: Rtype,
    /// The class.
    pub class: Class,
    /// The TTL.
    pub ttl: Ttl,
    /// The RDATA; never empty.
    pub rdata: Vec<Rdata>,
}

impl AnswerRrset {
    /// The records of an RRset, at its own name, or at the name that a wildcard answers for.
    pub fn of(owner: NameRef<'_>, rtype: Rtype, rrset: &Rrset) -> AnswerRrset {
        let rdata = rrset.rdata().to_vec();
        AnswerRrset { owner: owner.to_name(), rtype, class: Class::IN, ttl: rrset.ttl(), rdata }
    }
}

impl LookupAnswer {
    /// An answer without records.
    pub fn bare(rcode: Rcode) -> LookupAnswer {
        let (answer, authority, additional) = (Vec::new(), Vec::new(), Vec::new());
        LookupAnswer { rcode, is_authoritative: false, answer, authority, additional }
    }
}

/// What leads from a name to another.
enum NameStep<'z> {
    /// Nothing: the question ends at this name, which a wildcard may answer for.
    Ends,
    /// Nothing: there is no such name.
    NoName,
    /// Below this name others have authority.
    Cut(NameRef<'z>),
    /// All names below this one are those below another.
    Renamed(NameRef<'z>),
}

/// Answers a question for a name that is at or below the apex of the zone.
pub fn find(zone: &MemoryZone, name: NameRef<'_>, qtype: Rtype) -> LookupAnswer {
    let mut found = LookupAnswer { is_authoritative: true, ..LookupAnswer::bare(Rcode::NOERROR) };
    let mut name = name.to_name();
    for _ in 0..MAX_ALIASES {
        let next = match step(zone, name.as_name(), qtype) {
            NameStep::Cut(cut) => {
                refer(zone, cut.to_name(), &mut found);
                return found;
            }
            NameStep::Renamed(at) => rename(zone, name.as_name(), at, &mut found).filter(|_| !wants_alias(qtype)),
            NameStep::Ends => end(zone, name.as_name(), qtype, &mut found),
            NameStep::NoName => {
                found.rcode = Rcode::NXDOMAIN;
                found.authority.push(denial(zone));
                None
            }
        };
        match next {
            Some(next) if next.as_name().is_at_or_below(zone.apex().as_name()) => name = next,
            _ => break,
        }
    }
    found
}

/// Goes from the apex down to a name.
fn step<'n>(zone: &MemoryZone, name: NameRef<'n>, qtype: Rtype) -> NameStep<'n> {
    let apex = zone.apex().as_name();
    let mut path: Vec<NameRef<'n>> = name.ancestors().take_while(|above| above.is_at_or_below(apex)).collect();
    path.reverse();
    for above in &path {
        // The DS of a zone below is in the zone above it (RFC 4035 section 3.1.4.1).
        let asks_above = *above == name && qtype == Rtype::DS;
        if *above != apex && !asks_above && zone.rrset(*above, Rtype::NS).is_some() {
            return NameStep::Cut(*above);
        }
        if *above != name && zone.rrset(*above, Rtype::DNAME).is_some() {
            return NameStep::Renamed(*above);
        }
    }
    if zone.exists(name) || covering(zone, name).is_some() { NameStep::Ends } else { NameStep::NoName }
}

/// The wildcard that covers a name that does not exist (RFC 4592 section 3.3.1).
fn covering(zone: &MemoryZone, name: NameRef<'_>) -> Option<Name> {
    let encloser = name.ancestors().skip(1).find(|above| zone.exists(*above))?;
    let wildcard = Name::prepend(b"*", encloser).ok()?;
    (encloser.is_at_or_below(zone.apex().as_name()) && zone.exists(wildcard.as_name())).then_some(wildcard)
}

/// Returns the records at the name where a question ends; and where to continue, if that is an alias.
fn end(zone: &MemoryZone, name: NameRef<'_>, qtype: Rtype, found: &mut LookupAnswer) -> Option<Name> {
    let wildcard = if zone.exists(name) { None } else { covering(zone, name) };
    let source = wildcard.as_ref().map_or(name, Name::as_name);
    let alias = zone.rrset(source, Rtype::CNAME).filter(|_| !wants_alias(qtype));
    if let Some(alias) = alias {
        let rows = AnswerRrset::of(name, Rtype::CNAME, alias);
        if found.answer.contains(&rows) {
            // Aliases in a circle: the answer has the whole circle.
            return None;
        }
        found.answer.push(rows);
        return alias.rdata()[0].as_rdata(Rtype::CNAME).target().map(NameRef::to_name);
    }
    let wanted = zone.at(source).filter(|(rtype, _)| qtype == Rtype::ANY || *rtype == qtype);
    let before = found.answer.len();
    found.answer.extend(wanted.map(|(rtype, rrset)| AnswerRrset::of(name, rtype, rrset)));
    if found.answer.len() == before {
        found.authority.push(denial(zone));
    }
    None
}

/// Whether an alias is itself what is asked for (RFC 1034 section 3.6.2).
fn wants_alias(qtype: Rtype) -> bool {
    matches!(qtype, Rtype::CNAME | Rtype::ANY)
}

/// Puts the part of a name below a DNAME before its target (RFC 6672 section 2.2); gives the name that this makes.
fn rename(zone: &MemoryZone, name: NameRef<'_>, at: NameRef<'_>, found: &mut LookupAnswer) -> Option<Name> {
    let rrset = zone.rrset(at, Rtype::DNAME)?;
    let rows = AnswerRrset::of(at, Rtype::DNAME, rrset);
    if !found.answer.contains(&rows) {
        found.answer.push(rows);
    }
    let target = rrset.rdata()[0].as_octets();
    let below = &name.as_wire()[..name.as_wire().len() - at.as_wire().len()];
    let Ok(next) = Name::from_wire(&[below, target].concat()) else {
        found.rcode = Rcode::YXDOMAIN;
        return None;
    };
    let rdata = vec![Rdata::from_name(next.as_name())];
    found.answer.push(AnswerRrset {
        owner: name.to_name(),
        rtype: Rtype::CNAME,
        class: Class::IN,
        ttl: rrset.ttl(),
        rdata,
    });
    Some(next)
}

/// Refers to the servers of a zone below, with those of their addresses that are here (RFC 9471 section 2).
fn refer(zone: &MemoryZone, cut: Name, found: &mut LookupAnswer) {
    let Some(servers) = zone.rrset(cut.as_name(), Rtype::NS) else { return };
    // What led here was ours.
    found.is_authoritative = !found.answer.is_empty();
    found.authority.push(AnswerRrset::of(cut.as_name(), Rtype::NS, servers));
    for server in servers.rdata() {
        let Some(server) = server.as_rdata(Rtype::NS).target() else { continue };
        let addresses =
            [Rtype::A, Rtype::AAAA].into_iter().filter_map(|rtype| Some((rtype, zone.rrset(server, rtype)?)));
        found.additional.extend(addresses.map(|(rtype, rrset)| AnswerRrset::of(server, rtype, rrset)));
    }
}

/// The SOA of the zone, with the TTL of what it denies (RFC 2308 section 3).
fn denial(zone: &MemoryZone) -> AnswerRrset {
    let apex = zone.apex().as_name();
    let rrset = zone.rrset(apex, Rtype::SOA).expect("a zone has a SOA");
    let octets = rrset.rdata()[0].as_octets();
    let minimum = octets.last_chunk::<4>().map_or(0, |last| u32::from_be_bytes(*last));
    let soa = AnswerRrset::of(apex, Rtype::SOA, rrset);
    AnswerRrset { ttl: soa.ttl.min(Ttl::from_wire(minimum)), ..soa }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::parse_text;

    /// A zone with a bit of everything.
    const TEXT: &str = "\
@ 3600 SOA ns hostmaster 7 7200 900 1209600 300
@ NS ns
ns A 192.0.2.53
a A 192.0.2.1
a AAAA 2001:db8::1
www CNAME a
far CNAME www.example.org.
lost CNAME nothing
round CNAME robin
robin CNAME round
x.deep TXT \"deep\"
*.wild TXT \"wild\"
*.alias CNAME a
there.wild A 192.0.2.2
sub NS ns.sub
sub NS ns
sub NS ns.elsewhere.org.
ns.sub AAAA 2001:db8::53
sub DS 1 13 2 00
old DNAME new
x.new A 192.0.2.3
";

    /// What `name` of some type gives: rcode, then each section, an RRset with its TTL and number of records each.
    fn ask(name: &str, qtype: Rtype) -> String {
        let apex = crate::dns::ZoneName::new(Name::parse("example.net").unwrap());
        let text = format!("$TTL 600\n{TEXT}");
        let contents = parse_text(&apex, "x.zone", text.into_bytes()).unwrap_or_else(|found| panic!("{found:?}"));
        let name = Name::parse_relative(name.as_bytes(), &Name::parse("example.net").unwrap()).unwrap();
        let found = find(&MemoryZone::of(&contents), name.as_name(), qtype);
        let section = |rows: &[AnswerRrset]| {
            let shown = rows.iter().map(|rows| {
                let owner = rows.owner.to_string().replace(".example.net.", "").replace("example.net.", "@");
                format!("{owner} {} {} x{}", rows.ttl, rows.rtype, rows.rdata.len())
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        let rcode = format!("{}{}", found.rcode, if found.is_authoritative { "" } else { " referral" });
        [rcode, section(&found.answer), section(&found.authority), section(&found.additional)].join(" | ")
    }

    #[test]
    fn what_is_there_is_given() {
        assert_eq!(ask("a", Rtype::AAAA), "NOERROR | a 600 AAAA x1 |  | ");
        assert_eq!(ask("a", Rtype::ANY), "NOERROR | a 600 A x1, a 600 AAAA x1 |  | ");
        assert_eq!(ask("@", Rtype::SOA), "NXDOMAIN |  | @ 300 SOA x1 | ");
        assert_eq!(ask("example.net.", Rtype::SOA), "NOERROR | @ 3600 SOA x1 |  | ");
    }

    #[test]
    fn what_is_not_there_is_denied_by_the_soa() {
        assert_eq!(ask("a", Rtype::TXT), "NOERROR |  | @ 300 SOA x1 | ");
        assert_eq!(ask("deep", Rtype::TXT), "NOERROR |  | @ 300 SOA x1 | ");
        assert_eq!(ask("b", Rtype::A), "NXDOMAIN |  | @ 300 SOA x1 | ");
        assert_eq!(ask("x.a", Rtype::A), "NXDOMAIN |  | @ 300 SOA x1 | ");
    }

    #[test]
    fn aliases_are_followed_as_far_as_the_zone_goes() {
        assert_eq!(ask("www", Rtype::A), "NOERROR | www 600 CNAME x1, a 600 A x1 |  | ");
        assert_eq!(ask("www", Rtype::CNAME), "NOERROR | www 600 CNAME x1 |  | ");
        assert_eq!(ask("www", Rtype::TXT), "NOERROR | www 600 CNAME x1 | @ 300 SOA x1 | ");
        assert_eq!(ask("far", Rtype::A), "NOERROR | far 600 CNAME x1 |  | ");
        assert_eq!(ask("lost", Rtype::A), "NXDOMAIN | lost 600 CNAME x1 | @ 300 SOA x1 | ");
        assert_eq!(ask("round", Rtype::A), "NOERROR | round 600 CNAME x1, robin 600 CNAME x1 |  | ");
    }

    #[test]
    fn wildcards_stand_for_names_that_do_not_exist() {
        assert_eq!(ask("b.wild", Rtype::TXT), "NOERROR | b.wild 600 TXT x1 |  | ");
        assert_eq!(ask("c.b.wild", Rtype::TXT), "NOERROR | c.b.wild 600 TXT x1 |  | ");
        assert_eq!(ask("b.wild", Rtype::A), "NOERROR |  | @ 300 SOA x1 | ");
        assert_eq!(ask("there.wild", Rtype::TXT), "NOERROR |  | @ 300 SOA x1 | ");
        assert_eq!(ask("b.there.wild", Rtype::TXT), "NXDOMAIN |  | @ 300 SOA x1 | ");
        assert_eq!(ask("*.wild", Rtype::TXT), "NOERROR | *.wild 600 TXT x1 |  | ");
        assert_eq!(ask("b.alias", Rtype::A), "NOERROR | b.alias 600 CNAME x1, a 600 A x1 |  | ");
    }

    #[test]
    fn what_others_have_is_referred_to_with_glue() {
        let referral = "NOERROR referral |  | sub 600 NS x3 | ns.sub 600 AAAA x1, ns 600 A x1";
        for name in ["sub", "ns.sub", "x.y.sub"] {
            assert_eq!(ask(name, Rtype::AAAA), referral);
        }
        assert_eq!(ask("sub", Rtype::DS), "NOERROR | sub 600 DS x1 |  | ");
        assert_eq!(ask("x.sub", Rtype::DS), referral);
    }

    #[test]
    fn a_dname_renames_all_names_below_it() {
        let renamed = "NOERROR | old 600 DNAME x1, x.old 600 CNAME x1, x.new 600 A x1 |  | ";
        assert_eq!(ask("x.old", Rtype::A), renamed);
        assert_eq!(ask("old", Rtype::DNAME), "NOERROR | old 600 DNAME x1 |  | ");
        for qtype in [Rtype::CNAME, Rtype::ANY] {
            assert_eq!(ask("y.old", qtype), "NOERROR | old 600 DNAME x1, y.old 600 CNAME x1 |  | ");
        }
        let none = "NXDOMAIN | old 600 DNAME x1, y.old 600 CNAME x1 | @ 300 SOA x1 | ";
        assert_eq!(ask("y.old", Rtype::A), none);
    }
}
