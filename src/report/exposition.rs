//! Names and labels of figures as Prometheus' users know them.
//!
//! A client's metric is named as the JMX exporter names it with lower-case names and its default
//! pattern: `kafka.producer:type=producer-metrics,client-id=…`, attribute `bufferpool-wait-ratio`,
//! is `kafka_producer_producer_metrics_bufferpool_wait_ratio{client_id="…"}`. A broker's is named by
//! its `MBean`, too. librdkafka's statistics have no exporter of their own: they are `librdkafka_`
//! and their path. What Kafka does not have begins with `kdrill_`.

use crate::insight::metric::{
    BrokerFigure, GroupFigure, Metric, PartitionFigure, ProducerFigure, TopicFigure,
};
use crate::insight::names;
use crate::insight::path;
use crate::kafka::metric_name::ConsumerMetric;
use crate::sim::config::Config;
use crate::sim::ids::ProducerIndex;

/// A figure as it is exposed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exposed {
    /// The metric's name.
    pub name: String,
    /// Its labels with their values, in order.
    pub labels: Vec<(&'static str, String)>,
}

/// How a figure is exposed.
pub(super) fn exposed(metric: Metric, config: &Config) -> Exposed {
    let (name, labels) = match metric {
        Metric::Producer(producer, ProducerFigure::Client(metric)) => {
            let name = format!("kafka_producer_producer_metrics_{}", metric.name());
            (name, of_client(producer, config))
        }
        Metric::Producer(producer, ProducerFigure::Own(figure)) => {
            (own("producer", figure.name()), of_client(producer, config))
        }
        Metric::ProducerTopic(producer, topic, metric) => {
            let mut labels = of_client(producer, config);
            labels.push(("topic", names::topic(config, topic).to_owned()));
            let name = format!("kafka_producer_producer_topic_metrics_{}", metric.name());
            (name, labels)
        }
        Metric::ProducerNode(producer, node, metric) => {
            let mut labels = of_client(producer, config);
            labels.push(("node_id", format!("node-{}", names::node(config, node))));
            let name = format!("kafka_producer_producer_node_metrics_{}", metric.name());
            (name, labels)
        }
        Metric::GroupClient(group, metric) => {
            let labels = vec![("group", names::group(config, group).to_owned())];
            (of_consumer(metric), labels)
        }
        Metric::Member(consumer, metric) => {
            let labels = vec![("member", names::consumer(config, consumer))];
            (of_consumer(metric), labels)
        }
        Metric::Group(group, figure) => {
            let labels = vec![("group", names::group(config, group).to_owned())];
            (own("group", GroupFigure::name(figure)), labels)
        }
        Metric::Broker(broker, figure) => {
            let labels = vec![("broker", names::broker(config, broker))];
            let name = match figure {
                BrokerFigure::LeaderCount => "kafka_server_replicamanager_leadercount".to_owned(),
                _ => own("broker", figure.name()),
            };
            (name, labels)
        }
        Metric::Topic(topic, figure) => {
            let labels = vec![("topic", names::topic(config, topic).to_owned())];
            (own("topic", TopicFigure::name(figure)), labels)
        }
        Metric::Partition(partition, figure) => {
            let labels = vec![
                ("topic", names::topic(config, partition.topic).to_owned()),
                ("partition", partition.number.to_string()),
            ];
            let name = match figure {
                PartitionFigure::LogStartOffset => "kafka_log_log_logstartoffset".to_owned(),
                PartitionFigure::LogEndOffset => "kafka_log_log_logendoffset".to_owned(),
                PartitionFigure::InSyncReplicas => {
                    "kafka_cluster_partition_insyncreplicascount".to_owned()
                }
                _ => own("partition", figure.name()),
            };
            (name, labels)
        }
        Metric::Ledger(field) => (own("ledger", field.name()), Vec::new()),
        Metric::LedgerOf(producer, field) => {
            let labels = vec![("producer", names::producer(config, producer).to_owned())];
            (own("ledger", field.name()), labels)
        }
        Metric::Rdkafka(producer, _) => of_statistics(metric, producer, config),
    };
    let name = sanitized(&name);
    Exposed { name, labels }
}

/// `producer.NAME.node.1.rtt.avg` as `librdkafka_node_rtt_avg{broker="1"}`: what stands between
/// dots and is a name of this run becomes a label.
fn of_statistics(
    metric: Metric,
    producer: ProducerIndex,
    config: &Config,
) -> (String, Vec<(&'static str, String)>) {
    let mut labels = of_client(producer, config);
    let whole = path::show(metric, config);
    let prefix = format!("producer.{}.", names::producer(config, producer));
    let rest = whole.strip_prefix(&prefix).unwrap_or(&whole);
    let name = if let Some(rest) = rest.strip_prefix("node.") {
        let (broker, figure) = rest.split_once('.').unwrap_or((rest, ""));
        labels.push(("broker", broker.to_owned()));
        format!("librdkafka_broker_{figure}")
    } else if let Some(rest) = rest.strip_prefix("topic.") {
        let mut topics = config.topics.iter().map(|topic| topic.name.as_str());
        let topic = topics
            .find(|topic| {
                rest.strip_prefix(*topic)
                    .is_some_and(|r| r.starts_with('.'))
            })
            .unwrap_or("");
        labels.push(("topic", topic.to_owned()));
        let figure = rest.get(topic.len() + 1..).unwrap_or(rest);
        match figure.split_once('.') {
            Some((number, figure)) if number.bytes().all(|b| b.is_ascii_digit()) => {
                labels.push(("partition", number.to_owned()));
                format!("librdkafka_partition_{figure}")
            }
            _ => format!("librdkafka_topic_{figure}"),
        }
    } else {
        format!("librdkafka_{rest}")
    };
    (name, labels)
}

fn of_client(producer: ProducerIndex, config: &Config) -> Vec<(&'static str, String)> {
    let client = &config.producers[producer.index()].client;
    vec![
        ("client_id", client.client_id().to_owned()),
        ("producer", names::producer(config, producer).to_owned()),
    ]
}

/// `kdrill_SUBJECT_FIGURE`, whatever the figure begins with.
fn own(subject: &str, figure: &str) -> String {
    let figure = figure.strip_prefix("kdrill-").unwrap_or(figure);
    format!("kdrill_{subject}_{figure}")
}

/// A consumer's metric by the JMX group that it is in.
fn of_consumer(metric: ConsumerMetric) -> String {
    let name = metric.name();
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    let group = if starts(&["records-", "bytes-", "fetch-"]) {
        "consumer_fetch_manager_metrics"
    } else if starts(&["last-poll", "time-between-poll"]) {
        "consumer_metrics"
    } else {
        "consumer_coordinator_metrics"
    };
    format!("kafka_consumer_{group}_{name}")
}

/// Letters, digits and `_` only, in lower case.
fn sanitized(name: &str) -> String {
    let fits = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    name.chars().map(fits).collect()
}
