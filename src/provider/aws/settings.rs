//! The settings of who asks AWS: `credentials`, `profile`, `instance_metadata`, `assume_role`, `external_id` and
//! `region`. Pure.

use std::time::Duration;

use crate::inventory::config::shared::A_DURATION;
use crate::inventory::node::{SettingsNode, TableReader};
use crate::inventory::value;
use crate::provider::secret::SecretSource;
use crate::provider::url::{has_path, plain_url};

/// How long is waited until what was written is served: usually that takes a minute at most.
const PUBLICATION: Duration = Duration::from_secs(300);

/// The longest `publication_timeout`, in seconds: a day, beyond which a slip of the pen is likelier than a slow service.
const LONGEST_PUBLICATION: u64 = 86_400;

/// Who asks, by the settings of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsSettings {
    /// Where the first credentials are.
    pub identity: AwsIdentity,
    /// The role that is taken with them.
    pub role: Option<AwsRole>,
    /// The region, where the settings say it.
    pub region: Option<String>,
}

/// Where the first credentials are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsIdentity {
    /// Where the settings say.
    Given(SecretSource),
    /// In this profile of the files of AWS's own tools.
    Profile(String),
    /// At the metadata service of this instance.
    Metadata,
    /// In the first source that is set, in AWS's order.
    FirstSet {
        /// Whether the metadata service is asked where no source is set.
        then_metadata: bool,
    },
}

/// A role that is taken with other credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsRole {
    /// Its Amazon Resource Name.
    pub arn: String,
    /// What its owner asks of others who take it.
    pub external_id: Option<String>,
}

/// Reads `endpoint`; the hint says when to leave it out.
pub fn read_endpoint(reader: &mut TableReader<'_>, node: &SettingsNode, hint: &str) -> Option<String> {
    let url = node.as_text().and_then(plain_url).filter(|url| !has_path(url));
    if url.is_none() {
        // What is signed has no path but that of a request.
        let message =
            "what `endpoint` names is not the URL of an API: `https://` or `http://`, a host, and nothing behind it";
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(error.hint(hint));
    }
    url
}

/// Reads `publication_timeout`, or takes the default; none where it is wrong.
pub fn read_publication(reader: &mut TableReader<'_>) -> Option<Duration> {
    match reader.take("publication_timeout") {
        None => Some(PUBLICATION),
        Some(node) => {
            let wait = reader.parse_node::<value::Duration>(node, A_DURATION)?;
            if !(1..=LONGEST_PUBLICATION).contains(&wait.as_secs()) {
                reader.error(node, "bad-value", "`publication_timeout` must be between `1s` and `1d`");
                return None;
            }
            Some(wait.as_std())
        }
    }
}

impl AwsSettings {
    /// Reads the keys of a target's table; none where one of them is wrong.
    pub fn read(reader: &mut TableReader<'_>) -> Option<AwsSettings> {
        let identity = read_identity(reader);
        let role = read_role(reader);
        let region = match reader.take("region") {
            None => Some(None),
            Some(node) => read_region(reader, node).map(Some),
        };
        Some(AwsSettings { identity: identity?, role: role?, region: region? })
    }
}

/// Reads `credentials`, `profile` and `instance_metadata`, of which one at most says where credentials are.
fn read_identity(reader: &mut TableReader<'_>) -> Option<AwsIdentity> {
    let said = ["credentials", "profile", "instance_metadata"].map(|key| reader.node().get(key));
    let given = reader.take("credentials").map(|node| {
        let (source, found) = SecretSource::of_table(node, reader.source());
        reader.append(found);
        source.map(AwsIdentity::Given)
    });
    let profile = reader.take("profile").map(|node| {
        let name = reader.text_of(node)?.trim();
        if name.is_empty() {
            reader.error(node, "bad-value", "`profile` is empty: it is the name of a profile of `~/.aws/config`");
            return None;
        }
        Some(AwsIdentity::Profile(name.to_owned()))
    });
    let metadata = reader.boolean("instance_metadata");
    if said[2].is_some() && metadata.is_none() {
        return None;
    }
    let of_metadata = (metadata == Some(true)).then_some(Some(AwsIdentity::Metadata));
    let second = match (&given, &profile, &of_metadata) {
        (Some(_), Some(_), _) => said[1],
        (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => said[2],
        _ => None,
    };
    if let Some(node) = second {
        let message = "`credentials`, `profile` and `instance_metadata = true` each say who asks: one of them at most";
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(error.hint("keep the one that is meant; without any, the sources are tried in AWS's own order"));
        return None;
    }
    let otherwise = AwsIdentity::FirstSet { then_metadata: metadata != Some(false) };
    given.or(profile).or(of_metadata).unwrap_or(Some(otherwise))
}

/// Reads `assume_role` and `external_id`; none where one of them is wrong.
fn read_role(reader: &mut TableReader<'_>) -> Option<Option<AwsRole>> {
    let arn = reader.take("assume_role").map(|node| {
        let arn = reader.text_of(node)?;
        if !is_role(arn) {
            let message = format!("`{arn}` is not the ARN of a role");
            let error = reader.source().error("bad-value", node.origin, node.width, message);
            reader.push(error.hint("write it as IAM shows it: `arn:aws:iam::123456789012:role/NAME`"));
            return None;
        }
        Some(arn.to_owned())
    });
    let Some(node) = reader.take("external_id") else {
        return arn.map_or(Some(None), |arn| Some(Some(AwsRole { arn: arn?, external_id: None })));
    };
    let Some(arn) = arn else {
        reader.error(node, "missing-key", "`external_id` needs `assume_role`: it is sent when a role is taken");
        return None;
    };
    let id = reader.text_of(node)?;
    if !is_external_id(id) {
        let message = "`external_id` has 2 to 1224 letters, digits and signs of `_+=,.@:/-`";
        reader.error(node, "bad-value", message);
        return None;
    }
    Some(Some(AwsRole { arn: arn?, external_id: Some(id.to_owned()) }))
}

/// Reads `region`, which becomes a part of a host's name.
fn read_region(reader: &mut TableReader<'_>, node: &SettingsNode) -> Option<String> {
    let text = node.as_text().filter(|text| is_region(text));
    if text.is_none() {
        let error = reader.source().error("bad-value", node.origin, node.width, "`region` is not the name of a region");
        reader.push(error.hint("write it in small letters with hyphens and a number at its end, such as `us-east-1`"));
    }
    text.map(str::to_owned)
}

/// Whether a text may be the name of a region, which becomes a part of a host's name: an area, one or more words, and a number,
/// such as `eu-central-1` and `us-gov-west-1`.
pub fn is_region(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [area, words @ .., number] = parts.as_slice() else { return false };
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_lowercase());
    let is_number = !number.is_empty() && number.bytes().all(|octet| octet.is_ascii_digit());
    text.len() <= 63 && !words.is_empty() && is_word(area) && words.iter().all(is_word) && is_number
}

/// Whether a text is the ARN of a role (AWS, "IAM identifiers").
pub fn is_role(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let [arn, partition, service, region, account, role] = parts[..] else { return false };
    let is_account = account.len() == 12 && account.bytes().all(|octet| octet.is_ascii_digit());
    let is_name = role.strip_prefix("role/").is_some_and(|name| !name.is_empty() && !name.ends_with('/'));
    let is_plain = text.bytes().all(|octet| octet.is_ascii_graphic());
    (arn, service, region) == ("arn", "iam", "") && partition.starts_with("aws") && is_account && is_name && is_plain
}

/// Whether a text may be an external ID (the reference of AssumeRole).
fn is_external_id(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "_+=,.@:/-".contains(c);
    (2..=1224).contains(&text.len()) && text.chars().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Files, render};
    use crate::inventory::config::toml;
    use crate::inventory::node::SourceText;

    /// What is read of a table, with what is wrong.
    fn read(text: &str) -> (Option<AwsSettings>, Vec<String>) {
        let source = SourceText { file: Files::default().add("zonewright.toml"), text: text.into() };
        let tree = toml::parse(&source);
        let mut reader = TableReader::new(&tree.root, &source);
        let settings = AwsSettings::read(&mut reader);
        let found = reader.finish();
        (settings, found.iter().map(|found| format!("{}: {}", found.code.as_str(), found.message)).collect())
    }

    #[test]
    fn without_settings_the_sources_are_tried_in_their_order() {
        let first = |then_metadata| AwsIdentity::FirstSet { then_metadata };
        let settings = AwsSettings { identity: first(true), role: None, region: None };
        assert_eq!(read(""), (Some(settings), vec![]));
        assert_eq!(read("instance_metadata = false").0.unwrap().identity, first(false));
        assert_eq!(read("instance_metadata = true").0.unwrap().identity, AwsIdentity::Metadata);
    }

    #[test]
    fn settings_say_who_asks() {
        let (settings, found) = read(
            "credentials = { secret_command = [\"give\", \"it\"] }\n\
             assume_role = \"arn:aws:iam::123456789012:role/dns/edit\"\n\
             external_id = \"team:7\"\nregion = \"eu-central-1\"\ninstance_metadata = false",
        );
        assert_eq!(found, [""; 0]);
        let settings = settings.unwrap();
        let command = ["give", "it"].map(str::to_owned).to_vec();
        assert_eq!(settings.identity, AwsIdentity::Given(SecretSource::Command(command)));
        let role =
            AwsRole { arn: "arn:aws:iam::123456789012:role/dns/edit".into(), external_id: Some("team:7".into()) };
        assert_eq!((settings.role, settings.region.as_deref()), (Some(role), Some("eu-central-1")));
        assert_eq!(read("profile = \"dns\"").0.unwrap().identity, AwsIdentity::Profile("dns".into()));
    }

    #[test]
    fn regions_of_all_partitions_are_taken() {
        let of_partitions = ["us-east-1", "ap-southeast-5", "us-gov-west-1", "cn-northwest-1", "us-isob-east-1"];
        assert!(of_partitions.into_iter().chain(["eusc-de-east-1", "mx-central-1"]).all(is_region));
    }

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        for text in [
            "credentials = \"hush\"",
            "credentials = '{ \"Version\": 1, \"AccessKeyId\": \"A\", \"SecretAccessKey\": \"hush\" }'",
            "credentials = \"\"\"\n{ \"Version\": 1, \"SecretAccessKey\": \"hush\" }\n\"\"\"",
            "credentials = [\"hush\"]",
            "access_key = \"hush\"",
            "SecretAccessKey = \"hush\"",
            "session-token = \"hush\"",
            "password = \"hush\"\nregion = \"eu central\"",
            "[credentials]\nid = \"hush\"\nsecret_env = \"DNS\"",
        ] {
            let mut files = Files::default();
            let source = SourceText { file: files.add("zonewright.toml"), text: text.into() };
            let tree = toml::parse(&source);
            let mut reader = TableReader::new(&tree.root, &source);
            AwsSettings::read(&mut reader);
            let shown = render(&reader.finish(), &files);
            assert!(shown.contains("error[") && !shown.contains("hush"), "{text}: {shown}");
        }
    }

    #[test]
    fn wrong_settings_are_explained() {
        let both = "`credentials`, `profile` and `instance_metadata = true` each say who asks: one of them at most";
        for (text, why) in [
            (
                "credentials = \"hush\"",
                "bad-secret: text is here, and a table that says where the secret is belongs here",
            ),
            ("profile = \" \"", "bad-value: `profile` is empty: it is the name of a profile of `~/.aws/config`"),
            ("profile = 7", "wrong-type: `7` is not text"),
            ("instance_metadata = \"yes\"", "wrong-type: text is here, but `true` or `false` belongs here"),
            ("profile = \"a\"\ncredentials = { secret_file = \"f\" }", &format!("bad-value: {both}")),
            ("profile = \"a\"\ninstance_metadata = true", &format!("bad-value: {both}")),
            ("assume_role = \"dns\"", "bad-value: `dns` is not the ARN of a role"),
            (
                "assume_role = \"arn:aws:iam::1:role/dns\"",
                "bad-value: `arn:aws:iam::1:role/dns` is not the ARN of a role",
            ),
            (
                "external_id = \"team\"",
                "missing-key: `external_id` needs `assume_role`: it is sent when a role is taken",
            ),
            (
                "assume_role = \"arn:aws:iam::123456789012:role/dns\"\nexternal_id = \"a b\"",
                "bad-value: `external_id` has 2 to 1224 letters, digits and signs of `_+=,.@:/-`",
            ),
            ("region = \"eu central\"", "bad-value: `region` is not the name of a region"),
            ("region = \"evil.example/\"", "bad-value: `region` is not the name of a region"),
            ("region = \"europe\"", "bad-value: `region` is not the name of a region"),
            ("region = \"eu-central\"", "bad-value: `region` is not the name of a region"),
            ("region = \"eu-central-1a\"", "bad-value: `region` is not the name of a region"),
            ("region = \"eu-1\"", "bad-value: `region` is not the name of a region"),
        ] {
            let (settings, found) = read(text);
            assert_eq!((settings, found), (None, vec![why.to_owned()]), "{text}");
        }
    }
}
