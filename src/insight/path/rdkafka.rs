//! Paths of librdkafka's statistics, `producer.clicks.topic.events.batchcnt.avg`.
//!
//! They follow the statistics JSON with kdrill's words for its objects: `node.N` is the broker of
//! `brokers` with this id, `topic.T` one of `topics`, and `topic.T.P` one of its `partitions`.

use super::{PathProblem, no_such_figure, no_such_topic, parse_broker_id, partition_of, prefixes};
use crate::insight::metric::{Metric, OwnFigure, ProducerFigure};
use crate::insight::names;
use crate::kafka::rdkafka_metric::{
    RdkafkaBrokerMetric, RdkafkaMetric, RdkafkaPartitionMetric, RdkafkaTopicMetric,
};
use crate::sim::config::Config;
use crate::sim::ids::{ProducerIndex, TopicIndex};
use crate::sim::view::RdkafkaFigure;

/// The figure behind a producer's name.
pub(super) fn parse(
    producer: ProducerIndex,
    tail: &str,
    config: &Config,
) -> Result<Metric, PathProblem> {
    let found = |figure| Metric::Rdkafka(producer, figure);
    if let Some(rest) = tail.strip_prefix("topic.") {
        return parse_topic(rest, config).map(found);
    }
    if let Some(rest) = tail.strip_prefix("node.") {
        let (id, name) = rest.split_once('.').unwrap_or((rest, ""));
        let broker = parse_broker_id(id, config)?;
        let known = RdkafkaBrokerMetric::all().map(RdkafkaBrokerMetric::name);
        return RdkafkaBrokerMetric::from_name(name)
            .map(|metric| found(RdkafkaFigure::Broker(broker, metric)))
            .ok_or_else(|| no_such_figure("librdkafka has no broker figure", name, known));
    }
    if let Some(figure) = OwnFigure::from_name(tail) {
        return Ok(Metric::Producer(producer, ProducerFigure::Own(figure)));
    }
    let own = OwnFigure::ALL.iter().map(|figure| figure.name());
    let known = own.chain(RdkafkaMetric::all().map(RdkafkaMetric::name));
    RdkafkaMetric::from_name(tail)
        .map(|metric| found(RdkafkaFigure::Client(metric)))
        .ok_or_else(|| no_such_figure("a librdkafka producer has no figure", tail, known))
}

fn parse_topic(rest: &str, config: &Config) -> Result<RdkafkaFigure, PathProblem> {
    let topics = config.topics.iter().map(|topic| topic.name.as_str());
    let Some((index, name)) = prefixes(rest, topics).into_iter().next() else {
        return Err(no_such_topic(rest, config));
    };
    let topic = TopicIndex(index as u16);
    if let Some((number, name)) = name.split_once('.')
        && let Ok(number) = number.parse::<u32>()
    {
        let partition = partition_of(config, topic, number)?;
        let known = RdkafkaPartitionMetric::all().map(RdkafkaPartitionMetric::name);
        return RdkafkaPartitionMetric::from_name(name)
            .map(|metric| RdkafkaFigure::Partition(partition, metric))
            .ok_or_else(|| no_such_figure("librdkafka has no partition figure", name, known));
    }
    let known = RdkafkaTopicMetric::all().map(RdkafkaTopicMetric::name);
    RdkafkaTopicMetric::from_name(name)
        .map(|metric| RdkafkaFigure::Topic(topic, metric))
        .ok_or_else(|| no_such_figure("librdkafka has no topic figure", name, known))
}

/// The path of a figure.
pub(super) fn show(producer: ProducerIndex, figure: RdkafkaFigure, config: &Config) -> String {
    let producer = names::producer(config, producer);
    match figure {
        RdkafkaFigure::Client(metric) => format!("producer.{producer}.{}", metric.name()),
        RdkafkaFigure::Broker(broker, metric) => format!(
            "producer.{producer}.node.{}.{}",
            names::broker(config, broker),
            metric.name()
        ),
        RdkafkaFigure::Topic(topic, metric) => format!(
            "producer.{producer}.topic.{}.{}",
            names::topic(config, topic),
            metric.name()
        ),
        RdkafkaFigure::Partition(partition, metric) => {
            let topic = names::topic(config, partition.topic);
            let (number, metric) = (partition.number, metric.name());
            format!("producer.{producer}.topic.{topic}.{number}.{metric}")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::insight::path;
    use crate::sim::testing::{rdkafka, world};

    #[test]
    fn every_figure_is_found_by_the_path_that_it_shows() {
        let mut config = world();
        config.producers[0] = rdkafka("trips", |_| {});
        let paths = [
            "producer.trips.msg_cnt",
            "producer.trips.eos.producer_epoch",
            "producer.trips.node.2.rtt.p99",
            "producer.trips.node.1.req.Produce",
            "producer.trips.topic.events.batchcnt.avg",
            "producer.trips.topic.events.3.msgs_inflight",
            "producer.trips.kdrill-records-acked",
        ];
        for path in paths {
            let metric = path::parse(path, &config).unwrap_or_else(|p| panic!("{path}: {p}"));
            assert_eq!(path::show(metric, &config), path);
        }
    }

    #[test]
    fn a_java_metric_is_refused_with_what_is_nearest() {
        let mut config = world();
        config.producers[0] = rdkafka("trips", |_| {});
        let problem = |path| path::parse(path, &config).unwrap_err().to_string();
        assert_eq!(
            problem("producer.trips.msg_count"),
            "a librdkafka producer has no figure 'msg_count'; did you mean 'msg_cnt'?"
        );
        assert!(problem("producer.trips.buffer-available-bytes").starts_with("a librdkafka"));
        assert!(problem("producer.trips.topic.events.99.msgs").contains("no partition 99"));
    }
}
