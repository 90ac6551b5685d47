//! Which of the two services it is, and in what they differ. Pure.

/// One of the two services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AzureKind {
    /// Zones that all the world sees.
    Public,
    /// Zones that virtual networks see.
    Private,
}

impl AzureKind {
    /// The version of the API.
    pub fn api_version(self) -> &'static str {
        match self {
            AzureKind::Public => "2018-05-01",
            AzureKind::Private => "2024-06-01",
        }
    }

    /// What zones are called in paths.
    pub fn zones(self) -> &'static str {
        match self {
            AzureKind::Public => "dnsZones",
            AzureKind::Private => "privateDnsZones",
        }
    }

    /// What all record sets of a zone are called in paths.
    pub fn sets(self) -> &'static str {
        match self {
            AzureKind::Public => "recordsets",
            AzureKind::Private => "ALL",
        }
    }

    /// What people call the service.
    pub fn shown(self) -> &'static str {
        match self {
            AzureKind::Public => "Azure DNS",
            AzureKind::Private => "Azure private DNS",
        }
    }

    /// How many record sets of a zone the service lets be written in a minute: as many of them created, modified and
    /// deleted each (the limits of the service, 2024).
    pub fn writes_per_minute(self) -> u64 {
        match self {
            AzureKind::Public => 200,
            AzureKind::Private => 60,
        }
    }

    /// Whether its zones have delegations.
    pub fn delegates(self) -> bool {
        self == AzureKind::Public
    }
}
