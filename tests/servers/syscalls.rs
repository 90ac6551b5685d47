//! Faults of the system at single calls of the built binary: by `strace`, and by a library that is preloaded.
//!
//! `strace` counts the calls of each thread by themselves, and gives the fault to the first thread that comes to its
//! number; since the phases of an apply are threads of their own, most of what it sends is out of its reach. The
//! library (`syscalls.c`) counts over all threads, and can shorten a write. Neither knows anything of zonewright.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::workspace::stderr;

/// Traces calls, and puts faults in the place of some.
const STRACE: &str = "/usr/bin/strace";

/// Compiles the library.
const CC: &str = "/usr/bin/cc";

/// The calls that change anything outside a process, or ask for it, as `strace` names them.
const TRACED: &str = "write,pwrite64,fsync,fdatasync,connect,sendto,sendmsg,writev,recvfrom,rename,unlink,ftruncate";

/// Whether both are installed; where one is not, that is said aloud.
pub fn are_possible() -> bool {
    [STRACE, CC].iter().all(|program| crate::have(Path::new(program)))
}

/// Who makes a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maker {
    /// `strace`: the number counts the calls of one thread.
    Strace,
    /// The library: the number counts the calls of all threads.
    Library,
}

/// A call of a run, by its name and its number from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Who makes the fault.
    pub maker: Maker,
    /// The call, as its maker names it.
    pub call: String,
    /// Which of them.
    pub number: usize,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// SIGKILL comes before it.
    Kill,
    /// It does nothing, and says so: name and number of the errno.
    Errno(&'static str, i32),
    /// It writes one octet only. The library alone can do that.
    Short,
    /// It and whatever later takes room in a folder says that the disk is full. The library alone can do that.
    Full(&'static str),
}

impl Point {
    /// The same command with a fault here.
    pub fn of(&self, command: &Command, fault: Fault) -> Command {
        let Point { maker, call, number } = self;
        match maker {
            Maker::Library => {
                let what = match fault {
                    Fault::Kill => "kill".to_owned(),
                    Fault::Errno(_, number) => number.to_string(),
                    Fault::Short => "short".to_owned(),
                    Fault::Full(folder) => {
                        let variables = [("FAULT", format!("disk:{number}+:28")), ("FAULT_ON", folder.to_owned())];
                        return preloaded(command, &variables);
                    }
                };
                preloaded(command, &[("FAULT", format!("{call}:{number}:{what}"))])
            }
            Maker::Strace => {
                let what = match fault {
                    Fault::Kill => "signal=KILL".to_owned(),
                    Fault::Errno(name, _) => format!("error={name}"),
                    Fault::Short | Fault::Full(_) => panic!("strace cannot do that"),
                };
                let options = [
                    "-e".to_owned(),
                    format!("trace={call}"),
                    "-e".to_owned(),
                    format!("inject={call}:{what}:when={number}"),
                ];
                traced(command, Path::new("/dev/null"), &options)
            }
        }
    }
}

/// Every call of a run, by both makers; `run` runs a command to its good end.
pub fn points(command: &Command, folder: &Path, mut run: impl FnMut(Command)) -> Vec<Point> {
    let (log, trace) = (folder.join("calls"), folder.join("trace"));
    run(preloaded(command, &[("FAULT_LOG", log.display().to_string())]));
    run(traced(command, &trace, &["-e".to_owned(), format!("trace={TRACED}")]));
    let mut of_all: BTreeMap<String, usize> = BTreeMap::new();
    for call in fs::read_to_string(&log).expect("the log").lines() {
        *of_all.entry(call.to_owned()).or_default() += 1;
    }
    let mut of_threads: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in fs::read_to_string(&trace).expect("the trace").lines() {
        let (thread, call) = line.split_once(' ').expect("strace names the thread");
        let Some((call, _)) = call.trim_start().split_once('(') else { continue };
        // The second half of a call that another thread's line came between.
        if call.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit()) {
            *of_threads.entry((call.to_owned(), thread.to_owned())).or_default() += 1;
        }
    }
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for ((call, _), count) in of_threads {
        let so_far = most.entry(call).or_default();
        *so_far = count.max(*so_far);
    }
    for file in [log, trace] {
        fs::remove_file(file).expect("it is ours");
    }
    let all = |maker: Maker, counts: BTreeMap<String, usize>| {
        counts
            .into_iter()
            .flat_map(move |(call, count)| (1..=count).map(move |number| Point { maker, call: call.clone(), number }))
    };
    all(Maker::Strace, most).chain(all(Maker::Library, of_all)).collect()
}

/// The same command with the library before it, which these variables tell what to do.
pub fn preloaded(command: &Command, variables: &[(&str, String)]) -> Command {
    let mut preloaded = Command::new(command.get_program());
    preloaded.args(command.get_args()).env("LD_PRELOAD", library());
    preloaded.envs(variables.iter().map(|(name, value)| (name, value)));
    preloaded
}

/// The same command under `strace`.
fn traced(command: &Command, trace: &Path, options: &[String]) -> Command {
    let mut traced = Command::new(STRACE);
    traced.args(["-f", "-s", "0", "-o"]).arg(trace).args(options).arg("--");
    traced.arg(command.get_program()).args(command.get_args());
    traced
}

/// The library, compiled once.
fn library() -> &'static OsStr {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("syscalls.so");
        let temporary = place.with_extension(std::process::id().to_string());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/syscalls.c");
        let mut compile = Command::new(CC);
        compile
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&temporary)
            .arg(source)
            .arg("-ldl");
        let output = compile.output().expect("cc runs");
        assert!(output.status.success(), "{}", stderr(&output));
        fs::rename(&temporary, &place).expect("a file");
        place
    });
    library.as_os_str()
}
