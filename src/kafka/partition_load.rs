//! The built-in partitioner's draw: which partition comes next, by queues and racks.
//!
//! Invariants: everything is total; partitions are walked in ascending order, where Kafka walks a
//! hash map; a draw is a uniform non-negative 31-bit number.
//!
//! Source: `BuiltInPartitioner.nextPartition`, `updatePartitionLoadStats`,
//! `RecordAccumulator.partitionReady`; racks: KIP-1123, read in the 4.4.0 client.

/// Whether a partition has a leader, and where that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leadership {
    /// Nobody leads it, as far as the client knows.
    Leaderless,
    /// Its leader stands anywhere.
    Elsewhere,
    /// Its leader stands in the rack that the client prefers (`client.rack` with
    /// `partitioner.rack.aware`).
    InRack,
}

impl Leadership {
    /// Whether somebody leads it.
    pub const fn is_led(self) -> bool {
        !matches!(self, Self::Leaderless)
    }
}

/// One partition as the sender finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartitionLoad {
    /// Its number in the topic.
    pub number: u32,
    /// Batches in its deque; those on the wire are not there.
    pub queue_size: u32,
    /// Whether it has a leader.
    pub leadership: Leadership,
    /// Whether that leader could not be sent to for longer than
    /// `partitioner.availability.timeout.ms`.
    pub is_late: bool,
}

/// Weights of a topic's partitions: the shorter the queue, the heavier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadTable {
    all: Frequencies,
    in_rack: Frequencies,
}

/// Numbers of partitions with the running sum of their weights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Frequencies {
    numbers: Vec<u32>,
    sums: Vec<u64>,
}

/// A partition that a table keeps, with the queue that it is weighed by.
#[derive(Clone, Copy)]
struct Kept {
    number: u32,
    queue_size: u64,
    leadership: Leadership,
}

impl LoadTable {
    /// The table of all partitions of a topic; nothing where every one is as good as another.
    pub fn new(loads: &[PartitionLoad]) -> Option<Self> {
        let kept = kept(loads);
        let (first, rest) = kept.split_first()?;
        let are_equal = rest.iter().all(|one| one.queue_size == first.queue_size);
        if loads.len() < 2 || (are_equal && kept.len() == loads.len()) {
            return None;
        }
        let in_rack = |one: &&Kept| one.leadership == Leadership::InRack;
        Some(Self {
            all: Frequencies::of(kept.iter()),
            in_rack: Frequencies::of(kept.iter().filter(in_rack)),
        })
    }

    /// End of the draws that matter: higher ones begin again. At least 1.
    pub fn range(&self) -> u64 {
        self.preferred().range()
    }

    /// The partition of a draw.
    pub fn pick(&self, draw: u32) -> u32 {
        self.preferred().pick(draw)
    }

    fn preferred(&self) -> &Frequencies {
        if self.in_rack.numbers.is_empty() {
            &self.all
        } else {
            &self.in_rack
        }
    }
}

/// The partition of a draw where all are alike: one that is led in the client's rack if there is
/// one, else one that is led at all, else any.
pub fn pick_evenly(draw: u32, partitions: impl Iterator<Item = Leadership> + Clone) -> u32 {
    let has_local = partitions.clone().any(|one| one == Leadership::InRack);
    let is_open = |one: Leadership| match one {
        Leadership::Leaderless => false,
        Leadership::Elsewhere => !has_local,
        Leadership::InRack => true,
    };
    let open = partitions.clone().filter(|one| is_open(*one)).count() as u32;
    if open == 0 {
        return draw % (partitions.count() as u32).max(1);
    }
    let mut numbers = (0_u32..).zip(partitions).filter(|(_, one)| is_open(*one));
    let chosen = numbers.nth((draw % open) as usize);
    chosen.map_or(0, |(number, _)| number)
}

/// The partitions that count. One that is late leaves the size of its queue behind: the next one
/// takes it over if its own queue is empty, because both are written to one place of an array.
fn kept(loads: &[PartitionLoad]) -> Vec<Kept> {
    let mut kept = Vec::with_capacity(loads.len());
    let mut left_behind = 0;
    for load in loads.iter().filter(|load| load.leadership.is_led()) {
        if load.queue_size > 0 && load.is_late {
            left_behind = load.queue_size;
            continue;
        }
        let queue_size = if load.queue_size == 0 {
            left_behind
        } else {
            load.queue_size
        };
        left_behind = 0;
        kept.push(Kept {
            number: load.number,
            queue_size: u64::from(queue_size),
            leadership: load.leadership,
        });
    }
    kept
}

impl Frequencies {
    /// Each weighs one more than its queue is shorter than the longest.
    fn of<'a>(kept: impl Iterator<Item = &'a Kept> + Clone) -> Self {
        let longest = kept.clone().map(|one| one.queue_size).max().unwrap_or(0);
        let mut sum = 0;
        let mut table = Self::default();
        for one in kept {
            sum += longest + 1 - one.queue_size;
            table.numbers.push(one.number);
            table.sums.push(sum);
        }
        table
    }

    fn range(&self) -> u64 {
        self.sums.last().copied().unwrap_or(1)
    }

    fn pick(&self, draw: u32) -> u32 {
        let weighted = u64::from(draw) % self.range();
        let place = self.sums.partition_point(|&sum| sum <= weighted);
        self.numbers.get(place).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::Leadership::{Elsewhere, InRack, Leaderless};
    use super::*;

    fn load(number: u32, queue_size: u32, leadership: Leadership) -> PartitionLoad {
        PartitionLoad {
            number,
            queue_size,
            leadership,
            is_late: false,
        }
    }

    fn led(queues: &[u32]) -> Vec<PartitionLoad> {
        (0..)
            .zip(queues)
            .map(|(number, &queue)| load(number, queue, Elsewhere))
            .collect()
    }

    /// How many draws of the range choose each of `count` partitions.
    fn chosen(table: &LoadTable, count: usize) -> Vec<u32> {
        let mut chosen = vec![0; count];
        for draw in 0..table.range() as u32 {
            chosen[table.pick(draw) as usize] += 1;
        }
        chosen
    }

    #[test]
    fn queues_of_0_3_1_batches_weigh_4_1_3() {
        let table = LoadTable::new(&led(&[0, 3, 1])).unwrap();
        assert_eq!(chosen(&table, 3), [4, 1, 3]);
    }

    #[test]
    fn equal_queues_and_single_partitions_need_no_weights() {
        assert_eq!(LoadTable::new(&led(&[2, 2])), None);
        assert_eq!(LoadTable::new(&led(&[9])), None);
        assert_eq!(LoadTable::new(&[]), None);
    }

    #[test]
    fn within_the_rack_queues_are_weighed_against_each_other_alone() {
        let loads = [
            load(0, 9, Elsewhere),
            load(1, 2, InRack),
            load(2, 0, Elsewhere),
            load(3, 0, InRack),
        ];
        let table = LoadTable::new(&loads).unwrap();
        assert_eq!(chosen(&table, 4), [0, 1, 0, 3]);
    }

    /// How often the draws below 5,040 chose each partition in the 4.4.0 client; the first `known`
    /// of four are in the table.
    fn racks_of_4_4(racks: &str, queues: [u32; 4], known: usize) -> Vec<u32> {
        let leadership = |(place, rack): (usize, char)| match rack {
            _ if known <= place => Leaderless,
            'a' => InRack,
            _ => Elsewhere,
        };
        let leaderships = racks.chars().enumerate().map(leadership);
        let loads: Vec<_> = (0..)
            .zip(queues)
            .zip(leaderships)
            .map(|((number, queue), leadership)| load(number, queue, leadership))
            .collect();
        let table = LoadTable::new(&loads).unwrap();
        let mut chosen = vec![0; 4];
        (0..5_040).for_each(|draw| chosen[table.pick(draw) as usize] += 1);
        chosen
    }

    #[test]
    fn racks_and_queues_weigh_as_in_the_4_4_0_client() {
        assert_eq!(racks_of_4_4("baba", [9, 2, 0, 0], 4), [0, 1260, 0, 3780]);
        assert_eq!(racks_of_4_4("baba", [9, 2, 0, 0], 3), [0, 5040, 0, 0]);
        assert_eq!(racks_of_4_4("aabc", [3, 0, 0, 1], 4), [1008, 4032, 0, 0]);
        assert_eq!(
            racks_of_4_4("bbbb", [1, 0, 2, 0], 4),
            [1120, 1680, 560, 1680]
        );
        assert_eq!(racks_of_4_4("bbbb", [1, 0, 2, 0], 2), [1680, 3360, 0, 0]);
        assert_eq!(racks_of_4_4("abca", [5, 0, 0, 0], 4), [720, 0, 0, 4320]);
        assert_eq!(racks_of_4_4("abca", [2, 2, 2, 2], 3), [5040, 0, 0, 0]);
    }

    #[test]
    fn without_a_leader_in_the_rack_all_led_partitions_are_weighed() {
        let loads = [
            load(0, 1, Elsewhere),
            load(1, 0, Leaderless),
            load(2, 0, Elsewhere),
        ];
        let table = LoadTable::new(&loads).unwrap();
        assert_eq!(chosen(&table, 3), [1, 0, 2]);
    }

    #[test]
    fn an_idle_partition_after_a_late_one_is_weighed_by_the_late_ones_queue() {
        let mut loads = led(&[0, 4, 0, 0]);
        loads[1].is_late = true;
        let table = LoadTable::new(&loads).unwrap();
        assert_eq!(chosen(&table, 4), [5, 0, 1, 5]);
    }

    #[test]
    fn a_late_leader_with_nothing_to_send_is_not_left_out() {
        let mut loads = led(&[0, 1, 0]);
        loads[0].is_late = true;
        let table = LoadTable::new(&loads).unwrap();
        assert_eq!(chosen(&table, 3), [2, 1, 2]);
    }

    #[test]
    fn an_even_draw_prefers_the_rack_then_any_leader_then_anything() {
        let draws = |partitions: &[Leadership]| -> Vec<u32> {
            let pick = |draw| pick_evenly(draw, partitions.iter().copied());
            (0..4).map(pick).collect()
        };
        assert_eq!(
            draws(&[Elsewhere, InRack, Leaderless, InRack]),
            [1, 3, 1, 3]
        );
        assert_eq!(draws(&[Leaderless, Elsewhere, Leaderless]), [1; 4]);
        assert_eq!(draws(&[Leaderless; 3]), [0, 1, 2, 0]);
        assert_eq!(draws(&[]), [0; 4]);
    }
}
