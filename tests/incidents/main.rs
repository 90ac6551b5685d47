//! What has taken down others: wrong input, first with nothing that stops it, then with what does.
//!
//! Every test brings a workspace into a good state, lets something go wrong, and shows twice what an apply makes of that:
//! once where the setting that would stop it is off, so that it is proven that it does harm, and once where it is on.

#[path = "../folder/copy.rs"]
mod copy;

mod agents;
mod deletes;
mod dice;
mod exports;
mod fleet;
mod limits;
mod mass;
mod mistakes;
mod networks;
mod oddities;
mod replaced;
mod yard;
mod year;
