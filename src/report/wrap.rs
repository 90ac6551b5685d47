//! Text in lines of a width.

use unicode_width::UnicodeWidthStr;

pub use crate::diag::wrap;

/// Aligns cells in columns, two blanks apart: `l` in `align` puts a column to the left, `r` to the right.
///
/// Rows may be shorter than others. Lines have no blanks at their ends, and each is indented by `indent`.
pub fn table(rows: &[Vec<String>], align: &str, indent: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width_of(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.width());
            line.push_str(if column > 0 { "  " } else { "" });
            match align.as_bytes().get(column) {
                Some(b'r') => line.extend([padding.as_str(), cell]),
                _ => line.extend([cell, padding.as_str()]),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_stick_out() {
        assert_eq!(wrap("aa bb  cc dddddddddd e", 6, 1, 2), " aa bb\n  cc\n  dddddddddd\n  e");
        assert_eq!(wrap("", 6, 1, 2), " ");
        assert_eq!(wrap("dddddddddd", 6, 1, 2), " dddddddddd");
    }

    #[test]
    fn what_is_quoted_is_broken_only_where_it_fits_on_no_line() {
        assert_eq!(wrap("say `aa bb`, and `cc`", 9, 0, 1), "say\n `aa bb`,\n and `cc`");
        assert_eq!(wrap("`aa bb cc` dd `e f` g", 9, 0, 1), "`aa bb\n cc` dd\n `e f` g");
        assert_eq!(wrap("a ` b c", 4, 0, 0), "a `\nb c");
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>();
        let rows = [row(&["project", "n"]), row(&["日本", "10", "x"]), row(&["b"])];
        assert_eq!(table(&rows, "lrl", 1), " project   n\n 日本     10  x\n b\n");
    }
}
