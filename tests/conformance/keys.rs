//! Hashes and partitions of 10,000 keys: text, binary numbers, long ones and the empty one.
//!
//! The keys are made anew here, by the generator that the recording names, and a digest proves
//! that they are the same.

use std::collections::BTreeMap;

use kdrill::kafka::hash::{murmur2, murmur2_partition};
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;

const MECHANISM: &str = "murmur2, partitions of keys";
const KEYS: u64 = 10_000;
const SEED: u64 = 42;
/// What the recording says of the keys that it used.
pub const KEYS_DIGEST: &str = "9f039e974544a7c1";
const LETTERS: [&str; 8] = ["ä", "ß", "é", "Ω", "Ж", "漢", "字", "🙂"];

/// Every case of the probe.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("keys");
    let keys = keys();
    let cases = golden.cases.iter();
    cases
        .map(|(case, real)| {
            compare_case(Comparison::new(golden.path(case), MECHANISM), real, &keys)
        })
        .collect()
}

fn compare_case(comparison: Comparison, real: &Value, keys: &[Vec<u8>]) -> Comparison {
    let comparison = comparison.text("keys", KEYS_DIGEST, digest_of_keys(keys));
    if let Some(hashes) = real.get("hashes") {
        let simulated: Vec<i32> = keys.iter().map(|key| murmur2(key)).collect();
        return comparison.list("hashes", &numbers(hashes), &simulated);
    }
    if let Some(partitions) = real.get("partitions") {
        let count = last_number(&comparison.case);
        return comparison.list("partitions", &numbers(partitions), &placed(keys, count));
    }
    let real: BTreeMap<u32, &str> = real["fnv1a64"]
        .as_object()
        .expect("digests by count of partitions")
        .iter()
        .map(|(count, digest)| (last_number(count), digest.as_str().unwrap_or_default()))
        .collect();
    let simulated: Vec<String> = real
        .keys()
        .map(|&count| digest_of_partitions(&placed(keys, count)))
        .collect();
    let real: Vec<String> = real.values().map(ToString::to_string).collect();
    comparison.list("digests by count of partitions", &real, &simulated)
}

/// The number that a case's name ends with.
fn last_number(name: &str) -> u32 {
    let digits = name.rsplit('-').next().unwrap_or_default();
    digits.parse().expect("a count of partitions")
}

/// Numbers in a text, with blanks between them.
pub fn numbers<T: std::str::FromStr>(list: &Value) -> Vec<T> {
    let words = list.as_str().expect("numbers in a text").split(' ');
    words.filter_map(|word| word.parse().ok()).collect()
}

fn placed(keys: &[Vec<u8>], partitions: u32) -> Vec<u32> {
    keys.iter()
        .map(|key| murmur2_partition(key, partitions))
        .collect()
}

// === The keys

/// The 10,000 keys, in order.
pub fn keys() -> Vec<Vec<u8>> {
    let mut random = SplitMix64(SEED);
    (0..KEYS).map(|place| key(place, &mut random)).collect()
}

fn key(place: u64, random: &mut SplitMix64) -> Vec<u8> {
    match (place % 500, place % 5) {
        (499, _) => (0..128).flat_map(|_| random.next().to_be_bytes()).collect(),
        (498, _) => Vec::new(),
        (_, 0) => format!("user-{place}").into_bytes(),
        (_, 1) => {
            let length = 1 + random.below(32);
            (0..length).map(|_| 33 + random.below(94) as u8).collect()
        }
        (_, 2) => {
            let length = 1 + random.below(16);
            let letters = (0..length).map(|_| LETTERS[random.below(8) as usize]);
            letters.collect::<String>().into_bytes()
        }
        (_, 3) => (random.next() as u32).to_be_bytes().to_vec(),
        _ => random.next().to_be_bytes().to_vec(),
    }
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

// === Digests

/// A digest over the keys.
pub fn digest_of_keys(keys: &[Vec<u8>]) -> String {
    let with_length = |key: &Vec<u8>| {
        let length = (key.len() as u32).to_be_bytes();
        length.into_iter().chain(key.clone())
    };
    fnv1a(keys.iter().flat_map(with_length))
}

/// A digest over where the keys go.
pub fn digest_of_partitions(partitions: &[u32]) -> String {
    fnv1a(partitions.iter().map(|&partition| partition as u8))
}

/// FNV-1a of 64 bits.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> String {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
