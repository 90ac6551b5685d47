//! The data of a page, read back: what the script has to list, in the words of a plan.

use serde_json::Value;

use crate::diag::sanitize;
use crate::dns::reverse::{address_of, reverse_name};
use crate::dns::{Rrset, Rtype};
use crate::plan::{Change, Plan};
use crate::report::words::ExplainedCode as _;

/// One change, as text.
#[derive(Debug, PartialEq)]
pub struct Told {
    /// The zone, the owner name and the type.
    pub key: [String; 3],
    /// The host, the others, and the project.
    pub whose: (String, Vec<String>, String),
    /// TTL and data, before and after.
    pub sides: [Option<(u64, Vec<String>)>; 2],
    /// The reasons: rule, host, evidence.
    pub reasons: Vec<(String, String, Vec<String>)>,
    /// The class and the words of the cause.
    pub cause: (String, String),
}

/// Reads the changes of a page's data.
pub fn decoded(json: &str) -> Vec<Told> {
    let data: Value = serde_json::from_str(json).unwrap();
    let count = data["changes"]["zone"].as_array().unwrap().len();
    let mut columns = Columns { data: &data, at: [0; 4] };
    (0..count).map(|row| columns.told(row)).collect()
}

/// The changes of a plan, as the page is to tell them.
pub fn expected(plan: &Plan) -> Vec<Told> {
    let review = crate::review::of_plan(plan).unwrap();
    let causes = review.cause_of_each(plan.changes.len());
    let told = |(change, cause): (&Change, &usize)| {
        let cause = &review.causes[*cause];
        let Change { zone, key, subject, project, kind, reasons, .. } = change;
        let (host, also) = (subject.host(), change.other_hosts());
        let side = |rrset: Option<&Rrset>| {
            let texts = |rrset: &Rrset| rrset.rdata_texts(key.rtype).iter().map(|text| sanitize(text)).collect();
            rrset.map(|rrset| (u64::from(rrset.ttl().as_secs()), texts(rrset)))
        };
        let texts = |texts: &[String]| texts.iter().map(|text| sanitize(text)).collect::<Vec<_>>();
        Told {
            key: [zone.to_string(), key.owner.to_string(), key.rtype.to_string()].map(|text| sanitize(&text)),
            whose: (
                host.map(|host| host.to_string()).unwrap_or_default(),
                also.iter().map(ToString::to_string).collect(),
                sanitize(project),
            ),
            sides: [side(kind.before()), side(kind.after())],
            reasons: reasons
                .iter()
                .map(|reason| {
                    let words = reason.rule.words();
                    let host = reason.subject.host().map(|host| host.to_string()).unwrap_or_default();
                    (format!("{}: {}", words.title, words.brief), host, texts(&reason.evidence))
                })
                .collect(),
            cause: (cause.class.map(|class| class.to_string()).unwrap_or_default(), sanitize(&cause.says)),
        }
    };
    let order = crate::report::html::data::order(plan);
    order.into_iter().map(|place| told((&plan.changes[place], &causes[place]))).collect()
}

/// The columns, read from top to bottom.
struct Columns<'a> {
    /// The data.
    data: &'a Value,
    /// How far `also`, `before`, `after` and `reasons` are read.
    at: [usize; 4],
}

impl Columns<'_> {
    /// A number of a column.
    fn number(&self, column: &str, row: usize) -> u64 {
        self.data["changes"][column][row].as_u64().unwrap()
    }

    /// The text of a place.
    fn text(&self, place: u64) -> String {
        self.data["texts"][place as usize].as_str().unwrap().to_owned()
    }

    /// The text of a place in a column.
    fn told_text(&self, column: &str, row: usize) -> String {
        self.text(self.number(column, row))
    }

    /// The next number of a list column.
    fn next(&mut self, list: usize) -> u64 {
        let column = ["also", "before", "after", "reasons"][list];
        self.at[list] += 1;
        self.number(column, self.at[list] - 1)
    }

    /// The next text of a list column.
    fn next_text(&mut self, list: usize) -> String {
        let place = self.next(list);
        self.text(place)
    }

    /// The next RRset of a list column.
    fn side(&mut self, list: usize) -> Option<(u64, Vec<String>)> {
        let records = self.next(list);
        (records > 0).then(|| (self.next(list), (0..records).map(|_| self.next_text(list)).collect()))
    }

    /// The next reason.
    fn reason(&mut self) -> (String, String, Vec<String>) {
        let (rule, host, places) = (self.next_text(3), self.next_text(3), self.next(3) as usize);
        let places = self.data["places"][places].as_array().unwrap();
        (rule, host, places.iter().map(|place| self.text(place.as_u64().unwrap())).collect())
    }

    /// The change of a row; rows are read in their order.
    fn told(&mut self, row: usize) -> Told {
        let (owner, rtype) = (self.told_text("owner", row), self.told_text("rtype", row));
        let address = owner.parse().ok().filter(|_| rtype == Rtype::PTR.to_string());
        let name = address.map(reverse_name);
        assert!(name.as_ref().is_none_or(|name| address_of(name.as_name()).is_some()));
        let cause = &self.data["causes"][self.number("cause", row) as usize];
        let others = self.next(0);
        let (also, before, after) = ((0..others).map(|_| self.next_text(0)).collect(), self.side(1), self.side(2));
        let reasons = self.next(3);
        Told {
            key: [self.told_text("zone", row), name.map_or(owner, |name| name.to_string()), rtype],
            whose: (self.told_text("host", row), also, self.told_text("project", row)),
            sides: [before, after],
            reasons: (0..reasons).map(|_| self.reason()).collect(),
            cause: (self.text(cause[0].as_u64().unwrap()), self.text(cause[1].as_u64().unwrap())),
        }
    }
}
