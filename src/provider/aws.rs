//! What the providers for Amazon Web Services share: who asks, and how a request proves it.
//!
//! Comes in: settings, and what is around the process. Goes out: credentials that hold, and the headers that sign a
//! request. No secret is in a message, and none is shown for debugging.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `credentials` | pure: credentials, and the forms in which they come |
//! | `xml` | pure: documents as trees |
//! | `sign` | pure: a request to the headers that sign it (Signature Version 4) |
//! | `profile` | pure: the files of AWS's own tools to where a profile's credentials are |
//! | `surroundings` | the environment, the home folder and the services nearby, as values |
//! | `source` | pure: where credentials are, in words |
//! | `chain` | looks through the sources in AWS's order, and asks the one that is set |
//! | `metadata` | asks the metadata service of an EC2 instance |
//! | `container` | asks the endpoint of a container |
//! | `sts` | asks for the credentials of a role |
//! | `fault` | pure: why something was not done |
//! | `client` | asks a service, with a signature |
//! | `choice` | pure: which zone of an account is meant |
//! | `login` | keeps credentials, and renews them in time |

mod chain;
mod choice;
mod client;
mod container;
mod credentials;
#[cfg(test)]
pub mod doubled;
mod fault;
mod login;
mod metadata;
mod profile;
mod settings;
mod sign;
mod source;
mod sts;
mod surroundings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod xml;

pub use self::choice::{JudgedZone, ZoneWords, the_one};
pub use self::client::{AwsClient, AwsQuestion, AwsTerms};
pub use self::fault::{AwsFault, AwsFaultKind, RefusedAnswer};
#[cfg(test)]
pub use self::settings::AwsIdentity;
pub use self::settings::{AwsSettings, read_endpoint, read_publication};

pub use self::xml::{XmlElement, escaped};
