//! How far the service is with what takes a while. Pure.
//!
//! Source: the asynchronous operations of Resource Manager (`Azure-AsyncOperation`).

use serde_json::Value;

use super::document::{AzureRefusal, read_refusal};

/// How far something is that takes a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AzureWork {
    /// It goes on.
    Goes,
    /// It is done.
    Done,
    /// It failed.
    Failed(AzureRefusal),
}

/// Reads how far something is that takes a while.
///
/// Errors: in words.
pub fn read_status(octets: &[u8]) -> Result<AzureWork, String> {
    let document: Value =
        serde_json::from_slice(octets).map_err(|error| format!("its answer cannot be read: {error}"))?;
    Ok(match document.get("status").and_then(Value::as_str) {
        Some("Succeeded") => AzureWork::Done,
        Some("Failed" | "Canceled") => AzureWork::Failed(read_refusal(octets)),
        _ => AzureWork::Goes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_ends_well_or_not() {
        assert_eq!(read_status(br#"{"status":"InProgress"}"#), Ok(AzureWork::Goes));
        assert_eq!(read_status(br#"{"status":"Succeeded","properties":{}}"#), Ok(AzureWork::Done));
        let failed = br#"{"status":"Failed","error":{"code":"Conflict","message":"It has links."}}"#;
        let refusal = AzureRefusal { code: "Conflict".into(), message: "It has links.".into() };
        assert_eq!(read_status(failed), Ok(AzureWork::Failed(refusal)));
        assert!(read_status(b"{").is_err());
    }
}
