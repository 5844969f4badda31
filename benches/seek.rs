//! What going to any moment costs over one simulated hour: time of a seek, and memory.
//!
//! Figures are of one machine and one run; they are printed, not judged.
#![expect(clippy::print_stdout, reason = "the figures are what it is for")]
#![expect(clippy::disallowed_methods, reason = "real time is what it measures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use kdrill::scenario::{self, Overrides, Scenario, Source};
use kdrill::session::{Memory, Session};
use kdrill::sim::time::SimTime;

/// The scenario of the engine's bench with 10,000 records/s.
const TEXT: &str = r#"# How fast is a seek?
[scenario]
format = 1
title = "seek"
duration = "1h"
seed = 1
[cluster]
brokers = 3
link = { rtt = "1ms", bandwidth = "100Gbit/s" }
[[topic]]
name = "events"
partitions = 12
replication-factor = 1
[[producer]]
name = "trips"
[[producer.load]]
topic = "events"
rate = 10000
pacing = "closed"
key = { zipf = 1.1, count = 5000, format = "tenant-{n}" }
value = { bytes = 1024 }
"#;

/// A buffer that stays full behind slow disks: the largest state that a client comes to.
fn full() -> String {
    let slow = "brokers = 3\nappend-rate = \"2MiB/s\"";
    TEXT.replace("brokers = 3", slow)
        .replace("replication-factor = 1", "replication-factor = 3")
}

/// Seeks that are measured.
const SEEKS: u64 = 200;

/// Memory that the process holds, in MiB; nothing where the system does not say.
fn resident() -> f64 {
    let said = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = said.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(f64::NAN) * 4096.0 / 1_048_576.0
}

fn loaded(text: &str) -> Arc<Scenario> {
    let source = Source::Text {
        name: "seek".to_owned(),
        text: text.to_owned(),
    };
    let loaded = scenario::load(source, &Overrides::default());
    Arc::new(
        loaded.unwrap_or_else(|problems| panic!("{}", problems.render(scenario::Paint::Plain))),
    )
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn hour(name: &str, scenario: &Arc<Scenario>, memory: Memory) -> Session {
    let before = resident();
    let mut session = Session::with_memory(Arc::clone(scenario), memory);
    let took = timed(|| {
        let _ = session.advance_to(session.end(), u64::MAX);
    });
    let events = session.simulation().events_handled();
    println!(
        "{name}: one hour, {memory:?}: {took:.2?}, {:.1} MiB more, {events} events",
        resident() - before
    );
    session
}

fn seeks(session: &mut Session) {
    let (mut all, mut worst, mut farthest) = (Duration::ZERO, Duration::ZERO, SimTime::ZERO);
    let mut draw = 12_345_u64;
    for _ in 0..SEEKS {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = SimTime::from_nanos(draw % session.end().as_nanos());
        let took = timed(|| {
            session.approach(at);
            let _ = session.advance_to(at, u64::MAX);
        });
        all += took;
        if worst < took {
            (worst, farthest) = (took, at);
        }
    }
    let mean = all / SEEKS as u32;
    println!("  seek: mean {mean:.2?}, slowest {worst:.2?} (to {farthest})");
    let first = timed(|| session.step_back());
    let next = timed(|| (0..20).for_each(|_| session.step_back())) / 20;
    println!("  one event back: first {first:.2?}, then {next:.2?} each");
    println!(
        "  {} snapshots, {:.1} MiB by their own count, {:.1} MiB in all",
        session.snapshots_kept(),
        session.snapshots_bytes() as f64 / 1_048_576.0,
        resident()
    );
}

fn main() {
    for (name, text) in [("bench", TEXT.to_owned()), ("full buffer", full())] {
        let scenario = loaded(&text);
        drop(hour(name, &scenario, Memory::ForwardsOnly));
        let mut session = hour(name, &scenario, Memory::Snapshots);
        seeks(&mut session);
    }
}
