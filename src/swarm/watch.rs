//! What happens in a run while it happens: high watermarks, last stable offsets, in-sync replicas,
//! epochs, failures that come together.
//!
//! A partition's promise ends (`is_void`) when every in-sync replica has lost unflushed records
//! since it was last known to have everything: that is more than one failure at a time. An unclean
//! election ends it too, and so does a leader that says without reason that it does not know a
//! producer: librdkafka takes the next success for a sign that what came before was written.

use std::collections::{BTreeMap, BTreeSet};

use super::Broken;
use super::check::Invariant;
use super::transactions::TransactionWatch;
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
    /// Times that its leader was told to refuse batches.
    pub(super) refusals: u32,
    /// Whether records ever left the log.
    pub(super) is_truncated: bool,
    /// Where its log began.
    pub(super) start_offset: u64,
    /// What its leader said at the last look.
    seen: Option<Marks>,
    /// By group: the offsets that its applications were given.
    pub(super) given: Vec<IntervalSet>,
}

/// What a leader said of its log.
#[derive(Clone, Copy, Debug)]
struct Marks {
    epoch: u32,
    high_watermark: u64,
    last_stable_offset: u64,
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
    /// Those of topics; those of `__transaction_state` keep no promise of their own.
    partitions: BTreeMap<PartitionIndex, PartitionWatch>,
    pub(super) producers: Vec<ProducerWatch>,
    pub(super) transactions: TransactionWatch,
    /// Whether `__transaction_state` ever lost records: what coordinators decided may be forgotten.
    pub(super) is_state_lost: bool,
    pub(super) broken: Vec<Broken>,
}

impl Watch {
    /// A look at the world at time zero.
    pub(super) fn new(simulation: &Simulation) -> Self {
        let config = simulation.config();
        let mut watch = Self {
            groups: config.groups.len(),
            partitions: BTreeMap::new(),
            producers: vec![ProducerWatch::default(); config.producers.len()],
            transactions: TransactionWatch::default(),
            is_state_lost: false,
            broken: Vec::new(),
        };
        watch.meet_partitions(simulation);
        watch
    }

    /// What was seen of a partition.
    pub(super) fn partition(&self, partition: PartitionIndex) -> &PartitionWatch {
        &self.partitions[&partition]
    }

    /// Takes what the engine said, in its order, and looks at the engine.
    pub(super) fn observe(&mut self, output: &Output, simulation: &Simulation) {
        self.meet_partitions(simulation);
        for stamped in &output.facts {
            self.hear(stamped, simulation);
            self.transactions.hear(stamped);
        }
        for flow in &output.flows {
            match flow {
                Flow::Consumed(consumed) => {
                    let GroupIndex(group) = consumed.group;
                    if let Some(watch) = self.partitions.get_mut(&consumed.partition) {
                        let given = &mut watch.given[group as usize];
                        given.insert(consumed.from_offset, consumed.to_offset);
                    }
                    self.transactions.note_given(consumed, simulation);
                }
                Flow::Acknowledged(acknowledged) => {
                    let config = simulation.config();
                    self.transactions.note_acknowledged(acknowledged, config);
                }
                _ => {}
            }
        }
        self.look(simulation);
    }

    /// New partitions are known from here on, with all their replicas in sync.
    fn meet_partitions(&mut self, simulation: &Simulation) {
        if self.partitions.len() == simulation.partition_count() {
            return;
        }
        for index in simulation.partitions() {
            if self.partitions.contains_key(&index) {
                continue;
            }
            let view = simulation.partition(index);
            let watch = PartitionWatch {
                isr: view.replicas,
                robbed: BTreeSet::new(),
                is_void: false,
                refusals: 0,
                is_truncated: false,
                start_offset: view.log_start_offset,
                seen: None,
                given: vec![IntervalSet::default(); self.groups],
            };
            self.partitions.insert(index, watch);
        }
    }

    fn hear(&mut self, stamped: &Stamped, simulation: &Simulation) {
        match &stamped.fact {
            Fact::CommandApplied(command) => self.command(command, simulation),
            Fact::IsrChanged { partition, isr } => {
                if let Some(watch) = self.partitions.get_mut(partition) {
                    watch.robbed.retain(|broker| isr.contains(broker));
                    watch.isr.clone_from(isr);
                    // Only those that lost records are left in sync.
                    watch.look_for_an_end();
                }
            }
            Fact::LeaderChanged {
                partition,
                unclean: true,
                ..
            } => self.void(*partition),
            Fact::RecordsTruncated { partition, .. } => match self.partitions.get_mut(partition) {
                Some(watch) => watch.is_truncated = true,
                None => self.is_state_lost = true,
            },
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
                self.rob(*broker, *lose_tail_records);
            }
            Command::KillCoordinator(kill) => {
                if let Some(broker) = kill.found {
                    self.rob(broker, kill.lose_tail_records);
                }
            }
            Command::Inject {
                error, partition, ..
            } => {
                let index = simulation.find_partition(*partition);
                if let (ErrorCode::UnknownProducerId, Some(index)) = (*error, index) {
                    self.void(index);
                }
                if let Some(watch) = index.and_then(|index| self.partitions.get_mut(&index)) {
                    watch.refusals += 1;
                }
            }
            Command::Producer(producer, ProducerFault::Crash | ProducerFault::Restart)
            | Command::SetClient { producer, .. } => self.of(*producer).is_restarted = true,
            _ => {}
        }
    }

    /// A broker dies, and with it so many records at the end of its logs.
    fn rob(&mut self, broker: BrokerIndex, lose_tail_records: u64) {
        for watch in self.partitions.values_mut() {
            if lose_tail_records > 0 && watch.isr.contains(&broker) {
                watch.robbed.insert(broker);
                watch.look_for_an_end();
            }
        }
    }

    fn look(&mut self, simulation: &Simulation) {
        for view in simulation.partition_views() {
            let Some(watch) = self.partitions.get_mut(&view.index) else {
                continue;
            };
            let Some((leader, epoch)) = view.office else {
                watch.seen = None;
                continue;
            };
            if simulation.broker(leader).state != BrokerState::Running {
                // A dead leader's high watermark is nobody's.
                watch.seen = None;
                continue;
            }
            let now = Marks {
                epoch,
                high_watermark: view.high_watermark,
                last_stable_offset: view.last_stable_offset,
            };
            let before = watch.seen.replace(now).filter(|seen| seen.epoch == epoch);
            let wrong = now.wrong(before, view.log_end_offset);
            self.broken.extend(wrong.map(|(invariant, what)| Broken {
                invariant,
                text: format!(
                    "{}: in leader epoch {epoch} {what} (seen at {})",
                    simulation.partition_name(view.index),
                    simulation.now()
                ),
            }));
        }
    }

    fn void(&mut self, partition: PartitionIndex) {
        if let Some(watch) = self.partitions.get_mut(&partition) {
            watch.is_void = true;
        }
    }

    fn of(&mut self, producer: ProducerIndex) -> &mut ProducerWatch {
        &mut self.producers[producer.index()]
    }
}

impl Marks {
    /// What cannot be, beside what its leader said before in the same epoch.
    fn wrong(self, before: Option<Self>, log_end_offset: u64) -> Option<(Invariant, String)> {
        let before = before.unwrap_or(self);
        let (mark, stable) = (self.high_watermark, self.last_stable_offset);
        let back =
            |what: &str, from: u64, to: u64| format!("the {what} went from {from} back to {to}");
        let beyond = |what: &str, at: u64, end: &str, end_at: u64| {
            format!("the {what} {at} is beyond the {end} {end_at}")
        };
        if mark < before.high_watermark {
            let text = back("high watermark", before.high_watermark, mark);
            Some((Invariant::HighWatermarkMonotone, text))
        } else if log_end_offset < mark {
            let text = beyond("high watermark", mark, "log's end", log_end_offset);
            Some((Invariant::HighWatermarkMonotone, text))
        } else if stable < before.last_stable_offset {
            let text = back("last stable offset", before.last_stable_offset, stable);
            Some((Invariant::LastStableOffsetMonotone, text))
        } else if mark < stable {
            let text = beyond("last stable offset", stable, "high watermark", mark);
            Some((Invariant::LastStableOffsetMonotone, text))
        } else {
            None
        }
    }
}

impl PartitionWatch {
    fn look_for_an_end(&mut self) {
        let mut intact = self.isr.iter();
        self.is_void |= intact.all(|broker| self.robbed.contains(broker)) && !self.isr.is_empty();
    }
}
