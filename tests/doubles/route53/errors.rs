//! The errors of the service, and their XML.

use super::super::signature::{SignatureFault, SignatureFaultKind};
use super::rules::{BatchErrorForm, SkewAnswer};
use super::xml::XmlWriter;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceError {
    /// The HTTP status.
    pub status: u16,
    /// The code, such as `InvalidChangeBatch`.
    pub code: &'static str,
    /// What is wrong; one text for each fault of a batch, else one.
    pub messages: Vec<String>,
    /// The entries that are wrong, where protections are changed.
    pub entries: Vec<EntryFault>,
}

/// An entry of a batch of protections that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFault {
    /// The name.
    pub name: String,
    /// The type.
    pub rtype: String,
    /// The code of this entry.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
}

impl ServiceError {
    /// Makes an error with one message.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, messages: vec![message.into()], entries: Vec::new() }
    }

    /// Makes the error of a signature that is not taken.
    pub fn of_signature(fault: SignatureFault, skew: SkewAnswer) -> Self {
        match fault.kind {
            SignatureFaultKind::Missing => Self::new(403, "MissingAuthenticationToken", fault.message),
            SignatureFaultKind::Incomplete => Self::new(400, "IncompleteSignature", fault.message),
            SignatureFaultKind::StrangeKey => Self::new(403, "InvalidClientTokenId", fault.message),
            SignatureFaultKind::OldKey => Self::expired_token(),
            SignatureFaultKind::WrongTime if skew == SkewAnswer::RequestExpired => {
                Self::new(400, "RequestExpired", "Request has expired.")
            }
            SignatureFaultKind::WrongTime | SignatureFaultKind::Mismatch => {
                Self::new(403, "SignatureDoesNotMatch", fault.message)
            }
        }
    }

    /// Makes the error of a request that the API's model forbids.
    pub fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(400, "InvalidInput", message)
    }

    /// Makes the error of a batch.
    pub fn invalid_batch(messages: Vec<String>) -> Self {
        Self { messages, ..Self::new(400, "InvalidChangeBatch", "") }
    }

    /// Makes the error of a zone that is not there.
    pub fn no_zone(id: &str) -> Self {
        Self::new(404, "NoSuchHostedZone", format!("No hosted zone found with ID: {id}"))
    }

    /// Makes the error of too many requests.
    pub fn throttling() -> Self {
        Self::new(400, "Throttling", "Rate exceeded")
    }

    /// Makes the error of credentials whose time is over.
    pub fn expired_token() -> Self {
        Self::new(403, "ExpiredToken", "The security token included in the request is expired")
    }

    /// Makes the error of a service that failed.
    pub fn internal() -> Self {
        Self::new(500, "InternalFailure", "We encountered an internal error. Please try again.")
    }

    /// Makes the error of a service that is not there.
    pub fn unavailable() -> Self {
        Self::new(503, "ServiceUnavailable", "Service Unavailable")
    }

    /// Writes the body of the answer.
    pub fn body(&self, form: BatchErrorForm, request_id: &str) -> String {
        let is_batch = self.code == "InvalidChangeBatch";
        if is_batch && form == BatchErrorForm::MessageList {
            return XmlWriter::document("InvalidChangeBatch", |xml| {
                xml.element("Messages", |xml| self.messages.iter().for_each(|message| xml.leaf("Message", message)));
                xml.leaf("RequestId", request_id);
            });
        }
        let message = self.messages.join(", ");
        let message = if is_batch { format!("[{message}]") } else { message };
        XmlWriter::document("ErrorResponse", |xml| {
            xml.element("Error", |xml| {
                xml.leaf("Type", if self.status < 500 { "Sender" } else { "Receiver" });
                xml.leaf("Code", self.code);
                xml.leaf("Message", message);
                if !self.entries.is_empty() {
                    xml.element("Errors", |xml| self.entries.iter().for_each(|entry| entry.write(xml)));
                }
            });
            xml.leaf("RequestId", request_id);
        })
    }
}

impl EntryFault {
    /// Writes the entry.
    fn write(&self, xml: &mut XmlWriter) {
        xml.element("ProtectionError", |xml| {
            xml.leaf("RecordName", &self.name);
            xml.leaf("RecordType", &self.rtype);
            xml.leaf("Code", self.code);
            xml.leaf("Message", &self.message);
        });
    }
}
