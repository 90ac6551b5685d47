//! Every format, good and bad.

mod apps;

mod foreign;

mod host_rows;

mod lock_rows;

mod networks;

mod reports;

use super::*;
use crate::diag::{Origin, render};
use crate::inventory::model::{ExportEntry, HostStatus, Sighting};
use crate::inventory::reports::in_order;
use crate::inventory::selector::KeySelector;
use crate::inventory::source::{
    ExportDemands, FieldMapping, OWN, PathPattern, RECORD_LABEL, RecordConflicts, RecordsSpec,
};
use crate::inventory::value::{Inv, Size, Vlan};

/// The outcome of one source.
struct Outcome {
    draft: Draft,
    trust: Trust,
    tally: SourceTally,
    files: Files,
}

impl Outcome {
    fn codes(&self) -> Vec<&'static str> {
        self.tally.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
    }

    fn reports(&self) -> Vec<MacReport> {
        in_order(self.draft.reports.clone())
    }

    fn text(&self) -> String {
        render(&self.tally.diagnostics, &self.files)
    }

    fn doubt(&self) -> &str {
        self.trust.doubt().unwrap_or("known")
    }

    fn symbol(&self, text: &str) -> Symbol {
        self.draft.symbols.find(text).expect("some row names it")
    }
}

/// Reads one source from `contents`, a file each.
fn read_with(key: &'static str, contents: &[&[u8]], adjust: impl FnOnce(&mut SourceSpec)) -> Outcome {
    read_as((key, OWN), contents, Draft::default(), adjust)
}

/// Reads one source of a format into a draft that may hold others.
fn read_as(
    (key, word): (&'static str, &'static str),
    contents: &[&[u8]],
    mut draft: Draft,
    adjust: impl FnOnce(&mut SourceSpec),
) -> Outcome {
    let format = FORMATS.iter().find(|format| (format.key, format.word) == (key, word)).unwrap();
    let mut files = Files::default();
    let inputs: Vec<SourceFile<'_>> =
        (1..).zip(contents).map(|(n, bytes)| SourceFile { id: files.add(format!("{key}-{n}")), bytes }).collect();
    let origin = Origin::line(inputs[0].id, 1);
    let pattern = PathPattern { text: key.into(), origin, width: 1 };
    let mut spec = SourceSpec {
        demands: ExportDemands::default(),
        key,
        word,
        mapping: FieldMapping {
            fields: format.keys.fields.iter().map(|(key, field)| (*key, (*field).to_owned())).collect(),
            ..FieldMapping::default()
        },
        name: key.into(),
        patterns: vec![pattern],
        require_end: false,
        max_size: Size::of(1 << 20),
        max_age: None,
        penalty: Duration::from_secs(0),
        records: (key == "records").then(|| RecordsSpec {
            project: "search".to_owned(),
            pool: None,
            namespace: None,
            labels: KeySelector::default(),
            annotations: KeySelector::default(),
            record_types: None,
            conflicts: RecordConflicts::Block,
            record_label: RECORD_LABEL.to_owned(),
        }),
    };
    adjust(&mut spec);
    let search = ProjectAdmin {
        dns_domain: Name::parse("search.example.net").unwrap(),
        also_domains: vec![Name::parse("old.example.net").unwrap()],
        automation_allowed: true,
        keep_edits: false,
        approvals: None,
        origin,
    };
    let admins = BTreeMap::from([("search".to_owned(), search)]);
    let context = RowContext {
        files: &files,
        clock: &RowClock::at("2026-11-20T12:00:00Z".parse().unwrap()),
        free_domain: &Name::parse("free.invalid").unwrap(),
        name_cooldown: Duration::from_secs(7 * 86_400),
        admins: &admins,
    };
    let SourcePart { mut tally, fold } = (format.read)(&SourceInput { spec: &spec, files: inputs.clone() }, &context);
    let limit = (!matches!(key, "apps" | "record_lists")).then_some(Percent::from_whole(1));
    let trust = tally.judge(key, limit, Some(inputs[0].id));
    fold(&mut draft, trust.clone());
    tally.diagnostics.append(std::mem::take(&mut draft.found));
    tally.diagnostics.settle();
    Outcome { draft, trust, tally, files }
}

fn read(key: &'static str, text: &str) -> Outcome {
    read_with(key, &[text.as_bytes()], |_| {})
}

const HEADER: &str = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";

fn hosts(rows: &str) -> Outcome {
    read("hosts", &format!("{HEADER}{rows}"))
}

#[test]
fn empty_files_are_unknown() {
    for (key, contents) in [
        ("hosts", HEADER),
        ("l3_tors", "# generated: 2026-11-20T01:00:00Z\n"),
        ("ipv4_map", "\n"),
        ("addresses", "inv,interface,address\n"),
        ("mac", "# nothing\n"),
        ("names_lock", "# nothing\n"),
        ("net_layout", "<net-layout><datacenter name='a'/></net-layout>"),
    ] {
        for contents in [contents, ""] {
            let outcome = read(key, contents);
            assert_eq!(outcome.codes(), ["source-empty"], "{key}");
            assert_ne!(outcome.trust, Trust::Known);
        }
    }
}

fn report(rest: &str) -> String {
    format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":7,{rest}}}\n")
}

#[test]
fn the_end_marker_proves_that_a_file_is_whole() {
    let rows = "a 1 2a02::/64\nb 1 2a02::/64\n";
    let demanded = |text: &str| {
        let outcome = read_with("l3_tors", &[text.as_bytes()], |spec| spec.require_end = true);
        outcome.doubt().to_owned()
    };
    assert_eq!(demanded(&format!("{rows}# end 2\n")), "known");
    assert_eq!(demanded(&format!("{rows}# end 2\r\n")), "known");
    assert_eq!(demanded(rows), "source `l3_tors`: l3_tors-1 was cut");
    assert_eq!(demanded(&format!("{rows}# end 3\n")), "source `l3_tors`: l3_tors-1 was cut");
    assert_eq!(demanded(&format!("# end 2\n{rows}")), "source `l3_tors`: l3_tors-1 was cut");
    assert_eq!(read("l3_tors", &format!("{rows}# end 1\n")).codes(), ["source-cut"]);
}

/// A good file of each format, whose end can be recognized.
fn whole(key: &str) -> String {
    match key {
        "hosts" => {
            format!("{HEADER}1,a.search.example.net,search,assigned,sas,,,s,,\n2,,search,free,\"m,an\",,,,,\n# end 2\n")
        }
        "l3_tors" => "sas1-s1 604 2a02:6b8:0:1::/64\nsas1-s2 604 2a02:6b8:0:2::/64\n# end 2\n".into(),
        "addresses" => "inv,interface,address\n1,eth0,192.0.2.1\n1,\"eth\u{e4}\",2001:db8::1\n# end 2\n".into(),
        "ipv4_map" => "10.0.0.0/8 sas 604 2a02:6b8:0:1::/64\n10.1.0.0/16 sas 604 2a02:6b8:0:1::/64\n# end 2\n".into(),
        "net_layout" => "<net-layout><datacenter name=\"s\u{e4}s\"><vlan id=\"604\"><network>2a02::/64</network>\
                         <network>2a02:1::/64</network></vlan></datacenter></net-layout>"
            .into(),
        "mac" => format!(
            "{}{}# end 2\n",
            report("\"mac\":\"78e3b5089398\""),
            report("\"mac\":\"78e3b5089399\",\"switch\":\"\u{e4}\"")
        ),
        "pods" => {
            let row = |pod: &str| {
                format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"s\",\"pod\":\"{pod}\",\"state\":\"dead\"}}\n")
            };
            format!("{}{}# end 2\n", row("a"), row("b"))
        }
        _ => "1\ta.search.example.net\tsearch\t2026-01-01T00:00:00Z\t-\n\
              2\tb.search.example.net\tsearch\t2026-01-01T00:00:00Z\t2026-11-19T00:00:00Z\n# end 2\n"
            .into(),
    }
}

#[test]
fn no_cut_goes_unnoticed() {
    // Where documents end is shown by their syntax alone.
    let of_rows = |format: &&ExportFormat| format.word == OWN && !matches!(format.key, "apps" | "record_lists");
    for format in FORMATS.iter().filter(of_rows) {
        let text = whole(format.key);
        let outcome = read_with(format.key, &[text.as_bytes()], |spec| spec.require_end = true);
        assert_eq!((outcome.doubt(), outcome.tally.bad), ("known", 0), "{}", format.key);
        for end in 0..text.len() {
            let cut = &text.as_bytes()[..end];
            let demanded = read_with(format.key, &[cut], |spec| spec.require_end = true);
            assert_ne!(demanded.trust, Trust::Known, "{} cut at {end}", format.key);
            // Without the demand, a cut is recognized by the missing end of the last line.
            let outcome = read_with(format.key, &[cut], |_| {});
            let is_reported = !cut.ends_with(b"\n");
            if is_reported && format.key == "mac" {
                let all = outcome.reports().len() == 2;
                assert!(outcome.trust != Trust::Known || outcome.tally.bad == 1 || all, "{end}");
            } else if is_reported {
                assert_ne!(outcome.trust, Trust::Known, "{} cut at {end}", format.key);
            }
        }
    }
}

#[test]
fn exports_date_themselves() {
    for (key, file) in [
        ("hosts", format!("# generated: DATE\r\n# more\n{HEADER}ROW,,search,free,man,,,,,\n")),
        ("l3_tors", "\u{feff}# generated: DATE\nsas1-s1 604 2a02:6b8:0:1::/64\n".into()),
        ("addresses", "# generated: DATE\ninv,interface,address\n1,eth0,192.0.2.1\n".into()),
        ("ipv4_map", "# generated:DATE \n10.0.0.0/8 sas 604 2a02:6b8:0:3::/64\n".into()),
        (
            "net_layout",
            "<net-layout generated=\"DATE\"><datacenter name=\"sas\"><vlan id=\"604\">\
             <network>2a02:6b8:0:2::/64</network></vlan></datacenter></net-layout>\n"
                .into(),
        ),
    ] {
        let dated = |dates: &[&str]| {
            let files: Vec<String> = (1..)
                .zip(dates)
                .map(|(row, date): (u64, _)| file.replace("DATE", date).replace("ROW", &row.to_string()))
                .collect();
            let files: Vec<&[u8]> = files.iter().map(String::as_bytes).collect();
            let outcome = read_with(key, &files, |_| {});
            assert_eq!(outcome.doubt(), "known", "{key}: {}", outcome.text());
            (outcome.tally.dated.time().map(|time| time.to_string()), outcome.codes())
        };
        let at = |time: &str| Some(time.to_owned());
        assert_eq!(dated(&["2026-11-20T01:00:00Z"]), (at("2026-11-20T01:00:00Z"), vec![]), "{key}");
        // Of several files the oldest counts, whatever offsets they are written with.
        let dates = ["2026-11-20T01:00:00+05:00", "2026-11-19T23:00:00-02:00", "2026-11-19T22:00:00Z"];
        assert_eq!(dated(&dates), (at("2026-11-19T20:00:00Z"), vec![]), "{key}");
        // A file that does not say may be of any age.
        assert_eq!(dated(&["2026-11-20T01:00:00Z", "yesterday"]), (None, vec!["bad-time"]), "{key}");
        assert_eq!(dated(&["2026-11-20T01:00:00", "2026-11-20T01:00:00Z"]), (None, vec!["bad-time"]), "{key}");
    }
    let undated = read("l3_tors", "sas1-s1 604 2a02:6b8:0:1::/64\n# generated: 2026-11-20T01:00:00Z\n");
    assert_eq!((undated.tally.dated, undated.doubt()), (SourceDate::Unsaid, "known"));
}
