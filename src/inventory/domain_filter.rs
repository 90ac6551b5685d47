//! Which names a record publishes: `domain-filter` and `exclude-domains`.
//!
//! Source: external-dns v0.22, endpoint/domain_filter.go.

use crate::dns::{Name, NameRef};

/// A domain of a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainSuffix {
    /// The domain.
    pub domain: Name,
    /// Whether the domain itself is left out, and only names below it count: the text begins with a dot.
    pub is_below_only: bool,
}

impl DomainSuffix {
    /// Reads a domain of a filter.
    ///
    /// Errors: it is no name, or the root.
    pub fn parse(text: &str) -> Result<DomainSuffix, String> {
        let (rest, is_below_only) = text.strip_prefix('.').map_or((text, false), |rest| (rest, true));
        let domain = Name::parse(rest).map_err(|error| error.to_string())?;
        if domain == Name::root() {
            return Err("the root has no names of its own".to_owned());
        }
        Ok(DomainSuffix { domain, is_below_only })
    }

    /// Whether it holds for a name.
    fn holds(&self, name: NameRef<'_>) -> bool {
        let domain = self.domain.as_name();
        name.is_at_or_below(domain) && !(self.is_below_only && name == domain)
    }
}

/// Which names count: those in one of some domains, if there are any, and in none of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DomainFilter {
    /// The domains; all names count where there are none.
    pub domains: Vec<DomainSuffix>,
    /// The domains that are left out.
    pub excluded: Vec<DomainSuffix>,
}

impl DomainFilter {
    /// Whether a name is hidden: it is neither created nor deleted.
    pub fn hides(&self, name: NameRef<'_>) -> bool {
        let is_in = self.domains.is_empty() || self.domains.iter().any(|domain| domain.holds(name));
        !is_in || self.excluded.iter().any(|domain| domain.holds(name))
    }

    /// Whether all names at and below an apex are hidden.
    pub fn hides_zone(&self, apex: NameRef<'_>) -> bool {
        let meets = |own: &DomainSuffix| {
            let domain = own.domain.as_name();
            apex.is_at_or_below(domain) || domain.is_at_or_below(apex)
        };
        !self.domains.is_empty() && !self.domains.iter().any(meets) || self.excluded.iter().any(|own| own.holds(apex))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(domains: &[&str], excluded: &[&str]) -> DomainFilter {
        let read = |texts: &[&str]| texts.iter().map(|text| DomainSuffix::parse(text).unwrap()).collect();
        DomainFilter { domains: read(domains), excluded: read(excluded) }
    }

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn a_filter_hides_what_is_in_none_of_its_domains_or_in_an_excluded_one() {
        for (domains, excluded, shown, hidden) in [
            (&[][..], &[][..], &["a.example.net", "org"][..], &[][..]),
            (&["example.net"], &[], &["example.net", "a.example.net"], &["aexample.net", "net"]),
            (&[".example.net"], &[], &["a.example.net"], &["example.net"]),
            (
                &["example.net", "b.org."],
                &["x.example.net"],
                &["b.org", "a.example.net"],
                &["x.example.net", "a.x.example.net"],
            ),
            (&["example.net"], &[".x.example.net"], &["x.example.net"], &["a.x.example.net"]),
        ] {
            let filter = filter(domains, excluded);
            for text in shown {
                assert!(!filter.hides(name(text).as_name()), "{domains:?} {excluded:?} {text}");
            }
            for text in hidden {
                assert!(filter.hides(name(text).as_name()), "{domains:?} {excluded:?} {text}");
            }
        }
        assert!(
            DomainSuffix::parse("").is_err()
                && DomainSuffix::parse(".").is_err()
                && DomainSuffix::parse("a..b").is_err()
        );
    }

    #[test]
    fn a_zone_is_hidden_where_no_name_of_it_can_be_shown() {
        for (domains, excluded, zone, is_hidden) in [
            (&["example.net"][..], &[][..], "example.net", false),
            (&["example.net"], &[], "sub.example.net", false),
            (&["a.example.net"], &[], "example.net", false),
            (&["example.net"], &[], "example.org", true),
            (&[], &["example.net"], "example.net", true),
            (&[], &["example.net"], "a.example.net", true),
            (&[], &["a.example.net"], "example.net", false),
            (&[], &[".example.net"], "example.net", false),
        ] {
            let hides = filter(domains, excluded).hides_zone(name(zone).as_name());
            assert_eq!(hides, is_hidden, "{domains:?} {excluded:?} {zone}");
        }
    }
}
