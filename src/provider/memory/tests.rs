//! What updates do to a zone, by the sections of RFC 2136, and where servers differ.

use domain::base::iana::Rcode;

use super::message::{UpdateInstruction, UpdateMessage, UpdatePrerequisite};
use super::rules::{PrimaryQuirks, SerialStep, execute};
use super::testing::{name, shown, zone};
use super::zone::MemoryZone;
use crate::dns::{Rdata, RdataRef, Rtype, Serial, Ttl};

/// A name of the zone, or an absolute one.
fn at(text: &str) -> crate::dns::Name {
    match text {
        "@" => name("example.net"),
        text if text.ends_with('.') => name(text),
        text => name(&format!("{text}.example.net")),
    }
}

/// RDATA by its text; targets are names of the zone.
fn rdata(rtype: Rtype, text: &str) -> Rdata {
    match rtype {
        Rtype::CNAME | Rtype::NS => Rdata::from_name(at(text).as_name()),
        Rtype::DS => RdataRef { rtype, octets: &[0, 1, 8, 2, 0] }.to_rdata(),
        rtype => Rdata::parse(rtype, text).unwrap(),
    }
}

/// Adds a record of TTL 60.
fn add(owner: &str, rtype: Rtype, text: &str) -> UpdateInstruction {
    add_for(60, owner, rtype, text)
}

/// Adds a record.
fn add_for(ttl: u64, owner: &str, rtype: Rtype, text: &str) -> UpdateInstruction {
    UpdateInstruction::Add(at(owner), rtype, Ttl::from_secs(ttl).unwrap(), rdata(rtype, text))
}

/// Deletes a record.
fn delete(owner: &str, rtype: Rtype, text: &str) -> UpdateInstruction {
    UpdateInstruction::DeleteRecord(at(owner), rtype, rdata(rtype, text))
}

/// The result for a zone: the answer, how far the serial moved, and the records except SOA and the first NS.
fn after(
    zone: &mut MemoryZone,
    prerequisites: &[UpdatePrerequisite],
    instructions: &[UpdateInstruction],
    quirks: &PrimaryQuirks,
) -> String {
    let message = UpdateMessage {
        zone: zone.apex().clone(),
        prerequisites: prerequisites.to_vec(),
        instructions: instructions.to_vec(),
    };
    let before = zone.serial();
    let rcode = execute(zone, &message, quirks);
    let moved = zone.serial().into_int().wrapping_sub(before.into_int());
    let records = shown(zone).replace("example.net. 60 NS ns.example.net.\n", "");
    format!("{rcode} +{moved}\n{}", records.replace(".example.net.", ""))
}

/// The result for a zone with these records of an update without prerequisites.
fn updated(records: &str, instructions: &[UpdateInstruction]) -> String {
    after(&mut zone(records), &[], instructions, &PrimaryQuirks::default())
}

#[test]
fn each_prerequisite_has_its_rcode_and_the_first_that_fails_is_answered() {
    let rcode = |prerequisites: &[UpdatePrerequisite]| {
        let said = after(
            &mut zone("a A 192.0.2.1\na A 192.0.2.2\nx.b A 192.0.2.1\n"),
            prerequisites,
            &[],
            &PrimaryQuirks::default(),
        );
        said.split(' ').next().unwrap().to_owned()
    };
    let holds = |owner: &str, text: &str| UpdatePrerequisite::Holds(at(owner), Rtype::A, rdata(Rtype::A, text));
    let absent = |owner: &str| UpdatePrerequisite::Absent(at(owner), Rtype::A);
    assert_eq!(rcode(&[UpdatePrerequisite::InUse(at("a")), UpdatePrerequisite::NotInUse(at("c"))]), "NOERROR");
    // An empty non-terminal is not in use.
    assert_eq!(rcode(&[UpdatePrerequisite::InUse(at("b"))]), "NXDOMAIN");
    assert_eq!(rcode(&[UpdatePrerequisite::NotInUse(at("b"))]), "NOERROR");
    assert_eq!(rcode(&[UpdatePrerequisite::NotInUse(at("a"))]), "YXDOMAIN");
    assert_eq!(rcode(&[UpdatePrerequisite::Exists(at("a"), Rtype::TXT)]), "NXRRSET");
    assert_eq!(rcode(&[absent("a")]), "YXRRSET");
    assert_eq!(rcode(&[holds("a", "192.0.2.2"), holds("a", "192.0.2.1")]), "NOERROR");
    assert_eq!(rcode(&[holds("a", "192.0.2.2")]), "NXRRSET");
    // A record that is named twice is one too many.
    let twice = [holds("a", "192.0.2.2"), holds("a", "192.0.2.1"), holds("a", "192.0.2.1")];
    assert_eq!(rcode(&twice), "NXRRSET");
    // Values are compared after all else.
    assert_eq!(rcode(&[holds("a", "192.0.2.2"), absent("a")]), "YXRRSET");
    assert_eq!(rcode(&[absent("other.org."), absent("a")]), "NOTZONE");
    assert_eq!(rcode(&[absent("a"), absent("other.org.")]), "YXRRSET");
}

#[test]
fn what_is_no_update_changes_nothing() {
    let good = add("b", Rtype::A, "192.0.2.1");
    let all = |bad: UpdateInstruction| updated("", &[good.clone(), bad]);
    assert_eq!(all(add("other.org.", Rtype::A, "192.0.2.1")), "NOTZONE +0\n");
    assert_eq!(all(UpdateInstruction::DeleteName(at("other.org."))), "NOTZONE +0\n");
    assert_eq!(all(UpdateInstruction::DeleteRrset(at("a"), Rtype::AXFR)), "FORMERR +0\n");
    let nsec = RdataRef { rtype: Rtype::NSEC, octets: &[0] }.to_rdata();
    assert_eq!(all(UpdateInstruction::DeleteRecord(at("a"), Rtype::NSEC, nsec)), "REFUSED +0\n");
    let other = UpdateMessage {
        zone: crate::dns::ZoneName::new(name("example.org")),
        prerequisites: vec![],
        instructions: vec![],
    };
    assert_eq!(execute(&mut zone(""), &other, &PrimaryQuirks::default()), Rcode::NOTAUTH);
}

#[test]
fn a_cname_stands_alone_and_the_newcomer_is_passed_over() {
    assert_eq!(
        updated("a CNAME b\n", &[add("a", Rtype::A, "192.0.2.1"), add("b", Rtype::A, "192.0.2.1")]),
        "NOERROR +1\na 60 CNAME b\nb 60 A 192.0.2.1\n"
    );
    assert_eq!(updated("a A 192.0.2.1\n", &[add("a", Rtype::CNAME, "b")]), "NOERROR +0\na 60 A 192.0.2.1\n");
    assert_eq!(updated("a CNAME b\n", &[add("a", Rtype::CNAME, "c")]), "NOERROR +1\na 60 CNAME c\n");
}

#[test]
fn an_rrset_has_one_ttl_that_of_the_record_added_last() {
    let changed = updated("a A 192.0.2.1\n", &[add_for(30, "a", Rtype::A, "192.0.2.2")]);
    assert_eq!(changed, "NOERROR +1\na 30 A 192.0.2.1\na 30 A 192.0.2.2\n");
    let same = [add_for(30, "a", Rtype::A, "192.0.2.1")];
    assert_eq!(updated("a A 192.0.2.1\n", &same), "NOERROR +1\na 30 A 192.0.2.1\n");
    let knot = PrimaryQuirks { ignores_ttl_change: true, ..PrimaryQuirks::default() };
    assert_eq!(after(&mut zone("a A 192.0.2.1\n"), &[], &same, &knot), "NOERROR +0\na 60 A 192.0.2.1\n");
}

#[test]
fn instructions_are_followed_in_their_order() {
    let instructions = [add("a", Rtype::A, "192.0.2.1"), delete("a", Rtype::A, "192.0.2.1")];
    assert_eq!(updated("", &instructions), "NOERROR +0\n");
    let powerdns = PrimaryQuirks { adds_after_deletes: true, ..PrimaryQuirks::default() };
    assert_eq!(after(&mut zone(""), &[], &instructions, &powerdns), "NOERROR +1\na 60 A 192.0.2.1\n");
}

#[test]
fn soa_and_the_last_ns_of_the_apex_stay() {
    let gone = [UpdateInstruction::DeleteName(at("@")), UpdateInstruction::DeleteRrset(at("@"), Rtype::NS)];
    assert_eq!(updated("@ TXT \"x\"\n", &gone), "NOERROR +1\n");
    let mut two = zone("@ NS other\n");
    let said = after(
        &mut two,
        &[],
        &[delete("@", Rtype::NS, "ns"), delete("@", Rtype::NS, "other")],
        &PrimaryQuirks::default(),
    );
    assert_eq!(said, "NOERROR +1\nexample.net. 60 NS other\n");
    // Below the apex it is as any other.
    assert_eq!(updated("sub NS other\n", &[delete("sub", Rtype::NS, "other")]), "NOERROR +1\n");
    assert_eq!(updated("sub NS other\n", &[UpdateInstruction::DeleteName(at("sub"))]), "NOERROR +1\n");
}

#[test]
fn what_is_misplaced_is_passed_over() {
    assert_eq!(updated("", &[add("*", Rtype::NS, "ns"), add("@", Rtype::DS, "")]), "NOERROR +0\n");
    // BIND 9.18 adds NSEC3PARAM below the apex as any record.
    let param = RdataRef { rtype: Rtype::NSEC3PARAM, octets: &[1, 0, 0, 0, 0] }.to_rdata();
    let below = UpdateInstruction::Add(at("a"), Rtype::NSEC3PARAM, Ttl::from_secs(60).unwrap(), param);
    assert_eq!(updated("", &[below]), "NOERROR +1\na 60 NSEC3PARAM 1 0 0 -\n");
    // A DS goes with the delegation that it is of.
    assert_eq!(updated("", &[add("sub", Rtype::DS, "")]), "NOERROR +0\n");
    let mut cut = zone("sub NS ns\n");
    assert!(after(&mut cut, &[], &[add("sub", Rtype::DS, "")], &PrimaryQuirks::default()).contains(" DS "));
    assert_eq!(after(&mut cut, &[], &[delete("sub", Rtype::NS, "ns")], &PrimaryQuirks::default()), "NOERROR +1\n");
}

/// The SOA of the zone with another serial, added.
fn soa(serial: u32) -> UpdateInstruction {
    let rrset = zone("").soa_with(Serial(serial));
    UpdateInstruction::Add(at("@"), Rtype::SOA, rrset.ttl(), rrset.rdata()[0].clone())
}

#[test]
fn a_soa_is_taken_where_its_serial_is_newer_and_the_serial_moves_by_itself_otherwise() {
    let record = add("a", Rtype::A, "192.0.2.1");
    assert_eq!(updated("", &[soa(9), record.clone()]), "NOERROR +8\na 60 A 192.0.2.1\n");
    assert_eq!(updated("", &[soa(9)]), "NOERROR +8\n");
    assert_eq!(updated("", &[soa(1), record.clone()]), "NOERROR +1\na 60 A 192.0.2.1\n");
    assert_eq!(updated("", &[soa(1 + (1 << 31)), record.clone()]), "NOERROR +1\na 60 A 192.0.2.1\n");
    // Zero is skipped.
    let mut last = zone("");
    after(&mut last, &[], &[soa(1 << 31), soa(u32::MAX)], &PrimaryQuirks::default());
    assert_eq!(last.serial(), Serial(u32::MAX));
    after(&mut last, &[], std::slice::from_ref(&record), &PrimaryQuirks::default());
    assert_eq!(last.serial(), Serial(1));
    let unmoved = PrimaryQuirks { serial: SerialStep::Unmoved, ..PrimaryQuirks::default() };
    assert_eq!(after(&mut zone(""), &[], &[record], &unmoved), "NOERROR +0\na 60 A 192.0.2.1\n");
}

#[test]
fn a_server_refuses_what_it_does_not_take_whole() {
    let both = [add("b", Rtype::A, "192.0.2.1"), add("a", Rtype::A, "192.0.2.1")];
    let powerdns = PrimaryQuirks { refuses_cname_clash: true, ..PrimaryQuirks::default() };
    assert_eq!(after(&mut zone("a CNAME b\n"), &[], &both, &powerdns), "REFUSED +0\na 60 CNAME b\n");
    let clash = [add("a", Rtype::A, "192.0.2.1"), add("a", Rtype::CNAME, "b")];
    assert_eq!(after(&mut zone(""), &[], &clash, &powerdns), "FORMERR +0\n");
    let few = PrimaryQuirks { max_records: Some(2), ..PrimaryQuirks::default() };
    let three = [1, 2, 3].map(|last| add("a", Rtype::A, &format!("192.0.2.{last}")));
    assert_eq!(after(&mut zone(""), &[], &three, &few), "SERVFAIL +0\n");
    let strict = PrimaryQuirks { checks_names: true, ..PrimaryQuirks::default() };
    let odd = [add("b", Rtype::A, "192.0.2.1"), add("under_score", Rtype::A, "192.0.2.1")];
    assert_eq!(after(&mut zone(""), &[], &odd, &strict), "REFUSED +0\n");
    let policy = PrimaryQuirks { ignores_names: vec![at("a")], ..PrimaryQuirks::default() };
    assert_eq!(after(&mut zone(""), &[], &both, &policy), "NOERROR +1\nb 60 A 192.0.2.1\n");
}
