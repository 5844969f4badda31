//! What good files become.

use super::*;
use crate::insight::expectation::{Bound, Check, Window};
use crate::kafka::hash::murmur2;
use crate::sim::command::{Command, LinkFault};
use crate::sim::config::{
    AtEnd, AwaitAcks, Call, HistoryDetail, KeyChoice, OnRefused, Peer, Rate, ValueConfig,
};
use crate::sim::ids::{BrokerIndex, ProducerIndex, TopicIndex};
use crate::sim::time::SimTime;

fn java(scenario: &Scenario, producer: usize) -> &crate::kafka::settings::JavaProducerSettings {
    let client = &scenario.config.producers[producer].client;
    client.java().expect("a Java client")
}

#[test]
fn the_embedded_full_buffer_is_what_its_file_says() {
    let source = Source::Embedded("full-buffer".into());
    let scenario = load(source, &Overrides::default()).unwrap();
    let config = &scenario.config;
    assert_eq!(scenario.name, "full-buffer");
    assert!(
        scenario
            .question
            .starts_with("How long until send() blocks")
    );
    assert_eq!(config.duration, SimSpan::from_seconds(190));
    assert_eq!(config.brokers.len(), 3);
    assert_eq!(config.brokers[0].append_rate, Some(2 << 20));
    assert_eq!(config.link.latency, SimSpan::from_micros(500));
    assert_eq!(config.link.bandwidth, Some(125_000_000));
    let topic = config.topics[0].existing.as_ref().unwrap();
    let leaders: Vec<u16> = topic
        .replicas
        .iter()
        .map(|replicas| replicas[0].0)
        .collect();
    assert_eq!(leaders, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    let load = &config.producers[0].loads[0];
    assert_eq!(load.keys.choice, KeyChoice::Cycle);
    assert_eq!(load.keys.keys[4999], b"rider-5000");
    assert_eq!(load.values, ValueConfig::Fixed(1024));
    let cut = Command::Link(Peer::Producer(ProducerIndex(0)), Peer::Any, LinkFault::Cut);
    assert_eq!(config.timeline, [(SimTime::from_seconds(60), cut)]);
    assert!(!scenario.expectations.is_empty());
    assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
}

#[test]
fn the_members_of_one_group_stand_together_and_are_numbered_through() {
    let text = small_and(
        "[[consumer]]\ngroup = \"a\"\ntopic = \"events\"\nmembers = 2\n\
         [[consumer]]\ngroup = \"b\"\ntopic = [\"events\"]\nrate = 80\n\
         [[consumer]]\ngroup = \"a\"\ntopic = \"events\"\nstart = \"1s\"\n",
    );
    let config = load_text(&text).unwrap().config;
    let consumers: Vec<_> = config
        .consumers
        .iter()
        .map(|consumer| (consumer.name.as_str(), consumer.group.0, consumer.number))
        .collect();
    assert_eq!(
        consumers,
        [("a-1", 0, 1), ("a-2", 0, 2), ("a-3", 0, 3), ("b-1", 1, 1)]
    );
    assert_eq!(config.consumers[2].start, SimTime::from_seconds(1));
    assert_eq!(
        config.consumers[3].micro_records_per_second,
        Some(80_000_000)
    );
}

#[test]
fn every_embedded_scenario_loads_under_a_name_of_its_own() {
    let names = library::names();
    let entries = library::list();
    assert_eq!(entries.len(), names.len());
    for (at, name) in names.iter().enumerate() {
        assert!(
            !names[..at].contains(name),
            "two scenarios are called {name}"
        );
        let loaded = load(Source::Embedded(name.clone()), &Overrides::default());
        let scenario = loaded.unwrap_or_else(|problems| panic!("{name}: {problems}"));
        assert!(scenario.question.contains('?'), "{name} asks no question");
    }
    let missing = library::find("full-bufer").unwrap_err();
    assert_eq!(missing.nearest.as_deref(), Some("full-buffer"));
}

#[test]
fn dotted_and_quoted_kafka_names_are_the_same() {
    let text = small_and("").replace(
        "name = \"trips\"",
        "name = \"trips\"\nconfig.linger.ms = 20\nconfig.\"batch.size\" = \"1000\"",
    );
    let scenario = load_text(&text).unwrap();
    assert_eq!(java(&scenario, 0).linger_ms, 20);
    assert_eq!(java(&scenario, 0).batch_size, 1000);
}

#[test]
fn a_count_makes_numbered_producers_and_links_reach_them_all() {
    let text = small_and("\n[[link]]\nbetween = [\"trips\", 2]\nrtt = \"20ms\"\n")
        .replace("name = \"trips\"", "name = \"trips\"\ncount = 3");
    let scenario = load_text(&text).unwrap();
    let names: Vec<&str> = scenario
        .config
        .producers
        .iter()
        .map(|producer| producer.name.as_str())
        .collect();
    assert_eq!(names, ["trips-1", "trips-2", "trips-3"]);
    assert_eq!(scenario.config.links.len(), 3);
    assert_eq!(scenario.config.links[2].b, Peer::Broker(BrokerIndex(1)));
    assert_eq!(
        scenario.config.links[2].link.latency,
        SimSpan::from_millis(10)
    );
    assert_eq!(scenario.config.links[2].link.bandwidth, Some(125_000_000));
}

#[test]
fn replicas_follow_their_leader_in_a_ring() {
    let text = SMALL.replace(
        "partitions = 6",
        "partitions = 4\nreplication-factor = 2\nleaders = [3, 1]\nstart-offsets = { 2 = 40 }",
    );
    let scenario = load_text(&text).unwrap();
    let topic = scenario.config.topics[0].existing.as_ref().unwrap();
    let ids = |replicas: &Vec<BrokerIndex>| replicas.iter().map(|b| b.0 + 1).collect::<Vec<_>>();
    let found: Vec<_> = topic.replicas.iter().map(ids).collect();
    assert_eq!(found, [[3, 1], [1, 2], [3, 1], [1, 2]]);
    assert_eq!(topic.start_offsets, [0, 0, 40, 0]);
    assert_eq!(topic.history, HistoryDetail::Sums);
}

#[test]
fn keys_come_in_every_form() {
    let keys = |key: &str| {
        let scenario = load_text(&small_and(&format!("key = {key}\n"))).unwrap();
        scenario.config.producers[0].loads[0].keys.clone()
    };
    assert_eq!(
        keys("{ uniform = 2, as = \"int32\" }").keys,
        [[0, 0, 0, 1], [0, 0, 0, 2]]
    );
    assert_eq!(
        keys("{ cycle = 1, as = \"json\", format = \"a\\\"{n}\" }").keys[0],
        b"\"a\\\"1\""
    );
    let weighted = keys("[{ key = \"hot\", weight = 9 }, \"cold\"]");
    assert_eq!(weighted.choice, KeyChoice::Weighted(vec![9.0, 1.0]));
    assert_eq!(keys("[\"a\", \"b\"]").choice, KeyChoice::Uniform);
    assert!(keys("\"none\"").keys.is_empty());
}

#[test]
fn zipf_keys_load_partitions_as_the_sum_says() {
    let key = "key = { zipf = 1.1, count = 5000, format = \"tenant-{n}\" }\n";
    let scenario = load_text(&small_and(key)).unwrap();
    let keys = &scenario.config.producers[0].loads[0].keys;
    let KeyChoice::Weighted(weights) = &keys.choice else {
        panic!("{:?}", keys.choice)
    };
    let total: f64 = weights.iter().sum();
    let mut partitions = [0.0; 12];
    for (key, weight) in keys.keys.iter().zip(weights) {
        partitions[(murmur2(key) & 0x7fff_ffff) as usize % 12] += weight;
    }
    let most = partitions.iter().copied().fold(0.0, f64::max);
    assert!(
        (weights[0] / total - 0.1583).abs() < 5e-5,
        "{}",
        weights[0] / total
    );
    assert!(
        (most / (total / 12.0) - 2.455).abs() < 5e-4,
        "{}",
        most * 12.0 / total
    );
}

#[test]
fn the_rest_of_a_load_reads_as_written() {
    let text = small_and(
        "await = { every = 100 }\non-refused = { pause = \"1s\" }\nrecords = 5000\n\
         at-end = \"flush\"\nvalue = { min = 10, max = 20 }\n\
         throttle = { metric = \"bufferpool-wait-ratio\", above = 0.1, factor = 0.5 }\n",
    )
    .replace(
        "rate = 100\n",
        "rate = [{ rate = 0.5 }, { from = \"5s\", rate = 20, ramp = \"1s\" }]\n",
    );
    let scenario = load_text(&text).unwrap();
    let load = &scenario.config.producers[0].loads[0];
    assert_eq!(load.await_acks, AwaitAcks::Every(100));
    assert_eq!(load.on_refused, OnRefused::Pause(SimSpan::from_seconds(1)));
    assert_eq!((load.records_max, load.at_end), (Some(5000), AtEnd::Flush));
    assert_eq!(load.values, ValueConfig::Uniform(10, 20));
    assert_eq!(load.throttle.unwrap().factor_ppm, 500_000);
    let Rate::Steps(steps) = &load.rate else {
        panic!("{:?}", load.rate)
    };
    assert_eq!(steps[0].micro_records_per_second, 500_000);
    assert_eq!(steps[1].from, SimTime::from_seconds(5));
}

#[test]
fn scripts_are_calls_and_keep_every_record() {
    let text = small_and(
        "\n[[producer.script]]\nat = \"1s\"\n\
         do = 'produce events key=a \"value=two words\" partition=2 await=true'\n\
         [[producer.script]]\ndo = 'close 5s'\n",
    );
    let scenario = load_text(&text).unwrap();
    let script = &scenario.config.producers[0].script;
    let Call::Produce(record) = &script[0].call else {
        panic!("{:?}", script[0])
    };
    assert_eq!(record.value.as_deref(), Some(b"two words".as_slice()));
    assert_eq!((record.topic, record.partition), (TopicIndex(0), Some(2)));
    assert_eq!(script[1].call, Call::Close(Some(SimSpan::from_seconds(5))));
    let topic = scenario.config.topics[0].existing.as_ref().unwrap();
    assert_eq!(topic.history, HistoryDetail::Records);
}

#[test]
fn expectations_name_themselves() {
    let text = small_and(
        "\n[[expect]]\nmetric = \"producer.trips.record-send-rate\"\nat = \"30s\"\nbetween = [1, 2.5]\n\
         [[expect]]\nevent = \"TimeoutException\"\nproducer = \"trips\"\nfirst-at = \"10s\"\nwithin = \"1s\"\n\
         [[expect]]\nlog = \"events-2\"\noffsets = [\"0 a\"]\n\
         [[expect]]\nno = [\"duplicate\", \"reorder\"]\n",
    );
    let scenario = load_text(&text).unwrap();
    let names: Vec<&str> = scenario
        .expectations
        .iter()
        .map(|e| e.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "producer.trips.record-send-rate at 30s between 1 and 2.5",
            "TimeoutException at trips first at 10s ± 1s",
            "the log of events-2",
            "no duplicate and no reorder",
        ]
    );
    let Check::Metric(metric) = &scenario.expectations[0].check else {
        panic!()
    };
    assert_eq!(metric.window, Window::At(SimTime::from_seconds(30)));
    assert_eq!(metric.bound, Bound::Between(1.0, 2.5));
}

#[test]
fn overrides_change_what_the_file_says() {
    let set = [
        "producer.trips.config.linger.ms=20",
        "producer.trips.load.rate=7",
        "cluster.link.rtt=10ms",
        "scenario.title=A longer title",
    ];
    let overrides = Overrides {
        seed: Some(99),
        until: Some(SimSpan::from_seconds(5)),
        set: set.map(str::to_owned).to_vec(),
        vary: None,
    };
    let source = Source::Text {
        name: "small.toml".into(),
        text: SMALL.into(),
    };
    let scenario = load(source, &overrides).unwrap();
    assert_eq!(java(&scenario, 0).linger_ms, 20);
    assert_eq!(scenario.config.seed, 99);
    assert_eq!(scenario.config.duration, SimSpan::from_seconds(5));
    assert_eq!(scenario.config.link.latency, SimSpan::from_millis(5));
    assert_eq!(scenario.title, "A longer title");
    let Rate::Steps(steps) = &scenario.config.producers[0].loads[0].rate else {
        panic!()
    };
    assert_eq!(steps[0].micro_records_per_second, 7_000_000);
}

#[test]
fn every_default_of_the_field_tables_is_valid() {
    use crate::scenario::fields::{Kind, Presence, TableSpec};
    fn visit(spec: &'static TableSpec, seen: &mut Vec<&'static str>) {
        if seen.contains(&spec.name) {
            return;
        }
        seen.push(spec.name);
        for field in spec.fields {
            if let Presence::Default(value) = field.presence {
                let quoted = format!("x = {value:?}");
                let bare = format!("x = {value}");
                let valid = [quoted, bare].iter().any(|text| {
                    let Ok(table) = toml::de::DeTable::parse(text) else {
                        return false;
                    };
                    let table = tree::from_toml(table.get_ref(), tree::SourceId(0));
                    table
                        .get("x")
                        .is_some_and(|node| shape::is_valid(&field.kind, node))
                });
                assert!(valid, "{} {}: {value}", spec.name, field.name);
            }
            match field.kind {
                Kind::Table(inner) | Kind::Tables(inner, _) => visit(inner, seen),
                _ => {}
            }
        }
    }
    visit(&ROOT, &mut Vec::new());
}

#[test]
fn the_schema_and_the_reference_know_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&schema()).unwrap();
    let load = &schema["definitions"]["producer.load"]["properties"];
    assert!(load["on-refused"]["anyOf"].is_array(), "{load}");
    assert!(load["source"].is_null());
    let rtt = |link: &str| schema["definitions"][link]["properties"]["rtt"].is_object();
    assert!(rtt("link") && rtt("link.value"));
    assert!(schema["definitions"]["link"]["properties"]["between"].is_object());
    golden("the_schema_and_the_reference_know_every_key", &reference());
}
