//! The pages are written as they must be, and found.

use super::*;
use crate::diag::near;

#[test]
fn all_pages_are_read_and_no_code_has_two() {
    let mut codes: Vec<&str> = pages().map(|page| page.code).collect();
    assert!(codes.len() > 200, "{}", codes.len());
    codes.sort_unstable();
    let twice: Vec<_> = codes.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
    for page in pages() {
        assert!(page.means.ends_with('.') || page.means.ends_with(".)"), "{}: {}", page.code, page.means);
        assert!(page.advice.ends_with('.') || page.advice.ends_with(".)"), "{}: {}", page.code, page.advice);
        assert!(page.in_a_cloud.as_ref().is_none_or(|text| text.ends_with('.')), "{}", page.code);
        assert!(page.means.matches('`').count() % 2 == 0, "{}", page.code);
    }
}

#[test]
fn the_parts_of_a_page_stand_in_order() {
    let text = "# A\n\nB\nb.\n\n## x-y\n\n*block, names*\n\n**Means:** C\nc. D\n\n**Example:**\n\n```text\nl\n\nm\n```\n\n\
                **What to do:** E.\n\n**In a cloud:** F\nf.\n\n**See:** [f.md: g](../f.md#g), [h.md](../h.md)\n";
    let family = parse("t.md", text).unwrap();
    let page = &family.pages[0];
    assert_eq!((family.title, family.about.as_str(), page.code), ("A", "B b.", "x-y"));
    assert_eq!((page.means.as_str(), page.brief(), page.advice.as_str()), ("C c. D", "C c", "E."));
    assert_eq!(
        (page.kinds.as_slice(), page.example.as_slice()),
        (&[CodeKind::Block, CodeKind::Names][..], &["l", "", "m"][..])
    );
    assert_eq!(page.in_a_cloud.as_deref(), Some("F f."));
    assert_eq!(page.see, [("f.md: g", "../f.md#g"), ("h.md", "../h.md")]);
}

#[test]
fn what_is_missing_is_told_with_its_line() {
    let fault = |text| parse("t.md", text).unwrap_err().to_string();
    assert_eq!(fault("x"), "docs/codes/t.md:1: here belongs the title");
    assert_eq!(fault("# A\n\nB.\n\n## x\n\n*odd*\n"), "docs/codes/t.md:7: here belongs the kinds of the code");
    let open = "# A\n\nB.\n\n## x\n\n*error*\n\n**Means:** C.\n\n**Example:**\n\n```text\nl\n";
    assert_eq!(fault(open), "docs/codes/t.md:14: here belongs a fenced example that is closed and not empty");
}

#[test]
fn a_code_is_found_however_it_was_pasted() {
    let pasted = [
        "not-a-64",
        "NOT-A-64",
        "error[not-a-64]",
        "error[not-a-64]:",
        "`not-a-64`",
        "not-a-64.",
        "(not-a-64)",
        "\"not-a-64\",",
        "not a 64",
        "not_a_64",
        "racktables/l3-tors.txt:18:16: error[not-a-64]: `2a02:6b8:0:160e::/63` is not a /64",
        "  not-a-64\n",
    ];
    for word in pasted {
        assert_eq!(find(word).map(|page| page.code), Some("not-a-64"), "{word}");
    }
    assert_eq!(find("warning[view]").map(|page| page.code), Some("view"));
    for word in ["", "-", "`", "error[", "error[]", "]", "no-such-code", "\u{0}", "ä", "error[view"] {
        assert_eq!(find(word), None, "{word:?}");
    }
}

#[test]
fn what_is_nearly_a_code_gets_suggestions() {
    let codes = || pages().map(|page| page.code);
    assert_eq!(near("not-a-46", codes(), 3).first(), Some(&"not-a-64"));
    assert_eq!(near("sorce-cut", codes(), 3).first(), Some(&"source-cut"));
    assert!(near("tsig", codes(), 9).iter().all(|code| code.contains("tsig")));
    assert!(near("", codes(), 3).is_empty() && near("qqqqqqqq", codes(), 3).is_empty());
}
