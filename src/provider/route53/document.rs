//! Requests and answers of Route 53: hosted zones, RRsets, changes. Pure.
//!
//! Source: the published model of the API 2013-04-01.

use super::names::{name_text, parse_name, parse_value, value_text};
use crate::dns::{Name, NameRef, Rrset, Rtype, Ttl};
use crate::provider::aws::{XmlElement, escaped};

/// What all documents of the API are of.
const NAMESPACE: &str = "https://route53.amazonaws.com/doc/2013-04-01/";

/// A hosted zone in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedZone {
    /// Its id, without what is in front of it.
    pub id: String,
    /// Its name.
    pub name: Name,
    /// How many sets it has.
    pub sets: u64,
    /// Whether only networks that it is for see it.
    pub is_private: bool,
    /// The service of Amazon that made it and writes it.
    pub linked_service: Option<String>,
}

/// A page of a list of hosted zones.
#[derive(Debug, PartialEq, Eq)]
pub struct ZonePage {
    /// The zones.
    pub zones: Vec<HostedZone>,
    /// Where the next page begins, where there is one.
    pub next: Option<String>,
}

/// A set of records in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSet {
    /// The owner name, as it is listed.
    pub name: String,
    /// The type, as it is listed.
    pub rtype: String,
    /// The TTL in seconds, as it is listed.
    pub ttl: String,
    /// The values, as they are listed: the service keeps what was written, and compares with that.
    pub values: Vec<String>,
    /// What it is, where it is no plain RRset.
    pub special: Option<&'static str>,
}

/// Where a page of a list of sets begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetPlace {
    /// The owner name.
    pub name: String,
    /// The type, where it does not begin with the first one.
    pub rtype: Option<String>,
    /// The identifier among sets of one name and type, where it does not begin with the first one.
    pub identifier: Option<String>,
}

/// A page of a list of sets.
#[derive(Debug, PartialEq, Eq)]
pub struct SetPage {
    /// The sets.
    pub sets: Vec<ListedSet>,
    /// Where the next page begins, where there is one.
    pub next: Option<SetPlace>,
}

/// A page of a list of protections.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtectionPage {
    /// The names and types that no change may touch.
    pub protected: Vec<(Name, String)>,
    /// What the next page is asked for with, where there is one.
    pub next: Option<String>,
}

/// A change that the service took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenChange {
    /// Its id.
    pub id: String,
    /// Whether all name servers of the service have it.
    pub is_in_sync: bool,
}

/// What the service says instead of doing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceFault {
    /// Its code.
    pub code: String,
    /// What is wrong; of a batch of changes, a message for each that fails.
    pub messages: Vec<String>,
}

/// What kind of set an element makes of one.
const SPECIAL: [(&str, &str); 10] = [
    ("AliasTarget", "an alias"),
    ("Weight", "a weighted set"),
    ("Region", "a set for a region"),
    ("GeoLocation", "a set for a location"),
    ("GeoProximityLocation", "a set for a location"),
    ("CidrRoutingConfig", "a set for networks"),
    ("Failover", "a set for a failover"),
    ("MultiValueAnswer", "a set of several answers"),
    ("TrafficPolicyInstanceId", "a set of a traffic policy"),
    ("HealthCheckId", "a set with a health check"),
];

impl ListedSet {
    /// The owner name.
    ///
    /// Errors: in words.
    pub fn owner(&self) -> Result<Name, String> {
        parse_name(&self.name)
    }

    /// The RRset that it is, with its type, or what it is instead, as a part of a sentence.
    pub fn rrset(&self) -> Result<(Rtype, Rrset), String> {
        if let Some(special) = self.special {
            return Err(format!("{special} of type {}", self.rtype));
        }
        let rtype: Option<Rtype> = self.rtype.parse().ok();
        let ttl = self.ttl.parse().ok().and_then(Ttl::from_secs);
        let parts = rtype.zip(ttl).and_then(|(rtype, ttl)| {
            let rdata = self.values.iter().map(|value| parse_value(rtype, value)).collect::<Option<Vec<_>>>()?;
            Some((rtype, Rrset::new(ttl, rdata)?))
        });
        parts.ok_or_else(|| format!("a set of type {} that cannot be read", self.rtype))
    }

    /// The set for an RRset.
    pub fn of(owner: NameRef<'_>, rtype: Rtype, rrset: &Rrset) -> ListedSet {
        ListedSet {
            name: name_text(owner),
            rtype: rtype.to_string(),
            ttl: rrset.ttl().as_secs().to_string(),
            values: rrset.rdata().iter().map(|rdata| value_text(rtype, rdata)).collect(),
            special: None,
        }
    }

    /// As a part of a request.
    fn to_xml(&self) -> String {
        let record = |value: &String| format!("<ResourceRecord><Value>{}</Value></ResourceRecord>", escaped(value));
        let records: String = self.values.iter().map(record).collect();
        let (name, rtype, ttl) = (escaped(&self.name), escaped(&self.rtype), escaped(&self.ttl));
        format!(
            "<ResourceRecordSet><Name>{name}</Name><Type>{rtype}</Type><TTL>{ttl}</TTL>\
             <ResourceRecords>{records}</ResourceRecords></ResourceRecordSet>"
        )
    }
}

/// What a batch does with a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetAction {
    /// Deletes it, if it is there like this.
    Delete(ListedSet),
    /// Creates it, if nothing of its name and type is there.
    Create(ListedSet),
}

/// The request for a batch of changes, which takes effect as a whole or not at all. Nothing in it overwrites.
pub fn batch(actions: &[SetAction]) -> String {
    let change = |action: &SetAction| {
        let (verb, set) = match action {
            SetAction::Delete(set) => ("DELETE", set),
            SetAction::Create(set) => ("CREATE", set),
        };
        format!("<Change><Action>{verb}</Action>{}</Change>", set.to_xml())
    };
    let changes: String = actions.iter().map(change).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ChangeResourceRecordSetsRequest xmlns=\"{NAMESPACE}\"><ChangeBatch>\
         <Changes>{changes}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>"
    )
}

/// The request for a public hosted zone; `reference` makes a second request the same as the first.
pub fn new_zone(name: NameRef<'_>, reference: &str) -> String {
    let (name, reference) = (escaped(&name_text(name)), escaped(reference));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><CreateHostedZoneRequest xmlns=\"{NAMESPACE}\"><Name>{name}</Name>\
         <CallerReference>{reference}</CallerReference></CreateHostedZoneRequest>"
    )
}

/// Reads a page of hosted zones.
///
/// Errors: in words.
pub fn read_zones(octets: &[u8]) -> Result<ZonePage, String> {
    let page = answer(octets, "ListHostedZonesResponse")?;
    let zone = |listed: &XmlElement| {
        let id = listed.text_of("Id").ok_or("a hosted zone without an id")?;
        let config = listed.child("Config");
        Ok(HostedZone {
            id: id.trim_start_matches("/hostedzone/").to_owned(),
            name: parse_name(listed.text_of("Name").ok_or("a hosted zone without a name")?)?,
            sets: listed.text_of("ResourceRecordSetCount").and_then(|count| count.parse().ok()).unwrap_or(0),
            is_private: config.and_then(|config| config.text_of("PrivateZone")) == Some("true"),
            linked_service: listed.child("LinkedService").map(|service| {
                let principal = service.text_of("ServicePrincipal").filter(|principal| !principal.is_empty());
                principal.or_else(|| service.text_of("Description")).unwrap_or_default().to_owned()
            }),
        })
    };
    let zones = page.list_of("HostedZones").iter().map(zone).collect::<Result<_, String>>()?;
    let next = is_truncated(&page).then(|| required(&page, "NextMarker")).transpose()?;
    Ok(ZonePage { zones, next })
}

/// Reads a page of sets.
///
/// Errors: in words.
pub fn read_sets(octets: &[u8]) -> Result<SetPage, String> {
    let page = answer(octets, "ListResourceRecordSetsResponse")?;
    let set = |listed: &XmlElement| {
        let special = SPECIAL.iter().find(|(element, _)| listed.child(element).is_some()).map(|(_, what)| *what);
        let value = |record: &XmlElement| record.text_of("Value").unwrap_or_default().to_owned();
        Ok(ListedSet {
            name: required(listed, "Name")?,
            rtype: required(listed, "Type")?,
            ttl: listed.text_of("TTL").unwrap_or_default().to_owned(),
            values: listed.list_of("ResourceRecords").iter().map(value).collect(),
            special: special.or_else(|| listed.child("SetIdentifier").map(|_| "one of several sets")),
        })
    };
    let sets = page.list_of("ResourceRecordSets").iter().map(set).collect::<Result<_, String>>()?;
    let place = || {
        let optional = |name: &str| page.text_of(name).map(str::to_owned);
        let (rtype, identifier) = (optional("NextRecordType"), optional("NextRecordIdentifier"));
        Ok::<_, String>(SetPlace { name: required(&page, "NextRecordName")?, rtype, identifier })
    };
    Ok(SetPage { sets, next: is_truncated(&page).then(place).transpose()? })
}

/// Reads a page of protections.
///
/// Errors: in words.
pub fn read_protections(octets: &[u8]) -> Result<ProtectionPage, String> {
    let page = answer(octets, "ListResourceRecordSetProtectionsResponse")?;
    let protection =
        |listed: &XmlElement| Ok((parse_name(&required(listed, "RecordName")?)?, required(listed, "RecordType")?));
    let listed = page.list_of("ResourceRecordSetProtections");
    let protected = listed.iter().map(protection).collect::<Result<_, String>>()?;
    let next = page.text_of("NextToken").filter(|token| !token.is_empty()).map(str::to_owned);
    Ok(ProtectionPage { protected, next })
}

/// The tags of a zone, by its id: each with its key and value.
pub type ZoneTags = (String, Vec<(String, String)>);

/// Reads the tags of zones.
///
/// Errors: in words.
pub fn read_tags(octets: &[u8]) -> Result<Vec<ZoneTags>, String> {
    let sets = answer(octets, "ListTagsForResourcesResponse")?;
    let tag = |tag: &XmlElement| Ok((required(tag, "Key")?, tag.text_of("Value").unwrap_or_default().to_owned()));
    let set = |set: &XmlElement| {
        let tags = set.list_of("Tags").iter().map(tag).collect::<Result<_, String>>()?;
        Ok((required(set, "ResourceId")?, tags))
    };
    sets.list_of("ResourceTagSets").iter().map(set).collect()
}

/// The request for the tags of zones, of which ten may be asked for at once.
pub fn tags_of(ids: &[&str]) -> String {
    let ids: String = ids.iter().map(|id| format!("<ResourceId>{}</ResourceId>", escaped(id))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListTagsForResourcesRequest xmlns=\"{NAMESPACE}\">\
         <ResourceIds>{ids}</ResourceIds></ListTagsForResourcesRequest>"
    )
}

/// Reads the status of a change: the answer to a batch, to a new zone, or to a question for it.
///
/// Errors: in words.
pub fn read_change(octets: &[u8]) -> Result<TakenChange, String> {
    let document = XmlElement::parse(octets).map_err(unread)?;
    let info = document.child("ChangeInfo").ok_or_else(|| unread("it says nothing of a change".to_owned()))?;
    let id = required(info, "Id")?.trim_start_matches("/change/").to_owned();
    Ok(TakenChange { id, is_in_sync: info.text_of("Status") == Some("INSYNC") })
}

/// Reads what the service says instead of doing something; what is no such document has no code.
pub fn read_fault(octets: &[u8]) -> ServiceFault {
    let Ok(document) = XmlElement::parse(octets) else {
        return ServiceFault { code: String::new(), messages: Vec::new() };
    };
    if document.name == "InvalidChangeBatch" {
        let messages = document.list_of("Messages").iter().map(|message| message.text.clone()).collect();
        return ServiceFault { code: document.name, messages };
    }
    let error = document.child("Error").unwrap_or(&document);
    let code = error.text_of("Code").unwrap_or_default().to_owned();
    let messages = error.text_of("Message").map(split_messages).unwrap_or_default();
    ServiceFault { code, messages }
}

/// The messages of a text: `[Tried to create …, Tried to delete …]` are several.
fn split_messages(text: &str) -> Vec<String> {
    let Some(list) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
        return vec![text.to_owned()];
    };
    let mut messages: Vec<String> = Vec::new();
    for part in list.split(", ") {
        match messages.last_mut() {
            // What goes on after a comma begins with a small letter or a quotation mark.
            Some(last) if !part.starts_with(|c: char| c.is_ascii_uppercase()) => *last = format!("{last}, {part}"),
            _ => messages.push(part.to_owned()),
        }
    }
    messages
}

/// The name and the type that a message about a change of a batch is about, as the service writes them:
/// `[name='a.example.net.', type='A']`, or `RRSet of type A with DNS name a.example.net. is …`.
pub fn subject_of(message: &str) -> Option<(Name, Rtype)> {
    let between = |begin: &str, end: char| {
        let rest = &message[message.find(begin)? + begin.len()..];
        Some(&rest[..rest.find(end)?])
    };
    let name = between("name='", '\'').or_else(|| between("DNS name ", ' '))?;
    let rtype = between("type='", '\'').or_else(|| between("RRSet of type ", ' '))?;
    Some((parse_name(name).ok()?, rtype.parse().ok()?))
}

/// An answer of this kind.
fn answer(octets: &[u8], kind: &str) -> Result<XmlElement, String> {
    let document = XmlElement::parse(octets).map_err(unread)?;
    if document.name == kind { Ok(document) } else { Err(unread(format!("it is `{}`", document.name))) }
}

/// The words for an answer that is none.
fn unread(why: String) -> String {
    format!("its answer cannot be read: {why}")
}

/// Whether there is another page.
fn is_truncated(page: &XmlElement) -> bool {
    page.text_of("IsTruncated") == Some("true")
}

/// The text of an element that must be there.
fn required(element: &XmlElement, name: &str) -> Result<String, String> {
    let text = element.text_of(name).filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| unread(format!("`{}` has no `{name}`", element.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Rdata;

    /// A page of sets: a plain one, an alias, a weighted one, and one with a type that is not known.
    const PAGE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
        <ListResourceRecordSetsResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><ResourceRecordSets>
        <ResourceRecordSet><Name>\052.example.net.</Name><Type>TXT</Type><TTL>300</TTL><ResourceRecords>
        <ResourceRecord><Value>"a &amp; \"b\""</Value></ResourceRecord><ResourceRecord><Value>"c"</Value></ResourceRecord>
        </ResourceRecords></ResourceRecordSet>
        <ResourceRecordSet><Name>a.example.net.</Name><Type>A</Type><AliasTarget><HostedZoneId>Z1</HostedZoneId>
        <DNSName>b.example.net.</DNSName><EvaluateTargetHealth>false</EvaluateTargetHealth></AliasTarget></ResourceRecordSet>
        <ResourceRecordSet><Name>w.example.net.</Name><Type>A</Type><SetIdentifier>one</SetIdentifier><Weight>1</Weight>
        <TTL>60</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords>
        </ResourceRecordSet>
        <ResourceRecordSet><Name>n.example.net.</Name><Type>NEW</Type><TTL>60</TTL><ResourceRecords><ResourceRecord>
        <Value>x</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></ResourceRecordSets>
        <IsTruncated>true</IsTruncated><NextRecordName>o.example.net.</NextRecordName><NextRecordType>A</NextRecordType>
        <MaxItems>4</MaxItems></ListResourceRecordSetsResponse>"#;

    fn words(set: &ListedSet) -> String {
        let owner = set.owner().unwrap();
        match set.rrset() {
            Ok((rtype, rrset)) => format!("{owner} {} {rtype} {}", rrset.ttl(), rrset.rdata_texts(rtype).join(", ")),
            Err(what) => format!("{owner} has {what}"),
        }
    }

    #[test]
    fn a_page_has_plain_sets_and_others() {
        let SetPage { sets, next } = read_sets(PAGE.as_bytes()).unwrap();
        assert_eq!(
            sets.iter().map(words).collect::<Vec<_>>(),
            [
                r#"*.example.net. 300 TXT "a & \"b\"", "c""#,
                "a.example.net. has an alias of type A",
                "w.example.net. has a weighted set of type A",
                "n.example.net. has a set of type NEW that cannot be read",
            ]
        );
        let next = next.unwrap();
        assert_eq!((next.name.as_str(), next.rtype.as_deref(), next.identifier), ("o.example.net.", Some("A"), None));
        let bad = read_sets(PAGE.replace("NextRecordName", "Other").as_bytes()).unwrap_err();
        assert!(bad.contains("has no `NextRecordName`"), "{bad}");
        assert!(read_sets(&PAGE.as_bytes()[..PAGE.len() / 2]).unwrap_err().starts_with("its answer cannot be read"));
        assert!(read_sets(b"<Other/>").unwrap_err().contains("it is `Other`"));
    }

    #[test]
    fn a_batch_deletes_what_was_listed_and_creates() {
        let listed = ListedSet {
            name: r"\052.example.net.".into(),
            rtype: "AAAA".into(),
            ttl: "60".into(),
            values: vec!["2001:0db8::a".into()],
            special: None,
        };
        let rdata = Rdata::read(Rtype::TXT, r#""<\"x\009>""#, NameRef::ROOT).unwrap();
        let rrset = Rrset::new(Ttl::ZERO, vec![rdata]).unwrap();
        let created = ListedSet::of(Name::parse("a.example.net").unwrap().as_name(), Rtype::TXT, &rrset);
        let text = batch(&[SetAction::Delete(listed), SetAction::Create(created)]);
        let changes = text.split("<Changes>").nth(1).unwrap();
        assert_eq!(
            changes,
            "<Change><Action>DELETE</Action><ResourceRecordSet><Name>\\052.example.net.</Name><Type>AAAA</Type><TTL>60</TTL>\
             <ResourceRecords><ResourceRecord><Value>2001:0db8::a</Value></ResourceRecord></ResourceRecords>\
             </ResourceRecordSet></Change>\
             <Change><Action>CREATE</Action><ResourceRecordSet><Name>a.example.net.</Name><Type>TXT</Type><TTL>0</TTL>\
             <ResourceRecords><ResourceRecord><Value>&quot;&lt;\\&quot;x\\011&gt;&quot;</Value></ResourceRecord>\
             </ResourceRecords></ResourceRecordSet></Change></Changes></ChangeBatch></ChangeResourceRecordSetsRequest>"
        );
    }

    #[test]
    fn faults_name_the_changes_that_fail() {
        let batch = br#"<?xml version="1.0"?><InvalidChangeBatch xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Messages>
            <Message>Tried to create resource record set [name='\052.example.net.', type='A'] but it already exists</Message>
            <Message>Tried to delete resource record set [name='b.example.net.', type='AAAA'] but it was not found</Message>
            </Messages><RequestId>1</RequestId></InvalidChangeBatch>"#;
        let fault = read_fault(batch);
        assert_eq!((fault.code.as_str(), fault.messages.len()), ("InvalidChangeBatch", 2));
        let subjects: Vec<_> = fault.messages.iter().map(|message| subject_of(message).unwrap()).collect();
        assert_eq!(subjects[0], (Name::parse("*.example.net").unwrap(), Rtype::A));
        assert_eq!(subjects[1], (Name::parse("b.example.net").unwrap(), Rtype::AAAA));
        assert_eq!(subject_of("Invalid request"), None);
        let listed = br#"<ErrorResponse><Error><Type>Sender</Type><Code>InvalidChangeBatch</Code><Message>[Tried to create
            resource record set [name='a.example.net.', type='A'] but it already exists, RRSet of type A with DNS name b.example.net. is not permitted]</Message></Error></ErrorResponse>"#;
        let fault = read_fault(listed);
        assert_eq!((fault.code.as_str(), fault.messages.len()), ("InvalidChangeBatch", 2), "{fault:?}");
        assert_eq!(subject_of(&fault.messages[0]), Some((Name::parse("a.example.net").unwrap(), Rtype::A)));
        assert_eq!(subject_of(&fault.messages[1]), Some((Name::parse("b.example.net").unwrap(), Rtype::A)));
        let other = br#"<ErrorResponse><Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error>
            <RequestId>1</RequestId></ErrorResponse>"#;
        assert_eq!(
            read_fault(other),
            ServiceFault { code: "Throttling".into(), messages: vec!["Rate exceeded".into()] }
        );
        assert_eq!(read_fault(b"<html>").code, "");
    }

    #[test]
    fn zones_and_changes_are_read() {
        let zones = br#"<ListHostedZonesResponse><HostedZones><HostedZone><Id>/hostedzone/Z1</Id><Name>example.net.</Name>
            <CallerReference>x</CallerReference><Config><PrivateZone>true</PrivateZone></Config></HostedZone>
            <HostedZone><Id>/hostedzone/Z2</Id><Name>0\05725.2.0.192.in-addr.arpa.</Name><CallerReference>y</CallerReference>
            <LinkedService><ServicePrincipal>servicediscovery.amazonaws.com</ServicePrincipal></LinkedService></HostedZone>
            </HostedZones><IsTruncated>true</IsTruncated><NextMarker>Z3</NextMarker></ListHostedZonesResponse>"#;
        let page = read_zones(zones).unwrap();
        assert_eq!(
            (page.zones[0].id.as_str(), page.zones[0].is_private, page.next.as_deref()),
            ("Z1", true, Some("Z3"))
        );
        assert_eq!(page.zones[1].name, Name::parse("0/25.2.0.192.in-addr.arpa").unwrap());
        assert_eq!(page.zones[1].linked_service.as_deref(), Some("servicediscovery.amazonaws.com"));
        let change = br#"<GetChangeResponse><ChangeInfo><Id>/change/C1</Id><Status>INSYNC</Status></ChangeInfo></GetChangeResponse>"#;
        assert_eq!(read_change(change).unwrap(), TakenChange { id: "C1".into(), is_in_sync: true });
        assert!(read_change(b"<A/>").is_err());
    }
}
