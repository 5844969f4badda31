//! Generated load.

use std::sync::Arc;

use crate::kafka::metric_name::ProducerMetric;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::sim::config::{
    Arrival, AtEnd, AwaitAcks, LoadConfig, LoadTransaction, OnFailed, OnFenced, OnRefused, Pacing,
    Rate, RateStep, Throttle, TransactionEnd,
};
use crate::sim::ids::TopicIndex;
use crate::sim::time::{SimSpan, SimTime};

use super::dialect::Dialect;
use super::{World, keys, rdkafka, values};

/// One `[[producer.load]]`.
pub(super) fn load(world: &mut World<'_>, fields: &Fields<'_>, dialect: Dialect) -> LoadConfig {
    let name = fields.text("topic").unwrap_or("?");
    let topic = world.topic(name, fields.place_of("topic"), dialect);
    let mut keys = keys::keys(world, fields);
    keys.explicit_partition = fields.whole("partition");
    explicit_partition(world, fields, topic.index(), dialect);
    let polling = rdkafka::polling(world, fields, dialect);
    let replay = replay(world, fields, topic);
    let on_refused = match replay {
        // Order is what a copy is for.
        Some(_) if !fields.has("on-refused") => OnRefused::Retry,
        _ => on_refused(fields),
    };
    rdkafka::check_load(world, fields, dialect, (polling, on_refused));
    LoadConfig {
        topic,
        replay,
        rate: rate(world, fields),
        pacing: match fields.text("pacing") {
            Some("open") => Pacing::Open,
            _ => Pacing::Closed,
        },
        arrival: match fields.text("arrival") {
            Some("poisson") => Arrival::Poisson,
            _ => Arrival::Constant,
        },
        threads: fields.whole("threads").unwrap_or(1),
        keys: Arc::new(keys),
        values: values::values(world, fields),
        compresses_to_ppm: values::compresses_to_ppm(fields),
        await_acks: await_acks(fields),
        polling,
        on_refused,
        on_failed: match fields.text("on-failed") {
            Some("resend") => OnFailed::Resend,
            Some("spill") => OnFailed::Spill,
            _ => OnFailed::Count,
        },
        throttle: throttle(world, fields),
        records_max: fields.whole("records"),
        at_end: at_end(world, fields),
        transaction: transaction(world, fields),
    }
}

/// When transactions are committed, and what becomes of a fenced client.
fn transaction(world: &mut World<'_>, fields: &Fields<'_>) -> Option<LoadTransaction> {
    let table = fields.table("transaction")?;
    let every = table.duration("every").filter(|_| table.has("every"));
    let ends = match (table.whole::<u32>("records"), every) {
        (Some(records), None) => TransactionEnd::Records(records),
        (None, Some(every)) if every > SimSpan::ZERO => TransactionEnd::Every(every),
        _ => {
            let problem = Problem::new("a transaction ends in one way");
            let label = "expected { records = 500 } or { every = \"1s\" }";
            world.problem(problem.at(table.place, label));
            return None;
        }
    };
    let rebuild = fields.table("on-fenced");
    let rebuild = rebuild.and_then(|table| table.duration("rebuild-after"));
    let on_fenced = rebuild.map_or(OnFenced::Exit, OnFenced::Rebuild);
    Some(LoadTransaction { ends, on_fenced })
}

/// The topic that a load copies.
fn replay(world: &mut World<'_>, fields: &Fields<'_>, topic: TopicIndex) -> Option<TopicIndex> {
    let place = fields.place_of("replay");
    let source = world.topic_that(fields.text("replay")?, place, "there is nothing to copy");
    let exists = world
        .topics
        .get(source.index())
        .is_some_and(|topic| topic.existing.is_some());
    if source == topic {
        let problem = Problem::new("a load cannot copy a topic into itself");
        world.problem(problem.at(place, "expected another topic"));
    } else if !exists {
        let problem = Problem::new("there is no such topic to copy");
        world.problem(problem.at(place, "expected a topic of the cluster"));
    }
    let others = [
        "key",
        "value",
        "partition",
        "pacing",
        "arrival",
        "on-failed",
    ];
    for other in others.into_iter().filter(|other| fields.has(other)) {
        let problem = Problem::new(format!("a load with `replay` takes no `{other}`"));
        let label = "keys, values and their order are those of the topic that is copied";
        world.problem(problem.at(fields.place_of(other), label));
    }
    if fields
        .whole::<u32>("threads")
        .is_some_and(|threads| threads > 1)
    {
        let problem = Problem::new("a load with `replay` has one thread");
        world.problem(problem.at(fields.place_of("threads"), "several would break the order"));
    }
    Some(source)
}

/// A partition that a topic does not have is legal: the client waits for it.
fn explicit_partition(world: &mut World<'_>, fields: &Fields<'_>, topic: usize, dialect: Dialect) {
    let existing = world
        .topics
        .get(topic)
        .and_then(|topic| topic.existing.as_ref());
    let partitions = existing.map(|existing| existing.replicas.len());
    if let (Some(partition), Some(count)) = (fields.whole::<usize>("partition"), partitions)
        && partition >= count
    {
        let note = Problem::new(format!("the topic has {count} partitions, from 0"));
        let label = dialect.of_unknown_partition();
        world
            .findings
            .note(note.at(fields.place_of("partition"), label));
    }
}

fn rate(world: &mut World<'_>, fields: &Fields<'_>) -> Rate {
    if fields.text("rate") == Some("max") {
        return Rate::Max;
    }
    let steps = fields.tables("rate");
    if let Some(rate) = fields.record_rate("rate").filter(|_| steps.is_empty()) {
        if rate == 0 {
            let problem = Problem::new("`rate` is zero");
            world.problem(
                problem
                    .at(fields.place_of("rate"), "expected more than nothing")
                    .hint("a load that starts later: rate = [{ from = \"10s\", rate = 1000 }]"),
            );
        }
        return Rate::Steps(vec![RateStep {
            from: SimTime::ZERO,
            micro_records_per_second: rate,
            ramp: SimSpan::ZERO,
        }]);
    }
    Rate::Steps(rate_steps(world, fields, &steps))
}

fn rate_steps(world: &mut World<'_>, fields: &Fields<'_>, steps: &[Fields<'_>]) -> Vec<RateStep> {
    let mut lowered: Vec<RateStep> = Vec::new();
    for step in steps {
        let from = world.moment(step, "from").unwrap_or(SimTime::ZERO);
        if lowered.last().is_some_and(|last| last.from >= from) {
            let problem = Problem::new("steps of `rate` are not in the order of time");
            world.problem(problem.at(step.place, "not after the one before"));
        }
        lowered.push(RateStep {
            from,
            micro_records_per_second: step.record_rate("rate").unwrap_or(1),
            ramp: step.duration("ramp").unwrap_or(SimSpan::ZERO),
        });
    }
    let is_silent = lowered
        .iter()
        .all(|step| step.micro_records_per_second == 0);
    if fields.has("rate") && is_silent && world.findings.is_clean() {
        let problem = Problem::new("`rate` is zero all the time");
        world.problem(problem.at(fields.place_of("rate"), "expected more than nothing"));
    }
    lowered
}

fn await_acks(fields: &Fields<'_>) -> AwaitAcks {
    match fields.table("await").and_then(|table| table.whole("every")) {
        Some(every) => AwaitAcks::Every(every),
        None if fields.text("await") == Some("each") => AwaitAcks::Every(1),
        None => AwaitAcks::None,
    }
}

fn on_refused(fields: &Fields<'_>) -> OnRefused {
    match fields
        .table("on-refused")
        .and_then(|table| table.duration("pause"))
    {
        Some(pause) => OnRefused::Pause(pause),
        None => match fields.text("on-refused") {
            Some("retry") => OnRefused::Retry,
            Some("spill") => OnRefused::Spill,
            Some("block") => OnRefused::Block,
            _ => OnRefused::Drop,
        },
    }
}

fn throttle(world: &mut World<'_>, fields: &Fields<'_>) -> Option<Throttle> {
    let table = fields.table("throttle")?;
    let name = table.text("metric")?;
    let Some(metric) = ProducerMetric::from_name(name) else {
        let known = ProducerMetric::ALL.iter().map(|metric| metric.name());
        let near = crate::command::text::nearest(name, known);
        let problem = Problem::new(format!("a producer has no metric `{name}`"));
        world.problem(
            problem
                .at(table.place_of("metric"), "not known")
                .maybe(near),
        );
        return None;
    };
    Some(Throttle {
        metric,
        above: table.number("above")?,
        factor_ppm: (table.number("factor")? * 1e6).round() as u32,
    })
}

fn at_end(world: &mut World<'_>, fields: &Fields<'_>) -> AtEnd {
    if fields.has("at-end") && !fields.has("records") {
        let note = Problem::new("`at-end` has no effect without `records`");
        world
            .findings
            .note(note.at(fields.place_of("at-end"), "the load never ends"));
    }
    match fields.text("at-end") {
        Some("flush") => AtEnd::Flush,
        Some("close") => AtEnd::Close,
        Some("exit") => AtEnd::Exit,
        _ => AtEnd::Idle,
    }
}
