//! What the tests of this room share, in addition to those of all clouds: surroundings without the process's.

use super::surroundings::AwsSurroundings;
use crate::provider::surroundings::testing::process_around;

/// Surroundings with these variables, without a home folder.
pub fn around(variables: &[(&str, &str)]) -> AwsSurroundings {
    AwsSurroundings { process: process_around(variables), container: "http://127.0.0.1:1".to_owned() }
}
