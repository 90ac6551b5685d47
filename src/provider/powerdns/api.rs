//! The API of PowerDNS: its key, its answers, and its refusals.

use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;

use super::document::{self, DocumentFault, ListedZone, ZoneNumbering};
use super::patch::records;
use super::settings::ApiSettings;
use crate::diag::{Code, Problem};
use crate::dns::{Name, NameRef, Rrset, Rtype, ZoneContents, ZoneName};
use crate::http::{
    HttpAnswer, HttpClient, HttpContent, HttpFailure, HttpFailureKind, HttpMethod, HttpQuestion, HttpTrust,
};
use crate::provider::outage::place_of;
use crate::provider::secret::SecretHints;
use crate::provider::token;
use crate::target::{OpaqueRecords, ZoneApex};

/// The only server of an API of an authoritative server.
const SERVER: &str = "/api/v1/servers/localhost";

/// The header with the key.
const KEY_HEADER: &str = "x-api-key";

/// The header with the serial of a zone after a change.
const SERIAL_HEADER: &str = "x-pdns-new-serial";

/// What is to be where the key is.
const HINTS: SecretHints = SecretHints {
    file: "make the file with the API key alone, as `api-key` of pdns.conf has it, and run `chmod 600` on it",
    variable: "set it to the API key alone, as `api-key` of pdns.conf has it",
    command: "run it by hand: it must print the API key alone and exit with 0",
};

/// The characters of a name that stay as they are in a query (RFC 3986 section 2.3).
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Those of the id of a zone that stay as they are in a path.
const IN_PATH: &AsciiSet = &PLAIN.remove(b'=');

/// How many octets an answer may have that is not a whole zone.
const MAX_ANSWER: u64 = 1 << 20;

/// How much of what an API says is shown.
const MAX_SHOWN: usize = 300;

/// An API with its key.
pub struct PowerDnsApi {
    /// Where it is.
    settings: ApiSettings,
    /// The key.
    key: String,
    /// Asks what is answered soon.
    client: HttpClient,
    /// Reads whole zones.
    reader: HttpClient,
}

/// A zone, read whole.
pub struct ApiZone {
    /// What it holds.
    pub contents: ZoneContents,
    /// What of it is no plain RRset.
    pub opaque: Vec<OpaqueRecords>,
    /// How many octets the answer had.
    pub octets: u64,
    /// How the API names it.
    pub listed: ListedZone,
    /// How it is numbered.
    pub numbering: ZoneNumbering,
}

/// Why a change was not made, or may not have been.
pub enum PatchFault {
    /// The server does not make it.
    Refused(Problem),
    /// The server does not make it now.
    Busy(Problem),
    /// It may have been made.
    Unknown(Problem),
}

impl PowerDnsApi {
    /// An API, with its key.
    ///
    /// Errors: the key or the certificates cannot be had.
    pub fn open(settings: ApiSettings, workspace: &Path) -> Result<PowerDnsApi, Problem> {
        let place = settings.url.clone();
        let key = token::fetch_word(&settings.key, workspace, ("API key", HINTS)).map_err(|error| error.at(&place))?;
        let trust = HttpTrust { authorities: read_authorities(&settings, workspace)?, client: None };
        let client = |timeout| {
            HttpClient::trusting(&settings.url, timeout, &trust).map_err(|error| {
                Problem::new(&place, "connect-failed", error.message)
                    .hint("check `url` and `ca_file` of the target, and the certificates of this system")
            })
        };
        let (client, reader) = (client(settings.timeout)?, client(settings.limits.time)?);
        Ok(PowerDnsApi { settings, key, client, reader })
    }

    /// Where it is, as messages name it.
    pub fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.settings.url, zone)
    }

    /// Finds a zone; none where the server has none of this name.
    ///
    /// Errors: there is no answer, or one that cannot be used.
    pub fn find(&self, zone: &ZoneName) -> Result<Option<ListedZone>, Problem> {
        let name = zone.to_string();
        let path = format!("{SERVER}/zones?zone={}", utf8_percent_encode(&name, PLAIN));
        let answer = self.ask(&self.client, zone, (HttpMethod::Get, &path, None, MAX_ANSWER))?;
        let listed = document::read_list(&answer.content).map_err(|why| self.unusable(zone, why))?;
        // An older server gives all zones whatever is asked.
        let is_it = |own: &ListedZone| Name::parse(&own.name).is_ok_and(|own| own.as_name() == zone.as_name());
        Ok(listed.into_iter().find(is_it))
    }

    /// The names of all zones.
    ///
    /// Errors: there is no answer, or one that cannot be used.
    pub fn zones(&self) -> Result<Vec<Name>, Problem> {
        let root = ZoneName::new(NameRef::ROOT.to_name());
        let path = format!("{SERVER}/zones");
        let answer = self.ask(&self.reader, &root, (HttpMethod::Get, &path, None, self.settings.limits.octets))?;
        let listed = document::read_list(&answer.content).map_err(|why| self.unusable(&root, why))?;
        Ok(listed.into_iter().filter_map(|own| Name::parse(&own.name).ok()).collect())
    }

    /// Reads a zone whole.
    ///
    /// Errors: as for [`PowerDnsApi::find`]; the server has no zone of this name.
    pub fn read(&self, zone: &ZoneName) -> Result<ApiZone, Problem> {
        let listed = self.find(zone)?.ok_or_else(|| self.absent(zone))?;
        let (path, limits) = (path_of(&listed), self.settings.limits);
        let answer = self.ask(&self.reader, zone, (HttpMethod::Get, &path, None, limits.octets))?;
        let octets = answer.content.len() as u64;
        match document::read_zone(zone, &answer.content, limits.records) {
            Ok((contents, opaque, numbering)) => Ok(ApiZone { contents, opaque, octets, listed, numbering }),
            Err(DocumentFault::Bad(why)) => Err(self.unusable(zone, why)),
            Err(DocumentFault::TooMany) => {
                let message = format!("the API gives more than {} records", limits.records);
                Err(Problem::new(self.place(zone), "read-limit", message)
                    .hint("if the zone is that large, raise `max_records` of the target"))
            }
        }
    }

    /// How a zone is numbered now.
    ///
    /// Errors: as for [`PowerDnsApi::find`].
    pub fn numbering(&self, zone: &ZoneName, listed: &ListedZone) -> Result<ZoneNumbering, Problem> {
        let path = format!("{}?rrsets=false", path_of(listed));
        // An older server gives the RRsets, too.
        let answer = self.ask(&self.reader, zone, (HttpMethod::Get, &path, None, self.settings.limits.octets))?;
        document::read_numbering(&answer.content).map_err(|why| self.unusable(zone, why))
    }

    /// Changes RRsets of a zone, all or none; gives the serial that the zone has then, where the answer says it.
    ///
    /// Errors: it is not made, or may not be.
    pub fn patch(&self, zone: &ZoneName, listed: &ListedZone, text: &str) -> Result<Option<u32>, PatchFault> {
        let answer = self.send(&self.client, (HttpMethod::Patch, &path_of(listed), Some(text), MAX_ANSWER));
        let answer = answer.map_err(|failure| PatchFault::Unknown(self.unanswered(zone, failure)))?;
        match answer.status {
            200..300 => Ok(answer.headers.get(SERIAL_HEADER).and_then(|text| text.parse().ok())),
            429 => Err(PatchFault::Busy(self.refused(zone, &answer))),
            status if (400..500).contains(&status) && status != 408 => {
                Err(PatchFault::Refused(self.refused(zone, &answer)))
            }
            _ => Err(PatchFault::Unknown(self.refused(zone, &answer))),
        }
    }

    /// Makes a zone with this apex and nothing else, which takes updates that are signed with the key of this name.
    ///
    /// Errors: the server does not make it.
    pub fn create(&self, zone: &ZoneName, apex: &ZoneApex, key: Option<&Name>) -> Result<(), Problem> {
        let rrset = |(rtype, rrset): (Rtype, Rrset)| {
            let (records, ttl) = (records(rtype, &rrset), rrset.ttl().as_secs());
            json!({"name": zone.to_string(), "type": rtype.to_string(), "ttl": ttl, "records": records})
        };
        let text = json!({
            "kind": "Master", "name": zone.to_string(), "nameservers": [], "rrsets": apex.rrsets().map(rrset),
        });
        self.make(zone, &format!("{SERVER}/zones"), &text.to_string())?;
        let Some(key) = key else { return Ok(()) };
        let listed = self.find(zone)?.ok_or_else(|| self.absent(zone))?;
        let key = key.to_string();
        let key = key.strip_suffix('.').unwrap_or(&key);
        let text = json!({"kind": "TSIG-ALLOW-DNSUPDATE", "metadata": [key]});
        self.make(zone, &format!("{}/metadata", path_of(&listed)), &text.to_string()).map_err(|error| {
            error.hint(format!(
                "the zone is there, and takes no updates yet: `pdnsutil set-meta {zone} TSIG-ALLOW-DNSUPDATE {key}`"
            ))
        })
    }

    /// Makes something for a zone.
    fn make(&self, zone: &ZoneName, path: &str, text: &str) -> Result<(), Problem> {
        let made = self.ask(&self.client, zone, (HttpMethod::Post, path, Some(text), MAX_ANSWER));
        made.map(drop).map_err(|error| Problem { code: Code::new("zone-not-made"), ..error })
    }

    /// Deletes a zone with all that is in it.
    ///
    /// Errors: the server does not delete it.
    pub fn delete(&self, zone: &ZoneName) -> Result<(), Problem> {
        let Some(listed) = self.find(zone)? else { return Ok(()) };
        let deleted = self.ask(&self.client, zone, (HttpMethod::Delete, &path_of(&listed), None, MAX_ANSWER));
        deleted.map(drop).map_err(|error| Problem { code: Code::new("zone-not-deleted"), ..error })
    }

    /// Asks; gives an answer of success.
    fn ask(
        &self,
        client: &HttpClient,
        zone: &ZoneName,
        (method, path, json, max): (HttpMethod, &str, Option<&str>, u64),
    ) -> Result<HttpAnswer, Problem> {
        let answer = self.send(client, (method, path, json, max));
        let answer = answer.map_err(|failure| self.unanswered(zone, failure))?;
        if (200..300).contains(&answer.status) { Ok(answer) } else { Err(self.refused(zone, &answer)) }
    }

    /// Asks; any status is an answer.
    fn send(
        &self,
        client: &HttpClient,
        (method, path, json, max): (HttpMethod, &str, Option<&str>, u64),
    ) -> Result<HttpAnswer, HttpFailure> {
        let url = format!("{}{path}", self.settings.url);
        let (content, repeats) = (json.map(HttpContent::json), method == HttpMethod::Get);
        client.ask(&HttpQuestion { method, url: &url, headers: &[(KEY_HEADER, &self.key)], content, max, repeats })
    }

    /// That there is no answer.
    fn unanswered(&self, zone: &ZoneName, HttpFailure { kind, message }: HttpFailure) -> Problem {
        let (code, hint) = match kind {
            HttpFailureKind::Unreachable => {
                ("connect-failed", "check that the server runs, with `webserver=yes`, and that `url` is right")
            }
            HttpFailureKind::Late => ("timeout", "try again; if it is always so, raise `timeout` or `max_time`"),
            HttpFailureKind::TooLong => ("read-limit", "if the zone is that large, raise `max_size` of the target"),
        };
        Problem::new(self.place(zone), code, message).hint(hint)
    }

    /// That an answer is a refusal.
    fn refused(&self, zone: &ZoneName, answer: &HttpAnswer) -> Problem {
        let HttpAnswer { status, content, .. } = answer;
        let said = said(content).map(|said| format!(": {said}")).unwrap_or_default();
        let message = format!("the API answers with status {status}{said}");
        let (code, hint) = match status {
            401 | 403 => (
                "api-denied",
                "compare `api_key` of the target with `api-key` of pdns.conf, and look at `webserver-allow-from` there",
            ),
            _ => {
                ("api-failed", "look at the log of the server; `url` must lead to the API of an authoritative PowerDNS")
            }
        };
        Problem::new(self.place(zone), code, message).hint(hint)
    }

    /// That an answer is not what it should be.
    fn unusable(&self, zone: &ZoneName, why: String) -> Problem {
        Problem::new(self.place(zone), "api-failed", format!("the API's answer cannot be used: {why}"))
            .hint("`url` must lead to the API of an authoritative PowerDNS, and not to a proxy that changes answers")
    }

    /// That the server has no zone of this name.
    fn absent(&self, zone: &ZoneName) -> Problem {
        Problem::new(self.place(zone), "zone-not-served", "the server has no zone of this name")
            .hint("compare the name with `pdnsutil list-all-zones`; with `create = true` in its `[[zone]]` it is made")
    }
}

/// Where a zone is in the API. Its id is made of characters that a path can have.
fn path_of(zone: &ListedZone) -> String {
    format!("{SERVER}/zones/{}", utf8_percent_encode(&zone.id, IN_PATH))
}

/// The certificates that are trusted in place of the system's.
fn read_authorities(settings: &ApiSettings, workspace: &Path) -> Result<Option<Vec<u8>>, Problem> {
    let read = |file: &String| {
        let path: PathBuf = workspace.join(file);
        fs::read(path).map_err(|error| {
            let message = format!("`{file}` cannot be read: {}", error.to_string().to_lowercase());
            Problem::new(&settings.url, "connect-failed", message)
                .hint("`ca_file` is a file of certificates as PEM, absolute or relative to the workspace")
        })
    };
    settings.ca_file.as_ref().map(read).transpose()
}

/// What a refusal says, in one line.
fn said(content: &[u8]) -> Option<String> {
    /// A refusal.
    #[derive(Deserialize)]
    struct ApiRefusal {
        /// What is wrong.
        error: String,
    }
    let text = match serde_json::from_slice::<ApiRefusal>(content) {
        Ok(ApiRefusal { error }) => error,
        Err(_) => String::from_utf8_lossy(content).into_owned(),
    };
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line: String = words.join(" ").chars().take(MAX_SHOWN).collect();
    (!line.is_empty()).then_some(line)
}
