//! No text makes the loader panic, hang, or flood the terminal.

use proptest::prelude::*;

use super::*;
use crate::sim::Simulation;
use crate::sim::time::SimTime;

fn is_calm(text: &str) -> Result<(), TestCaseError> {
    let shown = refused(text);
    let is_control = |c: char| c.is_control() && c != '\n';
    prop_assert!(!shown.contains(is_control), "{shown:?}");
    Ok(())
}

/// Whatever loads is fit to run: the engine's own assertions hold for a while.
fn runs_if_it_loads(text: &str) {
    let Ok(scenario) = load_text(text) else {
        return;
    };
    let mut simulation = Simulation::new(Arc::clone(&scenario.config));
    let _ = simulation.advance_to(SimTime::from_seconds(6), 3_000);
}

/// Values that fit here and there, and never everywhere.
fn any_value() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "0",
        "-1",
        "1",
        "6",
        "9223372036854775807",
        "1e400",
        "nan",
        "true",
        "\"\"",
        "\"1s\"",
        "\"-1s\"",
        "\"2MiB/s\"",
        "\"max\"",
        "\"each\"",
        "\"*\"",
        "\"trips\"",
        "[]",
        "{}",
        "[[1]]",
        "[{ rate = 1 }]",
        "{ pause = \"1s\" }",
        "{ uniform = 3 }",
        "{ bytes = 7 }",
        "{ zipf = 1, count = 3 }",
        "[\"trips\", 1]",
        "2026-01-01",
        "\"\\u001b[2J\"",
        "\"events\"",
        "'broker kill 1'",
        "'produce events key=a'",
        "\"events-0\"",
        "[1, 2]",
        "\"nowhere\"",
    ])
    .prop_map(str::to_owned)
}

/// Headers and keys that mean something somewhere.
const KEYS: &str = "\
    [scenario] [cluster] [[broker]] [[link]] [[topic]] [[producer]] [[producer.load]] \
    [[producer.script]] [[timeline]] [[expect]] title duration seed kafka sample brokers link \
    append-rate id between rtt name partitions replication-factor leaders start-offsets count \
    start config.linger.ms config.acks trace topic rate key value threads await on-refused \
    records partition at do metric event log no below between from to first-at extends \
    config-file version history";

/// A good file with one key in each line, and nearly everything that there is.
const RICH: &str = "\
[scenario]
title = \"Rich\"
duration = \"60s\"
seed = 5
sample = \"100ms\"
[cluster]
brokers = 3
append-rate = \"2MiB/s\"
link = { rtt = \"1ms\" }
[[broker]]
id = 2
request-time = \"1ms\"
[[link]]
between = [\"trips\", 1]
rtt = \"5ms\"
[[topic]]
name = \"events\"
partitions = 6
replication-factor = 2
leaders = [1, 2]
start-offsets = { 2 = 40 }
config.cleanup.policy = \"compact\"
[[producer]]
name = \"trips\"
count = 2
start = \"1s\"
trace = [\"a\"]
config.linger.ms = 5
[[producer.load]]
topic = \"events\"
rate = [{ rate = 5 }, { from = \"2s\", rate = 9, ramp = \"1s\" }]
key = { zipf = 1.1, count = 50 }
value = { min = 5, max = 10 }
threads = 2
await = \"each\"
on-refused = { pause = \"1s\" }
records = 10
partition = 1
throttle = { metric = \"bufferpool-wait-ratio\", above = 0.1, factor = 0.5 }
[[producer.script]]
at = \"1s\"
do = \"produce events key=a\"
[[timeline]]
at = \"5s\"
do = \"link cut trips-1 *\"
[[expect]]
metric = \"producer.trips-1.record-send-rate\"
from = \"1s\"
to = \"5s\"
between = [1, 2]
[[expect]]
event = \"TimeoutException\"
first-at = \"5s\"
count = { at-least = 1 }
[[expect]]
log = \"events-0\"
offsets = [\"0 a\"]
";

/// [`RICH`] with other values in some of its lines.
fn any_neighbour() -> impl Strategy<Value = String> {
    let changes = prop::collection::vec((0..RICH.lines().count(), any_value()), 1..4);
    changes.prop_map(|changes| {
        let mut lines: Vec<String> = RICH.lines().map(str::to_owned).collect();
        for (at, value) in changes {
            if let Some((key, _)) = lines[at].split_once(" = ") {
                lines[at] = format!("{key} = {value}");
            }
        }
        lines.join("\n")
    })
}

/// A file of known tables and keys with arbitrary values.
fn any_scenario() -> impl Strategy<Value = String> {
    let key = prop::sample::select(KEYS.split_whitespace().collect::<Vec<_>>());
    prop::collection::vec((key, any_value()), 0..40).prop_map(|lines| {
        let line = |(key, value): (&str, String)| {
            let is_header = key.starts_with('[');
            if is_header {
                key.to_owned()
            } else {
                format!("{key} = {value}")
            }
        };
        lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        is_calm(&text)?;
    }

    #[test]
    fn no_rows_of_known_keys_panic(text in any_scenario()) {
        is_calm(&text)?;
    }

    #[test]
    fn no_other_value_in_a_good_file_panics(text in any_neighbour()) {
        is_calm(&text)?;
        runs_if_it_loads(&text);
    }

    #[test]
    fn no_damage_to_a_good_file_panics(at in 0..SMALL.len(), to in ".{0,3}", cut in 0_usize..20) {
        let end = (at + cut).min(SMALL.len());
        is_calm(&format!("{}{to}{}", &SMALL[..at], &SMALL[end..]))?;
    }

    #[test]
    fn no_override_panics(set in "(producer|cluster|scenario|x)?[.a-z=\"\\[\\]{}0-9]{0,30}") {
        let _ = load_with(SMALL, &[&set]);
    }
}

#[test]
fn the_rich_file_is_good() {
    assert_eq!(refused(RICH), "nothing is wrong");
    runs_if_it_loads(RICH);
}

#[test]
fn megabytes_of_rubbish_are_answered_with_a_screenful() {
    let lines = "a\n".repeat(1 << 20);
    let one_line = "x".repeat(2 << 20);
    let deep = format!("a = {}", "[".repeat(1 << 20));
    let dotted = format!("{}a = 1", "a.".repeat(1 << 20));
    let tables = "[[producer]]\nname = \"a\"\n".repeat(40_000);
    for text in [lines, one_line, deep, dotted, tables] {
        let shown = refused(&text);
        assert!(shown.len() < 100_000, "{} bytes", shown.len());
    }
}
