//! Public reports about what compression does to sizes, reproduced: the ids are those of the
//! collection of cases.

mod support;

use support::{assert_kept, run_to_end, written};

/// A run on one broker; `rest` says what happens there and what must hold.
fn kept(duration: &str, rest: &str) {
    let text = format!(
        r#"# How much does compression save?
        [scenario]
        format = 1
        title = "case"
        duration = "{duration}"
        seed = 1
        [cluster]
        brokers = 1
        link = {{ rtt = "1ms", bandwidth = "10Gbit/s" }}
        {rest}"#
    );
    assert_kept(&run_to_end(written(&text)));
}

fn figure(metric: &str, bounds: &str) -> String {
    format!("[[expect]]\nmetric = \"{metric}\"\n{bounds}\n")
}

// === C55: too large although compression is on

/// Records of four sizes that shrink to `share`, through a client that takes 5 MB.
fn c55(share: &str, expectations: &str) {
    let load = |bytes: u32| {
        format!(
            "[[producer.load]]\ntopic = \"events\"\nrate = 1\nrecords = 1\n\
             value = {{ bytes = {bytes}, compresses-to = {share} }}\n"
        )
    };
    let sizes = [1_000_000, 1_051_237, 1_628_919, 4_021_051];
    let loads = sizes.map(load).concat();
    kept(
        "10s",
        &format!(
            r#"
        [[topic]]
        name = "events"
        partitions = 1
        [[producer]]
        name = "app"
        config.max.request.size = 5000000
        config.compression.type = "zstd"
        {loads}
        {expectations}"#
        ),
    );
}

#[test]
fn c55_with_a_higher_limit_of_the_client_what_shrinks_to_a_tenth_passes_the_broker() {
    let stored = figure("topic.events.kdrill-records-in", "equals = 4");
    let bytes = figure("topic.events.kdrill-bytes-in", "between = [770000, 775000]");
    c55("0.1", &format!("{stored}{bytes}"));
}

#[test]
fn c55_what_shrinks_to_half_is_still_too_large_for_the_broker() {
    let stored = figure("topic.events.kdrill-records-in", "equals = 3");
    let failed = "[[expect]]\nevent = \"RecordTooLargeException\"\ncount = { exactly = 1 }\n";
    c55("0.5", &format!("{stored}{failed}"));
}

// === C57: compression pays with batch depth

/// Click events, a thousand a second, whose keys spread them over all partitions.
fn clicks(name: &str, partitions: u32, linger_ms: u32) -> String {
    format!(
        r#"
        [[topic]]
        name = "{name}"
        partitions = {partitions}
        [[producer]]
        name = "{name}"
        config.linger.ms = {linger_ms}
        config.compression.type = "zstd"
        [[producer.load]]
        topic = "{name}"
        rate = 1000
        records = 10000
        key = {{ cycle = 1000, format = "u-{{n}}" }}
        value = {{ sample = "samples/clicks.ndjson" }}
        "#
    )
}

/// The collection's model of a payload gains hardly anything from the second record; click events
/// gain a third.
#[test]
fn c57_what_compression_saves_hangs_on_how_many_records_a_batch_holds() {
    let ratio = |name: &str, bounds: &str| {
        let metric = format!("producer.{name}.compression-rate-avg");
        figure(&metric, &format!("at = \"10s\"\n{bounds}"))
    };
    let bytes = |name: &str, bounds| figure(&format!("topic.{name}.kdrill-bytes-in"), bounds);
    let worlds = clicks("alone", 50, 0) + &clicks("pairs", 50, 100) + &clicks("fifty", 2, 100);
    let expectations = [
        ratio("alone", "above = 0.9"),
        ratio("pairs", "between = [0.6, 0.75]"),
        ratio("fifty", "below = 0.5"),
        bytes("alone", "above = 2000000"),
        bytes("pairs", "between = [1000000, 1400000]"),
        bytes("fifty", "below = 500000"),
    ];
    kept("15s", &(worlds + &expectations.concat()));
}
