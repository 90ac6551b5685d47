//! The type of records that a word is nearly the mnemonic of.

use crate::diag::did_you_mean;

/// The types that files state most.
const TYPES: [&str; 17] = [
    "A", "AAAA", "CNAME", "TXT", "MX", "SRV", "NS", "PTR", "CAA", "NAPTR", "DS", "TLSA", "SSHFP", "SVCB", "HTTPS",
    "LOC", "DNAME",
];

/// The hint for a word that is no type: which it may be, or how to write a type without a mnemonic.
pub fn hint(word: &str) -> String {
    let near = did_you_mean(&word.to_ascii_uppercase(), TYPES.into_iter());
    near.unwrap_or_else(|| "write a mnemonic such as `MX`; types without one are `TYPE` and their number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_nearly_a_type_gets_a_hint() {
        assert_eq!(hint("cnmae"), "did you mean `CNAME`?");
        assert!(hint("nonsense").starts_with("write a mnemonic"));
    }
}
