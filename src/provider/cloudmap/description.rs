//! The mark of a service, in its description, as external-dns writes it there. Pure.
//!
//! Source: external-dns, its registry `aws-sd`: the labels of a TXT of its registry `txt`, without quotes.

use crate::dns::RrsetMark;

/// What the labels begin with.
const HERITAGE: &str = "heritage=external-dns";

/// The label that says who owns a service.
const OWNER: &str = "external-dns/owner=";

/// The label that says what it was made for.
const RESOURCE: &str = "external-dns/resource=";

/// How many characters a description may have.
const MAX_DESCRIPTION: usize = 1_024;

/// The mark of a service with this description; none where it has none.
///
/// Errors: what the service is, as a part of a sentence, where its description is another one.
pub fn mark(description: Option<&str>) -> Result<Option<RrsetMark>, String> {
    let Some(text) = description.filter(|text| !text.is_empty()) else { return Ok(None) };
    // Some of its versions wrote quotes.
    let parts: Vec<&str> = text.trim_matches('"').split(',').collect();
    // As external-dns reads it: the last owner counts, and another heritage anywhere makes it another kind of text.
    let label = |word: &str| parts.iter().rev().find_map(|part| part.strip_prefix(word)).filter(|own| !own.is_empty());
    let is_other = |part: &&&str| part.starts_with("heritage=") && **part != HERITAGE;
    let is_heritage = parts.contains(&HERITAGE) && !parts.iter().any(|part| is_other(&part));
    match label(OWNER).filter(|_| is_heritage) {
        Some(owner) => {
            let resource = label(RESOURCE).map(str::to_owned);
            Ok(Some(RrsetMark { owner: owner.to_owned(), resource }))
        }
        None => Err("a service with a description that names no owner".to_owned()),
    }
}

/// A description with this mark in place of the one that it has; other labels of it stay.
///
/// Errors: it would be too long, or a part of the mark has a comma; in words that go on after the name.
pub fn with_mark(description: Option<&str>, after: Option<&RrsetMark>) -> Result<Option<String>, String> {
    let Some(RrsetMark { owner, resource }) = after else { return Ok(None) };
    let is_bare = |text: &String| !text.is_empty() && !text.contains([',', '"']);
    if !is_bare(owner) || !resource.as_ref().is_none_or(is_bare) {
        return Err(
            "would have an owner or a resource with a comma or a quote, which no description can have".to_owned()
        );
    }
    let kept = description.unwrap_or_default().trim_matches('"').split(',');
    let kept = kept.filter(|part| part.starts_with("external-dns/"));
    let kept = kept.filter(|part| !part.starts_with(OWNER) && !part.starts_with(RESOURCE)).map(str::to_owned);
    let own = std::iter::once(format!("{OWNER}{owner}"));
    let own = own.chain(resource.as_ref().map(|resource| format!("{RESOURCE}{resource}")));
    let mut labels: Vec<String> = own.chain(kept).collect();
    labels.sort_unstable();
    let text = format!("{HERITAGE},{}", labels.join(","));
    if text.len() > MAX_DESCRIPTION {
        return Err(format!("would have a description of more than {MAX_DESCRIPTION} characters"));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_of_external_dns_is_a_mark() {
        let text = "heritage=external-dns,external-dns/owner=us,external-dns/resource=crd/shop/web";
        let expected = RrsetMark { resource: Some("crd/shop/web".to_owned()), ..RrsetMark::of("us") };
        assert_eq!(mark(Some(text)), Ok(Some(expected.clone())));
        assert_eq!(mark(Some(&format!("\"{text}\""))), Ok(Some(expected.clone())));
        assert_eq!(with_mark(None, Some(&expected)), Ok(Some(text.to_owned())));
        assert_eq!((mark(None), mark(Some(""))), (Ok(None), Ok(None)));
        for other in [
            "the shop",
            "heritage=other,external-dns/owner=us,heritage=external-dns",
            "heritage=external-dns,external-dns/owner=",
        ] {
            assert_eq!(mark(Some(other)), Err("a service with a description that names no owner".to_owned()));
        }
    }

    #[test]
    fn another_owner_leaves_other_labels() {
        let text = "heritage=external-dns,external-dns/more=x,external-dns/owner=them";
        let after = with_mark(Some(text), Some(&RrsetMark::of("us")));
        assert_eq!(after, Ok(Some("heritage=external-dns,external-dns/more=x,external-dns/owner=us".to_owned())));
        assert_eq!(with_mark(Some(text), None), Ok(None));
        assert!(with_mark(None, Some(&RrsetMark::of("a,b"))).is_err());
        assert!(with_mark(None, Some(&RrsetMark::of(&"a".repeat(1_024)))).is_err());
    }
}
