//! The content of files in a repository, from one process of git that is asked for one after another.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Mutex;

use crate::inventory::read::FileError;
use crate::parallel::HELD;

/// The longest answer before a content, in octets: a hash, a kind and a number, with room to spare.
const MAX_HEAD: u64 = 256;

/// What is wrong with a content that a partial clone lacks.
const NOT_HERE: &str = "its content is not in this clone";

/// Gives contents by hash.
pub struct GitContents {
    /// The folder that git is run in.
    folder: PathBuf,
    /// The process, once it was asked.
    process: Mutex<Option<GitProcess>>,
}

impl GitContents {
    /// Starts nothing yet.
    pub fn new(folder: &Path) -> GitContents {
        GitContents { folder: folder.to_owned(), process: Mutex::new(None) }
    }

    /// The content of at most `max` octets with this hash.
    ///
    /// Errors: [`FileError`].
    pub fn read(&self, hash: &str, max: u64) -> Result<Vec<u8>, FileError> {
        let mut held = self.process.lock().expect(HELD);
        let mut process = match held.take() {
            Some(process) => process,
            None => GitProcess::start(&self.folder).map_err(FileError::Io)?,
        };
        let answer = process.read(hash, max).map_err(FileError::Io)?;
        // A process that failed or ended is not asked again: its next answer would be unreliable.
        if !matches!(answer, GitAnswer::Ended) {
            *held = Some(process);
        }
        match answer {
            GitAnswer::Content(bytes) => Ok(bytes),
            GitAnswer::TooLarge => Err(FileError::TooLarge(max)),
            GitAnswer::Missing => Err(FileError::Io(io::Error::other(NOT_HERE))),
            GitAnswer::Ended => Err(FileError::Io(io::Error::other(self.why_ended()))),
        }
    }

    /// Why git ended without an answer: before 2.45 it does so where it may not fetch what a partial clone lacks.
    fn why_ended(&self) -> &'static str {
        let mut command = super::command(&self.folder);
        command.args(["config", "--get-regexp", r"^remote\..*\.promisor$"]).stderr(Stdio::null());
        let is_partial = command.output().is_ok_and(|output| !output.stdout.is_empty());
        if is_partial { NOT_HERE } else { "git gave no content" }
    }
}

/// What git answers.
enum GitAnswer {
    /// The content.
    Content(Vec<u8>),
    /// It has more octets than asked for.
    TooLarge,
    /// The repository lacks it, as partial clones do.
    Missing,
    /// Git ended.
    Ended,
}

/// A running `git cat-file`.
struct GitProcess {
    /// The process.
    child: Child,
    /// Takes hashes.
    asked: ChildStdin,
    /// Gives answers.
    answers: BufReader<ChildStdout>,
}

impl GitProcess {
    /// Starts it.
    fn start(folder: &Path) -> io::Result<GitProcess> {
        let mut command = super::command(folder);
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let asked = child.stdin.take().expect("the input is piped");
        let answers = BufReader::new(child.stdout.take().expect("the output is piped"));
        Ok(GitProcess { child, asked, answers })
    }

    /// Asks for a content. Source: git, `git cat-file`, "Batch Output".
    fn read(&mut self, hash: &str, max: u64) -> io::Result<GitAnswer> {
        writeln!(self.asked, "{hash}")?;
        self.asked.flush()?;
        let mut head = Vec::new();
        (&mut self.answers).take(MAX_HEAD).read_until(b'\n', &mut head)?;
        let head = String::from_utf8_lossy(&head);
        let octets = match head.trim_end().split(' ').collect::<Vec<_>>()[..] {
            [""] => return Ok(GitAnswer::Ended),
            [_, "missing"] => return Ok(GitAnswer::Missing),
            [_, "blob", octets] => octets.parse::<u64>().ok(),
            _ => None,
        };
        let octets = octets.ok_or_else(|| io::Error::other("git gave no content"))?;
        let answer = if octets > max { self.pass_over(octets)? } else { self.take(octets)? };
        self.answers.read_exact(&mut [0])?;
        Ok(answer)
    }

    /// Reads so many octets.
    fn take(&mut self, octets: u64) -> io::Result<GitAnswer> {
        let mut bytes = Vec::new();
        let room = usize::try_from(octets).map_err(io::Error::other)?;
        bytes.try_reserve_exact(room).map_err(io::Error::other)?;
        let read = (&mut self.answers).take(octets).read_to_end(&mut bytes)?;
        if read < room { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(GitAnswer::Content(bytes)) }
    }

    /// Reads so many octets and forgets them.
    fn pass_over(&mut self, octets: u64) -> io::Result<GitAnswer> {
        let read = io::copy(&mut (&mut self.answers).take(octets), &mut io::sink())?;
        if read < octets { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(GitAnswer::TooLarge) }
    }
}

impl Drop for GitProcess {
    fn drop(&mut self) {
        // It only reads, so nothing is left half done; and it may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
