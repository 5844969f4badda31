//! Transaction coordinators: who owns a transactional id, which transaction is open, and how it
//! ends in every partition.
//!
//! An id belongs to a partition of `__transaction_state`, and its coordinator is that partition's
//! leader. `metadata` has the state machine as pure functions, `state_log` writes its steps,
//! `requests` answers producers, `verification` is what leaders of partitions ask the coordinator,
//! `markers` carries decisions out, `timeouts` gives up transactions that take too long, `offsets`
//! is the group coordinator's part, `peers` what brokers say to each other, `tool` what
//! `kafka-transactions.sh` finds and does, and `terminate` how it takes an id from its owner.
//!
//! Source: `TransactionCoordinator`, `TransactionStateManager`, `TransactionMarkerChannelManager`,
//! `AddPartitionsToTxnManager`.
//!
//! Simplifications: `__transaction_state` exists from the start of a run that has a transactional
//! producer, its replicas are spread in a ring, and a new coordinator has it loaded at once;
//! writes of coordinators cost no time at the disk.

mod markers;
mod metadata;
mod offsets;
mod peers;
mod requests;
mod state_log;
mod terminate;
mod timeouts;
mod tool;
mod verification;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::kafka::hash::coordinator_partition;
use crate::kafka::settings::TopicSettings;
use crate::kafka::transaction::TransactionState;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::markers::{Completion, MarkerQueue, MarkerWait};
use crate::sim::cluster::transaction::state_log::StateAppend;
use crate::sim::cluster::transaction::verification::Verification;
use crate::sim::config::{Config, HistoryDetail};
use crate::sim::context::Context;
use crate::sim::event::Event;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::partition::Partition;
use crate::sim::time::SimTime;
use crate::sim::view::{EndedBy, TransactionStep, TransactionView};

use metadata::{Participant, TransactionMetadata};
pub use peers::PeerCallId;
use peers::Peers;
pub(super) use timeouts::{schedule_scan, schedule_scans};

/// All coordinators of a cluster, with what they have under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Transactions {
    /// The partitions of `__transaction_state` by number; none where there is no such topic.
    log: Vec<PartitionIndex>,
    ids: Vec<TransactionalId>,
    by_name: BTreeMap<Arc<str>, IdPlace>,
    /// Records of `__transaction_state` that wait for their replicas.
    appends: Vec<StateAppend>,
    appended: u32,
    /// Transactions whose markers are under way.
    completions: Vec<Completion>,
    queues: BTreeMap<(BrokerIndex, BrokerIndex), MarkerQueue>,
    /// Markers that wait for their replicas.
    marker_waits: Vec<MarkerWait>,
    /// Produce requests that wait for a coordinator's word.
    verifications: Vec<Verification>,
    peers: Peers,
}

/// Records of an id that are remembered for those who look.
const STEPS_KEPT: usize = 8;

/// A transactional id by its place among all that coordinators know.
pub(super) type IdPlace = u32;

/// One transactional id.
#[derive(Clone, Debug)]
struct TransactionalId {
    name: Arc<str>,
    /// Its partition of `__transaction_state`.
    partition: PartitionIndex,
    /// As its coordinator has it in memory.
    loaded: Option<Loaded>,
    /// As it stands in the log, each record with its offset: the last ones that are replicated, and
    /// those after them.
    written: Vec<(u64, TransactionMetadata)>,
    /// The last of them that were replicated, for those who look.
    steps: VecDeque<TransactionStep>,
}

/// An id in its coordinator's memory.
#[derive(Clone, Debug)]
struct Loaded {
    metadata: TransactionMetadata,
    /// The transition that is being written, or that waits for markers.
    pending: Option<TransactionState>,
}

/// Whether a cluster needs `__transaction_state`, and can have it.
pub(super) fn has_state_log(config: &Config) -> bool {
    let Some(first) = config.brokers.first() else {
        return false;
    };
    let factor = usize::from(first.settings.transactions.state_log_replication_factor);
    config.is_transactional() && factor >= 1 && factor <= config.brokers.len()
}

/// The partitions of `__transaction_state`, behind all others.
pub(super) fn lay_out_state_log(config: &Config) -> Vec<Partition> {
    let Some(first) = config.brokers.first() else {
        return Vec::new();
    };
    if !has_state_log(config) {
        return Vec::new();
    }
    let settings = &first.settings.transactions;
    let brokers = config.brokers.len() as u32;
    let topic = TopicIndex(config.topics.len() as u16);
    let of_topic = TopicSettings {
        min_insync_replicas: settings.state_log_min_isr,
        unclean_leader_election: false,
        // It is compacted: what counts is kept.
        retention_ms: None,
        retention_bytes: None,
        ..TopicSettings::clone(&first.settings.topic_defaults)
    };
    let partition = |number: u32| {
        let replicas: Vec<_> = (0..u32::from(settings.state_log_replication_factor))
            .map(|place| BrokerIndex(((number + place) % brokers) as u16))
            .collect();
        let place = (topic, number);
        Partition::new(place, &of_topic, &replicas, 0, HistoryDetail::Sums)
    };
    (0..settings.state_log_num_partitions)
        .map(partition)
        .collect()
}

impl Transactions {
    /// Coordinators of a cluster whose first so many partitions are those of topics.
    pub(super) fn new(config: &Config, first: usize, count: usize) -> Self {
        let topic = TopicIndex(config.topics.len() as u16);
        let index = |number: u32| {
            PartitionIndex::new(first as u32 + number, TopicPartition { topic, number })
        };
        Self {
            log: (0..count as u32).map(index).collect(),
            ..Self::default()
        }
    }

    /// The partitions of `__transaction_state`, by number.
    pub(super) fn state_log(&self) -> &[PartitionIndex] {
        &self.log
    }

    /// Whether a partition is one of `__transaction_state` that no id lives in.
    pub(super) fn is_unused(&self, index: PartitionIndex) -> bool {
        self.log.contains(&index) && !self.ids.iter().any(|id| id.partition == index)
    }

    /// The partition of `__transaction_state` that an id belongs to.
    fn partition_of(&self, transactional_id: &str) -> Option<PartitionIndex> {
        let number = coordinator_partition(transactional_id, self.log.len() as u32);
        self.log.get(number as usize).copied()
    }

    fn place_of(&self, transactional_id: &str) -> Option<IdPlace> {
        self.by_name.get(transactional_id).copied()
    }

    fn id(&self, place: IdPlace) -> &TransactionalId {
        &self.ids[place as usize]
    }

    fn id_mut(&mut self, place: IdPlace) -> &mut TransactionalId {
        &mut self.ids[place as usize]
    }

    /// The place of an id, which is made if it is new.
    fn enter(&mut self, name: &Arc<str>, partition: PartitionIndex) -> IdPlace {
        if let Some(place) = self.place_of(name) {
            return place;
        }
        let place = self.ids.len() as IdPlace;
        self.ids.push(TransactionalId {
            name: Arc::clone(name),
            partition,
            loaded: None,
            written: Vec::new(),
            steps: VecDeque::new(),
        });
        self.by_name.insert(Arc::clone(name), place);
        place
    }

    /// An id's record is replicated.
    fn note_step(&mut self, place: IdPlace, at: SimTime, ended_by: Option<EndedBy>) {
        let id = self.id_mut(place);
        let Some(loaded) = &id.loaded else { return };
        if id.steps.len() == STEPS_KEPT {
            id.steps.pop_front();
        }
        id.steps.push_back(TransactionStep {
            at,
            state: loaded.metadata.state,
            producer: loaded.metadata.producer(),
            ended_by,
        });
    }

    /// Whether anything waits for replicas.
    pub(super) fn waits_for_replicas(&self) -> bool {
        !self.appends.is_empty() || !self.marker_waits.is_empty()
    }
}

impl Cluster {
    /// Between which two brokers a call is.
    pub fn peer_ends(&self, id: PeerCallId) -> Option<(BrokerIndex, BrokerIndex)> {
        let call = self.transactions.peers.get(id)?;
        Some((call.from, call.to))
    }

    /// The high watermark of a partition moved, or its leader is gone: what brokers wrote there by
    /// themselves may be done.
    pub(super) fn look_at_own_appends(&mut self, ctx: &mut Context<'_>, index: PartitionIndex) {
        self.look_at_state_appends(ctx, index);
        self.look_at_marker_waits(ctx, index);
    }

    /// A timer of coordinators, or of those who talk to them, ran out.
    pub(super) fn on_transaction_timer(&mut self, ctx: &mut Context<'_>, event: Event) {
        match event {
            Event::Loopback(message) => self.on_loopback(ctx, message),
            Event::PeerCallExpired(call) => self.on_peer_call_expired(ctx, call),
            Event::StateAppendExpired(append) => self.on_state_append_expired(ctx, append),
            Event::TransactionCompletion(place) => self.go_on_completing(ctx, place),
            Event::TransactionScan {
                broker,
                incarnation,
            } => self.on_transaction_scan(ctx, (broker, incarnation)),
            Event::VerifyAgain(request) => self.on_verify_again(ctx, request),
            Event::TransactionTermination { place, tries } => {
                self.on_termination(ctx, place, tries);
            }
            _ => {}
        }
    }

    /// Who leads the partition of `__transaction_state` that an id belongs to, if anybody does.
    pub fn transaction_leader(&self, transactional_id: &str) -> Option<BrokerIndex> {
        let partition = self.transactions.partition_of(transactional_id)?;
        let (leader, _) = self.partitions[partition.index()].serving?;
        Some(leader)
    }

    /// Every transactional id that coordinators know, in the order of their names.
    pub fn transaction_views(&self) -> Vec<TransactionView> {
        let places = self.transactions.by_name.values();
        let views = places.filter_map(|&place| {
            let id = self.transactions.id(place);
            let metadata = &id.loaded.as_ref()?.metadata;
            let partition = &self.partitions[id.partition.index()];
            Some(TransactionView {
                transactional_id: Arc::clone(&id.name),
                coordinator: partition.serving.map(|(leader, _)| leader),
                state: metadata.state,
                producer: metadata.producer(),
                partitions: metadata
                    .participants
                    .iter()
                    .filter_map(|participant| match participant {
                        Participant::Partition(index) => Some(*index),
                        Participant::Offsets(_) => None,
                    })
                    .collect(),
                started: metadata.started,
                updated: metadata.updated,
                timeout_ms: metadata.timeout_ms,
                steps: id.steps.iter().copied().collect(),
            })
        });
        views.collect()
    }
}
