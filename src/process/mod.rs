//! Commands of the settings: run with a deadline, without a shell.
//!
//! Comes in: the command, as the settings have it. Goes out: success, or why it failed, with the end of its output.

use std::io::{self, PipeReader, Read as _, Write as _};
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::diag::AttemptError;

/// How often the command is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

/// How long to wait for the output of a command that has ended: another process may hold on to it.
const GRACE: Duration = Duration::from_secs(1);

/// How much of the output is reported, in octets: the end, since programs report the cause last.
const MAX_OUTPUT: usize = 2048;

/// A command that may take so long and no longer.
#[derive(Debug, Clone)]
pub struct BoundedCommand {
    /// Its program and arguments, at least one word. No shell reads them.
    pub words: Vec<String>,
    /// The folder that it runs in.
    pub workspace: PathBuf,
    /// How long it may take.
    pub timeout: Duration,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandAnswer {
    /// Why it failed: its exit code, or that it did not end in time; none where it ended with 0.
    pub failure: Option<String>,
    /// The end of what it printed, as one line.
    pub said: String,
}

impl BoundedCommand {
    /// Runs the command with `input` as its standard input.
    ///
    /// Errors: it could not be run, failed, or did not end in time; with the end of what it printed. A command that ends
    /// before it has read its input is no error.
    pub fn run(&self, input: &[u8]) -> Result<(), AttemptError> {
        let deadline = Instant::now() + self.timeout;
        let (mut child, output) = self.start(input).map_err(|error| self.not_run(&error))?;
        let Some(failure) = self.end(&mut child, &|| Instant::now() >= deadline)? else { return Ok(()) };
        let said = output.recv_timeout(GRACE).unwrap_or_default();
        let message = if said.is_empty() { failure } else { format!("{failure}; it said: {said}") };
        Err(AttemptError { message, may_pass: true })
    }

    /// Runs the command with `input` as its standard input, and gives how it ended, with the end of what it printed. It is
    /// ended where `is_over` says that its answer is no longer needed.
    ///
    /// Errors: it could not be run.
    pub fn ask(&self, input: &[u8], is_over: &dyn Fn() -> bool) -> Result<CommandAnswer, AttemptError> {
        let deadline = Instant::now() + self.timeout;
        let (mut child, output) = self.start(input).map_err(|error| self.not_run(&error))?;
        let failure = self.end(&mut child, &|| is_over() || Instant::now() >= deadline)?;
        Ok(CommandAnswer { failure, said: output.recv_timeout(GRACE).unwrap_or_default() })
    }

    /// Runs the command without standard input, and gives at most `max` octets of its standard output. What it prints on
    /// standard error is thrown away, and no error quotes what it prints.
    ///
    /// Errors: as for [`BoundedCommand::run`].
    pub fn read(&self, max: u64) -> Result<Vec<u8>, AttemptError> {
        let deadline = Instant::now() + self.timeout;
        let mut command = self.command().map_err(|error| self.not_run(&error))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| self.not_run(&error))?;
        let output = child.stdout.take().expect("the output is piped");
        let read = collect(&mut child, move || {
            let mut octets = Vec::new();
            output.take(max).read_to_end(&mut octets).map(|_| octets)
        });
        let octets = read.map_err(|error| self.not_run(&error))?.recv_timeout(self.timeout);
        if let Some(message) = self.end(&mut child, &|| Instant::now() >= deadline)? {
            return Err(AttemptError { message, may_pass: true });
        }
        match octets {
            Ok(read) => read.map_err(|error| self.not_run(&error)),
            Err(_) => Err(AttemptError { message: self.too_slow(), may_pass: true }),
        }
    }

    /// The program, as messages call it.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The error of a command that cannot be run: a second later it cannot be run either.
    fn not_run(&self, error: &io::Error) -> AttemptError {
        let message = format!("`{}` cannot be run: {}", self.program(), error.to_string().to_lowercase());
        AttemptError { message, may_pass: false }
    }

    /// Waits until the command ends, at most until its time is over; says what went wrong, if anything did.
    fn end(&self, child: &mut Child, is_over: &dyn Fn() -> bool) -> Result<Option<String>, AttemptError> {
        match wait(child, is_over).map_err(|error| self.not_run(&error))? {
            Some(status) if status.success() => Ok(None),
            Some(status) => Ok(Some(format!("`{}` failed: {status}", self.program()))),
            None => Ok(Some(self.too_slow())),
        }
    }

    /// Says that the command took too long.
    fn too_slow(&self) -> String {
        format!("`{}` did not end within {} s", self.program(), self.timeout.as_secs())
    }

    /// The command in its folder, in a group of its own, so that its children end with it at the deadline.
    fn command(&self) -> io::Result<Command> {
        let program = self.program();
        let path = if program.contains('/') { self.in_workspace(program)? } else { Path::new(program).to_owned() };
        let mut command = Command::new(path);
        command.args(&self.words[1..]).current_dir(&self.workspace);
        #[cfg(unix)]
        command.process_group(0);
        Ok(command)
    }

    /// The path of a program in the workspace. Where a relative path of a program starts differs between systems: before the
    /// change of the folder, or after.
    fn in_workspace(&self, program: &str) -> io::Result<PathBuf> {
        std::path::absolute(self.workspace.join(program))
    }

    /// Starts the command; gives it, and what will bring the end of its output.
    fn start(&self, input: &[u8]) -> io::Result<(Child, Receiver<String>)> {
        let (reader, writer) = io::pipe()?;
        let mut command = self.command()?;
        // Both go into one pipe, so that messages keep their order.
        command.stdin(Stdio::piped()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        let input = input.to_owned();
        let feed = child.stdin.take().map(|mut stdin| {
            // The pipe of a command that does not read is full at some time: the thread waits then, not the caller. A
            // command that does not want the input closes the pipe.
            collect(&mut child, move || drop(stdin.write_all(&input)))
        });
        feed.transpose()?;
        let output = collect(&mut child, move || read_end(reader))?;
        Ok((child, output))
    }
}

/// Does work for a command in a thread, which ends when all processes that hold the other end of its pipe have ended;
/// gives what will bring the result.
///
/// Errors: the system gives no threads. The command is ended then, because it may wait for the work for ever.
fn collect<T: Send + 'static>(child: &mut Child, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Receiver<T>> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new().spawn(move || {
        // The receiver may be gone.
        let _ = sender.send(work());
    });
    match thread {
        Ok(_) => Ok(receiver),
        Err(error) => {
            end_all(child);
            let _ = child.wait();
            Err(error)
        }
    }
}

/// Waits until a process ends; ends it where its time is over, and gives `None`.
fn wait(child: &mut Child, is_over: &dyn Fn() -> bool) -> io::Result<Option<ExitStatus>> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if !is_over() => thread::sleep(POLL),
            None => {
                end_all(child);
                let _ = child.wait();
                return Ok(None);
            }
        }
    }
}

/// Ends a command and what it started.
#[cfg(unix)]
fn end_all(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    // If it ended just now there is nothing left to do.
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
}

/// Ends a command.
#[cfg(not(unix))]
fn end_all(child: &mut Child) {
    // If it ended just now there is nothing left to do.
    let _ = child.kill();
}

/// Reads all that comes, and gives the end of it as one line that is safe to print.
fn read_end(mut reader: PipeReader) -> String {
    let mut end = Vec::new();
    let mut part = [0; MAX_OUTPUT];
    while let Ok(length @ 1..) = reader.read(&mut part) {
        end.extend_from_slice(&part[..length]);
        end.drain(..end.len().saturating_sub(MAX_OUTPUT));
    }
    in_one_line(&end)
}

/// What was printed as one line that is safe to print.
pub fn in_one_line(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(printed);
    let lines = text.lines().map(|line| line.split(char::is_control).collect::<Vec<_>>().join(" "));
    let lines: Vec<String> = lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of a shell command that may take so many seconds.
    fn run(script: &str, seconds: u64) -> Result<(), String> {
        run_with(script, seconds, b"")
    }

    /// The same, with a standard input.
    fn run_with(script: &str, seconds: u64, input: &[u8]) -> Result<(), String> {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        BoundedCommand { words, workspace: std::env::temp_dir(), timeout: Duration::from_secs(seconds) }
            .run(input)
            .map_err(|error| error.message)
    }

    #[test]
    fn a_command_reads_its_input_or_leaves_it() {
        assert_eq!(
            run_with("cat; exit 1", 20, b"the event\n").unwrap_err(),
            "`sh` failed: exit status: 1; it said: the event"
        );
        let long = vec![b'x'; 1 << 20];
        assert_eq!(run_with("exit 0", 20, &long), Ok(()));
        assert_eq!(run_with("test $(wc -c) = 1048576", 20, &long), Ok(()));
    }

    #[test]
    fn a_command_that_fails_says_why() {
        assert_eq!(run("echo fine", 20), Ok(()));
        assert_eq!(run("exit 3", 20).unwrap_err(), "`sh` failed: exit status: 3");
        let said = run("echo one; echo; printf 'two\\033[31m\\n' >&2; exit 1", 20).unwrap_err();
        assert_eq!(said, "`sh` failed: exit status: 1; it said: one; two [31m");
        let long = run("yes | head -n 100000; echo end; exit 1", 20).unwrap_err();
        assert!(long.ends_with("; y; end") && long.len() < 4 * MAX_OUTPUT, "{long}");
    }

    #[test]
    fn a_command_has_so_much_time_and_no_more() {
        assert_eq!(run("echo begun; exec sleep 60", 1).unwrap_err(), "`sh` did not end within 1 s; it said: begun");
        // Files that it leaves are not checked.
        assert_eq!(run("sleep 5 & exit 0", 20), Ok(()));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_command_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 2; touch {}) & exec sleep 60", mark.display());
        assert_eq!(run(&script, 1).unwrap_err(), "`sh` did not end within 1 s");
        thread::sleep(Duration::from_secs(2));
        assert!(!mark.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_program_of_the_workspace_is_found_from_any_folder() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("here");
        std::fs::write(&program, "#!/bin/sh\ntest -e here\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let root: PathBuf = std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect();
        let relative = root.join(folder.path().strip_prefix("/").unwrap());
        for workspace in [folder.path().to_owned(), relative] {
            let words = vec!["./here".to_owned()];
            let command = BoundedCommand { words, workspace, timeout: Duration::from_secs(20) };
            assert!(command.run(b"").is_ok(), "{command:?}");
            assert!(command.read(10).is_ok(), "{command:?}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_says_so() {
        let words = vec!["./none".to_owned()];
        let command = BoundedCommand { words, workspace: std::env::temp_dir(), timeout: Duration::from_secs(20) };
        assert!(command.run(b"").unwrap_err().message.starts_with("`./none` cannot be run: no such file"));
    }
}
