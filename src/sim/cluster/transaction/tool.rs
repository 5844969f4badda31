//! `kafka-transactions.sh`: what it finds, and the marker that its `abort` writes.
//!
//! Source: `TransactionsCommand`, `UnifiedLog.activeProducers`,
//! `TransactionStateManager.listTransactionStates`.
//!
//! Simplifications: the tool reaches coordinators and leaders at once and through no link, and does
//! not wait for replicas; what a real one tries for a minute is refused at once. A replica that
//! does not lead knows what its leader knows. Moments are milliseconds since the run began.

use std::borrow::Cow;

use crate::kafka::error::ErrorCode;
use crate::kafka::hash::coordinator_partition;
use crate::kafka::transaction::{TransactionResult, TransactionVersion};
use crate::kafka::transactions_command::{
    AbortTransactionSpec, ActiveProducer, DescribedTransaction, HangingTransaction,
    ListedTransaction, TransactionsAnswer, failure, no_open_transaction, no_replica, undescribed,
    unknown_id,
};
use crate::sim::cluster::Cluster;
use crate::sim::cluster::transaction::TransactionalId;
use crate::sim::cluster::transaction::markers::ControlRecord;
use crate::sim::cluster::transaction::metadata::{Participant, TransactionMetadata};
use crate::sim::command::{
    AbortTransaction, HangingScope, TransactionToAbort, TransactionsInquiry,
};
use crate::sim::config::Config;
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicPartition};
use crate::sim::partition::ProducerState;
use crate::sim::time::SimTime;
use crate::sim::transactions::producer_states::ProducerStates;

const NO_LEADER: &str = "the partition has no leader that answers";
const NO_COORDINATOR: &str = "its coordinator does not answer";
const MILLIS_PER_MINUTE: u64 = 60_000;

impl Cluster {
    /// What the tool shows now, or why it fails.
    pub fn transactions_answer(
        &self,
        inquiry: &TransactionsInquiry,
        (config, now): (&Config, SimTime),
    ) -> Result<TransactionsAnswer, String> {
        match inquiry {
            &TransactionsInquiry::List { longer_than_ms } => {
                let listed = self.list_transactions(longer_than_ms, (config, now));
                Ok(TransactionsAnswer::Listed(listed))
            }
            TransactionsInquiry::Describe(id) => self
                .describe_transaction(id, (config, now))
                .map(|described| TransactionsAnswer::Described(Box::new(described))),
            &TransactionsInquiry::DescribeProducers { partition, broker } => self
                .describe_producers(partition, broker, config)
                .map(TransactionsAnswer::Producers),
            &TransactionsInquiry::FindHanging {
                scope,
                max_transaction_timeout_minutes,
            } => {
                let age_ms = u64::from(max_transaction_timeout_minutes) * MILLIS_PER_MINUTE;
                let hanging = self.find_hanging(scope, age_ms, (config, now));
                Ok(TransactionsAnswer::Hanging(hanging))
            }
        }
    }

    /// Ids that their coordinators have loaded and tell of, broker by broker.
    fn list_transactions(
        &self,
        longer_than_ms: Option<u64>,
        (config, now): (&Config, SimTime),
    ) -> Vec<ListedTransaction> {
        // What never began counts as begun 1 ms before the epoch, and is longer than any filter.
        let is_long = |metadata: &TransactionMetadata| {
            longer_than_ms.is_none_or(|filter| {
                let began = metadata.started;
                began.is_none_or(|began| now.since(began).as_millis() > filter)
            })
        };
        let places = self.transactions.by_name.values();
        let known =
            places.filter_map(|&place| self.loaded_at_coordinator(self.transactions.id(place)));
        let mut listed: Vec<_> = known
            .filter(|(_, _, metadata)| is_long(metadata))
            .map(|(id, coordinator, metadata)| ListedTransaction {
                transactional_id: id.name.to_string(),
                coordinator: broker_id(config, coordinator),
                producer_id: metadata.producer_id,
                state: metadata.state,
            })
            .collect();
        listed.sort_by_key(|listed| listed.coordinator);
        listed
    }

    /// An id with its coordinator, if that answers and has it loaded.
    fn loaded_at_coordinator<'a>(
        &self,
        id: &'a TransactionalId,
    ) -> Option<(&'a TransactionalId, BrokerIndex, &'a TransactionMetadata)> {
        let coordinator = self.answering_leader(id.partition)?;
        let loaded = id.loaded.as_ref()?;
        Some((id, coordinator, &loaded.metadata))
    }

    /// The leader of a partition, if its process answers.
    pub(super) fn answering_leader(&self, index: PartitionIndex) -> Option<BrokerIndex> {
        let (leader, _) = self.partitions[index.index()].serving?;
        self.brokers[leader.index()].is_serving().then_some(leader)
    }

    fn describe_transaction(
        &self,
        transactional_id: &str,
        (config, now): (&Config, SimTime),
    ) -> Result<DescribedTransaction, String> {
        let home = self.transactions.partition_of(transactional_id);
        let home = home.ok_or_else(|| unknown_id(transactional_id))?;
        if self.answering_leader(home).is_none() {
            return Err(undescribed(transactional_id, NO_COORDINATOR));
        }
        let place = self.transactions.place_of(transactional_id);
        let place = place.ok_or_else(|| unknown_id(transactional_id))?;
        let known = self.loaded_at_coordinator(self.transactions.id(place));
        let (_, coordinator, metadata) = known.ok_or_else(|| unknown_id(transactional_id))?;
        let millis = |began: SimTime| (began.as_millis(), now.since(began).as_millis());
        let left = self.transactions.participants_left(place);
        let partitions = metadata
            .participants
            .iter()
            .filter(|participant| left.as_ref().is_none_or(|left| left.contains(participant)))
            .map(|&participant| self.participant_name(config, participant));
        Ok(DescribedTransaction {
            coordinator: broker_id(config, coordinator),
            transactional_id: transactional_id.to_owned(),
            producer: metadata.producer(),
            state: metadata.state,
            timeout_ms: metadata.timeout_ms,
            started_ms: metadata.started.map(millis),
            partitions: partitions.collect(),
        })
    }

    fn participant_name(&self, config: &Config, participant: Participant) -> String {
        match participant {
            Participant::Partition(index) => partition_name(config, index.name()),
            Participant::Offsets(group) => {
                let settings = self.brokers.first().map(|broker| broker.settings.groups);
                let count = settings.map_or(1, |groups| groups.offsets_num_partitions);
                let group = &config.groups[group.index()].name;
                format!("__consumer_offsets-{}", coordinator_partition(group, count))
            }
        }
    }

    fn describe_producers(
        &self,
        partition: TopicPartition,
        broker: Option<BrokerIndex>,
        config: &Config,
    ) -> Result<Vec<ActiveProducer>, String> {
        let name = partition_name(config, partition);
        let whom = broker.map_or_else(
            || "leader".to_owned(),
            |broker| format!("broker {}", broker_id(config, broker)),
        );
        let failed = |why: &str| {
            let what = format!("Failed to describe producers for partition {name} on {whom}");
            failure(&what, why)
        };
        let index = self.find(partition);
        let index = index.ok_or_else(|| failed("there is no such partition yet"))?;
        match broker {
            Some(broker) if !self.has_replica(index, broker) => {
                Err(no_replica(&name, broker_id(config, broker)))
            }
            Some(broker) if !self.brokers[broker.index()].is_serving() => {
                Err(failed("the broker does not answer"))
            }
            None if self.answering_leader(index).is_none() => Err(failed(NO_LEADER)),
            _ => Ok(self.partitions[index.index()].active_producers()),
        }
    }

    fn has_replica(&self, index: PartitionIndex, broker: BrokerIndex) -> bool {
        let replicas = &self.partitions[index.index()].replicas;
        replicas.iter().any(|replica| replica.broker == broker)
    }

    /// Open transactions whose last record is older than that, and whose coordinator does not list
    /// the partition.
    fn find_hanging(
        &self,
        scope: HangingScope,
        age_ms: u64,
        (config, now): (&Config, SimTime),
    ) -> Vec<HangingTransaction> {
        let is_searched = |index: &PartitionIndex| match scope {
            HangingScope::Broker(broker) => self.has_replica(*index, broker),
            HangingScope::Topic(topic, broker) => {
                index.name().topic == topic
                    && broker.is_none_or(|broker| self.has_replica(*index, broker))
            }
            HangingScope::Partition(partition) => index.name() == partition,
        };
        let mut hanging = Vec::new();
        for index in self.indices().filter(is_searched) {
            if self.answering_leader(index).is_none() {
                continue;
            }
            for producer in self.partitions[index.index()].active_producers() {
                let last = producer.last_timestamp_ms;
                let old_ms = now.as_millis().saturating_sub(last);
                let is_candidate = producer.start_offset.is_some() && old_ms > age_ms;
                if is_candidate && !self.is_listed(producer.producer.0, index) {
                    hanging.push(HangingTransaction {
                        topic: config.topics[index.name().topic.index()].name.clone(),
                        partition: index.name().number,
                        producer,
                        minutes: old_ms / MILLIS_PER_MINUTE,
                    });
                }
            }
        }
        hanging
    }

    /// Transactions that are open in a partition, and that no coordinator knows of. While a
    /// coordinator is away nobody can say, and there are none.
    pub fn hanging_transactions(&self) -> usize {
        let ids = &self.transactions.ids;
        let is_away = |id: &TransactionalId| self.answering_leader(id.partition).is_none();
        if ids.iter().any(is_away) {
            return 0;
        }
        let open_here = |index: PartitionIndex| {
            let states = self.partitions[index.index()].transactions().into_iter();
            let open = states.flat_map(ProducerStates::open);
            open.filter(move |((id, _), _)| !self.is_listed(*id, index))
                .count()
        };
        self.indices().map(open_here).sum()
    }

    /// Whether a coordinator knows that the partition takes part in a transaction of the producer.
    fn is_listed(&self, producer_id: i64, index: PartitionIndex) -> bool {
        let mut ids = self.transactions.ids.iter();
        ids.any(|id| {
            self.loaded_at_coordinator(id)
                .is_some_and(|(_, _, metadata)| {
                    let participant = Participant::Partition(index);
                    metadata.producer_id == producer_id
                        && metadata.participants.contains(&participant)
                })
        })
    }

    /// Whether `abort` would write its marker, and which one.
    pub fn check_abort(
        &self,
        abort: &AbortTransaction,
        config: &Config,
    ) -> Result<(), Cow<'static, str>> {
        let (at, control) = self.marker_to_abort(abort, config)?;
        let spec = spec_of(abort.partition, &control, config);
        let index = self.find(abort.partition).ok_or(NO_LEADER)?;
        let checked = self.check_control_record((at, index), &control);
        checked.map_err(|error| spec.refused(error).into())
    }

    /// Writes an ABORT into one partition.
    pub fn abort_transaction(
        &mut self,
        ctx: &mut Context<'_>,
        abort: &AbortTransaction,
    ) -> Result<(), Cow<'static, str>> {
        self.check_abort(abort, ctx.config)?;
        let (at, control) = self.marker_to_abort(abort, ctx.config)?;
        let index = self.find(abort.partition).ok_or(NO_LEADER)?;
        self.write_control_record(ctx, (at, index), &control);
        self.serve_fetchers_of(ctx, at);
        self.check_purgatory(ctx, index);
        Ok(())
    }

    fn marker_to_abort(
        &self,
        abort: &AbortTransaction,
        config: &Config,
    ) -> Result<(BrokerIndex, ControlRecord), Cow<'static, str>> {
        let name = partition_name(config, abort.partition);
        let what = || format!("Failed to validate producer state for partition {name}");
        let index = self.find(abort.partition);
        let led = index.and_then(|index| Some((index, self.answering_leader(index)?)));
        let (index, at) = led.ok_or_else(|| failure(&what(), NO_LEADER))?;
        let (producer, coordinator_epoch) = match abort.which {
            TransactionToAbort::Producer(producer, epoch) => (producer, epoch),
            TransactionToAbort::StartOffset(offset) => {
                let producers = self.partitions[index.index()].active_producers();
                let mut open = producers.iter();
                let found = open.find(|producer| producer.start_offset == Some(offset));
                let found = found.ok_or_else(|| no_open_transaction(offset, &name))?;
                (found.producer, found.coordinator_epoch.unwrap_or(0))
            }
        };
        // The request of the tool does not say under which version the transaction ran.
        let control = ControlRecord {
            producer,
            result: TransactionResult::Abort,
            coordinator_epoch,
            version: TransactionVersion::One,
        };
        Ok((at, control))
    }

    /// Whether a leader may write a control record.
    pub(super) fn check_control_record(
        &self,
        (at, index): (BrokerIndex, PartitionIndex),
        control: &ControlRecord,
    ) -> Result<(), ErrorCode> {
        let partition = &self.partitions[index.index()];
        if !partition.is_led_by(at) {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        if self.brokers[at.index()].is_full() {
            return Err(ErrorCode::KafkaStorageError);
        }
        if partition.isr.len() < partition.effective_min_isr() {
            return Err(ErrorCode::NotEnoughReplicas);
        }
        let states = partition.transactions();
        states.map_or(Ok(()), |states| {
            let (producer, epoch) = (control.producer, control.coordinator_epoch);
            states.check_marker(producer, epoch, control.version)
        })
    }
}

impl crate::sim::partition::Partition {
    /// What its leader knows of producers, by their ids (`UnifiedLog.activeProducers`).
    pub fn active_producers(&self) -> Vec<ActiveProducer> {
        let plain = self.plain_producers().map(ProducerState::active);
        let states = self.transactions().into_iter();
        let transactional = states.flat_map(ProducerStates::active);
        let mut active: Vec<_> = plain.chain(transactional).collect();
        active.sort_by_key(|active| active.producer.0);
        active
    }
}

fn spec_of(
    partition: TopicPartition,
    control: &ControlRecord,
    config: &Config,
) -> AbortTransactionSpec {
    AbortTransactionSpec {
        partition: partition_name(config, partition),
        producer: control.producer,
        coordinator_epoch: control.coordinator_epoch,
    }
}

fn broker_id(config: &Config, broker: BrokerIndex) -> u32 {
    config.brokers[broker.index()].id
}

fn partition_name(config: &Config, partition: TopicPartition) -> String {
    let topic = &config.topics[partition.topic.index()].name;
    format!("{topic}-{}", partition.number)
}
