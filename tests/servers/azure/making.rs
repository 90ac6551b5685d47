//! Zones that are made and deleted.

use super::*;
use crate::doubles::azure::GROUP;

/// What the settings say of a zone that is made.
const CREATE: &str =
    "create = true\n[zone.apex]\nns = [\"ns1.example.org\"]\nmname = \"ns1.example.org\"\nrname = \"h@example.org\"\n";

/// A zone that is not there is made before its records, and deleted when it is to be gone and has none.
#[test]
fn a_zone_is_made_with_its_records_and_deleted_without_any() {
    for kind in KINDS {
        let mut account = Account::new(kind, 1, REGISTRIES[1]);
        account.double.set_rules(|rules| rules.zone_asks = 2);
        let path = account.zones[0].path.replace("z0.example", "new.example");
        let zone = AzureZoneId { name: "new.example".to_owned(), path, ..account.zones[0].clone() };
        account.zones.push(zone.clone());
        account.configure(&account.server.url());
        let file = account.path().join("zonewright.toml");
        let settings = fs::read_to_string(&file).expect("the settings");
        let with_group =
            settings.replace("writes_per_minute", &format!("resource_group = \"{GROUP}\"\nwrites_per_minute"));
        fs::write(&file, format!("{with_group}{CREATE}")).expect("a file");
        account.state(&zone, &one(&zone.name, "a", 300, "192.0.2.1"));
        let plan = account.apply_all();
        assert_eq!(plan.document["zone_changes"][0]["action"], json!("CREATE"), "{:#}", plan.document["zone_changes"]);
        assert_eq!(account.held(&zone), one(&zone.name, "a", 300, "192.0.2.1"));
        let again = plan_in(account.path(), &[]);
        assert_eq!((&again.document["changes"], &again.document["zone_changes"]), (&json!([]), &Value::Null));
        account.state(&zone, &Rrsets::new());
        account.apply_all();
        assert_eq!(account.held(&zone), Rrsets::new());
        fs::remove_file(account.path().join("octo/new.example.yaml")).expect("it was there");
        let gone = format!("{with_group}state = \"absent\"\n").replace(
            "name = \"new.example\"\npool = \"main\"\npermission = \"full\"\n",
            "name = \"new.example\"\npool = \"main\"\n",
        );
        fs::write(&file, gone).expect("a file");
        let plan = plan_in(account.path(), &[]);
        assert_eq!(plan.document["zone_changes"][0]["action"], json!("DELETE"), "{:#}", plan.document);
        let applied = apply_in(account.path(), &plan.file, &["--allow", "zone-delete:new.example=1"]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
        let of_kind = if kind == AzureKind::Public { "Zones_Delete" } else { "PrivateZones_Delete" };
        assert_eq!(account.double.count(of_kind), 1);
        account.zones.pop();
    }
}
