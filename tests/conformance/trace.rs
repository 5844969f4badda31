//! A scenario in the engine, with all that became of every record.

use std::ops::Range;
use std::sync::Arc;

use kdrill::kafka::metric_name::ProducerMetric;
use kdrill::scenario::{self, Overrides, Paint, Source};
use kdrill::sim::config::Config;
use kdrill::sim::fact::{Acknowledged, Appended, Consumed, Flow, Stamped};
use kdrill::sim::ids::{ProducerIndex, TopicIndex, TopicPartition};
use kdrill::sim::time::{SimSpan, SimTime};
use kdrill::sim::{Output, Simulation};

/// The one producer of every comparison.
pub const PRODUCER: ProducerIndex = ProducerIndex(0);

/// A scenario without its first lines: `rest` begins within `[scenario]`.
pub fn scenario(duration: &str, rest: &str) -> Arc<Config> {
    let head = "# What did the real one do?\n[scenario]\nformat = 1\ntitle = \"conformance\"";
    let source = Source::Text {
        name: "conformance".to_string(),
        text: format!("{head}\nduration = \"{duration}\"\n{rest}"),
    };
    let scenario = scenario::load(source, &Overrides::default())
        .unwrap_or_else(|problems| panic!("{}", problems.render(Paint::Plain)));
    scenario.config
}

/// A partition of the first topic.
pub const fn partition(number: u32) -> TopicPartition {
    let topic = TopicIndex(0);
    TopicPartition { topic, number }
}

/// A run and what it said so far.
pub struct Trace {
    simulation: Simulation,
    /// Batches that a leader appended, in the leader's order.
    pub appended: Vec<Appended>,
    /// Batches that the client completed, in the client's order.
    pub acknowledged: Vec<Acknowledged>,
    /// Batches that the client gave up, in the client's order.
    pub failed: Vec<Failed>,
    /// What consumers read, in each one's order.
    pub consumed: Vec<Consumed>,
    /// What else happened.
    pub facts: Vec<Stamped>,
}

/// A batch that the client gave up.
pub struct Failed {
    /// The ordinal of its first record.
    pub first_ordinal: u64,
    /// How many.
    pub records: u32,
}

impl Trace {
    /// A scenario at its start, without its first lines: `rest` begins within `[scenario]`.
    pub fn new(duration: &str, rest: &str) -> Self {
        Self {
            simulation: Simulation::new(scenario(duration, rest)),
            appended: Vec::new(),
            acknowledged: Vec::new(),
            failed: Vec::new(),
            consumed: Vec::new(),
            facts: Vec::new(),
        }
    }

    /// The same at its end.
    pub fn to_end(duration: &str, rest: &str) -> Self {
        let mut trace = Self::new(duration, rest);
        let end = trace.simulation.end();
        trace.advance_to(end);
        trace
    }

    /// Goes on to a moment.
    pub fn advance_to(&mut self, moment: SimTime) {
        let _ = self.simulation.advance_to(moment, u64::MAX);
        let mut output = Output::default();
        self.simulation.drain(&mut output);
        self.facts.append(&mut output.facts);
        for flow in output.flows {
            match flow {
                Flow::Appended(batch) => self.appended.push(batch),
                Flow::Acknowledged(batch) => self.acknowledged.push(batch),
                Flow::Consumed(records) => self.consumed.push(records),
                Flow::Failed {
                    first_ordinal,
                    records,
                    ..
                } => self.failed.push(Failed {
                    first_ordinal,
                    records,
                }),
                Flow::Abandoned { .. }
                | Flow::Refused { .. }
                | Flow::Truncated { .. }
                | Flow::Unassigned { .. } => {}
            }
        }
    }

    /// The engine as it is now.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// A client metric now; what the client would not report is NaN.
    pub fn metric(&self, metric: ProducerMetric) -> f64 {
        self.simulation
            .producer_metric(PRODUCER, metric)
            .unwrap_or(f64::NAN)
    }

    /// Forgets what was said so far: the part of a run that a comparison leaves out.
    pub fn forget(&mut self) {
        self.appended.clear();
        self.acknowledged.clear();
        self.failed.clear();
        self.consumed.clear();
        self.facts.clear();
    }
}

/// Script calls that open a connection to the leader of each of these partitions: the recordings
/// begin when metadata, producer id and connections are there.
pub fn warm_up(partitions: Range<u32>) -> String {
    let call =
        |partition| format!("[[producer.script]]\ndo = 'produce events partition={partition}'\n");
    partitions.map(call).collect::<Vec<_>>().concat()
}

/// A moment of the run.
pub fn millis(millis: u64) -> SimTime {
    SimTime::ZERO + SimSpan::from_millis(millis)
}
