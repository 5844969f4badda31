//! How fast a pass over keys is, against a bare loop over the same bytes with the same hashes.
//!
//! Figures of one run are comparable with each other: keys per second of `hashes` (the three
//! hashes alone), `murmur2` (one of them), `pass` (lines, counts, hashes, sums of seven
//! partitioners), and `pass-and-grow`.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kdrill::kafka::hash::murmur2_partition;
use kdrill::kafka::rdkafka_partitioner::KeyHash;
use kdrill::kafka::serializer::KeySerializer;
use kdrill::keys::{Format, Lines, List, NoRows, Request, Separator, Source, pass};

/// Keys of one measurement.
const KEYS: u64 = 1_000_000;
const PARTITIONS: u32 = 12;

fn request(grow: Option<u32>) -> Request {
    Request {
        source: Source::Stdin,
        partitions: PARTITIONS,
        grow,
        serializer: KeySerializer::String,
        separator: Separator::Byte(b'\t'),
        null_marker: None,
        format: Format::Text,
        list: List::First(0),
        output: None,
    }
}

fn keys(criterion: &mut Criterion) {
    let mut lines = String::new();
    for n in 0..KEYS {
        lines.extend([
            "tenant-",
            &n.to_string(),
            "/user-",
            &(n * 7).to_string(),
            "\n",
        ]);
    }
    let split: Vec<&[u8]> = lines.as_bytes().split(|&byte| byte == b'\n').collect();
    let mut group = criterion.benchmark_group("keys");
    group.sample_size(10);
    group.throughput(Throughput::Elements(KEYS));
    group.bench_function("murmur2", |bench| {
        bench.iter(|| {
            let partitions = split.iter().map(|key| murmur2_partition(key, PARTITIONS));
            black_box(partitions.map(u64::from).sum::<u64>())
        });
    });
    group.bench_function("hashes", |bench| {
        bench.iter(|| {
            let partitions = split
                .iter()
                .flat_map(|key| KeyHash::ALL.map(|hash| u64::from(hash.of(key) % PARTITIONS)));
            black_box(partitions.sum::<u64>())
        });
    });
    for (name, grow) in [("pass", None), ("pass-and-grow", Some(18))] {
        let request = request(grow);
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let never = AtomicBool::new(false);
                let mut lines = Lines::new(lines.as_bytes(), &never);
                black_box(pass(&mut lines, &request, &mut NoRows, ("bench", None)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, keys);
criterion_main!(benches);
