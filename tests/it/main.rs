//! Everything that is tested from outside, in one binary: each further one would link the whole
//! simulator once more, in time and on disk.

mod cases;
mod cli;
mod configs_tool;
mod determinism;
mod diff;
mod fork;
mod generated_transactions;
mod keys;
mod ledger;
mod limits;
mod lint;
mod openmetrics;
mod rehearse;
mod replica_tools;
mod saved;
mod scaffold;
mod scenarios;
mod screen;
mod seek;
mod session;
mod skew;
mod support;
mod swarm;
mod terminal;
mod transactions_tool;
mod why;
