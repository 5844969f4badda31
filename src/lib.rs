//! kdrill rehearses Kafka producer incidents: a deterministic simulation with live panes.

pub mod cli;
pub mod command;
pub mod diff;
pub mod headless;
pub mod insight;
pub mod kafka;
pub mod keys;
pub mod lint;
pub mod recording;
pub mod rehearsal;
pub mod report;
pub mod scaffold;
pub mod scenario;
pub mod session;
pub mod sim;
pub mod still;
pub mod swarm;
pub mod tui;
