//! Lets a run happen, cut into slices at random places, and watches it.

use std::sync::Arc;

use super::census::Census;
use super::check::{Broken, Invariant};
use super::dice::{Dice, Subject};
use super::watch::Watch;
use crate::insight::ledger::Ledger;
use crate::sim::config::{Config, HistoryDetail};
use crate::sim::time::SimSpan;
use crate::sim::{Output, Progress, Simulation};

/// A run at its end, and what was seen of it.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    pub(super) simulation: Simulation,
    pub(super) census: Census,
    pub(super) watch: Watch,
    pub(super) ledger: Ledger,
}

/// The same world, whose logs remember every batch: what a log has folded cannot be checked.
fn remembering(config: &Config) -> Arc<Config> {
    let mut config = config.clone();
    let topics = config.topics.iter_mut();
    for topic in topics.filter_map(|topic| topic.existing.as_mut()) {
        if topic.history == HistoryDetail::Sums {
            topic.history = HistoryDetail::Batches;
        }
    }
    Arc::new(config)
}

/// Runs to the end in slices from a nanosecond to a second and a half.
pub(super) fn observe(config: &Arc<Config>, seed: u64) -> Observed {
    let mut dice = Dice::new(seed, Subject::Slices);
    let config = &remembering(config);
    let mut simulation = Simulation::new(Arc::clone(config));
    let mut run = Observed {
        census: Census::new(config.producers.len()),
        watch: Watch::new(&simulation),
        ledger: Ledger::new(config),
        simulation: simulation.clone(),
    };
    let mut output = Output::default();
    loop {
        let digits = dice.between(0, 30);
        let slice = SimSpan::from_nanos(dice.between(1, 1 << digits).saturating_add(1 << digits));
        let budget = if dice.chance(20) {
            dice.between(1, 500)
        } else {
            u64::MAX
        };
        // Small slices are many; now and then a large one moves on.
        let slice = if dice.chance(60) {
            slice + SimSpan::from_millis(dice.between(50, 1_500))
        } else {
            slice
        };
        let advance = simulation.advance_to(simulation.now() + slice, budget);
        simulation.drain(&mut output);
        run.census.hear(&output.flows);
        run.ledger.observe(&output);
        run.watch.observe(&output, &simulation);
        if advance.progress == Progress::Ended {
            break;
        }
    }
    run.census.read_logs(&simulation);
    run.simulation = simulation;
    run
}

/// The same run in one go must be the same run.
pub(super) fn replay(config: &Arc<Config>, run: &Observed) -> Option<Broken> {
    let mut simulation = Simulation::new(Arc::clone(config));
    let _ended = simulation.advance_to(simulation.end(), u64::MAX);
    let (sliced, whole) = (run.simulation.digest(), simulation.digest());
    (sliced != whole).then(|| Broken {
        invariant: Invariant::SameDigest,
        text: format!("{sliced:016x} in slices, {whole:016x} in one go"),
    })
}
