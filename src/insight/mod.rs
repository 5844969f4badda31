//! Folds over facts, flows and samples: series, histograms, warnings, expectations, the ledger.
//!
//! [`Insight`] owns them all. The session hands it what the engine said ([`Insight::observe`]) and
//! lets it look at every multiple of the sample time ([`Insight::sample`]).
//!
//! Invariants:
//! - Looking never changes the engine: nothing here enters the digest of a run.
//! - Memory is bounded for any run length, by named limits of each fold.
//! - What is concluded depends on facts, flows and samples, not on how a run was sliced.

pub mod deed;
pub mod diary;
pub mod event_log;
pub mod expectation;
mod group_words;
pub mod interval;
pub mod judge;
pub mod kind;
pub mod latency;
pub mod ledger;
pub mod metric;
pub mod names;
pub mod path;
pub mod placing;
pub mod reading;
mod record_transaction;
pub mod sampler;
pub mod sentence;
pub mod series;
pub mod skew;
pub mod story;
#[cfg(test)]
pub(crate) mod testing;
mod transaction_words;
pub mod warning;
pub mod why;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kafka::metric_name::ProducerMetric;
use crate::sim::config::Config;
use crate::sim::fact::{ErrorClass, Fact};
use crate::sim::ids::{ConsumerIndex, GroupIndex, ProducerIndex};

use crate::sim::time::SimTime;
use crate::sim::view::{ConsumerView, GroupView, PartitionView, ProducerView};
use crate::sim::{Output, Simulation};

/// Flows that all folds take before any goes on to the next: so few that they stay in the
/// processor's cache meanwhile, where those between two samples are megabytes.
const FLOWS_AT_ONCE: usize = 128;

pub use judge::{Judgement, Outcome};

use diary::Diary;
use event_log::EventLog;
use expectation::Expectation;
use judge::Judge;
use latency::Latency;
use ledger::{Account, Audit, Ledger};
use metric::{Metric, OwnFigure};
use reading::Reading;
use sampler::{Sampler, SeriesId, TooManySeries};
use series::Series;
use warning::{Checkup, Evidence, Warnings};

/// Everything that is concluded from a run.
#[derive(Clone, Debug)]
pub struct Insight {
    config: Arc<Config>,
    sampler: Sampler,
    latency: Latency,
    ledger: Ledger,
    /// What happened to records that are remembered one by one.
    diary: Diary,
    /// What the logs themselves said, at the end of the run.
    audit: Audit,
    log: EventLog,
    warnings: Warnings,
    evidence: Evidence,
    judge: Judge,
    /// By producer: records that brought the application an exception, by its class.
    errors: Vec<BTreeMap<ErrorClass, u64>>,
    /// Views of all producers at the last sample.
    producers: Vec<ProducerView>,
    /// Views of all partitions at the last sample.
    partitions: Vec<PartitionView>,
    /// Views of all consumer groups at the last sample.
    groups: Vec<GroupView>,
    /// Views of all consumers at the last sample.
    consumers: Vec<ConsumerView>,
}

impl Insight {
    /// Nothing concluded yet.
    pub fn new(config: &Arc<Config>, expectations: &Arc<[Expectation]>) -> Self {
        let mut sampler = Sampler::new(config);
        let judge = Judge::new(expectations, &mut sampler, config);
        let producers = config.producers.len();
        Self {
            config: Arc::clone(config),
            sampler,
            latency: Latency::new(producers),
            ledger: Ledger::new(config),
            diary: Diary::new(config),
            audit: Audit::NothingSeen,
            log: EventLog::default(),
            warnings: Warnings::default(),
            evidence: Evidence::new(producers),
            judge,
            errors: vec![BTreeMap::new(); producers],
            producers: Vec::new(),
            partitions: Vec::new(),
            groups: Vec::new(),
            consumers: Vec::new(),
        }
    }

    // === What the world did ===

    /// Takes what the engine said since the last time.
    pub fn observe(&mut self, output: &Output) {
        self.ledger.hear(output);
        self.diary.observe(output);
        self.evidence.observe(&output.facts);
        for flows in output.flows.chunks(FLOWS_AT_ONCE) {
            self.ledger.take(flows);
            self.evidence.observe_flows(flows);
            self.latency.observe(flows);
        }
        self.ledger.count();
        for stamped in &output.facts {
            self.log.push(stamped);
            self.count_error(&stamped.fact);
        }
        self.judge.observe(&output.facts, &self.config);
    }

    /// Looks at the engine. The session calls this at every multiple of the sample time, once.
    pub fn sample(&mut self, simulation: &Simulation) {
        let now = simulation.now();
        let partitions = self.partitions.len();
        self.look(simulation);
        if self.partitions.len() != partitions {
            let shown = self.partitions.iter().map(PartitionView::name);
            self.sampler.show(shown, now, &self.config);
        }
        self.sampler.sample(Reading {
            simulation,
            producers: &self.producers,
            partitions: &self.partitions,
            groups: &self.groups,
            consumers: &self.consumers,
            ledger: &self.ledger,
        });
        self.evidence.sample(simulation, &self.producers);
        if self.warnings.is_due(now) {
            self.check_up(simulation);
        }
        self.judge.sample(&self.sampler, now);
    }

    /// The run goes no further: looks a last time and decides every expectation that is open.
    pub fn finish(&mut self, simulation: &Simulation) {
        self.look(simulation);
        self.check_up(simulation);
        self.judge.finish(simulation, self.ledger.total());
        self.audit = self.ledger.audit(simulation);
    }

    /// Samples `metric` from `start` on, a multiple of the sample time. Panes ask for what they
    /// show; the run does not notice.
    pub fn ask(&mut self, metric: Metric, start: SimTime) -> Result<SeriesId, TooManySeries> {
        self.sampler.ask(metric, start, &self.config)
    }

    /// Bytes that a clone of this does not share with it, roughly.
    pub fn bytes_copied(&self) -> usize {
        self.sampler.bytes_copied() + self.log.entries().len() * size_of::<event_log::Entry>()
    }

    // === What can be read ===

    /// The series of a figure, if it is sampled.
    pub fn series(&self, metric: Metric) -> Option<&Series> {
        self.sampler.find(metric)
    }

    /// The series of a metric of a producer's client, if it is sampled.
    pub fn client_series(
        &self,
        producer: ProducerIndex,
        metric: ProducerMetric,
    ) -> Option<&Series> {
        self.series(Metric::client(producer, metric))
    }

    /// The series of what the engine knows of a producer, if it is sampled.
    pub fn own_series(&self, producer: ProducerIndex, figure: OwnFigure) -> Option<&Series> {
        self.series(Metric::own(producer, figure))
    }

    /// All series and sums.
    pub fn sampler(&self) -> &Sampler {
        &self.sampler
    }

    /// Latencies by stage.
    pub fn latency(&self) -> &Latency {
        &self.latency
    }

    /// What became of every record.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What happened to records that are remembered one by one.
    pub fn diary(&self) -> &Diary {
        &self.diary
    }

    /// The story of a key's records, or of one of them, as text; or why there is none.
    pub fn follow(
        &self,
        simulation: &Simulation,
        key: &str,
        record: Option<u32>,
    ) -> Result<String, String> {
        story::follow(&self.diary, simulation, (key, record))
    }

    /// What a comparison of the ledger with the logs came to, when the run was finished.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// What became of every record that was sent, now.
    pub fn account(&self, simulation: &Simulation) -> Account {
        let sent = (0..self.config.producers.len())
            .map(|index| {
                simulation
                    .producer_totals(ProducerIndex(index as u16))
                    .records_sent
            })
            .sum();
        self.ledger.account(sent)
    }

    /// The latest facts, and marks for the time axis.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// What is going wrong.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// The expectations and how they stand.
    pub fn judgements(&self) -> &[Judgement] {
        self.judge.judgements()
    }

    /// Records of a producer that brought its application an exception, by class.
    pub fn errors(&self, producer: ProducerIndex) -> &BTreeMap<ErrorClass, u64> {
        const NONE: &BTreeMap<ErrorClass, u64> = &BTreeMap::new();
        self.errors.get(producer.index()).unwrap_or(NONE)
    }

    /// Views of all producers at the last sample.
    pub fn producers(&self) -> &[ProducerView] {
        &self.producers
    }

    /// Views of all consumer groups at the last sample.
    pub fn groups(&self) -> &[GroupView] {
        &self.groups
    }

    /// Views of all consumers at the last sample.
    pub fn consumers(&self) -> &[ConsumerView] {
        &self.consumers
    }

    /// Views of all partitions at the last sample.
    pub fn partitions(&self) -> &[PartitionView] {
        &self.partitions
    }

    fn look(&mut self, simulation: &Simulation) {
        self.producers.clear();
        let indices = (0..self.config.producers.len()).map(|index| ProducerIndex(index as u16));
        self.producers
            .extend(indices.map(|producer| simulation.producer(producer)));
        self.partitions = simulation.partition_views();
        let groups = 0..self.config.groups.len() as u16;
        self.groups.clear();
        self.groups
            .extend(groups.map(|index| simulation.group(GroupIndex(index))));
        let consumers = 0..self.config.consumers.len() as u16;
        self.consumers.clear();
        self.consumers
            .extend(consumers.map(|index| simulation.consumer(ConsumerIndex(index))));
    }

    fn check_up(&mut self, simulation: &Simulation) {
        self.evidence.note_groups(&self.groups);
        let checkup = Checkup {
            simulation,
            producers: &self.producers,
            partitions: &self.partitions,
            groups: &self.groups,
            ledger: &self.ledger,
            evidence: &self.evidence,
        };
        self.warnings.check(&checkup);
    }

    fn count_error(&mut self, fact: &Fact) {
        let (producer, exception, records) = match fact {
            Fact::RecordRefused {
                producer,
                exception,
                ..
            } => (*producer, exception, 1),
            Fact::BatchFailed {
                producer,
                exception,
                records,
                ..
            }
            | Fact::UnassignedFailed {
                producer,
                exception,
                records,
                ..
            } => (*producer, exception, u64::from(*records)),
            _ => return,
        };
        if let Some(errors) = self.errors.get_mut(producer.index()) {
            *errors.entry(exception.class).or_default() += records;
        }
    }
}
