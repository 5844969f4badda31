//! A small world for the engine's own tests, built without a scenario file.

use std::sync::Arc;

use crate::kafka::config::{consumer as consumer_config, java};
use crate::kafka::rdkafka_version::RdkafkaVersion;
use crate::kafka::settings::{BrokerSettings, RdkafkaProducerSettings, TopicSettings};
use crate::kafka::transaction::TransactionVersion;
use crate::kafka::version::KafkaVersion;
use crate::sim::command::Command;
use crate::sim::config::{
    Arrival, AtEnd, AwaitAcks, BrokerConfig, ClientConfig, Config, ConsumerConfig, ExistingTopic,
    GroupConfig, HistoryDetail, KeyChoice, KeyConfig, LinkConfig, LoadConfig, MovedLeader,
    OnFailed, OnRefused, Pacing, Polling, ProducerConfig, Rate, RateStep, TopicConfig,
    TransactionConfig, ValueConfig,
};
use crate::sim::fact::{Fact, Stamped};
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicIndex};
use crate::sim::output::Output;
use crate::sim::simulation::Simulation;
use crate::sim::time::{SimSpan, SimTime};

/// The only producer.
pub const TRIPS: ProducerIndex = ProducerIndex(0);

/// Three brokers, topic `events` with 12 partitions, one idle producer `trips`.
pub fn world() -> Config {
    let version = KafkaVersion::DEFAULT;
    let broker = |id| BrokerConfig {
        id,
        rack: None,
        append_rate: None,
        request_time: SimSpan::ZERO,
        settings: BrokerSettings::defaults(version),
    };
    Config {
        seed: 7,
        duration: SimSpan::from_seconds(190),
        kafka: version,
        start_epoch_ms: 0,
        sample: SimSpan::from_millis(100),
        brokers: (1..=3).map(broker).collect(),
        links: Vec::new(),
        link: LinkConfig {
            latency: SimSpan::from_micros(500),
            jitter: SimSpan::ZERO,
            bandwidth: Some(125_000_000),
            loss_ppm: 0,
        },
        topics: vec![topic("events", 12, 1)],
        producers: vec![producer("trips", &[])],
        groups: Vec::new(),
        consumers: Vec::new(),
        quotas: Vec::new(),
        timeline: Vec::new(),
        transactions: TransactionConfig {
            version: TransactionVersion::Two,
            next_producer_id: 0,
        },
        controllers: Vec::new(),
        moved_leader: MovedLeader::Named,
    }
}

/// A topic with its replicas spread over three brokers.
pub fn topic(name: &str, partitions: u16, factor: u16) -> TopicConfig {
    let replicas = |number: u16| {
        (0..factor)
            .map(move |i| BrokerIndex((number + i) % 3))
            .collect()
    };
    TopicConfig {
        name: name.to_string(),
        existing: Some(ExistingTopic {
            replicas: (0..partitions).map(replicas).collect(),
            start_offsets: vec![0; partitions as usize],
            settings: TopicSettings::defaults(),
            history: HistoryDetail::Sums,
        }),
    }
}

/// A producer without load.
pub fn producer(name: &str, given: &[(&str, &str)]) -> ProducerConfig {
    producer_of(KafkaVersion::DEFAULT, name, given)
}

/// A producer of some version, without load.
pub fn producer_of(version: KafkaVersion, name: &str, given: &[(&str, &str)]) -> ProducerConfig {
    let given: Vec<_> = given
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let (settings, _) = java::validate(version, &given).expect("a valid client");
    ProducerConfig {
        name: name.to_string(),
        client: ClientConfig::Java(Arc::new(settings)),
        given,
        start: SimTime::ZERO,
        monitor: None,
        loads: Vec::new(),
        script: Vec::new(),
        rack: None,
        trace: Vec::new(),
        curves: Arc::new([]),
    }
}

/// The same world with a group of so many members that read its topic.
pub fn with_group(mut config: Config, members: u16, given: &[(&str, &str)]) -> Config {
    let pairs: Vec<_> = given
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let (settings, _) =
        consumer_config::validate(KafkaVersion::DEFAULT, &pairs).expect("a valid client");
    let group = GroupIndex(config.groups.len() as u16);
    let name = format!("group-{}", group.0);
    config.groups.push(GroupConfig { name: name.clone() });
    for number in 1..=members {
        config.consumers.push(ConsumerConfig {
            group,
            number,
            name: format!("{name}-{number}"),
            settings: settings.clone(),
            topics: vec![TopicIndex(0)],
            micro_records_per_second: None,
            start: SimTime::ZERO,
        });
    }
    config
}

/// A librdkafka producer without load, configured from the defaults.
pub fn rdkafka(name: &str, configure: impl Fn(&mut RdkafkaProducerSettings)) -> ProducerConfig {
    let mut settings = RdkafkaProducerSettings::defaults(RdkafkaVersion::DEFAULT);
    configure(&mut settings);
    ProducerConfig {
        client: ClientConfig::Rdkafka(Box::new(settings)),
        ..producer(name, &[])
    }
}

/// A closed loop of 1,024-byte values under evenly spread keys.
pub fn load(records_per_second: u64) -> LoadConfig {
    let keys = (1..=5000)
        .map(|n| format!("rider-{n}").into_bytes())
        .collect();
    LoadConfig {
        topic: TopicIndex(0),
        replay: None,
        rate: Rate::Steps(vec![RateStep {
            from: SimTime::ZERO,
            micro_records_per_second: records_per_second * 1_000_000,
            ramp: SimSpan::ZERO,
        }]),
        pacing: Pacing::Closed,
        arrival: Arrival::Constant,
        threads: 1,
        keys: Arc::new(KeyConfig {
            keys,
            choice: KeyChoice::Cycle,
            explicit_partition: None,
        }),
        values: ValueConfig::Fixed(1024),
        compresses_to_ppm: None,
        await_acks: AwaitAcks::None,
        polling: Polling::Never,
        on_refused: OnRefused::Drop,
        on_failed: OnFailed::Count,
        throttle: None,
        records_max: None,
        at_end: AtEnd::Idle,
        transaction: None,
    }
}

/// The same without keys.
pub fn keyless(load: LoadConfig) -> LoadConfig {
    let no_keys = KeyConfig {
        keys: Vec::new(),
        choice: KeyChoice::Cycle,
        explicit_partition: None,
    };
    LoadConfig {
        keys: Arc::new(no_keys),
        ..load
    }
}

/// A run whose facts are kept.
pub struct Run {
    /// The engine.
    pub simulation: Simulation,
    /// Everything notable so far.
    pub facts: Vec<Stamped>,
}

impl Run {
    /// A run at time zero.
    pub fn new(config: Config) -> Self {
        Self {
            simulation: Simulation::new(Arc::new(config)),
            facts: Vec::new(),
        }
    }

    /// Goes on to a moment.
    pub fn to(&mut self, millis: u64) -> &mut Self {
        self.until_nanos(millis * 1_000_000)
    }

    /// Goes on to a moment.
    pub fn until_nanos(&mut self, nanos: u64) -> &mut Self {
        let _ = self
            .simulation
            .advance_to(SimTime::from_nanos(nanos), u64::MAX);
        let mut out = Output::default();
        self.simulation.drain(&mut out);
        self.facts.extend(out.facts);
        self
    }

    /// A command now.
    pub fn command(&mut self, command: Command) -> &mut Self {
        self.simulation.enqueue(self.simulation.now(), command);
        self
    }

    /// When the first fact like this came, in milliseconds.
    pub fn first(&self, is: impl Fn(&Fact) -> bool) -> Option<u64> {
        self.facts
            .iter()
            .find(|stamped| is(&stamped.fact))
            .map(|stamped| stamped.at.as_millis())
    }
}
