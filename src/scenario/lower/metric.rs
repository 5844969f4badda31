//! Paths of metrics: whether what they name exists.
//!
//! Figures of our own (`kdrill-…`, broker, topic and ledger figures) are `insight`'s to know.

use crate::command::text::nearest;
use crate::kafka::metric_name::{ProducerMetric, ProducerNodeMetric, ProducerTopicMetric};
use crate::scenario::problem::Problem;
use crate::scenario::tree::Place;
use crate::sim::config::Config;

/// Checks a path of DESIGN §5 as far as the scenario itself decides it.
pub(super) fn check(path: &str, place: Place, config: &Config) -> Result<(), Problem> {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    let wrong =
        |title: String, near: Option<&str>| Err(Problem::new(title).at(place, "").maybe(near));
    match head {
        "producer" => producer(rest, place, config),
        "broker" => {
            let (id, metric) = rest.split_once('.').unwrap_or((rest, ""));
            if !config
                .brokers
                .iter()
                .any(|broker| broker.id.to_string() == id)
            {
                return wrong(format!("there is no broker `{id}`"), None);
            }
            named(metric, path, place)
        }
        "topic" => {
            let names = config.topics.iter().map(|topic| topic.name.as_str());
            if let Some(metric) = after_name(rest, names.clone()) {
                return named(metric, path, place);
            }
            let name = rest.split('.').next().unwrap_or("");
            wrong(format!("there is no topic `{name}`"), nearest(name, names))
        }
        "ledger" => named(rest, path, place),
        "consumer" | "txn" => wrong(
            format!("`{head}` metrics are not yet in this version"),
            None,
        ),
        _ => {
            let near = nearest(head, ["producer", "broker", "topic", "ledger"]);
            Err(Problem::new(format!("`{path}` is no path of a metric"))
                .at(
                    place,
                    "expected producer.NAME.METRIC, broker.N.…, topic.T.… or ledger.…",
                )
                .maybe(near))
        }
    }
}

fn producer(rest: &str, place: Place, config: &Config) -> Result<(), Problem> {
    let names = config
        .producers
        .iter()
        .map(|producer| producer.name.as_str());
    let Some(metric) = after_name(rest, names.clone()) else {
        let name = rest.split('.').next().unwrap_or("");
        let problem = Problem::new(format!("there is no producer `{name}`"));
        return Err(problem.at(place, "").maybe(nearest(name, names)));
    };
    if let Some(rest) = metric.strip_prefix("topic.") {
        let topics = config.topics.iter().map(|topic| topic.name.as_str());
        let Some(metric) = after_name(rest, topics.clone()) else {
            let name = rest.split('.').next().unwrap_or("");
            let problem = Problem::new(format!("there is no topic `{name}`"));
            return Err(problem.at(place, "").maybe(nearest(name, topics)));
        };
        let known = ProducerTopicMetric::ALL.iter().map(|metric| metric.name());
        return known_metric(metric, known.collect(), place);
    }
    if let Some(rest) = metric.strip_prefix("node.") {
        let (id, metric) = rest.split_once('.').unwrap_or((rest, ""));
        if id.parse::<i64>().is_err() {
            return Err(Problem::new(format!("`{id}` is not a node's id")).at(place, ""));
        }
        let known = ProducerNodeMetric::ALL.iter().map(|metric| metric.name());
        return known_metric(metric, known.collect(), place);
    }
    let known = ProducerMetric::ALL.iter().map(|metric| metric.name());
    known_metric(metric, known.collect(), place)
}

/// A metric of the client, its `true-` twin, or one of our own.
fn known_metric(metric: &str, known: Vec<&str>, place: Place) -> Result<(), Problem> {
    let name = metric.strip_prefix("true-").unwrap_or(metric);
    if metric.starts_with("kdrill-") || known.contains(&name) {
        return Ok(());
    }
    let near = nearest(name, known);
    Err(Problem::new(format!("the client has no metric `{metric}`"))
        .at(place, "")
        .maybe(near)
        .hint("figures that Kafka does not have begin with `true-` or `kdrill-`"))
}

fn named(metric: &str, path: &str, place: Place) -> Result<(), Problem> {
    if metric.is_empty() {
        return Err(Problem::new(format!("`{path}` names no metric")).at(place, ""));
    }
    Ok(())
}

/// What follows the longest of some names; names can hold dots.
fn after_name<'a, 'n>(rest: &'a str, names: impl Iterator<Item = &'n str>) -> Option<&'a str> {
    names
        .filter_map(|name| rest.strip_prefix(name)?.strip_prefix('.'))
        .min_by_key(|after| after.len())
}
