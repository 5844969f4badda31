//! Views of the whole engine: the read-only half of [`Simulation`].

use std::sync::Arc;

use crate::kafka::metric_name::{ProducerMetric, ProducerNodeMetric, ProducerTopicMetric};
use crate::sim::config::LoadConfig;
use crate::sim::fact::Node;
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::simulation::Simulation;
use crate::sim::view::{
    BrokerView, KeyCount, PartitionView, ProducerTotals, ProducerView, RdkafkaFigure,
};
use crate::sim::workload::KeyTally;

impl Simulation {
    /// A producer.
    pub fn producer(&self, producer: ProducerIndex) -> ProducerView {
        self.producers[producer.index()].view(&self.network, self.now)
    }

    /// A producer's counts, which are cheaper than all of it.
    pub fn producer_totals(&self, producer: ProducerIndex) -> ProducerTotals {
        self.producers[producer.index()].totals(self.now)
    }

    /// A broker.
    pub fn broker(&self, index: BrokerIndex) -> BrokerView {
        let broker = self.cluster.broker(index);
        let image = self.cluster.controller().image();
        let leads = |p: &&crate::sim::metadata::PartitionImage| p.leader == Some(index);
        BrokerView {
            index,
            state: self.cluster.state_of(index),
            leaders: image.partitions.iter().filter(leads).count() as u32,
            requests: broker.requests_in_hand(),
            disk_backlog: broker.disk_backlog(self.now),
            bytes_appended: broker.bytes_appended(),
            produce_requests: broker.produce_requests_answered(),
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
            isr: state.isr.clone(),
            replicas: partition
                .replicas
                .iter()
                .map(|replica| replica.broker)
                .collect(),
            log_start_offset: partition.log.start_offset(),
            log_end_offset: partition.log.end_offset(),
            high_watermark: partition.high_watermark,
            last_stable_offset: partition.high_watermark,
            records_in: partition.log.records_in(),
            bytes_in: partition.log.bytes_in(),
            queued_batches: queued.0,
            queued_bytes: queued.1,
        }
    }

    /// Every partition.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionIndex> + use<> {
        (0..self.partition_count() as u32).map(PartitionIndex)
    }

    /// How many partitions there are.
    pub fn partition_count(&self) -> usize {
        self.cluster.partitions().len()
    }

    /// A partition's name, as in `events-3`.
    pub fn partition_name(&self, index: PartitionIndex) -> String {
        let partition = self.cluster.partition(index);
        format!(
            "{}-{}",
            self.config.topics[partition.topic.index()].name,
            partition.number
        )
    }

    /// The keys that were sent most often to a topic, over all producers.
    pub fn hottest_keys(&self, topic: TopicIndex, most: usize) -> Vec<KeyCount> {
        let partitions = self.cluster.controller().image().topic(topic).partitions;
        let mut all: Vec<KeyCount> = Vec::new();
        for tally in self.key_tallies.of_topic(topic) {
            for place in tally.hottest(most) {
                let (key, records) = (&tally.keys.keys[place], tally.records[place]);
                let partition = self.partition_of_key(tally, key, partitions);
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

    /// The batches that a partition's log remembers, one line each.
    pub fn log_lines(&self, index: PartitionIndex) -> Vec<String> {
        let producers = &self.config.producers;
        self.cluster
            .partition(index)
            .log
            .batches()
            .flat_map(|batch| {
                let name = &producers[batch.producer.index()].name;
                (0..u64::from(batch.records)).map(move |place| {
                    let (offset, ordinal) =
                        (batch.base_offset + place, batch.first_ordinal + place);
                    format!("{offset} {name}#{ordinal}")
                })
            })
            .collect()
    }
}
