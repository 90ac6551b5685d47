//! Facts to findings.

use super::{Finding, FindingLevel};
use crate::diag::{Code, Problem};
use crate::dns::ZoneName;
use crate::provider::examine::{
    Capabilities, KeyExamined, KeylessAccess, PlaceExamined, ServerClock, TargetExamined, UpdatesExamined,
    ZoneExamined, ZoneMeasures,
};

/// From how many seconds of difference between two clocks on an operator should look: a tenth of the 300 s that
/// signatures tolerate (RFC 8945 section 10 recommends these).
const SKEW: i64 = 30;

/// Judges a target that was looked at for `zones`.
pub fn judge(zones: &[ZoneName], examined: &TargetExamined) -> Vec<Finding> {
    let mut findings = key(examined);
    findings.extend(zones.iter().filter_map(|zone| serials(zone, examined)));
    findings.extend(updates(examined));
    let usable = examined.key.as_ref().is_none_or(|key| key.fault.is_none());
    for place in &examined.places {
        let about = |finding| Finding { place: Some(place.place.clone()), ..finding };
        findings.extend(reach(place, examined, if usable { zones.len() } else { 0 }).into_iter().map(about));
        findings.extend(zones_of(place, examined.transfers).into_iter().map(about));
    }
    findings
}

/// Judges the zones of a place. A finding that is equal for all of them is reported once.
fn zones_of(place: &PlaceExamined, transfers: bool) -> Vec<Finding> {
    let judged: Vec<Vec<Finding>> = place.zones.iter().map(|found| zone(found, transfers)).collect();
    match judged.split_first() {
        Some((first, others)) if !others.is_empty() && others.iter().all(|other| other == first) => {
            let count = place.zones.len();
            let all = |finding: &Finding| Finding {
                message: format!("each of the {count} zones: {}", finding.message),
                ..finding.clone()
            };
            first.iter().map(all).collect()
        }
        _ => {
            let named = place.zones.iter().zip(judged);
            let each =
                named.flat_map(|(found, judged)| judged.into_iter().map(|finding| (found.zone.clone(), finding)));
            each.map(|(zone, finding)| Finding { zone: Some(zone), ..finding }).collect()
        }
    }
}

/// A finding about the target as a whole.
fn finding(level: FindingLevel, code: impl Into<Code>, message: impl Into<String>) -> Finding {
    Finding { level, code: code.into(), place: None, zone: None, message: message.into(), hint: None }
}

impl Finding {
    /// Says what to do.
    fn hint(self, hint: impl Into<String>) -> Finding {
        Finding { hint: Some(hint.into()), ..self }
    }
}

/// A fault as a finding.
fn of_fault(level: FindingLevel, fault: &Problem) -> Finding {
    Finding { hint: fault.hint.clone(), ..finding(level, fault.code, fault.message.clone()) }
}

/// Judges the key.
fn key(examined: &TargetExamined) -> Vec<Finding> {
    let Some(KeyExamined { name, algorithm, fault }) = &examined.key else {
        let message = "messages are not signed: anyone on the network path can change the answers";
        let unsigned = finding(FindingLevel::Warning, "no-key", message);
        let hint = "give the target a `tsig_key`, and make the server require it";
        return examined.signs.then(|| unsigned.hint(hint)).into_iter().collect();
    };
    let mut findings = match fault {
        Some(fault) => {
            let message = "zonewright did not ask for any zone, because that needs the key";
            vec![of_fault(FindingLevel::Problem, fault), finding(FindingLevel::Note, "not-asked", message)]
        }
        None => {
            vec![finding(FindingLevel::Ok, "key", format!("the secret of the key `{name}` ({algorithm}) can be read"))]
        }
    };
    if algorithm == "hmac-sha1" {
        let message = format!("the key `{name}` uses hmac-sha1; RFC 8945 section 6 no longer recommends it");
        let hint = "make a key with hmac-sha256 on the server; then set the key and its `algorithm` here";
        findings.push(finding(FindingLevel::Warning, "weak-algorithm", message).hint(hint));
    }
    findings
}

/// Reports servers that do not have the same serial of a zone.
fn serials(zone: &ZoneName, examined: &TargetExamined) -> Option<Finding> {
    let of_place = |place: &PlaceExamined| {
        let found = place.zones.iter().find(|found| found.zone == *zone)?;
        Some((place.place.clone(), found.serial?))
    };
    let serials: Vec<(String, u32)> = examined.places.iter().filter_map(of_place).collect();
    if serials.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return None;
    }
    let shown: Vec<String> = serials.iter().map(|(place, serial)| format!("{serial} at {place}")).collect();
    let message = format!("the servers have different serials: {}", shown.join(", "));
    let hint = "a plan reads the zone from the first server that answers; if the serials stay different, check the \
                transfers between the servers, and put the primary first in `server`";
    Some(Finding { zone: Some(zone.clone()), ..finding(FindingLevel::Warning, "serials-differ", message).hint(hint) })
}

/// Reports which zones accept updates. A finding that is equal for all of them is reported once.
fn updates(examined: &TargetExamined) -> Vec<Finding> {
    let Capabilities::Asked { updates: zones, .. } = &examined.capabilities else { return Vec::new() };
    // A zone that cannot be read is reported elsewhere, and cannot be written either.
    let primary = examined.places.first();
    let is_read = |zone: &ZoneName| {
        let found = primary.and_then(|place| place.zones.iter().find(|found| found.zone == *zone));
        found.is_none_or(|found| found.read.is_ok() || !examined.transfers)
    };
    let zones: Vec<&UpdatesExamined> =
        zones.iter().filter(|asked| asked.fault.is_none() || is_read(&asked.zone)).collect();
    // Where it is read from an API, the server that takes updates is another one.
    let is_elsewhere = |asked: &UpdatesExamined| {
        !examined.is_folder && examined.places.iter().all(|own| !asked.place.starts_with(&own.place))
    };
    let judged: Vec<Finding> = zones.iter().map(|asked| update(asked, is_elsewhere(asked))).collect();
    match judged.split_first() {
        Some((first, others)) if !others.is_empty() && others.iter().all(|other| other == first) => {
            vec![Finding { message: format!("each of the {} zones: {}", zones.len(), first.message), ..first.clone() }]
        }
        _ => {
            let named = zones.iter().zip(judged);
            named.map(|(examined, finding)| Finding { zone: Some(examined.zone.clone()), ..finding }).collect()
        }
    }
}

/// Reports whether updates of a zone are accepted. A user who only plans needs none, so a refusal is not a problem.
fn update(examined: &UpdatesExamined, is_elsewhere: bool) -> Finding {
    match &examined.fault {
        None => finding(FindingLevel::Ok, "updates", "takes updates"),
        Some(Problem { code, message, hint, .. }) => {
            let place = if is_elsewhere { format!("{}: ", examined.place) } else { String::new() };
            let found = finding(FindingLevel::Warning, *code, format!("`apply` cannot write it: {place}{message}"));
            Finding { hint: hint.clone(), ..found }
        }
    }
}

/// Judges whether a place can be reached, and its clock; `wanted` is how many zones were to be asked for.
fn reach(place: &PlaceExamined, examined: &TargetExamined, wanted: usize) -> Vec<Finding> {
    if let Some(fault) = &place.fault
        && place.zones.is_empty()
    {
        return vec![of_fault(FindingLevel::Problem, fault)];
    }
    let mut findings = vec![finding(
        FindingLevel::Ok,
        "reachable",
        if examined.is_folder { "the folder is there" } else { "takes connections" },
    )];
    findings.extend(place.fault.as_ref().map(|fault| of_fault(FindingLevel::Problem, fault)));
    findings.extend(clock(place, examined, wanted));
    findings
}

/// Judges a server's clock.
fn clock(place: &PlaceExamined, examined: &TargetExamined, wanted: usize) -> Option<Finding> {
    if !examined.signs || wanted == 0 {
        return None;
    }
    let unknown = |why| Some(finding(FindingLevel::Note, "clock-unknown", format!("its clock is not known: {why}")));
    let ahead = match (place.clock, &examined.key) {
        (ServerClock::Ahead(ahead), _) => ahead,
        (ServerClock::Repeats, _) => {
            return unknown("the server copies the time of the question into its signed answers");
        }
        (ServerClock::NotTold, None) => return unknown("only signed answers contain the time"),
        (ServerClock::NotTold, Some(_)) => return unknown("no signed answer contained the time"),
    };
    let side = if ahead < 0 { "behind" } else { "ahead of" };
    let message = match ahead {
        0 => "its clock agrees with ours".to_owned(),
        _ => format!("its clock is {} s {side} ours", ahead.unsigned_abs()),
    };
    if ahead.abs() < SKEW {
        return Some(finding(FindingLevel::Ok, "clock", message));
    }
    let hint = "set both clocks by NTP: clocks may differ by at most 300 s (RFC 8945 section 10)";
    Some(finding(FindingLevel::Warning, "clock-differs", message).hint(hint))
}

/// Judges a zone at one place.
fn zone(found: &ZoneExamined, transfers: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(authority(found));
    match &found.read {
        Ok(measures) => {
            findings.extend(contents(found, measures));
            findings.extend((!transfers).then(needless_questions));
        }
        Err(fault) if !transfers && matches!(found.authority, Some(Ok(true))) => {
            let serial = found.serial.map(|serial| format!("serial {serial}; ")).unwrap_or_default();
            let message = format!("authoritative, {serial}asked name by name, as `read = \"query\"` says");
            let refused = format!("no transfer: {}", fault.message);
            findings.extend([
                finding(FindingLevel::Ok, "zone", message),
                finding(FindingLevel::Note, "no-transfer", refused),
            ]);
        }
        Err(fault) => findings.push(of_fault(FindingLevel::Problem, fault)),
    }
    findings.extend(found.without_key.as_ref().and_then(without_key));
    findings
}

/// Reports that questions leave records unseen that a transfer would show.
fn needless_questions() -> Finding {
    let message = "the server allows the transfer, but the target asks name by name, so zonewright does not see some \
                   records";
    finding(FindingLevel::Note, "needless-query", message)
        .hint("remove `read = \"query\"` from the target; in a DNS update record write `rfc2136-axfr: true`")
}

/// Judges whether the server is one of the zone's; a finding of the transfer is not repeated.
fn authority(found: &ZoneExamined) -> Option<Finding> {
    let reported = found.read.as_ref().err().map(|fault| fault.code);
    match found.authority.as_ref()? {
        Err(fault) if reported == Some(fault.code) => None,
        Err(fault) => Some(of_fault(FindingLevel::Problem, fault)),
        Ok(false) if reported != Some(Code::new("zone-not-served")) => {
            let message = "the server's answer for the zone is not authoritative";
            let hint = "check that it is one of the zone's name servers and has loaded the zone; see its log";
            Some(finding(FindingLevel::Problem, "not-authoritative", message).hint(hint))
        }
        Ok(_) => None,
    }
}

/// Reports what was read.
fn contents(found: &ZoneExamined, measures: &ZoneMeasures) -> Vec<Finding> {
    let ZoneMeasures { rrsets, records, octets, took, signed, warnings, opaque } = measures;
    let authority = if matches!(found.authority, Some(Ok(true))) { "authoritative, " } else { "" };
    let serial = found.serial.map(|serial| format!("serial {serial}; ")).unwrap_or_default();
    let took = took.map(|took| format!(" transferred in {:.2} s", took.as_secs_f64())).unwrap_or_default();
    let refused = if found.without_key == Some(KeylessAccess::Refused) { "; refused without the key" } else { "" };
    let message = format!("{authority}{serial}{rrsets} RRsets, {records} records, {octets} bytes{took}{refused}");
    let mut findings = vec![finding(FindingLevel::Ok, "zone", message)];
    if *warnings > 0 {
        let message = format!("warnings in its files: {warnings}");
        findings
            .push(finding(FindingLevel::Warning, "zone-file-warnings", message).hint("`zonewright check` shows them"));
    }
    if let Some(first) = opaque.first() {
        let others = match opaque.len() - 1 {
            0 => String::new(),
            1 => ", and one more name".to_owned(),
            others => format!(", and {others} more"),
        };
        let message = format!("{} has {}{others}: never touched", first.owner, first.what);
        let hint = "a host or record that needs such a name is blocked (`opaque`)";
        findings.push(finding(FindingLevel::Note, "opaque", message).hint(hint));
    }
    match (found.writable, signed) {
        (Some(_), true) => {
            let message = "the file holds signatures (RRSIG); zonewright cannot renew them";
            let hint = "plans can use this file; an apply needs the unsigned file that the signer reads";
            findings.push(finding(FindingLevel::Warning, "signed-file", message).hint(hint));
        }
        (None, true) => {
            let message = "the zone is signed (RRSIG): its serial changes without an edit, and the server must sign \
                           later changes";
            findings.push(finding(FindingLevel::Note, "signed-zone", message));
        }
        (_, false) => {}
    }
    if found.writable == Some(false) {
        let message = "this user cannot write the file: plans can use it, applies cannot change it";
        findings.push(finding(FindingLevel::Note, "not-writable", message));
    }
    findings
}

/// Judges what a client without the key gets.
fn without_key(access: &KeylessAccess) -> Option<Finding> {
    match access {
        KeylessAccess::Refused => None,
        KeylessAccess::Allowed => {
            let message =
                "the zone is transferred without the key as well: any client that reaches the server can read it";
            let hint = "make the server require the key (BIND: `allow-transfer { key NAME; };`)";
            Some(finding(FindingLevel::Warning, "open-transfer", message).hint(hint))
        }
        KeylessAccess::Unclear(what) => {
            let message = format!("it is unclear whether the transfer needs the key: without it, {what}");
            Some(finding(FindingLevel::Note, "key-unclear", message))
        }
    }
}
