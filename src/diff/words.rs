//! What blocks a host, in words, and what to do about it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use super::block::SubjectBlock;
use super::context::RuleContext;
use super::own;
use crate::change::{BlockCode, BlockedSubject};
use crate::claim::Subject;
use crate::desired::host::{FaultDetail, MissingNetwork};
use crate::desired::network::Segment;
use crate::desired::records::{LostClaim, StatedFault, StatedSubject};
use crate::diag::Origin;
use crate::dns::{Name, NameError, NameRef, RdataRef, RrKey, Rtype, reverse};
use crate::inventory::addresses::ListedInterface;
use crate::inventory::model::{Host, LockRow, ProjectIndex, Trust};
use crate::inventory::stated::PublishFault;
use crate::inventory::value::Inv;
use crate::live::{NamePlace, ZoneIndex};
use crate::names::holders::{lock_rows_of, name_of};
use crate::names::{HolderRow, NameProspect, NameRefusal};
use crate::registry::Registry;
use crate::target::TargetId;

/// The block of a host by what the inventory says about it, or about hosts that it shares something with.
pub fn inventory_block(context: &RuleContext<'_>, place: usize, code: BlockCode) -> SubjectBlock {
    let detail = context.desired[place].faults.iter().find(|fault| fault.code == code).map(|fault| &fault.detail);
    match detail {
        Some(detail) => fault_block(context, place, code, detail),
        None => shared_block(context, place, code),
    }
}

/// The blocks by all faults of a host's own lines, in the order of codes.
pub fn fault_blocks(context: &RuleContext<'_>, place: usize) -> Vec<SubjectBlock> {
    let faults = context.desired[place].faults.iter();
    faults.map(|fault| fault_block(context, place, fault.code, &fault.detail)).collect()
}

/// The blocks by all that a host shares with others.
pub fn shared_blocks(context: &RuleContext<'_>, place: usize) -> Vec<SubjectBlock> {
    context.collisions.codes(place).map(|code| shared_block(context, place, code)).collect()
}

/// Puts a block together.
fn block(code: BlockCode, message: String, hint: impl Into<String>) -> SubjectBlock {
    SubjectBlock { code, message, hint: hint.into() }
}

/// A place as `file:line`.
fn at(context: &RuleContext<'_>, origin: Origin) -> String {
    context.inventory.files.place(origin).to_string()
}

/// The block by a fault of the host's own lines.
fn fault_block(context: &RuleContext<'_>, place: usize, code: BlockCode, detail: &FaultDetail) -> SubjectBlock {
    let host = &context.inventory.hosts[place];
    let project = context.project_id(host.project);
    match detail {
        FaultDetail::Line(origin) => {
            let line = at(context, *origin);
            block(code, format!("{line} is bad"), "correct the line; `zonewright check` shows what is wrong with it")
        }
        FaultDetail::NoAddress => no_address(context, host, code),
        FaultDetail::OutsideNetworks(address, origin) => {
            let listed = context.settings(host.project).and_then(|settings| settings.listed());
            let setting = listed.and_then(|listed| listed.networks.first()).map(|(_, origin)| at(context, *origin));
            let message = format!("{}: `{address}` is in none of the `networks` of `{project}`", at(context, *origin));
            let hint = format!("correct the address, or add its network ({})", setting.unwrap_or_default());
            block(code, message, hint)
        }
        FaultDetail::NoProjectFile => {
            let hint = format!("add a project file with `id: {project}`, or correct the one that cannot be read");
            block(code, format!("no readable project file has the id `{project}`"), hint)
        }
        FaultDetail::NoVlans(origin) => {
            let message = format!("{} says that the project `{project}` has no hosts", at(context, *origin));
            block(code, message, "write `vlan_scheme: static` and the VLAN of its hosts there")
        }
        FaultDetail::Source(reason) => {
            let is_distrusted = |trust: &Trust| matches!(trust, Trust::Distrusted { reason: doubt } if doubt == reason);
            let hint = if context.inventory.sources().any(|(_, trust)| is_distrusted(trust)) {
                "renew the export; the finding about it lists other ways"
            } else {
                "restore the source; until then nothing is derived from it"
            };
            block(code, reason.clone(), hint)
        }
        FaultDetail::Name(None) => block(code, nameless(context, host), name_hint(context, host.inv)),
        FaultDetail::Name(Some(name)) => {
            let domain = context.admin(host.project).map(|admin| admin.dns_domain.to_string()).unwrap_or_default();
            let message = format!("`{name}` is not directly below `{domain}` or another domain of `{project}`");
            block(code, message, foreign_hint(context, host))
        }
        FaultDetail::FastboneName(error) => {
            block(code, format!("its fastbone name would have {error}"), "shorten `fastbone_name` or the host's name")
        }
        FaultDetail::NoReport(0) => block(
            code,
            "no source reports a MAC for it".into(),
            "check that its agent runs, or add its MAC to a source",
        ),
        FaultDetail::NoReport(reports) => {
            let message = match reports {
                1 => "its one report does not count: too old, withdrawn, or bad".to_owned(),
                _ => format!("none of its {reports} reports counts: too old, withdrawn, or bad"),
            };
            block(code, message, "check that its agent runs and reports a MAC that is in use")
        }
        FaultDetail::Vlan(missing) => no_network(context, host, *missing, code),
        FaultDetail::Ipv4(addresses) => no_ipv4_network(context, host, addresses, code),
    }
}

/// The block of a host with A records of which ipv4-map has no network.
fn no_ipv4_network(context: &RuleContext<'_>, host: &Host, addresses: &[Ipv4Addr], code: BlockCode) -> SubjectBlock {
    let location = context.inventory.symbols.text(host.location);
    let list: Vec<String> = addresses.iter().map(|address| format!("`{address}`")).collect();
    let vlan = context.settings(host.project).and_then(|settings| settings.vlans.main()).map(|vlan| vlan.to_string());
    let vlan = vlan.unwrap_or_default();
    let message = format!("ipv4-map has no network for {} in `{location}`, VLAN {vlan}", list.join(", "));
    block(code, message, format!("add `IPV4-NETWORK {location} {vlan} IPV6-NETWORK` to ipv4-map"))
}

/// The block of a host for which the inventory lists no address.
fn no_address(context: &RuleContext<'_>, host: &Host, code: BlockCode) -> SubjectBlock {
    let inventory = context.inventory;
    if !inventory.exports.iter().any(|export| export.spec.key == "addresses") {
        let message = "zonewright.toml has no source `addresses`, which would list its addresses".to_owned();
        return block(code, message, "add `addresses = \"FILE\"` to [sources]");
    }
    let listed = context.settings(host.project).and_then(|settings| settings.listed());
    let names = listed.into_iter().flat_map(|listed| std::iter::once(&listed.backbone).chain(&listed.fastbone));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let others = inventory.addresses_of(host.inv).iter().filter_map(|row| match row.interface {
        ListedInterface::Named(name) => Some(inventory.symbols.text(name)),
        ListedInterface::Primary | ListedInterface::Unreadable => None,
    });
    let others: BTreeSet<String> = others.map(|name| format!("`{name}`")).collect();
    let others: Vec<String> = others.into_iter().collect();
    let (seen, hint) = if others.is_empty() {
        (String::new(), "add its addresses to the source")
    } else {
        let has = format!("; it has addresses of {}", others.join(", "));
        (has, "add its addresses to the source, or correct `interfaces` in the project's file")
    };
    block(code, format!("the source `addresses` lists none for {}{seen}", names.join(" or ")), hint)
}

/// The message that a host has no name, with its last one.
fn nameless(context: &RuleContext<'_>, host: &Host) -> String {
    let rows = &context.inventory.lock[lock_rows_of(context.inventory, host.inv)];
    let former = rows.iter().filter_map(|row| Some((row.released?, row.name.as_ref()?)));
    match former.max() {
        Some((released, name)) => format!("its name `{name}` was released at {released}, and it has no other"),
        None if host.name.is_some() => "names.lock says that it has no name; hosts.csv does not count".to_owned(),
        None => "it has no name".to_owned(),
    }
}

/// How a host gets a name.
pub fn name_hint(context: &RuleContext<'_>, inv: Inv) -> String {
    match context.foreseen.of(inv) {
        NameProspect::Gets(name) => format!("`zonewright allocate --write` gives it `{name}`"),
        NameProspect::Refused(NameRefusal { message, hint, .. }) => {
            format!("`zonewright allocate` cannot give it a name: {message}; {hint}")
        }
        NameProspect::Unread(zone) => format!("`zonewright allocate --write` gives it one, once `{zone}` can be read"),
        NameProspect::ByName(zone) => {
            format!("`zonewright allocate --write` gives it one, after asking `{zone}` which names are free")
        }
        NameProspect::Doubted => {
            "`zonewright allocate --write` gives it one, once hosts.csv and names.lock are believed".to_owned()
        }
        NameProspect::Unknown => "`zonewright allocate --write` gives it one".to_owned(),
    }
}

/// What to do about a host whose name is in no domain of its project.
fn foreign_hint(context: &RuleContext<'_>, host: &Host) -> String {
    let (project, inv) = (context.project_id(host.project), host.inv);
    let has_domain = |row: &LockRow, name: &Name| {
        let admin = context.admin(row.project);
        admin.is_none_or(|admin| admin.has_name(name.as_name()))
    };
    // The row of names.lock keeps the project that the host was in, so that a release leaves no records.
    let moved = name_of(context.inventory, host).and_then(|(name, row)| Some((name, row?)));
    match moved.filter(|(name, row)| row.project != host.project && has_domain(row, name)) {
        // It is not known which of the two files is out of date.
        Some((_, row)) => format!(
            "names.lock has it in `{}`: write that into hosts.csv; or rename it with `zonewright release --host {inv} \
             --to-project {project} --write`; or add its domain to `also_domains` of [project.{project}]",
            context.project_id(row.project)
        ),
        None => format!("rename the host, or add its domain to `also_domains` of [project.{project}]"),
    }
}

/// The block of a host whose VLAN has no network.
fn no_network(
    context: &RuleContext<'_>,
    host: &Host,
    MissingNetwork { vlan, switch, segment }: MissingNetwork,
    code: BlockCode,
) -> SubjectBlock {
    let symbols = &context.inventory.symbols;
    let location = symbols.text(host.location);
    let is_former = switch.is_some_and(|switch| context.inventory.tors.former.contains(&switch));
    let switch = switch.map(|switch| symbols.text(switch));
    match (segment, switch) {
        (Segment::L3, Some(switch)) if is_former => {
            let message = format!(
                "switch `{switch}` is no longer in l3-tors, but was in the accepted export. It stays in its L3 \
                 segment, and VLAN {vlan} has no network there"
            );
            let hint = "restore its rows in l3-tors; or, if it left its L3 segment, `zonewright accept l3_tors \
                        --reason TEXT`";
            block(code, message, hint)
        }
        (Segment::L3, Some(switch)) => {
            let message = format!("switch `{switch}` has no network for VLAN {vlan}");
            block(code, message, format!("add `{switch} {vlan} NETWORK` to l3-tors, or correct the VLAN"))
        }
        (_, switch) => {
            let behind = switch.map(|switch| format!(" (switch `{switch}` is not in l3-tors)")).unwrap_or_default();
            let message = format!("datacenter `{location}` has no /64 for VLAN {vlan}{behind}");
            block(code, message, "add the network to net-layout, add the switch to l3-tors, or correct the VLAN")
        }
    }
}

/// The block of a host that shares a name, MAC or address.
fn shared_block(context: &RuleContext<'_>, place: usize, code: BlockCode) -> SubjectBlock {
    let number = place as u32;
    let inventory = context.inventory;
    let own = &inventory.hosts[place];
    let whose = |other: u32| match &inventory.hosts[other as usize] {
        other if other.inv == own.inv => "another of its own interfaces".to_owned(),
        other => format!("host {} ({})", other.inv, at(context, other.origin)),
    };
    match code {
        BlockCode::DuplicateName => {
            let (name, other) = &context.collisions.names[&number];
            let whose = match *other {
                HolderRow::Host(other) => whose(other),
                HolderRow::Lock(row) => {
                    let row = &inventory.lock[row as usize];
                    format!("host {} ({})", row.inv, at(context, row.origin))
                }
            };
            block(code, format!("`{name}` is also the name of {whose}"), "rename one of them; both wait until then")
        }
        BlockCode::DuplicateMac => {
            let (mac, other) = context.collisions.macs[&number];
            let message = format!("`{mac}` is also the MAC of {}", whose(other));
            block(
                code,
                message,
                "find out which host really has it; a report with `\"active\":false` withdraws the other",
            )
        }
        _ => {
            let (address, other) = context.collisions.addresses[&number];
            let message = format!("`{address}` is also an address of {}", whose(other));
            let is_listed = context.inventory.lists_addresses(own.project);
            let hint = if is_listed {
                "correct the source `addresses`; both wait until then"
            } else {
                "give one of them another MAC, network or A record; both wait until then"
            };
            block(code, message, hint)
        }
    }
}

/// A name for people: a reverse name is shown as its address.
pub fn readable(name: NameRef<'_>) -> String {
    match reverse::address_of(name) {
        Some(address) => format!("the reverse name of `{address}`"),
        None => format!("`{name}`"),
    }
}

/// Whether a name was queried, and the answer may be the data of a wildcard.
fn is_doubtful(context: &RuleContext<'_>, zone: ZoneIndex, name: NameRef<'_>) -> bool {
    context.live.zone(zone).knowledge().is_some_and(|knowledge| knowledge.is_doubtful(name))
}

/// The block of a host one of whose names cannot be written.
pub fn place_block(context: &RuleContext<'_>, code: BlockCode, name: &Name, place: &NamePlace) -> SubjectBlock {
    let shown = readable(name.as_name());
    let zone = |zone: &crate::live::ZoneIndex| context.zone_spec(*zone).name.to_string();
    match place {
        NamePlace::Unknown(unknown) if is_doubtful(context, *unknown, name.as_name()) => {
            let message = format!("the answer for {shown} may come from a wildcard of `{}`", zone(unknown));
            let hint = "let the server allow transfers and remove `read = \"query\"`, or remove the wildcard";
            block(code, message, hint)
        }
        NamePlace::Unknown(unknown) if context.live.zone(*unknown).knowledge().is_some() => {
            let message = format!("{shown} was not queried when `{}` was read", zone(unknown));
            block(code, message, "plan from the servers, or take a new snapshot with the current inventory")
        }
        NamePlace::Unknown(unknown) if code == BlockCode::ZoneMissing => {
            let message = format!("`{}` does not exist, and its target cannot make it", zone(unknown));
            block(code, message, "give the target a `create_command`, or make the zone by hand; see the zone's notice")
        }
        NamePlace::Unknown(unknown) => {
            // The name is not in the message: all hosts of the zone have one cause, and one message.
            let message = format!("`{}` could not be read completely", zone(unknown));
            block(code, message, "see the zone's error; nothing in it is changed until it can be read")
        }
        NamePlace::Delegated(_, cut) => {
            let message = format!("{shown} is below the delegation `{cut}`");
            block(code, message, "add the delegated zone to zonewright.toml, or remove the NS")
        }
        NamePlace::BelowDname(_, dname) => {
            block(code, format!("{shown} is below the DNAME at `{dname}`"), "remove the DNAME, or rename the host")
        }
        NamePlace::Cname(_) => {
            let message = format!("there is a CNAME at {shown}");
            block(code, message, "remove the CNAME, or give the host another name")
        }
        NamePlace::Opaque(zone) => {
            let site = context.live.zone(*zone).opaque_at(name.as_name()).expect("its place is opaque");
            let message = format!("{shown} has {site}, which zonewright never touches");
            block(code, message, "remove it at the target, or use another name")
        }
        NamePlace::NoZone if let Some(closed) = context.live.zone_of(name.as_name()) => {
            let message = format!("{shown} is in `{}`, in which nothing may be asked for", zone(&closed));
            block(code, message, "remove `state = \"absent\"` from its `[[zone]]`, or give the host another name")
        }
        NamePlace::NoZone | NamePlace::Open(_) => match context.record() {
            Some(record) => {
                let message = format!("no zone of the record `{}` holds {shown}", record.name);
                block(code, message, "add a zone for it to the record, or publish the name by another record")
            }
            None => {
                block(code, format!("no configured zone holds {shown}"), "add a [[zone]] for it to zonewright.toml")
            }
        },
    }
}

/// The block of a host whose RRset holds a wrong record and is not ours.
pub fn not_owner(
    context: &RuleContext<'_>,
    (zone, owner): (ZoneIndex, NameRef<'_>),
    wrong: RdataRef<'_>,
) -> SubjectBlock {
    let (shown, us) = (readable(owner), &context.marking(zone).owner);
    let message =
        format!("{shown} {} holds `{wrong}`, which is wrong, and `{us}` did not create the RRset", wrong.rtype);
    let unread = match context.marking(zone).registry {
        Registry::Txt | Registry::Owner => own::unreadable_text(context, zone, owner, wrong.rtype),
        Registry::Journal | Registry::Noop | Registry::Metadata | Registry::Description => None,
    };
    if let Some(at) = unread {
        let message = format!(
            "{shown} {} holds `{wrong}`, which is wrong, and the TXT at `{at}` does not say whose it is: it may be encrypted",
            wrong.rtype
        );
        let hint = "set `txt_encrypt_aes_key` to the key of external-dns, or correct it";
        return block(BlockCode::NotOwner, message, hint);
    }
    block(
        BlockCode::NotOwner,
        message,
        correct_foreign(context, own::named_owner(context, zone, owner, wrong.rtype).as_deref()),
    )
}

/// What to do with a wrong RRset that is not ours; `by` is from whom it can be taken over.
fn correct_foreign(context: &RuleContext<'_>, by: Option<&str>) -> String {
    // A record has no other permission than its own RRsets.
    let ask = match context.record() {
        Some(_) => "correct it by hand",
        None => "correct it by hand, or set `permission = \"full\"` for its zone",
    };
    match by {
        None => ask.to_owned(),
        Some(by) => {
            format!("it is registered to `{by}`: take it over with `zonewright adopt --from-owner {by}`, or {ask}")
        }
    }
}

/// The block of a host whose RRset is registered to another owner, by the TXT at `registry`.
pub fn registered(
    context: &RuleContext<'_>,
    (zone, owner, rtype): (ZoneIndex, NameRef<'_>, Rtype),
    by: &str,
    registry: &Name,
) -> SubjectBlock {
    let (shown, us) = (readable(owner), &context.marking(zone).owner);
    let message = match by {
        "" => format!("{shown} {rtype} is registered without an owner, by the TXT at `{registry}`"),
        by => format!("{shown} {rtype} is registered to `{by}`, not to `{us}`, by the TXT at `{registry}`"),
    };
    let is_there = context.live.stated_rrset(owner, rtype).is_some();
    let is_marked = context.marking(zone).registry.mark_place().is_some();
    let ask = "ask its owner to remove the record and that TXT";
    let hint = match by {
        // What is not there has no mark that could be another.
        _ if is_marked && !is_there => "ask its owner to remove that TXT, or remove it by hand".to_owned(),
        "" => ask.to_owned(),
        by => format!("{ask}, or take it over: `zonewright adopt --from-owner {by}`"),
    };
    block(BlockCode::NotOwner, message, hint)
}

/// The block of a host whose rules would remove a protected host's record.
pub fn conflict(context: &RuleContext<'_>, owner: NameRef<'_>, rdata: RdataRef<'_>, protector: &Host) -> SubjectBlock {
    let (shown, rtype) = (readable(owner), rdata.rtype);
    let message = format!(
        "{shown} {rtype} `{rdata}` would be removed, but it is a record of host {}, whose records are not changed",
        protector.inv
    );
    let place = at(context, protector.origin);
    let hint = format!("fix host {} first ({place}), or remove the record by hand", protector.inv);
    block(BlockCode::Conflict, message, hint)
}

/// The block of a host whose RRset cannot be registered because the TXT's name would not be valid.
pub fn registry_too_long(owner: NameRef<'_>, rtype: Rtype, error: &NameError) -> SubjectBlock {
    let message = format!("the registry TXT of {} {rtype} would have {error}", readable(owner));
    block(BlockCode::PostState, message, "shorten the host's name")
}

/// The block of a host whose RRset cannot be registered because there is a CNAME at the TXT's name.
pub fn registry_at_cname(owner: NameRef<'_>, rtype: Rtype, name: &Name) -> SubjectBlock {
    let message =
        format!("there is a CNAME at `{name}`, where the registry TXT of {} {rtype} belongs", readable(owner));
    block(BlockCode::PostState, message, "remove the CNAME")
}

/// The block of a host whose RRset can be neither registered nor removed, because it is not known what its TXT's name
/// holds.
pub fn registry_unknown(context: &RuleContext<'_>, zone: ZoneIndex, name: &Name) -> SubjectBlock {
    place_block(context, BlockCode::ZoneUnknown, name, &NamePlace::Unknown(zone))
}

/// The notice about an address of a host at a name that no host has.
pub fn foreign_name(subject: &Subject, rdata: RdataRef<'_>, name: NameRef<'_>) -> String {
    let whose = subject.host().map_or_else(|| subject.to_string(), |inv| format!("host {inv}"));
    format!("`{name}` holds `{rdata}`, an address of {whose}, and is not changed")
}

/// The block of a host at whose name copies hold different A records.
pub fn copies_disagree(name: NameRef<'_>, target: &TargetId) -> SubjectBlock {
    SubjectBlock {
        code: BlockCode::CopiesDisagree,
        message: format!("the copy at `{target}` holds other A records at {} than the reference copy", readable(name)),
        hint: "make the A records at this name the same at all targets of the pool".to_owned(),
    }
}

/// What is so at one target of a pool.
pub fn at_target(target: &TargetId, message: &str) -> String {
    format!("at `{target}`: {message}")
}

/// Why a subject gets nothing at a target.
pub fn nothing_at_target(target: &TargetId, blocked: &BlockedSubject) -> String {
    format!("no change at `{target}`: {}", blocked.message)
}

/// How many RRsets of a zone differ at a target, with the first of them.
pub fn copies_differ(target: &TargetId, count: usize, examples: &[RrKey]) -> String {
    let rrsets = if count == 1 { "1 RRset".to_owned() } else { format!("{count} RRsets") };
    let named: Vec<String> = examples.iter().map(|RrKey { owner, rtype }| format!("{rtype} of `{owner}`")).collect();
    let more = if count > examples.len() { ", …" } else { "" };
    format!(
        "the copy at `{target}` differs from the reference copy in {rrsets} that the plan leaves: {}{more}",
        named.join(", ")
    )
}

/// The block of a subject one of whose entries is wrong.
fn bad_entry(context: &RuleContext<'_>, origin: Origin, message: &str) -> SubjectBlock {
    // `check` asks no account for its zones.
    let unlisted =
        context.record().and_then(|record| context.inventory.config.update_records.unlisted_zones(&record.name));
    let hint = unlisted.and_then(|problem| problem.hint.as_deref());
    let hint = hint.unwrap_or("correct the entry; `zonewright check` shows it");
    block(BlockCode::BadInput, format!("{}: {message}", at(context, origin)), hint)
}

/// The block of a subject one of whose entries cannot be used.
pub fn stated_fault(context: &RuleContext<'_>, fault: &StatedFault) -> SubjectBlock {
    let kind = match fault.code {
        BlockCode::UnknownRecord => PublishFault::UnknownRecord,
        BlockCode::ScopeConflict => PublishFault::ScopeConflict,
        BlockCode::NoAddress => PublishFault::NoAddress,
        BlockCode::ClaimConflict => PublishFault::SameName,
        _ => return bad_entry(context, fault.origin, &fault.message),
    };
    block(fault.code, format!("{}: {}", at(context, fault.origin), fault.message), kind.hint())
}

/// The block of a subject whose project has no usable file.
pub fn bad_project(context: &RuleContext<'_>, project: ProjectIndex) -> SubjectBlock {
    let message = format!("the file of project `{}` is missing or bad", context.project_id(project));
    block(BlockCode::BadInput, message, "correct the project file; `zonewright check` shows what is wrong")
}

/// The block of a subject whose source is not believed.
pub fn untrusted_records(reason: &str) -> SubjectBlock {
    let hint = "correct the source; or, if it is right, `zonewright accept SOURCE --reason TEXT`";
    block(BlockCode::SourceUntrusted, reason.to_owned(), hint)
}

/// The block of a subject whose name is in none of its project's domains.
pub fn foreign_record(context: &RuleContext<'_>, subject: &StatedSubject, name: NameRef<'_>) -> SubjectBlock {
    let project = context.project_id(subject.project);
    let place = at(context, subject.origin);
    let message = format!("`{}` ({place}) is at or below no domain of project `{project}`", name);
    block(BlockCode::ForeignDomain, message, "add the domain to `also_domains` of the project, or correct the name")
}

/// The block of a subject whose name is in a zone of another pool than its source's.
pub fn other_pool(context: &RuleContext<'_>, name: &Name, zone: ZoneIndex, pool: &str) -> SubjectBlock {
    let (zone, own) = (&context.zone_spec(zone).name, context.pool_of(zone));
    let message = format!("`{name}` is in `{zone}` of pool `{own}`, and its source is for pool `{pool}`");
    block(BlockCode::NoZone, message, "correct `pool` of the source, or let a source without `pool` state the name")
}

/// The block of a subject that demands what no target can hold.
pub fn unsupported(context: &RuleContext<'_>, origin: Origin, message: &str) -> SubjectBlock {
    let message = format!("{}: {message}", at(context, origin));
    block(BlockCode::TargetLimit, message, "write plain records, or keep this entry with the tool that understands it")
}

/// The block of a subject that states a record which a target of its pool does not take; `why` goes on after the target's name.
pub fn record_refused(context: &RuleContext<'_>, origin: Option<Origin>, target: &TargetId, why: &str) -> SubjectBlock {
    let place = origin.map(|origin| format!("{}: ", at(context, origin))).unwrap_or_default();
    let message = format!("{place}the target `{target}` {why}");
    let hint = "change what asks for it, or give the zone to a pool whose targets take it";
    block(BlockCode::TargetLimit, message, hint)
}

/// The block of a subject whose name is protected.
pub fn protected_record(name: &Name, reason: &str) -> SubjectBlock {
    let hint = "remove it from `protect`, or remove the entry";
    block(BlockCode::Protected, format!("`{name}` is protected: {reason}"), hint)
}

/// The block of a subject at whose name an RRset of another type cannot be next to its own.
pub fn no_room(
    context: &RuleContext<'_>,
    (zone, owner): (ZoneIndex, NameRef<'_>),
    (live, wanted): (Rtype, Rtype),
    is_own: bool,
) -> SubjectBlock {
    let (shown, us) = (readable(owner), &context.marking(zone).owner);
    let code = if live == Rtype::CNAME { BlockCode::Cname } else { BlockCode::NotOwner };
    let why = if is_own {
        "and the project's policy deletes nothing".to_owned()
    } else {
        format!("and `{us}` did not create it")
    };
    let message = format!("{shown} has {live}, which cannot be next to {wanted}, {why}");
    let hint = if is_own { "let the policy be `repair`, or remove it by hand" } else { "remove it by hand" };
    block(code, message, hint)
}

/// The block of a subject whose RRset is not ours and lacks a value.
pub fn lacks_value(
    context: &RuleContext<'_>,
    (zone, owner): (ZoneIndex, NameRef<'_>),
    missing: RdataRef<'_>,
) -> SubjectBlock {
    let (shown, us) = (readable(owner), &context.marking(zone).owner);
    let message = format!("{shown} {} lacks `{missing}`, and `{us}` did not create the RRset", missing.rtype);
    block(
        BlockCode::NotOwner,
        message,
        correct_foreign(context, own::named_owner(context, zone, owner, missing.rtype).as_deref()),
    )
}

/// That a host's address, or a PTR to its name, stays where a file states it.
pub fn address_shared(subject: &Subject, rdata: RdataRef<'_>, name: NameRef<'_>) -> String {
    let whose = subject.host().map_or_else(|| subject.to_string(), |inv| format!("host {inv}"));
    format!("{} holds `{rdata}` of {whose}, because a file states it there", readable(name))
}

/// That a part of an entry has no effect.
pub fn without_effect(context: &RuleContext<'_>, origin: Origin, what: &str) -> String {
    format!("{}: `{what}` has no effect", at(context, origin))
}

/// That an entry loses to another.
pub fn entry_lost(context: &RuleContext<'_>, owner: &Name, lost: &LostClaim) -> String {
    let (by, place) = lost.winner;
    let why = match (lost.rtype, by) {
        (Rtype::CNAME, by) if by != Rtype::CNAME => "no CNAME counts next to other types",
        _ => "the same manifest as before counts, else the entry with fewer targets, or with the lower first target",
    };
    let (own, other) = (at(context, lost.origin), at(context, place));
    format!("{own}: {} of `{owner}` counts for nothing, because of {by} at {other}: {why}", lost.rtype)
}

/// The block of a subject that delegates to a name server of which no address is known.
pub fn missing_glue(owner: &Name, server: &Name) -> SubjectBlock {
    let message = format!("NS of `{owner}` names `{server}`, which is below the delegation and has no address");
    block(BlockCode::PostState, message, "state an A or AAAA at the name of the name server, too")
}

/// That a MX or SRV names a CNAME.
pub fn named_alias(context: &RuleContext<'_>, origin: Origin, rtype: Rtype, name: &Name) -> String {
    format!("{}: {rtype} names `{name}`, where a CNAME is; it must name one with addresses", at(context, origin))
}

/// The block of a subject with NS or DS of an apex.
pub fn of_apex(name: &Name) -> SubjectBlock {
    let message = format!("`{name}` is the apex of its zone: its NS are the server's, and DS are in the zone above");
    block(BlockCode::Protected, message, "leave NS and DS of an apex out of the files")
}

/// The block of a subject with NS at a wildcard (RFC 4592 section 4.2).
pub fn wildcard_delegation(name: &Name) -> SubjectBlock {
    let message = format!("`{name}` is a wildcard, and servers take no NS there");
    block(BlockCode::PostState, message, "delegate a name")
}

/// The block of a subject with DS where no delegation is (RFC 4035 section 2.4).
pub fn ds_without_ns(name: &Name) -> SubjectBlock {
    block(
        BlockCode::PostState,
        format!("DS of `{name}` have no NS next to them"),
        "state the NS of the delegation, too",
    )
}

/// The block of a subject whose NS or DNAME would hide what is live.
pub fn would_hide(name: &Name, rtype: Rtype, hidden: NameRef<'_>, of: Rtype) -> SubjectBlock {
    let message = format!("{rtype} of `{name}` would hide {of} of `{hidden}`, which is live");
    let hint = match rtype {
        Rtype::NS => "remove that first; or, if it is an address of a name server, name it in the NS",
        _ => "remove that first",
    };
    block(BlockCode::PostState, message, hint)
}

/// The block of a subject with a TXT where the registry has its own.
pub fn registry_text(name: &Name) -> SubjectBlock {
    let message = format!("the TXT at `{name}` is one by which the registry records an owner");
    block(BlockCode::ClaimConflict, message, "give the record another name")
}
