//! Files of a workspace: which there are, and their content.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::SETTINGS;
use super::layer::{BorrowedFile, FileLayer, FileListing, FoundBy, FrontLayer, GLOB};
use super::steady::{FileFate, FileLook, FileReading, agreed, settled};
use super::traces::{FolderTraces, PatternTrace, TraceBook};
use super::unread::{FileError, FindError};
use crate::diag::{Diagnostic, FileId, Files};
use crate::disk::FileStamp;
use crate::inventory::source::PathPattern;

/// The folder of a workspace.
pub struct WorkspaceFolder {
    /// As the user names it.
    path: PathBuf,
    /// Without symbolic links; `None` where there is no folder.
    real: Option<PathBuf>,
    /// The files in front of its own.
    front: Option<FrontLayer>,
    /// What was seen of its own.
    seen: TraceBook,
}

/// A file that a pattern found.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// Its number.
    pub id: FileId,
    /// Its name in messages.
    pub name: String,
    /// Where it is.
    path: PathBuf,
}

impl FoundFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Numbers files, each once, sorted by name.
pub fn number(mut listing: FileListing, files: &mut Files) -> Vec<FoundFile> {
    listing.sort();
    listing.dedup();
    listing.into_iter().map(|(name, path)| FoundFile { id: files.add(name.as_str()), name, path }).collect()
}

/// The folders above one, the nearest first, as they would be named from where it is named; `real` is the folder without
/// symbolic links.
fn folders_above(path: &Path, real: Option<&Path>) -> Vec<PathBuf> {
    let above = |path: &Path| path.ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
    if path.is_absolute() {
        return above(path);
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return real.map(above).unwrap_or_default();
    }
    let levels = Path::new(".").canonicalize().map_or(0, |current| current.components().count());
    let up = (1..levels).map(|levels| std::iter::repeat_n("..", levels).collect());
    let named = above(path).into_iter().filter(|above| !above.as_os_str().is_empty());
    named.chain([PathBuf::from(".")]).chain(up).collect()
}

impl WorkspaceFolder {
    /// Takes a folder, which need not exist.
    pub fn new(path: &Path) -> WorkspaceFolder {
        WorkspaceFolder {
            path: path.to_owned(),
            real: path.canonicalize().ok(),
            front: None,
            seen: TraceBook::default(),
        }
    }

    /// Takes a folder with other files in front of its own.
    pub fn behind(layer: Box<dyn FileLayer>, path: &Path) -> WorkspaceFolder {
        WorkspaceFolder { front: Some(FrontLayer::new(layer)), ..WorkspaceFolder::new(path) }
    }

    /// What was seen of its own files.
    pub fn into_traces(self) -> FolderTraces {
        self.seen.into_traces()
    }

    /// Whether another look shows just what was seen: nothing that was read has been written since, and nothing else would be
    /// read. It costs a look at each file, and reads none.
    pub fn still_shows(&self, traces: &FolderTraces) -> bool {
        self.moved(traces).is_some_and(|moved| moved.is_empty())
    }

    /// The files that may have been written since they were read; none where others would be read.
    pub fn moved<'t>(&self, traces: &'t FolderTraces) -> Option<Vec<&'t Path>> {
        let FolderTraces { files, names, patterns } = traces;
        let finds = |trace: &PatternTrace| self.find_any(&trace.pattern, trace.ignored.as_deref()).ok() == trace.found;
        let finds_the_same = names.iter().all(|(name, lacks)| self.lacks(name) == *lacks) && patterns.iter().all(finds);
        let is_moved =
            |(path, seen): &(&'t PathBuf, &Option<FileStamp>)| seen.is_none() || FileStamp::of_opened(path) != **seen;
        finds_the_same.then(|| files.iter().filter(is_moved).map(|(path, _)| path.as_path()).collect())
    }

    /// Its own files that were read although a layer is in front, sorted by name.
    pub fn into_borrowed(self) -> Vec<BorrowedFile> {
        self.front.map(FrontLayer::into_borrowed).unwrap_or_default()
    }

    /// Whether a file comes from the layer in front.
    pub fn is_in_front(&self, file: &FoundFile) -> bool {
        self.front.as_ref().is_some_and(|front| front.has(&file.name))
    }

    /// The file with this name.
    pub fn file(&self, name: &str, files: &mut Files) -> FoundFile {
        FoundFile { id: files.add(name), name: name.to_owned(), path: self.path.join(name) }
    }

    /// Says that the folder is no workspace, and where there is one: in a folder above it, if any.
    ///
    /// None where other files are in front of its own: then it is not the folder that lacks the file.
    pub fn no_workspace(&self, settings: FileId) -> Option<Diagnostic> {
        self.front.is_none().then(|| {
            let above = folders_above(&self.path, self.real.as_deref());
            let hint = match above.iter().find(|above| above.join(SETTINGS).is_file()).map(|above| above.display()) {
                Some(above) => format!("`{above}` has one: `-C {above}`; `zonewright init DIR` makes a new workspace"),
                None => "name the workspace with `-C DIR`; `zonewright init DIR` makes a new one".to_owned(),
            };
            // `.` would not say where that is.
            let is_current = self.path.components().all(|part| part == Component::CurDir);
            let shown = self.real.as_deref().filter(|_| is_current).unwrap_or(&self.path).display();
            let why = if self.real.is_none() { ", which does not exist" } else { "" };
            Diagnostic::file_error("source-missing", settings, format!("no {SETTINGS} in `{shown}`{why}")).hint(hint)
        })
    }

    /// Whether nothing at all has this name, not even a link that leads nowhere.
    pub fn lacks(&self, name: &str) -> bool {
        if let Some(front) = &self.front
            && (front.has(name) || front.lacks(name))
        {
            return front.lacks(name);
        }
        let metadata = self.path.join(name).symlink_metadata();
        let lacks = metadata.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        self.seen.lacks(name, lacks);
        lacks
    }

    /// The files that a pattern matches, by any of its alternatives; never empty. Folders that a glob matches are
    /// ignored, and so are files whose names end in `ignored`.
    pub fn find(&self, pattern: &PathPattern, ignored: Option<&str>) -> Result<FileListing, FindError> {
        let found = self.find_any(pattern, ignored);
        self.seen.found(pattern, ignored, found.as_ref().ok());
        found
    }

    /// The same, without a note of it.
    fn find_any(&self, pattern: &PathPattern, ignored: Option<&str>) -> Result<FileListing, FindError> {
        let alternatives = pattern.alternatives();
        if alternatives.len() == 1 {
            return self.find_plain(pattern, ignored);
        }
        let mut listing = Vec::new();
        for pattern in alternatives {
            match self.find_plain(&pattern, ignored) {
                Ok(found) => listing.extend(found),
                Err(FindError::NoMatch | FindError::Missing) => {}
                Err(error) => return Err(error),
            }
        }
        if listing.is_empty() { Err(FindError::NoMatch) } else { Ok(listing) }
    }

    /// The files that a pattern without alternatives matches, as [`WorkspaceFolder::find`] does.
    fn find_plain(&self, pattern: &PathPattern, ignored: Option<&str>) -> Result<FileListing, FindError> {
        if !pattern.text.contains(['*', '?', '[']) {
            return self.find_one(&pattern.text);
        }
        let there = self.find_all(pattern)?;
        let mut found = match &self.front {
            Some(front) => front.choose(pattern, there, &self.path)?,
            None => there,
        };
        found.retain(|(name, _)| !ignored.is_some_and(|ending| name.ends_with(ending)));
        if found.is_empty() { Err(FindError::NoMatch) } else { Ok(found) }
    }

    /// The file that a path means.
    fn find_one(&self, name: &str) -> Result<FileListing, FindError> {
        let path = self.path.join(name);
        if self.front.as_ref().is_some_and(|front| front.has(name)) {
            return Ok(vec![(name.to_owned(), path)]);
        }
        match path.symlink_metadata() {
            Ok(_) => Ok(vec![(name.to_owned(), path)]),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FindError::Missing),
            Err(error) => Err(FindError::Unreadable(error.to_string())),
        }
    }

    /// The files of its own that a glob means; perhaps none.
    fn find_all(&self, glob: &PathPattern) -> Result<FileListing, FindError> {
        let folder =
            self.path.to_str().ok_or_else(|| FindError::Unreadable("the folder's name is not UTF-8".into()))?;
        let whole = format!("{}/{}", glob::Pattern::escape(folder), glob.text);
        let paths = glob::glob_with(&whole, GLOB).map_err(|error| FindError::Unreadable(error.msg.to_owned()))?;
        let mut found = Vec::new();
        for path in paths {
            let path = path.map_err(|error| FindError::Unreadable(error.to_string()))?;
            if !path.is_dir() {
                let name = path.strip_prefix(&self.path).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, path));
            }
        }
        Ok(found)
    }

    /// Reads a file of at most `max` octets that is in the folder, links followed.
    pub fn read(&self, file: &FoundFile, max: u64) -> Result<Vec<u8>, FileError> {
        self.read_either(&file.name, max, || settled(|| self.read_once(&file.path, max, || {})))
    }

    /// Reads a file of at most `max` octets to which its writer may be appending.
    pub fn read_appended(&self, file: &FoundFile, max: u64) -> Result<Vec<u8>, FileError> {
        self.read_either(&file.name, max, || agreed(|| self.read_once(&file.path, max, || {})))
    }

    /// Reads the file whose name is that of `file` with `ending` behind it. It has at most `max` octets, is not a file
    /// of the inventory, and is not hidden by a layer.
    pub fn read_beside(&self, file: &FoundFile, ending: &str, max: u64) -> Result<Vec<u8>, FileError> {
        let mut path = file.path.clone().into_os_string();
        path.push(ending);
        settled(|| self.read_once(Path::new(&path), max, || {}))?.ok_or(FileError::Changed)
    }

    /// Reads the file of the layer, else what `own` returns; `None` is for a file that keeps changing.
    fn read_either(
        &self,
        name: &str,
        max: u64,
        own: impl FnOnce() -> Result<Option<Vec<u8>>, FileError>,
    ) -> Result<Vec<u8>, FileError> {
        let Some(front) = &self.front else { return own()?.ok_or(FileError::Changed) };
        if let Some(bytes) = front.read(name, max)? {
            return Ok(bytes);
        }
        let bytes = own()?.ok_or(FileError::Changed)?;
        front.borrow(name);
        Ok(bytes)
    }

    /// Reads one of its own files by name, of at most `max` octets.
    pub fn read_named(&self, name: &str, max: u64) -> Result<Vec<u8>, FileError> {
        settled(|| self.read_once(&self.path.join(name), max, || {}))?.ok_or(FileError::Changed)
    }

    /// Reads a file once; `meanwhile` is called between its last octet and the second look at it.
    fn read_once(&self, path: &Path, max: u64, meanwhile: impl FnOnce()) -> Result<FileReading, FileError> {
        let begun = SystemTime::now();
        let real = path.canonicalize().map_err(FileError::Io)?;
        if !self.real.as_ref().is_some_and(|folder| real.starts_with(folder)) {
            return Err(FileError::Outside);
        }
        // Opening a pipe would wait for a writer.
        if !real.metadata().map_err(FileError::Io)?.is_file() {
            return Err(FileError::NotAFile);
        }
        let mut handle = File::open(&real).map_err(FileError::Io)?;
        let before = FileLook::at(&handle.metadata().map_err(FileError::Io)?);
        if before.octets > max {
            return Err(FileError::TooLarge(max));
        }
        let mut bytes = Vec::with_capacity(before.octets as usize);
        handle.by_ref().take(max).read_to_end(&mut bytes).map_err(FileError::Io)?;
        meanwhile();
        let after = FileLook::at(&handle.metadata().map_err(FileError::Io)?);
        // A path that leads nowhere for the moment leads to another file, too.
        let there = path.metadata().ok();
        self.seen.read(path, there.as_ref().and_then(|there| FileStamp::at(there, begun)));
        let there = there.map(|metadata| FileLook::at(&metadata));
        Ok(FileReading { bytes, fate: FileFate::of(before, after, there) })
    }
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|octet| format!("{octet:02x}")).collect()
}

/// A folder in front of another: it hides what a glob means there as soon as it has any of it.
impl FileLayer for WorkspaceFolder {
    fn has(&self, name: &str) -> bool {
        !self.lacks(name)
    }

    fn hides(&self, _: &str, asked: FoundBy) -> bool {
        asked == FoundBy::Glob
    }

    fn find(&self, glob: &PathPattern) -> Result<Vec<String>, FindError> {
        match WorkspaceFolder::find(self, glob, None) {
            Ok(listing) => Ok(listing.into_iter().map(|(name, _)| name).collect()),
            Err(FindError::Missing | FindError::NoMatch) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, FileError> {
        self.read_named(name, max)
    }
}

/// A layer of the files of a folder.
pub fn of_folder(path: &Path) -> Box<dyn FileLayer> {
    Box::new(WorkspaceFolder::new(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with one file, and both as they are named here.
    fn folder() -> (tempfile::TempDir, WorkspaceFolder, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("export");
        fs::write(&path, "one\n").unwrap();
        let folder = WorkspaceFolder::new(dir.path());
        (dir, folder, path)
    }

    /// What a reading gives while `meanwhile` happens.
    fn read_while(meanwhile: impl FnOnce(&Path)) -> (Vec<u8>, FileFate) {
        let (_dir, folder, path) = folder();
        let Ok(read) = folder.read_once(&path, 100, || meanwhile(&path)) else { panic!("it can be read") };
        (read.bytes, read.fate)
    }

    #[test]
    fn a_file_that_nobody_touches_is_settled() {
        assert_eq!(read_while(|_| {}), (b"one\n".to_vec(), FileFate::Settled));
        // A reader, or a writer of another file, does not change it.
        assert_eq!(read_while(|path| drop(fs::read(path).unwrap())).1, FileFate::Settled);
        assert_eq!(read_while(|path| fs::write(path.with_extension("new"), "two\n").unwrap()).1, FileFate::Settled);
    }

    #[test]
    fn a_file_that_changes_meanwhile_is_not() {
        let append = |path: &Path| {
            let mut file = File::options().append(true).open(path).unwrap();
            io::Write::write_all(&mut file, b"two\n").unwrap();
        };
        assert_eq!(read_while(append), (b"one\n".to_vec(), FileFate::Grown));
        let cut = |path: &Path| File::options().write(true).open(path).unwrap().set_len(2).unwrap();
        assert_eq!(read_while(cut).1, FileFate::Changed);
        let rewrite = |path: &Path| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        };
        assert_eq!(read_while(rewrite).1, FileFate::Changed);
        let replace = |path: &Path| {
            fs::write(path.with_extension("new"), "one\n").unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        };
        assert_eq!(read_while(replace).1, FileFate::Changed);
        assert_eq!(read_while(|path| fs::remove_file(path).unwrap()).1, FileFate::Changed);
        let append_and_replace = |path: &Path| {
            append(path);
            replace(path);
        };
        assert_eq!(read_while(append_and_replace).1, FileFate::Changed);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_is_turned_meanwhile_is_noticed() {
        let (dir, folder, path) = folder();
        let (link, new) = (dir.path().join("current"), dir.path().join("new"));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let turn = || {
            fs::write(&new, "two\n").unwrap();
            std::os::unix::fs::symlink(&new, dir.path().join("next")).unwrap();
            fs::rename(dir.path().join("next"), &link).unwrap();
        };
        assert!(folder.read_once(&link, 100, turn).is_ok_and(|read| read.fate == FileFate::Changed));
        assert!(
            folder
                .read_once(&link, 100, || {})
                .is_ok_and(|read| read.fate == FileFate::Settled && read.bytes == b"two\n")
        );
    }
}
