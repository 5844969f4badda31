//! A small run for the tests of this folder: two producers, two topics, two brokers.

use std::sync::Arc;

use crate::kafka::settings::{BrokerSettings, JavaProducerSettings, TopicSettings};
use crate::kafka::transaction::TransactionVersion;
use crate::kafka::version::KafkaVersion;
use crate::sim::config::{
    BrokerConfig, ClientConfig, Config, ExistingTopic, HistoryDetail, LinkConfig, MovedLeader,
    ProducerConfig, TopicConfig, TransactionConfig,
};
use crate::sim::ids::BrokerIndex;
use crate::sim::time::{SimSpan, SimTime};

/// Producers `trips` and `trips.eu`; topics `events` (3 partitions), `events.3` (2) and `ghost`,
/// which does not exist; brokers 1 and 2. Nobody sends anything.
pub(crate) fn config() -> Arc<Config> {
    let kafka = KafkaVersion::DEFAULT;
    Arc::new(Config {
        seed: 7,
        duration: SimSpan::from_seconds(60),
        kafka,
        start_epoch_ms: 0,
        sample: SimSpan::from_millis(100),
        brokers: [1, 2].map(broker).into(),
        links: Vec::new(),
        link: LinkConfig {
            latency: SimSpan::from_micros(500),
            jitter: SimSpan::ZERO,
            bandwidth: None,
            loss_ppm: 0,
        },
        topics: vec![
            topic("events", Some(3)),
            topic("events.3", Some(2)),
            topic("ghost", None),
        ],
        producers: vec![producer("trips"), producer("trips.eu")],
        groups: Vec::new(),
        consumers: Vec::new(),
        quotas: Vec::new(),
        timeline: Vec::new(),
        transactions: TransactionConfig {
            version: TransactionVersion::Two,
            next_producer_id: 1,
        },
        controllers: Vec::new(),
        moved_leader: MovedLeader::Named,
    })
}

/// A producer that sends nothing.
pub(crate) fn producer(name: &str) -> ProducerConfig {
    ProducerConfig {
        name: name.to_owned(),
        client: ClientConfig::Java(Arc::new(JavaProducerSettings::defaults(
            KafkaVersion::DEFAULT,
        ))),
        start: SimTime::ZERO,
        monitor: None,
        loads: Vec::new(),
        script: Vec::new(),
        rack: None,
        trace: Vec::new(),
        curves: Arc::new([]),
        given: Vec::new(),
    }
}

fn broker(id: u32) -> BrokerConfig {
    BrokerConfig {
        id,
        rack: None,
        append_rate: None,
        request_time: SimSpan::from_micros(100),
        settings: BrokerSettings::defaults(KafkaVersion::DEFAULT),
    }
}

fn topic(name: &str, partitions: Option<usize>) -> TopicConfig {
    TopicConfig {
        name: name.to_owned(),
        existing: partitions.map(|partitions| ExistingTopic {
            replicas: vec![vec![BrokerIndex(0)]; partitions],
            start_offsets: vec![0; partitions],
            settings: TopicSettings::defaults(),
            history: HistoryDetail::Sums,
        }),
    }
}
