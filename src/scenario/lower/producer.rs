//! Producers: the client's configuration, and the application around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::kafka::config;
use crate::kafka::settings::JavaProducerSettings;
use crate::kafka::version::KafkaVersion;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;
use crate::sim::config::{ClientConfig, Monitor, PRODUCERS_MAX, ProducerConfig, THREADS_MAX};
use crate::sim::time::{SimSpan, SimTime};

use super::dialect::{self, Dialect};
use super::settings::{Setting, Settings};
use super::{World, is_reserved, load, rdkafka, script, too_many};

/// The shortest time between two looks of a monitoring agent.
const MONITOR_EVERY_MIN: SimSpan = SimSpan::from_millis(100);

/// The producers to be of one table, by their final names: several when it has a `count`.
pub(super) struct Plan<'a> {
    names: Vec<String>,
    fields: Fields<'a>,
}

/// Names all producers.
pub(super) fn plan<'a>(world: &mut World<'_>, root: Fields<'a>) -> Vec<Plan<'a>> {
    let mut plans: Vec<Plan<'a>> = Vec::new();
    let mut first_at: BTreeMap<String, Fields<'a>> = BTreeMap::new();
    for fields in root.tables("producer") {
        let name = fields.text("name").unwrap_or("?");
        if is_reserved(name) {
            let label = "in commands this names a broker or the controller";
            let problem = Problem::new(format!("a producer cannot be called `{name}`"));
            world.problem(problem.at(fields.place_of("name"), label));
        }
        let names: Vec<String> = match fields.whole::<u32>("count") {
            Some(count) => (1..=count).map(|n| format!("{name}-{n}")).collect(),
            None => vec![name.to_owned()],
        };
        if first_at.len() + names.len() > PRODUCERS_MAX {
            world.problem(too_many("producers", PRODUCERS_MAX, fields.place));
            break;
        }
        for name in &names {
            // Two tables with one name were told apart while reading; a count can collide too.
            let other = first_at.insert(name.clone(), fields);
            if let Some(other) = other.filter(|other| other.has("count") || fields.has("count")) {
                world.problem(
                    Problem::new(format!("two producers are called `{name}`"))
                        .at(fields.place_of("name"), "again here, with its `count`")
                        .at(other.place_of("name"), "first here"),
                );
            }
        }
        plans.push(Plan { names, fields });
    }
    if plans.is_empty() && root.has("producer") {
        let problem = Problem::new("the scenario has no producers");
        world.problem(problem.at(root.place_of("producer"), "expected at least one"));
    }
    world.producers = plans
        .iter()
        .flat_map(|plan| plan.names.iter().cloned())
        .collect();
    plans
}

/// Lowers the producers of one table: they differ in nothing but their name.
pub(super) fn producers(world: &mut World<'_>, plan: &Plan<'_>) -> Vec<ProducerConfig> {
    let fields = plan.fields;
    let (client, given, dialect) = client(world, &fields);
    check_state_log(world, &fields, &client);
    check_loads(world, &fields, &client);
    let loads: Vec<_> = fields
        .tables("load")
        .iter()
        .map(|load| load::load(world, load, dialect))
        .collect();
    let script = script::script(world, &fields, dialect);
    let start = world.moment(&fields, "start").unwrap_or(SimTime::ZERO);
    let threads = loads
        .iter()
        .map(|load| load.threads)
        .fold(0, u32::saturating_add);
    if threads > THREADS_MAX {
        let most = THREADS_MAX as usize;
        world.problem(too_many(
            "threads over all loads of a producer",
            most,
            fields.place,
        ));
    }
    if loads.is_empty() && script.is_empty() {
        let name = fields.text("name").unwrap_or("?");
        let note = Problem::new(format!("producer `{name}` sends nothing"));
        world
            .findings
            .note(note.at(fields.place, "neither load nor script"));
    }
    let first = ProducerConfig {
        name: String::new(),
        rack: client
            .java()
            .and_then(|client| client.client_rack.clone())
            .or_else(|| fields.text("rack").map(str::to_owned)),
        client,
        given,
        start,
        monitor: monitor(world, &fields, dialect),
        loads,
        script,
        trace: fields
            .texts("trace")
            .iter()
            .map(|key| key.as_bytes().to_vec())
            .collect(),
        curves: Arc::new([]),
    };
    let named = |name: &String| ProducerConfig {
        name: name.clone(),
        ..first.clone()
    };
    plan.names.iter().map(named).collect()
}

/// `monitor`.
fn monitor(world: &mut World<'_>, fields: &Fields<'_>, dialect: Dialect) -> Option<Monitor> {
    let table = fields.table("monitor")?;
    if dialect != Dialect::Java {
        let problem = Problem::new("librdkafka's statistics are emitted, and not read");
        world.problem(
            problem
                .at(fields.place_of("monitor"), "for a Java client only")
                .hint("set config.statistics.interval.ms"),
        );
        return None;
    }
    let from = world.moment(&table, "from")?;
    let every = table.duration("every")?;
    if every < MONITOR_EVERY_MIN {
        let problem = Problem::new("`every` is too short");
        let least = crate::command::units::show_duration(MONITOR_EVERY_MIN);
        let label = format!("expected at least {least}");
        world.problem(problem.at(table.place_of("every"), label));
        return None;
    }
    Some(Monitor { every, from })
}

/// What was given for a client, key by key.
type Given = Vec<(String, String)>;

/// The client with its effective configuration and what was given for it.
fn client(world: &mut World<'_>, fields: &Fields<'_>) -> (ClientConfig, Given, Dialect) {
    let mut settings = Settings::default();
    import(world, fields, &mut settings);
    settings.put_table(fields);
    if fields.text("client") == Some("librdkafka") {
        let (client, given) = rdkafka::client(world, fields, &settings);
        let dialect = Dialect::Librdkafka(client.delivery_reports);
        return (ClientConfig::Rdkafka(Box::new(client)), given, dialect);
    }
    rdkafka::no_delivery_report(world, fields);
    let (client, given) = java(world, fields, settings);
    (ClientConfig::Java(Arc::new(client)), given, Dialect::Java)
}

/// A Java client's effective configuration, or what it says against it.
fn java(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    mut settings: Settings,
) -> (JavaProducerSettings, Given) {
    let version = dialect::java_version(world, fields);
    let defaults = || (JavaProducerSettings::defaults(version), Vec::new());
    rack(world, fields, version, &mut settings);
    let pairs = settings.pairs();
    match config::java::validate(version, &pairs) {
        Ok((effective, notes)) => {
            settings.noted(notes, fields.place, world.findings);
            (effective, pairs)
        }
        Err(problems) => {
            settings.refused(problems, fields.place, world.findings);
            defaults()
        }
    }
}

/// Loads of a transactional producer say when their transactions end, and alike; others have none.
fn check_loads(world: &mut World<'_>, fields: &Fields<'_>, client: &ClientConfig) {
    let is_transactional = client.transactional_id().is_some();
    let tables = fields.tables("load");
    let says = |load: &Fields<'_>| load.has("transaction");
    for load in tables.iter().filter(|load| says(load) && !is_transactional) {
        let problem = Problem::new("a load has transactions, and its producer has none");
        let place = load.place_of("transaction");
        let hint = "give the producer a config.transactional.id";
        world.problem(problem.at(place, "without a transactional.id").hint(hint));
    }
    let Some(first) = tables.first() else { return };
    if is_transactional && !tables.iter().any(says) {
        let problem = Problem::new("a load of a transactional producer needs `transaction`");
        let hint = "such as transaction = { records = 500 }";
        let label = "nobody says when its transactions end";
        world.problem(problem.at(first.place, label).hint(hint));
    }
    for load in tables.iter().filter(|load| says(load)).skip(1) {
        let problem = Problem::new("the loads of a producer share its transactions");
        let label = "said already by an earlier load";
        world.problem(problem.at(load.place_of("transaction"), label));
    }
}

/// Says so where the first transaction would wait for `__transaction_state` for ever.
fn check_state_log(world: &mut World<'_>, fields: &Fields<'_>, client: &ClientConfig) {
    let Some(first) = world.brokers.first() else {
        return;
    };
    let factor = first.settings.transactions.state_log_replication_factor;
    let brokers = world.brokers.len();
    if client.transactional_id().is_none() || usize::from(factor) <= brokers {
        return;
    }
    let title = format!(
        "`__transaction_state` wants {factor} replicas, and there are {brokers} brokers: \
         init_transactions will time out"
    );
    let note = Problem::new(title).at(fields.place, "transactional, in this cluster");
    let hint = "set config.transaction.state.log.replication.factor of the [cluster], and \
                config.transaction.state.log.min.isr with it";
    world.findings.note(note.hint(hint));
}

/// `config-file`.
pub(super) fn import(world: &mut World<'_>, fields: &Fields<'_>, settings: &mut Settings) {
    let Some(path) = fields.text("config-file") else {
        return;
    };
    let place = fields.place_of("config-file");
    let home = world.home(place);
    match world.sources.follow(home, path) {
        Ok(source) => {
            for setting in super::super::properties::read(world.sources, source, world.findings) {
                settings.put(setting.into());
            }
        }
        Err(problem) => world.problem(problem.at(place, "")),
    }
}

impl From<crate::scenario::properties::Property> for Setting {
    fn from(property: crate::scenario::properties::Property) -> Self {
        Self {
            key: property.key,
            value: property.value,
            key_place: property.key_place,
            place: property.place,
        }
    }
}

/// `rack` is `client.rack`, for a client that knows it.
fn rack(
    world: &mut World<'_>,
    fields: &Fields<'_>,
    version: KafkaVersion,
    settings: &mut Settings,
) {
    const KEY: &str = "client.rack";
    let Some(rack) = fields.text("rack").filter(|_| settings.get(KEY).is_none()) else {
        return;
    };
    let place = fields.place_of("rack");
    let is_known = config::java::find(KEY).is_some_and(|key| key.is_known_to(version));
    if !is_known {
        let note = Problem::new(format!(
            "`rack` is where the machine stands: a {version} client has no {KEY}"
        ));
        return world.findings.note(note.at(place, "it came with 4.4"));
    }
    let (key, value) = (KEY.to_owned(), rack.to_owned());
    settings.put(Setting {
        key,
        value,
        key_place: place,
        place,
    });
}
