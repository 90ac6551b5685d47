//! The profiles of AWS's own tools: their two files to where a profile's credentials are. Pure.
//!
//! Source: "Shared config and credentials files" of the AWS SDKs and Tools Reference Guide; where that leaves a choice,
//! as botocore reads them.

use std::collections::BTreeMap;

use super::credentials::AwsCredentials;
use super::source::{AssumedRole, AwsSource, SESSION, WebIdentity, no_credentials};
use crate::diag::Problem;

/// The keys of a profile that hold its key. Those of one file are never mixed with those of another.
const OF_KEY: [&str; 3] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];

/// What begins a key of a profile that logs in at a browser.
const OF_LOGIN: &str = "sso_";

/// The profiles of both files.
#[derive(Default)]
pub struct AwsProfiles(BTreeMap<String, ProfileKeys>);

/// The keys of a profile in small letters, each with its value.
type ProfileKeys = BTreeMap<String, ProfileValue>;

/// A value in a profile.
#[derive(Clone)]
struct ProfileValue {
    /// The value.
    text: String,
    /// The file that it is in, as messages call it.
    file: String,
}

/// A file of profiles.
pub struct ProfileFile<'f> {
    /// What messages call it.
    pub shown: &'f str,
    /// What is in it.
    pub text: &'f str,
}

impl AwsProfiles {
    /// Reads `~/.aws/config` and `~/.aws/credentials`; what the second says of a profile has precedence.
    pub fn parse(config: &ProfileFile<'_>, credentials: &ProfileFile<'_>) -> AwsProfiles {
        let mut profiles = AwsProfiles::default();
        // `[profile default]` has precedence over `[default]`, wherever they are.
        let of_config = |title: &str| match title.split_once([' ', '\t']) {
            Some(("profile", name)) => Some((unquoted(name.trim()).to_owned(), 1)),
            None if title == "default" => Some((title.to_owned(), 0)),
            _ => None,
        };
        let mut found = sections(config, of_config);
        found.sort_by_key(|(_, rank, _)| *rank);
        found.extend(sections(credentials, |title| Some((title.to_owned(), 2))));
        for (name, _, keys) in found {
            let own = profiles.0.entry(name).or_default();
            if keys.contains_key(OF_KEY[0]) {
                OF_KEY.iter().for_each(|key| drop(own.remove(*key)));
            }
            own.extend(keys);
        }
        profiles
    }

    /// Whether there is a profile of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether any secret is in this text of a file.
    pub fn holds_secret(text: &str) -> bool {
        text.lines().any(|line| OF_KEY[1..].iter().any(|key| line.trim_start().to_lowercase().starts_with(key)))
    }

    /// Where the credentials of a profile are; none where the profile says nothing of them.
    ///
    /// Errors: what it says cannot be used.
    pub fn find(&self, name: &str) -> Result<Option<AwsSource>, Problem> {
        let Some(keys) = self.0.get(name) else { return Ok(None) };
        self.source(name, &mut Vec::new())?
            .map(|source| Ok(AwsSource::Profile(name.to_owned(), deciding_file(keys), Box::new(source))))
            .transpose()
    }

    /// The same, on the way from other profiles, to which none may lead back.
    fn source(&self, name: &str, way: &mut Vec<String>) -> Result<Option<AwsSource>, Problem> {
        let Some(keys) = self.0.get(name) else {
            let from = way.last().map_or(String::new(), |from| format!(", which profile `{from}` takes its role with"));
            let problem = no_credentials("~/.aws/config", format!("there is no profile `{name}`{from}"));
            return Err(problem.hint("correct `source_profile`, or add the profile"));
        };
        let profile = ProfileView { name, keys };
        // A profile on the way may name itself for its own key, as botocore has it: that is looked at before its role.
        if !way.is_empty()
            && let Some(own) = profile.own_key()?
        {
            return Ok(Some(own));
        }
        if way.iter().any(|before| before == name) {
            let names: Vec<String> = way.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("the `source_profile` of profiles leads in a circle: {}, `{name}`", names.join(", "));
            return Err(profile.problem(message, "let the last of them hold a key, or another source"));
        }
        way.push(name.to_owned());
        if let Some(role) = profile.role() {
            return self.role_source(&profile, role, way).map(Some);
        }
        if let Some(own) = profile.own_key()? {
            return Ok(Some(own));
        }
        if let Some(process) = profile.get("credential_process") {
            let words = split_words(process).filter(|words| !words.is_empty()).ok_or_else(|| {
                profile.problem(
                    format!(
                        "the `credential_process` of profile `{name}` has a quote without its other half, or nothing"
                    ),
                    "write a program and its arguments, with quotes around what has blanks",
                )
            })?;
            return Ok(Some(AwsSource::Process(words)));
        }
        if keys.keys().any(|key| key.starts_with(OF_LOGIN)) {
            return Err(profile.no_login());
        }
        Ok(None)
    }

    /// Where the credentials are that a profile's role is taken with.
    fn role_source(
        &self,
        profile: &ProfileView<'_>,
        role: AssumedRole,
        way: &mut Vec<String>,
    ) -> Result<AwsSource, Problem> {
        let name = profile.name;
        if profile.get("mfa_serial").is_some() {
            let message =
                format!("profile `{name}` asks for the code of a device (`mfa_serial`), which a person types");
            return Err(profile.problem(message, "use a role without it for runs that no person attends"));
        }
        let from =
            (profile.get("source_profile"), profile.get("credential_source"), profile.get("web_identity_token_file"));
        let base = match from {
            (None, None, Some(file)) => {
                return Ok(AwsSource::WebIdentity(WebIdentity { token_file: file.into(), role }));
            }
            (Some(source), None, _) => self.source(source, way)?.ok_or_else(|| {
                let message =
                    format!("profile `{source}`, which profile `{name}` takes its role with, has no credentials");
                profile.problem(message, "give it a key, `credential_process` or a role")
            })?,
            (None, Some("Environment"), _) => AwsSource::Environment,
            (None, Some("Ec2InstanceMetadata"), _) => AwsSource::Metadata,
            (None, Some("EcsContainer"), _) => AwsSource::Container,
            (None, Some(other), _) => {
                let message = format!("profile `{name}` has a `credential_source` that there is not: `{other}`");
                return Err(profile.problem(message, "it is `Environment`, `Ec2InstanceMetadata` or `EcsContainer`"));
            }
            _ => {
                let message =
                    format!("profile `{name}` has a `role_arn`, and not one source of what the role is taken with");
                return Err(profile.problem(message, "give it either `source_profile` or `credential_source`"));
            }
        };
        Ok(AwsSource::Role(role, Box::new(base)))
    }
}

/// A profile.
struct ProfileView<'p> {
    /// Its name.
    name: &'p str,
    /// Its keys.
    keys: &'p ProfileKeys,
}

impl<'p> ProfileView<'p> {
    /// A value that is not empty.
    fn get(&self, key: &str) -> Option<&'p str> {
        self.keys.get(key).map(|value| value.text.as_str()).filter(|text| !text.is_empty())
    }

    /// The role that it takes.
    fn role(&self) -> Option<AssumedRole> {
        let text = |key| self.get(key).map(str::to_owned);
        let session = text("role_session_name").unwrap_or_else(|| SESSION.to_owned());
        Some(AssumedRole { arn: text("role_arn")?, external_id: text("external_id"), session })
    }

    /// The key that it holds.
    fn own_key(&self) -> Result<Option<AwsSource>, Problem> {
        let [id, secret, token] = OF_KEY.map(|key| self.get(key));
        let Some(id) = id else { return Ok(None) };
        let key = secret.ok_or("it has no `aws_secret_access_key`");
        let key = key.and_then(|secret| AwsCredentials::new((id, secret), token, None));
        let key = key.map_err(|why| {
            let message = format!("the key of profile `{}` cannot be used: {why}", self.name);
            self.problem(message, "write `aws_access_key_id` and `aws_secret_access_key` as AWS gave them")
        });
        key.map(|key| Some(AwsSource::Keys(key)))
    }

    /// That it asks for a person at a browser.
    fn no_login(&self) -> Problem {
        let name = self.name;
        let message = format!("profile `{name}` logs in at a browser (`sso_…`), which zonewright does not do");
        let hint = format!(
            "let AWS's own tool give what it has: `credentials = {{ secret_command = [\"aws\", \"configure\", \
             \"export-credentials\", \"--profile\", \"{name}\"] }}`"
        );
        self.problem(message, hint)
    }

    /// A problem of the profile.
    fn problem(&self, message: String, hint: impl Into<String>) -> Problem {
        no_credentials(deciding_file(self.keys), message).hint(hint)
    }
}

/// The file that says where the credentials of a profile are.
fn deciding_file(keys: &ProfileKeys) -> String {
    let deciding = ["role_arn", OF_KEY[0], "credential_process"].iter().find_map(|key| keys.get(*key));
    deciding.or(keys.values().next()).map_or_else(|| "~/.aws/config".to_owned(), |value| value.file.clone())
}

/// The sections of a file that `profile` gives a name and a rank, each with its keys, in the order of the file.
fn sections<R>(file: &ProfileFile<'_>, profile: impl Fn(&str) -> Option<(String, R)>) -> Vec<(String, R, ProfileKeys)> {
    let mut found: Vec<(String, R, ProfileKeys)> = Vec::new();
    let mut is_open = false;
    // How far the last key is indented: what is further in belongs to its value, as the settings of `s3 =` do.
    let mut indent = usize::MAX;
    for line in file.text.trim_start_matches('\u{feff}').lines() {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let own_indent = line.len() - line.trim_start().len();
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            let section = profile(title.trim());
            is_open = section.is_some();
            found.extend(section.map(|(name, rank)| (name, rank, ProfileKeys::new())));
            indent = usize::MAX;
        } else if own_indent <= indent {
            indent = own_indent;
            let Some((key, value)) = text.split_once(['=', ':']).filter(|_| is_open) else { continue };
            let value = ProfileValue { text: uncommented(value).to_owned(), file: file.shown.to_owned() };
            found.last_mut().expect("a section is open").2.insert(key.trim().to_lowercase(), value);
        }
    }
    found
}

/// A value without a comment behind it, which a blank sets off.
fn uncommented(value: &str) -> &str {
    let ends = [" #", " ;", "\t#", "\t;"].iter().filter_map(|mark| value.find(mark));
    value[..ends.min().unwrap_or(value.len())].trim()
}

/// A name without quotes around it.
fn unquoted(name: &str) -> &str {
    let inside = |quote: char| name.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(name)
}

/// The words of a command, split as a shell splits them where nothing is expanded; none where a quote is not closed.
fn split_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote): (Vec<String>, Option<String>, Option<char>) = (Vec::new(), None, None);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().push(signs.next()?),
            (Some('"'), '\\') => {
                let next = signs.next()?;
                let kept = if matches!(next, '"' | '\\') { None } else { Some('\\') };
                word.get_or_insert_default().extend(kept.into_iter().chain([next]));
            }
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The profiles of two files.
    fn parse(config: &str, credentials: &str) -> AwsProfiles {
        let file = |shown, text| ProfileFile { shown, text };
        AwsProfiles::parse(&file("~/.aws/config", config), &file("~/.aws/credentials", credentials))
    }

    /// Where a profile's credentials are, in words; a key with its parts.
    fn find(profiles: &AwsProfiles, name: &str) -> String {
        fn keys(source: &AwsSource) -> String {
            match source {
                AwsSource::Keys(own) => format!(" {} {} {:?}", own.key_id, own.secret(), own.token()),
                AwsSource::Profile(_, _, from) | AwsSource::Role(_, from) => keys(from),
                _ => String::new(),
            }
        }
        match profiles.find(name) {
            Ok(Some(source)) => format!("{source}{}", keys(&source)),
            Ok(None) => "none".to_owned(),
            Err(problem) => format!("{problem}"),
        }
    }

    #[test]
    fn keys_stand_in_either_file() {
        let config = "# first\n[default]\nregion = x\n\n[profile dns] ; zones\n  AWS_Access_Key_ID=AKID1 # old\n  \
            aws_secret_access_key = a=b:c/+\n[dns]\naws_access_key_id = WRONG\n[profile \"two words\"]\n\
            aws_access_key_id: AKID3\naws_secret_access_key: three\n";
        let credentials =
            "[default]\naws_access_key_id = AKID2\naws_secret_access_key = two\naws_session_token = tok\n";
        let profiles = parse(config, credentials);
        assert_eq!(find(&profiles, "dns"), "profile `dns` of ~/.aws/config AKID1 a=b:c/+ None");
        assert_eq!(find(&profiles, "default"), "profile `default` of ~/.aws/credentials AKID2 two Some(\"tok\")");
        assert_eq!(find(&profiles, "two words"), "profile `two words` of ~/.aws/config AKID3 three None");
        assert_eq!((find(&profiles, "none"), profiles.has("none"), profiles.has("dns")), ("none".into(), false, true));
    }

    #[test]
    fn a_key_is_of_one_file() {
        let config = "[profile x]\naws_access_key_id = A\naws_secret_access_key = a\naws_session_token = of-a\n";
        let profiles = parse(config, "[x]\naws_access_key_id = B\naws_secret_access_key = b\n");
        assert_eq!(find(&profiles, "x"), "profile `x` of ~/.aws/credentials B b None");
        let halves = parse(config, "[x]\naws_access_key_id = B\n");
        let why = "the key of profile `x` cannot be used: it has no `aws_secret_access_key`";
        assert_eq!(find(&halves, "x"), format!("~/.aws/credentials: error[no-credentials]: {why}"));
    }

    #[test]
    fn the_two_titles_of_the_default_profile_are_ranked() {
        let config = "[profile default]\naws_access_key_id = A\naws_secret_access_key = a\n[default]\n\
            aws_access_key_id = B\naws_secret_access_key = b\n";
        assert_eq!(find(&parse(config, ""), "default"), "profile `default` of ~/.aws/config A a None");
    }

    #[test]
    fn nested_settings_are_no_keys() {
        let config = "[profile x]\ns3 =\n  aws_access_key_id = WRONG\n  addressing_style = path\nregion = eu-west-1\n\
            [services s]\naws_access_key_id = WRONG\n[sso-session x]\nsso_region = x\n";
        let profiles = parse(config, "");
        assert_eq!(find(&profiles, "x"), "none");
        assert!(!profiles.has("s") && !profiles.has("services s"));
    }

    #[test]
    fn a_profile_takes_a_role() {
        let config = "[profile a]\nrole_arn = arn:a\nsource_profile = b\nexternal_id = e\nrole_session_name = s\n\
            [profile b]\nrole_arn = arn:b\nsource_profile = c\n[profile own]\nrole_arn = arn:o\nsource_profile = own\n\
            aws_access_key_id = A\naws_secret_access_key = a\n[profile env]\nrole_arn = arn:e\n\
            credential_source = Environment\n[profile web]\nrole_arn = arn:w\nweb_identity_token_file = /t\n";
        let profiles = parse(config, "[c]\naws_access_key_id = C\naws_secret_access_key = c\n");
        let whole = "profile `a` of ~/.aws/config: role `arn:a`, taken with role `arn:b`, taken with a key C c None";
        assert_eq!(find(&profiles, "a"), whole);
        assert_eq!(find(&profiles, "own"), "profile `own` of ~/.aws/config: role `arn:o`, taken with a key A a None");
        let env = "profile `env` of ~/.aws/config: role `arn:e`, taken with environment variables";
        assert_eq!(find(&profiles, "env"), env);
        assert_eq!(find(&profiles, "web"), "profile `web` of ~/.aws/config: role `arn:w` by web identity");
        let Some(AwsSource::Profile(_, _, from)) = profiles.find("a").unwrap() else { panic!("a profile") };
        let AwsSource::Role(role, _) = *from else { panic!("a role") };
        assert_eq!((role.external_id.as_deref(), role.session.as_str()), (Some("e"), "s"));
    }

    #[test]
    fn what_a_profile_cannot_have_is_explained() {
        let config = "[profile a]\nrole_arn = r\nsource_profile = b\n[profile b]\nrole_arn = r\nsource_profile = a\n\
            [profile self]\nrole_arn = r\nsource_profile = self\n[profile gone]\nrole_arn = r\n\
            source_profile = nowhere\n[profile empty]\nrole_arn = r\nsource_profile = plain\n\
            [profile plain]\nregion = x\n\
            [profile bare]\nrole_arn = r\n[profile both]\nrole_arn = r\nsource_profile = a\n\
            credential_source = Environment\n[profile odd]\nrole_arn = r\ncredential_source = Moon\n\
            [profile mfa]\nrole_arn = r\nmfa_serial = m\n\
            [profile sso]\nsso_session = x\n[profile quote]\ncredential_process = give \"it\n";
        let profiles = parse(config, "");
        for (name, why) in [
            ("a", "the `source_profile` of profiles leads in a circle: `a`, `b`, `a`"),
            ("self", "the `source_profile` of profiles leads in a circle: `self`, `self`"),
            ("gone", "there is no profile `nowhere`, which profile `gone` takes its role with"),
            ("empty", "profile `plain`, which profile `empty` takes its role with, has no credentials"),
            ("bare", "profile `bare` has a `role_arn`, and not one source of what the role is taken with"),
            ("both", "profile `both` has a `role_arn`, and not one source of what the role is taken with"),
            ("odd", "profile `odd` has a `credential_source` that there is not: `Moon`"),
            ("mfa", "profile `mfa` asks for the code of a device (`mfa_serial`), which a person types"),
            ("sso", "profile `sso` logs in at a browser (`sso_…`), which zonewright does not do"),
            ("quote", "the `credential_process` of profile `quote` has a quote without its other half, or nothing"),
        ] {
            assert_eq!(find(&profiles, name), format!("~/.aws/config: error[no-credentials]: {why}"));
        }
        let hint = profiles.find("sso").unwrap_err().hint.unwrap();
        assert!(hint.contains(r#"["aws", "configure", "export-credentials", "--profile", "sso"]"#), "{hint}");
    }

    #[test]
    fn a_command_is_split_into_words() {
        for (text, words) in [
            ("give it", &["give", "it"][..]),
            (
                r#" "/opt/my tools/give"  --for 'a "b"' "" c\ d "#,
                &["/opt/my tools/give", "--for", "a \"b\"", "", "c d"],
            ),
            (r#""a\"b\c""#, &["a\"b\\c"]),
        ] {
            assert_eq!(split_words(text).unwrap(), words, "{text}");
        }
        assert_eq!((split_words("a 'b"), split_words("a\\")), (None, None));
    }
}
