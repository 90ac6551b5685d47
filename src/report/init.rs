//! What `init` made, as text.

use super::wrap::{table, wrap};
use crate::diag::sanitize;
use crate::starter::Starter;

/// What is printed in addition to the starter.
#[derive(Debug)]
pub struct InitReport<'a> {
    /// The folder, as people call it.
    pub folder: &'a str,
    /// What else was written: paths, and what is there.
    pub others: &'a [(String, String)],
    /// The files that were there, and stay as they are.
    pub kept: &'a [String],
    /// The commands that come next, each with what it does.
    pub next: &'a [(String, &'static str)],
}

/// The text.
pub fn made(starter: &Starter, told: &InitReport<'_>, width: usize) -> String {
    let files = starter.files.iter().filter(|file| !told.kept.contains(&file.path));
    let files = files.map(|file| vec![file.path.clone(), file.about.clone()]);
    let others = told.others.iter().map(|(path, about)| vec![path.clone(), about.clone()]);
    let rows: Vec<_> = files.chain(others).collect();
    let mut text = format!("Made a workspace in {}\n\n{}", told.folder, table(&rows, "ll", 2));
    if !told.kept.is_empty() {
        text.push_str("\nLeft as they were\n");
        told.kept.iter().for_each(|path| text.push_str(&format!("  {path}\n")));
    }
    text.push_str("\nFrom\n");
    starter.basis.iter().for_each(|line| text.push_str(&paragraph(line, width)));
    text.push_str("\nTo know\n");
    starter.remarks.iter().for_each(|line| text.push_str(&paragraph(line, width)));
    let next: Vec<_> = told.next.iter().map(|(command, about)| vec![command.clone(), (*about).to_owned()]).collect();
    let side_by_side = table(&next, "ll", 2);
    text.push_str("\nNext\n");
    if side_by_side.lines().all(|line| line.chars().count() <= width) {
        text.push_str(&side_by_side);
    } else {
        told.next.iter().for_each(|(command, about)| text.push_str(&format!("  {command}\n      {about}\n")));
    }
    text.lines().map(|line| sanitize(line) + "\n").collect()
}

/// A paragraph of a list, broken into lines.
fn paragraph(text: &str, width: usize) -> String {
    format!("{}\n", wrap(&format!("- {text}"), width, 2, 4))
}
