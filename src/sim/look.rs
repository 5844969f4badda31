//! Views of the whole engine: the read-only half of [`Simulation`].

use std::borrow::Cow;

use crate::kafka::metric_name::{
    ConsumerMetric, ProducerMetric, ProducerNodeMetric, ProducerTopicMetric,
};
use crate::kafka::quota::Quota;
use crate::kafka::settings::TopicSettings;
use crate::kafka::transaction::TRANSACTION_STATE_TOPIC;
use crate::kafka::transactions_command::TransactionsAnswer;
use crate::sim::command::{
    AbortTransaction, ElectionType, GroupScope, ResetOffsets, TransactionsInquiry,
};
use crate::sim::config::LoadConfig;
use crate::sim::fact::Node;
use crate::sim::history::LogBatch;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex,
    TopicPartition,
};
use crate::sim::key_places::KeyHistory;
use crate::sim::producer::Producer;
use crate::sim::read_order::GroupReads;
use crate::sim::records::{KeyId, Noted};
use crate::sim::simulation::Simulation;
use crate::sim::time::SimTime;
use crate::sim::transactions::lane::Run;
use crate::sim::transactions::producer_states::Fate;
use crate::sim::view::{
    BrokerView, ConsumerView, ElectionOutcome, GroupMemberView, GroupView, KeyCount, PartitionView,
    ProducerTotals, ProducerView, RdkafkaFigure, TransactionView, TransactionalClientView,
    TransactionalEntry,
};
use crate::sim::workload::KeyTally;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Simulation {
    /// A producer.
    pub fn producer(&self, producer: ProducerIndex) -> ProducerView {
        self.producers[producer.index()].view(&self.network, self.now)
    }

    /// A producer's counts, which are cheaper than all of it.
    pub fn producer_totals(&self, producer: ProducerIndex) -> ProducerTotals {
        self.producers[producer.index()].totals(self.now)
    }

    /// A consumer.
    pub fn consumer(&self, consumer: ConsumerIndex) -> ConsumerView {
        self.consumers[consumer.index()].view(self.now)
    }

    /// A metric of a consumer's client as it would report it now.
    pub fn consumer_metric(&self, consumer: ConsumerIndex, metric: ConsumerMetric) -> Option<f64> {
        self.consumers[consumer.index()].metric(metric, self.now)
    }

    /// A consumer group.
    pub fn group(&self, index: GroupIndex) -> GroupView {
        self.cluster
            .group_view(&self.config, index, &self.consumers)
    }

    /// The members of a consumer group, in the order in which they came.
    pub fn group_members(&self, index: GroupIndex) -> Vec<GroupMemberView> {
        self.cluster.group_members(index, &self.consumers)
    }

    /// Whether a consumer group's coordinator knows it.
    pub fn is_group_known(&self, index: GroupIndex) -> bool {
        self.cluster.is_group_known(index)
    }

    /// The offsets that a reset would write, or why it is refused.
    pub fn plan_reset(
        &self,
        reset: &ResetOffsets,
    ) -> Result<Vec<(PartitionIndex, u64)>, Cow<'static, str>> {
        self.cluster.plan_reset(&self.config, reset)
    }

    /// Why the offsets of a group cannot be deleted now.
    pub fn check_delete_offsets(&self, index: GroupIndex) -> Result<(), Cow<'static, str>> {
        self.cluster.check_delete_offsets(index)
    }

    /// Why a group cannot be deleted now.
    pub fn check_delete_group(&self, index: GroupIndex) -> Result<(), Cow<'static, str>> {
        self.cluster.check_delete_group(index)
    }

    /// The partitions of a group that an action is about, in the order of topics and numbers.
    pub fn partitions_in_scope(
        &self,
        index: GroupIndex,
        scope: &GroupScope,
    ) -> Vec<PartitionIndex> {
        self.cluster.partitions_in_scope(index, scope)
    }

    /// Every transactional id that coordinators know, in the order of their names.
    pub fn transactions(&self) -> Vec<TransactionView> {
        self.cluster.transaction_views()
    }

    /// What `kafka-transactions.sh` shows now, or prints as it fails.
    pub fn transactions_answer(
        &self,
        inquiry: &TransactionsInquiry,
    ) -> Result<TransactionsAnswer, String> {
        let here = (&*self.config, self.now);
        self.cluster.transactions_answer(inquiry, here)
    }

    /// Transactions that are open in a partition, and that no coordinator knows of; none while a
    /// coordinator is away.
    pub fn hanging_transactions(&self) -> usize {
        self.cluster.hanging_transactions()
    }

    /// Why `kafka-transactions.sh abort` would fail now, in its own words.
    pub fn check_abort(&self, abort: &AbortTransaction) -> Result<(), Cow<'static, str>> {
        self.cluster.check_abort(abort, &self.config)
    }

    /// A broker.
    pub fn broker(&self, index: BrokerIndex) -> BrokerView {
        let broker = self.cluster.broker(index);
        let image = self.cluster.controller().image();
        // Internal topics do not count: nobody configured them.
        let topics = self.config.topics.len();
        let partitions = image.partitions.iter().zip(self.cluster.partitions());
        let leaders = partitions
            .filter(|(state, known)| state.leader == Some(index) && known.topic.index() < topics)
            .count();
        BrokerView {
            index,
            state: self.cluster.state_of(index),
            leaders: leaders as u32,
            requests: broker.requests_in_hand(),
            disk_backlog: broker.disk_backlog(self.now),
            request_time: broker.time_of_a_request(),
            bytes_appended: broker.bytes_appended(),
            produce_requests: broker.produce_requests_answered(),
            throttled: broker.throttled(),
        }
    }

    /// A partition.
    pub fn partition(&self, index: PartitionIndex) -> PartitionView {
        let mut queued = vec![(0, 0); self.partition_count()];
        for producer in &self.producers {
            producer.add_queued(&mut queued);
        }
        self.partition_with(index, queued[index.index()])
    }

    /// All partitions, at the price of one look at every accumulator.
    pub fn partition_views(&self) -> Vec<PartitionView> {
        let mut queued = vec![(0, 0); self.partition_count()];
        for producer in &self.producers {
            producer.add_queued(&mut queued);
        }
        self.partitions()
            .map(|index| self.partition_with(index, queued[index.index()]))
            .collect()
    }

    fn partition_with(&self, index: PartitionIndex, queued: (u32, u64)) -> PartitionView {
        let partition = self.cluster.partition(index);
        let state = self.cluster.controller().image().partition(index);
        PartitionView {
            index,
            topic: partition.topic,
            number: partition.number,
            leader: state.leader,
            leader_epoch: state.epoch,
            office: partition.serving,
            isr: state.isr.clone(),
            min_isr: partition.effective_min_isr(),
            elr: state.elr.clone(),
            last_known_leader: state.last_known_leader,
            replicas: partition.assignment().collect(),
            adding: partition.adding(),
            removing: partition.removing(),
            log_start_offset: partition.log.start_offset(),
            log_end_offset: partition.log.end_offset(),
            high_watermark: partition.high_watermark,
            last_stable_offset: partition.last_stable_offset(),
            records_in: partition.log.records_in(),
            records_kept: partition.records_kept(),
            bytes_in: partition.log.bytes_in(),
            queued_batches: queued.0,
            queued_bytes: queued.1,
        }
    }

    /// The transactional batches and markers of a partition that are remembered, in order.
    pub fn transactional_entries(&self, index: PartitionIndex) -> Vec<TransactionalEntry> {
        let states = self.cluster.partition(index).transactions();
        states.map_or_else(Vec::new, |states| states.entries().collect())
    }

    /// The last runs of a partition's log, in order of offsets; `most` of them at most.
    pub fn lane(&self, index: PartitionIndex, most: usize) -> Vec<Run> {
        self.cluster.partition(index).lane(most)
    }

    /// The clients that have a transactional id, as they see themselves.
    pub fn transactional_clients(&self) -> Vec<TransactionalClientView> {
        let producers = self.producers.iter();
        producers.filter_map(Producer::transaction_view).collect()
    }

    /// Whether records of transactions ever came to a partition.
    pub fn has_transactions(&self, index: PartitionIndex) -> bool {
        self.cluster.partition(index).transactions().is_some()
    }

    /// Every partition, in order of topics and numbers.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionIndex> {
        let topics = self.cluster.topics().iter();
        topics.flat_map(|partitions| partitions.iter().copied())
    }

    /// The partition of this name, if it exists.
    pub fn find_partition(&self, name: TopicPartition) -> Option<PartitionIndex> {
        self.cluster.find(name)
    }

    /// What an election that an operator asks for would do now.
    pub fn plan_election(
        &self,
        election: ElectionType,
        partition: Option<TopicPartition>,
    ) -> Vec<(TopicPartition, ElectionOutcome)> {
        let planned = self.cluster.plan_election(election, partition);
        let named = planned.into_iter();
        named
            .map(|(index, outcome)| (index.name(), outcome))
            .collect()
    }

    /// Partitions that move to other brokers now.
    pub fn moving_partitions(&self) -> Vec<PartitionIndex> {
        self.cluster.moves().collect()
    }

    /// How many partitions the controller knows of a topic; 0 where the cluster lacks it.
    pub fn partitions_of(&self, topic: TopicIndex) -> u32 {
        let image = self.cluster.controller().image();
        image.topic(topic).partitions.len() as u32
    }

    /// Whether a topic can get so many partitions; if not, what Kafka's tool says.
    pub fn check_growth(&self, topic: TopicIndex, partitions: u32) -> Result<(), String> {
        self.cluster.check_growth(&self.config, topic, partitions)
    }

    /// The configuration of a topic that exists.
    pub fn topic_settings(&self, topic: TopicIndex) -> Option<&TopicSettings> {
        let image = self.cluster.controller().image();
        let first = image.topic(topic).partitions.first()?;
        Some(&self.cluster.partition(*first).settings)
    }

    /// The quotas of clients, in the order in which they were given.
    pub fn quotas(&self) -> &[Quota] {
        self.cluster.quotas()
    }

    /// How many partitions there are.
    pub fn partition_count(&self) -> usize {
        self.cluster.partitions().len()
    }

    /// A partition's name, as in `events-3`.
    pub fn partition_name(&self, index: PartitionIndex) -> String {
        let partition = self.cluster.partition(index);
        let topic = self.config.topics.get(partition.topic.index());
        let topic = topic.map_or(TRANSACTION_STATE_TOPIC, |topic| &topic.name);
        format!("{topic}-{}", partition.number)
    }

    /// The keys that were sent most often to a topic, over all producers.
    pub fn hottest_keys(&self, topic: TopicIndex, most: usize) -> Vec<KeyCount> {
        self.hottest_keys_where(topic, most, |_| true)
    }

    /// The keys that were sent most often to the partition `number` of a topic, by those producers
    /// that send all records of a key there; others may send the same key elsewhere.
    pub fn hottest_keys_of(&self, topic: TopicIndex, number: u32, most: usize) -> Vec<KeyCount> {
        self.hottest_keys_where(topic, most, |place| place == Some(number))
    }

    fn hottest_keys_where(
        &self,
        topic: TopicIndex,
        most: usize,
        counts: impl Fn(Option<u32>) -> bool,
    ) -> Vec<KeyCount> {
        let partitions = self.cluster.topics()[topic.index()].len() as u32;
        let mut all: Vec<KeyCount> = Vec::new();
        for tally in self.key_tallies.of_topic(topic) {
            for place in tally.hottest(most) {
                let (key, records) = (&tally.keys.keys[place], tally.records[place]);
                let partition = self.partition_of_key(tally, key, partitions);
                if !counts(partition) {
                    continue;
                }
                match all.iter_mut().find(|count| count.key == *key) {
                    Some(count) => {
                        count.records += records;
                        count.partition = count.partition.filter(|one| Some(*one) == partition);
                    }
                    None => all.push(KeyCount {
                        key: key.clone(),
                        partition,
                        records,
                    }),
                }
            }
        }
        all.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| a.key.cmp(&b.key)));
        all.truncate(most);
        all
    }

    /// Keys that were sent to a topic, and records with them, over all producers. Loads with more
    /// keys than are counted do not count.
    pub fn keys_sent(&self, topic: TopicIndex) -> (u64, u64) {
        let tallies = self.key_tallies.of_topic(topic);
        let records = tallies.flat_map(|tally| &tally.records);
        records
            .filter(|&&records| records > 0)
            .fold((0, 0), |(keys, sum), records| (keys + 1, sum + records))
    }

    /// A partition's topic and the records that were appended to it, which is cheaper than a view.
    pub fn records_in(&self, index: PartitionIndex) -> (TopicIndex, u64) {
        let partition = self.cluster.partition(index);
        (partition.topic, partition.log.records_in())
    }

    /// Where all producers that draw from these keys send this one; none where they differ, or one
    /// of them sends it to several.
    fn partition_of_key(&self, tally: &KeyTally, key: &[u8], partitions: u32) -> Option<u32> {
        if tally.keys.explicit_partition.is_some() {
            return tally.keys.explicit_partition;
        }
        let draws_from =
            |load: &LoadConfig| load.topic == tally.topic && Arc::ptr_eq(&load.keys, &tally.keys);
        let producers = self.config.producers.iter().zip(&self.producers);
        let mut places = producers
            .filter(|(config, _)| config.loads.iter().any(draws_from))
            .map(|(_, producer)| producer.partition_of_key(key, partitions));
        let first = places.next()?;
        first.filter(|_| places.all(|other| other == first))
    }

    /// A metric as the client would report it now; nothing where the client would report NaN.
    pub fn producer_metric(&self, producer: ProducerIndex, metric: ProducerMetric) -> Option<f64> {
        self.producers[producer.index()].metric(metric, self.now)
    }

    /// `bufferpool-wait-ratio` as it would read if every unfinished wait ended now.
    pub fn true_wait_ratio(&self, producer: ProducerIndex) -> Option<f64> {
        self.producers[producer.index()].true_wait_ratio(self.now)
    }

    /// A client's metric of one topic.
    pub fn topic_metric(
        &self,
        producer: ProducerIndex,
        topic: TopicIndex,
        metric: ProducerTopicMetric,
    ) -> Option<f64> {
        self.producers[producer.index()].topic_metric(topic, metric, self.now)
    }

    /// A client's metric of one connection.
    pub fn node_metric(
        &self,
        producer: ProducerIndex,
        node: Node,
        metric: ProducerNodeMetric,
    ) -> Option<f64> {
        self.producers[producer.index()].node_metric(node, metric, self.now)
    }

    /// A figure of librdkafka's statistics as the client would report it; nothing where it is
    /// another client, or what it is about is not known yet.
    pub fn rdkafka_figure(&self, producer: ProducerIndex, figure: RdkafkaFigure) -> Option<f64> {
        self.producers[producer.index()].rdkafka_figure(&self.requests, figure, self.now)
    }

    /// Keys of a topic with records on more than one partition; nothing where records are not
    /// remembered one by one.
    pub fn split_keys(&self, topic: TopicIndex) -> Option<u64> {
        let notes = self.records.notes(topic);
        notes.then(|| self.key_places.split_keys(topic))
    }

    /// The same over all topics.
    pub fn split_keys_in_all(&self) -> u64 {
        let topics = (0..self.config.topics.len()).map(|place| TopicIndex(place as u16));
        topics.map(|topic| self.key_places.split_keys(topic)).sum()
    }

    /// Keys of a topic whose kept records are on more than one partition; nothing where records
    /// are not remembered one by one.
    pub fn keys_kept_split(&self, topic: TopicIndex) -> Option<u64> {
        if !self.records.notes(topic) {
            return None;
        }
        let mut kept: BTreeSet<(KeyId, PartitionIndex)> = BTreeSet::new();
        for &index in self.cluster.topics()[topic.index()].iter() {
            let partition = self.cluster.partition(index);
            let clean = partition.clean_records().iter();
            let clean = clean.map(|record| (record.producer, record.ordinal));
            let dirty = partition.log.batches().flat_map(|batch| {
                let ordinals = batch.first_ordinal..batch.first_ordinal + u64::from(batch.records);
                ordinals.map(|ordinal| (batch.producer, ordinal))
            });
            let dirty = dirty.filter(|(producer, _)| *producer != ProducerIndex::NOBODY);
            for (producer, ordinal) in clean.chain(dirty) {
                let noted = self.records.find(producer, index, ordinal);
                kept.extend(noted.and_then(|noted| noted.key).map(|key| (key, index)));
            }
        }
        let keys: Vec<KeyId> = kept.into_iter().map(|(key, _)| key).collect();
        let chunks = keys.chunk_by(|one, other| one == other);
        Some(chunks.filter(|chunk| chunk.len() > 1).count() as u64)
    }

    /// The key of a topic that was first found on two partitions, and where it is now.
    pub fn first_split_key(&self, topic: TopicIndex) -> Option<(&[u8], &KeyHistory)> {
        let (id, history) = self.key_places.first_split(topic)?;
        Some((self.records.key(id), history))
    }

    /// The bytes of a key that was noted.
    pub fn key_of(&self, id: KeyId) -> &[u8] {
        self.records.key(id)
    }

    /// What a group read out of order; nothing where no topic of its has its records remembered.
    pub fn reads_out_of_order(&self, group: GroupIndex) -> Option<&GroupReads> {
        self.read_order.of_group(group)
    }

    /// Records that groups read out of order, over all of them.
    pub fn reads_out_of_order_in_all(&self) -> u64 {
        self.read_order.late_reads()
    }

    /// Where a key's records are in a topic, if it has any there.
    pub fn key_history(&self, topic: TopicIndex, key: &[u8]) -> Option<&KeyHistory> {
        self.key_places.history(topic, self.records.find_key(key)?)
    }

    /// The keys that producers trace, in order.
    pub fn traced_keys(&self) -> &[Vec<u8>] {
        self.key_places.traced()
    }

    /// The records that a partition's log remembers, one line each: offset and key where records
    /// are remembered one by one, else offset, producer and ordinal; what a transaction made of it;
    /// and control records, `41 ABORT 4001/1`, with their producer id and epoch.
    pub fn log_lines(&self, index: PartitionIndex) -> Vec<String> {
        let partition = self.cluster.partition(index);
        let clean = partition.clean_records().iter().map(|record| {
            let identity = (record.producer, record.ordinal);
            self.log_line(index, record.offset, identity)
        });
        let batches = partition.log.batches();
        let of_batch = |batch: &LogBatch| {
            let (first, producer) = (batch.first_ordinal, batch.producer);
            let offsets = batch.base_offset..batch.end_offset();
            let records = offsets.zip(first..);
            records.map(move |(offset, ordinal)| self.log_line(index, offset, (producer, ordinal)))
        };
        clean.chain(batches.flat_map(of_batch)).collect()
    }

    /// How far the log of each replica reaches, in assignment order.
    pub fn replica_ends(&self, index: PartitionIndex) -> Vec<(BrokerIndex, u64)> {
        let replicas = self.cluster.partition(index).replicas.iter();
        replicas
            .map(|replica| (replica.broker, replica.end_offset))
            .collect()
    }

    /// The remembered records of a key in the order of producers, partitions and ordinals, with
    /// the moments when their clients took them.
    pub fn records_of_key(&self, key: &[u8]) -> Vec<(ProducerIndex, PartitionIndex, u64, SimTime)> {
        let Some(id) = self.records.find_key(key) else {
            return Vec::new();
        };
        let mut by_place: Vec<PartitionIndex> = self.partitions().collect();
        by_place.sort_unstable();
        let records = self.records.records_of(id);
        let named = records.filter_map(|(producer, place, ordinal, noted)| {
            Some((producer, *by_place.get(place)?, ordinal, noted.at))
        });
        named.collect()
    }

    /// Whether a topic's records are remembered one by one.
    pub fn remembers_records(&self, topic: TopicIndex) -> bool {
        self.records.notes(topic)
    }

    /// The batches of a partition's log, as far as they are remembered, oldest first; markers of
    /// transactions are among them, and what the cleaner left is not.
    pub fn log_batches(&self, index: PartitionIndex) -> impl Iterator<Item = &LogBatch> {
        self.cluster.partition(index).log.batches()
    }

    /// The records of a partition's log, as far as they are remembered: offset, producer, ordinal.
    /// Transaction markers are not among them.
    pub fn log_records(
        &self,
        index: PartitionIndex,
    ) -> impl Iterator<Item = (u64, ProducerIndex, u64)> + '_ {
        let records = self.cluster.partition(index).records_from(0);
        records.filter(|(_, producer, _)| *producer != ProducerIndex::NOBODY)
    }

    fn log_line(
        &self,
        partition: PartitionIndex,
        offset: u64,
        (producer, ordinal): (ProducerIndex, u64),
    ) -> String {
        let states = self.cluster.partition(partition).transactions();
        if let Some(marker) = states.and_then(|states| states.marker_at(offset)) {
            let (producer_id, epoch) = marker.producer;
            return format!("{offset} {} {producer_id}/{epoch}", marker.result.name());
        }
        let line = self.data_line(partition, offset, (producer, ordinal));
        match states.and_then(|states| states.fate(offset)) {
            None => line,
            Some((_, Fate::Open)) => format!("{line} open"),
            Some((_, Fate::Committed)) => format!("{line} committed"),
            Some((_, Fate::Aborted)) => format!("{line} aborted"),
        }
    }

    fn data_line(
        &self,
        partition: PartitionIndex,
        offset: u64,
        (producer, ordinal): (ProducerIndex, u64),
    ) -> String {
        match self.records.find(producer, partition, ordinal) {
            Some(Noted { key: Some(key), .. }) => {
                let key = String::from_utf8_lossy(self.records.key(key));
                format!("{offset} {key}")
            }
            Some(Noted { key: None, .. }) => format!("{offset} null"),
            None => {
                let producer = self.config.producers.get(producer.index());
                let name = producer.map_or("?", |producer| &producer.name);
                format!("{offset} {name}#{ordinal}")
            }
        }
    }
}
