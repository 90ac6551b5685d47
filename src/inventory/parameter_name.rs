//! The names of the parameters of DNS update records, as external-dns calls its flags.
//!
//! Source: external-dns v0.22, docs/flags.md, and v0.7.6 for those that are gone.

use crate::document::words;

words! {
    /// The name of a parameter.
    ParameterName {
        /// `--aws-api-retries`.
        AwsApiRetries = "aws-api-retries",
        /// `--aws-assume-role`.
        AwsAssumeRole = "aws-assume-role",
        /// `--aws-assume-role-external-id`.
        AwsAssumeRoleExternalId = "aws-assume-role-external-id",
        /// `--aws-batch-change-interval`.
        AwsBatchChangeInterval = "aws-batch-change-interval",
        /// `--aws-batch-change-size`.
        AwsBatchChangeSize = "aws-batch-change-size",
        /// `--aws-batch-change-size-bytes`.
        AwsBatchChangeSizeBytes = "aws-batch-change-size-bytes",
        /// `--aws-batch-change-size-values`.
        AwsBatchChangeSizeValues = "aws-batch-change-size-values",
        /// `--aws-evaluate-target-health`.
        AwsEvaluateTargetHealth = "aws-evaluate-target-health",
        /// `--aws-prefer-cname`.
        AwsPreferCname = "aws-prefer-cname",
        /// `--aws-zone-tags`.
        AwsZoneTags = "aws-zone-tags",
        /// `--aws-zone-type`.
        AwsZoneType = "aws-zone-type",
        /// `--aws-zones-cache-duration`.
        AwsZonesCacheDuration = "aws-zones-cache-duration",
        /// `--azure-config-file`.
        AzureConfigFile = "azure-config-file",
        /// `--azure-maxretries-count`.
        AzureMaxretriesCount = "azure-maxretries-count",
        /// `--azure-resource-group`.
        AzureResourceGroup = "azure-resource-group",
        /// `--azure-subscription-id`.
        AzureSubscriptionId = "azure-subscription-id",
        /// `--azure-user-assigned-identity-client-id`.
        AzureUserAssignedIdentityClientId = "azure-user-assigned-identity-client-id",
        /// `--azure-zones-cache-duration`.
        AzureZonesCacheDuration = "azure-zones-cache-duration",
        /// `--combine-fqdn-annotation`.
        CombineFqdnAnnotation = "combine-fqdn-annotation",
        /// `--compatibility`.
        Compatibility = "compatibility",
        /// `--contour-load-balancer`.
        ContourLoadBalancer = "contour-load-balancer",
        /// `--coredns-prefix`.
        CorednsPrefix = "coredns-prefix",
        /// `--coredns-strictly-owned`.
        CorednsStrictlyOwned = "coredns-strictly-owned",
        /// `--domain-filter`.
        DomainFilter = "domain-filter",
        /// `--dry-run`.
        DryRun = "dry-run",
        /// `--exclude-domains`.
        ExcludeDomains = "exclude-domains",
        /// `--fqdn-template`.
        FqdnTemplate = "fqdn-template",
        /// `--ignore-hostname-annotation`.
        IgnoreHostnameAnnotation = "ignore-hostname-annotation",
        /// `--interval`.
        Interval = "interval",
        /// `--log-format`.
        LogFormat = "log-format",
        /// `--log-level`.
        LogLevel = "log-level",
        /// `--metrics-address`.
        MetricsAddress = "metrics-address",
        /// `--once`.
        Once = "once",
        /// `--policy`.
        Policy = "policy",
        /// `--provider`.
        Provider = "provider",
        /// `--publish-host-ip`.
        PublishHostIp = "publish-host-ip",
        /// `--publish-internal-services`.
        PublishInternalServices = "publish-internal-services",
        /// `--registry`.
        Registry = "registry",
        /// `--request-timeout`.
        RequestTimeout = "request-timeout",
        /// `--rfc2136-axfr`.
        Rfc2136Axfr = "rfc2136-axfr",
        /// `--rfc2136-host`.
        Rfc2136Host = "rfc2136-host",
        /// `--rfc2136-insecure`.
        Rfc2136Insecure = "rfc2136-insecure",
        /// `--rfc2136-port`.
        Rfc2136Port = "rfc2136-port",
        /// `--rfc2136-tsig-axfr`.
        Rfc2136TsigAxfr = "rfc2136-tsig-axfr",
        /// `--rfc2136-tsig-keyname`.
        Rfc2136TsigKeyname = "rfc2136-tsig-keyname",
        /// `--rfc2136-tsig-secret`.
        Rfc2136TsigSecret = "rfc2136-tsig-secret",
        /// `--rfc2136-tsig-secret-alg`.
        Rfc2136TsigSecretAlg = "rfc2136-tsig-secret-alg",
        /// `--rfc2136-zone`.
        Rfc2136Zone = "rfc2136-zone",
        /// `--service-type-filter`.
        ServiceTypeFilter = "service-type-filter",
        /// `--tls-ca`.
        TlsCa = "tls-ca",
        /// `--tls-client-cert`.
        TlsClientCert = "tls-client-cert",
        /// `--tls-client-cert-key`.
        TlsClientCertKey = "tls-client-cert-key",
        /// `--txt-cache-interval`.
        TxtCacheInterval = "txt-cache-interval",
        /// `--txt-encrypt-aes-key`.
        TxtEncryptAesKey = "txt-encrypt-aes-key",
        /// `--txt-encrypt-enabled`.
        TxtEncryptEnabled = "txt-encrypt-enabled",
        /// `--txt-owner-id`.
        TxtOwnerId = "txt-owner-id",
        /// `--txt-prefix`.
        TxtPrefix = "txt-prefix",
        /// `--txt-suffix`.
        TxtSuffix = "txt-suffix",
        /// `--txt-wildcard-replacement`.
        TxtWildcardReplacement = "txt-wildcard-replacement",
        /// `--zone-id-filter`.
        ZoneIdFilter = "zone-id-filter",
    }
}
