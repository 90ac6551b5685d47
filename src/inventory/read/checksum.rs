//! The `FILE.sha256` next to an export: what it says, and whether the export agrees with it.

use super::disk::{FoundFile, WorkspaceFolder};
use super::unread::FileError;
use crate::diag::{Code, Diagnostic};

/// What the name of the digest file has behind the export's. Where `digest` is demanded, files with this ending are not
/// exports.
pub const ENDING: &str = ".sha256";

/// The largest such file, in octets: a digest, a name of at most 255 octets and blanks, with room to spare.
const MAX: u64 = 1024;

/// How many digits of a digest are shown: enough for a person to compare two.
const SHOWN: usize = 12;

/// What is broken where the two disagree.
const RULE: &str = "with `digest` each file must agree with the `.sha256` file next to it";

/// Why an export does not agree with its digest file.
#[derive(Debug, PartialEq, Eq)]
pub struct DigestMismatch {
    /// The code.
    code: Code,
    /// What is wrong, to be printed behind the source's name.
    pub reason: String,
    /// What to do.
    hint: &'static str,
}

impl DigestMismatch {
    /// A diagnostic about the export.
    pub fn diagnostic(&self, source: &str, file: &FoundFile) -> Diagnostic {
        let message = format!("source `{source}`: {}", self.reason);
        Diagnostic::file_error(self.code, file.id, message).rule(RULE).hint(self.hint)
    }
}

/// Compares an export with its digest file; `digest` is its SHA-256, in lower case.
pub fn compare(folder: &WorkspaceFolder, file: &FoundFile, digest: &str) -> Result<(), DigestMismatch> {
    judge(&file.name, digest, folder.read_beside(file, ENDING, MAX))
}

/// Compares the export `name` with the content of its digest file.
fn judge(name: &str, digest: &str, content: Result<Vec<u8>, FileError>) -> Result<(), DigestMismatch> {
    let missing = |what: &str| DigestMismatch {
        code: Code::new("digest-missing"),
        reason: format!("{name}{ENDING} {what}, and `digest` demands it"),
        hint: "let the exporter write the SHA-256 of the file next to it, as `sha256sum` prints it",
    };
    let mismatch = |reason: String| DigestMismatch {
        code: Code::new("digest-mismatch"),
        reason,
        hint: "export or copy both files again",
    };
    let content = content.map_err(|error| missing(&error.reason()))?;
    let said = DigestLine::parse(&content).ok_or_else(|| missing("has no SHA-256"))?;
    let base = name.rsplit('/').next().unwrap_or(name);
    if said.name.is_some_and(|said| said != base) {
        return Err(mismatch(format!("{name}{ENDING} is for a file of another name")));
    }
    if said.digest == digest {
        Ok(())
    } else {
        Err(mismatch(format!(
            "the SHA-256 of {name} is {}…, and {name}{ENDING} says {}…",
            &digest[..SHOWN],
            &said.digest[..SHOWN]
        )))
    }
}

/// What a digest file says.
struct DigestLine<'a> {
    /// 64 hexadecimal digits, in lower case.
    digest: String,
    /// The name of the file that it is about.
    name: Option<&'a str>,
}

impl DigestLine<'_> {
    /// Reads one line: a digest, and perhaps two blanks, or a blank and `*`, and a name. Source: GNU coreutils,
    /// sha256sum.
    fn parse(bytes: &[u8]) -> Option<DigestLine<'_>> {
        let text = std::str::from_utf8(bytes).ok()?;
        let line = text.strip_suffix('\n').unwrap_or(text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (digest, rest) = line.split_at_checked(64)?;
        if !digest.bytes().all(|octet| octet.is_ascii_hexdigit()) || rest.contains('\n') {
            return None;
        }
        let name = match rest {
            "" => None,
            rest => Some(rest.strip_prefix("  ").or_else(|| rest.strip_prefix(" *")).filter(|name| !name.is_empty())?),
        };
        Some(DigestLine { digest: digest.to_ascii_lowercase(), name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::read::disk;

    #[test]
    fn what_sha256sum_prints_is_understood() {
        let digest = disk::digest(b"rows\n");
        let judge = |content: &str| judge("a/x.csv", &digest, Ok(content.into())).map_err(|found| found.code);
        for content in ["D", "D\n", "D\r\n", "D  x.csv\n", "D *x.csv\n", "U  x.csv\n"] {
            let content = content.replace('D', &digest).replace('U', &digest.to_ascii_uppercase());
            assert_eq!(judge(&content), Ok(()), "{content:?}");
        }
        for content in ["D  y.csv\n", "D  a/x.csv\n", "D  x.csv \n"] {
            assert_eq!(judge(&content.replace('D', &digest)), Err(Code::new("digest-mismatch")), "{content:?}");
        }
        for content in ["", "\n", "D x.csv\n", "D  \n", "D  x.csv\nD  y.csv\n", "D0\n", "SHA256 (x.csv) = D\n", "D\n\n"]
        {
            assert_eq!(judge(&content.replace('D', &digest)), Err(Code::new("digest-missing")), "{content:?}");
        }
        assert_eq!(judge(&digest[1..]), Err(Code::new("digest-missing")));
        assert_eq!(judge(&format!("g{}", &digest[1..])), Err(Code::new("digest-missing")));
        assert_eq!(judge(&"é".repeat(32)), Err(Code::new("digest-missing")));
    }

    #[test]
    fn both_digests_are_reported() {
        let found = judge("a/x.csv", &"a".repeat(64), Ok("B".repeat(64).into())).unwrap_err();
        assert_eq!(found.reason, "the SHA-256 of a/x.csv is aaaaaaaaaaaa…, and a/x.csv.sha256 says bbbbbbbbbbbb…");
        let found = judge("a/x.csv", "", Err(FileError::NotAFile)).unwrap_err();
        assert_eq!(found.reason, "a/x.csv.sha256 is not a regular file, and `digest` demands it");
    }
}
