//! The cluster at time zero: everybody up, every preferred replica leading, metadata applied.

use std::sync::Arc;

use crate::kafka::settings::TopicSettings;
use crate::sim::cluster::broker::Broker;
use crate::sim::cluster::cleaner::CLEANER_BACKOFF;
use crate::sim::cluster::controller::Controller;
use crate::sim::cluster::election::Eligible;
use crate::sim::cluster::group::Group;
use crate::sim::cluster::quorum::Quorum;
use crate::sim::cluster::quotas::Quotas;
use crate::sim::cluster::recompression::Recompression;
use crate::sim::cluster::replication::FetcherState;
use crate::sim::cluster::retention::RETENTION_DELAY;
use crate::sim::cluster::transaction::{Transactions, lay_out_state_log, schedule_scans};
use crate::sim::cluster::{Cluster, Event};
use crate::sim::config::{Config, ExistingTopic, HistoryDetail, TopicConfig};
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::metadata::{Image, PartitionImage, TopicImage};
use crate::sim::partition::{Partition, Source};
use crate::sim::queue::{EventQueue, Rank};
use crate::sim::time::{SimSpan, SimTime};

impl Cluster {
    /// The configured cluster, with its first timers in the queue.
    pub fn new(config: &Config, queue: &mut EventQueue<Event>) -> Self {
        let mut partitions = Vec::new();
        let (mut topics, mut laid_out) = (Vec::new(), Vec::new());
        for (place, topic) in config.topics.iter().enumerate() {
            let index = TopicIndex(place as u16);
            let would_be = auto_created(config, topic);
            let first = partitions.len() as u32;
            if let Some(layout) = topic.existing.as_ref().or(would_be.as_ref()) {
                partitions.extend(lay_out(index, layout));
            }
            let ids: Arc<[_]> = (first..partitions.len() as u32)
                .zip(0..)
                .map(|(place, number)| {
                    let topic = index;
                    PartitionIndex::new(place, TopicPartition { topic, number })
                })
                .collect();
            topics.push(TopicImage {
                partitions: if topic.existing.is_some() {
                    Arc::clone(&ids)
                } else {
                    Arc::default()
                },
            });
            laid_out.push(ids);
        }
        let of_topics = partitions.len();
        partitions.extend(lay_out_state_log(config));
        let state_log = partitions.len() - of_topics;
        let transactions = Transactions::new(config, of_topics, state_log);
        let image = Arc::new(Image {
            version: 1,
            partitions: partitions
                .iter()
                .map(|partition| PartitionImage::new(partition.isr.clone()))
                .collect(),
            unfenced: vec![true; config.brokers.len()],
            topics,
        });
        let mut brokers = new_brokers(config, &image);
        let all = laid_out.iter().flat_map(|ids| ids.iter());
        for &index in all.chain(transactions.state_log()) {
            for replica in &partitions[index.index()].replicas {
                brokers[replica.broker.index()].replica_of.push(index);
            }
        }
        schedule(&brokers, queue);
        schedule_upkeep(&partitions, (&brokers, state_log), queue);
        let quorum = Quorum::new(&config.controllers, brokers.len(), config.seed);
        quorum.schedule(queue);
        let controller = controller(config, &brokers, image);
        let fetchers = fetchers(&partitions, brokers.len());
        Self {
            brokers,
            partitions,
            topics: laid_out,
            fetchers,
            controller,
            groups: config.groups.iter().map(|_| Group::new()).collect(),
            quotas: Quotas::new(config),
            recompression: Recompression::default(),
            transactions,
            quorum,
        }
    }
}

fn controller(config: &Config, brokers: &[Broker], image: Arc<Image>) -> Controller {
    let count = brokers.len();
    Controller {
        image,
        last_heartbeat: vec![SimTime::ZERO; count],
        leaving: vec![false; count],
        producer_ids: vec![0..0; count],
        next_check: SimTime::ZERO + session_check_period(brokers),
        blocks_given: 0,
        first_producer_id: config.transactions.next_producer_id,
        eligible: Eligible::of(config),
    }
}

fn new_brokers(config: &Config, image: &Arc<Image>) -> Vec<Broker> {
    let clients = (config.producers.len(), config.consumers.len());
    let brokers = config.brokers.iter();
    let brokers = brokers.map(|broker| Broker::new(broker, image.clone(), clients));
    brokers.collect()
}

/// What looks after logs, where there is anything to look after.
fn schedule_upkeep(
    partitions: &[Partition],
    (brokers, state_log): (&[Broker], usize),
    queue: &mut EventQueue<Event>,
) {
    if state_log > 0 {
        schedule_scans(queue, brokers);
    }
    let mut partitions = partitions.iter();
    if partitions.any(|partition| partition.compaction.is_some()) {
        let first = SimTime::ZERO + CLEANER_BACKOFF;
        queue.push(first, Rank::CONTROLLER, Event::LogCleaner);
    }
}

/// What brokers would create for a topic that producers use and the cluster lacks.
fn auto_created(config: &Config, topic: &TopicConfig) -> Option<ExistingTopic> {
    let settings = &config.brokers.first()?.settings;
    if topic.existing.is_some() || !settings.auto_create_topics {
        return None;
    }
    let (count, factor) = (settings.num_partitions, settings.default_replication_factor);
    let brokers = config.brokers.len() as u32;
    let replicas = (0..count)
        .map(|number| {
            (0..u32::from(factor).min(brokers))
                .map(|place| BrokerIndex(((number + place) % brokers) as u16))
                .collect()
        })
        .collect();
    Some(ExistingTopic {
        replicas,
        start_offsets: vec![0; count as usize],
        settings: TopicSettings::clone(&settings.topic_defaults),
        history: HistoryDetail::Sums,
    })
}

fn lay_out(topic: TopicIndex, layout: &ExistingTopic) -> impl Iterator<Item = Partition> {
    layout
        .replicas
        .iter()
        .enumerate()
        .map(move |(number, replicas)| {
            let start_offset = layout.start_offsets.get(number).copied().unwrap_or(0);
            let place = (topic, number as u32);
            Partition::new(
                place,
                &layout.settings,
                replicas,
                start_offset,
                layout.history,
            )
        })
}

/// Every follower's fetch waits at its leader.
fn fetchers(partitions: &[Partition], brokers: usize) -> Vec<FetcherState> {
    let mut fetchers = vec![FetcherState::default(); brokers * brokers];
    for replica in partitions.iter().flat_map(|p| &p.replicas) {
        if let Source::Fetching(leader, _) = replica.source {
            let place = replica.broker.index() * brokers + leader.index();
            fetchers[place] = FetcherState::parked();
        }
    }
    fetchers
}

/// From the start to the first look for brokers whose session is over.
fn session_check_period(brokers: &[Broker]) -> SimSpan {
    let settings = brokers.first().map(|broker| &broker.settings.controller);
    let session_ms = settings.map_or(0, |settings| settings.broker_session_timeout_ms);
    SimSpan::from_millis((session_ms / 8).max(1))
}

fn schedule(brokers: &[Broker], queue: &mut EventQueue<Event>) {
    let Some(first) = brokers.first() else { return };
    let settings = &first.settings.controller;
    let rebalance = SimSpan::from_seconds(settings.leader_imbalance_check_interval_seconds.max(1));
    queue.push(
        SimTime::ZERO + session_check_period(brokers),
        Rank::CONTROLLER,
        Event::SessionCheck,
    );
    queue.push(
        SimTime::ZERO + rebalance,
        Rank::CONTROLLER,
        Event::LeaderRebalance,
    );
    let unclean = SimSpan::from_millis(settings.unclean_leader_election_interval_ms.max(1));
    queue.push(
        SimTime::ZERO + unclean,
        Rank::CONTROLLER,
        Event::UncleanElection,
    );
    queue.push(
        SimTime::ZERO + RETENTION_DELAY,
        Rank::CONTROLLER,
        Event::LogRetention,
    );
    let expiration = first.settings.transactions;
    let expiration = SimSpan::from_millis(expiration.producer_id_expiration_check_interval_ms);
    queue.push(
        SimTime::ZERO + expiration,
        Rank::CONTROLLER,
        Event::ProducerIdExpiration,
    );
    for (place, broker) in brokers.iter().enumerate() {
        let (index, incarnation) = (BrokerIndex(place as u16), broker.incarnation);
        let heartbeat = Event::Heartbeat {
            broker: index,
            incarnation,
        };
        queue.push(SimTime::ZERO, Rank::broker(index), heartbeat);
        let lag_time =
            SimSpan::from_millis((broker.settings.replication.lag_time_max_ms / 2).max(1));
        let expiration = Event::IsrExpiration {
            broker: index,
            incarnation,
        };
        queue.push(SimTime::ZERO + lag_time, Rank::broker(index), expiration);
    }
}
