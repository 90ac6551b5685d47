//! The target whose zones a workspace is made of, as the settings of the workspace are to have it. Pure.

use crate::inventory::config::toml::quoted;

/// The comment on a target without a key.
const UNSIGNED: &str = "Most servers accept only signed updates. `tsig-keygen zonewright.` makes a key; the file is \
                        for its owner alone, and keys/ is not kept in git.";

/// What every target of servers says.
const DOCTOR: &str = "`zonewright doctor` says what the server allows, and what to change if it does not allow enough.";

/// What is said about the file of a secret.
const NOT_IN_GIT: &str = "the file is not in git: copy it into every clone, readable by its user alone";

/// What is said about certificates.
const TRUSTED: &str = "the certificates that are trusted in place of the system's";

/// A key, as settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyGiven {
    /// Its name.
    pub name: String,
    /// Its algorithm.
    pub algorithm: String,
    /// The file of its secret.
    pub file: String,
}

impl KeyGiven {
    /// A key as it might be.
    fn example() -> KeyGiven {
        let [name, algorithm, file] = ["zonewright.", "hmac-sha256", "keys/zonewright.key"].map(str::to_owned);
        KeyGiven { name, algorithm, file }
    }

    /// The setting of a target.
    fn setting(&self) -> String {
        let KeyGiven { name, algorithm, file } = self;
        let (name, algorithm, file) = (quoted(name), quoted(algorithm), quoted(file));
        format!("tsig_key = {{ name = {name}, algorithm = {algorithm}, secret_file = {file} }}")
    }
}

/// A target whose zones are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTarget {
    /// A name server that gives transfers and takes updates.
    NameServer {
        /// Where it is.
        server: String,
        /// The key that messages are signed with.
        key: Option<KeyGiven>,
    },
    /// A PowerDNS with its API.
    PowerDns {
        /// Where its API is.
        url: String,
        /// The file of the API's key.
        key_file: String,
        /// Where it takes updates.
        server: String,
        /// The key that updates are signed with.
        key: Option<KeyGiven>,
        /// The file of the certificates that are trusted in place of the system's.
        ca_file: Option<String>,
    },
    /// An etcd.
    Etcd {
        /// The URLs of its members.
        endpoints: Vec<String>,
        /// What all keys begin with, where that is not what CoreDNS has by default.
        prefix: Option<String>,
        /// Who asks, with the file of the password.
        user: Option<(String, String)>,
        /// The file of the certificates that are trusted in place of the system's.
        ca_file: Option<String>,
        /// The files of this client's certificate and of its key.
        client: Option<(String, String)>,
    },
}

impl ImportTarget {
    /// Its type, as settings name it.
    pub fn provider(&self) -> &'static str {
        match self {
            ImportTarget::NameServer { .. } => "rfc2136",
            ImportTarget::PowerDns { .. } => "powerdns",
            ImportTarget::Etcd { .. } => "etcd",
        }
    }

    /// The option that names it.
    pub fn option(&self) -> &'static str {
        match self {
            ImportTarget::NameServer { .. } => "--from-axfr",
            ImportTarget::PowerDns { .. } => "--from-powerdns",
            ImportTarget::Etcd { .. } => "--from-etcd",
        }
    }

    /// What people call it.
    pub fn called(&self) -> String {
        match self {
            ImportTarget::NameServer { server, .. } => format!("the server {server}"),
            ImportTarget::PowerDns { url, .. } => format!("the PowerDNS {url}"),
            ImportTarget::Etcd { endpoints, .. } => format!("the etcd {}", endpoints.join(", ")),
        }
    }

    /// The files of its secrets and certificates.
    pub fn secrets(&self) -> Vec<&str> {
        match self {
            ImportTarget::NameServer { key, .. } => key.iter().map(|key| key.file.as_str()).collect(),
            ImportTarget::PowerDns { key_file, key, ca_file, .. } => {
                key.iter().map(|key| key.file.as_str()).chain([key_file.as_str()]).chain(ca_file.as_deref()).collect()
            }
            ImportTarget::Etcd { user, ca_file, client, .. } => {
                let password = user.as_ref().map(|(_, file)| file.as_str());
                let client = client.iter().flat_map(|(cert, key)| [cert.as_str(), key.as_str()]);
                password.into_iter().chain(ca_file.as_deref()).chain(client).collect()
            }
        }
    }

    /// The same target with the files of its secrets named otherwise.
    pub fn with_secrets(&self, name: &dyn Fn(&str) -> String) -> ImportTarget {
        let renamed =
            |key: &Option<KeyGiven>| key.as_ref().map(|key| KeyGiven { file: name(&key.file), ..key.clone() });
        let mut own = self.clone();
        match &mut own {
            ImportTarget::NameServer { key, .. } => *key = renamed(key),
            ImportTarget::PowerDns { key_file, key, ca_file, .. } => {
                (*key_file, *key, *ca_file) = (name(key_file), renamed(key), ca_file.as_deref().map(name));
            }
            ImportTarget::Etcd { user, ca_file, client, .. } => {
                *user = user.take().map(|(user, file)| (user, name(&file)));
                *ca_file = ca_file.as_deref().map(name);
                *client = client.take().map(|(cert, key)| (name(&cert), name(&key)));
            }
        }
        own
    }

    /// The settings of the target, each with what it is about; lines that begin with `#` are examples.
    pub fn settings(&self) -> Vec<(String, String)> {
        let line = |text: String, about: &str| (text, about.to_owned());
        let setting = |key: &str, value: &str, about: &str| line(format!("{key} = {}", quoted(value)), about);
        let kind = |about: &str| setting("type", self.provider(), about);
        let signed = |key: &Option<KeyGiven>, what: &str| match key {
            Some(key) => line(key.setting(), &format!("signs {what}; {NOT_IN_GIT}")),
            None => line(format!("# {}", KeyGiven::example().setting()), ""),
        };
        match self {
            ImportTarget::NameServer { server, key } => vec![
                kind("read by zone transfer, written by UPDATE"),
                setting("server", server, "the primary of the zones"),
                signed(key, "every message"),
            ],
            ImportTarget::PowerDns { url, key_file, server, key, ca_file } => {
                let mut lines = vec![
                    kind("read by its API, written by UPDATE"),
                    setting("url", url, "the API, without /api/v1"),
                    line(format!("api_key = {{ secret_file = {} }}", quoted(key_file)), NOT_IN_GIT),
                ];
                lines.extend(ca_file.as_ref().map(|file| setting("ca_file", file, TRUSTED)));
                lines.extend([
                    setting("server", server, "the same PowerDNS, as a name server that takes updates"),
                    signed(key, "updates"),
                ]);
                lines
            }
            ImportTarget::Etcd { endpoints, prefix, user, ca_file, client } => {
                let urls: Vec<String> = endpoints.iter().map(|url| quoted(url)).collect();
                let mut lines = vec![
                    kind("read and written by transactions, as CoreDNS reads it"),
                    line(format!("endpoints = [{}]", urls.join(", ")), "the members; the first that answers is asked"),
                ];
                lines.extend(prefix.as_ref().map(|prefix| setting("prefix", prefix, "the `path` of CoreDNS")));
                if let Some((user, file)) = user {
                    lines.push(setting(
                        "user",
                        user,
                        "needs a role that may read and write the prefix and /zonewright",
                    ));
                    lines.push(line(format!("password = {{ secret_file = {} }}", quoted(file)), NOT_IN_GIT));
                }
                lines.extend(ca_file.as_ref().map(|file| setting("ca_file", file, TRUSTED)));
                if let Some((cert, key)) = client {
                    lines.push(setting("cert_file", cert, "the certificate of this client"));
                    lines.push(setting("key_file", key, NOT_IN_GIT));
                }
                lines
            }
        }
    }

    /// What the comment on its pool says.
    pub fn about(&self) -> Vec<String> {
        let is_unsigned =
            matches!(self, ImportTarget::NameServer { key: None, .. } | ImportTarget::PowerDns { key: None, .. });
        [DOCTOR].into_iter().chain(is_unsigned.then_some(UNSIGNED)).map(str::to_owned).collect()
    }

    /// What to know about zones that were not found; none where they are found.
    pub fn unfound(&self) -> Option<String> {
        let is_etcd = matches!(self, ImportTarget::Etcd { .. });
        is_etcd.then(|| {
            "An etcd does not say which zones it has: reverse zones are read where they are named after the URL."
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_the_target_and_where_its_secrets_are() {
        let key =
            KeyGiven { name: "zw.".to_owned(), algorithm: "hmac-sha256".to_owned(), file: "/home/a/zw.key".to_owned() };
        let target = ImportTarget::PowerDns {
            url: "https://ns1.example.net:8081".to_owned(),
            key_file: "/home/a/api".to_owned(),
            server: "192.0.2.1:53".to_owned(),
            key: Some(key),
            ca_file: None,
        };
        let inside = target.with_secrets(&|file| file.replace("/home/a/", "keys/"));
        assert_eq!(inside.secrets(), ["keys/zw.key", "keys/api"]);
        let lines: Vec<String> = inside.settings().into_iter().map(|(line, _)| line).collect();
        let expected = [
            "type = \"powerdns\"",
            "url = \"https://ns1.example.net:8081\"",
            "api_key = { secret_file = \"keys/api\" }",
            "server = \"192.0.2.1:53\"",
            "tsig_key = { name = \"zw.\", algorithm = \"hmac-sha256\", secret_file = \"keys/zw.key\" }",
        ];
        assert_eq!(lines, expected);
        let etcd = ImportTarget::Etcd {
            endpoints: vec!["http://a:2379".to_owned(), "http://b:2379".to_owned()],
            prefix: Some("/dns/".to_owned()),
            user: Some(("us".to_owned(), "pw".to_owned())),
            ca_file: Some("ca.pem".to_owned()),
            client: Some(("c.pem".to_owned(), "c.key".to_owned())),
        };
        let lines: Vec<String> = etcd.settings().into_iter().map(|(line, _)| line).collect();
        let expected = [
            "type = \"etcd\"",
            "endpoints = [\"http://a:2379\", \"http://b:2379\"]",
            "prefix = \"/dns/\"",
            "user = \"us\"",
            "password = { secret_file = \"pw\" }",
            "ca_file = \"ca.pem\"",
            "cert_file = \"c.pem\"",
            "key_file = \"c.key\"",
        ];
        assert_eq!(lines, expected);
        assert_eq!(
            (etcd.secrets(), etcd.called().as_str()),
            (vec!["pw", "ca.pem", "c.pem", "c.key"], "the etcd http://a:2379, http://b:2379")
        );
    }
}
