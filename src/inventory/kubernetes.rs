//! Names of Kubernetes: what it takes for objects, namespaces and labels.
//!
//! Source: Kubernetes, "Object Names and IDs" and "Labels and Selectors"; RFC 1123 section 2.1 for labels of DNS.

/// The most octets of the name of an object, and of what is in front of the slash of a label's key.
const MAX_OBJECT_OCTETS: usize = 253;

/// The most octets of a namespace, and of the name and the value of a label.
const MAX_LABEL_OCTETS: usize = 63;

/// Whether a text can be the name of an object: labels of DNS with dots between them.
pub fn is_object_name(text: &str) -> bool {
    text.len() <= MAX_OBJECT_OCTETS && text.split('.').all(is_dns_label)
}

/// Whether a text can be the name of a namespace: one label of DNS.
pub fn is_namespace(text: &str) -> bool {
    text.len() <= MAX_LABEL_OCTETS && is_dns_label(text)
}

/// Whether a text can be the value of a label, and is not empty.
pub fn is_label_value(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (first, last) = (text.chars().next(), text.chars().next_back());
    text.len() <= MAX_LABEL_OCTETS && text.chars().all(is_plain) && is_end(first) && is_end(last)
}

/// Whether a text can be the key of a label: `NAME` or `DOMAIN/NAME`.
pub fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((domain, name)) => is_object_name(domain) && is_label_value(name),
        None => is_label_value(text),
    }
}

/// Whether a text has the form of a label of DNS, of any length.
fn is_dns_label(text: &str) -> bool {
    let is_plain = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-';
    !text.is_empty() && text.bytes().all(is_plain) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_kubernetes_takes() {
        let long = |octets: usize| "a".repeat(octets);
        for right in ["a", "0", "a-b", "a--b", "a.b-c.d", &long(253)] {
            assert!(is_object_name(right), "{right}");
        }
        for wrong in ["", "A", "a_b", "a..b", ".a", "a.", "a.-b", "a-.b", "-a", "a-", "ä", &long(254)] {
            assert!(!is_object_name(wrong), "{wrong}");
        }
        assert!(is_namespace("a-b") && is_namespace(&long(63)));
        assert!(!is_namespace("a.b") && !is_namespace("") && !is_namespace(&long(64)));
    }

    #[test]
    fn keys_of_labels_may_have_a_domain() {
        let (long, longer) = ("a".repeat(63), "a".repeat(64));
        for right in ["dns", "A_b.c-d", "example.net/dns", &format!("{}/{long}", "a".repeat(253))] {
            assert!(is_label_key(right), "{right}");
        }
        for wrong in ["", "/", "a/", "/a", "a/b/c", "a b", "-a", "a.", "A.net/a", "a..b/c", "a_b/c", &longer, "a\n"] {
            assert!(!is_label_key(wrong), "{wrong}");
        }
    }
}
