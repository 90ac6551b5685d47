//! What a plan says of the causes of its changes, held against what two plans say that know nothing of each other.

#[expect(dead_code, reason = "these tests roll no shares")]
#[path = "../incidents/dice.rs"]
mod dice;
#[expect(dead_code, reason = "of the fleets of the incidents these tests need the files")]
#[path = "../incidents/fleet.rs"]
mod fleet;

mod causes;
mod classes;
mod edits;
mod git;
mod past;
mod world;
