//! The files of one target: read whole, once each, and never from outside the target's folder.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use crate::diag::{FileId, Files, Problem};
use crate::disk::hex;

/// The largest file, in octets: places in it are kept as 32 bits.
const MAX_FILE: u64 = u32::MAX as u64;

/// The folder of a target.
#[derive(Debug)]
pub struct TargetFolder {
    /// Its real path, without symbolic links.
    root: PathBuf,
    /// Its path in messages, relative to the workspace; empty for the workspace itself.
    shown: String,
}

/// Why a file could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The path is absolute, climbs with `..`, or leads out of the folder by a symbolic link.
    Outside,
    /// There is something else than a file: a folder, a pipe, a device.
    NotAFile,
    /// It is larger than 4 GiB.
    TooLarge,
    /// The system says no.
    Io(io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Outside => f.write_str("the path leads out of the target's folder"),
            LoadError::NotAFile => f.write_str("this is not a regular file"),
            LoadError::TooLarge => f.write_str("the file is larger than 4 GiB"),
            LoadError::Io(error) if error.kind() == io::ErrorKind::NotFound => f.write_str("there is no such file"),
            LoadError::Io(error) => f.write_str(&error.to_string().to_lowercase()),
        }
    }
}

impl LoadError {
    /// Whether the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, LoadError::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl TargetFolder {
    /// Finds `dir` inside the workspace.
    ///
    /// Errors: there is no such folder, or a symbolic link leads out of the workspace.
    pub fn open(workspace: &Path, dir: &str) -> Result<TargetFolder, Problem> {
        let fail = |code, message: String, hint: &str| Problem::new(dir, code, message).hint(hint);
        let io = |error: io::Error| {
            let hint = "make the folder that `dir` of this target names, with a file NAME.zone for each zone";
            let message = match error.kind() {
                io::ErrorKind::NotFound => "there is no such folder".to_owned(),
                _ => error.to_string().to_lowercase(),
            };
            fail("missing-folder", message, hint)
        };
        let workspace = workspace.canonicalize().map_err(io)?;
        let root = workspace.join(dir).canonicalize().map_err(io)?;
        let Ok(inside) = root.strip_prefix(&workspace) else {
            let message = "the folder is outside the workspace".to_owned();
            return Err(fail("outside-workspace", message, "copy the zone files into the workspace"));
        };
        Ok(TargetFolder { shown: slashed(inside), root })
    }

    /// Whether the folder is still there: a folder that is not mounted lacks all its files.
    pub fn is_there(&self) -> bool {
        self.root.is_dir()
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The name in messages of a file in the folder.
    fn shown(&self, inside: &Path) -> String {
        match self.shown.as_str() {
            "" => slashed(inside),
            shown => format!("{shown}/{}", slashed(inside)),
        }
    }

    /// The name in messages of the file of a zone, whether there is one or not.
    pub fn shown_file(&self, name: &str) -> String {
        self.shown(Path::new(name))
    }
}

/// A path with `/` between its parts.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// One file.
#[derive(Debug)]
pub struct LoadedFile {
    /// Its path inside the folder, without symbolic links.
    inside: PathBuf,
    /// Its number in messages.
    pub file: FileId,
    /// What it holds.
    pub text: Rc<Vec<u8>>,
}

/// Loads the files of one zone.
#[derive(Debug)]
pub struct FileLoader<'a> {
    /// The folder that they must be in; `None` where the text of the one file is given.
    folder: Option<&'a TargetFolder>,
    /// Their names in messages.
    files: Files,
    /// What was loaded, in order.
    loaded: Vec<LoadedFile>,
    /// Their names with their SHA-256 in hexadecimal.
    inputs: Vec<(String, String)>,
}

impl<'a> FileLoader<'a> {
    /// Starts with nothing loaded.
    pub fn new(folder: &'a TargetFolder) -> FileLoader<'a> {
        FileLoader { folder: Some(folder), files: Files::default(), loaded: Vec::new(), inputs: Vec::new() }
    }

    /// Starts with one text loaded, as number 0; no other file can be.
    pub fn of_text(name: &str, text: Vec<u8>) -> FileLoader<'static> {
        let mut loader = FileLoader { folder: None, files: Files::default(), loaded: Vec::new(), inputs: Vec::new() };
        let file = loader.files.add(name);
        loader.loaded.push(LoadedFile { inside: PathBuf::new(), file, text: Rc::new(text) });
        loader
    }

    /// Loads a file by its path from the folder of the loaded file `from`, or from the target's folder; gives its
    /// number for [`FileLoader::get`]. A file that was loaded before is not read again.
    pub fn load(&mut self, from: Option<usize>, path: &str) -> Result<usize, LoadError> {
        let path = Path::new(path);
        if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(LoadError::Outside);
        }
        let target = self.folder.ok_or(LoadError::Outside)?;
        let folder = from.and_then(|from| self.loaded[from].inside.parent()).unwrap_or(Path::new(""));
        let whole = target.root.join(folder).join(path).canonicalize().map_err(LoadError::Io)?;
        let inside = whole.strip_prefix(&target.root).map_err(|_| LoadError::Outside)?;
        if let Some(known) = self.loaded.iter().position(|loaded| loaded.inside == inside) {
            return Ok(known);
        }
        let text = read_regular(&whole)?;
        let name = target.shown(inside);
        self.inputs.push((name.clone(), hex(&Sha256::digest(&text))));
        self.loaded.push(LoadedFile { inside: inside.to_owned(), file: self.files.add(name), text: Rc::new(text) });
        Ok(self.loaded.len() - 1)
    }

    /// The file with this number.
    pub fn get(&self, number: usize) -> &LoadedFile {
        &self.loaded[number]
    }

    /// Where the file with this number is, without symbolic links.
    pub fn path(&self, number: usize) -> PathBuf {
        let inside = &self.loaded[number].inside;
        self.folder.map_or_else(|| inside.clone(), |folder| folder.root.join(inside))
    }

    /// Replaces the text of the file with this number; its digest stays that of the loaded file.
    pub fn set_text(&mut self, number: usize, text: Vec<u8>) {
        self.loaded[number].text = Rc::new(text);
    }

    /// The names of the files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The names of the files for messages, and again with their digests.
    pub fn finish(self) -> (Files, Vec<(String, String)>) {
        (self.files, self.inputs)
    }
}

/// Reads a regular file only: opening a pipe could wait for ever.
pub fn read_regular(path: &Path) -> Result<Vec<u8>, LoadError> {
    let metadata = path.metadata().map_err(LoadError::Io)?;
    if !metadata.is_file() {
        return Err(LoadError::NotAFile);
    }
    let mut text = Vec::with_capacity(metadata.len().min(MAX_FILE) as usize);
    File::open(path).map_err(LoadError::Io)?.take(MAX_FILE + 1).read_to_end(&mut text).map_err(LoadError::Io)?;
    if text.len() as u64 > MAX_FILE { Err(LoadError::TooLarge) } else { Ok(text) }
}
