//! Random plans, of which every value that comes from input is chosen freely.

use proptest::prelude::*;

use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::inventory::value::Inv;
use crate::plan::{
    BlockCode, BlockedSubject, Cause, CauseKind, Change, ChangeClass, ChangeKind, ComparisonBase, DelayedRrset,
    LimitKind, LimitState, Notice, NoticeCode, Plan, PlanScope, Review, Rule, SkipCode, SkippedSubject, fixture,
};
use crate::report::PlanOutlook;

/// What every value has in it, in lower case where it is a name.
pub const MARKER: &str = "ZQX";

/// Texts that mean something somewhere.
const HOSTILE: &[&str] = &[
    "`",
    "``",
    "```",
    "\n```\n",
    "~~~",
    "\n",
    "\n\n",
    "\r",
    "\t",
    "    ",
    " ",
    "|",
    "\\|",
    "\\",
    "\\`",
    "\n|-|-|\n",
    "| a |",
    "<",
    ">",
    "&",
    "&lt;",
    "\"",
    "'",
    "</code>",
    "</summary>",
    "</details>",
    "<script>alert(1)</script>",
    "<!--",
    "-->",
    "<img src=x onerror=a>",
    "<https://zqx.example>",
    "https://zqx.example/",
    "www.zqx.example",
    "a@zqx.example",
    "@octocat",
    "#12",
    "GH-1",
    "org/repo#1",
    "!1",
    "~label",
    ":tada:",
    "**",
    "__",
    "_",
    "*",
    "[x](y)",
    "![x](y)",
    "[[x]]",
    "[^1]",
    "[ ]",
    "\n# h\n",
    "\n- ",
    "\n> ",
    "---",
    "===",
    "$x$",
    "$$",
    "\n/close\n",
    "@@",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{0}",
    "\u{1b}[31m",
    "\u{9b}",
    "\u{61c}",
    "\u{2028}",
    "\u{85}",
    "ä",
    "日本",
    "\u{e0041}",
    "x",
];

/// What a random plan is made of.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The values, used one after another.
    pub values: Vec<String>,
    /// Where the choices begin.
    pub seed: u64,
    /// How many changes, causes, blocked hosts, notices, limits and projects there are.
    pub sizes: [usize; 6],
}

/// A value with hostile parts in it.
fn value() -> impl Strategy<Value = String> {
    let part = || proptest::sample::select(HOSTILE).prop_map(str::to_owned);
    let parts = || proptest::collection::vec(part(), 0..5).prop_map(|parts| parts.concat());
    let long = prop_oneof![12 => Just(0usize), 1 => 200usize..2000];
    (parts(), parts(), long).prop_map(|(before, after, long)| format!("{before}{MARKER}{after}{}", "`a".repeat(long)))
}

/// How many there are of something: mostly few, now and then many.
fn size(many: usize) -> impl Strategy<Value = usize> {
    prop_oneof![60 => 0..9usize, 30 => 0..(many / 20 + 2), 8 => 0..(many / 5 + 2), 2 => 0..=many]
}

/// A random recipe of hostile values.
pub fn hostile() -> impl Strategy<Value = Recipe> {
    recipe(proptest::collection::vec(value(), 1..9))
}

/// A random recipe of plain values.
pub fn plain() -> impl Strategy<Value = Recipe> {
    recipe(Just(["p0", "p1", "p2", "p3", "p4"].map(str::to_owned).to_vec()))
}

/// A random recipe of some values.
fn recipe(values: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = Recipe> {
    let sizes = (size(3000), size(400), size(2000), size(2000), size(200), 1usize..40);
    (values, any::<u64>(), sizes).prop_map(|(values, seed, (changes, causes, blocked, notices, limits, projects))| {
        Recipe { values, seed, sizes: [changes, causes, blocked, notices, limits, projects] }
    })
}

/// Makes a plan of a recipe.
struct Maker<'a> {
    /// The recipe.
    recipe: &'a Recipe,
    /// How far the choices are.
    state: u64,
}

impl Maker<'_> {
    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % end
    }

    /// One of several things.
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A value.
    fn value(&mut self) -> String {
        let place = self.below(self.recipe.values.len());
        self.recipe.values[place].clone()
    }

    /// The first label of a name, of a value.
    fn label(&mut self, number: usize) -> Vec<u8> {
        let number = format!("h{number}-zqx");
        let mut label: Vec<u8> = self.value().into_bytes();
        label.truncate(60 - number.len());
        label.extend(number.into_bytes());
        label.make_ascii_lowercase();
        label
    }

    /// A name in a zone.
    fn name(&mut self, number: usize, zone: &ZoneName) -> Name {
        Name::prepend(&self.label(number), zone.as_name()).unwrap()
    }

    /// A RRset of a type with a few records, or with many.
    fn rrset(&mut self, rtype: Rtype, zone: &ZoneName) -> Rrset {
        let records = if self.below(30) == 0 { 40 } else { 1 + self.below(3) };
        let rdata = |number: usize, maker: &mut Self| match rtype {
            Rtype::TXT => {
                let text = format!("{number} {}", maker.value());
                let escaped = |octets: &[u8]| octets.iter().map(|octet| format!("\\{octet:03}")).collect::<String>();
                let strings: Vec<String> =
                    text.as_bytes().chunks(200).map(|part| format!("\"{}\"", escaped(part))).collect();
                Rdata::parse(rtype, &strings.join(" ")).unwrap()
            }
            Rtype::PTR => Rdata::from_name(maker.name(number, zone).as_name()),
            _ => Rdata::parse(Rtype::AAAA, &format!("2001:db8::{:x}:{number:x}", maker.below(9))).unwrap(),
        };
        let rdata = (0..records).map(|number| rdata(number, self)).collect();
        Rrset::new(Ttl::from_secs(60 + self.below(2) as u64).unwrap(), rdata).unwrap()
    }

    /// A change of a host of a project.
    fn change(&mut self, number: usize, project: String) -> Change {
        let zone = fixture::zone(self.one(&["search.example.net", "web.example.net", "9.ip6.arpa"]));
        let rtype = self.one(&[Rtype::AAAA, Rtype::PTR, Rtype::TXT]);
        let name = self.name(number, &zone);
        let sides = [self.rrset(rtype, &zone), self.rrset(rtype, &zone)];
        let [before, after] = match self.below(3) {
            0 => [None, Some(sides[1].clone())],
            1 => [Some(sides[0].clone()), None],
            _ => sides.clone().map(Some),
        };
        let [before_alone, _] = sides;
        let kind = ChangeKind::between(before, after).unwrap_or(ChangeKind::Delete { before: before_alone });
        let host = (self.below(20) > 0).then_some((number / 3) as u64);
        let subject = fixture::subject(host);
        let reasons = vec![fixture::reason(self.one(Rule::ALL), host, &[&self.value()])];
        let key = RrKey { owner: zone.owner(name.as_name()).unwrap(), rtype };
        Change {
            pool: fixture::pool(),
            zone,
            key,
            subject,
            also: Vec::new(),
            registers: None,
            via: None,
            targets: Vec::new(),
            project,
            kind,
            reasons,
        }
    }

    /// A review of changes: each with a cause.
    fn review(&mut self, changes: usize) -> Option<Review> {
        let causes = self.recipe.sizes[1].min(changes);
        if causes == 0 || self.below(8) == 0 {
            return None;
        }
        let against = match self.below(4) {
            0 => ComparisonBase::Nothing,
            1 => ComparisonBase::Journal { apply: 12, at: "2026-11-18T04:00:00Z".parse().unwrap() },
            _ => ComparisonBase::Base { name: self.value(), commit: (self.below(2) == 0).then(|| self.value()) },
        };
        let has_class = matches!(against, ComparisonBase::Base { .. });
        let mut of_cause: Vec<Vec<u32>> = vec![Vec::new(); causes];
        (0..changes).for_each(|change| {
            // Every cause has one change at least, and the first has most.
            let place = if change < causes { change } else { self.below(causes) * self.below(2) };
            of_cause[place].push(change as u32);
        });
        let causes = of_cause.into_iter().map(|changes| Cause {
            class: has_class.then(|| self.one(ChangeClass::ALL)),
            kind: CauseKind::Other,
            says: self.value(),
            places: (0..self.below(4)).map(|_| self.value()).collect(),
            is_explained: !has_class || self.below(6) > 0,
            changes,
        });
        let causes = causes.collect();
        let newly_blocked = (0..self.below(30)).map(|host| Subject::Host(Inv(host as u64))).collect();
        let mut review = Review { against, causes, settled: self.below(3) as u64, newly_blocked };
        review.sort();
        Some(review)
    }

    /// A limit.
    fn limit(&mut self) -> LimitState {
        LimitState {
            scope: format!("{}{}", self.one(&["project:", "zone:", ""]), self.value()),
            period: self.one(&["1h", "plan"]).to_owned(),
            counts: self.one(LimitKind::ALL),
            max: self.below(9) as u64,
            used: self.below(9) as u64,
            planned: self.below(9) as u64,
            exceeded: self.below(3) == 0,
            of: (self.below(2) == 0).then_some(100),
            cause: (self.below(2) == 0).then(|| self.value()),
            frees: None,
            setting: None,
        }
    }

    /// The plan.
    fn plan(&mut self) -> Plan {
        let [changes, _, blocked, notices, limits, projects] = self.recipe.sizes;
        let projects: Vec<String> = (0..projects).map(|number| format!("{}{number}", self.value())).collect();
        let mut plan = fixture::empty();
        plan.tool = self.value();
        let project = |number: usize| projects[number * projects.len() / changes.max(1)].clone();
        plan.changes = (0..changes).map(|number| self.change(number, project(number))).collect();
        plan.review = self.review(changes);
        let any = |maker: &mut Self| projects[maker.below(projects.len())].clone();
        plan.blocked = (0..blocked)
            .map(|host| BlockedSubject {
                subject: Subject::Host(Inv(host as u64)),
                project: any(self),
                code: self.one(BlockCode::ALL),
                message: self.value(),
                hint: self.value(),
            })
            .collect();
        plan.skipped = (0..blocked / 2)
            .map(|host| SkippedSubject {
                subject: Subject::Host(Inv(host as u64)),
                project: any(self),
                code: self.one(SkipCode::ALL),
            })
            .collect();
        let is_whole = self.below(2) == 0;
        let notice = |maker: &mut Self| Notice {
            code: maker.one(NoticeCode::ALL),
            name: maker.value(),
            subject: None,
            message: maker.value(),
        };
        plan.notices = (0..notices).map(|_| notice(self)).collect();
        plan.notices.retain(|notice| !is_whole || !notice.code.tells_of_less());
        plan.notices.sort_by(crate::plan::order::notices);
        plan.limits = (0..limits).map(|_| self.limit()).collect();
        let waiting = plan.changes.iter().take(self.below(3)).map(|change| DelayedRrset {
            zone: change.zone.clone(),
            key: change.key.clone(),
            pool: change.pool.clone(),
            subject: change.subject.clone(),
            project: change.project.clone(),
            rule: Rule::Orphan,
            since: None,
            due: (blocked % 2 == 0).then_some(plan.expires),
        });
        plan.delayed = waiting.collect();
        plan.only = (self.below(4) == 0).then(|| PlanScope::new([Inv(3)], &projects[..1]).unwrap());
        plan.undoes = (self.below(9) == 0).then_some(7);
        plan
    }

    /// What is known of the plan.
    fn outlook(&mut self) -> PlanOutlook {
        let code = self.one(&["limit-exceeded", "breaker-tripped", "some-other"]);
        let refusal = (self.below(3) == 0).then(|| {
            Problem::new(self.value(), code, self.value()).maybe_hint((self.below(2) == 0).then(|| self.value()))
        });
        let url = format!("{}{}", self.one(&["", "https://ci.example.net/", "http://"]), self.value());
        let mut some = |value: String| (self.below(2) == 0).then_some(value);
        let url = some(url);
        let file = some("plans/".to_owned()).map(|folder| folder + &self.value());
        PlanOutlook { refusal, file, url, hidden: None, command: None, source_url: None, is_unsaved: false, idle: None }
    }
}

impl Recipe {
    /// The plan, and what is known of it.
    pub fn made(&self) -> (Plan, PlanOutlook) {
        let mut maker = Maker { recipe: self, state: self.seed };
        (maker.plan(), maker.outlook())
    }
}
