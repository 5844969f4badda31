//! Producers over their quotas.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::rdkafka_metric::{RdkafkaBrokerMetric, WindowField};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::view::RdkafkaFigure;

/// Brokers answer with throttle times.
pub(super) struct Throttled;

impl Diagnosis for Throttled {
    fn name(&self) -> &'static str {
        "throttled"
    }

    fn summary(&self) -> &'static str {
        "producers are over their quotas"
    }

    fn scope(&self) -> Scope {
        Scope::Producers
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        if checkup.simulation.quotas().is_empty() {
            return Verdict::Quiet;
        }
        let Some((view, _, name)) = checkup.producer(subject) else {
            return Verdict::Quiet;
        };
        let throttle_ms = longest_ms(view.index, checkup);
        if throttle_ms <= 0.0 {
            return Verdict::Quiet;
        }
        Verdict::Raised(format!(
            "producer {name} is over its producer_byte_rate: brokers answer with up to \
             {throttle_ms} ms of throttle time, and do not read its connections for so long"
        ))
    }
}

/// The longest throttle time that the client's own windows hold.
fn longest_ms(producer: ProducerIndex, checkup: &Checkup<'_>) -> f64 {
    let simulation = checkup.simulation;
    let java = simulation.producer_metric(producer, ProducerMetric::ProduceThrottleTimeMax);
    let brokers = (0..checkup.config().brokers.len() as u16).map(BrokerIndex);
    let throttle = RdkafkaBrokerMetric::Throttle(WindowField::Max);
    let rdkafka = brokers.filter_map(|broker| {
        simulation.rdkafka_figure(producer, RdkafkaFigure::Broker(broker, throttle))
    });
    rdkafka.chain(java).fold(0.0, f64::max)
}
