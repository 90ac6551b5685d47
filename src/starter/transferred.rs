//! A workspace whose records are those that a server has: each zone as a file in YAML, as octoDNS has it.

use super::imported::{ImportBasis, ImportSource, marked, not_plain, pools};
use super::settings::{StarterAdmin, StarterSettings, StarterZone};
use super::stated::StatedFiles;
use super::{SETTINGS, Starter, StarterFile, common, count, editors, plain, some};
use crate::dns::{Name, ZoneContents};
use crate::inventory::sources::{ZoneYaml, zone_yaml};
use crate::target::marker_key;

/// The folder of the zones.
const ZONES: &str = "zones";

/// The id of the project.
const PROJECT: &str = "records";

/// Makes a workspace of the records of zones.
pub fn make(basis: &ImportBasis<'_>) -> Starter {
    let contents: Vec<&ZoneContents> = basis.live.zones().filter_map(|(_, zone)| zone.contents()).collect();
    let written: Vec<ZoneYaml> = contents.iter().map(|contents| written(contents)).collect();
    let mut stated = StatedFiles::default();
    // No name of a file has a slash, which zones of RFC 2317 have.
    let file = |contents: &ZoneContents| plain(contents.apex().as_name()).replace('/', "\\047");
    let path = |contents: &ZoneContents| format!("{ZONES}/{}.yaml", file(contents));
    contents.iter().for_each(|contents| stated.take_zone(path(contents), contents.apex().clone()));
    let (from, secrets) = match basis.origin {
        ImportSource::Target(target) => (target.called(), target.secrets()),
        ImportSource::Folders(_) => ("the zone files in this folder".to_owned(), Vec::new()),
    };
    let head = vec![
        format!("Made by `zonewright init --records` on {} from {from}.", basis.now.to_second()),
        "The files in zones/ state what the server had then. From now on they are the source: edit them, then \
         `zonewright plan`. `zonewright help` lists the commands."
            .to_owned(),
    ];
    let mut domains: Vec<String> = stated.domains().iter().filter_map(domain_of).collect();
    domains.dedup();
    let mut domains = domains.into_iter();
    let admin = StarterAdmin {
        id: PROJECT.to_owned(),
        dns_domain: domains.next().expect("a zone was read"),
        also_domains: domains.collect(),
        note: None,
    };
    let zone =
        |contents: &&ZoneContents| StarterZone { name: contents.apex().clone(), pool: "main".to_owned(), ttl: None };
    let settings = StarterSettings {
        head,
        owner: basis.owner.to_owned(),
        projects: vec!["projects/*.yaml".to_owned()],
        records: stated.sources(PROJECT),
        admins: vec![admin],
        pools: pools(basis.origin),
        zones: contents.iter().map(zone).collect(),
        ..StarterSettings::default()
    };
    let mut files = vec![
        StarterFile::new(SETTINGS, "zones, target, sources", settings.to_text()),
        stated.project(PROJECT).to_file(&format!("projects/{PROJECT}.yaml")),
    ];
    let zones = contents.iter().zip(&written);
    files.extend(zones.map(|(contents, zone)| {
        StarterFile::new(path(contents), count(zone.rrsets, "RRset", "RRsets"), zone.text.clone())
    }));
    files.extend(editors::schemas());
    files.extend(common::for_git(&secrets));
    let names: Vec<String> = contents.iter().map(|contents| plain(contents.apex().as_name())).collect();
    let from = vec![format!("{}: {}", count(names.len(), "zone", "zones"), some(&names))];
    Starter { files, basis: from, remarks: remarks(basis, &written) }
}

/// The domain that a project may have for the records of a zone: the zone itself, or, where its name is no host's, such as that
/// of a zone of RFC 2317, what is above.
fn domain_of(zone: &Name) -> Option<String> {
    let mut names = zone.as_name().ancestors().map(plain);
    names.find(|name| Name::parse_host(name).is_ok())
}

/// A zone without our marker.
fn written(contents: &ZoneContents) -> ZoneYaml {
    let marker: Option<Name> = marker_key(contents.apex()).map(|key| key.owner.as_name().to_name());
    zone_yaml(contents, |owner| marker.as_ref() == Some(owner))
}

/// What is not in the files, and what comes next.
fn remarks(basis: &ImportBasis<'_>, written: &[ZoneYaml]) -> Vec<String> {
    let mut remarks = vec![
        "Not in the files, since the server makes them: SOA, the NS of the zones themselves, and what DNSSEC adds."
            .to_owned(),
    ];
    let unsaid: Vec<String> = written
        .iter()
        .flat_map(|zone| &zone.unsaid)
        .map(|(owner, rtype)| format!("{rtype} of {}", plain(owner.as_name())))
        .collect();
    if !unsaid.is_empty() {
        remarks.push(format!(
            "{} not in the files, since YAML cannot say it exactly, such as a TXT of short strings: {}. zonewright \
             leaves what no file states as it is.",
            count(unsaid.len(), "RRset is", "RRsets are"),
            some(&unsaid)
        ));
    }
    remarks.extend(not_plain(basis.live));
    remarks.extend(marked(basis.live));
    remarks.push(
        "Every zone has `permission = \"own\"`, so that zonewright changes only what it created. Once the other tool no \
         longer writes here, set `permission = \"full\"` and `registry = \"noop\"` (docs/migrate/dnscontrol.md)."
            .to_owned(),
    );
    remarks.push("There are no hosts: `hosts = \"none\"` says so, until you name their export there.".to_owned());
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starter::ImportTarget;
    use crate::starter::fleet::tests::live;

    /// A zone with a value of each form, and what a server or a signer makes.
    const ZONE: &str = "@ MX 10 mail\n@ MX 20 b.example.org.\n@ CAA 0 issue \"ca.example.net; policy=ev\"\n\
        @ HTTPS 1 . alpn=h2 port=8443 ipv4hint=192.0.2.7,192.0.2.8\n@ NSEC3PARAM 1 0 0 -\n@ CDS 0 0 0 00\n\
        _zonewright TXT \"e=1 p=sha256:00 b=1\"\na10 60 A 192.0.2.10\na2 60 A 192.0.2.2\n*.w AAAA 2001:db8::1\nno CNAME mail\n\
        _sip._tcp SRV 0 5 5060 mail\n_dmarc TXT \"v=DMARC1; p=none\"\nquote TXT \"\\\"it's\\\" \\\\ \\200\"\n\
        split TXT \"short\" \"strings\"\nempty TXT \"\"\nsub NS ns.sub\nns.sub A 192.0.2.54\nhinfo HINFO \"PC\" \"Linux box\"\n\
        _u._tcp URI 10 1 \"https://example.net/a;b\"\nnaptr NAPTR 100 10 \"S\" \"SIP+D2U\" \"\" _sip._udp\n\
        loc LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m\nother TYPE65501 \\# 2 0a01\nsvc SVCB 0 b.example.org.\n";

    #[test]
    fn a_zone_is_stated_as_octodns_has_it_and_what_that_form_cannot_say_is_named() {
        let live = live(&[("example.net", ZONE)]);
        let now = "2026-11-20T02:00:00Z".parse().unwrap();
        let target = ImportTarget::NameServer { server: "192.0.2.53".to_owned(), key: None };
        let origin = ImportSource::Target(&target);
        let starter = make(&ImportBasis { live: &live, unread: &[], now, owner: "us", origin });
        let file = starter.files.iter().find(|file| file.path == "zones/example.net.yaml").unwrap();
        insta::assert_snapshot!(file.text, @r#"
        ---
        '':
          - ttl: 300
            type: CAA
            value:
              flags: 0
              tag: issue
              value: 'ca.example.net; policy=ev'
          - ttl: 300
            type: HTTPS
            value:
              svcparams: {alpn: ['h2'], ipv4hint: ['192.0.2.7', '192.0.2.8'], port: '8443'}
              svcpriority: 1
              targetname: '.'
          - ttl: 300
            type: MX
            values:
              - exchange: mail.example.net.
                preference: 10
              - exchange: b.example.org.
                preference: 20
        '*.w':
          ttl: 300
          type: AAAA
          value: '2001:db8::1'
        _dmarc:
          ttl: 300
          type: TXT
          value: 'v=DMARC1\; p=none'
        _sip._tcp:
          ttl: 300
          type: SRV
          value:
            port: 5060
            priority: 0
            target: mail.example.net.
            weight: 5
        _u._tcp:
          ttl: 300
          type: URI
          value:
            priority: 10
            target: 'https://example.net/a;b'
            weight: 1
        a2:
          ttl: 60
          type: A
          value: 192.0.2.2
        a10:
          ttl: 60
          type: A
          value: 192.0.2.10
        empty:
          ttl: 300
          type: TXT
          value: ''
        hinfo:
          ttl: 300
          type: HINFO
          value: '"PC" "Linux box"'
        loc:
          ttl: 300
          type: LOC
          value:
            altitude: '-2.00'
            lat_degrees: 52
            lat_direction: 'N'
            lat_minutes: 22
            lat_seconds: '23.000'
            long_degrees: 4
            long_direction: E
            long_minutes: 53
            long_seconds: '32.000'
            precision_horz: '10000.00'
            precision_vert: '10.00'
            size: '0.00'
        naptr:
          ttl: 300
          type: NAPTR
          value:
            flags: 'S'
            order: 100
            preference: 10
            regexp: ''
            replacement: '_sip._udp.example.net.'
            service: 'SIP+D2U'
        'no':
          ttl: 300
          type: CNAME
          value: mail.example.net.
        ns.sub:
          ttl: 300
          type: A
          value: 192.0.2.54
        other:
          ttl: 300
          type: TYPE65501
          value: '\# 2 0a01'
        quote:
          ttl: 300
          type: TXT
          value: '\034it''s" \\ \200'
        sub:
          ttl: 300
          type: NS
          value: ns.sub.example.net.
        svc:
          ttl: 300
          type: SVCB
          value:
            svcpriority: 0
            targetname: b.example.org.
        "#);
        let unsaid = starter.remarks.iter().find(|remark| remark.contains("cannot say")).unwrap();
        assert!(
            unsaid.starts_with("1 RRset is not in the files") && unsaid.contains("TXT of split.example.net."),
            "{unsaid}"
        );
    }
}
