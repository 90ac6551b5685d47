//! Which plan it is, how to apply it and nothing else, and where all of it is.

use super::super::paste::shell;
use super::ReportSubject;
use super::escape::{code, fenced, link};
use super::verdict::closing;
use crate::report::outlook::PlanVerdict;

/// What a report leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportCut {
    /// How many changes are not shown.
    pub changes: usize,
    /// The parts that are left out.
    pub parts: Vec<&'static str>,
    /// Whether anything else is not shown.
    pub is_more: bool,
}

/// The end of a report, before it is known what the report leaves out.
pub struct ReportFoot<'a> {
    /// What the report is about.
    subject: &'a ReportSubject<'a>,
    /// The file of the whole plan as a shell takes it.
    file: Option<String>,
    /// The page of the whole plan in Markdown.
    url: Option<String>,
}

impl<'a> ReportFoot<'a> {
    /// The end of a report that has `max` octets in all.
    pub fn new(subject: &'a ReportSubject<'a>, max: usize) -> ReportFoot<'a> {
        let is_short = |text: &String| text.len() <= max / 16;
        let file = subject.outlook.file.as_deref().and_then(shell).filter(is_short);
        let url = subject.outlook.url.as_deref().map(link).filter(is_short);
        ReportFoot { subject, file, url }
    }

    /// The text.
    pub fn text(&self, cut: &ReportCut) -> String {
        let ReportSubject { plan, id, effect, outlook, .. } = self.subject;
        let mut out = String::from("---\n\n");
        match self.left_out(cut) {
            Some(left_out) => {
                out.push_str(&format!("**Cut to fit here:** {left_out}. All of it: {}.\n\n", self.whole()))
            }
            None if self.url.is_some() => out.push_str(&format!("The whole plan: {}.\n\n", self.whole())),
            None => {}
        }
        out.push_str(&format!("Plan {}, effect {}", code(id), code(effect)));
        let expires = code(&plan.expires.to_string());
        out.push_str(&match (outlook.hidden.is_some(), plan.is_idle()) {
            (true, _) => ". A view cannot be applied.\n".to_owned(),
            (false, true) => ".\n".to_owned(),
            (false, false) => format!(", valid until {expires}. {}\n\n{}", self.how(), fenced("sh", &self.command())),
        });
        out.push('\n');
        out + &closing(self.subject)
    }

    /// What is said above the command.
    fn how(&self) -> String {
        let save = if self.file.is_some() { "" } else { "`--out FILE` saves it. " };
        match PlanVerdict::of(self.subject.plan, self.subject.outlook) {
            PlanVerdict::Refused => format!("{save}`apply` refuses it until the problems above are fixed:"),
            _ => format!("{save}This command applies it, and no other plan:"),
        }
    }

    /// The command that applies the plan.
    fn command(&self) -> String {
        let file = self.file.as_deref().unwrap_or("FILE");
        format!("zonewright apply {file} --expect {}\n", self.subject.effect)
    }

    /// Where the whole plan is.
    fn whole(&self) -> String {
        let show = self.file.as_ref().map(|file| code(&format!("zonewright show {file}")));
        match (&self.url, show) {
            (Some(url), Some(show)) => format!("{url} or {show}"),
            (Some(url), None) => url.clone(),
            (None, Some(show)) => show,
            (None, None) => "`zonewright plan`, without `--format`".to_owned(),
        }
    }

    /// What is left out, in words; none where nothing is.
    fn left_out(&self, cut: &ReportCut) -> Option<String> {
        let all = self.subject.plan.changes.len();
        let changes = (cut.changes > 0).then(|| format!("{} of {all} changes are not listed", cut.changes));
        let parts = (!cut.parts.is_empty()).then(|| format!("nothing is shown of {}", cut.parts.join(", ")));
        let told: Vec<String> = changes.into_iter().chain(parts).collect();
        if told.is_empty() {
            cut.is_more.then(|| "some lists are shown in part".to_owned())
        } else {
            Some(told.join("; "))
        }
    }
}
