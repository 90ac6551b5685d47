//! Samples in the text format of Prometheus, version 0.0.4.

use std::collections::BTreeMap;

use super::SampleLabels;
use super::family::MetricFamily;

/// Renders the families that have samples, each with its help and type.
pub fn render(command: &str, samples: &BTreeMap<MetricFamily, BTreeMap<SampleLabels, f64>>) -> String {
    let mut out = String::new();
    for (family, samples) in samples {
        let name = family.name();
        out.push_str(&format!("# HELP {name} {}\n# TYPE {name} {}\n", family.help(), family.kind()));
        for (labels, value) in samples {
            let labels = labels.iter().map(|(name, value)| format!(",{name}=\"{}\"", escaped(value)));
            out.push_str(&format!("{name}{{command=\"{command}\"{}}} {value}\n", labels.collect::<String>()));
        }
    }
    out
}

/// The value of a label, escaped for the format.
fn escaped(value: &str) -> String {
    let mut out = String::new();
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}
