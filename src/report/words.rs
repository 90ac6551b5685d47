//! What every code of a plan or an apply means, in words: the one place where they are explained.

use crate::apply::OutcomeCode;
use crate::change::{Change, edited_after};
use crate::plan::{BlockCode, NoticeCode, Reason, Rule, SkipCode, WaitCode};

/// What a code means.
#[derive(Debug, Clone, Copy)]
pub struct CodeWords {
    /// A few words that replace the code in a text.
    pub title: &'static str,
    /// A clause that follows the title after a colon.
    pub brief: &'static str,
    /// All that there is to know, with what to do; one paragraph.
    pub long: &'static str,
}

/// Puts the three texts of a code together.
const fn words(title: &'static str, brief: &'static str, long: &'static str) -> CodeWords {
    CodeWords { title, brief, long }
}

/// A code that a plan, or the outcome of an apply, may hold.
pub trait ExplainedCode: Copy {
    /// What it means.
    fn words(self) -> CodeWords;
}

impl ExplainedCode for Rule {
    fn words(self) -> CodeWords {
        match self {
            Rule::Missing => words(
                "missing address",
                "none of the host's addresses is here",
                "No AAAA record at the interface's name holds an address that the interface may have, so the preferred \
                 one is added: the one in the first network of its switch, or of its datacenter and VLAN. Where live \
                 DNS has any acceptable address at the name, that one stays and nothing is added.",
            ),
            Rule::WrongAddress => words(
                "wrong address",
                "not one of the host's",
                "An AAAA record at the interface's name holds an address that the interface cannot have: its networks, \
                 its MAC and the project's id do not give it. It is removed. An old MAC, an old switch or a changed \
                 project id usually left it behind.",
            ),
            Rule::AddressElsewhere => words(
                "address elsewhere",
                "the name is not the host's",
                "An address of the interface is at a name that is not the interface's. It is removed if a host has or \
                 had that name, if zonewright created the record, or if the zone has `claim_addresses = \"all\"`. \
                 Otherwise it stays, and the notice `foreign-name` reports it.",
            ),
            Rule::MissingPtr => words(
                "missing PTR",
                "the address does not name its host",
                "An address that the interface keeps or gets has no PTR record that names the interface, so one is \
                 added. IPv4 addresses get theirs too, where their reverse zone is configured.",
            ),
            Rule::WrongPtr => words(
                "wrong PTR",
                "not what the address should name",
                "A PTR record at one of the interface's addresses names something else than the interface. Or it names \
                 the interface at an address that the interface may have, but does not keep or get. It is removed.",
            ),
            Rule::PtrElsewhere => words(
                "PTR elsewhere",
                "the address is not the host's",
                "A PTR record names the interface at an address that the interface cannot have. It is removed.",
            ),
            Rule::Ttl => words(
                "other TTL",
                "not the desired one",
                "The TTL of an RRset of the interface is not the desired one: the project's `ttl`, else the zone's, \
                 else 3600 seconds. RRsets that only lose a record keep their TTL.",
            ),
            Rule::Stated => words(
                "stated",
                "a file states the record",
                "A manifest or a zone file of `[[sources.records]]` states the value, and live DNS does not hold it, so it \
                 is added. The evidence is the entry.",
            ),
            Rule::NotStated => words(
                "not stated",
                "no file states the record",
                "A manifest or a zone file states what the RRset holds, and this value is not in it: or the file no longer \
                 states the RRset, which zonewright created. It is removed.",
            ),
            Rule::MakesRoom => words(
                "makes room",
                "it cannot be next to what a file states",
                "A CNAME is alone at its name. A file states a CNAME where zonewright created other records, or other \
                 records where it created a CNAME. What is there goes in the same update in which the new records come.",
            ),
            Rule::Released => words(
                "released name",
                "the host gave it up",
                "names.lock says that the host gave the name up within `name_cooldown`, and no host has it now. The \
                 addresses at the name and at its fastbone name, and the PTR records that name them, are removed.",
            ),
            Rule::NoPod => words(
                "no pod",
                "no pod or endpoint has the name any longer",
                "The name is one of a set of pods: that of an earlier placement of a pod, or one that a template of the set \
                 can give and that no pod of the export has. The constant name no longer leads there, and no SRV lists \
                 it; or it is that of an SRV which no endpoint of a set has. Policies `repair` and `sync` delete it.",
            ),
            Rule::Orphan => words(
                "orphan",
                "no host and no file has the name",
                "zonewright created the record in the domain of a project with `policy: sync`. No host of the \
                 inventory and no current row of names.lock has its name. The record is removed.",
            ),
            Rule::Registry => words(
                "registry",
                "it records who owns an RRset",
                "With `registry = \"txt\"` a TXT record next to each RRset that zonewright creates says so. It is \
                 written and removed in the same message as its RRset.",
            ),
            Rule::Adopted => words(
                "adopted",
                "another owner's RRset becomes zonewright's",
                "`zonewright adopt --from-owner` replaces the owner in the TXT of the registry. The RRset itself stays as it \
                 is, and is own from then on.",
            ),
            Rule::Undo => words(
                "undo",
                "as it was before the apply",
                "`zonewright undo` puts back what an apply changed: the RRset is as that apply left it, and will be \
                 as it was before. The evidence names the apply, and its update in the journal.",
            ),
            Rule::EditedSince => words(
                "edited since",
                "a person, or another program, changed it after our apply",
                "The journal says what the latest update left at the RRset, and live DNS holds something else: other \
                 records, another TTL, or nothing. So a person, or another program, edited it since. The other rules \
                 say what is wrong with it now. The evidence names the apply, its update in the journal, and when that \
                 was sent. With `keep_edits = true` in `[project.ID]` the host is left as it is, with a notice.",
            ),
            Rule::CopyDiffers => words(
                "copy differs",
                "the reference copy already has it",
                "The pool has several targets. The reference copy already has the RRset as it is to be; the copies at the \
                 targets that the change names do not. The change brings them in line.",
            ),
        }
    }
}

impl ExplainedCode for BlockCode {
    fn words(self) -> CodeWords {
        match self {
            BlockCode::BadInput => words(
                "bad input",
                "a line that they need is wrong",
                "A row, report, network or project file that the host needs is wrong, or its project is unknown. \
                 zonewright does not guess, and changes nothing of the host. `zonewright check` shows every such \
                 line with what would be right.",
            ),
            BlockCode::SourceUntrusted => words(
                "source untrusted",
                "a source that they need cannot be believed",
                "A source that the host needs was cut, empty, unreadable, or wrong in too many rows, or it fails a \
                 test that zonewright.toml sets for it. Nothing of the host is changed, because the right content of \
                 the source is unknown. Renew the export.",
            ),
            BlockCode::UnknownRecord => words(
                "unknown record",
                "no file has the DNS update record that is to publish them",
                "A list of a logical cloud or a cluster, or the label of a manifest, names a DNS update record that no file \
                 of `dns_update_records` has. What is live stays. Add its file, or correct the name.",
            ),
            BlockCode::NoName => words(
                "no name",
                "nothing gives them a name",
                "names.lock and hosts.csv give the host no name; a name below `free_domain` counts as none. \
                 `zonewright allocate --write` gives it one, and keeps it in names.lock.",
            ),
            BlockCode::ForeignDomain => words(
                "foreign domain",
                "their name is in no domain of their project",
                "A host's name must be directly below its project's `dns_domain` or one of its `also_domains`, and a name \
                 in a file at or below one of them. Correct the name or the project, or let the administrator add the \
                 domain.",
            ),
            BlockCode::DuplicateName => words(
                "duplicate name",
                "another interface has their name",
                "Two interfaces of the fleet have one name, backbone or fastbone, so it is not known to which of them \
                 the records belong. All these hosts are blocked. Rename or release all but one.",
            ),
            BlockCode::NoMac => words(
                "no MAC",
                "no report gives their MAC",
                "No source has an active MAC report of the host that is young enough, and an address cannot be made \
                 without a MAC. Check that the host's agent runs and reports.",
            ),
            BlockCode::DuplicateMac => words(
                "duplicate MAC",
                "another host reports the same MAC",
                "The active MAC of the host is that of another host too: a card that moved, or two rows of the \
                 inventory for one machine. All these hosts are blocked. Correct the inventory, or wait for \
                 newer reports.",
            ),
            BlockCode::NoNetwork => words(
                "no network",
                "no network is known for their switch or datacenter and VLAN",
                "A switch that l3-tors.txt lists must have a row for the project's VLAN; for any other switch \
                 net-layout.xml must give the VLAN a /64 in the host's datacenter. Add the network, or correct the \
                 host's switch or location.",
            ),
            BlockCode::NoIpv4Network => words(
                "no IPv4 network",
                "ipv4-map.txt has no row for their IPv4 addresses",
                "The host's backbone name has A records, so its IPv6 addresses are made of them, in the networks that \
                 ipv4-map.txt gives for their IPv4 network, the host's location and the main VLAN. There is no row \
                 for any of them. Add one, or remove the A records if the host no longer has IPv4.",
            ),
            BlockCode::ScopeConflict => words(
                "scope conflict",
                "two kinds of lists name one record for their service",
                "The list of the logical cloud of an app and that of a cluster in which its service is both name the same DNS \
                 update record: it is not known whether the record gets public addresses or those of the cluster. What is \
                 live stays. Remove the record from one of the lists.",
            ),
            BlockCode::NoAddress => words(
                "no address",
                "the inventory lists no address for them",
                "The project says `addresses: inventory`, and the source `addresses` lists no address for an interface \
                 of the host that the project knows. Its records are left. Add its addresses to the source, or \
                 correct `interfaces` in the project's file. Or a service of an app has no address of the scope that a DNS \
                 update record gets: `public` by the list of its logical cloud, `cluster` by that of a cluster. Add an \
                 address, or remove the record from the list.",
            ),
            BlockCode::AddressCollision => words(
                "address collision",
                "another interface has one of their addresses",
                "An address that the host may have, or an A record at one of its names, is that of another interface \
                 too, perhaps of the same host. All these hosts are blocked. Look for a network or a project id that \
                 occurs twice.",
            ),
            BlockCode::ClaimConflict => words(
                "claim conflict",
                "something else claims their name and says otherwise",
                "Two manifests, zone files or hosts say different things of one RRset; or one asks for a CNAME where another \
                 asks for other records; or one is below the delegation or the DNAME of another. All of them are blocked, and \
                 each names the others with file and line. Let all say the same, or keep one.",
            ),
            BlockCode::NoZone => words(
                "no zone",
                "no configured zone holds their name or a reverse name",
                "The name, or the reverse name of an address that the host keeps or gets, is in no zone of \
                 zonewright.toml. Add the zone, or correct the network.",
            ),
            BlockCode::ZoneMissing => words(
                "zone missing",
                "a zone that they need does not exist, and is not made",
                "The zone is to be made where it is missing (`create = true`), and its target cannot make it: it has no \
                 `create_command`. Give it one, or make the zone by hand.",
            ),
            BlockCode::ZoneUnknown => words(
                "zone unknown",
                "a zone that they need could not be read completely",
                "A zone that holds the host's name or a reverse name could not be read completely, so its content is \
                 not known. Nothing that depends on it is changed. The errors say why.",
            ),
            BlockCode::CopiesDisagree => words(
                "copies disagree",
                "the targets hold different A records at their names",
                "The IPv6 address of a host with IPv4 follows from the A records at its name, and the targets of the pool hold \
                 different ones. zonewright does not guess which are right. Make them the same at all targets.",
            ),
            BlockCode::Delegated => words(
                "delegated",
                "a name is in a part of the zone that is served elsewhere",
                "There is an NS record at or above the host's name or a reverse name, below the apex of its zone: \
                 these records are in another zone. Configure that zone.",
            ),
            BlockCode::Cname => words(
                "CNAME",
                "a CNAME or DNAME is where their records belong",
                "There is a CNAME at the host's name or at a reverse name, or a DNAME above it. No other record may \
                 be at the name of a CNAME, or below a DNAME. Remove it by hand, or correct the host's name.",
            ),
            BlockCode::Opaque => words(
                "opaque",
                "their name has what no plain record says",
                "The target holds something at a name that the subject needs, or at a reverse name, that is no plain record: \
                 one that is switched off, an ALIAS, code; in etcd a key for MX or SRV, a CNAME with a text, a key of another \
                 owner. It is shown and never touched, and an update of the name could take it away. Remove it at the \
                 target, or use another name.",
            ),
            BlockCode::Conflict => words(
                "conflict",
                "their rules would remove a protected host's record",
                "The host's rules would remove a record of another host, and that host is skipped or its data are \
                 uncertain. zonewright never changes the records of such a host. First find out to which of the two \
                 hosts the record belongs.",
            ),
            BlockCode::NotOwner => words(
                "not the owner",
                "a wrong record that zonewright did not create is in place of theirs",
                "The zone has `permission = \"own\"`, and a wrong record is in the place of the host's record. \
                 zonewright did not create it. Remove it by hand, or let the administrator set `permission = \
                 \"full\"`. The other cause: another owner has registered a record that zonewright would create. That \
                 owner must release it.",
            ),
            BlockCode::TargetLimit => words(
                "target limit",
                "no target of the pool can hold what they demand",
                "The entry asks for what no plain record has: one of several sets of records at a name, an alias, or \
                 routing. Write plain records, or leave the entry to the tool that understands it.",
            ),
            BlockCode::Protected => words(
                "protected",
                "their name is protected",
                "The zone's `protect` lists a name of the host, or the reverse name of an address that it keeps or \
                 gets. Some names are always protected: an apex, a marker, a name server, and a server to which \
                 zonewright writes zones. The administrator can remove a name from `protect`.",
            ),
            BlockCode::PostState => words(
                "post state",
                "the zones would break a rule of DNS",
                "With the host's changes a zone would hold a CNAME next to other data, an RRset of more records than \
                 `max_rrset` allows, data at or below a delegation, or a PTR that names what does not exist.",
            ),
        }
    }
}

impl ExplainedCode for SkipCode {
    fn words(self) -> CodeWords {
        match self {
            SkipCode::AutomationOff => words(
                "automation off",
                "automation is not allowed, or not switched on, for their project",
                "The project has no `[project.X]` in zonewright.toml, or that says `automation = \"forbidden\"`, or \
                 the project's file does not say `automation: true`. The administrator and the owner must both \
                 switch it on.",
            ),
            SkipCode::Restricted => words(
                "restricted",
                "the inventory keeps automation away from them",
                "The host's restrictions in hosts.csv include `automated-dns`. An operator who names the host with \
                 `--host` may change it all the same.",
            ),
            SkipCode::Breaker => words(
                "breaker",
                "a breaker has tripped, and stays tripped until an operator resets it",
                "An unattended run would have exceeded a limit, so the breaker of the project or of the fleet tripped. \
                 `zonewright status` shows which breaker, since when, and why. Find the cause, then reset the breaker \
                 with `zonewright status --reset SCOPE --reason TEXT`. A host that is named with `--host` is not \
                 skipped.",
            ),
        }
    }
}

impl ExplainedCode for NoticeCode {
    fn words(self) -> CodeWords {
        match self {
            NoticeCode::ForeignName => words(
                "foreign name",
                "a host's address is at a name that no host has",
                "An address of a host is at a name that no host has or had. It may be a useful alias, so it stays. \
                 With `claim_addresses = \"all\"` zonewright would remove it.",
            ),
            NoticeCode::AddressShared => words(
                "address shared",
                "a file states a host's address at another name",
                "A service may have a host's address: the record stays, because a file of `[[sources.records]]` states it \
                 there. Without that file the rules of the host would remove it.",
            ),
            NoticeCode::WithoutEffect => words(
                "without effect",
                "a part of an entry means nothing here",
                "An entry has `providerSpecific` settings, or settings of octoDNS, that no target of the pool knows. The \
                 records are made without them.",
            ),
            NoticeCode::DryRun => words(
                "dry run",
                "a DNS update record with `dry-run` would change records",
                "A DNS update record has `dry-run: true`: a plan says what it would do, and nothing of it is applied.",
            ),
            NoticeCode::Filtered => words(
                "filtered",
                "a filter of a DNS update record hides the name",
                "A DNS update record publishes names that its `domain-filter` shows and its `exclude-domains` does not hide. At \
                 other names it creates and deletes nothing, so that what an earlier filter showed stays.",
            ),
            NoticeCode::EntryLost => words(
                "entry lost",
                "another entry of the source is preferred",
                "The source has `conflicts = \"external-dns\"`, and two of its entries say different things of one name. As \
                 external-dns does, zonewright takes one: next to other types no CNAME, else the one with fewer targets, or \
                 with the lower first target. The other says nothing.",
            ),
            NoticeCode::OwnerKept => words(
                "owner kept",
                "RRsets keep another owner",
                "`zonewright adopt --from-owner` takes over RRsets that a host, a manifest or a file claims, in a TXT of today's \
                 form. These are not among them; the notice says why.",
            ),
            NoticeCode::SourceUnknown => words(
                "source unknown",
                "a source could not be read completely",
                "The source was cut, empty, unreadable, or wrong in too many rows. Hosts that need it are \
                 blocked `source-untrusted`. Renew the export.",
            ),
            NoticeCode::ZoneUnknown => words(
                "zone unknown",
                "a zone could not be read completely",
                "The zone could not be read completely. Hosts that need it are blocked `zone-unknown`.",
            ),
            NoticeCode::BadSettings => words(
                "bad settings",
                "a settings file has errors",
                "A project file, or a project of zonewright.toml, has errors. The hosts of that project are blocked \
                 `bad-input`; the rest is planned. `zonewright check` shows each error with its line.",
            ),
            NoticeCode::UnknownSet => words(
                "unknown set",
                "pods are of a set that no file has",
                "Rows of the export of pods name a set, and no file of `pod_sets` has this id. Nothing of these pods is \
                 planned; the rest is. `zonewright check` shows the first row.",
            ),
            NoticeCode::RecordsUnread => words(
                "records unread",
                "a file of records could not be read completely",
                "A file of `[[sources.records]]`, or a document in it, could not be read, so it is not known which names \
                 it states. Records that its source may have stated stay as they are; other files, and entries that can \
                 be read, are planned. `zonewright check` shows each error with its line.",
            ),
            NoticeCode::ReadByQuery => words(
                "read by query",
                "not all of a zone was read",
                "The zone's target says `read = \"query\"`, so zonewright asked its server for the names of hosts, for \
                 the names of their addresses, and for what those point to. It did not see records anywhere else in \
                 the zone, and does nothing about them. To have the whole zone read, let the server allow transfers, \
                 and remove `read`.",
            ),
            NoticeCode::SourceUntrusted => words(
                "source untrusted",
                "a source is not believed",
                "The source was read whole and failed a test that zonewright.toml sets for it: it is too old, has too \
                 few rows, lacks or changes too many rows of the last accepted export, or does not match its digest. \
                 Hosts that need it are blocked `source-untrusted`. Renew the export. If it is right although it \
                 differs so much, accept it: `zonewright accept SOURCE --reason TEXT`.",
            ),
            NoticeCode::Protected => words(
                "protected",
                "records at a protected name stay as they are",
                "A rule would remove records at a name that `protect` lists, or that is always protected: an apex, a \
                 name server or its glue, a configured server. They stay as they are.",
            ),
            NoticeCode::PostState => words(
                "post state",
                "a zone breaks a rule of DNS, or would",
                "A zone holds a PTR that names what does not exist, an RRset of more records than `max_rrset` allows, \
                 or a CNAME next to other data. Either it did so before, and this plan does not change it. Or it would \
                 do so if the plan removed the records of a name, so these records stay. Fix it by hand.",
            ),
            NoticeCode::RemovalsRest => words(
                "removals rest",
                "RRsets that may have to be deleted stay for now",
                "A row of hosts.csv or names.lock is bad, an entry of a file is, or a source is unknown, so it is not known \
                 which names no host and no file has. No record is removed at such names. RRsets that wait for \
                 `delete_after` keep waiting, and their time runs on.",
            ),
            NoticeCode::TargetUnknown => words(
                "target unknown",
                "a target did not give a zone; the others suffice",
                "A target of the pool did not give a zone. Enough others did, so the plan goes on. Hosts that need the \
                 zone get no change at this target. Find out what is wrong with the target; what it lacks is planned \
                 again as soon as it can be read.",
            ),
            NoticeCode::CannotCompare => words(
                "cannot compare",
                "a target compares nothing before it writes",
                "The target has no way to compare, as a part of a write, what is there with what was seen before. What \
                 something else writes at the same time may be lost. `exclusive = true` in the target's settings says \
                 that nothing else writes there. An apply says `raced` where it sees that something did.",
            ),
            NoticeCode::SlowTarget => words(
                "slow target",
                "a target takes only so many changes in a minute",
                "The service of the target takes only so many requests in a minute, so that the apply of this plan takes \
                 at least so long. Nothing is wrong. Other tools that use the same account make it slower.",
            ),
            NoticeCode::CopyBlocked => words(
                "copy blocked",
                "what a target holds keeps changes away from it",
                "What the copy at this target holds would block the host, such as a delegation at its name; the other \
                 copies do not. The host gets no change at this target, and gets its changes at the others. Correct the \
                 copy by hand.",
            ),
            NoticeCode::ZoneMissing => words(
                "zone missing",
                "a zone does not exist at a target, and is not made there",
                "The zone is to be made where it is missing (`create = true`), and the target cannot make it: it has no \
                 `create_command`. Give it one, or make the zone by hand.",
            ),
            NoticeCode::ZoneChange => words(
                "zone change",
                "zones are made, listed in the catalog, or deleted",
                "An apply makes the zone at the target before it changes any record, and lists it in the catalog of the \
                 pool. It deletes zones after all records are changed.",
            ),
            NoticeCode::ZoneKept => words(
                "zone kept",
                "a zone that should be deleted stays",
                "The zone has `state = \"absent\"`, and it is not deleted: it holds more than its apex, or zonewright did \
                 not make it.",
            ),
            NoticeCode::FormerNames => words(
                "former names",
                "names that pods had go later",
                "Pods of the set had these names, and no pod has them now. They stay until caches have forgotten what led to \
                 them: an SRV that listed the name of an earlier placement, or that the name which stays with the pod does \
                 not exist yet. The first plan after that time deletes them: `zonewright apply --auto`, or your scheduled \
                 run.",
            ),
            NoticeCode::ClockBack => words(
                "clock back",
                "the clock is behind what an earlier run noted",
                "The clock of this machine is behind, or that of an earlier run was ahead. What is in flux does not settle \
                 until the clock has passed the time that was noted, and others wait: so the budget of a rollout holds. \
                 Correct the clock. If that of an earlier run was ahead, name hosts that must not wait: `zonewright apply \
                 --auto --host HOST`.",
            ),
            NoticeCode::CmsAnswers => words(
                "services say",
                "what cluster-management services say, asked by dry runs",
                "Each service that the project asks was asked by dry runs, which disturb no host. The message has how many hosts it \
                 would let through now, how many not yet, and how many it would reject. An apply asks anew.",
            ),
            NoticeCode::CmsRejects => words(
                "services reject",
                "cluster-management services would reject hosts",
                "A service that the project asks would say `rejected` for the host, by a dry run. An apply would leave the host \
                 as it is. The message has what the service said. Ask those who run the service, or change the plan.",
            ),
            NoticeCode::CmsSilent => words(
                "services silent",
                "cluster-management services give no answer",
                "A service that the project asks does not answer, or not as the protocol says. Until it does, hosts that need its \
                 approval wait. `zonewright cms check NAME` finds out what is wrong.",
            ),
            NoticeCode::MigratesOften => words(
                "migrates often",
                "pods move again sooner than their set says",
                "Pods of the set moved less than `min_interval` ago and move again. A placement is a fact, so nothing is \
                 held back; but each move makes a pod unreachable for a while. Look at what moves them.",
            ),
            NoticeCode::CopiesDiffer => words(
                "copies differ",
                "copies of a zone differ, and the plan leaves that",
                "The copy at a target differs from the reference copy in RRsets that the plan does not change, and leaves. \
                 SOA, NS of the apex, what a signer makes and the marker do not count. Find out which copy is right, and \
                 correct the other by hand.",
            ),
            NoticeCode::LeftBehind => words(
                "left behind",
                "records of zonewright are at names that no host or pod has",
                "zonewright created the records, and no host of hosts.csv and no pod has the name: its host or pod left \
                 the inventory, or got another name. The records stay. Of a host: policy `sync` deletes them, unless a \
                 current row of names.lock still gives the name to a number: `zonewright release` frees it; policy \
                 `repair` deletes them if an operator runs `zonewright release HOST` before the host gets another name. Of \
                 a pod: policies `repair` and `sync` delete them, once the export and the file of the set can be read and \
                 are believed.",
            ),
            NoticeCode::EditedSince => words(
                "edited since",
                "an RRset was changed after the apply, so its host stays as it is",
                "In a plan of `undo`: an RRset was changed after the apply that is to be undone. It is not as that \
                 apply left it, and not as it was before. If a later apply made the edit, undo that apply first. In \
                 every other plan: an RRset is not as the latest apply left it, so a person edited it, and its project \
                 has `keep_edits`. Either way nothing is changed for the host and for all hosts that share a change \
                 with it.",
            ),
        }
    }
}

impl ExplainedCode for OutcomeCode {
    fn words(self) -> CodeWords {
        match self {
            OutcomeCode::Applied => words(
                "applied",
                "all their changes were made, and were read back",
                "The plan's changes for the host were made, and the primary answers every one of its RRsets as the \
                 plan says. There is nothing left to do.",
            ),
            OutcomeCode::AlreadyApplied => words(
                "already applied",
                "all was as the plan says before anything was sent",
                "Every RRset of the host was as the plan says before the first message, so nothing was sent for it: \
                 another editor made the changes, or this plan was applied before.",
            ),
            OutcomeCode::Stale => words(
                "stale",
                "another editor changed their records after the plan: plan again",
                "An RRset of the host was not as the plan saw it before anything was sent, or a prerequisite did not \
                 hold when the update was sent: another editor changed it since. Nothing was changed for the host. \
                 Plan again; the new plan starts from what is there now.",
            ),
            OutcomeCode::NoLongerAllowed => words(
                "no longer allowed",
                "the settings changed after the plan, and forbid it now: see below",
                "Between the plan and the apply an administrator forbade a change of the host: `automation`, `protect` \
                 or `permission` in zonewright.toml, or the project's file is gone or has an error. Nothing was \
                 changed for the host and for all hosts that share a change with it. Plan again: the new plan obeys \
                 the settings of today. If the setting is wrong, correct it first.",
            ),
            OutcomeCode::Partial => words(
                "partial",
                "some of their changes were made, others were not: see below",
                "Some of the host's changes were made, then one could not be made. The records are still valid, \
                 because of the order of the phases: no PTR points to a missing name. Remove the cause that the \
                 message names. Then let `zonewright resume` make the other changes, or plan again.",
            ),
            OutcomeCode::NotApplied => words(
                "not applied",
                "the server accepted a change, but does not have it: see below",
                "The server answered that it had made the host's changes, but the records that zonewright read back \
                 are different. Servers ignore some changes without an error, such as an address where there is a \
                 CNAME. The message names the rule that is the likely cause. Remove the cause and plan again.",
            ),
            OutcomeCode::Raced => words(
                "raced",
                "made, but something else wrote at the same time: see below",
                "The host's changes were made at a target that compares nothing before it writes, and something else \
                 wrote to the zone at the same time. What that wrote at these names may be lost. Find what else writes \
                 there, and stop it. Then plan again: the new plan starts from what is there now.",
            ),
            OutcomeCode::Failed => words(
                "failed",
                "their changes were not made, or it is not known: see below",
                "The message names the case: the host's changes could not be sent; the server refused them; it is not \
                 known whether they were made; or they were made and could not be read back. Remove the cause, and let \
                 `zonewright resume` go on; or plan again. No change is made twice.",
            ),
            OutcomeCode::NotReached => words(
                "not reached",
                "the apply stopped before it reached them",
                "The apply gave up, or gave up the host's zone, before it reached the host: because of \
                 `--max-failures`, a server that refused one host after another, a lost answer, or another run that \
                 writes the zone. `zonewright resume` goes on; or plan again.",
            ),
            OutcomeCode::Waiting => words(
                "waiting",
                "it is not their turn yet: see below",
                "The change would take a live address, and the project's `rollout` lets only some of its hosts be \
                 unreachable at once; or a cluster-management service has not let the host through yet. Nothing was changed for \
                 the host. `zonewright resume`, or another apply of the plan, sends the next wave as soon as it can go; \
                 `--wait` does so by itself.",
            ),
            OutcomeCode::Rejected => words(
                "rejected",
                "a cluster-management service rejected them: see below",
                "A service that the project asks said `rejected`. Nothing was changed for the host, and its tasks are deleted \
                 at all services. It is asked for again after an hour; at once where the plan has another change of it, or \
                 where a person names the host.",
            ),
        }
    }
}

impl ExplainedCode for WaitCode {
    fn words(self) -> CodeWords {
        match self {
            WaitCode::Budget => words(
                "budget",
                "as many of their group may be unreachable as its budget allows",
                "As many hosts of the project as `max_unavailable` allows, or pods of the set as `unavailability_budget` \
                 allows, may be unreachable by name, because their addresses have just changed. What waits goes once some \
                 of them have settled.",
            ),
            WaitCode::Location => words(
                "location",
                "others of their group at another location may be unreachable",
                "Hosts of the project, or pods of the set, at another location may be unreachable by name, and only one \
                 location may be touched at a time. What waits goes once all of them have settled.",
            ),
            WaitCode::Canary => words(
                "canary",
                "the first wave of the batch has not settled",
                "The first wave of a batch goes alone, with as many hosts or pods as `canary` says. The others go once it has \
                 settled.",
            ),
            WaitCode::Gate => words(
                "gate",
                "the gate of their group did not pass",
                "The gate of the project or set says that a further wave must not go now: its service may not be well. What \
                 waits goes once the gate passes. Repairs and undos do not wait for it, and `--ignore-gate` goes on without it.",
            ),
            WaitCode::Overlap => words(
                "overlap",
                "their old and their new addresses are there together",
                "With `overlap` the new addresses come first, and the old ones go later: after `overlap`, after caches have \
                 the new ones, and if the gate passes. A repair takes the old ones at once.",
            ),
            WaitCode::Approval => words(
                "approval",
                "their cluster-management services have not let them through",
                "Each service that the project asks must say `ok` before a host is changed. The message says which one is \
                 waited for, since when, and what it said. Each run asks again. `--ignore-cms` with `--reason` goes on \
                 without them, for hosts that are named.",
            ),
            WaitCode::Replaces => words(
                "replaced",
                "the pod that replaces them is not there yet",
                "Another pod replaces this one, and is not `active` yet, or its names and the SRV of the set have not \
                 settled. Then the records of the old pod go.",
            ),
            WaitCode::Availability => words(
                "availability",
                "their set does not meet what its project demands",
                "The project file has `availability: require`, and the set has too few pods, too small a budget, or too \
                 many pods on one server or rack. Repairs do not wait.",
            ),
            WaitCode::DoesNotFit => words(
                "does not fit",
                "they fit no wave, however long they wait",
                "Hosts or pods share a change, and are more than the budget allows at once, or are at several locations. They \
                 go when they are named: the message has the command.",
            ),
        }
    }
}

/// That a change goes in two steps, and what is there in between, where it does.
pub fn via_in_words(change: &Change) -> Option<&'static str> {
    let via = change.via.as_ref()?;
    let stays = change.kind.before() == Some(via);
    Some(if stays { "goes after `overlap`" } else { "old and new together for `overlap`, then the new alone" })
}

/// That a change puts back what was edited after an apply, where a reason says so: `was edited after apply 12 (2026-11-19
/// 14:02)`.
pub fn edited_in_words(reason: &Reason) -> Option<String> {
    if reason.rule == Rule::EditedSince { edited_after_in_words(&reason.evidence) } else { None }
}

/// The same of the evidence of such a reason.
pub fn edited_after_in_words(evidence: &[String]) -> Option<String> {
    let (apply, at) = edited_after(evidence)?;
    // Down to the minute: `2026-11-19T14:02:05Z`.
    let minute: String = at.to_string().chars().take(16).collect();
    Some(format!("was edited after apply {apply} ({})", minute.replace('T', " ")))
}

/// The rule with this title, in any case of letters: `wrong PTR`.
pub fn rule_of_title(title: &str) -> Option<Rule> {
    Rule::ALL.iter().copied().find(|rule| rule.words().title.eq_ignore_ascii_case(title.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All codes of one kind with their texts.
    fn all<T: ExplainedCode + ToString>(codes: &[T]) -> Vec<(String, CodeWords)> {
        codes.iter().map(|code| (code.to_string(), code.words())).collect()
    }

    #[test]
    fn every_code_has_words_that_fit_eighty_columns() {
        let kinds = [
            all(Rule::ALL),
            all(BlockCode::ALL),
            all(SkipCode::ALL),
            all(NoticeCode::ALL),
            all(OutcomeCode::ALL),
            all(WaitCode::ALL),
        ];
        for (code, CodeWords { title, brief, long }) in kinds.into_iter().flatten() {
            assert!(title.len() < 24 && brief.len() < 72, "{code}");
            assert!(long.ends_with('.') && !long.contains("  "), "{code}");
        }
    }

    #[test]
    fn a_rule_is_found_by_what_texts_call_it() {
        assert_eq!(rule_of_title("wrong ptr"), Some(Rule::WrongPtr));
        assert_eq!(rule_of_title("no such rule"), None);
    }
}
