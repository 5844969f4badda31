//! How the keys are spread over partitions, by partitioner.

use crate::kafka::rdkafka_partitioner::{KeyHash, RdkafkaPartitioner};

use super::place::{Hashes, Placed, Places};

/// Keys with the largest counts that are remembered.
const LARGEST_MAX: usize = 5;

/// Keys and their records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Keys.
    pub keys: u64,
    /// Records.
    pub records: u64,
}

impl Amount {
    fn add(&mut self, records: u64) {
        self.keys += 1;
        self.records = self.records.saturating_add(records);
    }

    /// Both summed up.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            keys: self.keys + other.keys,
            records: self.records.saturating_add(other.records),
        }
    }
}

/// One key with a large count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// As it was written; none is a NULL key.
    pub text: Option<Vec<u8>>,
    /// Its records.
    pub records: u64,
    /// Where the hashes point.
    pub places: Places,
}

/// Sums over all keys of a pass; its size depends on partitions alone.
#[derive(Clone, Debug)]
pub struct Tally {
    now: Spreading,
    grown: Option<Spreading>,
    /// All keys.
    pub all: Amount,
    /// NULL keys.
    pub null: Amount,
    /// Empty keys.
    pub empty: Amount,
    /// By hash: keys with bytes that move when the topic grows.
    moved: [Amount; KeyHash::ALL.len()],
    /// Keys that the Java client and librdkafka's default put on different partitions.
    pub apart: Amount,
    /// The keys with the largest counts, the largest first. A key counts line by line.
    pub largest: Vec<Large>,
}

/// Records of keys with bytes, by hash and partition.
#[derive(Clone, Debug)]
struct Spreading {
    partitions: u32,
    records: [Vec<u64>; KeyHash::ALL.len()],
}

/// What one partitioner does with all keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Records by partition, of the keys that decide.
    pub records: Vec<u64>,
    /// Keys that do not decide: the partition is drawn, or sticks for a while.
    pub drawn: Amount,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(partitions: u32, grow: Option<u32>) -> Self {
        Self {
            now: Spreading::new(partitions),
            grown: grow.map(Spreading::new),
            all: Amount::default(),
            null: Amount::default(),
            empty: Amount::default(),
            moved: [Amount::default(); KeyHash::ALL.len()],
            apart: Amount::default(),
            largest: Vec::new(),
        }
    }

    /// Counts a key.
    pub fn count(&mut self, placed: &Placed<'_>) {
        let records = placed.records;
        self.all.add(records);
        match placed.key {
            None => self.null.add(records),
            Some([]) => self.empty.add(records),
            Some(_) => self.count_filled(placed),
        }
        let least = self.largest.last().map_or(0, |large| large.records);
        if least < records || self.largest.len() < LARGEST_MAX {
            self.remember(placed);
        }
    }

    fn count_filled(&mut self, placed: &Placed<'_>) {
        let records = placed.records;
        self.now.count(&placed.places, records);
        if placed.places.by(KeyHash::Murmur2) != placed.places.by(KeyHash::Crc32) {
            self.apart.add(records);
        }
        if let (Some(spreading), Some(grown)) = (&mut self.grown, &placed.grown) {
            spreading.count(grown, records);
            for (moved, (old, new)) in self
                .moved
                .iter_mut()
                .zip(placed.places.0.iter().zip(grown.0))
            {
                if *old != new {
                    moved.add(records);
                }
            }
        }
    }

    fn remember(&mut self, placed: &Placed<'_>) {
        let place = self
            .largest
            .partition_point(|large| placed.records <= large.records);
        self.largest.truncate(LARGEST_MAX - 1);
        if place < LARGEST_MAX {
            let large = Large {
                text: placed.key.map(|_| placed.text.to_vec()),
                records: placed.records,
                places: placed.places,
            };
            self.largest.insert(place.min(self.largest.len()), large);
        }
    }

    /// How `partitioner` spreads the records.
    pub fn spread(&self, partitioner: RdkafkaPartitioner) -> Spread {
        self.spread_over(&self.now, partitioner)
    }

    /// The same once the topic has grown; nothing when it does not grow.
    pub fn grown_spread(&self, partitioner: RdkafkaPartitioner) -> Option<Spread> {
        Some(self.spread_over(self.grown.as_ref()?, partitioner))
    }

    /// Keys that `partitioner` puts elsewhere once the topic has grown.
    pub fn moved(&self, partitioner: RdkafkaPartitioner) -> Option<Amount> {
        let grown = self.grown.as_ref()?;
        let mut moved = Amount::default();
        if let Some(hash) = partitioner.hash(Some(b"key")) {
            moved = self.moved[hash as usize];
        }
        for (kind, amount) in self.without_bytes() {
            let moves = partitioner.hash(kind).is_some_and(|hash| {
                let places = |spreading: &Spreading| empty_places(spreading).by(hash);
                places(&self.now) != places(grown)
            });
            if moves {
                moved = moved.plus(amount);
            }
        }
        Some(moved)
    }

    /// NULL and empty keys.
    fn without_bytes(&self) -> [(Option<&'static [u8]>, Amount); 2] {
        [(None, self.null), (Some(b""), self.empty)]
    }

    fn spread_over(&self, spreading: &Spreading, partitioner: RdkafkaPartitioner) -> Spread {
        let Some(hash) = partitioner.hash(Some(b"key")) else {
            return Spread {
                records: vec![0; spreading.partitions as usize],
                drawn: self.all,
            };
        };
        let mut spread = Spread {
            records: spreading.records[hash as usize].clone(),
            drawn: Amount::default(),
        };
        for (kind, amount) in self.without_bytes() {
            match partitioner.hash(kind) {
                Some(hash) => {
                    let place = empty_places(spreading).by(hash) as usize;
                    let records = &mut spread.records[place];
                    *records = records.saturating_add(amount.records);
                }
                None => spread.drawn = spread.drawn.plus(amount),
            }
        }
        spread
    }
}

/// Where hashes put a key without bytes.
fn empty_places(spreading: &Spreading) -> Places {
    Hashes::of(b"").places(spreading.partitions)
}

impl Spreading {
    fn new(partitions: u32) -> Self {
        Self {
            partitions,
            records: KeyHash::ALL.map(|_| vec![0; partitions as usize]),
        }
    }

    fn count(&mut self, places: &Places, records: u64) {
        for (sums, place) in self.records.iter_mut().zip(places.0) {
            let sum = &mut sums[place as usize];
            *sum = sum.saturating_add(records);
        }
    }
}

impl Spread {
    /// Records of keys that decide.
    pub fn total(&self) -> u64 {
        self.records
            .iter()
            .fold(0_u64, |sum, &records| sum.saturating_add(records))
    }

    /// Records of a partition if all had as many; 0 while there are none.
    pub fn mean(&self) -> f64 {
        self.total() as f64 / self.records.len().max(1) as f64
    }

    /// The fullest partition; the first of several.
    pub fn fullest(&self) -> Option<(u32, u64)> {
        let full = |(_, records): &(usize, &u64)| **records;
        let most = self.records.iter().enumerate().rev().max_by_key(full)?;
        Some((most.0 as u32, *most.1))
    }

    /// Partitions without records.
    pub fn idle(&self) -> usize {
        self.records.iter().filter(|&&records| records == 0).count()
    }

    /// Records of the fullest partition over the mean; nothing without records.
    pub fn max_over_mean(&self) -> Option<f64> {
        let mean = self.mean();
        let (_, most) = self.fullest()?;
        (mean > 0.0).then(|| most as f64 / mean)
    }

    /// Standard deviation over the mean; nothing without records.
    pub fn cv(&self) -> Option<f64> {
        let mean = self.mean();
        let squares = self.records.iter().map(|&records| {
            let off = records as f64 - mean;
            off * off
        });
        let variance = squares.sum::<f64>() / self.records.len().max(1) as f64;
        (mean > 0.0).then(|| libm::sqrt(variance) / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(keys: &[(Option<&[u8]>, u64)], partitions: u32, grow: Option<u32>) -> Tally {
        let mut tally = Tally::new(partitions, grow);
        for &(key, records) in keys {
            let hashes = Hashes::of(key.unwrap_or_default());
            tally.count(&Placed {
                text: key.unwrap_or_default(),
                key,
                records,
                places: hashes.places(partitions),
                grown: grow.map(|grow| hashes.places(grow)),
            });
        }
        tally
    }

    fn users() -> Vec<Vec<u8>> {
        (1..=6).map(|n| format!("user-{n}").into_bytes()).collect()
    }

    #[test]
    fn three_of_six_users_move_from_three_to_six_partitions() {
        let users = users();
        let keys: Vec<_> = users.iter().map(|key| (Some(&key[..]), 10)).collect();
        let tally = tally(&keys, 3, Some(6));
        let moved = Amount {
            keys: 3,
            records: 30,
        };
        assert_eq!(tally.moved(RdkafkaPartitioner::Murmur2Random), Some(moved));
        let nothing = Some(Amount::default());
        assert_eq!(tally.moved(RdkafkaPartitioner::Random), nothing);
    }

    #[test]
    fn keys_that_do_not_decide_are_drawn_and_stand_in_no_partition() {
        let tally = tally(&[(None, 5), (Some(b""), 3), (Some(b"user-1"), 2)], 6, None);
        let drawn = |partitioner| tally.spread(partitioner).drawn.records;
        assert_eq!(drawn(RdkafkaPartitioner::ConsistentRandom), 8);
        assert_eq!(drawn(RdkafkaPartitioner::Murmur2Random), 5);
        assert_eq!(drawn(RdkafkaPartitioner::Murmur2), 0);
        assert_eq!(drawn(RdkafkaPartitioner::Random), 10);
        let java = tally.spread(RdkafkaPartitioner::Murmur2Random).records;
        assert_eq!(java, [0, 0, 2, 3, 0, 0]);
        let plain = tally.spread(RdkafkaPartitioner::Murmur2).records;
        assert_eq!(plain, [0, 0, 2, 8, 0, 0]);
    }

    #[test]
    fn evenness_is_by_records_and_not_by_keys() {
        let tally = tally(&[(Some(b"user-1"), 3), (Some(b"user-3"), 1)], 6, None);
        let spread = tally.spread(RdkafkaPartitioner::Murmur2Random);
        assert_eq!(spread.fullest(), Some((2, 3)));
        assert_eq!(spread.max_over_mean(), Some(4.5));
        assert_eq!(spread.idle(), 4);
        assert!((spread.cv().unwrap() - 1.658).abs() < 0.001);
    }

    #[test]
    fn the_largest_counts_come_first_and_are_few() {
        let keys: [(Option<&[u8]>, u64); 7] = [
            (Some(b"a"), 1),
            (Some(b"b"), 9),
            (None, 4),
            (Some(b"c"), 9),
            (Some(b"d"), 2),
            (Some(b"e"), 3),
            (Some(b"f"), 1),
        ];
        let tally = tally(&keys, 6, None);
        let records: Vec<u64> = tally.largest.iter().map(|large| large.records).collect();
        assert_eq!(records, [9, 9, 4, 3, 2]);
        assert_eq!(tally.largest[0].text.as_deref(), Some(&b"b"[..]));
        assert_eq!(tally.largest[2].text, None);
    }
}
