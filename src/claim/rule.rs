//! The reconcile rules, by their words.

use crate::document::words;

words! {
    /// Why an RRset is changed.
    Rule {
        /// An address that the host should have and does not have.
        Missing = "missing",
        /// An address at the host's name that is not acceptable.
        WrongAddress = "wrong-address",
        /// The host's address at a name that is not the host's.
        AddressElsewhere = "address-elsewhere",
        /// An address has no PTR.
        MissingPtr = "missing-ptr",
        /// A PTR at the host's address that names something else, or an address that the host does not keep.
        WrongPtr = "wrong-ptr",
        /// A PTR that names the host at an address that is not the host's.
        PtrElsewhere = "ptr-elsewhere",
        /// The TTL differs.
        Ttl = "ttl",
        /// A file states the value.
        Stated = "stated",
        /// No file states the value, at an RRset that a file states or stated.
        NotStated = "not-stated",
        /// The RRset cannot be next to one that a file states.
        MakesRoom = "makes-room",
        /// The name was released.
        Released = "released",
        /// No host has the name.
        Orphan = "orphan",
        /// No pod has the name of a set: it is of an earlier placement, or of no pod.
        NoPod = "no-pod",
        /// The TXT that records the owner of an RRset.
        Registry = "registry",
        /// The RRset is taken over from another owner.
        Adopted = "adopted",
        /// An apply is undone.
        Undo = "undo",
        /// The RRset is not as the latest apply that wrote it left it: a person, or another program, edited it since.
        EditedSince = "edited-since",
        /// The reference copy already has the RRset as it is to be: the copies of other targets are brought in line.
        CopyDiffers = "copy-differs",
    }
}

impl Rule {
    /// Whether it makes no change, and only says something about one that other rules make.
    pub fn is_remark(self) -> bool {
        matches!(self, Rule::EditedSince | Rule::CopyDiffers)
    }
}
