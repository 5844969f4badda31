//! kdrill rehearses Kafka producer incidents: a deterministic simulation with live panes.

pub mod command;
pub mod insight;
pub mod kafka;
pub mod scenario;
pub mod sim;
