//! Tests against real name servers on loopback: one binary, so that all of them share the helpers that start servers.

use std::io::Write as _;
use std::path::Path;

/// Makes a test of each function for each kind of server, so that a failure names both.
macro_rules! on_every_kind {
    ($($fact:ident)*) => {
        on_every_kind! { @kind bind Bind $($fact)* }
        on_every_kind! { @kind knot Knot $($fact)* }
        on_every_kind! { @kind nsd Nsd $($fact)* }
        on_every_kind! { @kind power_dns PowerDns $($fact)* }
    };
    (@kind $module:ident $kind:ident $($fact:ident)*) => {
        /// One kind.
        mod $module {
            $(#[test] fn $fact() { super::$fact(crate::server::Kind::$kind); })*
        }
    };
}

/// The same for the kinds that take updates.
macro_rules! on_every_primary {
    ($($fact:ident)*) => {
        on_every_kind! { @kind bind Bind $($fact)* }
        on_every_kind! { @kind knot Knot $($fact)* }
        on_every_kind! { @kind power_dns PowerDns $($fact)* }
        on_every_kind! { @kind serve Serve $($fact)* }
    };
}

/// Defines a test of each of these facts about a PowerDNS that is read by its API.
macro_rules! by_api_too {
    ($($fact:ident)*) => {
        on_every_kind! { @kind power_dns_by_api PowerDnsApi $($fact)* }
    };
}

#[path = "../folder/copy.rs"]
mod copy;
#[expect(dead_code, reason = "other tests use the rest of it")]
#[path = "../doubles/mod.rs"]
mod doubles;
#[path = "../folder/edit.rs"]
mod edit;
#[path = "../process/reference_cms.rs"]
mod reference_cms;

mod apply_chain;
mod apply_journal;
mod apply_race;
mod apply_refused;
mod apply_resume;
mod apply_round;
mod apply_signals;
mod apply_stale;
mod apply_swallowed;
mod apply_undo;
mod approvals;
mod axfr;
mod azure;
mod bind;
mod cached;
mod carried_out;
mod catalogs;
mod client;
mod clock;
mod cloudmap;
mod coredns;
mod demo;
mod doctor;
mod error_sweep;
mod etcd;
mod external_dns;
mod faults;
mod fleet;
mod gate;
mod hand_edit;
mod hindsight;
mod http_way;
mod init;
mod init_api;
mod kill_sweep;
mod knot;
mod lacking;
mod made;
mod maker;
mod names;
mod names_written;
mod nsd;
mod once;
mod ordinary_year;
mod ours;
mod pdns;
mod pdns_api;
mod planted;
mod pods;
mod pool_fleets;
mod pool_sweep;
mod pools;
mod powerdns_api;
mod powerdns_writes;
mod proxy;
mod proxy_faults;
mod publication;
mod race;

mod master_file;
mod query;
mod query_names;
mod records;
mod refusals;
mod relay;
mod resume_between;
mod rig;
mod route53;
mod running;
mod serials;
mod serve;
mod serve_random;
mod server;
mod session;
mod several;
mod snapshot;
mod spy;
mod stated;
mod stated_swap;
mod sweep;
mod syscalls;
mod tamper;
mod tamper_query;
mod trio;
mod update;
mod witness;
mod workspace;
mod yard;
mod zonefile;

/// Whether a program is there. Where it is not, says so aloud on stderr, past the test harness; in CI that is a failure.
fn have(program: &Path) -> bool {
    if program.is_file() {
        return true;
    }
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{} is not installed, and CI is true",
        program.display()
    );
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped: {} is not installed", program.display()).expect("stderr is open");
    false
}
