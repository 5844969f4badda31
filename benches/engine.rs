//! How fast the engine is, against a bare loop that draws the same keys and adds the same bytes.
//!
//! Figures of one run are comparable with each other: `bare-loop` and `one-producer` in records
//! per second, and so on. A session is measured, so insight folds over everything that happens.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use kdrill::kafka::hash::murmur2_partition;
use kdrill::kafka::size::{RecordSize, payload_bytes};
use kdrill::scenario::{self, Overrides, Scenario, Source};
use kdrill::session::{Memory, Session};
use kdrill::sim::time::SimTime;
use rand::Rng;

/// Simulated seconds of one measurement, after one second of warming up.
const SECONDS: u64 = 2;

/// `count` producers, each with a Zipf-keyed load over 12 partitions and three brokers.
fn keyed(count: u32, rate: u64, bytes: u32) -> Arc<Scenario> {
    let text = format!(
        r#"# How fast is the engine?
        [scenario]
        format = 1
        title = "bench"
        duration = "1h"
        seed = 1
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "100Gbit/s" }}
        [[topic]]
        name = "events"
        partitions = 12
        replication-factor = 1
        [[producer]]
        name = "trips"
        count = {count}
        [[producer.load]]
        topic = "events"
        rate = {rate}
        pacing = "closed"
        key = {{ zipf = 1.1, count = 5000, format = "tenant-{{n}}" }}
        value = {{ bytes = {bytes} }}
        "#
    );
    let source = Source::Text {
        name: "bench".to_string(),
        text,
    };
    let loaded = scenario::load(source, &Overrides::default());
    Arc::new(
        loaded.unwrap_or_else(|problems| panic!("{}", problems.render(scenario::Paint::Plain))),
    )
}

fn warm(scenario: &Arc<Scenario>) -> Session {
    let mut session = Session::with_memory(Arc::clone(scenario), Memory::ForwardsOnly);
    let _ = session.advance_to(SimTime::from_seconds(1), u64::MAX);
    session
}

/// The same draws, lookups and batch bytes as a producer's load loop, and nothing else.
fn bare_loop(records: u64) -> u64 {
    let keys: Vec<String> = (1..=5000).map(|n| format!("tenant-{n}")).collect();
    let routes: Vec<(u32, RecordSize)> = keys
        .iter()
        .map(|key| {
            let payload = payload_bytes(Some(key.len() as u32), Some(100), &[]);
            (
                murmur2_partition(key.as_bytes(), 12),
                RecordSize::new(payload),
            )
        })
        .collect();
    let alias: Vec<(u32, u32)> = (0..5000)
        .map(|n| (u32::MAX / 5000 * n, (n * 7) % 5000))
        .collect();
    let mut draws = rand_pcg::Pcg64Mcg::new(7);
    let mut written = [61_u32; 12];
    let mut counts = [0_u32; 12];
    let mut batches = 0;
    for _ in 0..records {
        let bits = draws.next_u64();
        let cell = (((bits >> 32) * 5000) >> 32) as usize;
        let key = if bits as u32 >= alias[cell].0 {
            alias[cell].1 as usize
        } else {
            cell
        };
        let (partition, size) = routes[key];
        let place = partition as usize;
        let bytes = size.at(counts[place], 3);
        if written[place] + bytes > 16_384 {
            (written[place], counts[place]) = (61, 0);
            batches += 1;
        }
        written[place] += bytes;
        counts[place] += 1;
    }
    black_box(written);
    batches
}

fn engine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10);
    let records = 1_000_000 * SECONDS;
    group.throughput(Throughput::Elements(records));
    group.bench_function("bare-loop", |bench| bench.iter(|| bare_loop(records)));
    let cases = [
        ("one-producer-1M-of-100B", 1, 1_000_000, 100),
        ("one-producer-10k-of-1024B", 1, 10_000, 1024),
        ("100-producers-10k-of-1024B", 100, 10_000, 1024),
    ];
    for (name, count, rate, bytes) in cases {
        let scenario = keyed(count, rate, bytes);
        let end = SimTime::from_seconds(1 + SECONDS);
        group.throughput(Throughput::Elements(u64::from(count) * rate * SECONDS));
        group.bench_function(name, |bench| {
            bench.iter_batched(
                || warm(&scenario),
                |mut session| {
                    let _ = session.advance_to(end, u64::MAX);
                    session
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
