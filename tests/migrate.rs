//! Each page for a move from another tool goes as it is written: its commands are run in a fresh folder, in order, and what
//! they print is compared. `UPDATE_DOCS=1 cargo test --test migrate` writes the transcripts anew; tests/transcripts says what a
//! transcript is.

#[path = "folder/copy.rs"]
mod copy;
#[expect(dead_code, reason = "these tests need no Python")]
mod support;
mod transcripts;

use transcripts::follow;

#[test]
fn from_octodns() {
    follow("docs/migrate/octodns.md");
}

#[test]
fn from_external_dns() {
    follow("docs/migrate/external-dns.md");
}

#[test]
fn from_dnscontrol() {
    follow("docs/migrate/dnscontrol.md");
}

#[test]
fn from_nsdiff() {
    follow("docs/migrate/nsdiff.md");
}
