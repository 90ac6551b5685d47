//! Whether what a report says that it shows, and that it leaves out, comes to what is in the plan. The plan's values are plain
//! words, so that the beginning of a line says what it is.

use std::collections::HashSet;

use crate::plan::Plan;

/// What the headings of causes begin with.
const CAUSES: [&str; 5] = ["Caused by", "Caused in part", "Pending", "Since apply", "Causes"];

/// Panics where the numbers in a report do not add up.
pub fn check(text: &str, plan: &Plan) {
    causes(text, plan);
    projects(text, plan);
    blocked(text, plan);
    notices(text, plan);
    remarks(text, plan);
}

/// The changes that causes have, of which some are listed.
fn causes(text: &str, plan: &Plan) {
    let (mut says, mut told, mut listed, mut in_all) = (0, 0, 0, 0);
    let (mut is_cause, mut rrsets, mut left, mut of_cause) = (false, HashSet::new(), 0, 0);
    let mut in_fence = false;
    for line in text.lines() {
        in_fence ^= line.starts_with("```");
        if let Some(heading) = line.strip_prefix("#### ") {
            assert_eq!(told, says, "changes of a class: {text}");
            is_cause = CAUSES.iter().any(|begin| heading.starts_with(begin));
            (told, says) = (0, if is_cause { number_before(heading, " change") } else { 0 });
            in_all += says;
        } else if ["| limit that", "---", "<summary>Notices", "<summary>Blocked"]
            .iter()
            .any(|end| line.starts_with(end))
        {
            is_cause = false;
        } else if in_fence && line.starts_with(['+', '-', ' ']) {
            rrsets.insert(line[2..].split("  ").next().unwrap());
        } else if is_cause && line.starts_with("- ") {
            told += number_before(line, " change");
        } else if is_cause && line.starts_with("<summary>") {
            of_cause = number_before(line, " change");
            told += of_cause;
        } else if line.starts_with("And ") && line.contains(" more change") {
            left = number_before(line, " more change");
        } else if is_cause && line.starts_with("And ") && line.contains(" more cause") {
            told += number_before(line, " change");
        } else if line == "</details>" && of_cause > 0 {
            assert_eq!(rrsets.len() + left, of_cause, "changes of a cause: {text}");
            listed += rrsets.len();
            (rrsets, left, of_cause) = (HashSet::new(), 0, 0);
        }
    }
    assert_eq!(told, says, "changes of the last class: {text}");
    if let Some(line) = text
        .lines()
        .find(|line| line.contains("cause") && line.contains(" with ") && line.ends_with(", not shown here."))
    {
        in_all += number_before(line, " change");
    }
    assert!([0, plan.changes.len()].contains(&in_all), "changes of all causes: {in_all}: {text}");
    let cut = text.lines().find(|line| line.starts_with("**Cut to fit here:** ") && line.contains(" not listed"));
    let unlisted = cut.map_or(0, |line| number_before(line.split_once(" of ").unwrap().0, ""));
    assert_eq!(listed + unlisted, plan.changes.len(), "changes that are listed, and not: {text}");
}

/// The rows of the table of projects.
fn projects(text: &str, plan: &Plan) {
    let table = text.lines().skip_while(|line| !line.starts_with("| project ")).skip(2);
    let (mut sums, mut rows, mut total) = ([0; 5], 0, None);
    for line in table.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('*')).collect();
        let numbers: Vec<usize> = cells[3..8].iter().map(|cell| cell.parse().unwrap_or(0)).collect();
        match cells[1] {
            "total" => total = Some(numbers),
            _ => sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number),
        }
        rows += 1;
    }
    if rows == 0 {
        return;
    }
    if let Some(total) = total {
        assert_eq!(sums.to_vec(), total, "the total: {text}");
    }
    let expected = [plan.changes.len(), plan.blocked.len(), plan.skipped.len()];
    assert_eq!([sums[0] + sums[1] + sums[2], sums[3], sums[4]], expected, "{text}");
}

/// The blocked hosts by code, and how many of each are listed.
fn blocked(text: &str, plan: &Plan) {
    let begins = ["#### Blocked: ", "#### Newly blocked: ", "<summary>Blocked before this change set: "];
    let lines: Vec<&str> = text.lines().collect();
    let (mut of_codes, mut parts) = (0, 0);
    for start in (0..lines.len()).filter(|place| begins.iter().any(|begin| lines[*place].starts_with(begin))) {
        parts += 1;
        let (mut of_code, mut told) = (0, 0);
        let number = |text: &str| text.split(' ').next().unwrap().parse().unwrap_or(1);
        for line in lines[start + 2..].iter().take_while(|line| !line.is_empty()) {
            if let Some(code) = line.strip_prefix("- **") {
                assert_eq!(told, of_code, "hosts of a code: {text}");
                (told, of_code) = (0, number(code.split_once(", ").unwrap().1));
                of_codes += of_code;
            } else if !line.starts_with("  - **hint:** ") {
                let hosts = line.strip_prefix("  - ").unwrap();
                told += number(hosts.strip_prefix("and ").unwrap_or(hosts));
            }
        }
        assert_eq!(told, of_code, "hosts of the last code: {text}");
    }
    let short = ["Blocked: ", "Newly blocked: ", "Blocked before this change set: "];
    for line in lines.iter().filter(|line| short.iter().any(|begin| line.starts_with(begin))) {
        parts += 1;
        of_codes += numbers(line);
    }
    let is_dropped = text.lines().any(|line| line.contains("nothing is shown of ") && line.contains("blocked"));
    assert!(parts == 0 || is_dropped || of_codes == plan.blocked.len(), "blocked hosts: {text}");
}

/// The notices that are listed and are not.
fn notices(text: &str, plan: &Plan) {
    let all = plan.notices.iter().filter(|notice| !notice.code.tells_of_less()).count();
    let mut lines = text.lines().skip_while(|line| !line.contains("Notices: "));
    let Some(line) = lines.next() else { return };
    let line = line.trim_start_matches("<summary>").trim_end_matches("</summary>");
    assert_eq!(numbers(line), all, "{line}");
    let told: usize = lines.take_while(|line| *line != "</details>" && *line != "---").map(listed).sum();
    assert!(told == all || text.contains("\nNotices: "), "{told} of {all} notices: {text}");
}

/// The remarks on what a plan is about, why it is refused or not complete.
fn remarks(text: &str, plan: &Plan) {
    let limits = plan.limits.iter().filter(|limit| limit.exceeded).count();
    let unread = plan.notices.iter().filter(|notice| notice.code.tells_of_less()).count();
    let ends = ["#", "|", "<", "---", "Against ", "By datacenter: "];
    let head = text.lines().skip(2).take_while(|line| !ends.iter().any(|end| line.starts_with(end)));
    let told: usize = head.map(listed).sum();
    let all = limits + unread + usize::from(plan.undoes.is_some()) + usize::from(plan.only.is_some());
    let with_refusal = [all, all + 1];
    let is_left_out = text.lines().any(|line| line.contains(" remark") && line.ends_with(", not shown here."));
    assert!(with_refusal.contains(&told) || is_left_out, "{told} of {all} remarks: {text}");
}

/// How many things a line of a list is.
fn listed(line: &str) -> usize {
    match line.strip_prefix("- and ") {
        Some(more) => more.split(' ').next().unwrap().parse().unwrap(),
        None => usize::from(line.starts_with("- ")),
    }
}

/// The sum of the numbers before words: `Blocked: 3 no-mac, 2 cname.`
fn numbers(line: &str) -> usize {
    line.split([' ', '(', ',']).filter_map(|word| word.parse::<usize>().ok()).sum()
}

/// The number before a word, the last time that it occurs.
fn number_before(line: &str, word: &str) -> usize {
    let before = &line[..line.rfind(word).unwrap_or_else(|| panic!("no {word}: {line}"))];
    let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |place| place + 1);
    before[digits..].parse().unwrap_or_else(|_| panic!("no number before {word}: {line}"))
}
