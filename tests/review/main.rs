//! What a plan says of the causes of its changes, compared with two independent plans.

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
