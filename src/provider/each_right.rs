//! For tests of providers: that a list of rights is the least with which a target can be used.

use std::collections::BTreeSet;

use crate::diag::Problem;

/// Does some work with all of these rights, and again without each of them. With all it succeeds; without any one it is denied. Each is in
/// docs/targets.md.
pub fn check_each_right(rights: &[String], work: impl Fn(BTreeSet<String>) -> Result<(), Problem>) {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/targets.md")).expect("the docs");
    work(rights.iter().cloned().collect()).expect("all rights are enough");
    for missing in rights {
        let problem =
            work(rights.iter().filter(|right| *right != missing).cloned().collect()).expect_err("a right is missing");
        assert_eq!(problem.code.as_str(), "api-denied", "{missing}: {problem}");
        assert!(docs.contains(&format!("\"{missing}\"")), "docs/targets.md lacks {missing}");
    }
}
