//! What the rules mean by which records are changed.

use super::{CodeWords, ExplainedCode};
use crate::plan::Rule;

words_of_codes! {
    Rule,
    Missing => {
        "missing address",
        "none of the host's addresses is here",
        "No AAAA record at the interface's name holds an address that the interface may have, so the preferred \
         one is added: the one in the first network of its switch, or of its datacenter and VLAN. Where live \
         DNS has any acceptable address at the name, that one stays and nothing is added.",
    }
    WrongAddress => {
        "wrong address",
        "not one of the host's",
        "An AAAA record at the interface's name holds an address that the interface cannot have: its networks, \
         its MAC and the project's id do not give it. It is removed. An old MAC, an old switch or a changed \
         project id usually left it behind.",
    }
    AddressElsewhere => {
        "address elsewhere",
        "the name is not the host's",
        "An address of the interface is at a name that is not the interface's. It is removed if a host has or \
         had that name, if zonewright created the record, or if the zone has `claim_addresses = \"all\"`. \
         Otherwise it stays, and the notice `foreign-name` reports it.",
    }
    MissingPtr => {
        "missing PTR",
        "the address does not name its host",
        "An address that the interface keeps or gets has no PTR record that names the interface, so one is \
         added. IPv4 addresses get theirs too, where their reverse zone is configured.",
    }
    WrongPtr => {
        "wrong PTR",
        "not what the address should name",
        "A PTR record at one of the interface's addresses names something else than the interface. Or it names \
         the interface at an address that the interface may have, but does not keep or get. It is removed.",
    }
    PtrElsewhere => {
        "PTR elsewhere",
        "the address is not the host's",
        "A PTR record names the interface at an address that the interface cannot have. It is removed.",
    }
    Ttl => {
        "other TTL",
        "not the desired one",
        "The TTL of an RRset of the interface is not the desired one: the project's `ttl`, else the zone's, \
         else 3600 seconds. RRsets that only lose a record keep their TTL.",
    }
    Stated => {
        "stated",
        "a file states the record",
        "A manifest or a zone file of `[[sources.records]]` states the value, and live DNS does not hold it, so it \
         is added. The evidence is the entry.",
    }
    NotStated => {
        "not stated",
        "no file states the record",
        "A manifest or a zone file states what the RRset holds, and this value is not in it: or the file no longer \
         states the RRset, which zonewright created. It is removed.",
    }
    MakesRoom => {
        "makes room",
        "it cannot be next to what a file states",
        "A CNAME is alone at its name. A file states a CNAME where zonewright created other records, or other \
         records where it created a CNAME. What is there goes in the same update in which the new records come.",
    }
    Released => {
        "released name",
        "the host gave it up",
        "names.lock says that the host gave the name up within `name_cooldown`, and no host has it now. The \
         addresses at the name and at its fastbone name, and the PTR records that name them, are removed.",
    }
    NoPod => {
        "no pod",
        "no pod or endpoint has the name any longer",
        "The name is one of a set of pods: that of an earlier placement of a pod, or one that a template of the set \
         can give and that no pod of the export has. The constant name no longer leads there, and no SRV lists \
         it; or it is that of an SRV which no endpoint of a set has. Policies `repair` and `sync` delete it.",
    }
    Orphan => {
        "orphan",
        "no host and no file has the name",
        "zonewright created the record in the domain of a project with `policy: sync`. No host of the \
         inventory and no current row of names.lock has its name. The record is removed.",
    }
    Registry => {
        "registry",
        "it records who owns an RRset",
        "With `registry = \"txt\"` a TXT record next to each RRset that zonewright creates says so. It is \
         written and removed in the same message as its RRset.",
    }
    Adopted => {
        "adopted",
        "another owner's RRset becomes zonewright's",
        "`zonewright adopt --from-owner` replaces the owner in the TXT of the registry. The RRset itself stays as it \
         is, and is own from then on.",
    }
    Undo => {
        "undo",
        "as it was before the apply",
        "`zonewright undo` puts back what an apply changed: the RRset is as that apply left it, and will be \
         as it was before. The evidence names the apply, and its update in the journal.",
    }
    EditedSince => {
        "edited since",
        "a person, or another program, changed it after our apply",
        "The journal says what the latest update left at the RRset, and live DNS holds something else: other \
         records, another TTL, or nothing. So a person, or another program, edited it since. The other rules \
         say what is wrong with it now. The evidence names the apply, its update in the journal, and when that \
         was sent. With `keep_edits = true` in `[project.ID]` the host is left as it is, with a notice.",
    }
    CopyDiffers => {
        "copy differs",
        "the reference copy already has it",
        "The pool has several targets. The reference copy already has the RRset as it is to be; the copies at the \
         targets that the change names do not. The change brings them in line.",
    }
}
