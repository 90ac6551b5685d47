//! The transcripts of README, the tour, and the pages of pods, of external-dns and of symptoms are what a terminal shows. `UPDATE_DOCS=1 cargo test --test
//! tour` writes them anew; tests/transcripts says what a transcript is.

#[path = "folder/copy.rs"]
mod copy;
#[expect(dead_code, reason = "these tests need no Python")]
mod support;
mod transcripts;

use std::process::Command;

use transcripts::follow;

/// Whether `nsupdate` is installed; says aloud where it is not.
fn has_nsupdate() -> bool {
    let found = Command::new("nsupdate").arg("-V").output().is_ok();
    if !found {
        support::skip("nsupdate is not installed");
    }
    found
}

#[test]
fn readme_shows_what_its_command_prints() {
    follow("README.md");
}

#[test]
fn the_tour_goes_as_it_is_told() {
    if has_nsupdate() {
        follow("docs/tour.md");
    }
}

#[test]
fn pods_go_as_their_page_says() {
    follow("docs/pods.md");
}

#[test]
fn manifests_for_external_dns_are_as_their_page_shows_them() {
    follow("docs/external-dns.md");
}

#[test]
fn symptoms_look_as_they_are_shown() {
    follow("docs/troubleshooting.md");
}
