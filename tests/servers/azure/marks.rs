//! Who owns a record set is in its metadata.

use super::*;

impl Account {
    /// One zone in which only own records may be changed, with the owners of records in their metadata.
    fn of_marks(kind: AzureKind) -> (Account, AzureZoneId) {
        let account = Account::new(kind, 1, REGISTRIES[1]);
        let file = account.path().join("zonewright.toml");
        let settings = fs::read_to_string(&file).expect("the settings");
        fs::write(&file, settings.replace("permission = \"full\"", "permission = \"own\"")).expect("a file");
        let zone = account.zones[0].clone();
        (account, zone)
    }

    /// Puts an address with metadata, as another editor.
    fn put(&self, zone: &AzureZoneId, (name, value): (&str, &str), metadata: &[(&str, &str)]) {
        let set = AzureRecordSet::new(name, "A", 300, &[value]);
        self.double.put(zone, metadata.iter().fold(set, |set, (key, text)| set.with_metadata(key, text)));
    }

    /// The value and the metadata of the addresses at a name.
    fn at(&self, zone: &AzureZoneId, name: &str) -> Option<String> {
        let set = self.double.record_sets(zone).into_iter().find(|set| set.name == name)?;
        let pairs: Vec<String> = set.metadata.iter().map(|(key, text)| format!("{key}={text}")).collect();
        Some(format!("{} {}", set.values().join(","), pairs.join(",")))
    }

    /// Makes the plan that takes over what another owner has; gives what is printed, too.
    fn adopt(&self, from: &str) -> (Planned, String) {
        let file = self.path().join("adopt.json");
        let mut command = quiet_in(self.path());
        let output = command.args(["adopt", "--from-owner", from, "--out"]).arg(&file).output().expect("it runs");
        assert!(output.status.success(), "{}{}", text_of(&output.stdout), text_of(&output.stderr));
        let document = serde_json::from_str(&fs::read_to_string(&file).expect("the plan")).expect("a plan is JSON");
        (Planned { file, document }, text_of(&output.stdout).to_owned())
    }
}

#[test]
fn a_record_is_created_with_its_mark_and_only_own_ones_are_deleted() {
    for kind in KINDS {
        let (account, zone) = Account::of_marks(kind);
        account.put(&zone, ("theirs", "192.0.2.7"), &[(OWNER, "them")]);
        account.put(&zone, ("bare", "192.0.2.8"), &[]);
        account.state(&zone, &one(&zone.name, "a", 300, "192.0.2.1"));
        let plan = account.apply_all();
        let changes = plan.document["changes"].as_array().expect("a list");
        let types: Vec<&Value> = changes.iter().map(|change| &change["type"]).collect();
        assert_eq!(types, [&json!("A")], "no TXT is planned");
        assert_eq!(changes[0]["after"]["mark"], json!({ "owner": "fleet-dns" }));
        let written = account.double.count("RecordSets_CreateOrUpdate");
        assert_eq!((written, account.at(&zone, "a").as_deref()), (1, Some("192.0.2.1 zonewright-owner=fleet-dns")));
        account.state(&zone, &one(&zone.name, "a", 300, "192.0.2.2"));
        account.apply_all();
        assert_eq!(account.at(&zone, "a").as_deref(), Some("192.0.2.2 zonewright-owner=fleet-dns"));
        account.state(&zone, &Rrsets::new());
        // A snapshot keeps the marks.
        let live = account.path().join("live");
        let saved = quiet_in(account.path()).args(["snapshot", "--out"]).arg(&live).output().expect("it runs");
        assert!(saved.status.success(), "{}", text_of(&saved.stderr));
        let by_snapshot = plan_in(account.path(), &["--live-snapshot", live.to_str().expect("a path")]);
        let plan = account.apply_all();
        assert_eq!(by_snapshot.document["changes"], plan.document["changes"]);
        assert_eq!(account.at(&zone, "a"), None);
        assert_eq!(account.at(&zone, "theirs").as_deref(), Some("192.0.2.7 zonewright-owner=them"));
        assert_eq!(account.at(&zone, "bare").as_deref(), Some("192.0.2.8 "));
    }
}

#[test]
fn a_record_of_another_owner_blocks_until_its_mark_is_taken_over() {
    for kind in KINDS {
        let (account, zone) = Account::of_marks(kind);
        let theirs = [(OWNER, "them"), ("team", "web")];
        account.put(&zone, ("a", "192.0.2.7"), &theirs);
        account.put(&zone, ("b", "192.0.2.1"), &theirs);
        account.put(&zone, ("c", "192.0.2.1"), &theirs);
        let wanted = ["a", "b", "c"].into_iter().flat_map(|name| one(&zone.name, name, 300, "192.0.2.1")).collect();
        account.state(&zone, &wanted);
        let plan = plan_in(account.path(), &[]);
        assert_eq!(plan.document["changes"], json!([]));
        let blocked = plan.document["blocked"].to_string();
        assert!(blocked.contains("not-owner") && blocked.contains("adopt --from-owner them"), "{blocked}");
        let (plan, said) = account.adopt("them");
        let changes = plan.document["changes"].as_array().expect("a list");
        assert_eq!(changes.len(), 3, "{:#}", plan.document["changes"]);
        for change in changes {
            let (before, after) = (&change["before"], &change["after"]);
            assert_eq!((&before["rdata"], &before["ttl"]), (&after["rdata"], &after["ttl"]));
            assert_eq!((&before["mark"]["owner"], &after["mark"]["owner"]), (&json!("them"), &json!("fleet-dns")));
        }
        assert!(said.contains("; owner them") && said.contains("; owner fleet-dns"), "{said}");
        // Another editor takes one of them first.
        account.put(&zone, ("c", "192.0.2.1"), &[(OWNER, "others")]);
        let applied = apply_in(account.path(), &plan.file, &[]);
        let counts = &applied.document["counts"];
        assert_eq!((counts["applied"].as_u64(), counts["stale"].as_u64()), (Some(2), Some(1)), "{}", applied.said());
        assert_eq!(account.at(&zone, "a").as_deref(), Some("192.0.2.7 team=web,zonewright-owner=fleet-dns"));
        assert_eq!(account.at(&zone, "c").as_deref(), Some("192.0.2.1 zonewright-owner=others"));
        account.apply_all();
        assert_eq!(account.at(&zone, "a").as_deref(), Some("192.0.2.1 team=web,zonewright-owner=fleet-dns"));
        assert_eq!(account.at(&zone, "b").as_deref(), Some("192.0.2.1 team=web,zonewright-owner=fleet-dns"));
        // What was taken over is given back.
        let undone = quiet_in(account.path()).args(["undo", "1", "--yes"]).output().expect("it runs");
        assert_eq!(undone.status.code(), Some(0), "{}{}", text_of(&undone.stdout), text_of(&undone.stderr));
        assert_eq!(account.at(&zone, "b").as_deref(), Some("192.0.2.1 team=web,zonewright-owner=them"));
    }
}

#[test]
fn metadata_of_others_block_who_needs_the_name() {
    for kind in KINDS {
        let (account, zone) = Account::of_marks(kind);
        account.put(&zone, ("a", "192.0.2.7"), &[("team", "web")]);
        account.state(&zone, &one(&zone.name, "a", 300, "192.0.2.1"));
        let plan = plan_in(account.path(), &[]);
        let blocked = plan.document["blocked"].to_string();
        assert!(blocked.contains("\"opaque\"") && blocked.contains("zonewright-owner"), "{blocked}");
        assert_eq!(plan.document["changes"], json!([]));
    }
}
