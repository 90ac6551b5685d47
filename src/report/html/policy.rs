//! What a page may load and run: its own style and script, by their digests, and nothing else.

use sha2::{Digest as _, Sha256};

/// The Content-Security-Policy of a page with this style and script.
///
/// Source: Content Security Policy Level 3, sections 2.3.1 and 6.
pub fn policy(style: &str, script: &str) -> String {
    let digest = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        digest(style),
        digest(script)
    )
}

/// Octets in base64 (RFC 4648 section 4).
fn base64(octets: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let octet = |place: usize| u32::from(three.get(place).copied().unwrap_or_default());
        let bits = octet(0) << 16 | octet(1) << 8 | octet(2);
        let digit = |place: usize| {
            if place > three.len() { '=' } else { char::from(DIGITS[(bits >> (18 - 6 * place) & 63) as usize]) }
        };
        [0, 1, 2, 3].map(digit)
    };
    octets.chunks(3).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(texts.map(|text| base64(text.as_bytes())), expected);
    }

    #[test]
    fn the_style_and_the_script_alone_are_let_in() {
        let policy = policy("", "a");
        assert!(policy.starts_with("default-src 'none'; "));
        // SHA-256 of nothing.
        assert!(policy.contains("style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"));
    }
}
