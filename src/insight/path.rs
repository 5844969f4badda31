//! The paths of metrics, `producer.trips.buffer-available-bytes`: reading, writing, and saying
//! what is wrong with one.
//!
//! Names may contain dots. Where a path can be read in several ways, the longest name wins.

mod rdkafka;

use std::fmt;

use super::ledger::LedgerField;
use super::metric::{
    BrokerFigure, GroupFigure, Metric, OwnFigure, PartitionFigure, ProducerFigure, TopicFigure,
};
use super::names;
use crate::kafka::metric_name::{
    ConsumerMetric, ProducerMetric, ProducerNodeMetric, ProducerTopicMetric,
};
use crate::sim::config::Config;
use crate::sim::fact::Node;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition,
};

/// What is wrong with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathProblem {
    /// What, in a sentence without a full stop.
    pub message: String,
    /// The nearest word that exists, if one is near.
    pub nearest: Option<String>,
}

impl PathProblem {
    fn new<'a>(message: String, written: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            message,
            nearest: nearest(written, known).map(str::to_owned),
        }
    }
}

impl fmt::Display for PathProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean '{nearest}'?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PathProblem {}

/// Whether a run of this configuration has this figure, and if not, what is nearest.
pub fn check(path: &str, config: &Config) -> Result<(), PathProblem> {
    parse(path, config).map(|_| ())
}

/// The figure that `path` names.
pub fn parse(path: &str, config: &Config) -> Result<Metric, PathProblem> {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    match head {
        "producer" => parse_producer(rest, config),
        "broker" => parse_broker(rest, config),
        "topic" => parse_topic(rest, config),
        "ledger" => parse_ledger(rest, config),
        "consumer" => parse_consumer(rest, config),
        "txn" => Err(PathProblem {
            message: format!("'{head}' figures are not yet in this version"),
            nearest: None,
        }),
        _ => Err(PathProblem::new(
            format!(
                "a path begins with producer, consumer, broker, topic or ledger, not with '{head}'"
            ),
            head,
            ["producer", "consumer", "broker", "topic", "ledger"],
        )),
    }
}

/// The path of a figure.
pub fn show(metric: Metric, config: &Config) -> String {
    match metric {
        Metric::Producer(producer, figure) => {
            format!(
                "producer.{}.{}",
                names::producer(config, producer),
                figure.name()
            )
        }
        Metric::ProducerTopic(producer, topic, metric) => format!(
            "producer.{}.topic.{}.{}",
            names::producer(config, producer),
            names::topic(config, topic),
            metric.name(),
        ),
        Metric::ProducerNode(producer, node, metric) => format!(
            "producer.{}.node.{}.{}",
            names::producer(config, producer),
            names::node(config, node),
            metric.name(),
        ),
        Metric::GroupClient(group, metric) => {
            format!("consumer.{}.{}", names::group(config, group), metric.name())
        }
        Metric::Group(group, figure) => {
            format!("consumer.{}.{}", names::group(config, group), figure.name())
        }
        Metric::Member(consumer, metric) => {
            let name = names::consumer(config, consumer).replacen('/', ".", 1);
            format!("consumer.{name}.{}", metric.name())
        }
        Metric::Rdkafka(producer, figure) => rdkafka::show(producer, figure, config),
        Metric::Broker(broker, figure) => {
            format!("broker.{}.{}", names::broker(config, broker), figure.name())
        }
        Metric::Topic(topic, figure) => {
            format!("topic.{}.{}", names::topic(config, topic), figure.name())
        }
        Metric::Partition(partition, figure) => format!(
            "topic.{}.{}.{}",
            names::topic(config, partition.topic),
            partition.number,
            figure.name()
        ),
        Metric::Ledger(field) => format!("ledger.{}", field.name()),
        Metric::LedgerOf(producer, field) => {
            format!(
                "ledger.{}.{}",
                names::producer(config, producer),
                field.name()
            )
        }
    }
}

/// The nearest of the `known` words, if one is near enough to be meant.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = written.chars().count() / 3 + 1;
    known
        .into_iter()
        .map(|word| {
            (
                strsim::damerau_levenshtein(&written.to_lowercase(), &word.to_lowercase()),
                word,
            )
        })
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

fn parse_producer(rest: &str, config: &Config) -> Result<Metric, PathProblem> {
    let named = prefixes(
        rest,
        config
            .producers
            .iter()
            .map(|producer| producer.name.as_str()),
    );
    let mut first_problem = None;
    for (index, tail) in named {
        match parse_producer_tail(ProducerIndex(index as u16), tail, config) {
            Ok(metric) => return Ok(metric),
            Err(problem) => first_problem = first_problem.or(Some(problem)),
        }
    }
    Err(first_problem.unwrap_or_else(|| {
        let name = rest.split_once('.').map_or(rest, |(name, _)| name);
        let known = config
            .producers
            .iter()
            .map(|producer| producer.name.as_str());
        PathProblem::new(format!("there is no producer '{name}'"), name, known)
    }))
}

fn parse_producer_tail(
    producer: ProducerIndex,
    tail: &str,
    config: &Config,
) -> Result<Metric, PathProblem> {
    let client = config.producers.get(producer.index());
    if client.is_some_and(|producer| producer.client.rdkafka().is_some()) {
        return rdkafka::parse(producer, tail, config);
    }
    if let Some(rest) = tail.strip_prefix("topic.") {
        let topics = || config.topics.iter().map(|topic| topic.name.as_str());
        let Some((index, name)) = prefixes(rest, topics()).into_iter().next() else {
            return Err(no_such_topic(rest, config));
        };
        let known = ProducerTopicMetric::ALL.iter().map(|metric| metric.name());
        return ProducerTopicMetric::from_name(name)
            .map(|metric| Metric::ProducerTopic(producer, TopicIndex(index as u16), metric))
            .ok_or_else(|| no_such_figure("a producer has no topic metric", name, known));
    }
    if let Some(rest) = tail.strip_prefix("node.") {
        let (id, name) = rest.split_once('.').unwrap_or((rest, ""));
        let node = parse_node(id, config)?;
        let known = ProducerNodeMetric::ALL.iter().map(|metric| metric.name());
        return ProducerNodeMetric::from_name(name)
            .map(|metric| Metric::ProducerNode(producer, node, metric))
            .ok_or_else(|| no_such_figure("a producer has no node metric", name, known));
    }
    let own = OwnFigure::ALL.iter().map(|figure| figure.name());
    let known = own.chain(ProducerMetric::ALL.iter().map(|metric| metric.name()));
    ProducerFigure::from_name(tail)
        .map(|figure| Metric::Producer(producer, figure))
        .ok_or_else(|| no_such_figure("a producer has no figure", tail, known))
}

fn parse_node(id: &str, config: &Config) -> Result<Node, PathProblem> {
    let bootstrap = id
        .strip_prefix('-')
        .and_then(|number| number.parse::<usize>().ok());
    if let Some(number) = bootstrap
        && (1..=config.brokers.len()).contains(&number)
    {
        return Ok(Node::Bootstrap(BrokerIndex(number as u16 - 1)));
    }
    parse_broker_id(id, config).map(Node::Broker)
}

fn parse_consumer(rest: &str, config: &Config) -> Result<Metric, PathProblem> {
    let groups = || config.groups.iter().map(|group| group.name.as_str());
    let mut first_problem = None;
    for (index, tail) in prefixes(rest, groups()) {
        match parse_consumer_tail(GroupIndex(index as u16), tail, config) {
            Ok(metric) => return Ok(metric),
            Err(problem) => first_problem = first_problem.or(Some(problem)),
        }
    }
    Err(first_problem.unwrap_or_else(|| {
        let name = rest.split_once('.').map_or(rest, |(name, _)| name);
        PathProblem::new(
            format!("there is no consumer group '{name}'"),
            name,
            groups(),
        )
    }))
}

fn parse_consumer_tail(
    group: GroupIndex,
    tail: &str,
    config: &Config,
) -> Result<Metric, PathProblem> {
    if let Some((number, name)) = tail.split_once('.')
        && let Ok(number) = number.parse::<u16>()
    {
        let is_it = |consumer: &crate::sim::config::ConsumerConfig| {
            consumer.group == group && consumer.number == number
        };
        let Some(place) = config.consumers.iter().position(is_it) else {
            let group = names::group(config, group);
            return Err(PathProblem {
                message: format!("group {group} has no member {number}"),
                nearest: None,
            });
        };
        let known = ConsumerMetric::ALL.iter().map(|metric| metric.name());
        return ConsumerMetric::from_name(name)
            .map(|metric| Metric::Member(ConsumerIndex(place as u16), metric))
            .ok_or_else(|| no_such_figure("a consumer has no metric", name, known));
    }
    let own = GroupFigure::from_name(tail).map(|figure| Metric::Group(group, figure));
    let client =
        || ConsumerMetric::from_name(tail).map(|metric| Metric::GroupClient(group, metric));
    own.or_else(client).ok_or_else(|| {
        let figures = GroupFigure::ALL.iter().map(|figure| figure.name());
        let known = figures.chain(ConsumerMetric::ALL.iter().map(|metric| metric.name()));
        no_such_figure("a consumer group has no figure", tail, known)
    })
}

fn parse_broker(rest: &str, config: &Config) -> Result<Metric, PathProblem> {
    let (id, name) = rest.split_once('.').unwrap_or((rest, ""));
    let broker = parse_broker_id(id, config)?;
    let known = BrokerFigure::ALL.iter().map(|figure| figure.name());
    BrokerFigure::from_name(name)
        .map(|figure| Metric::Broker(broker, figure))
        .ok_or_else(|| no_such_figure("a broker has no figure", name, known))
}

fn parse_broker_id(id: &str, config: &Config) -> Result<BrokerIndex, PathProblem> {
    let wanted = id.parse::<u32>().ok();
    let index = config
        .brokers
        .iter()
        .position(|broker| Some(broker.id) == wanted);
    index.map(|index| BrokerIndex(index as u16)).ok_or_else(|| {
        let ids: Vec<String> = config
            .brokers
            .iter()
            .map(|broker| broker.id.to_string())
            .collect();
        PathProblem {
            message: format!("there is no broker '{id}'; the ids are {}", ids.join(", ")),
            nearest: None,
        }
    })
}

fn parse_topic(rest: &str, config: &Config) -> Result<Metric, PathProblem> {
    let topics = config.topics.iter().map(|topic| topic.name.as_str());
    let mut first_problem = None;
    for (index, tail) in prefixes(rest, topics) {
        match parse_topic_tail(TopicIndex(index as u16), tail, config) {
            Ok(metric) => return Ok(metric),
            Err(problem) => first_problem = first_problem.or(Some(problem)),
        }
    }
    Err(first_problem.unwrap_or_else(|| no_such_topic(rest, config)))
}

fn parse_topic_tail(topic: TopicIndex, tail: &str, config: &Config) -> Result<Metric, PathProblem> {
    if let Some((number, name)) = tail.split_once('.')
        && let Ok(number) = number.parse::<u32>()
    {
        let partition = partition_of(config, topic, number)?;
        let known = PartitionFigure::ALL.iter().map(|figure| figure.name());
        return PartitionFigure::from_name(name)
            .map(|figure| Metric::Partition(partition, figure))
            .ok_or_else(|| no_such_figure("a partition has no figure", name, known));
    }
    let known = TopicFigure::ALL.iter().map(|figure| figure.name());
    TopicFigure::from_name(tail)
        .map(|figure| Metric::Topic(topic, figure))
        .ok_or_else(|| no_such_figure("a topic has no figure", tail, known))
}

/// `ledger.FIELD`, or of one producer `ledger.NAME.FIELD`.
fn parse_ledger(rest: &str, config: &Config) -> Result<Metric, PathProblem> {
    let find = |name: &str| {
        let mut fields = LedgerField::ALL.into_iter();
        fields.find(|field| field.name() == name)
    };
    if let Some(field) = find(rest) {
        return Ok(Metric::Ledger(field));
    }
    let names = config
        .producers
        .iter()
        .map(|producer| producer.name.as_str());
    let of_producer = prefixes(rest, names).into_iter().next();
    let (place, name) = of_producer.unzip();
    let name = name.unwrap_or(rest);
    if let (Some(place), Some(field)) = (place, find(name)) {
        return Ok(Metric::LedgerOf(ProducerIndex(place as u16), field));
    }
    let known = LedgerField::ALL.iter().map(|field| field.name());
    Err(no_such_figure("the ledger has no field", name, known))
}

fn no_such_figure<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> PathProblem {
    PathProblem::new(format!("{what} '{name}'"), name, known)
}

fn no_such_topic(rest: &str, config: &Config) -> PathProblem {
    let name = rest.split_once('.').map_or(rest, |(name, _)| name);
    let known = config.topics.iter().map(|topic| topic.name.as_str());
    PathProblem::new(format!("there is no topic '{name}'"), name, known)
}

/// The names that `rest` begins with, each with its position and what follows behind the dot;
/// the longest name first.
fn prefixes<'a>(rest: &'a str, names: impl Iterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    let mut found: Vec<(usize, &str)> = names
        .enumerate()
        .filter_map(|(index, name)| {
            let tail = rest.strip_prefix(name)?.strip_prefix('.')?;
            Some((index, tail))
        })
        .collect();
    found.sort_by_key(|&(_, tail)| tail.len());
    found
}

/// A partition that a topic has, or gets in the course of the run.
fn partition_of(
    config: &Config,
    topic: TopicIndex,
    number: u32,
) -> Result<TopicPartition, PathProblem> {
    let partitions = config.partitions_planned(topic);
    if number < partitions {
        return Ok(TopicPartition { topic, number });
    }
    let name = names::topic(config, topic);
    Err(PathProblem {
        message: format!("topic {name} has no partition {number}; it has {partitions}"),
        nearest: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::testing::config;
    fn problem(path: &str) -> String {
        parse(path, &config()).unwrap_err().to_string()
    }

    #[test]
    fn every_figure_of_a_run_is_found_by_the_path_that_it_shows() {
        let config = config();
        let paths = [
            "producer.trips.buffer-available-bytes",
            "producer.trips.true-wait-share",
            "producer.trips.topic.events.byte-rate",
            "producer.trips.node.2.request-rate",
            "producer.trips.node.-1.request-rate",
            "broker.1.kdrill-disk-backlog-ms",
            "topic.events.kdrill-max-over-mean",
            "topic.events.2.LogEndOffset",
            "ledger.records-acked",
            "ledger.trips.eu.records-duplicated-by-epoch-bump",
        ];
        for path in paths {
            let metric = parse(path, &config).unwrap_or_else(|problem| panic!("{path}: {problem}"));
            assert_eq!(show(metric, &config), path);
        }
    }

    #[test]
    fn where_names_have_dots_the_longest_one_that_makes_sense_wins() {
        let config = config();
        let longest = parse("producer.trips.eu.buffer-available-bytes", &config).unwrap();
        assert!(matches!(longest, Metric::Producer(ProducerIndex(1), _)));
        // `events.3` has no partition 3, but a topic of that name has the figure.
        let topic = parse("topic.events.3.kdrill-records-in", &config).unwrap();
        assert!(matches!(topic, Metric::Topic(TopicIndex(1), _)));
        let partition = parse("topic.events.3.1.kdrill-records-in", &config).unwrap();
        assert_eq!(
            partition,
            Metric::Partition(
                TopicPartition {
                    topic: TopicIndex(1),
                    number: 1
                },
                PartitionFigure::RecordsIn
            )
        );
    }

    #[test]
    fn what_a_run_does_not_have_is_refused_with_the_nearest_name() {
        assert_eq!(
            problem("producer.trips.buffer-avaliable-bytes"),
            "a producer has no figure 'buffer-avaliable-bytes'; \
             did you mean 'buffer-available-bytes'?"
        );
        assert_eq!(
            problem("producer.trip.record-send-rate"),
            "there is no producer 'trip'; did you mean 'trips'?"
        );
        assert_eq!(
            problem("topic.events.7.LogEndOffset"),
            "topic events has no partition 7; it has 3"
        );
        assert_eq!(
            problem("broker.9.LeaderCount"),
            "there is no broker '9'; the ids are 1, 2"
        );
        assert_eq!(
            problem("ledger.records-lost"),
            "the ledger has no field 'records-lost'; did you mean 'records-sent'?"
        );
        assert_eq!(
            problem("consumer.g.kdrill-lag"),
            "there is no consumer group 'g'"
        );
        assert!(problem("producers.trips.x").ends_with("did you mean 'producer'?"));
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        let config = config();
        let texts = [
            "",
            ".",
            "producer",
            "producer.",
            "producer.trips",
            "producer.trips.",
            "producer.trips.topic.",
            "producer.trips.node",
            "topic.events.",
            "topic.events.99999999999.x",
            "ledger",
            "broker..",
            "\u{1b}[31m",
            "producer.trips.topic.events.3.byte-rate",
        ];
        for text in texts {
            let _checked = check(text, &config);
        }
    }
}
