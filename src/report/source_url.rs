//! Links from a place in an export to the page that shows its line.
//!
//! Comes in: a template, `https://git.example.net/dns/blob/{commit}/{file}#L{line}`, and places such as
//! `names.lock:11`. Goes out: addresses that a browser opens, and that run nothing.

use super::paste::is_page;

/// What a template has in the place of the file.
const FILE: &str = "{file}";

/// What a template has in the place of the line.
const LINE: &str = "{line}";

/// What a template has in the place of the commit.
const COMMIT: &str = "{commit}";

/// A template of addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceUrl(String);

impl SourceUrl {
    /// Reads a template.
    ///
    /// Errors: in a few words, why it is none.
    pub fn parse(text: &str) -> Result<SourceUrl, String> {
        let host = text.split_once("://").map_or(text, |(_, rest)| rest).split('/').next().unwrap_or_default();
        match text {
            text if !is_page(text) => Err("it must begin with `https://` or `http://`, and have no blanks".to_owned()),
            text if !text.contains(FILE) => Err(format!("`{FILE}` is missing: the file goes there")),
            _ if host.contains('{') => Err("the host of the address must not have a `{`".to_owned()),
            text => Ok(SourceUrl(text.to_owned())),
        }
    }

    /// Whether it needs a commit.
    pub fn needs_commit(&self) -> bool {
        self.0.contains(COMMIT)
    }

    /// The template for one commit.
    pub fn of_commit(&self, commit: &str) -> SourceUrl {
        SourceUrl(self.0.replace(COMMIT, &encoded(commit)))
    }

    /// The template as text; nothing but the file and the line is to be filled in.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address of a place, `FILE:LINE` or `FILE:LINE:COLUMN`; none where the text is no place.
    pub fn link(&self, place: &str) -> Option<String> {
        let (file, line) = split(place)?;
        Some(self.0.replace(LINE, line).replace(FILE, &encoded(file)))
    }
}

/// The file and the line of a place.
fn split(place: &str) -> Option<(&str, &str)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    let (before, last) = place.rsplit_once(':').filter(|(_, last)| is_number(last))?;
    let with_column = before.rsplit_once(':').filter(|(_, line)| is_number(line));
    Some(with_column.unwrap_or((before, last))).filter(|(file, _)| !file.is_empty())
}

/// A path with all escaped but its slashes and what RFC 3986 section 2.3 leaves as it is.
fn encoded(path: &str) -> String {
    let octet = |octet: u8| match octet {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(octet).to_string(),
        octet if octet.is_ascii_alphanumeric() => char::from(octet).to_string(),
        octet => format!("%{octet:02X}"),
    };
    path.bytes().map(octet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_leads_to_its_line() {
        let url = SourceUrl::parse("https://git.example.net/dns/blob/{commit}/{file}#L{line}").unwrap();
        assert!(url.needs_commit());
        let url = url.of_commit("3f2a");
        let link = |place| url.link(place);
        assert_eq!(link("names.lock:11").unwrap(), "https://git.example.net/dns/blob/3f2a/names.lock#L11");
        assert_eq!(
            link("a b/ü<\".csv:4:7").unwrap(),
            "https://git.example.net/dns/blob/3f2a/a%20b/%C3%BC%3C%22.csv#L4"
        );
        assert_eq!([link("names.lock"), link(":3"), link("a:b")], [None, None, None]);
    }

    #[test]
    fn a_template_is_the_address_of_a_page_with_a_file() {
        for text in ["javascript:{file}", "https://a/{line}", "https://{file}/x", "https://a b/{file}", "{file}"] {
            assert!(SourceUrl::parse(text).is_err(), "{text}");
        }
    }
}
