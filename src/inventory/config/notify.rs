//! `[notify]` of zonewright.toml: what gets the events that need a person.

use std::time;

use super::shared::{A_DURATION, read_command};
use super::toml;
use crate::diag::Files;
use crate::inventory::node::{SettingsNode, SettingsValue, SourceText, TableReader};
use crate::inventory::value::Duration;

/// Why an event needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionReason {
    /// A plan, or an export that it is made from, was refused.
    Refused,
    /// A breaker tripped: nothing is done in its scope until a person resets it.
    Breaker,
    /// Some hosts could not be changed.
    Partial,
    /// A zone, a source, a server, the state or the settings could not be used.
    Outage,
    /// Live DNS is not as desired.
    Drift,
}

impl AttentionReason {
    /// All of them, with the words of the settings.
    pub const ALL: [(&str, AttentionReason); 5] = [
        ("refused", AttentionReason::Refused),
        ("breaker", AttentionReason::Breaker),
        ("partial", AttentionReason::Partial),
        ("outage", AttentionReason::Outage),
        ("drift", AttentionReason::Drift),
    ];
}

/// What events are sent where `on` does not say. Drift is left out: `drift` is a question, and an apply repairs what it finds.
const ON: [AttentionReason; 4] =
    [AttentionReason::Refused, AttentionReason::Breaker, AttentionReason::Partial, AttentionReason::Outage];

/// How long one attempt may take where `timeout` does not say: enough for a slow TLS handshake, and short enough for a timer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The bounds of `timeout`, in seconds. More would keep a run of CI waiting for a receiver that is down.
const TIMEOUTS: std::ops::RangeInclusive<u64> = 1..=60;

/// Where the URL of a webhook is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Webhook {
    /// In the settings.
    Url(String),
    /// In an environment variable: the URL of many services is itself a secret.
    Variable(String),
}

/// What gets which events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifySpec {
    /// A command that reads the event from its standard input: its program and arguments.
    pub command: Option<Vec<String>>,
    /// A URL to which the event is posted.
    pub webhook: Option<Webhook>,
    /// Which events are sent.
    pub on: Vec<AttentionReason>,
    /// How long one attempt may take.
    pub timeout: time::Duration,
}

/// Reads `[notify]`; none where the table is missing or wrong.
pub fn read(reader: &mut TableReader<'_>) -> Option<NotifySpec> {
    let node = reader.take("notify")?;
    let mut table = TableReader::new(node, reader.source());
    let command = table.take("command").and_then(|node| read_command(&mut table, node));
    let webhook = read_webhook(&mut table);
    let on = read_on(&mut table).unwrap_or_else(|| ON.to_vec());
    let timeout = read_timeout(&mut table).unwrap_or(TIMEOUT);
    let mut diagnostics = table.finish();
    if diagnostics.error_count() == 0 && command.is_none() && webhook.is_none() {
        let error = reader.source().error("missing-key", node.origin, node.width, "`[notify]` names no receiver");
        diagnostics.push(error.hint("add `command` or `webhook`"));
    }
    let is_right = diagnostics.error_count() == 0;
    reader.append(diagnostics);
    let timeout = time::Duration::from_secs(timeout.as_secs());
    is_right.then_some(NotifySpec { command, webhook, on, timeout })
}

/// Reads `[notify]` of a text of zonewright.toml in which all else may be wrong: a run that fails for its settings needs a
/// person, too.
pub fn read_alone(text: String) -> Option<NotifySpec> {
    let source = SourceText { file: Files::default().add("zonewright.toml"), text };
    let parsed = toml::parse(&source);
    // A line that cannot be read may have cut a value: a URL without its end is another URL.
    let is_cut = |line| parsed.faults.iter().any(|fault| fault.origin.line == line);
    if let SettingsValue::Table(entries) = &parsed.root.value
        && let Some((_, SettingsNode { value: SettingsValue::Table(keys), .. })) =
            entries.iter().find(|(key, _)| key.name == "notify")
        && keys.iter().any(|(key, _)| is_cut(key.origin.line))
    {
        return None;
    }
    // The diagnostics are thrown away: `check` and the command itself report them.
    read(&mut TableReader::new(&parsed.root, &source))
}

/// Reads `webhook` or `webhook_env`.
fn read_webhook(table: &mut TableReader<'_>) -> Option<Webhook> {
    let url = table.take("webhook").and_then(|node| table.text_of(node).map(|text| (node, text)));
    let variable = table.take("webhook_env").and_then(|node| table.text_of(node).map(|text| (node, text)));
    match (url, variable) {
        (Some(_), Some((node, _))) => {
            table.error(node, "bad-value", "the URL is in `webhook` or in `webhook_env`, not in both");
            None
        }
        (Some((node, text)), None) if !is_url(text) => {
            let error = table.source().error("bad-value", node.origin, node.width, "`webhook` is not a URL");
            table.push(error.hint("write `https://` or `http://`, a host and a path"));
            None
        }
        (Some((_, text)), None) => Some(Webhook::Url(text.to_owned())),
        (None, Some((node, ""))) => {
            table.error(node, "bad-value", "`webhook_env` is the name of an environment variable");
            None
        }
        (None, Some((_, name))) => Some(Webhook::Variable(name.to_owned())),
        (None, None) => None,
    }
}

/// Whether a text looks like the URL of a web service: a scheme, a host, and no blanks (RFC 9110 section 4.2).
pub fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    host.is_some_and(is_host) && text.chars().all(|c| c.is_ascii_graphic())
}

/// Whether a text may be the authority of a URL: a host, with a port of 16 bits where one is given (RFC 3986 section 3.2).
fn is_host(text: &str) -> bool {
    let text = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, port)) => (host, port.strip_prefix(':').or(port.is_empty().then_some("80"))),
            None => return false,
        },
        None => text.split_once(':').map_or((text, Some("80")), |(host, port)| (host, Some(port))),
    };
    !host.is_empty() && port.is_some_and(|port| port.parse::<u16>().is_ok())
}

/// Reads `on`, a list of words; at least one.
fn read_on(table: &mut TableReader<'_>) -> Option<Vec<AttentionReason>> {
    let node: &SettingsNode = table.take("on")?;
    let items = table.list_of(node)?;
    if items.is_empty() {
        table.error(node, "bad-value", "`on` is empty, so no event would be sent");
        return None;
    }
    let words: Vec<Option<AttentionReason>> =
        items.iter().map(|item| table.choice_of(item, &AttentionReason::ALL)).collect();
    words.into_iter().collect()
}

/// Reads `timeout`.
fn read_timeout(table: &mut TableReader<'_>) -> Option<Duration> {
    let node = table.take("timeout")?;
    let timeout = table.parse_node::<Duration>(node, A_DURATION)?;
    if TIMEOUTS.contains(&timeout.as_secs()) {
        return Some(timeout);
    }
    table.error(node, "bad-value", "a timeout is from `1s` to `1m` here: the run waits for it");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_alone_is_read_whatever_else_is_wrong() {
        let spec = read_alone("owner = 7\n[notify]\ncommand = [\"page\"]\n[zone]\n".into()).unwrap();
        assert_eq!(spec.command, Some(vec!["page".to_owned()]));
        assert_eq!((spec.webhook, spec.on.len(), spec.timeout.as_secs()), (None, 4, 10));
        assert_eq!(read_alone("owner = \"x\"\n".into()), None);
        assert_eq!(read_alone("[notify]\nwebhook = \"https://hooks.example.net/a\n".into()), None);
        for wrong in ["command = []", "webhook = \"ftp://x/\"", "command = [\"page\"]\non = []", "on = [\"drift\"]"] {
            assert_eq!(read_alone(format!("[notify]\n{wrong}\n")), None, "{wrong}");
        }
    }

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        for right in ["https://hooks.example.net/a/b?c=d", "http://127.0.0.1:8080", "https://[2001:db8::1]/x"] {
            assert!(is_url(right), "{right}");
        }
        for wrong in [
            "",
            "hooks.example.net",
            "https://",
            "https:///x",
            "http://:80/",
            "http://x:99999/",
            "http://[::1/",
            "https://a b/",
            "HTTPS//x",
        ] {
            assert!(!is_url(wrong), "{wrong}");
        }
    }
}
