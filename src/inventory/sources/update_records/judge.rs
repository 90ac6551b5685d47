//! What the parameters of a record must be to one another.

use std::net::IpAddr;

use super::draft::{FoundAt, RecordDraft};
use crate::dns::Name;
use crate::inventory::update_record::{ParameterName, ParameterValue, RecordProvider, RecordSetting};

/// The most records of a batch that Route 53 takes: 1000, of which the marker of the zone needs two. Source: Route 53
/// API Reference, ChangeResourceRecordSets.
const MAX_BATCH: u64 = 998;

/// The owner that external-dns has where nothing says.
const DEFAULT_OWNER: &str = "default";

/// Judges all of a record; `at` is its provider.
pub fn judge(draft: &mut RecordDraft<'_>, provider: RecordProvider, at: FoundAt) {
    judge_registry(draft, at);
    match provider {
        RecordProvider::Rfc2136 => judge_server(draft, at),
        RecordProvider::CoreDns => judge_etcd(draft),
        RecordProvider::Aws => judge_batches(draft),
        RecordProvider::AwsSd | RecordProvider::Azure | RecordProvider::AzurePrivate => {}
    }
}

/// The text of a setting; none where there is none, or an empty one.
fn text(setting: Option<&RecordSetting>) -> Option<&str> {
    match setting.map(|setting| &setting.value) {
        Some(ParameterValue::Text(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Judges policy, registry and the names of its TXT.
fn judge_registry(draft: &mut RecordDraft<'_>, at: FoundAt) {
    let (policy, registry) = (draft.setting(ParameterName::Policy), draft.setting(ParameterName::Registry));
    let owner = draft.setting(ParameterName::TxtOwnerId);
    let (prefix, suffix) = (draft.setting(ParameterName::TxtPrefix), draft.setting(ParameterName::TxtSuffix));
    let is_noop = text(registry.as_ref()) == Some("noop");
    let is_sync = text(policy.as_ref()).is_none_or(|policy| policy == "sync");
    if is_noop && is_sync {
        let place = registry.as_ref().map_or(at, FoundAt::from);
        let message =
            "with `registry: noop` every record counts as own, so that `policy: sync` would delete all others";
        draft.refuse("sync-without-registry", place, message, "write `registry: txt`, or `policy: upsert-only`");
    }
    // A policy that was refused is no default.
    if !draft.given.contains_key(&ParameterName::Policy) {
        let message = "nothing says `policy`: it is `sync`, which deletes own records that nothing states";
        draft.warn("default-policy", at, message, "write `policy: sync`, or another one");
    }
    if let Some(owner) = owner.filter(|owner| text(Some(owner)) == Some(DEFAULT_OWNER)) {
        let message = "`default` is the owner of every external-dns without another one";
        let hint = "write an owner of its own: two programs with one owner delete each other's records";
        draft.warn("default-owner", &owner, message, hint);
    }
    if let (Some(_), Some(_), Some(suffix)) = (text(prefix.as_ref()), text(suffix.as_ref()), &suffix) {
        let message = "`txt-prefix` and `txt-suffix` exclude each other";
        draft.refuse("bad-value", suffix, message, "keep one of them");
    }
}

/// Judges a name server: where it is, its zones, and how messages are signed.
fn judge_server(draft: &mut RecordDraft<'_>, at: FoundAt) {
    let hosts = draft.setting(ParameterName::Rfc2136Host);
    if let Some(setting) = &hosts
        && let ParameterValue::Texts(texts) = &setting.value
    {
        let is_host = |text: &String| text.parse::<IpAddr>().is_ok() || Name::parse_host(text).is_ok();
        if texts.len() > 1 {
            let message = "`rfc2136-host` names several servers, and a record has one";
            draft.refuse(
                "several-targets",
                setting,
                message,
                "keep the primary; a `[pool.NAME]` may have several targets",
            );
        } else if !texts.iter().all(is_host) {
            let message = "`rfc2136-host` cannot have this value: it is not a name or an address";
            draft.refuse("bad-value", setting, message, "write the port as `rfc2136-port`");
        }
    }
    let zones = draft.setting(ParameterName::Rfc2136Zone);
    let is_lacking = match zones.as_ref().map(|zones| &zones.value) {
        Some(ParameterValue::Texts(texts)) => texts.is_empty(),
        _ => !draft.given.contains_key(&ParameterName::Rfc2136Zone),
    };
    if is_lacking {
        let message = "the record has no `rfc2136-zone`: external-dns would update the root";
        draft.refuse(
            "no-zone",
            zones.as_ref().map_or(at, FoundAt::from),
            message,
            "write the zones that the server has",
        );
    }
    judge_key(draft);
    let (old, new) = (draft.setting(ParameterName::Rfc2136TsigAxfr), draft.setting(ParameterName::Rfc2136Axfr));
    if let (Some(old), Some(new)) = (old, new)
        && old.value != new.value
    {
        let message = "`rfc2136-axfr` and `rfc2136-tsig-axfr` say different things";
        draft.refuse("bad-value", &new, message, "keep `rfc2136-axfr`");
    }
}

/// Judges how messages to a name server are signed.
fn judge_key(draft: &mut RecordDraft<'_>) {
    let (key, insecure) =
        (draft.setting(ParameterName::Rfc2136TsigKeyname), draft.setting(ParameterName::Rfc2136Insecure));
    let Some(name) = text(key.as_ref()) else { return };
    if let Some(key) = key.as_ref().filter(|_| Name::parse(name).is_err()) {
        let message = "`rfc2136-tsig-keyname` cannot have this value: it is not the name of a key";
        draft.refuse("bad-value", key, message, "write it as the server has it, such as `external-dns.`");
    }
    if let Some(insecure) = insecure.filter(|insecure| insecure.value == ParameterValue::Flag(true)) {
        let message = "`rfc2136-insecure` says that no key is used, and `rfc2136-tsig-keyname` names one";
        draft.refuse("bad-value", &insecure, message, "remove `rfc2136-insecure`");
    }
}

/// Judges the prefix and the files of an etcd.
fn judge_etcd(draft: &mut RecordDraft<'_>) {
    if let Some(prefix) = draft.setting(ParameterName::CorednsPrefix)
        && let Some(written) = text(Some(&prefix))
    {
        let inner = written.trim_matches('/');
        let is_part = |part: &str| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_graphic());
        let taken = format!("/{inner}/");
        if !inner.split('/').all(is_part) {
            let message = "`coredns-prefix` cannot have this value: it is not a path";
            draft.refuse("bad-value", &prefix, message, "write `path` of CoreDNS, such as `/skydns/`");
        } else if taken != written {
            let message = format!("`{written}` is taken as `{taken}`: external-dns would put names behind it as it is");
            draft.warn("taken-as", &prefix, message, format!("write `{taken}`"));
        }
    }
    let (cert, key) = (draft.setting(ParameterName::TlsClientCert), draft.setting(ParameterName::TlsClientCertKey));
    if let (Some(one), None) | (None, Some(one)) =
        (cert.as_ref().filter(|cert| text(Some(cert)).is_some()), key.as_ref().filter(|key| text(Some(key)).is_some()))
    {
        let message = "`tls-client-cert` and `tls-client-cert-key` are given together";
        draft.refuse("missing-key", one, message, "write the other one, too");
    }
}

/// Warns of batches that are larger than the service takes.
fn judge_batches(draft: &mut RecordDraft<'_>) {
    for name in [ParameterName::AwsBatchChangeSize, ParameterName::AwsBatchChangeSizeValues] {
        let Some(setting) = draft.setting(name) else { continue };
        // external-dns has 1000 by default, which needs no word.
        if matches!(setting.value, ParameterValue::Number(size) if size > MAX_BATCH + 2) {
            let message = format!("`{name}` is taken as {MAX_BATCH}, all that the service takes next to the marker");
            draft.warn("taken-as", &setting, message, format!("write at most {MAX_BATCH}"));
        }
    }
}
