//! The names that commands use, looked up both ways.

use crate::sim::config::{ClientConfig, Config, Peer};
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex};

use super::setting::ClientVersion;

/// Who and what a run has: producers, brokers and partitions by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    producers: Vec<ProducerNames>,
    brokers: Vec<u32>,
    topics: Vec<TopicNames>,
}

/// One producer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ProducerNames {
    name: String,
    client: ClientVersion,
    /// Its client's configuration as it was given: what `set producer` changes.
    given: Vec<(String, String)>,
}

/// One existing topic.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TopicNames {
    name: String,
    /// Its first partition, counted over all topics.
    first: u32,
    partitions: u32,
}

impl Names {
    /// The names of a run.
    pub fn of(config: &Config) -> Self {
        let client = |client: &ClientConfig| match client {
            ClientConfig::Java(settings) => ClientVersion::Java(settings.version),
            ClientConfig::Rdkafka(settings) => ClientVersion::Rdkafka(settings.version),
        };
        let mut first = 0;
        let mut topics = Vec::new();
        for topic in &config.topics {
            let partitions = topic
                .existing
                .as_ref()
                .map_or(0, |existing| existing.replicas.len() as u32);
            topics.push(TopicNames {
                name: topic.name.clone(),
                first,
                partitions,
            });
            first += partitions;
        }
        Self {
            producers: config
                .producers
                .iter()
                .map(|producer| ProducerNames {
                    name: producer.name.clone(),
                    client: client(&producer.client),
                    given: producer.given.clone(),
                })
                .collect(),
            brokers: config.brokers.iter().map(|broker| broker.id).collect(),
            topics,
        }
    }

    /// Names without a run.
    #[cfg(test)]
    pub(crate) fn for_tests(producers: &[&str], brokers: &[u32], topics: &[(&str, u32)]) -> Self {
        let mut first = 0;
        let mut names = Self {
            brokers: brokers.to_vec(),
            ..Self::default()
        };
        for (name, partitions) in topics {
            let name = (*name).to_owned();
            names.topics.push(TopicNames {
                name,
                first,
                partitions: *partitions,
            });
            first += partitions;
        }
        let producer = |name: &&str| ProducerNames {
            name: (*name).to_owned(),
            client: ClientVersion::Java(crate::kafka::version::KafkaVersion::DEFAULT),
            given: Vec::new(),
        };
        names.producers = producers.iter().map(producer).collect();
        names
    }

    /// The producer with this name.
    pub fn producer(&self, name: &str) -> Option<ProducerIndex> {
        let at = self
            .producers
            .iter()
            .position(|producer| producer.name == name)?;
        Some(ProducerIndex(at as u16))
    }

    /// The broker with this id, as written.
    pub fn broker(&self, id: &str) -> Option<BrokerIndex> {
        let id = id.parse::<u32>().ok()?;
        let at = self.brokers.iter().position(|known| *known == id)?;
        Some(BrokerIndex(at as u16))
    }

    /// The partition with this name: `events-3`.
    pub fn partition(&self, name: &str) -> Option<PartitionIndex> {
        let (topic, number) = name.rsplit_once('-')?;
        let topic = self.topics.iter().find(|known| known.name == topic)?;
        let number = number
            .parse::<u32>()
            .ok()
            .filter(|number| *number < topic.partitions)?;
        Some(PartitionIndex(topic.first + number))
    }

    /// One end of a link: a producer, a broker id, `controller` or `*`.
    pub fn peer(&self, name: &str) -> Option<Peer> {
        match name {
            "*" => Some(Peer::Any),
            "controller" => Some(Peer::Controller),
            _ => self
                .producer(name)
                .map(Peer::Producer)
                .or_else(|| self.broker(name).map(Peer::Broker)),
        }
    }

    /// All producers, in the order of the scenario.
    pub fn producers(&self) -> impl Iterator<Item = &str> {
        self.producers.iter().map(|producer| producer.name.as_str())
    }

    /// All broker ids.
    pub fn brokers(&self) -> impl Iterator<Item = u32> {
        self.brokers.iter().copied()
    }

    /// All topics, existing or not.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().map(|topic| topic.name.as_str())
    }

    /// All partitions by name.
    pub fn partitions(&self) -> impl Iterator<Item = String> {
        self.topics
            .iter()
            .flat_map(|topic| (0..topic.partitions).map(move |n| format!("{}-{n}", topic.name)))
    }

    /// A producer's name.
    pub fn producer_name(&self, producer: ProducerIndex) -> &str {
        self.producers
            .get(producer.index())
            .map_or("?", |producer| &producer.name)
    }

    /// A producer's client, and its configuration as it was given.
    pub fn client(&self, producer: ProducerIndex) -> Option<(ClientVersion, &[(String, String)])> {
        let producer = self.producers.get(producer.index())?;
        Some((producer.client, &producer.given))
    }

    /// A broker's id, as written.
    pub fn broker_name(&self, broker: BrokerIndex) -> String {
        self.brokers
            .get(broker.index())
            .map_or_else(|| "?".to_owned(), u32::to_string)
    }

    /// A partition's name.
    pub fn partition_name(&self, partition: PartitionIndex) -> String {
        let holds = |topic: &&TopicNames| {
            (topic.first..topic.first + topic.partitions).contains(&partition.0)
        };
        match self.topics.iter().find(holds) {
            Some(topic) => format!("{}-{}", topic.name, partition.0 - topic.first),
            None => "?".to_owned(),
        }
    }

    /// One end of a link, as written.
    pub fn peer_name(&self, peer: Peer) -> String {
        match peer {
            Peer::Any => "*".to_owned(),
            Peer::Controller => "controller".to_owned(),
            Peer::Producer(producer) => self.producer_name(producer).to_owned(),
            Peer::Broker(broker) => self.broker_name(broker),
        }
    }
}
