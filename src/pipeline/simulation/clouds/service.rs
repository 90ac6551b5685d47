//! What the simulation needs of the double of a service.

use crate::dns::{NameRef, Rrset, Rtype, ZoneName};
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::http::HttpAsker;
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::memory::primary::SettledUpdate;
use crate::target::WriteTarget;

/// What a request writes, as an update: what it compares is a matter of the service.
pub struct CloudUpdate {
    /// The zone.
    pub zone: ZoneName,
    /// What is done, in this order.
    pub instructions: Vec<UpdateInstruction>,
}

/// The double of a service, with some zones.
pub trait CloudService: Send + Sync {
    /// Does what a request asks for.
    fn answer(&self, request: &DoubleRequest) -> DoubleAnswer;

    /// Does what a request asks for that writes, and gives what is done at once.
    fn carry_out(&self, request: &DoubleRequest, message: &UpdateMessage) -> (DoubleAnswer, Vec<UpdateInstruction>) {
        (self.answer(request), message.instructions.clone())
    }

    /// What it did since it was last asked, of what it had taken before.
    fn settled(&self) -> Vec<SettledUpdate> {
        Vec::new()
    }

    /// Whether it has yet to do something that it took.
    fn is_busy(&self) -> bool {
        false
    }

    /// Whether it lists what it took before that is done.
    fn lists_early(&self) -> bool {
        false
    }

    /// Lets so much time pass that all that it took is done.
    fn pass(&self) {}

    /// Writes what no run writes, as another editor.
    fn disturb(&self, _: usize) {}

    /// What is no longer as [`CloudService::disturb`] left it.
    fn lost(&self) -> Vec<String> {
        Vec::new()
    }

    /// What a request writes; none where it only reads.
    fn update_of(&self, request: &DoubleRequest) -> Option<CloudUpdate>;

    /// The same request without what compares, so that what is there is written over.
    fn unguarded(&self, request: DoubleRequest) -> DoubleRequest;

    /// The answer of a service that is too busy, and does nothing.
    fn busy(&self) -> DoubleAnswer;

    /// Puts or removes an RRset, as another editor.
    fn put(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype, rrset: Option<&Rrset>);

    /// The RRset that is there.
    fn held(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype) -> Option<Rrset>;

    /// What writes to it.
    fn writer(&self, http: Box<dyn HttpAsker>) -> Box<dyn WriteTarget>;
}
