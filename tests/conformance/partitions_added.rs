//! A topic gets more partitions: when a client moves, where its keys land, where leaders are.
//!
//! The recording says when the partitions were added on each load's own clock, which starts with
//! the load's first record, just behind its metadata.

use kdrill::kafka::hash::murmur2_partition;
use kdrill::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use kdrill::sim::fact::Flow;
use kdrill::sim::time::SimTime;
use kdrill::sim::{Output, Simulation};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::trace::scenario;

const MECHANISM: &str = "growing a topic";
const KEYS: u32 = 60;
/// How late the real load's clock starts, and its broker's and tool's own time.
const MOVES: Tolerance = Tolerance::Absolute(
    0.2,
    "the load's clock starts behind its metadata; the tool's time until the brokers know",
);
/// A client whose load begins at an unknown moment between two of its refreshes.
const ANY_PHASE: Tolerance = Tolerance::Absolute(
    1.0,
    "the client is older than its load by an unrecorded part of its interval of 2 s",
);

/// Every case.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("partitions-added");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    let comparison = Comparison::new(path, MECHANISM);
    match case {
        "java-2s" => Some(compare_load(
            comparison,
            real,
            Client::Java { age_ms: 2_000 },
        )),
        "java-5s" => Some(compare_load(
            comparison,
            real,
            Client::Java { age_ms: 5_000 },
        )),
        "rdkafka" => {
            let client = Client::Rdkafka { refresh_ms: 2_000 };
            Some(compare_load(comparison, real, client))
        }
        "placement" => Some(compare_placement(comparison, real)),
        "refused" => Some(compare_refusals(comparison, real)),
        _ => None,
    }
}

/// Whose load, and how often it asks for metadata.
#[derive(Clone, Copy)]
enum Client {
    /// `metadata.max.age.ms`.
    Java { age_ms: u32 },
    /// `topic.metadata.refresh.interval.ms`.
    Rdkafka { refresh_ms: u32 },
}

impl Client {
    fn partition(self, key: &[u8], partitions: u32) -> Option<u32> {
        match self {
            Self::Java { .. } => Some(murmur2_partition(key, partitions)),
            Self::Rdkafka { .. } => {
                match RdkafkaPartitioner::ConsistentRandom.choice(Some(key), partitions) {
                    Choice::Partition(number) => Some(number),
                    Choice::Free => None,
                }
            }
        }
    }

    fn settings(self) -> String {
        match self {
            Self::Java { age_ms } => format!("config.metadata.max.age.ms = {age_ms}"),
            Self::Rdkafka { refresh_ms } => format!(
                "client = \"librdkafka\"\nconfig.topic.metadata.refresh.interval.ms = {refresh_ms}"
            ),
        }
    }
}

fn compare_load(mut comparison: Comparison, real: &Value, client: Client) -> Comparison {
    let list = |name: &str| -> Vec<u32> {
        let items = real[name].as_array().expect("a list of partitions");
        items
            .iter()
            .filter_map(|n| Some(n.as_u64()? as u32))
            .collect()
    };
    let placed = |partitions: u32| -> Vec<u32> {
        let keys = (1..=KEYS).map(|n| format!("key-{n}"));
        keys.filter_map(|key| client.partition(key.as_bytes(), partitions))
            .collect()
    };
    comparison = comparison.list("before", &list("before"), &placed(3)).list(
        "after",
        &list("after"),
        &placed(6),
    );
    // The first run's load is slow to start, on a cold machine: the median leaves it out.
    let runs = |name: &str| {
        let runs = real[name]["runs"].as_array().expect("runs").iter();
        runs.filter_map(Value::as_f64).collect::<Vec<_>>()
    };
    let added_at = runs("added_at_seconds").into_iter();
    let simulated = added_at.map(|added_at| moves_at(added_at, client));
    let (simulated, _) = median_and_spread(simulated.collect());
    let (moved_at, _) = median_and_spread(runs("moved_at_seconds"));
    let tolerance = match client {
        Client::Java { .. } => MOVES,
        Client::Rdkafka { .. } => ANY_PHASE,
    };
    comparison = comparison.number("moved at, median, s", moved_at, simulated, tolerance);
    comparison
}

/// When the first record on a new partition was appended, in seconds since the first record.
fn moves_at(added_at: f64, client: Client) -> f64 {
    let settings = client.settings();
    let rest = format!(
        r#"
        [cluster]
        brokers = 3
        [[topic]]
        name = "events"
        partitions = 3
        [[producer]]
        name = "trips"
        {settings}
        [[producer.load]]
        topic = "events"
        rate = 200
        key = {{ cycle = {KEYS}, format = "key-{{n}}" }}
        [[timeline]]
        at = "{added_at}s"
        do = "kafka-topics.sh --bootstrap-server b:9092 --alter --topic events --partitions 6"
        "#
    );
    let mut simulation = Simulation::new(scenario("15s", &rest));
    let mut output = Output::default();
    let _ = simulation.advance_to(SimTime::from_seconds(15), u64::MAX);
    simulation.drain(&mut output);
    let first = output.flows.iter().find_map(|flow| match flow {
        Flow::Appended(batch) if batch.partition.name().number >= 3 => Some(batch.at),
        _ => None,
    });
    first.map_or(f64::NAN, SimTime::as_seconds)
}

/// Ten topics of three partitions grow to six: every broker leads one of the new ones.
fn compare_placement(comparison: Comparison, real: &Value) -> Comparison {
    let topics: Vec<String> = (0..10)
        .map(|n| format!("[[topic]]\nname = \"t{n}\"\npartitions = 3\nreplication-factor = 3\n"))
        .collect();
    let commands: Vec<String> = (0..10)
        .map(|n| {
            let line = format!("kafka-topics.sh --alter --topic t{n} --partitions 6");
            format!("[[timeline]]\nat = \"1s\"\ndo = \"{line}\"\n")
        })
        .collect();
    let rest = format!(
        "[cluster]\nbrokers = 3\n{}[[producer]]\nname = \"trips\"\n{}",
        topics.concat(),
        commands.concat(),
    );
    let mut simulation = Simulation::new(scenario("3s", &rest));
    let _ = simulation.advance_to(SimTime::from_seconds(2), u64::MAX);
    let views = simulation.partition_views();
    let simulated: Vec<String> = (0..10)
        .map(|topic| {
            let mut counts = [0_u32; 3];
            let new = views
                .iter()
                .filter(|view| view.topic.index() == topic && view.number >= 3);
            for leader in new.filter_map(|view| view.leader) {
                counts[leader.index()] += 1;
            }
            format!("{counts:?}").replace(' ', "")
        })
        .collect();
    let recorded = real["new_leaders_per_broker"].as_array().expect("a list");
    let recorded: Vec<String> = recorded.iter().map(ToString::to_string).collect();
    comparison.list("new leaders per broker", &recorded, &simulated)
}

fn compare_refusals(mut comparison: Comparison, real: &Value) -> Comparison {
    let rest = "[cluster]\nbrokers = 3\n[[topic]]\nname = \"events-0\"\npartitions = 6\n\
                [[producer]]\nname = \"trips\"\n";
    let mut simulation = Simulation::new(scenario("3s", rest));
    let _ = simulation.advance_to(SimTime::from_seconds(1), u64::MAX);
    let topic = kdrill::sim::ids::TopicIndex(0);
    for case in ["equal", "fewer"] {
        let real = &real[case];
        let partitions = real["partitions"].as_u64().expect("a number") as u32;
        let said = simulation
            .check_growth(topic, partitions)
            .expect_err("no growth");
        let said = format!("{}{said}\n", kdrill::kafka::message::TOPICS_COMMAND_ERROR);
        let recorded = real["tool"]["output"].as_str().unwrap_or_default();
        comparison = comparison.text(case, recorded, said);
    }
    comparison
}
