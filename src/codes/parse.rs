//! Reads a file of docs/codes: a title, a paragraph, then a section for each code, whose parts are in a fixed order.

use std::fmt;

use super::{CodeFamily, CodeKind, CodePage};

/// What a section says before each of its parts.
const MEANS: &str = "**Means:** ";

/// The same before the example.
const EXAMPLE: &str = "**Example:**";

/// The same before the advice.
const ADVICE: &str = "**What to do:** ";

/// The same before what is different in a cloud, which few pages have.
const IN_A_CLOUD: &str = "**In a cloud:** ";

/// The same before the links.
const SEE: &str = "**See:** ";

/// What begins the comment that names the source of an example.
const SOURCE: (&str, &str) = ("<!-- not in tests/cases; its words are those of ", " -->");

/// A file that is not written as the pages are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFault {
    /// The file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// What should be there.
    pub wanted: &'static str,
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "docs/codes/{}:{}: here belongs {}", self.file, self.line, self.wanted)
    }
}

/// Reads one file.
///
/// Errors: a part of a page is missing or in the wrong place.
pub fn parse(file: &'static str, text: &'static str) -> Result<CodeFamily, PageFault> {
    let mut reader = PageReader { file, lines: text.lines().collect(), at: 0 };
    let title = reader.line("# ", "the title")?;
    let about = reader.paragraph("", "what holds for all codes of the file")?;
    let mut pages = Vec::new();
    while reader.peek().is_some() {
        pages.push(reader.page()?);
    }
    if pages.is_empty() {
        Err(reader.fault("the section of a code"))
    } else {
        Ok(CodeFamily { file, title, about, pages })
    }
}

/// Reads the lines of a file in order.
struct PageReader {
    /// The name of the file.
    file: &'static str,
    /// Its lines.
    lines: Vec<&'static str>,
    /// The place of the next one.
    at: usize,
}

impl PageReader {
    /// The next line that is not blank, which is not passed.
    fn peek(&mut self) -> Option<&'static str> {
        while self.lines.get(self.at).is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
        self.lines.get(self.at).copied()
    }

    /// The fault of the next line.
    fn fault(&self, wanted: &'static str) -> PageFault {
        PageFault { file: self.file, line: self.at + 1, wanted }
    }

    /// Takes a line that begins so, and gives what is behind.
    fn line(&mut self, start: &str, wanted: &'static str) -> Result<&'static str, PageFault> {
        let rest = self.peek().and_then(|line| line.strip_prefix(start));
        let rest = rest.ok_or_else(|| self.fault(wanted))?;
        self.at += 1;
        Ok(rest)
    }

    /// Takes a paragraph that begins so, and gives the rest of it as one line.
    fn paragraph(&mut self, start: &str, wanted: &'static str) -> Result<String, PageFault> {
        let mut text = self.line(start, wanted)?.to_owned();
        while let Some(line) = self.lines.get(self.at).filter(|line| !line.trim().is_empty()) {
            text.push(' ');
            text.push_str(line);
            self.at += 1;
        }
        Ok(text)
    }

    /// Takes the section of a code.
    fn page(&mut self) -> Result<CodePage, PageFault> {
        let code = self.line("## ", "the heading of a code")?;
        let kinds = self.kinds()?;
        let means = self.paragraph(MEANS, "what the code means")?;
        self.line(EXAMPLE, "an example")?;
        let (example, source) = self.example()?;
        let advice = self.paragraph(ADVICE, "what to do")?;
        let has_cloud = self.peek().is_some_and(|line| line.starts_with(IN_A_CLOUD));
        let in_a_cloud = has_cloud.then(|| self.paragraph(IN_A_CLOUD, "what is different in a cloud")).transpose()?;
        let see = self.see()?;
        Ok(CodePage { code, kinds, means, example, source, advice, in_a_cloud, see })
    }

    /// Takes the kinds of a code, such as `*block, names*`.
    fn kinds(&mut self) -> Result<Vec<CodeKind>, PageFault> {
        const WANTED: &str = "the kinds of the code";
        let listed = self.peek().and_then(|line| line.strip_prefix('*')?.strip_suffix('*'));
        let kinds: Option<Vec<CodeKind>> = listed.and_then(|listed| listed.split(", ").map(CodeKind::parse).collect());
        let kinds = kinds.ok_or_else(|| self.fault(WANTED))?;
        self.at += 1;
        Ok(kinds)
    }

    /// Takes an example, with the file that has its words where no case prints it.
    fn example(&mut self) -> Result<(Vec<&'static str>, Option<&'static str>), PageFault> {
        const WANTED: &str = "a fenced example that is closed and not empty";
        let source = self.peek().and_then(|line| line.strip_prefix(SOURCE.0)?.strip_suffix(SOURCE.1));
        self.at += usize::from(source.is_some());
        self.line("```text", WANTED)?;
        let rest = &self.lines[self.at..];
        let end = rest.iter().position(|line| *line == "```").filter(|end| *end > 0);
        let end = end.ok_or_else(|| self.fault(WANTED))?;
        let example = rest[..end].to_vec();
        self.at += end + 1;
        Ok((example, source))
    }

    /// Takes the links, such as `[state.md](../state.md), [apply.md: undoing](../apply.md#undoing)`.
    fn see(&mut self) -> Result<Vec<(&'static str, &'static str)>, PageFault> {
        const WANTED: &str = "links to where more is said";
        let links = self.line(SEE, WANTED)?;
        let link = |link: &'static str| link.strip_prefix('[')?.strip_suffix(')')?.split_once("](");
        let links: Option<Vec<_>> = links.split(", ").map(link).collect();
        links.ok_or_else(|| PageFault { line: self.at, ..self.fault(WANTED) })
    }
}
