//! What the providers for Azure share: who asks, and the token that proves it.
//!
//! Comes in: settings, and what is around the process. Goes out: a token that holds, and where the cloud's API is. No
//! secret is in a message, and none is shown for debugging.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `cloud` | pure: the clouds, with where each one is asked |
//! | `token` | pure: tokens, and the forms in which they come |
//! | `source` | pure: where tokens are, in words |
//! | `config_file` | reads the `azure.json` that other tools share |
//! | `chain` | looks through the sources in order, and asks the one that is set |
//! | `sign_in` | asks Entra |
//! | `managed` | asks the services that give a machine or an app its own identity |
//! | `login` | keeps a token, and renews it in time |

mod chain;
mod cloud;
mod config_file;
mod login;
mod managed;
mod settings;
mod sign_in;
mod source;
#[cfg(test)]
mod tests;
mod token;

pub use self::login::AzureLogin;
#[cfg(test)]
pub use self::settings::EntraIdentity;
pub use self::settings::EntraSettings;
