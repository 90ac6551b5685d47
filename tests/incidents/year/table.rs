//! The outcome of a year, as Markdown.

use std::fmt::Write as _;

use super::Year;
use super::run::Outcome;

/// The outcome of a fault.
pub struct Row {
    /// What went wrong.
    pub kind: &'static str,
    /// How much.
    pub size: String,
    /// With nothing that stops it.
    pub off: Outcome,
    /// With what holds where nothing is said.
    pub defaults: Outcome,
    /// With what is recommended.
    pub recommended: Outcome,
}

/// The tables.
pub fn text(year: &Year) -> String {
    let mut text = String::from("| fault | size | hosts harmed if nothing stops it | defaults | recommended |\n");
    text += "|---|---|---|---|---|\n";
    for Row { kind, size, off, defaults, recommended } in &year.rows {
        let (defaults, recommended) = (cell(defaults), cell(recommended));
        let _ = writeln!(text, "| {kind} | {size} | {} | {defaults} | {recommended} |", off.harmed);
    }
    let through = |of: fn(&Row) -> &Outcome| year.rows.iter().filter(|row| of(row).harmed > 0).count();
    let _ = writeln!(
        text,
        "\nOf {} faults got through: {} if nothing stops them, {} with defaults, {} with what is recommended.\n",
        year.rows.len(),
        through(|row| &row.off),
        through(|row| &row.defaults),
        through(|row| &row.recommended)
    );
    text += "The most that an ordinary day came to:\n";
    for (figure, most) in &year.most {
        let _ = writeln!(text, "- {figure}: {}.{} %", most / 10, most % 10);
    }
    text.push('\n');
    for (name, stops) in ["defaults", "recommended"].iter().zip(&year.false_stops) {
        let _ = writeln!(text, "False stops, {name}: {}", stops.len());
        stops.iter().for_each(|stop| text += &format!("- {stop}\n"));
    }
    text
}

/// The outcome of a fault under some settings.
fn cell(outcome: &Outcome) -> String {
    match (&outcome.stopped_by, outcome.harmed) {
        (Some(by), 0) => format!("stopped: {by}"),
        (Some(by), harmed) => format!("**{harmed} hosts harmed**; told: {by}"),
        (None, 0) if outcome.waiting > 0 => format!("{} RRsets wait to be deleted", outcome.waiting),
        (None, 0) => "harmless".to_owned(),
        (None, harmed) => format!("**{harmed} hosts harmed**"),
    }
}
