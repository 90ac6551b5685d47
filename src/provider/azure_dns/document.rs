//! Requests and answers of Azure DNS: zones, record sets, refusals. Pure.
//!
//! Source: the published models of the APIs `Microsoft.Network/dnsZones` 2018-05-01 and `Microsoft.Network/privateDnsZones`
//! 2024-06-01, which write the same fields in two spellings.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::metadata::{mark, with_mark};
use super::names::{name_value, quoted, relative_name};
use super::service::AzureKind;
use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, Ttl, ZoneName};

/// A zone in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureZone {
    /// Its name.
    pub name: Name,
    /// Its resource group.
    pub group: String,
    /// Its name as the service writes it.
    pub text: String,
}

/// A record set in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct AzureSet {
    /// The owner name.
    pub owner: Name,
    /// The type, as the service writes it.
    pub rtype: String,
    /// What changes with each write of it.
    pub etag: String,
    /// What others noted at it.
    pub metadata: Map<String, Value>,
    /// The RRset that it is with its type, or what it is instead, as a part of a sentence.
    pub rrset: Result<(Rtype, Rrset), String>,
    /// How many records it has.
    pub records: usize,
}

impl AzureSet {
    /// The RRset that it is.
    pub fn plain(&self) -> Option<&Rrset> {
        self.rrset.as_ref().ok().map(|(_, rrset)| rrset)
    }
}

/// A page of a list.
#[derive(Debug, PartialEq)]
pub struct AzurePage<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// The link to the next page, where there is one.
    pub next: Option<String>,
}

/// What the service says instead of doing something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AzureRefusal {
    /// Its code; empty where it has none.
    pub code: String,
    /// What is wrong.
    pub message: String,
}

/// A page, as it comes.
#[derive(Deserialize)]
struct PageDocument {
    /// What is on it.
    value: Vec<ItemDocument>,
    /// The link to the next one.
    #[serde(default, rename = "nextLink")]
    next: Option<String>,
}

/// A zone or a record set, as it comes.
#[derive(Deserialize)]
struct ItemDocument {
    /// Its path.
    #[serde(default)]
    id: String,
    /// Its name.
    name: String,
    /// Its type, with those of what it is in.
    #[serde(default, rename = "type")]
    kind: String,
    /// What changes with each write of it.
    #[serde(default)]
    etag: Option<String>,
    /// What it is.
    #[serde(default)]
    properties: Map<String, Value>,
}

/// Reads a page of zones. Old private zones of the API for public ones are left out.
///
/// Errors: in words.
pub fn read_zones(octets: &[u8]) -> Result<AzurePage<AzureZone>, String> {
    let page: PageDocument = parse(octets)?;
    let is_private = |item: &ItemDocument| text(&item.properties, "zoneType").as_deref() == Some("Private");
    let zone = |item: ItemDocument| {
        let group = part_after(&item.id, "resourceGroups");
        let group = group.ok_or_else(|| format!("its zone `{}` has no resource group", item.name))?;
        let name = Name::parse(&item.name).map_err(|error| format!("it has the zone `{}`: {error}", item.name))?;
        Ok(AzureZone { name, group: group.to_owned(), text: item.name })
    };
    let items = page.value.into_iter().filter(|item| !is_private(item)).map(zone).collect::<Result<_, String>>()?;
    Ok(AzurePage { items, next: page.next.filter(|next| !next.is_empty()) })
}

/// Reads a page of record sets of a zone; with their marks where these tell who owns them.
///
/// Errors: in words.
pub fn read_sets(zone: &ZoneName, octets: &[u8], has_marks: bool) -> Result<AzurePage<AzureSet>, String> {
    let page: PageDocument = parse(octets)?;
    let items = page.value.into_iter().map(|item| set(zone, item, has_marks)).collect::<Result<_, String>>()?;
    Ok(AzurePage { items, next: page.next.filter(|next| !next.is_empty()) })
}

/// Reads one record set of a zone, as [`read_sets`] does: what was asked for, or what was written.
///
/// Errors: in words.
pub fn read_set(zone: &ZoneName, octets: &[u8], has_marks: bool) -> Result<AzureSet, String> {
    let item: ItemDocument = parse(octets)?;
    if let Some(state) = text(&item.properties, "provisioningState").filter(|state| state != "Succeeded") {
        return Err(format!("it says `{state}` of a record set, and not `Succeeded`"));
    }
    set(zone, item, has_marks)
}

/// Reads what the service says instead of doing something: its own errors, those of Resource Manager, and either of them as a
/// text in JSON. What is none of them has no code.
pub fn read_refusal(octets: &[u8]) -> AzureRefusal {
    let document: Value = serde_json::from_slice(octets).unwrap_or_default();
    let inner = document.as_str().and_then(|inner| serde_json::from_str(inner).ok());
    let document = inner.unwrap_or(document);
    let error = document.get("error").unwrap_or(&document);
    let said = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (code, message) = (said("code"), said("message"));
    AzureRefusal { code, message }
}

/// The content of a request that writes a record set as this RRset; `metadata` is what was noted at it, of which the mark becomes
/// that of the RRset where marks tell who owns it.
pub fn written(
    kind: AzureKind,
    (rtype, rrset): (Rtype, &Rrset),
    (metadata, has_marks): (&Map<String, Value>, bool),
) -> String {
    let mut properties = Map::new();
    let mut put = |name: &str, value: Value| properties.insert(spelled(kind, name), value);
    put("TTL", json!(rrset.ttl().as_secs()));
    let records: Vec<Value> = rrset.rdata().iter().map(|rdata| record(rtype, rdata)).collect();
    match records.first().filter(|_| rtype == Rtype::CNAME) {
        Some(first) => put("CNAMERecord", first.clone()),
        None => put(&format!("{rtype}Records"), Value::Array(records)),
    };
    let after = if has_marks { with_mark(metadata, rrset.mark()) } else { metadata.clone() };
    if !after.is_empty() || !metadata.is_empty() {
        put("metadata", Value::Object(after));
    }
    json!({ "properties": properties }).to_string()
}

/// A property as a service spells it: the private one, and some newer ones of the public one, begin with small letters.
fn spelled(kind: AzureKind, name: &str) -> String {
    let is_small = kind == AzureKind::Private || name == "CAARecords";
    let capitals = name.strip_suffix("Records").or_else(|| name.strip_suffix("Record")).unwrap_or(name);
    if is_small { name.replacen(capitals, &capitals.to_ascii_lowercase(), 1) } else { name.to_owned() }
}

/// A record as the service writes it.
fn record(rtype: Rtype, rdata: &Rdata) -> Value {
    let data = rdata.as_rdata(rtype);
    let shown = data.to_string();
    let words: Vec<&str> = shown.split(' ').collect();
    let number = |place: usize| words.get(place).and_then(|word| word.parse::<u32>().ok());
    let name = |place: usize| name_value(words.get(place).copied().unwrap_or_default());
    match rtype {
        Rtype::A => json!({ "ipv4Address": shown }),
        Rtype::AAAA => json!({ "ipv6Address": shown }),
        Rtype::CNAME => json!({ "cname": name(0) }),
        Rtype::NS => json!({ "nsdname": name(0) }),
        Rtype::PTR => json!({ "ptrdname": name(0) }),
        Rtype::MX => json!({ "preference": number(0), "exchange": name(1) }),
        Rtype::SRV => {
            json!({ "priority": number(0), "weight": number(1), "port": number(2), "target": name(3) })
        }
        Rtype::CAA => {
            let (flags, tag, value) = caa_parts(rdata.as_octets()).unwrap_or_default();
            json!({ "flags": flags, "tag": tag, "value": value })
        }
        _ => {
            let strings = data.strings().map(|string| String::from_utf8_lossy(string).into_owned());
            json!({ "value": strings.collect::<Vec<String>>() })
        }
    }
}

/// The flags, the tag and the value of CAA (RFC 8659 section 4.1).
pub fn caa_parts(octets: &[u8]) -> Option<(u8, String, String)> {
    let (flags, rest) = octets.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (tag, value) = rest.split_at_checked(usize::from(*length))?;
    Some((*flags, String::from_utf8(tag.to_vec()).ok()?, String::from_utf8(value.to_vec()).ok()?))
}

/// A record set.
///
/// Errors: in words, where it has no name or no etag.
fn set(zone: &ZoneName, item: ItemDocument, has_marks: bool) -> Result<AzureSet, String> {
    let owner = relative_name(&item.name, zone);
    let owner = owner.ok_or_else(|| format!("it has a record set `{}`, which is no name of its zone", item.name))?;
    let rtype = item.kind.rsplit('/').next().unwrap_or_default().to_owned();
    let etag = item.etag.filter(|etag| !etag.is_empty() && etag.chars().all(|c| c.is_ascii_graphic()));
    let etag = etag.ok_or_else(|| format!("its {rtype} record set at `{owner}` has no etag"))?;
    let metadata = find(&item.properties, "metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    let records = records(&item.properties, &rtype);
    let own = if has_marks { mark(&metadata) } else { Ok(None) };
    let rrset = special(&item.properties, &records).map_or(own, Err).and_then(|mark| {
        let (rtype, rrset) = plain(&item.properties, &rtype, &records)?;
        Ok((rtype, rrset.marked(mark)))
    });
    let rrset = rrset.map_err(|what| format!("{what} of type {rtype}"));
    Ok(AzureSet { owner, rtype, etag, metadata, rrset, records: records.len() })
}

/// What a record set is, where it is no plain RRset.
fn special(properties: &Map<String, Value>, records: &[&Value]) -> Option<String> {
    let has_id = |key: &str| {
        let id = find(properties, key).and_then(|target| target.get("id")).and_then(Value::as_str);
        id.is_some_and(|id| !id.is_empty())
    };
    if has_id("targetResource") || has_id("trafficManagementProfile") {
        return Some("an alias".to_owned());
    }
    if find(properties, "isAutoRegistered").and_then(Value::as_bool) == Some(true) {
        return Some("a set of a virtual machine, which Azure itself registers,".to_owned());
    }
    records.is_empty().then(|| "a set without records".to_owned())
}

/// The RRset that records are.
///
/// Errors: what they are instead.
fn plain(properties: &Map<String, Value>, rtype: &str, records: &[&Value]) -> Result<(Rtype, Rrset), String> {
    let read = || {
        let rtype: Rtype = rtype.parse().ok()?;
        let ttl = Ttl::from_secs(find(properties, "TTL")?.as_u64()?)?;
        let rdata = records.iter().map(|record| rdata(rtype, record)).collect::<Option<Vec<_>>>()?;
        Some((rtype, Rrset::new(ttl, rdata)?))
    };
    read().ok_or_else(|| "a set that cannot be read".to_owned())
}

/// The records of a set: a list, or one.
fn records<'d>(properties: &'d Map<String, Value>, rtype: &str) -> Vec<&'d Value> {
    let many = find(properties, &format!("{rtype}Records")).and_then(Value::as_array);
    let one = find(properties, &format!("{rtype}Record")).filter(|record| record.is_object());
    many.into_iter().flatten().chain(one).collect()
}

/// The data of a record; none where it is not data of the type.
fn rdata(rtype: Rtype, record: &Value) -> Option<Rdata> {
    let fields = record.as_object()?;
    let word = |key: &str| {
        let word = text(fields, key)?;
        let is_one = !word.is_empty() && word.chars().all(|c| c.is_ascii_graphic() && !r#""();\"#.contains(c));
        is_one.then_some(word)
    };
    let words = |keys: &[&str]| Some(keys.iter().map(|key| word(key)).collect::<Option<Vec<_>>>()?.join(" "));
    let text = match rtype {
        Rtype::A => word("ipv4Address"),
        Rtype::AAAA => word("ipv6Address"),
        Rtype::CNAME => word("cname"),
        Rtype::NS => word("nsdname"),
        Rtype::PTR => word("ptrdname"),
        Rtype::MX => words(&["preference", "exchange"]),
        Rtype::SRV => words(&["priority", "weight", "port", "target"]),
        Rtype::CAA => Some(format!("{} {}", words(&["flags", "tag"])?, quoted(&text(fields, "value")?))),
        Rtype::TXT => {
            let strings = find(fields, "value")?.as_array()?;
            let strings = strings.iter().map(|string| Some(quoted(string.as_str()?))).collect::<Option<Vec<_>>>()?;
            Some(strings.join(" "))
        }
        Rtype::SOA => {
            let keys = ["serialNumber", "refreshTime", "retryTime", "expireTime", "minimumTTL"];
            let mailbox = word("email")?.replace('@', ".");
            Some(format!("{} {mailbox} {}", word("host")?, words(&keys)?))
        }
        _ => None,
    };
    // Names in records are whole ones, with a final dot or without.
    Rdata::read(rtype, &text?, NameRef::ROOT).ok()
}

/// A text or a number of an object.
fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    match find(object, key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A property, however its letters are.
fn find<'d>(object: &'d Map<String, Value>, key: &str) -> Option<&'d Value> {
    object.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value)
}

/// What is behind a part of a path.
fn part_after<'p>(path: &'p str, part: &str) -> Option<&'p str> {
    let mut parts = path.split('/');
    parts.find(|own| own.eq_ignore_ascii_case(part))?;
    parts.next().filter(|next| !next.is_empty())
}

/// Reads JSON.
fn parse<'d, T: Deserialize<'d>>(octets: &'d [u8]) -> Result<T, String> {
    serde_json::from_slice(octets).map_err(|error| format!("its answer cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone() -> ZoneName {
        ZoneName::new(Name::parse("example.net").unwrap())
    }

    fn rrset(rtype: Rtype, values: &[&str]) -> Rrset {
        let rdata = values.iter().map(|value| Rdata::read(rtype, value, NameRef::ROOT).unwrap()).collect();
        Rrset::new(Ttl::from_secs(300).unwrap(), rdata).unwrap()
    }

    /// What is read of a record set.
    fn words(rtype: &str, name: &str, properties: &Value) -> String {
        let item = json!({
            "name": name, "type": format!("Microsoft.Network/dnszones/{rtype}"), "etag": "e1", "properties": properties,
        });
        let set = read_set(&zone(), item.to_string().as_bytes(), false).unwrap();
        match set.rrset {
            Ok((rtype, rrset)) => {
                format!("{} {} {rtype} {}", set.owner, rrset.ttl(), rrset.rdata_texts(rtype).join(", "))
            }
            Err(what) => format!("{} has {what}", set.owner),
        }
    }

    #[test]
    fn each_type_is_read_as_it_was_written_in_both_spellings() {
        for (rtype, values) in [
            (Rtype::A, vec!["192.0.2.1", "192.0.2.2"]),
            (Rtype::AAAA, vec!["2001:db8::1"]),
            (Rtype::CNAME, vec!["www.example.net."]),
            (Rtype::NS, vec!["ns1.example.org.", "ns2.example.org."]),
            (Rtype::PTR, vec!["www.example.net."]),
            (Rtype::MX, vec!["0 .", "10 mail.example.net."]),
            (Rtype::SRV, vec!["1 2 5060 sip.example.net."]),
            (Rtype::CAA, vec![r#"0 issue "ca.example;a=\"b\"""#]),
            (Rtype::TXT, vec![r#""a\"b\\c;" """#, r#""d""#]),
        ] {
            let rrset = rrset(rtype, &values);
            for kind in [AzureKind::Public, AzureKind::Private] {
                let body = written(kind, (rtype, &rrset), (&Map::new(), false));
                let mut item: Value = serde_json::from_str(&body).unwrap();
                item["name"] = json!("a.b");
                item["type"] = json!(format!("Microsoft.Network/privateDnsZones/{rtype}"));
                item["etag"] = json!("\"e1\"");
                let set = read_set(&zone(), item.to_string().as_bytes(), false).unwrap();
                assert_eq!(set.rrset, Ok((rtype, rrset.clone())), "{body}");
                assert_eq!((set.owner.to_string().as_str(), set.etag.as_str()), ("a.b.example.net.", "\"e1\""));
            }
        }
        let metadata = json!({ "owner": "x" });
        let body = written(
            AzureKind::Public,
            (Rtype::A, &rrset(Rtype::A, &["192.0.2.1"])),
            (metadata.as_object().unwrap(), false),
        );
        let expected = json!({ "properties": {
            "ARecords": [{ "ipv4Address": "192.0.2.1" }], "TTL": 300, "metadata": { "owner": "x" },
        } });
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
        let body = written(
            AzureKind::Private,
            (Rtype::CNAME, &rrset(Rtype::CNAME, &["b.example.net."])),
            (&Map::new(), false),
        );
        assert_eq!(body, r#"{"properties":{"cnameRecord":{"cname":"b.example.net"},"ttl":300}}"#);
        assert_eq!(spelled(AzureKind::Public, "CAARecords"), "caaRecords");
    }

    #[test]
    fn what_is_no_plain_rrset_is_said() {
        let alias = json!({ "TTL": 60, "targetResource": { "id": "/subscriptions/s" }, "ARecords": [] });
        assert_eq!(words("A", "a", &alias), "a.example.net. has an alias of type A");
        let own = json!({ "ttl": 10, "isAutoRegistered": true, "aRecords": [{ "ipv4Address": "192.0.2.1" }] });
        let said = "a.example.net. has a set of a virtual machine, which Azure itself registers, of type A";
        assert_eq!(words("A", "a", &own), said);
        let empty = json!({ "TTL": 60, "targetResource": { "id": null } });
        assert_eq!(words("TXT", "@", &empty), "example.net. has a set without records of type TXT");
        let new = json!({ "TTL": 60, "NEWRecords": [{ "value": "x" }] });
        assert_eq!(words("NEW", "*", &new), "*.example.net. has a set that cannot be read of type NEW");
        let bad = json!({ "TTL": 60, "CNAMERecord": { "cname": "a b" } });
        assert_eq!(words("CNAME", "a", &bad), "a.example.net. has a set that cannot be read of type CNAME");
        let soa = json!({ "TTL": 3600, "SOARecord": { "host": "ns1-01.azure-dns.com.",
            "email": "azuredns-hostmaster.microsoft.com", "serialNumber": 1, "refreshTime": 3600, "retryTime": 300,
            "expireTime": 2_419_200, "minimumTTL": 300 } });
        assert!(
            words("SOA", "@", &soa).starts_with("example.net. 3600 SOA ns1-01.azure-dns.com. azuredns-hostmaster.")
        );
    }

    #[test]
    fn what_cannot_be_compared_is_not_read() {
        let read = |item: Value| read_set(&zone(), item.to_string().as_bytes(), false).unwrap_err();
        let set = |etag: Value| {
            json!({ "name": "a", "type": "x/A", "etag": etag,
                "properties": { "TTL": 1, "ARecords": [{ "ipv4Address": "192.0.2.1" }] } })
        };
        assert_eq!(read(set(json!(null))), "its A record set at `a.example.net.` has no etag");
        assert_eq!(read(set(json!("a\r\nb"))), "its A record set at `a.example.net.` has no etag");
        let mut going = set(json!("e1"));
        going["properties"]["provisioningState"] = json!("Updating");
        assert_eq!(read(going), "it says `Updating` of a record set, and not `Succeeded`");
        assert!(read_set(&zone(), b"{", false).unwrap_err().starts_with("its answer cannot be read"));
    }

    #[test]
    fn refusals_come_in_three_forms() {
        let refusal = AzureRefusal { code: "Throttled".into(), message: "Too many.".into() };
        let of_service = r#"{"code":"Throttled","message":"Too many."}"#;
        for text in
            [of_service.to_owned(), format!(r#"{{"error":{of_service}}}"#), serde_json::to_string(of_service).unwrap()]
        {
            assert_eq!(read_refusal(text.as_bytes()), refusal, "{text}");
        }
        assert_eq!(read_refusal(b"Too Many Requests"), AzureRefusal::default());
    }

    #[test]
    fn zones_have_a_group() {
        let page = json!({ "value": [
            { "id": "/subscriptions/s/resourcegroups/one/providers/Microsoft.Network/dnszones/example.net",
              "name": "example.net", "properties": { "zoneType": "Public" } },
            { "id": "/subscriptions/s/resourceGroups/one/providers/Microsoft.Network/dnszones/old.example",
              "name": "old.example", "properties": { "zoneType": "Private" } },
        ], "nextLink": "https://x/y" });
        let page = read_zones(page.to_string().as_bytes()).unwrap();
        assert_eq!(page.next.as_deref(), Some("https://x/y"));
        let zone =
            AzureZone { name: Name::parse("example.net").unwrap(), group: "one".into(), text: "example.net".into() };
        assert_eq!(page.items, [zone]);
    }
}
