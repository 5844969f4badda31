//! On which brokers the replicas of new partitions are placed.
//!
//! Source: `StripedReplicaPlacer`. Racks and the brokers within them are shuffled once, and then
//! taken in turn, so that leaders spread evenly over racks and brokers; partitions that exist
//! already are not looked at. Fenced brokers are placed behind all others of their rack and never
//! first. Simplification: the shuffles draw from a stream of our own, where Kafka's are not seeded.

use crate::sim::config::BrokerConfig;
use crate::sim::ids::BrokerIndex;
use crate::sim::rng::Stream;

/// All racks, in the order in which they are taken.
#[derive(Clone, Debug)]
pub struct RackList {
    racks: Vec<Rack>,
    epoch: u32,
    offset: usize,
}

/// The brokers of one rack; those that name no rack share one.
#[derive(Clone, Debug, Default)]
struct Rack {
    name: Option<String>,
    unfenced: BrokerList,
    fenced: BrokerList,
}

/// Brokers that are taken in turn, each once for a partition.
#[derive(Clone, Debug, Default)]
struct BrokerList {
    brokers: Vec<BrokerIndex>,
    epoch: u32,
    index: usize,
    offset: usize,
}

impl RackList {
    /// The brokers of a cluster, shuffled; `unfenced` says who may lead.
    pub fn new(brokers: &[BrokerConfig], unfenced: &[bool], draws: &mut Stream) -> Self {
        let mut racks: Vec<Rack> = Vec::new();
        for ((place, broker), &is_unfenced) in (0..).zip(brokers).zip(unfenced) {
            let known = racks.iter().position(|rack| rack.name == broker.rack);
            let at = known.unwrap_or_else(|| {
                racks.push(Rack {
                    name: broker.rack.clone(),
                    ..Rack::default()
                });
                racks.len() - 1
            });
            let list = if is_unfenced {
                &mut racks[at].unfenced
            } else {
                &mut racks[at].fenced
            };
            list.brokers.push(BrokerIndex(place));
        }
        shuffle(&mut racks, draws);
        for rack in &mut racks {
            shuffle(&mut rack.unfenced.brokers, draws);
            shuffle(&mut rack.fenced.brokers, draws);
        }
        Self {
            racks,
            epoch: 0,
            offset: 0,
        }
    }

    /// The replicas of the next partition, the leader first; fewer than asked for where there are
    /// not so many brokers, and none while all are fenced.
    pub fn place(&mut self, replication_factor: usize) -> Vec<BrokerIndex> {
        self.epoch += 1;
        let (epoch, count) = (self.epoch, self.racks.len());
        if count == 0 {
            return Vec::new();
        }
        let from_offset = |place: usize, offset: usize| (offset + place) % count;
        let mut leader = None;
        for place in (0..count).map(|place| from_offset(place, self.offset)) {
            if let Some(broker) = self.racks[place].unfenced.next(epoch) {
                leader = Some((place, broker));
                break;
            }
        }
        let Some((leader_rack, leader)) = leader else {
            return Vec::new();
        };
        let mut brokers = vec![leader];
        // The leader's rack sits out one turn.
        let mut sits_out = Some(leader_rack);
        loop {
            let (placed, sat_out) = (brokers.len(), sits_out.is_none());
            for place in (0..count).map(|place| from_offset(place, self.offset)) {
                if brokers.len() >= replication_factor {
                    break;
                }
                if sits_out == Some(place) {
                    sits_out = None;
                } else {
                    brokers.extend(self.racks[place].next(epoch));
                }
            }
            if brokers.len() >= replication_factor || (brokers.len() == placed && sat_out) {
                break;
            }
        }
        self.offset = (self.offset + 1) % count;
        brokers
    }
}

impl Rack {
    fn next(&mut self, epoch: u32) -> Option<BrokerIndex> {
        self.unfenced
            .next(epoch)
            .or_else(|| self.fenced.next(epoch))
    }
}

impl BrokerList {
    /// The next broker for the partition `epoch`; none when all had their turn.
    fn next(&mut self, epoch: u32) -> Option<BrokerIndex> {
        let count = self.brokers.len();
        if self.epoch != epoch && count > 0 {
            (self.epoch, self.index) = (epoch, 0);
            self.offset = (self.offset + 1) % count;
        }
        if self.index >= count {
            return None;
        }
        let broker = self.brokers[(self.index + self.offset) % count];
        self.index += 1;
        Some(broker)
    }
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], draws: &mut Stream) {
    for last in (1..items.len()).rev() {
        let other = draws.below(last as u64 + 1) as usize;
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::rng::Purpose;
    use crate::sim::testing;

    fn racks(names: &[Option<&str>], unfenced: &[bool]) -> RackList {
        let mut brokers = testing::world().brokers;
        let model = brokers[0].clone();
        brokers.resize(names.len(), model);
        for (broker, name) in brokers.iter_mut().zip(names) {
            broker.rack = name.map(str::to_owned);
        }
        let mut draws = Stream::new(7, Purpose::Placement, 0, 0);
        RackList::new(&brokers, unfenced, &mut draws)
    }

    fn leaders(list: &mut RackList, partitions: usize) -> Vec<usize> {
        let mut counts = vec![0; 8];
        for _ in 0..partitions {
            counts[list.place(1)[0].index()] += 1;
        }
        counts
    }

    #[test]
    fn three_new_partitions_on_three_brokers_have_three_leaders() {
        let mut list = racks(&[None; 3], &[true; 3]);
        assert_eq!(leaders(&mut list, 3)[..3], [1, 1, 1]);
    }

    #[test]
    fn replicas_of_one_partition_are_on_different_brokers() {
        let mut list = racks(&[None; 3], &[true; 3]);
        for _ in 0..5 {
            let mut replicas = list.place(3);
            replicas.sort_unstable();
            assert_eq!(replicas, [0, 1, 2].map(BrokerIndex));
        }
    }

    #[test]
    fn replicas_go_to_different_racks_while_there_are_some() {
        let names = [Some("a"), Some("a"), Some("b"), Some("b"), Some("c")];
        let mut list = racks(&names, &[true; 5]);
        for _ in 0..9 {
            let mut seen: Vec<_> = list.place(3).iter().map(|b| names[b.index()]).collect();
            seen.sort_unstable();
            assert_eq!(seen, [Some("a"), Some("b"), Some("c")]);
        }
    }

    #[test]
    fn a_fenced_broker_never_leads_a_new_partition() {
        let mut list = racks(&[None; 3], &[true, false, true]);
        assert_eq!(leaders(&mut list, 12)[..3], [6, 0, 6]);
        assert_eq!(list.place(3).len(), 3);
        assert_eq!(racks(&[None; 2], &[false; 2]).place(1), []);
    }
}
