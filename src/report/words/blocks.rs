//! Why nothing is changed of a subject: what keeps it back, and what passes it over.

use super::{CodeWords, ExplainedCode};
use crate::plan::{BlockCode, SkipCode};

words_of_codes! {
    BlockCode,
    BadInput => {
        "bad input",
        "a line that they need is wrong",
        "A row, report, network or project file that the host needs is wrong, or its project is unknown. \
         zonewright does not guess, and changes nothing of the host. `zonewright check` shows every such \
         line with what would be right.",
    }
    SourceUntrusted => {
        "source untrusted",
        "a source that they need cannot be believed",
        "A source that the host needs was cut, empty, unreadable, or wrong in too many rows, or it fails a \
         test that zonewright.toml sets for it. Nothing of the host is changed, because the right content of \
         the source is unknown. Renew the export.",
    }
    UnknownRecord => {
        "unknown record",
        "no file has the DNS update record that is to publish them",
        "A list of a logical cloud or a cluster, or the label of a manifest, names a DNS update record that no file \
         of `dns_update_records` has. What is live stays. Add its file, or correct the name.",
    }
    NoName => {
        "no name",
        "nothing gives them a name",
        "names.lock and hosts.csv give the host no name; a name below `free_domain` counts as none. \
         `zonewright allocate --write` gives it one, and keeps it in names.lock.",
    }
    ForeignDomain => {
        "foreign domain",
        "their name is in no domain of their project",
        "A host's name must be directly below its project's `dns_domain` or one of its `also_domains`, and a name \
         in a file at or below one of them. Correct the name or the project, or let the administrator add the \
         domain.",
    }
    DuplicateName => {
        "duplicate name",
        "another interface has their name",
        "Two interfaces of the fleet have one name, backbone or fastbone, so it is not known to which of them \
         the records belong. All these hosts are blocked. Rename or release all but one.",
    }
    NoMac => {
        "no MAC",
        "no report gives their MAC",
        "No source has an active MAC report of the host that is young enough, and an address cannot be made \
         without a MAC. Check that the host's agent runs and reports.",
    }
    DuplicateMac => {
        "duplicate MAC",
        "another host reports the same MAC",
        "The active MAC of the host is that of another host too: a card that moved, or two rows of the \
         inventory for one machine. All these hosts are blocked. Correct the inventory, or wait for \
         newer reports.",
    }
    NoNetwork => {
        "no network",
        "no network is known for their switch or datacenter and VLAN",
        "A switch that l3-tors.txt lists must have a row for the project's VLAN; for any other switch \
         net-layout.xml must give the VLAN a /64 in the host's datacenter. Add the network, or correct the \
         host's switch or location.",
    }
    NoIpv4Network => {
        "no IPv4 network",
        "ipv4-map.txt has no row for their IPv4 addresses",
        "The host's backbone name has A records, so its IPv6 addresses are made of them, in the networks that \
         ipv4-map.txt gives for their IPv4 network, the host's location and the main VLAN. There is no row \
         for any of them. Add one, or remove the A records if the host no longer has IPv4.",
    }
    ScopeConflict => {
        "scope conflict",
        "two kinds of lists name one record for their service",
        "The list of the logical cloud of an app and that of a cluster in which its service is both name the same DNS \
         update record: it is not known whether the record gets public addresses or those of the cluster. What is \
         live stays. Remove the record from one of the lists.",
    }
    NoAddress => {
        "no address",
        "the inventory lists no address for them",
        "The project says `addresses: inventory`, and the source `addresses` lists no address for an interface \
         of the host that the project knows. Its records are left. Add its addresses to the source, or \
         correct `interfaces` in the project's file. Or a service of an app has no address of the scope that a DNS \
         update record gets: `public` by the list of its logical cloud, `cluster` by that of a cluster. Add an \
         address, or remove the record from the list.",
    }
    AddressCollision => {
        "address collision",
        "another interface has one of their addresses",
        "An address that the host may have, or an A record at one of its names, is that of another interface \
         too, perhaps of the same host. All these hosts are blocked. Look for a network or a project id that \
         occurs twice.",
    }
    ClaimConflict => {
        "claim conflict",
        "something else claims their name and says otherwise",
        "Two manifests, zone files or hosts say different things of one RRset; or one asks for a CNAME where another \
         asks for other records; or one is below the delegation or the DNAME of another. All of them are blocked, and \
         each names the others with file and line. Let all say the same, or keep one.",
    }
    NoZone => {
        "no zone",
        "no configured zone holds their name or a reverse name",
        "The name, or the reverse name of an address that the host keeps or gets, is in no zone of \
         zonewright.toml. Add the zone, or correct the network.",
    }
    ZoneMissing => {
        "zone missing",
        "a zone that they need does not exist, and is not made",
        "The zone is to be made where it is missing (`create = true`), and its target cannot make it: it has no \
         `create_command`. Give it one, or make the zone by hand.",
    }
    ZoneUnknown => {
        "zone unknown",
        "a zone that they need could not be read completely",
        "A zone that holds the host's name or a reverse name could not be read completely, so its content is \
         not known. Nothing that depends on it is changed. The errors say why.",
    }
    CopiesDisagree => {
        "copies disagree",
        "the targets hold different A records at their names",
        "The IPv6 address of a host with IPv4 follows from the A records at its name, and the targets of the pool hold \
         different ones. zonewright does not guess which are right. Make them the same at all targets.",
    }
    Delegated => {
        "delegated",
        "a name is in a part of the zone that is served elsewhere",
        "There is an NS record at or above the host's name or a reverse name, below the apex of its zone: \
         these records are in another zone. Configure that zone.",
    }
    Cname => {
        "CNAME",
        "a CNAME or DNAME is where their records belong",
        "There is a CNAME at the host's name or at a reverse name, or a DNAME above it. No other record may \
         be at the name of a CNAME, or below a DNAME. Remove it by hand, or correct the host's name.",
    }
    Opaque => {
        "opaque",
        "their name has what no plain record says",
        "The target holds something at a name that the subject needs, or at a reverse name, that is no plain record: \
         one that is switched off, an ALIAS, code; in etcd a key for MX or SRV, a CNAME with a text, a key of another \
         owner. It is shown and never touched, and an update of the name could take it away. Remove it at the \
         target, or use another name.",
    }
    Conflict => {
        "conflict",
        "their rules would remove a protected host's record",
        "The host's rules would remove a record of another host, and that host is skipped or its data are \
         uncertain. zonewright never changes the records of such a host. First find out to which of the two \
         hosts the record belongs.",
    }
    NotOwner => {
        "not the owner",
        "a wrong record that zonewright did not create is in place of theirs",
        "The zone has `permission = \"own\"`, and a wrong record is in the place of the host's record. \
         zonewright did not create it. Remove it by hand, or let the administrator set `permission = \
         \"full\"`. The other cause: another owner has registered a record that zonewright would create. That \
         owner must release it.",
    }
    TargetLimit => {
        "target limit",
        "no target of the pool can hold what they demand",
        "The entry asks for what no plain record has: one of several sets of records at a name, an alias, or \
         routing. Write plain records, or leave the entry to the tool that understands it.",
    }
    Protected => {
        "protected",
        "their name is protected",
        "The zone's `protect` lists a name of the host, or the reverse name of an address that it keeps or \
         gets. Some names are always protected: an apex, a marker, a name server, and a server to which \
         zonewright writes zones. The administrator can remove a name from `protect`.",
    }
    PostState => {
        "post state",
        "the zones would break a rule of DNS",
        "With the host's changes a zone would hold a CNAME next to other data, an RRset of more records than \
         `max_rrset` allows, data at or below a delegation, or a PTR that names what does not exist.",
    }
}

words_of_codes! {
    SkipCode,
    AutomationOff => {
        "automation off",
        "automation is not allowed, or not switched on, for their project",
        "The project has no `[project.X]` in zonewright.toml, or that says `automation = \"forbidden\"`, or \
         the project's file does not say `automation: true`. The administrator and the owner must both \
         switch it on.",
    }
    Restricted => {
        "restricted",
        "the inventory keeps automation away from them",
        "The host's restrictions in hosts.csv include `automated-dns`. An operator who names the host with \
         `--host` may change it all the same.",
    }
    Breaker => {
        "breaker",
        "a breaker has tripped, and stays tripped until an operator resets it",
        "An unattended run would have exceeded a limit, so the breaker of the project or of the fleet tripped. \
         `zonewright status` shows which breaker, since when, and why. Find the cause, then reset the breaker \
         with `zonewright status --reset SCOPE --reason TEXT`. A host that is named with `--host` is not \
         skipped.",
    }
}
