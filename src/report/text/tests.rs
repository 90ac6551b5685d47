//! What a plan looks like.

use std::collections::BTreeMap;

use super::*;
use crate::plan::fixture::{self, fleet};
use crate::report::{Format, plan};

/// A plan as text with the embedded templates.
fn shown(plan_value: Plan, options: &TextOptions) -> String {
    let templates = Templates::load(BTreeMap::new()).unwrap();
    plan(&SealedPlan::new(plan_value), Format::Text, &templates, options).unwrap()
}

#[test]
fn a_plan_reads_well_at_eighty_columns() {
    insta::assert_snapshot!(shown(fleet(), &TextOptions::default()), @r#"
    Project lab

      host 300044
        delete AAAA lab-old-3.example.net.  ttl 3600
          - 2a02:6b8:0:77::1
          released name: the host gave it up (names.lock:902)

    Project search

      host 100001  sas1-0001.search.example.net.
        modify AAAA sas1-0001.search.example.net.  ttl 3600 -> 600
          - 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398
          + 2a02:6b8:0:160b:0:1478:b508:9398
                            ^^^^^^^^^^^
          other TTL: not the one that is wanted (projects/search.yaml:9)
          wrong address: not one of the host's (agents/agent-1.jsonl:17,
            racktables/l3-tors.txt:412, projects/search.yaml:4)
        create PTR of 2a02:6b8:0:160b:0:1478:b508:9398  ttl 600
          + sas1-0001.search.example.net.
          missing PTR: the address does not name its host (as above)
        delete PTR of 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398  ttl 3600
          - sas1-0001.search.example.net.
          PTR elsewhere: the address is not the host's (as above)

      host 100007  sas1-0007.search.example.net.
        create AAAA sas1-0007.search.example.net.  ttl 600
          + 2a02:6b8:0:160b:0:1478:b508:93a0
          missing address: none of the host's addresses is here
            (agents/agent-1.jsonl:23, racktables/l3-tors.txt:412,
            projects/search.yaml:4)
        modify PTR of 2a02:6b8:0:160b:0:1478:b508:93a0  ttl 600
          - sas1-0002.search.example.net.
          + sas1-0007.search.example.net.
                 ^^^^
          missing PTR: the address does not name its host (as above)
          wrong PTR: not what the address should name (as above)
        create AAAA fb-sas1-0007.search.example.net.  ttl 600
          + 2a02:6b8:0:3f02:0:1478:b508:93a0
          missing address: none of the host's addresses is here
            (agents/agent-1.jsonl:23, racktables/net-layout.xml:88,
            racktables/net-layout.xml:89, projects/search.yaml:4)
        create PTR of 2a02:6b8:0:3f02:0:1478:b508:93a0  ttl 600
          + fb-sas1-0007.search.example.net.
          missing PTR: the address does not name its host (agents/agent-1.jsonl:23,
            projects/search.yaml:4)
        delete AAAA sas1-0002.search.example.net.  ttl 600
          - 2a02:6b8:0:160b:0:1478:b508:93a0
          address elsewhere: the name is not the host's (agents/agent-1.jsonl:23,
            racktables/l3-tors.txt:412, projects/search.yaml:4)
          address elsewhere for host 100008: the name is not the host's
            (agents/agent-2.jsonl:9, racktables/l3-tors.txt:412,
            projects/search.yaml:4)
          shared with host 100008

      host 100012  sas1-0012.search.example.net.
        modify AAAA sas1-0012.search.example.net.  ttl 3600 -> 600
            2a02:6b8:0:160b:0:1478:b508:93b1
            2a02:6b8:0:160c:0:1478:b508:93b1
          other TTL: not the one that is wanted (projects/search.yaml:9)

      no host
        delete AAAA sas1-0931.search.example.net.  ttl 600
          - 2a02:6b8:0:160b:0:1478:b508:1111
          orphan: no host has the name (projects/search.yaml:11)

    Project web

      host 200017  myt2-web-0017.web.example.net.
        create TXT aaaa-myt2-web-0017.web.example.net.  ttl 3600
          + "heritage=external-dns,external-dns/owner=fleet-dns"
          registry: it records whose an RRset is (zonewright.toml:2)
        modify AAAA myt2-web-0017.web.example.net.  ttl 3600
            2a02:6b8:0:51a::b29a:845b
          - 2a02:6b8:0:51a::b29a:845c
          wrong address: not one of the host's (racktables/ipv4-map.txt:31,
            projects/web.yaml:3)
        create PTR of 178.154.132.91  ttl 3600
          + myt2-web-0017.web.example.net.
          missing PTR: the address does not name its host
            (racktables/ipv4-map.txt:31)

    Summary

      project  hosts  create  modify  delete  blocked  skipped
      lab          1       -       -       1        1     1203
      search       3       4       3       3       40        1
      web          1       2       1       -        9        1
      total        5       6       4       4       50     1205

    Blocked: 50 hosts get no change until this is put right

      bad-input: a line that they need is wrong
        racktables/l3-tors.txt:412: `2a02:6b8:0:1600::/63` is no /64
          38 hosts of search: 100100, 100101, 100102, 100103, 100104 and 33 more
        hint: correct the line

      duplicate-name: another interface has their name
        host 100300 of search: `sas1-0300.search.example.net.` is the name of host
          100301 too
        host 100301 of search: `sas1-0300.search.example.net.` is the name of host
          100300 too
        hint: `release` one of the two, or correct hosts.csv

      no-mac: no report gives their MAC
        host 200100 of web: no source reports a MAC of host 200100
        host 200101 of web: no source reports a MAC of host 200101
        host 200102 of web: no source reports a MAC of host 200102
        host 200103 of web: no source reports a MAC of host 200103
        host 200104 of web: no source reports a MAC of host 200104
        and 4 more hosts (-v lists all)
        hint: see whether the host's agent runs and reports

      not-owner: a wrong record that is not ours stands where theirs belongs
        host 300007 of lab: AAAA at `lab-7.example.net.` is wrong and was not
          created by us
        hint: `adopt` the name, or remove the record by hand

    Skipped: 1205 hosts are not looked after

      automation-off: automation is not allowed, or not switched on, for their
        project
        1203 hosts of lab: 300100, 300101, 300102, 300103, 300104 and 1198 more

      restricted: the inventory keeps automation away from them
        1 host of search: 100400
        1 host of web: 200400

    Notices

      foreign-name: a host's address stands at a name that is nobody's
        www.example.net.: AAAA 2a02:6b8:0:160b:0:1478:b508:9398 belongs to host
          100001, but the name is no host's

      source-unknown: a source cannot be believed
        source `eine`: agents/eine-1.jsonl was cut: its last line has no end

    Limits: hosts changed within a period, too many

      limit           period   max  used  planned
      global          1d      1000   118        5
      project:search  1h        20    18        3  exceeded

    Zones as they were read

          serial  rrsets  zone
      2026112007   81240  0.0.8.b.6.0.2.0.a.2.ip6.arpa.
      2026112001   62018  search.example.net.
             417    9114  web.example.net.

    plan    sha256:747b2dbc7271f09c651fe70395e0e4d1179d2097b7d7695852c401c05ef9d332
    effect  sha256:7358688c3184476a6ac33c53df908b2b0d3c9beecbf0e055496dc82f3ef7f7d5
    Nothing was written to DNS. `--out FILE` saves this plan.
    "#);
}
