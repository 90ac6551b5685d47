//! What the simulation needs of the double of a service.

use crate::dns::{NameRef, Rrset, Rtype, ZoneName};
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::http::HttpAsker;
use crate::provider::memory::message::UpdateInstruction;
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
