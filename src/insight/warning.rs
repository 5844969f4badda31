//! Named diagnoses: what is going wrong, in whole sentences.
//!
//! A diagnosis is a value that looks at one subject (a producer, a broker, a topic, the whole
//! run) and answers one of three things: nothing is wrong, this is wrong (a sentence), or too
//! little is known yet and whatever was said before stands. They look once per simulated second.
//!
//! Invariants: a healthy run raises none; a warning is remembered with its first and last moment
//! after what it says has passed.

mod cluster;
mod compression;
mod consumer;
mod evidence;
mod group_evidence;
mod keys;
mod producer;
mod quota;
mod rdkafka;
mod replication;
mod skew;
mod transactions;
mod waiting;

use crate::sim::Simulation;
use crate::sim::config::Config;
use crate::sim::fact::{Flow, Stamped};
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicIndex};
use crate::sim::time::{NANOS_PER_SECOND, SimTime};
use crate::sim::view::{GroupView, PartitionView, ProducerView};

use super::ledger::Ledger;
use super::names;

pub(super) use evidence::Evidence;
use evidence::ProducerEvidence;

/// Warnings remembered at most.
pub const WARNINGS_MAX: usize = 1_024;

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// One producer.
    Producer(ProducerIndex),
    /// One broker.
    Broker(BrokerIndex),
    /// One topic.
    Topic(TopicIndex),
    /// One consumer group.
    Group(GroupIndex),
    /// The whole run.
    Run,
}

/// Whether a warning holds now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Active,
    /// It held before.
    Past,
}

/// A diagnosis that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The diagnosis, such as `buffer-bound`.
    pub name: &'static str,
    /// What fits behind a count: "producers are buffer-bound".
    pub summary: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// The latest sentence, without a full stop.
    pub text: String,
    /// When it was first made.
    pub first: SimTime,
    /// When it last held.
    pub last: SimTime,
    /// Whether it holds now.
    pub standing: Standing,
}

/// Which subjects a diagnosis looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every producer.
    Producers,
    /// Every broker.
    Brokers,
    /// Every topic.
    Topics,
    /// Every consumer group.
    Groups,
    /// The run as a whole.
    Run,
}

/// What a diagnosis says of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is wrong.
    Quiet,
    /// Too little is known: what was said before stands.
    Unsure,
    /// This is wrong: a sentence without a full stop.
    Raised(String),
}

/// One way in which things go wrong.
pub trait Diagnosis: Sync {
    /// Its name in kebab case.
    fn name(&self) -> &'static str;
    /// What fits behind a count: "producers are buffer-bound".
    fn summary(&self) -> &'static str;
    /// Which subjects it looks at.
    fn scope(&self) -> Scope;
    /// What it says of `subject`, which is in its scope.
    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict;
}

/// All diagnoses, in the order in which they are shown.
pub static DIAGNOSES: [&dyn Diagnosis; 26] = [
    &cluster::AcknowledgedLoss,
    &replication::PartitionsOffline,
    &replication::UnderMinIsr,
    &cluster::DeadLeaderPinsPool,
    &waiting::BufferBound,
    &waiting::BufferFilling,
    &rdkafka::ReportsUnpolled,
    &rdkafka::QueueFull,
    &waiting::MetadataBlocked,
    &waiting::MetricLies,
    &producer::BatchesExpiring,
    &producer::ReorderingRisk,
    &producer::TinyBatches,
    &producer::LostAtExit,
    &quota::Throttled,
    &keys::SplitKeys,
    &keys::OutOfOrderReads,
    &skew::SkewedPartitions,
    &skew::MixedHashing,
    &cluster::DiskBound,
    &compression::CompressedInVain,
    &compression::CompressedTwice,
    &transactions::ReadersWait,
    &consumer::LagGrows,
    &consumer::MoreMembersThanPartitions,
    &consumer::RebalanceStalls,
];

/// Everything that diagnoses look at.
pub struct Checkup<'a> {
    pub(super) simulation: &'a Simulation,
    pub(super) producers: &'a [ProducerView],
    pub(super) partitions: &'a [PartitionView],
    pub(super) groups: &'a [GroupView],
    pub(super) ledger: &'a Ledger,
    pub(super) evidence: &'a Evidence,
}

impl<'a> Checkup<'a> {
    fn config(&self) -> &'a Config {
        self.simulation.config()
    }

    fn now(&self) -> SimTime {
        self.simulation.now()
    }

    /// The partitions of one topic.
    fn partitions_of(&self, topic: TopicIndex) -> impl Iterator<Item = &'a PartitionView> {
        let partitions = self.partitions.iter();
        partitions.filter(move |partition| partition.topic == topic)
    }

    /// View, evidence and name of the producer that `subject` is.
    fn producer(
        &self,
        subject: Subject,
    ) -> Option<(&'a ProducerView, &'a ProducerEvidence, &'a str)> {
        let Subject::Producer(producer) = subject else {
            return None;
        };
        let view = self.producers.get(producer.index())?;
        Some((
            view,
            self.evidence.of(producer)?,
            names::producer(self.config(), producer),
        ))
    }
}

/// All warnings of a run.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    made: Vec<Warning>,
    /// Warnings that found no room.
    unlisted: u64,
    /// The whole second of the last checkup.
    checked: Option<u64>,
}

impl Warnings {
    /// All warnings, in order of their first moment.
    pub fn all(&self) -> &[Warning] {
        &self.made
    }

    /// Those that hold now.
    pub fn active(&self) -> impl Iterator<Item = &Warning> {
        self.made
            .iter()
            .filter(|warning| warning.standing == Standing::Active)
    }

    /// Warnings that found no room.
    pub fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// Whether `now` is the first sample of a second that was not looked at.
    pub(super) fn is_due(&self, now: SimTime) -> bool {
        self.checked != Some(now.as_nanos() / NANOS_PER_SECOND)
    }

    /// Lets every diagnosis look.
    pub(super) fn check(&mut self, checkup: &Checkup<'_>) {
        self.checked = Some(checkup.now().as_nanos() / NANOS_PER_SECOND);
        for diagnosis in DIAGNOSES {
            for subject in subjects(diagnosis.scope(), checkup.config()) {
                let verdict = diagnosis.check(subject, checkup);
                self.take(diagnosis, subject, verdict, checkup.now());
            }
        }
    }

    fn take(
        &mut self,
        diagnosis: &dyn Diagnosis,
        subject: Subject,
        verdict: Verdict,
        now: SimTime,
    ) {
        let has_room = self.made.len() < WARNINGS_MAX;
        let known = self
            .made
            .iter_mut()
            .find(|warning| warning.name == diagnosis.name() && warning.subject == subject);
        match (known, verdict) {
            (Some(warning), Verdict::Raised(text)) => {
                warning.text = text;
                warning.last = now;
                warning.standing = Standing::Active;
            }
            (Some(warning), Verdict::Quiet) => warning.standing = Standing::Past,
            (None, Verdict::Raised(text)) if has_room => {
                self.made.push(Warning {
                    name: diagnosis.name(),
                    summary: diagnosis.summary(),
                    subject,
                    text,
                    first: now,
                    last: now,
                    standing: Standing::Active,
                });
            }
            (None, Verdict::Raised(_)) => self.unlisted += 1,
            (_, Verdict::Quiet | Verdict::Unsure) => {}
        }
    }
}

fn subjects(scope: Scope, config: &Config) -> Box<dyn Iterator<Item = Subject>> {
    let (producers, brokers) = (config.producers.len() as u16, config.brokers.len() as u16);
    match scope {
        Scope::Producers => Box::new((0..producers).map(|n| Subject::Producer(ProducerIndex(n)))),
        Scope::Brokers => Box::new((0..brokers).map(|n| Subject::Broker(BrokerIndex(n)))),
        Scope::Topics => {
            Box::new((0..config.topics.len() as u16).map(|n| Subject::Topic(TopicIndex(n))))
        }
        Scope::Groups => {
            Box::new((0..config.groups.len() as u16).map(|n| Subject::Group(GroupIndex(n))))
        }
        Scope::Run => Box::new(std::iter::once(Subject::Run)),
    }
}

/// Bytes for people: `31.9 MiB`.
pub(super) fn bytes(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    if bytes < 1024 * 1024 {
        format!("{:.1} KiB", bytes as f64 / 1024.0)
    } else {
        format!("{:.1} MiB", bytes as f64 / MIB)
    }
}

impl Evidence {
    /// Takes facts; the order between entities does not matter.
    pub(super) fn observe(&mut self, facts: &[Stamped]) {
        for stamped in facts {
            self.observe_fact(&stamped.fact);
        }
    }

    /// Takes flows; the order between entities does not matter.
    pub(super) fn observe_flows(&mut self, flows: &[Flow]) {
        for flow in flows {
            self.observe_flow(flow);
        }
    }
}
