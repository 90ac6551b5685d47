//! The socket of the reference service: a desk behind a server of HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::desk::{ApprovalDesk, ApprovalReply};
use crate::serve::ListenError;
use crate::web::{self, RunningWeb, WebDesk, WebReply, WebRequest, WebTerms};

/// How long a client may be silent, and how many there may be: runs keep their connections.
const TERMS: WebTerms = WebTerms { name: "approvals", silence: Duration::from_secs(300), most: 1024 };

impl WebDesk for ApprovalDesk {
    fn reply(&self, request: &WebRequest<'_>) -> WebReply {
        let ApprovalReply { status, content, after } = self.answer(request);
        let content = content.as_ref().map(ToString::to_string).unwrap_or_default();
        WebReply { after, ..WebReply::new(status, "application/json", content) }
    }
}

/// Listens on a loopback address.
///
/// Errors: the address is not loopback, or the system does not let us.
pub fn listen(desk: &Arc<ApprovalDesk>, address: SocketAddr) -> Result<RunningWeb, ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let desk: Arc<dyn WebDesk> = Arc::<ApprovalDesk>::clone(desk);
    web::listen(desk, address, TERMS).map_err(|error| ListenError::Io(address, error))
}
