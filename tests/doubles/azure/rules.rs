//! What a test can set: limits, and what is not documented well enough to be sure of.

use std::collections::BTreeSet;

/// Which of the two services a double is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AzureKind {
    /// Public zones: `Microsoft.Network/dnsZones`, version 2018-05-01.
    Public,
    /// Private zones: `Microsoft.Network/privateDnsZones`, version 2024-06-01.
    Private,
}

impl AzureKind {
    /// Returns the only version of the API that the double has.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Public => "2018-05-01",
            Self::Private => "2024-06-01",
        }
    }

    /// Returns the type of zones as answers write it. The public service writes it in lower case.
    pub fn zone_type(self) -> &'static str {
        match self {
            Self::Public => "dnszones",
            Self::Private => "privateDnsZones",
        }
    }

    /// Returns the type of zones as roles write it.
    pub fn action_type(self) -> &'static str {
        match self {
            Self::Public => "dnsZones",
            Self::Private => "privateDnsZones",
        }
    }

    /// Returns the types of record sets.
    pub fn types(self) -> &'static [&'static str] {
        match self {
            Self::Public => &["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"],
            Self::Private => &["A", "AAAA", "CNAME", "MX", "PTR", "SOA", "SRV", "TXT"],
        }
    }
}

/// How many requests of each kind a zone has in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AzureRates {
    /// Record sets that are created.
    pub creates: u32,
    /// Record sets that are updated.
    pub updates: u32,
    /// Record sets that are deleted.
    pub deletes: u32,
    /// Pages of listings.
    pub lists: u32,
    /// Zones and record sets that are read one by one.
    pub gets: u32,
}

/// The settings of a double. The defaults are the strictest that a real subscription can be.
#[derive(Debug, Clone)]
pub struct AzureRules {
    /// Whether requests must have a bearer token.
    pub checks_token: bool,
    /// The audiences that Resource Manager takes in tokens, without a slash at the end.
    pub audiences: Vec<String>,
    /// How many seconds a token is good for.
    pub token_seconds: i64,
    /// The actions that the roles allow, such as `Microsoft.Network/dnsZones/A/write`; none allows all. Case does not
    /// matter.
    pub allowed_actions: Option<BTreeSet<String>>,
    /// How many requests a zone has in a minute; none for as many as come.
    pub rates: Option<AzureRates>,
    /// How a request is answered that is one too many.
    pub throttle_answer: ThrottleAnswer,
    /// The most record sets of a zone.
    pub max_record_sets: usize,
    /// The most records of a record set.
    pub max_records_a_set: usize,
    /// The most characters of all TXT records of a set: 1 024 in national clouds.
    pub max_txt_characters: usize,
    /// The most record sets or zones of a page.
    pub max_page: usize,
    /// The most pairs of metadata of a record set. This number is a guess.
    pub max_metadata: usize,
    /// The most characters of a name and of a value of metadata. These numbers are those of tags.
    pub max_metadata_characters: (usize, usize),
    /// Whether a record set without records can be written. The command line of the service does so.
    pub allows_empty_sets: bool,
    /// Whether etags are in quotation marks inside answers, as in the examples of private zones.
    pub quotes_etags: bool,
    /// What a DELETE with `If-Match` is answered where the record set is gone.
    pub delete_of_gone: GoneAnswer,
    /// How many times the status of a change of a zone is asked before it is done; 0 for at once, without a status. A public zone is
    /// made at once, by the published model of its service.
    pub zone_asks: u32,
}

impl AzureRules {
    /// Makes the defaults of a service. Source of the limits: its documentation, as of 2024.
    pub fn new(kind: AzureKind) -> Self {
        let (rates, max_record_sets) = match kind {
            AzureKind::Public => {
                (AzureRates { creates: 200, updates: 200, deletes: 200, lists: 60, gets: 2_000 }, 10_000)
            }
            AzureKind::Private => (AzureRates { creates: 60, updates: 60, deletes: 60, lists: 100, gets: 200 }, 25_000),
        };
        Self {
            checks_token: true,
            audiences: ["https://management.azure.com", "https://management.core.windows.net"]
                .map(str::to_owned)
                .into(),
            token_seconds: 3_599,
            allowed_actions: None,
            rates: Some(rates),
            throttle_answer: ThrottleAnswer::ResourceManager,
            max_record_sets,
            max_records_a_set: 20,
            max_txt_characters: 4_096,
            max_page: 100,
            max_metadata: 10,
            max_metadata_characters: (512, 256),
            allows_empty_sets: true,
            quotes_etags: false,
            delete_of_gone: GoneAnswer::PreconditionFailed,
            zone_asks: 0,
        }
    }
}

/// How a request is answered that is one too many. Users of the service report both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThrottleAnswer {
    /// An error of Resource Manager with the code `TooManyRequests`.
    ResourceManager,
    /// A JSON string that has an error of the service with the code `Throttled`, as JSON once more, in it.
    JsonInString,
}

/// What a DELETE with `If-Match` is answered where the record set is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoneAnswer {
    /// 412, as the header's meaning is.
    PreconditionFailed,
    /// 204, as without the header.
    NoContent,
}
