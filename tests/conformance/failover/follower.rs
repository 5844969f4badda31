//! A follower fails under acks=all: how long acknowledgements stop, and when the ISR changes.

use kdrill::sim::fact::Fact;
use kdrill::sim::ids::BrokerIndex;
use kdrill::sim::time::SimTime;
use serde_json::Value;

use super::{MECHANISM, SHORT_SESSION, beside, median};
use crate::comparison::Comparison;
use crate::trace::{Trace, millis};

const FAILS_AT_MS: u64 = 10_000;
const FOLLOWER: BrokerIndex = BrokerIndex(2);
/// Moments over two seconds: the leader looks every two for replicas that fell behind.
const PHASES: u64 = 10;
const PHASE_MS: u64 = 200;

pub fn compare(path: &str, kind: &str, real: &Value) -> Option<Comparison> {
    let (kind, brokers, phase_ms) = match kind.strip_suffix("-at-defaults") {
        Some(kind) => (kind, "", 1_500),
        None => (kind, SHORT_SESSION, PHASE_MS),
    };
    // At defaults the fetcher gives its connection up meanwhile, where the relay kept it.
    let is_cured = !brokers.is_empty();
    let (deed, cure) = match kind {
        "slow" => ("link cut 1 3", Some("link heal 1 3")),
        "dead" => ("broker kill 3", None),
        "paused" => ("broker pause 3", Some("broker resume 3")),
        "shutdown" => ("broker stop 3", None),
        _ => return None,
    };
    let cure = cure.filter(|_| is_cured);
    let stories: Vec<Story> = (0..PHASES)
        .map(|number| Story::of(brokers, (deed, cure), phase_ms * number))
        .collect();
    let figure = |of: fn(&Story) -> f64| median(stories.iter().map(of).collect());
    let slack = match kind {
        "shutdown" => 70.0,
        // One run at defaults, within 30 to 45 s.
        "slow" if brokers.is_empty() => 7_500.0,
        "slow" => 0.0,
        _ => 300.0,
    };
    let mut comparison = Comparison::new(path, MECHANISM);
    comparison = beside(
        comparison,
        "ISR shrinks after, ms",
        &real["isr_shrinks_ms"],
        (figure(|s| s.shrinks_ms), slack),
    );
    comparison = beside(
        comparison,
        "silence, ms",
        &real["silence_ms"],
        (figure(|s| s.silence_ms), slack),
    );
    if cure.is_some() {
        comparison = beside(
            comparison,
            "ISR whole again after, ms",
            &real["isr_whole_again_ms"],
            (figure(|s| s.returns_ms), 60.0),
        );
    }
    Some(comparison)
}

/// One run, in milliseconds.
#[expect(clippy::struct_field_names, reason = "the unit comes last")]
struct Story {
    shrinks_ms: f64,
    silence_ms: f64,
    returns_ms: f64,
}

impl Story {
    fn of(brokers: &str, (deed, cure): (&str, Option<&str>), phase_ms: u64) -> Self {
        let fails_at = FAILS_AT_MS + phase_ms;
        // A cut link carries on when TCP sends again, which is 6.2 s after it was cut; the relay
        // that held fetches back lets them go at once. So the cure comes just before.
        let cured_at = fails_at + 6_190;
        let cure = cure.map_or_else(String::new, |cure| {
            format!("[[timeline]]\nat = \"{cured_at}ms\"\ndo = \"{cure}\"")
        });
        let trace = Trace::to_end(
            "75s",
            &format!(
                r#"
            [cluster]
            brokers = 3
            {brokers}
            [[topic]]
            name = "events"
            partitions = 1
            replication-factor = 3
            leaders = [1]
            config.min.insync.replicas = 2
            [[producer]]
            name = "trips"
            [[producer.load]]
            topic = "events"
            rate = 200
            value = {{ bytes = 4 }}
            [[timeline]]
            at = "{fails_at}ms"
            do = "{deed}"
            {cure}
            "#
            ),
        );
        let (failed, cured) = (millis(fails_at), millis(cured_at));
        let has_follower = |isr: &[BrokerIndex]| isr.contains(&FOLLOWER);
        let mut times: Vec<SimTime> = trace.acknowledged.iter().map(|batch| batch.at).collect();
        times.sort_unstable();
        let gaps = times.windows(2).map(|pair| ms(pair[1], pair[0]));
        Self {
            shrinks_ms: after(&trace, failed, |isr| !has_follower(isr)),
            silence_ms: gaps.fold(0.0, f64::max),
            returns_ms: after(&trace, cured, has_follower),
        }
    }
}

/// How long after a moment the ISR is first like this, in milliseconds.
fn after(trace: &Trace, moment: SimTime, is: impl Fn(&[BrokerIndex]) -> bool) -> f64 {
    let found = trace.facts.iter().find(|stamped| {
        let is_it = matches!(&stamped.fact, Fact::IsrChanged { isr, .. } if is(isr));
        is_it && moment <= stamped.at
    });
    found.map_or(f64::NAN, |stamped| ms(stamped.at, moment))
}

fn ms(later: SimTime, earlier: SimTime) -> f64 {
    later.since(earlier).as_nanos() as f64 / 1e6
}

/// A follower of an empty partition stops to fetch, after or before its first fetch.
pub fn compare_silent(path: &str, case: &str, real: &Value) -> Comparison {
    let recorded: Vec<String> = real["isr_sizes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    let simulated = isr_sizes(case == "isr-silent-without-load");
    Comparison::new(path, MECHANISM).text(
        "ISR sizes over 12 s",
        recorded.join(" "),
        simulated.join(" "),
    )
}

fn isr_sizes(fetched: bool) -> Vec<String> {
    let (deeds, number) = if fetched {
        (["link cut 3 1", "link cut 3 2"], 0)
    } else {
        (["link cut 3 1", "link cut 3 2"], 1)
    };
    let growth = if fetched {
        ""
    } else {
        "[[timeline]]\nat = \"3s\"\n\
         do = \"kafka-topics.sh --alter --topic events --partitions 2\""
    };
    let trace = Trace::to_end(
        "15s",
        &format!(
            r#"
        seed = 2
        [cluster]
        brokers = 3
        {SHORT_SESSION}
        [[topic]]
        name = "events"
        partitions = 1
        replication-factor = 3
        leaders = [1]
        config.min.insync.replicas = 2
        [[producer]]
        name = "trips"
        [[timeline]]
        at = "2s"
        do = "{}"
        [[timeline]]
        at = "2s"
        do = "{}"
        {growth}
        "#,
            deeds[0], deeds[1]
        ),
    );
    let mut sizes = vec!["3".to_owned()];
    for stamped in &trace.facts {
        if let Fact::IsrChanged { partition, isr } = &stamped.fact
            && partition.name().number == number
        {
            sizes.push(isr.len().to_string());
        }
    }
    sizes
}
