//! A key as BIND's configuration has it, and `tsig-keygen` prints it.
//!
//! Comes in: the text of a file. Goes out: name, algorithm and secret of the one key in it; nothing for any other file.
//! Pure. Source: the BIND 9 Administrator Reference Manual, "key Block Grammar".

use super::{Secret, decode_base64};
use crate::dns::Name;

/// One key.
#[derive(Debug)]
pub struct KeyClause {
    /// Its name.
    pub name: Name,
    /// Its algorithm, in lower case.
    pub algorithm: String,
    /// Its secret.
    pub secret: Secret,
}

/// Reads a file that holds one key and nothing else.
pub fn parse(text: &str) -> Option<KeyClause> {
    let words = words(text)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["key", name, "{", inside @ .., "}", ";"] = words.as_slice() else { return None };
    let (mut algorithm, mut secret) = (None, None);
    let mut statements = inside.chunks_exact(3);
    for statement in &mut statements {
        match statement {
            ["algorithm", value, ";"] if algorithm.is_none() => algorithm = Some(value.to_ascii_lowercase()),
            ["secret", value, ";"] if secret.is_none() => secret = Some(decode_base64(value)?),
            _ => return None,
        }
    }
    let is_whole = statements.remainder().is_empty();
    let clause = KeyClause { name: Name::parse(name).ok()?, algorithm: algorithm?, secret: secret? };
    is_whole.then_some(clause)
}

/// The words of a text, and each brace and semicolon; without comments, and without the quotes around a word.
///
/// None where a quote or comment does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        rest = if first == '#' || rest.starts_with("//") {
            rest.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/")?.1
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (word, after) = quoted.split_once('"')?;
            words.push(word.to_owned());
            after
        } else if "{};".contains(first) {
            words.push(first.to_string());
            &rest[1..]
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || "{};\"#".contains(c)).unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            &rest[end..]
        };
        rest = rest.trim_start();
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_is_read_however_it_is_laid_out() {
        for text in [
            "key \"zw.\" {\n\talgorithm hmac-sha256;\n\tsecret \"c2VjcmV0\";\n};\n",
            "# ours\nkey zw { secret c2VjcmV0; // in base64\n algorithm HMAC-SHA256; /* the\nusual */ };",
        ] {
            let clause = parse(text).unwrap();
            assert_eq!((clause.name.to_string().as_str(), clause.algorithm.as_str()), ("zw.", "hmac-sha256"));
            assert_eq!(clause.secret.octets(), b"secret");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "",
            "c2VjcmV0",
            "keyc2VjcmV0",
            "key \"zw\" { secret \"c2VjcmV0\"; };",
            "key \"zw\" { algorithm hmac-sha256; secret \"c2Vj?\"; };",
            "key \"zw\" { algorithm hmac-sha256; secret \"c2VjcmV0\" };",
            "key \"zw\" { algorithm hmac-sha256; secret \"c2VjcmV0\"; secret \"c2VjcmV0\"; };",
            "key \"a\" { algorithm x; secret \"c2VjcmV0\"; }; key \"b\" { algorithm x; secret \"c2VjcmV0\"; };",
            "key \"zw { algorithm x; }",
            "key /* zw",
        ] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
