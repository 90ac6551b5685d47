//! An RRset as the service keeps it: values stay the text that was written.

use super::names::DoubleName;
use super::xml::XmlWriter;

/// An RRset of a zone, or one of several of a name and type that differ in their set identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleRrset {
    /// The owner name: as answers show it, in what the double keeps.
    pub name: String,
    /// The type, such as `AAAA`.
    pub rtype: String,
    /// What sets it apart from others of its name and type; none where it is the only one.
    pub set_identifier: Option<String>,
    /// How the service chooses among those of a name and type; none where it is the only one.
    pub routing: Option<RoutingPolicy>,
    /// In seconds; none for an alias.
    pub ttl: Option<u32>,
    /// The values in the order in which they were written; empty for an alias.
    pub values: Vec<String>,
    /// What it is an alias of.
    pub alias: Option<AliasTarget>,
    /// The health check that decides whether it is answered.
    pub health_check: Option<String>,
    /// The traffic policy instance that made it.
    pub traffic_policy_instance: Option<String>,
}

/// How the service chooses among RRsets of one name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutingPolicy {
    /// By a weight of 0 to 255.
    Weight(u8),
    /// By latency from a region of AWS.
    Region(String),
    /// By where the question comes from.
    Geo {
        /// A code of two letters.
        continent: Option<String>,
        /// A code of two letters, or `*`.
        country: Option<String>,
        /// A code of up to three letters.
        subdivision: Option<String>,
    },
    /// `PRIMARY` or `SECONDARY`.
    Failover(String),
    /// Up to eight healthy ones are answered.
    MultiValue,
    /// By the address that asks.
    Cidr {
        /// The identifier of the collection.
        collection: String,
        /// The name of the location.
        location: String,
    },
    /// By distance, with a bias. The parts are those of the API, each as it was written.
    GeoProximity {
        /// A region of AWS.
        region: Option<String>,
        /// A local zone group.
        local_zone: Option<String>,
        /// Latitude and longitude.
        coordinates: Option<(String, String)>,
        /// From -99 to 99.
        bias: Option<i32>,
    },
}

/// What an alias names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasTarget {
    /// The zone of the target.
    pub zone_id: String,
    /// The name of the target.
    pub dns_name: String,
    /// Whether the health of the target counts.
    pub evaluates_health: bool,
}

/// What an RRset is kept under: the order of listings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RrsetKey {
    /// What names are sorted by.
    pub order: String,
    /// The type.
    pub rtype: String,
    /// The set identifier.
    pub set_identifier: Option<String>,
}

impl DoubleRrset {
    /// Makes an RRset that is the only one of its name and type.
    pub fn new(name: &str, rtype: &str, ttl: u32, values: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            rtype: rtype.to_owned(),
            set_identifier: None,
            routing: None,
            ttl: Some(ttl),
            values: values.iter().map(|&value| value.to_owned()).collect(),
            alias: None,
            health_check: None,
            traffic_policy_instance: None,
        }
    }

    /// Makes an alias that is the only one of its name and type.
    pub fn alias(name: &str, rtype: &str, zone_id: &str, dns_name: &str) -> Self {
        let alias = AliasTarget { zone_id: zone_id.to_owned(), dns_name: dns_name.to_owned(), evaluates_health: false };
        Self { ttl: None, alias: Some(alias), ..Self::new(name, rtype, 0, &[]) }
    }

    /// Makes it one of several of its name and type.
    pub fn routed(self, set_identifier: &str, routing: RoutingPolicy) -> Self {
        Self { set_identifier: Some(set_identifier.to_owned()), routing: Some(routing), ..self }
    }

    /// Returns what it is kept under, given its parsed name.
    pub fn key(&self, name: &DoubleName) -> RrsetKey {
        let set_identifier = self.set_identifier.clone();
        RrsetKey { order: name.order(), rtype: self.rtype.clone(), set_identifier }
    }

    /// Says which one it is, as the messages of the service do.
    pub fn shown(&self) -> String {
        let identifier = self.set_identifier.as_ref().map(|id| format!(", set identifier='{id}'")).unwrap_or_default();
        format!("[name='{}', type='{}'{identifier}]", self.name, self.rtype)
    }

    /// Whether a DELETE that states `self` fits what is there: all that can be stated, and the values as texts.
    pub fn fits(&self, there: &DoubleRrset, order_matters: bool) -> bool {
        let mut values = [self.values.clone(), there.values.clone()];
        if !order_matters {
            values.iter_mut().for_each(|values| values.sort());
        }
        let [stated, kept] = values;
        let rest = |rrset: &DoubleRrset| DoubleRrset { values: Vec::new(), ..rrset.clone() };
        stated == kept && rest(self) == rest(there)
    }

    /// Writes it into a listing, in the order of the API's model.
    pub fn write(&self, xml: &mut XmlWriter) {
        xml.element("ResourceRecordSet", |xml| {
            xml.leaf("Name", &self.name);
            xml.leaf("Type", &self.rtype);
            xml.optional("SetIdentifier", self.set_identifier.as_ref());
            if let Some(routing) = &self.routing {
                routing.write_early(xml);
            }
            xml.optional("TTL", self.ttl.map(|ttl| ttl.to_string()));
            if !self.values.is_empty() {
                xml.element("ResourceRecords", |xml| {
                    for value in &self.values {
                        xml.element("ResourceRecord", |xml| xml.leaf("Value", value));
                    }
                });
            }
            if let Some(alias) = &self.alias {
                xml.element("AliasTarget", |xml| {
                    xml.leaf("HostedZoneId", &alias.zone_id);
                    xml.leaf("DNSName", &alias.dns_name);
                    xml.leaf("EvaluateTargetHealth", alias.evaluates_health.to_string());
                });
            }
            xml.optional("HealthCheckId", self.health_check.as_ref());
            xml.optional("TrafficPolicyInstanceId", self.traffic_policy_instance.as_ref());
            if let Some(routing) = &self.routing {
                routing.write_late(xml);
            }
        });
    }
}

impl RoutingPolicy {
    /// Names the kind, as messages do.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Weight(_) => "weighted",
            Self::Region(_) => "latency",
            Self::Geo { .. } => "geolocation",
            Self::Failover(_) => "failover",
            Self::MultiValue => "multivalue answer",
            Self::Cidr { .. } => "cidr",
            Self::GeoProximity { .. } => "geoproximity",
        }
    }

    /// Writes what comes before the TTL.
    fn write_early(&self, xml: &mut XmlWriter) {
        match self {
            Self::Weight(weight) => xml.leaf("Weight", weight.to_string()),
            Self::Region(region) => xml.leaf("Region", region),
            Self::Geo { continent, country, subdivision } => xml.element("GeoLocation", |xml| {
                xml.optional("ContinentCode", continent.as_ref());
                xml.optional("CountryCode", country.as_ref());
                xml.optional("SubdivisionCode", subdivision.as_ref());
            }),
            Self::Failover(side) => xml.leaf("Failover", side),
            Self::MultiValue => xml.leaf("MultiValueAnswer", "true"),
            Self::Cidr { .. } | Self::GeoProximity { .. } => {}
        }
    }

    /// Writes what comes at the end.
    fn write_late(&self, xml: &mut XmlWriter) {
        match self {
            Self::Cidr { collection, location } => xml.element("CidrRoutingConfig", |xml| {
                xml.leaf("CollectionId", collection);
                xml.leaf("LocationName", location);
            }),
            Self::GeoProximity { region, local_zone, coordinates, bias } => {
                xml.element("GeoProximityLocation", |xml| {
                    xml.optional("AWSRegion", region.as_ref());
                    xml.optional("LocalZoneGroup", local_zone.as_ref());
                    if let Some((latitude, longitude)) = coordinates {
                        xml.element("Coordinates", |xml| {
                            xml.leaf("Latitude", latitude);
                            xml.leaf("Longitude", longitude);
                        });
                    }
                    xml.optional("Bias", bias.map(|bias| bias.to_string()));
                });
            }
            _ => {}
        }
    }
}
