//! What happens in a run while it happens: high watermarks, in-sync replicas, epochs, failures
//! that come together.
//!
//! A partition's promise ends (`is_void`) when every in-sync replica has lost unflushed records
//! since it was last known to have everything: that is more than one failure at a time. An unclean
//! election ends it too, and so does a leader that says without reason that it does not know a
//! producer: librdkafka takes the next success for a sign that what came before was written.

use std::collections::BTreeSet;

use super::Broken;
use super::check::Invariant;
use crate::insight::interval::IntervalSet;
use crate::kafka::error::ErrorCode;
use crate::sim::command::{BrokerFault, Command, ProducerFault};
use crate::sim::fact::{BrokerState, Fact, Flow, Limit, Stamped};
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex, ProducerIndex};
use crate::sim::{Output, Simulation};

/// What was seen of one partition.
#[derive(Clone, Debug)]
pub(super) struct PartitionWatch {
    isr: Vec<BrokerIndex>,
    /// In-sync replicas that lost records and were not seen to leave and come back.
    robbed: BTreeSet<BrokerIndex>,
    /// Whether acknowledged records may be lost.
    pub(super) is_void: bool,
    /// Whether records ever left the log.
    pub(super) is_truncated: bool,
    /// Where its log began.
    pub(super) start_offset: u64,
    /// The leader's epoch and its high watermark at the last look.
    seen: Option<(u32, u64)>,
    /// By group: the offsets that its applications were given.
    pub(super) given: Vec<IntervalSet>,
}

/// What was seen of one producer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProducerWatch {
    /// Times that its client bumped its epoch.
    pub(super) bumps: u64,
    /// Records that its application was told to have failed.
    pub(super) told_failed: u64,
    /// Batches that went back to be sent again.
    pub(super) retries: u64,
    /// Whether its process ended or its client was exchanged before its load was done.
    pub(super) is_restarted: bool,
}

/// What was seen of a run so far.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    groups: usize,
    partitions: Vec<PartitionWatch>,
    pub(super) producers: Vec<ProducerWatch>,
    pub(super) broken: Vec<Broken>,
}

impl Watch {
    /// A look at the world at time zero.
    pub(super) fn new(simulation: &Simulation) -> Self {
        let config = simulation.config();
        let mut watch = Self {
            groups: config.groups.len(),
            partitions: Vec::new(),
            producers: vec![ProducerWatch::default(); config.producers.len()],
            broken: Vec::new(),
        };
        watch.meet_partitions(simulation);
        watch
    }

    /// What was seen of a partition.
    pub(super) fn partition(&self, partition: PartitionIndex) -> &PartitionWatch {
        &self.partitions[partition.index()]
    }

    /// Takes what the engine said, in its order, and looks at the engine.
    pub(super) fn observe(&mut self, output: &Output, simulation: &Simulation) {
        self.meet_partitions(simulation);
        for stamped in &output.facts {
            self.hear(stamped, simulation);
        }
        for flow in &output.flows {
            if let Flow::Consumed(consumed) = flow {
                let watch = &mut self.partitions[consumed.partition.index()];
                let GroupIndex(group) = consumed.group;
                watch.given[group as usize].insert(consumed.from_offset, consumed.to_offset);
            }
        }
        self.look(simulation);
    }

    /// New partitions are known from here on, with all their replicas in sync.
    fn meet_partitions(&mut self, simulation: &Simulation) {
        if self.partitions.len() == simulation.partition_count() {
            return;
        }
        let mut indices: Vec<PartitionIndex> = simulation.partitions().collect();
        indices.sort_unstable();
        for index in indices.into_iter().skip(self.partitions.len()) {
            let view = simulation.partition(index);
            self.partitions.push(PartitionWatch {
                isr: view.replicas,
                robbed: BTreeSet::new(),
                is_void: false,
                is_truncated: false,
                start_offset: view.log_start_offset,
                seen: None,
                given: vec![IntervalSet::default(); self.groups],
            });
        }
    }

    fn hear(&mut self, stamped: &Stamped, simulation: &Simulation) {
        match &stamped.fact {
            Fact::CommandApplied(command) => self.command(command, simulation),
            Fact::IsrChanged { partition, isr } => {
                let watch = &mut self.partitions[partition.index()];
                watch.robbed.retain(|broker| isr.contains(broker));
                watch.isr.clone_from(isr);
                // Only those that lost records are left in sync.
                watch.look_for_an_end();
            }
            Fact::LeaderChanged {
                partition,
                unclean: true,
                ..
            } => self.partitions[partition.index()].is_void = true,
            Fact::RecordsTruncated { partition, .. } => {
                self.partitions[partition.index()].is_truncated = true;
            }
            Fact::ProducerIdAssigned {
                producer, epoch, ..
            } => self.of(*producer).bumps += u64::from(*epoch > 0),
            Fact::BatchRetried { producer, .. } => self.of(*producer).retries += 1,
            Fact::BatchFailed {
                producer, records, ..
            }
            | Fact::UnassignedFailed {
                producer, records, ..
            } => self.of(*producer).told_failed += u64::from(*records),
            Fact::ApplicationExited { producer, .. } => self.of(*producer).is_restarted = true,
            Fact::LimitReached {
                limit: Limit::EventsAtOneMoment,
            } => self.broken.push(Broken {
                invariant: Invariant::TimePasses,
                text: format!("at {} time stood still", stamped.at),
            }),
            _ => {}
        }
    }

    fn command(&mut self, command: &Command, simulation: &Simulation) {
        match command {
            Command::Broker(broker, BrokerFault::Kill { lose_tail_records }) => {
                for watch in &mut self.partitions {
                    if *lose_tail_records > 0 && watch.isr.contains(broker) {
                        watch.robbed.insert(*broker);
                        watch.look_for_an_end();
                    }
                }
            }
            Command::Inject {
                error: ErrorCode::UnknownProducerId,
                partition,
                ..
            } => {
                if let Some(index) = simulation.find_partition(*partition) {
                    self.partitions[index.index()].is_void = true;
                }
            }
            Command::Producer(producer, ProducerFault::Crash | ProducerFault::Restart)
            | Command::SetClient { producer, .. } => self.of(*producer).is_restarted = true,
            _ => {}
        }
    }

    fn look(&mut self, simulation: &Simulation) {
        for view in simulation.partition_views() {
            let watch = &mut self.partitions[view.index.index()];
            let Some((leader, epoch)) = view.office else {
                watch.seen = None;
                continue;
            };
            if simulation.broker(leader).state != BrokerState::Running {
                // A dead leader's high watermark is nobody's.
                watch.seen = None;
                continue;
            }
            let now = (epoch, view.high_watermark);
            let name = || simulation.partition_name(view.index);
            if let Some((epoch, before)) = watch.seen
                && epoch == now.0
                && now.1 < before
            {
                self.broken.push(Broken {
                    invariant: Invariant::HighWatermarkMonotone,
                    text: format!(
                        "{}: in leader epoch {epoch} the high watermark went from {before} back \
                         to {} (seen at {})",
                        name(),
                        now.1,
                        simulation.now(),
                    ),
                });
            }
            if view.log_end_offset < view.high_watermark {
                self.broken.push(Broken {
                    invariant: Invariant::HighWatermarkMonotone,
                    text: format!(
                        "{}: the high watermark {} is beyond the log's end {} (seen at {})",
                        name(),
                        view.high_watermark,
                        view.log_end_offset,
                        simulation.now(),
                    ),
                });
            }
            watch.seen = Some(now);
        }
    }

    fn of(&mut self, producer: ProducerIndex) -> &mut ProducerWatch {
        &mut self.producers[producer.index()]
    }
}

impl PartitionWatch {
    fn look_for_an_end(&mut self) {
        let mut intact = self.isr.iter();
        self.is_void |= intact.all(|broker| self.robbed.contains(broker)) && !self.isr.is_empty();
    }
}
