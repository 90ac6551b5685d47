//! Files as octets: replaced whole, and digested.
//!
//! Comes in: a path, and the new content. Goes out: readers see the old file or the new one, never a part of either,
//! even after a power cut; or the digest of the file, or its stamp (`stamp`). Other rooms know what the octets mean.

pub mod together;

pub mod leftovers;

pub mod stamp;

pub use stamp::FileStamp;

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Replaces a file by `content`; its user alone may read the new one.
///
/// Errors: the system's; there is something that is no file. A link is not followed and not replaced: in a folder that
/// others may write to, it may lead to any file of this user.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_as(path, content, FileMode::Private)
}

/// The same, with a mode that lets all users read it, regardless of the mode of new files: for files that others fetch.
pub fn publish(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_as(path, content, FileMode::Public)
}

/// The same, unless the file holds just that already: it is left as it is then. Gives whether it was written.
pub fn publish_changed(path: &Path, content: &[u8]) -> io::Result<bool> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if is_file && fs::read(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    publish(path, content)?;
    Ok(true)
}

/// Makes a file that is not there, with the mode that the umask lets it have.
///
/// Errors: the system's; [`io::ErrorKind::AlreadyExists`] where there is anything by that name.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    PendingFile::create(path, content, FileMode::Usual)?.put_if_free()?;
    sync_folder(path)
}

/// Puts `content` in the place of a file.
fn replace_as(path: &Path, content: &[u8], mode: FileMode<'_>) -> io::Result<()> {
    if let Ok(found) = fs::symlink_metadata(path) {
        let is_link = found.is_symlink();
        if is_link || !found.is_file() && !found.is_dir() {
            let what = if is_link { "a symbolic link, and links are not followed" } else { "not a regular file" };
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("this is {what}: name a regular file")));
        }
    }
    PendingFile::create(path, content, mode)?.put_in_place()?;
    sync_folder(path)
}

/// Who may read and write a new file.
#[derive(Debug, Clone, Copy)]
enum FileMode<'a> {
    /// Whom the umask lets.
    Usual,
    /// Its user alone.
    Private,
    /// All users may read it.
    Public,
    /// Who may read and write another file; it gets the same owner too.
    Like(&'a Metadata),
}

/// Lets all users read a file, and its owner write it.
#[cfg(unix)]
fn make_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Systems without modes have other ways, which the folder hands on.
#[cfg(not(unix))]
fn make_readable(_: &File) -> io::Result<()> {
    Ok(())
}

/// A file that is written and synced in the same folder as the file that it will replace; removed if it does not.
#[derive(Debug)]
pub struct PendingFile {
    /// Where it is; `None` once it is in its place.
    pending: Option<PathBuf>,
    /// Its place.
    place: PathBuf,
}

impl PendingFile {
    /// Writes and syncs a file in the folder of `place`. It gets the mode of `like`, if that is given, and its owner
    /// and group, if the system allows that.
    pub fn write(place: &Path, content: &[u8], like: Option<&Metadata>) -> io::Result<PendingFile> {
        PendingFile::create(place, content, like.map_or(FileMode::Usual, FileMode::Like))
    }

    /// Writes and syncs a file of this mode in the folder of `place`.
    fn create(place: &Path, content: &[u8], mode: FileMode<'_>) -> io::Result<PendingFile> {
        let mut options = OpenOptions::new();
        let options = if matches!(mode, FileMode::Usual) { &mut options } else { private_file(&mut options) };
        let (path, mut file) = create_temporary(place, options)?;
        let pending = PendingFile { pending: Some(path), place: place.to_owned() };
        match mode {
            FileMode::Usual | FileMode::Private => {}
            FileMode::Public => make_readable(&file)?,
            FileMode::Like(like) => make_alike(&file, like)?,
        }
        file.write_all(content)?;
        file.sync_all()?;
        Ok(pending)
    }

    /// Puts it in its place. That lasts once [`sync_folder`] was run on the place too.
    pub fn put_in_place(mut self) -> io::Result<()> {
        if let Some(pending) = &self.pending {
            fs::rename(pending, &self.place)?;
        }
        self.pending = None;
        Ok(())
    }
}

impl PendingFile {
    /// Puts it in its place, unless there is something.
    fn put_if_free(self) -> io::Result<()> {
        // A rename would replace what is there; a link does not, and its first name goes when this is dropped.
        self.pending.as_ref().map_or(Ok(()), |pending| fs::hard_link(pending, &self.place))
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(pending) = &self.pending {
            // The earlier failure is reported; an error about removing the file would only hide it.
            let _ = fs::remove_file(pending);
        }
    }
}

/// How many names are tried for the temporary file; a name in use belongs to a run that was killed.
const ATTEMPTS: u32 = 100;

/// Creates a new file in the folder of `path`, opened so.
fn create_temporary(path: &Path, options: &mut OpenOptions) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "this names no file"))?;
    let mut attempt = 0;
    loop {
        let mut pending = OsString::from(".");
        pending.push(name);
        pending.push(format!(".{}-{attempt}{TEMPORARY}", std::process::id()));
        let pending = path.with_file_name(pending);
        match options.write(true).create_new(true).open(&pending) {
            Ok(file) => return Ok((pending, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// What the names of temporary files end in.
const TEMPORARY: &str = ".tmp";

/// The name of the file that a temporary file is of, by the name of the latter: `.NAME.PROCESS-ATTEMPT.tmp`. None of another file.
fn temporary_of(name: &str) -> Option<&str> {
    let (of, number) = name.strip_prefix('.')?.strip_suffix(TEMPORARY)?.rsplit_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    let (process, attempt) = number.split_once('-')?;
    (is_number(process) && is_number(attempt)).then_some(of)
}

/// Gives a file the mode of another, and its owner and group where the system lets us: root may give files away, others
/// only to groups of theirs. What cannot be given is not an error, since the content is what counts.
#[cfg(unix)]
fn make_alike(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let is = file.metadata()?;
    if (is.uid(), is.gid()) != (like.uid(), like.gid()) {
        let _ = fchown(file, Some(like.uid()), Some(like.gid())).or_else(|_| fchown(file, None, Some(like.gid())));
    }
    // After the owner: giving a file away takes bits off its mode.
    file.set_permissions(like.permissions())
}

/// Systems without owners and modes have other ways, which the folder hands on.
#[cfg(not(unix))]
fn make_alike(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Makes what is created readable for its owner alone.
#[cfg(unix)]
pub fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

/// Elsewhere folders hand their rights down.
#[cfg(not(unix))]
pub fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Makes a folder that is created open to its owner alone.
#[cfg(unix)]
pub fn private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;
    builder.mode(0o700)
}

/// Elsewhere folders hand their rights down.
#[cfg(not(unix))]
pub fn private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// Syncs the folder of a file, so that a rename in it lasts.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// The SHA-256 of a file, in hexadecimal.
///
/// Errors: it cannot be read, or is not a file. Opening a pipe could take for ever, and a device has no end.
pub fn digest(path: &Path) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let (mut file, mut digest, mut part) = (File::open(path)?, Sha256::new(), vec![0; PART]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hex(&digest.finalize())),
            length => digest.update(&part[..length]),
        }
    }
}

/// How many octets of a file are read at a time: enough that reading costs little.
const PART: usize = 64 * 1024;

/// What documents have before the digits of a digest.
pub const SHA256: &str = "sha256:";

/// A SHA-256 as documents have it, by its digits: `sha256:` and 64 hexadecimal digits. In memory it is the digits alone.
pub struct DigestText<'a>(pub &'a str);

impl fmt::Display for DigestText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SHA256}{}", self.0)
    }
}

/// Octets in hexadecimal.
pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_put_in_place_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        drop(PendingFile::write(&path, b"new", None).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        PendingFile::write(&path, b"new", None).unwrap().put_in_place().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_never_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        for write in [replace, publish] {
            assert!(write(&link, b"new").unwrap_err().to_string().contains("symbolic link"));
            assert!(!file.exists());
        }
        fs::write(&file, "old").unwrap();
        assert!(replace(&link, b"new").is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert!(replace(Path::new("/dev/null"), b"new").unwrap_err().to_string().contains("not a regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_replaced_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_published_can_be_read_by_all() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        publish(&path, b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_did_not_change_is_not_published_again() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let number = || fs::metadata(&path).unwrap().ino();
        assert!(publish_changed(&path, b"one").unwrap());
        let before = number();
        assert!(!publish_changed(&path, b"one").unwrap());
        assert_eq!(number(), before);
        assert!(publish_changed(&path, b"two").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        // A link is not followed, whatever it leads to.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert!(publish_changed(&link, b"two").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_can_get_the_mode_and_owner_of_another() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o646)).unwrap();
        // Only root may give it away; for others it stays theirs.
        let _ = chown(&path, Some(1), Some(1));
        let before = fs::metadata(&path).unwrap();
        PendingFile::write(&path, b"new", Some(&before)).unwrap().put_in_place().unwrap();
        let after = fs::metadata(&path).unwrap();
        let shown = |found: &Metadata| (found.mode(), found.uid(), found.gid());
        assert_eq!(shown(&after), shown(&before));
    }
}
