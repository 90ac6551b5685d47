//! Zones in Azure DNS that are public.

use super::Provider;
use super::azure_dns::{self, AzureKind};

/// The service, as [`azure_dns`] asks it. Any tool that has the rights may write to its zones.
pub const PROVIDER: Provider = Provider {
    capabilities: |settings| azure_dns::capabilities(KIND, settings),
    check: |settings, source| azure_dns::check(KIND, settings, source),
    server_names: azure_dns::server_names,
    zone_ids: None,
    endpoints: |settings| azure_dns::endpoints(KIND, settings),
    place: |settings| azure_dns::place(KIND, settings),
    open: |settings, context| azure_dns::open(KIND, settings, context),
    open_writer: |settings, context| azure_dns::open_writer(KIND, settings, context),
    bounds: |settings, _| azure_dns::bounds(KIND, settings),
    examine: |settings, context, zones| azure_dns::examine(KIND, settings, context, zones),
};

/// Which of the two services.
const KIND: AzureKind = AzureKind::Public;
