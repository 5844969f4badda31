//! The swarm: random clusters, clients, loads and faults, and what must hold in all of them.
//!
//! A seed draws a [`Plan`], which is a scenario file; the file is loaded as any other, run in
//! random slices, and checked against the logs and what the producers were told. A plan that
//! breaks an invariant is made smaller, until only the faults that matter are left.
//!
//! Invariants: the same seed is the same plan and the same verdict; what is checked never reads
//! the bookkeeping that it checks.

mod census;
mod check;
mod dice;
mod draw;
mod drive;
mod hunt;
mod plan;
mod progress;
mod readers;
mod shrink;
mod transactions;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::scenario::{self, Overrides, Paint, Scenario, Source};

use check::Ending;
pub use check::{Broken, Invariant};
pub use draw::draw;
pub use hunt::{Request, run};
pub use plan::{Episode, HEALED_MS, Part, Piece, Plan, Step};
pub use shrink::{RUNS_MAX, Shrunk, shrink};

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Everything that does not hold.
    pub broken: Vec<Broken>,
    /// Records that were sent.
    pub records: u64,
    /// What became of them, over all producers, in words and numbers.
    pub fates: Vec<(&'static str, u64)>,
    /// The digest of the run; nothing where it came to no end.
    pub digest: Option<u64>,
}

/// Draws the plan of a seed, runs it and checks it.
pub fn judge(seed: u64) -> Verdict {
    judge_plan(&draw(seed))
}

/// Runs a plan and checks it.
pub fn judge_plan(plan: &Plan) -> Verdict {
    let text = plan.toml("What does chance find?", "");
    let source = Source::Text {
        name: format!("swarm-{}", plan.seed),
        text,
    };
    match scenario::load(source, &Overrides::default()) {
        Ok(scenario) => judge_run(&scenario, Ending::Healed),
        Err(problems) => failed(Broken {
            invariant: Invariant::Loads,
            text: problems.render(Paint::Plain),
        }),
    }
}

/// Runs a scenario and checks it. Whether it drains is checked where all loads end by themselves
/// and no broker or link is down at the end.
pub fn judge_scenario(scenario: &Scenario) -> Verdict {
    judge_run(scenario, Ending::Open)
}

fn judge_run(scenario: &Scenario, ending: Ending) -> Verdict {
    let config = Arc::clone(&scenario.config);
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let run = drive::observe(&config, config.seed);
        let mut broken = check::check(&run, ending);
        broken.extend(drive::replay(&config, &run));
        verdict(&run, broken)
    }));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        failed(Broken {
            invariant: Invariant::NoPanic,
            text: text.unwrap_or_else(|| "the engine panicked".to_owned()),
        })
    })
}

fn verdict(run: &drive::Observed, broken: Vec<Broken>) -> Verdict {
    let simulation = &run.simulation;
    let producers = (0..simulation.config().producers.len())
        .map(|place| crate::sim::ids::ProducerIndex(place as u16));
    let mut fates: Vec<(&'static str, u64)> = Vec::new();
    let mut records = 0;
    for producer in producers {
        records += simulation.producer_totals(producer).records_sent;
        for (what, count) in check::summary(run.census.of(producer)) {
            match fates.iter_mut().find(|(known, _)| *known == what) {
                Some((_, sum)) => *sum += count,
                None => fates.push((what, count)),
            }
        }
    }
    Verdict {
        broken,
        records,
        fates,
        digest: Some(simulation.digest()),
    }
}

fn failed(broken: Broken) -> Verdict {
    Verdict {
        broken: vec![broken],
        records: 0,
        fates: Vec::new(),
        digest: None,
    }
}
