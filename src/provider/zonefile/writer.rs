//! Zones written to master files: each update is one new file that replaces the old one.
//!
//! Comes in: updates. Goes out: the outcome of each, proven, since a file either replaced the old one or did not. A
//! file is only replaced while it is the one that was read, and only by one that reads as the zone should.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use jiff::civil::Date;

use super::edit::{self, UnfitFile};
use super::layout::ZoneLayout;
use super::load::{FileLoader, read_regular};
use super::{ZoneFiles, compare, file_name, read_noting, serial};
use crate::diag::{AttemptError, Code, Problem};
use crate::disk::{self, PendingFile};
use crate::dns::{Rtype, ZoneContents, ZoneName};
use crate::process::BoundedCommand;
use crate::provider::at_once::AtOnce;
use crate::target::{
    Answer, EditSize, Question, ReadTarget, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateZone, WriteTarget,
    ZoneApex, answers,
};

/// Writes the zones of one target.
#[derive(Debug)]
pub struct FileWriter {
    /// The files.
    pub files: ZoneFiles,
    /// The day that serials contain.
    pub today: Date,
    /// What to run after the last file.
    pub reload: Option<BoundedCommand>,
    /// The folder of the target, as messages name it.
    pub dir: String,
    /// Whether any file was written, or may have been, for which `reload` was not run yet.
    pub is_changed: AtomicBool,
}

impl WriteTarget for FileWriter {
    fn place(&self, zone: &ZoneName) -> String {
        ReadTarget::place(&self.files, zone)
    }

    fn limits(&self) -> UpdateLimits {
        UpdateLimits::NONE
    }

    fn size(&self, _: &ZoneName, _: RrsetEdit<'_>) -> EditSize {
        EditSize::default()
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let mut loader = FileLoader::new(&self.files.folder);
        let read = self.read(zone, &mut loader, &[])?;
        self.check_signatures(zone, &read.contents)?;
        edit::check(&read.layout).map_err(|unfit| self.explain(zone, &loader, unfit))?;
        Ok(questions.iter().map(|question| answers::answer(&read.contents, question)).collect())
    }

    /// Makes the file of a zone; one that is there already is left.
    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        let path = self.files.folder.path(&file_name(zone));
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let hint = "plan again: the next plan reads it";
                self.error(zone, "zone-not-made", "there is a file by now".to_owned(), hint)
            }
            _ => self.error(zone, "zone-not-made", error.to_string().to_lowercase(), "the folder must be writable"),
        };
        disk::create(&path, apex.text(zone).as_bytes()).map_err(failed)?;
        self.is_changed.store(true, Ordering::Release);
        Ok(())
    }

    /// Deletes the file of a zone.
    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        let path = self.files.folder.path(&file_name(zone));
        let deleted = fs::remove_file(&path).and_then(|()| disk::sync_folder(&path));
        let hint = "the folder must be writable";
        let failed = |error: io::Error| self.error(zone, "zone-not-deleted", error.to_string().to_lowercase(), hint);
        deleted.map_err(failed)?;
        self.is_changed.store(true, Ordering::Release);
        Ok(())
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        let zone = zone.clone();
        let write = move |update: &Update<'_>| self.write(&zone, &update.edits).unwrap_or_else(|reply| reply);
        Box::new(AtOnce::new(write))
    }

    fn doubt(&self) {
        self.is_changed.store(true, Ordering::Release);
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        let Some(reload) = &self.reload else { return Ok(()) };
        if !self.is_changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        reload.run(b"").map_err(|AttemptError { message, .. }| {
            Problem::new(self.dir.clone(), "reload-failed", message).hint(
                "the files are written, but the servers may not have loaded them: run the command of `reload` by hand",
            )
        })
    }
}

impl FileWriter {
    /// Makes the edits in the file of a zone. What keeps them from being made is a reply too.
    fn write(&self, zone: &ZoneName, edits: &[RrsetEdit<'_>]) -> Result<UpdateReply, UpdateReply> {
        let mut loader = FileLoader::new(&self.files.folder);
        let read = self.read(zone, &mut loader, edits).map_err(UpdateReply::Failed)?;
        self.check_signatures(zone, &read.contents).map_err(UpdateReply::Refused)?;
        if let Some(difference) = edits.iter().find_map(|edit| difference(&read.contents, *edit, edits)) {
            return Err(UpdateReply::Prerequisite(difference));
        }
        let text = loader.get(read.first).text.clone();
        let serial = serial::next(read.contents.serial(), self.today);
        let new = edit::edit(&text, &read.layout, edits, serial);
        let new = new.map_err(|unfit| UpdateReply::Refused(self.explain(zone, &loader, unfit)))?;
        let path = loader.path(read.first);
        loader.set_text(read.first, new.clone());
        self.check_edited(zone, loader, &read, edits).map_err(UpdateReply::Refused)?;
        self.replace(zone, &path, &text, &new)
    }

    /// Reads a zone, and the places of its records.
    fn read(
        &self,
        zone: &ZoneName,
        loader: &mut FileLoader<'_>,
        edits: &[RrsetEdit<'_>],
    ) -> Result<ZoneFileRead, Problem> {
        let first = self.files.load(zone, loader)?;
        let wanted = edits.iter().map(|edit| (edit.key.owner.as_name().to_name(), edit.key.rtype));
        let mut layout = ZoneLayout::new(loader.get(first).file, wanted.collect());
        let read = read_noting(zone, loader, first, &mut |record, place| layout.note(record, place));
        match read {
            (Some(contents), found) if found.error_count() == 0 => Ok(ZoneFileRead { first, contents, layout }),
            (_, found) => {
                let errors = found.error_count();
                Err(self.files.explain(zone, (Box::new((loader.files().clone(), found)), errors)))
            }
        }
    }

    /// Refuses a zone with signatures: those of what changes would be wrong afterwards.
    fn check_signatures(&self, zone: &ZoneName, contents: &ZoneContents) -> Result<(), Problem> {
        if !contents.rrsets().any(|rrset| rrset.rtype() == Rtype::RRSIG) {
            return Ok(());
        }
        let message = "the file holds signatures (RRSIG), which would be wrong after a change";
        let hint = "let the name server sign the zone, and give it a file without signatures";
        Err(self.error(zone, "signed-zone-file", message.to_owned(), hint))
    }

    /// Says why a file cannot be edited.
    fn explain(&self, zone: &ZoneName, loader: &FileLoader<'_>, unfit: UnfitFile) -> Problem {
        let ((owner, rtype), origin) = match unfit {
            UnfitFile::Included(key, origin) => (key, origin),
            UnfitFile::NoSerial => {
                let message = "the serial of the SOA cannot be raised: its data are not written as fields";
                let hint = "write it as `PRIMARY MAILBOX SERIAL REFRESH RETRY EXPIRE MINIMUM`";
                return self.error(zone, "zone-file-not-editable", message.to_owned(), hint);
            }
        };
        let place = loader.files().place(origin);
        let message = format!("the {rtype} of `{owner}` is in the included file, at {place}");
        let hint = match rtype {
            Rtype::SOA => "move the SOA into the zone's own file, so that its serial can be raised",
            _ => "change it there by hand, or move the record into the zone's own file",
        };
        self.error(zone, "record-in-included-file", message, hint)
    }

    /// Reads the new text, which the loader has, and makes sure that it says what it should.
    fn check_edited(
        &self,
        zone: &ZoneName,
        mut loader: FileLoader<'_>,
        read: &ZoneFileRead,
        edits: &[RrsetEdit<'_>],
    ) -> Result<(), Problem> {
        let (contents, found) = read_noting(zone, &mut loader, read.first, &mut |_, _| ());
        if found.error_count() == 0
            && contents.is_some_and(|contents| compare::is_edited(&read.contents, &contents, edits))
        {
            return Ok(());
        }
        let message = "the edited file would not have the planned records, so it was left unchanged";
        let hint = "make the changes by hand, or simplify the file: give each record of an included file its own TTL, \
                    and remove a CNAME if other data are planned at its name";
        Err(self.error(zone, "zone-file-not-editable", message.to_owned(), hint))
    }

    /// Puts the new text in the place of the old one.
    fn replace(&self, zone: &ZoneName, path: &Path, old: &[u8], new: &[u8]) -> Result<UpdateReply, UpdateReply> {
        let failed = |error: io::Error| {
            let message = format!("the new file could not be written: {}", error.to_string().to_lowercase());
            let hint = "the file is as it was; its folder must be writable, and the disk must have free space";
            let failure = self.error(zone, "file-not-written", message, hint);
            match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => UpdateReply::Refused(failure),
                _ => UpdateReply::Failed(failure),
            }
        };
        let pending = fs::metadata(path).and_then(|like| PendingFile::write(path, new, Some(&like))).map_err(failed)?;
        if !read_regular(path).is_ok_and(|text| text == old) {
            return Err(UpdateReply::Prerequisite("another editor changed the file in the meantime".to_owned()));
        }
        pending.put_in_place().map_err(failed)?;
        self.is_changed.store(true, Ordering::Release);
        disk::sync_folder(path).map_err(|error| {
            let message = format!("the folder could not be synced: {}", error.to_string().to_lowercase());
            let hint = "the new file is in place, but may be lost if the power fails";
            UpdateReply::Unknown(self.error(zone, "file-not-synced", message, hint))
        })?;
        Ok(UpdateReply::Done)
    }

    /// An error about the file of a zone.
    fn error(&self, zone: &ZoneName, code: impl Into<Code>, message: String, hint: &str) -> Problem {
        Problem::new(ReadTarget::place(&self.files, zone), code, message).hint(hint)
    }
}

/// A zone that was read, and the places of its records.
#[derive(Debug)]
struct ZoneFileRead {
    /// The number of its main file.
    first: usize,
    /// What it holds.
    contents: ZoneContents,
    /// Where.
    layout: ZoneLayout,
}

/// How a zone differs from the state before an edit, in words; `None` where it does not. What is created may take the
/// place of a CNAME that another of the edits deletes.
fn difference(contents: &ZoneContents, edit: RrsetEdit<'_>, edits: &[RrsetEdit<'_>]) -> Option<String> {
    let (owner, rtype) = (&edit.key.owner, edit.key.rtype);
    let found = answers::answer(contents, &Question::of(edit.key));
    Some(match (found, edit.kind.before()) {
        (Answer::Holds(held, found), Some(before)) if held == rtype && found == *before => return None,
        (Answer::Nothing, None) => return None,
        (Answer::Holds(Rtype::CNAME, _), None) if edits.iter().any(|other| other.deletes_cname_at(owner)) => {
            return None;
        }
        (Answer::Holds(held, _), _) if held != rtype => format!("there is a {held} at `{owner}`"),
        (Answer::Holds(_, found), Some(before)) if found.rdata() == before.rdata() => {
            format!("the TTL of the {rtype} records of `{owner}` is now {}", found.ttl())
        }
        (Answer::Holds(..), Some(_)) => format!("the {rtype} records of `{owner}` have changed"),
        (Answer::Holds(..), None) => format!("`{owner}` now has {rtype} records"),
        (Answer::Nothing, Some(_)) => format!("`{owner}` no longer has {rtype} records"),
        (Answer::Delegated(cut, _), _) => format!("`{owner}` is at or below the delegation of `{cut}`"),
        (Answer::BelowDname(above, _), _) => format!("`{owner}` is below the DNAME of `{above}`"),
    })
}

#[cfg(test)]
mod tests;
