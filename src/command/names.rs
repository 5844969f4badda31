//! The names that commands use, looked up both ways.

use crate::sim::config::{ClientConfig, Config, ConsumerConfig, Peer};
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition,
};

use super::setting::ClientVersion;

/// Who and what a run has: producers, brokers and partitions by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    producers: Vec<ProducerNames>,
    brokers: Vec<u32>,
    topics: Vec<TopicNames>,
    groups: Vec<GroupNames>,
    /// Traced keys that are text.
    keys: Vec<String>,
    /// Each once, sorted.
    transactional_ids: Vec<String>,
}

/// One consumer group: its members stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GroupNames {
    name: String,
    /// Its first member, counted over all groups.
    first: u16,
    members: u16,
}

/// A member of a group, found by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberName {
    /// Whose member.
    pub group: GroupIndex,
    /// Its number there, from 1.
    pub number: u16,
    /// Its place over all groups.
    pub consumer: ConsumerIndex,
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
    /// How many it has now.
    partitions: u32,
}

impl Names {
    /// The names of a run.
    pub fn of(config: &Config) -> Self {
        let client = |client: &ClientConfig| match client {
            ClientConfig::Java(settings) => ClientVersion::Java(settings.version),
            ClientConfig::Rdkafka(settings) => ClientVersion::Rdkafka(settings.version),
        };
        let topics = config
            .topics
            .iter()
            .zip(0..)
            .map(|(topic, place)| TopicNames {
                name: topic.name.clone(),
                partitions: config.partitions_of(TopicIndex(place)),
            });
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
            topics: topics.collect(),
            groups: group_names(config),
            keys: traced_keys(config),
            transactional_ids: transactional_ids(config),
        }
    }

    /// Each `transactional.id` of a producer once, sorted.
    pub fn transactional_ids(&self) -> &[String] {
        &self.transactional_ids
    }

    /// Keys whose records are traced, where they are text.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    /// The names of a run, with the partitions that its timeline adds.
    pub fn planned(config: &Config) -> Self {
        let mut names = Self::of(config);
        for topic in (0..config.topics.len()).map(|place| TopicIndex(place as u16)) {
            names.set_partitions(topic, config.partitions_planned(topic));
        }
        names
    }

    /// How many partitions a topic has by now; 0 where the cluster lacks it.
    pub fn partitions_of(&self, topic: TopicIndex) -> u32 {
        let topic = self.topics.get(topic.index());
        topic.map_or(0, |topic| topic.partitions)
    }

    /// A topic has so many partitions by now.
    pub fn set_partitions(&mut self, topic: TopicIndex, partitions: u32) {
        if let Some(topic) = self.topics.get_mut(topic.index()) {
            topic.partitions = partitions;
        }
    }

    /// Names without a run.
    #[cfg(test)]
    pub(crate) fn for_tests(producers: &[&str], brokers: &[u32], topics: &[(&str, u32)]) -> Self {
        let mut names = Self {
            brokers: brokers.to_vec(),
            ..Self::default()
        };
        for (name, partitions) in topics {
            let name = (*name).to_owned();
            names.topics.push(TopicNames {
                name,
                partitions: *partitions,
            });
        }
        let producer = |name: &&str| ProducerNames {
            name: (*name).to_owned(),
            client: ClientVersion::Java(crate::kafka::version::KafkaVersion::DEFAULT),
            given: Vec::new(),
        };
        names.producers = producers.iter().map(producer).collect();
        names
    }

    /// The same names with transactional ids.
    #[cfg(test)]
    pub(crate) fn with_transactional_ids(mut self, ids: &[&str]) -> Self {
        self.transactional_ids = ids.iter().map(|&id| id.to_owned()).collect();
        self
    }

    /// The same names with consumer groups of so many members.
    #[cfg(test)]
    pub(crate) fn with_groups(mut self, groups: &[(&str, u16)]) -> Self {
        let mut first = 0;
        for (name, members) in groups {
            let name = (*name).to_owned();
            self.groups.push(GroupNames {
                name,
                first,
                members: *members,
            });
            first += members;
        }
        self
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

    /// The topic with this name.
    pub fn topic(&self, name: &str) -> Option<TopicIndex> {
        let at = self.topics.iter().position(|known| known.name == name)?;
        Some(TopicIndex(at as u16))
    }

    /// The partition with this name: `events-3`.
    pub fn partition(&self, name: &str) -> Option<TopicPartition> {
        let (topic, number) = name.rsplit_once('-')?;
        let topic = self.topic(topic)?;
        let number = number
            .parse::<u32>()
            .ok()
            .filter(|number| *number < self.topics[topic.index()].partitions)?;
        Some(TopicPartition { topic, number })
    }

    /// One end of a link: a producer, a broker id, `controller` or `*`.
    pub fn peer(&self, name: &str) -> Option<Peer> {
        match name {
            "*" => Some(Peer::Any),
            "controller" => Some(Peer::Controller),
            _ => self
                .producer(name)
                .map(Peer::Producer)
                .or_else(|| self.broker(name).map(Peer::Broker))
                .or_else(|| self.group(name).map(Peer::Group))
                .or_else(|| self.member(name).map(|m| Peer::Member(m.group, m.number))),
        }
    }

    /// The consumer group with this name.
    pub fn group(&self, name: &str) -> Option<GroupIndex> {
        let at = self.groups.iter().position(|group| group.name == name)?;
        Some(GroupIndex(at as u16))
    }

    /// The member of a group with this name: `timelines/2`.
    pub fn member(&self, name: &str) -> Option<MemberName> {
        let (group, number) = name.rsplit_once('/')?;
        let group = self.group(group)?;
        let number = number.parse::<u16>().ok()?;
        let known = &self.groups[group.index()];
        (1..=known.members).contains(&number).then(|| MemberName {
            group,
            number,
            consumer: ConsumerIndex(known.first + number - 1),
        })
    }

    /// All consumer groups, in the order of the scenario.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|group| group.name.as_str())
    }

    /// All members of all groups: `timelines/1`.
    pub fn members(&self) -> impl Iterator<Item = String> {
        self.groups
            .iter()
            .flat_map(|group| (1..=group.members).map(move |n| format!("{}/{n}", group.name)))
    }

    /// A group's name.
    pub fn group_name(&self, group: GroupIndex) -> &str {
        self.groups
            .get(group.index())
            .map_or("?", |group| group.name.as_str())
    }

    /// A member's name.
    pub fn consumer_name(&self, consumer: ConsumerIndex) -> String {
        let holds =
            |group: &&GroupNames| (group.first..group.first + group.members).contains(&consumer.0);
        match self.groups.iter().find(holds) {
            Some(group) => format!("{}/{}", group.name, consumer.0 - group.first + 1),
            None => "?".to_owned(),
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

    /// A topic's name.
    pub fn topic_name(&self, topic: TopicIndex) -> &str {
        self.topics
            .get(topic.index())
            .map_or("?", |topic| &topic.name)
    }

    /// A partition's name.
    pub fn partition_name(&self, partition: TopicPartition) -> String {
        format!("{}-{}", self.topic_name(partition.topic), partition.number)
    }

    /// One end of a link, as written.
    pub fn peer_name(&self, peer: Peer) -> String {
        match peer {
            Peer::Any => "*".to_owned(),
            Peer::Controller => "controller".to_owned(),
            Peer::Producer(producer) => self.producer_name(producer).to_owned(),
            Peer::Broker(broker) => self.broker_name(broker),
            Peer::Group(group) => self.group_name(group).to_owned(),
            Peer::Member(group, number) => format!("{}/{number}", self.group_name(group)),
        }
    }
}

fn traced_keys(config: &Config) -> Vec<String> {
    let traced = config.producers.iter().flat_map(|producer| &producer.trace);
    let texts = traced.filter_map(|key| String::from_utf8(key.clone()).ok());
    let mut keys: Vec<String> = texts.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn transactional_ids(config: &Config) -> Vec<String> {
    let producers = config.producers.iter();
    let ids = producers.filter_map(|producer| producer.client.transactional_id());
    let mut ids: Vec<String> = ids.map(str::to_owned).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn group_names(config: &Config) -> Vec<GroupNames> {
    let mut first = 0;
    let mut groups = Vec::new();
    for (place, group) in config.groups.iter().enumerate() {
        let is_of = |consumer: &&ConsumerConfig| consumer.group.index() == place;
        let members = config.consumers.iter().filter(is_of).count() as u16;
        let name = group.name.clone();
        groups.push(GroupNames {
            name,
            first,
            members,
        });
        first += members;
    }
    groups
}
