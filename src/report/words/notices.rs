//! What the notices of a plan mean.

use super::{CodeWords, ExplainedCode};
use crate::plan::NoticeCode;

words_of_codes! {
    NoticeCode,
    ForeignName => {
        "foreign name",
        "a host's address is at a name that no host has",
        "An address of a host is at a name that no host has or had. It may be a useful alias, so it stays. \
         With `claim_addresses = \"all\"` zonewright would remove it.",
    }
    AddressShared => {
        "address shared",
        "a file states a host's address at another name",
        "A service may have a host's address: the record stays, because a file of `[[sources.records]]` states it \
         there. Without that file the rules of the host would remove it.",
    }
    WithoutEffect => {
        "without effect",
        "a part of an entry means nothing here",
        "An entry has `providerSpecific` settings, or settings of octoDNS, that no target of the pool knows. The \
         records are made without them.",
    }
    DryRun => {
        "dry run",
        "a DNS update record with `dry-run` would change records",
        "A DNS update record has `dry-run: true`: a plan says what it would do, and nothing of it is applied.",
    }
    Filtered => {
        "filtered",
        "a filter of a DNS update record hides the name",
        "A DNS update record publishes names that its `domain-filter` shows and its `exclude-domains` does not hide. At \
         other names it creates and deletes nothing, so that what an earlier filter showed stays.",
    }
    EntryLost => {
        "entry lost",
        "another entry of the source is preferred",
        "The source has `conflicts = \"external-dns\"`, and two of its entries say different things of one name. As \
         external-dns does, zonewright takes one: next to other types no CNAME, else the one with fewer targets, or \
         with the lower first target. The other says nothing.",
    }
    OwnerKept => {
        "owner kept",
        "RRsets keep another owner",
        "`zonewright adopt --from-owner` takes over RRsets that a host, a manifest or a file claims, in a TXT of today's \
         form. These are not among them; the notice says why.",
    }
    SourceUnknown => {
        "source unknown",
        "a source could not be read completely",
        "The source was cut, empty, unreadable, or wrong in too many rows. Hosts that need it are \
         blocked `source-untrusted`. Renew the export.",
    }
    ZoneUnknown => {
        "zone unknown",
        "a zone could not be read completely",
        "The zone could not be read completely. Hosts that need it are blocked `zone-unknown`.",
    }
    BadSettings => {
        "bad settings",
        "a settings file has errors",
        "A project file, or a project of zonewright.toml, has errors. The hosts of that project are blocked \
         `bad-input`; the rest is planned. `zonewright check` shows each error with its line.",
    }
    UnknownSet => {
        "unknown set",
        "pods are of a set that no file has",
        "Rows of the export of pods name a set, and no file of `pod_sets` has this id. Nothing of these pods is \
         planned; the rest is. `zonewright check` shows the first row.",
    }
    RecordsUnread => {
        "records unread",
        "a file of records could not be read completely",
        "A file of `[[sources.records]]`, or a document in it, could not be read, so it is not known which names \
         it states. Records that its source may have stated stay as they are; other files, and entries that can \
         be read, are planned. `zonewright check` shows each error with its line.",
    }
    ReadByQuery => {
        "read by query",
        "not all of a zone was read",
        "The zone's target says `read = \"query\"`, so zonewright asked its server for the names of hosts, for \
         the names of their addresses, and for what those point to. It did not see records anywhere else in \
         the zone, and does nothing about them. To have the whole zone read, let the server allow transfers, \
         and remove `read`.",
    }
    SourceUntrusted => {
        "source untrusted",
        "a source is not believed",
        "The source was read whole and failed a test that zonewright.toml sets for it: it is too old, has too \
         few rows, lacks or changes too many rows of the last accepted export, or does not match its digest. \
         Hosts that need it are blocked `source-untrusted`. Renew the export. If it is right although it \
         differs so much, accept it: `zonewright accept SOURCE --reason TEXT`.",
    }
    Protected => {
        "protected",
        "records at a protected name stay as they are",
        "A rule would remove records at a name that `protect` lists, or that is always protected: an apex, a \
         name server or its glue, a configured server. They stay as they are.",
    }
    PostState => {
        "post state",
        "a zone breaks a rule of DNS, or would",
        "A zone holds a PTR that names what does not exist, an RRset of more records than `max_rrset` allows, \
         or a CNAME next to other data. Either it did so before, and this plan does not change it. Or it would \
         do so if the plan removed the records of a name, so these records stay. Fix it by hand.",
    }
    RemovalsRest => {
        "removals rest",
        "RRsets that may have to be deleted stay for now",
        "A row of hosts.csv or names.lock is bad, an entry of a file is, or a source is unknown, so it is not known \
         which names no host and no file has. No record is removed at such names. RRsets that wait for \
         `delete_after` keep waiting, and their time runs on.",
    }
    TargetUnknown => {
        "target unknown",
        "a target did not give a zone; the others suffice",
        "A target of the pool did not give a zone. Enough others did, so the plan goes on. Hosts that need the \
         zone get no change at this target. Find out what is wrong with the target; what it lacks is planned \
         again as soon as it can be read.",
    }
    CannotCompare => {
        "cannot compare",
        "a target compares nothing before it writes",
        "The target has no way to compare, as a part of a write, what is there with what was seen before. What \
         something else writes at the same time may be lost. `exclusive = true` in the target's settings says \
         that nothing else writes there. An apply says `raced` where it sees that something did.",
    }
    SlowTarget => {
        "slow target",
        "a target takes only so many changes in a minute",
        "The service of the target takes only so many requests in a minute, so that the apply of this plan takes \
         at least so long. Nothing is wrong. Other tools that use the same account make it slower.",
    }
    CopyBlocked => {
        "copy blocked",
        "what a target holds keeps changes away from it",
        "What the copy at this target holds would block the host, such as a delegation at its name; the other \
         copies do not. The host gets no change at this target, and gets its changes at the others. Correct the \
         copy by hand.",
    }
    ZoneMissing => {
        "zone missing",
        "a zone does not exist at a target, and is not made there",
        "The zone is to be made where it is missing (`create = true`), and the target cannot make it: it has no \
         `create_command`. Give it one, or make the zone by hand.",
    }
    ZoneChange => {
        "zone change",
        "zones are made, listed in the catalog, or deleted",
        "An apply makes the zone at the target before it changes any record, and lists it in the catalog of the \
         pool. It deletes zones after all records are changed.",
    }
    ZoneKept => {
        "zone kept",
        "a zone that should be deleted stays",
        "The zone has `state = \"absent\"`, and it is not deleted: it holds more than its apex, or zonewright did \
         not make it.",
    }
    FormerNames => {
        "former names",
        "names that pods had go later",
        "Pods of the set had these names, and no pod has them now. They stay until caches have forgotten what led to \
         them: an SRV that listed the name of an earlier placement, or that the name which stays with the pod does \
         not exist yet. The first plan after that time deletes them: `zonewright apply --auto`, or your scheduled \
         run.",
    }
    ClockBack => {
        "clock back",
        "the clock is behind what an earlier run noted",
        "The clock of this machine is behind, or that of an earlier run was ahead. What is in flux does not settle \
         until the clock has passed the time that was noted, and others wait: so the budget of a rollout holds. \
         Correct the clock. If that of an earlier run was ahead, name hosts that must not wait: `zonewright apply \
         --auto --host HOST`.",
    }
    CmsAnswers => {
        "services say",
        "what cluster-management services say, asked by dry runs",
        "Each service that the project asks was asked by dry runs, which disturb no host. The message has how many hosts it \
         would let through now, how many not yet, and how many it would reject. An apply asks anew.",
    }
    CmsRejects => {
        "services reject",
        "cluster-management services would reject hosts",
        "A service that the project asks would say `rejected` for the host, by a dry run. An apply would leave the host \
         as it is. The message has what the service said. Ask those who run the service, or change the plan.",
    }
    CmsSilent => {
        "services silent",
        "cluster-management services give no answer",
        "A service that the project asks does not answer, or not as the protocol says. Until it does, hosts that need its \
         approval wait. `zonewright cms check NAME` finds out what is wrong.",
    }
    MigratesOften => {
        "migrates often",
        "pods move again sooner than their set says",
        "Pods of the set moved less than `min_interval` ago and move again. A placement is a fact, so nothing is \
         held back; but each move makes a pod unreachable for a while. Look at what moves them.",
    }
    CopiesDiffer => {
        "copies differ",
        "copies of a zone differ, and the plan leaves that",
        "The copy at a target differs from the reference copy in RRsets that the plan does not change, and leaves. \
         SOA, NS of the apex, what a signer makes and the marker do not count. Find out which copy is right, and \
         correct the other by hand.",
    }
    LeftBehind => {
        "left behind",
        "records of zonewright are at names that no host or pod has",
        "zonewright created the records, and no host of hosts.csv and no pod has the name: its host or pod left \
         the inventory, or got another name. The records stay. Of a host: policy `sync` deletes them, unless a \
         current row of names.lock still gives the name to a number: `zonewright release` frees it; policy \
         `repair` deletes them if an operator runs `zonewright release HOST` before the host gets another name. Of \
         a pod: policies `repair` and `sync` delete them, once the export and the file of the set can be read and \
         are believed.",
    }
    EditedSince => {
        "edited since",
        "an RRset was changed after the apply, so its host stays as it is",
        "In a plan of `undo`: an RRset was changed after the apply that is to be undone. It is not as that \
         apply left it, and not as it was before. If a later apply made the edit, undo that apply first. In \
         every other plan: an RRset is not as the latest apply left it, so a person edited it, and its project \
         has `keep_edits`. Either way nothing is changed for the host and for all hosts that share a change \
         with it.",
    }
}
