//! Transactions between their participants: what producers ask, and what a partition remembers.
//!
//! `ask` has the requests of transactional producers and their answers, `producer_states` what the
//! leader of a partition knows of each producer id, its open transaction and its markers, and
//! `partition` what that means for one log, which `lane` tells in runs. Coordinators are in
//! `cluster::transaction`, clients in `producer::transaction`.

pub mod ask;
pub mod lane;
mod partition;
pub mod producer_states;
