//! From a session to its report.

mod ledger;
mod stories;
mod topics;

use std::collections::BTreeMap;

use super::exposition;
use super::model::{
    ConsumerSummary, Expected, FORMAT, Happening, KeyOnPartition, KeysSummary, Latencies, Measured,
    MetricSummary, OutOfOrder, PartitionSummary, ProducerSummary, Report, SeriesRow, Totals,
    TransactionSummary, Warned, rounded,
};
use crate::insight::judge::Outcome;
use crate::insight::kind::kind_name;
use crate::insight::latency::Stage;
use crate::insight::ledger::LedgerField;
use crate::insight::metric::{Metric, ProducerFigure};
use crate::insight::sampler::client_metrics;
use crate::insight::sentence::sentence;
use crate::insight::series::Bucket;
use crate::insight::{names, path};
use crate::session::Session;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, ProducerIndex, TopicIndex,
};
use crate::sim::key_places::KeySpan;
use crate::sim::time::SimSpan;
use crate::sim::view::TransactionView;

impl Report {
    /// What `session` amounts to. It should be finished: expectations that are still pending
    /// count as inconclusive.
    pub fn of(session: &Session) -> Self {
        let config = session.simulation().config();
        let by_topic = topics::totals(session);
        let producers = (0..config.producers.len()).map(|index| ProducerIndex(index as u16));
        Self {
            format: FORMAT,
            scenario: session.scenario().name.clone(),
            title: session.scenario().title.clone(),
            seed: config.seed,
            version: env!("CARGO_PKG_VERSION"),
            simulated_seconds: rounded(session.now().as_seconds()),
            ended: session.is_over(),
            digest: format!("{:016x}", session.digest()),
            totals: totals(session),
            producers: producers
                .map(|producer| {
                    (
                        names::producer(config, producer).to_owned(),
                        of_producer(session, producer),
                    )
                })
                .collect(),
            partitions: session
                .simulation()
                .partitions()
                .map(|partition| {
                    (
                        names::partition(config, partition),
                        of_partition(session, partition, &by_topic),
                    )
                })
                .collect(),
            ledger: ledger::of(session),
            topics: topics::of(session),
            keys: keys(session),
            consumers: (0..config.groups.len() as u16)
                .map(|index| of_group(session, GroupIndex(index)))
                .collect(),
            transactions: transactions(session),
            expectations: expectations(session),
            warnings: warnings(session),
            happenings: happenings(session),
            start_epoch_ms: session.simulation().config().start_epoch_ms,
            series: Vec::new(),
        }
    }

    /// The same, with every sampled series.
    pub fn with_series(session: &Session) -> Self {
        let mut report = Self::of(session);
        report.series = series(session);
        report
    }
}

fn transactions(session: &Session) -> BTreeMap<String, TransactionSummary> {
    let views = session.simulation().transactions().into_iter();
    let summary = |view: TransactionView| {
        let (producer_id, epoch) = view.producer;
        let summary = TransactionSummary {
            state: view.state.name().to_owned(),
            producer_id,
            epoch,
        };
        (view.transactional_id.to_string(), summary)
    };
    views.map(summary).collect()
}

fn totals(session: &Session) -> Totals {
    let simulation = session.simulation();
    let account = session.insight().account(simulation);
    let producers = (0..simulation.config().producers.len()).map(|index| index as u16);
    let refusals = producers
        .map(|producer| {
            simulation
                .producer_totals(ProducerIndex(producer))
                .records_refused
        })
        .sum();
    Totals {
        refusals,
        records_sent: account.field(LedgerField::Sent),
        records_acked: account.field(LedgerField::Acked),
        records_failed: account.field(LedgerField::Failed),
        records_failed_present: account.field(LedgerField::FailedPresent),
        records_refused: account.field(LedgerField::Refused),
        records_abandoned: account.field(LedgerField::Abandoned),
        records_under_way: account.field(LedgerField::UnderWay),
        records_lost_acknowledged: account.field(LedgerField::LostAcknowledged),
        records_duplicated: account.field(LedgerField::Duplicated),
        records_reordered: account.field(LedgerField::Reordered),
    }
}

fn of_producer(session: &Session, producer: ProducerIndex) -> ProducerSummary {
    let insight = session.insight();
    let sampler = insight.sampler();
    let config = session.simulation().config();
    let prefix = format!("producer.{}.", names::producer(config, producer));
    let mut metrics: BTreeMap<String, MetricSummary> = client_metrics(config, producer)
        .into_iter()
        .map(|metric| {
            let last = now(session, metric);
            let summary = summary(sampler.summed(metric), last);
            let path = path::show(metric, config);
            let name = path.strip_prefix(prefix.as_str()).unwrap_or(&path);
            (name.to_owned(), summary)
        })
        .collect();
    for (metric, series) in sampler.all() {
        if let Metric::Producer(owner, ProducerFigure::Own(figure)) = metric
            && owner == producer
        {
            let summary = summary(Some(series.total()), series.last());
            metrics.insert(figure.name().to_owned(), summary);
        }
    }
    let errors = insight.errors(producer).iter();
    let latencies = Stage::ALL.into_iter().filter_map(|stage| {
        let found = insight.latency().percentiles(producer, stage)?;
        let latencies = Latencies {
            batches: found.batches,
            p50: millis(found.p50),
            p95: millis(found.p95),
            p99: millis(found.p99),
            max: millis(found.max),
        };
        Some((stage.name().replace(' ', "_"), latencies))
    });
    ProducerSummary {
        metrics,
        errors: errors
            .map(|(class, count)| (class.name().to_owned(), *count))
            .collect(),
        latency_ms: latencies.collect(),
    }
}

/// A metric of a client, as it would report it now.
fn now(session: &Session, metric: Metric) -> Option<f64> {
    let simulation = session.simulation();
    match metric {
        Metric::Producer(producer, ProducerFigure::Client(metric)) => {
            simulation.producer_metric(producer, metric)
        }
        Metric::Rdkafka(producer, figure) => simulation.rdkafka_figure(producer, figure),
        _ => None,
    }
}

fn summary(samples: Option<&Bucket>, last: Option<f64>) -> MetricSummary {
    let samples = samples.filter(|samples| !samples.is_empty());
    MetricSummary {
        last: Measured::new(last),
        min: Measured::new(samples.map(|samples| samples.min)),
        mean: Measured::new(samples.and_then(Bucket::mean)),
        max: Measured::new(samples.map(|samples| samples.max)),
    }
}

fn of_partition(
    session: &Session,
    partition: PartitionIndex,
    by_topic: &[u64],
) -> PartitionSummary {
    let view = session.simulation().partition(partition);
    let total = by_topic.get(view.topic.index()).copied().unwrap_or(0);
    let brokers = &session.simulation().config().brokers;
    let id = |broker: BrokerIndex| brokers.get(broker.index()).map(|broker| broker.id);
    PartitionSummary {
        leader: view.leader.and_then(id),
        isr: view.isr.iter().filter_map(|&broker| id(broker)).collect(),
        log_start_offset: view.log_start_offset,
        log_end_offset: view.log_end_offset,
        high_watermark: view.high_watermark,
        last_stable_offset: view.last_stable_offset,
        records_in: view.records_in,
        bytes_in: view.bytes_in,
        queued_bytes: view.queued_bytes,
        share: Measured::new((0 < total).then(|| view.records_in as f64 / total as f64)),
    }
}

/// Topics whose records are remembered, and where traced keys are there.
fn keys(session: &Session) -> BTreeMap<String, KeysSummary> {
    let simulation = session.simulation();
    let config = simulation.config();
    let topics = (0..config.topics.len()).map(|place| TopicIndex(place as u16));
    let of_topic = |topic| {
        let split = simulation.split_keys(topic)?;
        let traced = simulation.traced_keys().iter().filter_map(|key| {
            let history = simulation.key_history(topic, key)?;
            let spans = history.spans.iter();
            let spans = spans.map(|span| (names::partition(config, span.partition), of_span(span)));
            Some((names::key(key), spans.collect()))
        });
        let traced = traced.collect();
        let summary = KeysSummary {
            split,
            traced,
            stories: stories::of(session, topic),
        };
        Some((names::topic(config, topic).to_owned(), summary))
    };
    topics.filter_map(of_topic).collect()
}

fn of_span(span: &KeySpan) -> KeyOnPartition {
    KeyOnPartition {
        records: span.records,
        first_offset: span.first_offset,
        last_offset: span.last_offset,
        first_seconds: rounded(span.first_at.as_seconds()),
        last_seconds: rounded(span.last_at.as_seconds()),
    }
}

fn of_group(session: &Session, group: GroupIndex) -> (String, ConsumerSummary) {
    let simulation = session.simulation();
    let config = simulation.config();
    let view = simulation.group(group);
    let lag = view.partitions.iter().filter_map(|partition| {
        let name = names::partition(config, partition.partition);
        Some((name, partition.lag()?))
    });
    let members = (0..config.consumers.len() as u16)
        .map(|place| simulation.consumer(ConsumerIndex(place)))
        .filter(|view| view.group == group);
    let summary = ConsumerSummary {
        state: view.state.name(),
        generation: view.generation,
        members: view.members,
        idle_members: view.idle,
        records_consumed: members.map(|view| view.totals.records).sum(),
        lag: lag.collect(),
        out_of_order: simulation
            .reads_out_of_order(group)
            .map(|reads| OutOfOrder {
                records: reads.records,
                keys: reads.keys,
            }),
    };
    (names::group(config, group).to_owned(), summary)
}

fn expectations(session: &Session) -> Vec<Expected> {
    let judgements = session.insight().judgements().iter();
    judgements
        .map(|judgement| Expected {
            name: judgement.name.clone(),
            held: match judgement.outcome {
                Outcome::Held => Some(true),
                Outcome::Failed => Some(false),
                Outcome::Pending | Outcome::Inconclusive => None,
            },
            observed: judgement.observed.clone(),
        })
        .collect()
}

fn warnings(session: &Session) -> Vec<Warned> {
    let warnings = session.insight().warnings().all().iter();
    warnings
        .map(|warning| Warned {
            name: warning.name.to_owned(),
            text: warning.text.clone(),
            first_seconds: rounded(warning.first.as_seconds()),
            last_seconds: rounded(warning.last.as_seconds()),
        })
        .collect()
}

fn happenings(session: &Session) -> Vec<Happening> {
    let config = session.simulation().config();
    let markers = session.insight().log().markers().iter();
    markers
        .map(|marker| Happening {
            seconds: rounded(marker.at.as_seconds()),
            kind: kind_name(&marker.fact).to_owned(),
            text: sentence(&marker.fact, config),
            count: marker.count,
            last_seconds: rounded(marker.last_at.as_seconds()),
        })
        .collect()
}

fn series(session: &Session) -> Vec<SeriesRow> {
    let config = session.simulation().config();
    let mut rows = Vec::new();
    for (metric, series) in session.insight().sampler().all() {
        let path = path::show(metric, config);
        let exposed = exposition::exposed(metric, config);
        for (start, bucket) in series.timed().filter(|(_, bucket)| !bucket.is_empty()) {
            rows.push(SeriesRow {
                path: path.clone(),
                exposed: exposed.clone(),
                from_seconds: rounded(start.as_seconds()),
                to_seconds: rounded((start + series.bucket_span()).as_seconds()),
                last_seconds: rounded((start + series.bucket_span() - config.sample).as_seconds()),
                values: summary(Some(bucket), Some(bucket.last)),
            });
        }
    }
    rows
}

fn millis(span: SimSpan) -> f64 {
    rounded(span.as_nanos() as f64 / 1e6)
}
