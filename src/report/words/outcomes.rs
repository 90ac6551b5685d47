//! How an apply ended for a subject, and for what it waits.

use super::{CodeWords, ExplainedCode};
use crate::apply::OutcomeCode;
use crate::plan::WaitCode;

words_of_codes! {
    OutcomeCode,
    Applied => {
        "applied",
        "all their changes were made, and were read back",
        "The plan's changes for the host were made, and the primary answers every one of its RRsets as the \
         plan says. There is nothing left to do.",
    }
    AlreadyApplied => {
        "already applied",
        "all was as the plan says before anything was sent",
        "Every RRset of the host was as the plan says before the first message, so nothing was sent for it: \
         another editor made the changes, or this plan was applied before.",
    }
    Stale => {
        "stale",
        "another editor changed their records after the plan: plan again",
        "An RRset of the host was not as the plan saw it before anything was sent, or a prerequisite did not \
         hold when the update was sent: another editor changed it since. Nothing was changed for the host. \
         Plan again; the new plan starts from what is there now.",
    }
    NoLongerAllowed => {
        "no longer allowed",
        "the settings changed after the plan, and forbid it now: see below",
        "Between the plan and the apply an administrator forbade a change of the host: `automation`, `protect` \
         or `permission` in zonewright.toml, or the project's file is gone or has an error. Nothing was \
         changed for the host and for all hosts that share a change with it. Plan again: the new plan obeys \
         the settings of today. If the setting is wrong, correct it first.",
    }
    Partial => {
        "partial",
        "some of their changes were made, others were not: see below",
        "Some of the host's changes were made, then one could not be made. The records are still valid, \
         because of the order of the phases: no PTR points to a missing name. Remove the cause that the \
         message names. Then let `zonewright resume` make the other changes, or plan again.",
    }
    NotApplied => {
        "not applied",
        "the server accepted a change, but does not have it: see below",
        "The server answered that it had made the host's changes, but the records that zonewright read back \
         are different. Servers ignore some changes without an error, such as an address where there is a \
         CNAME. The message names the rule that is the likely cause. Remove the cause and plan again.",
    }
    Raced => {
        "raced",
        "made, but something else wrote at the same time: see below",
        "The host's changes were made at a target that compares nothing before it writes, and something else \
         wrote to the zone at the same time. What that wrote at these names may be lost. Find what else writes \
         there, and stop it. Then plan again: the new plan starts from what is there now.",
    }
    Failed => {
        "failed",
        "their changes were not made, or it is not known: see below",
        "The message names the case: the host's changes could not be sent; the server refused them; it is not \
         known whether they were made; or they were made and could not be read back. Remove the cause, and let \
         `zonewright resume` go on; or plan again. No change is made twice.",
    }
    NotReached => {
        "not reached",
        "the apply stopped before it reached them",
        "The apply gave up, or gave up the host's zone, before it reached the host: because of \
         `--max-failures`, a server that refused one host after another, a lost answer, or another run that \
         writes the zone. `zonewright resume` goes on; or plan again.",
    }
    Waiting => {
        "waiting",
        "it is not their turn yet: see below",
        "The change would take a live address, and the project's `rollout` lets only some of its hosts be \
         unreachable at once; or a cluster-management service has not let the host through yet. Nothing was changed for \
         the host. `zonewright resume`, or another apply of the plan, sends the next wave as soon as it can go; \
         `--wait` does so by itself.",
    }
    Rejected => {
        "rejected",
        "a cluster-management service rejected them: see below",
        "A service that the project asks said `rejected`. Nothing was changed for the host, and its tasks are deleted \
         at all services. It is asked for again after an hour; at once where the plan has another change of it, or \
         where a person names the host.",
    }
}

words_of_codes! {
    WaitCode,
    Budget => {
        "budget",
        "as many of their group may be unreachable as its budget allows",
        "As many hosts of the project as `max_unavailable` allows, or pods of the set as `unavailability_budget` \
         allows, may be unreachable by name, because their addresses have just changed. What waits goes once some \
         of them have settled.",
    }
    Location => {
        "location",
        "others of their group at another location may be unreachable",
        "Hosts of the project, or pods of the set, at another location may be unreachable by name, and only one \
         location may be touched at a time. What waits goes once all of them have settled.",
    }
    Canary => {
        "canary",
        "the first wave of the batch has not settled",
        "The first wave of a batch goes alone, with as many hosts or pods as `canary` says. The others go once it has \
         settled.",
    }
    Gate => {
        "gate",
        "the gate of their group did not pass",
        "The gate of the project or set says that a further wave must not go now: its service may not be well. What \
         waits goes once the gate passes. Repairs and undos do not wait for it, and `--ignore-gate` goes on without it.",
    }
    Overlap => {
        "overlap",
        "their old and their new addresses are there together",
        "With `overlap` the new addresses come first, and the old ones go later: after `overlap`, after caches have \
         the new ones, and if the gate passes. A repair takes the old ones at once.",
    }
    Approval => {
        "approval",
        "their cluster-management services have not let them through",
        "Each service that the project asks must say `ok` before a host is changed. The message says which one is \
         waited for, since when, and what it said. Each run asks again. `--ignore-cms` with `--reason` goes on \
         without them, for hosts that are named.",
    }
    Replaces => {
        "replaced",
        "the pod that replaces them is not there yet",
        "Another pod replaces this one, and is not `active` yet, or its names and the SRV of the set have not \
         settled. Then the records of the old pod go.",
    }
    Availability => {
        "availability",
        "their set does not meet what its project demands",
        "The project file has `availability: require`, and the set has too few pods, too small a budget, or too \
         many pods on one server or rack. Repairs do not wait.",
    }
    DoesNotFit => {
        "does not fit",
        "they fit no wave, however long they wait",
        "Hosts or pods share a change, and are more than the budget allows at once, or are at several locations. They \
         go when they are named: the message has the command.",
    }
}
