//! Who reads which partitions: the four assignors of Kafka.
//!
//! Source: `RangeAssignor`, `RoundRobinAssignor`, `AbstractStickyAssignor`,
//! `CooperativeStickyAssignor`. Members are taken in the order of their consumers, where Kafka
//! takes them by member id, whose random part decides among consumers of one name.
//!
//! Simplifications: racks are not looked at (KIP-881); where members subscribe to different topics,
//! a sticky assignor gives each partition to the least loaded subscriber and moves nothing else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::kafka::settings::Assignor;
use crate::sim::consumer::call::{MemberId, MemberInfo};
use crate::sim::ids::{PartitionIndex, TopicIndex};
use crate::sim::metadata::Image;

/// What everybody gets.
type Assignments = Vec<(MemberId, Vec<PartitionIndex>)>;

/// Spreads all partitions of all subscribed topics over the members.
pub(super) fn assign(assignor: Assignor, members: &[MemberInfo], image: &Image) -> Assignments {
    let mut members: Vec<&MemberInfo> = members.iter().collect();
    members.sort_by_key(|member| (member.consumer, member.member));
    let mut assignments = match assignor {
        Assignor::Range => range(&members, image),
        Assignor::RoundRobin => round_robin(&members, image),
        Assignor::Sticky => sticky(&members, image),
        Assignor::CooperativeSticky => {
            let mut assignments = sticky(&members, image);
            leave_what_others_own(&members, &mut assignments);
            assignments
        }
    };
    for (_, partitions) in &mut assignments {
        partitions.sort_unstable_by_key(|partition| partition.name());
    }
    assignments
}

/// All topics that somebody subscribes to, in order, each once.
fn topics_of(members: &[&MemberInfo]) -> Vec<TopicIndex> {
    let mut topics: Vec<TopicIndex> = members
        .iter()
        .flat_map(|member| member.topics.iter().copied())
        .collect();
    topics.sort_unstable();
    topics.dedup();
    topics
}

fn nobody(members: &[&MemberInfo]) -> Assignments {
    members
        .iter()
        .map(|member| (member.member, Vec::new()))
        .collect()
}

/// Topic by topic: runs of neighbours, the first members one more.
fn range(members: &[&MemberInfo], image: &Image) -> Assignments {
    let mut assignments = nobody(members);
    for topic in topics_of(members) {
        let readers: Vec<usize> = (0..members.len())
            .filter(|&place| members[place].topics.contains(&topic))
            .collect();
        let mut partitions = image.partitions_of(topic);
        let count = image.topic(topic).partitions.len();
        let (each, more) = (count / readers.len(), count % readers.len());
        for (turn, place) in readers.into_iter().enumerate() {
            let share = each + usize::from(turn < more);
            assignments[place].1.extend(partitions.by_ref().take(share));
        }
    }
    assignments
}

/// All partitions of all topics in turn.
fn round_robin(members: &[&MemberInfo], image: &Image) -> Assignments {
    let mut assignments = nobody(members);
    let mut next = 0;
    for topic in topics_of(members) {
        for partition in image.partitions_of(topic) {
            while !members[next % members.len()].topics.contains(&topic) {
                next += 1;
            }
            assignments[next % members.len()].1.push(partition);
            next += 1;
        }
    }
    assignments
}

/// Balanced, and as it was.
fn sticky(members: &[&MemberInfo], image: &Image) -> Assignments {
    let all: Vec<PartitionIndex> = topics_of(members)
        .into_iter()
        .flat_map(|topic| image.partitions_of(topic))
        .collect();
    let is_uniform = members.windows(2).all(|two| two[0].topics == two[1].topics);
    let mut kept = claims(members, &all);
    if is_uniform {
        balance(members, &all, &mut kept)
    } else {
        fill_up(members, &all, kept)
    }
}

/// What each member owned and nobody before it claims.
fn claims(members: &[&MemberInfo], all: &[PartitionIndex]) -> Vec<Vec<PartitionIndex>> {
    let mut taken: BTreeSet<PartitionIndex> = BTreeSet::new();
    members
        .iter()
        .map(|member| {
            let mut owned = member.owned.clone();
            owned.sort_unstable_by_key(|partition| partition.name());
            owned.retain(|partition| {
                let is_wanted =
                    member.topics.contains(&partition.name().topic) && is_among(all, *partition);
                is_wanted && taken.insert(*partition)
            });
            owned
        })
        .collect()
}

/// `ConstrainedAssignmentBuilder`: everybody reads the same topics, so quotas are known at once.
fn balance(
    members: &[&MemberInfo],
    all: &[PartitionIndex],
    kept: &mut [Vec<PartitionIndex>],
) -> Assignments {
    let (least, more) = (all.len() / members.len(), all.len() % members.len());
    let mut with_more = 0;
    let (mut below, mut at_least) = (VecDeque::new(), VecDeque::new());
    for (place, owned) in kept.iter_mut().enumerate() {
        if owned.len() > least && with_more < more {
            owned.truncate(least + 1);
            with_more += 1;
        } else if owned.len() >= least {
            owned.truncate(least);
            at_least.push_back(place);
        } else {
            below.push_back(place);
        }
    }
    let mut free: VecDeque<PartitionIndex> = unclaimed(all, kept).into();
    while let Some(place) = below.pop_front() {
        let Some(partition) = free.pop_front() else {
            break;
        };
        kept[place].push(partition);
        if kept[place].len() < least {
            below.push_back(place);
        } else {
            at_least.push_back(place);
        }
    }
    for (partition, place) in free.into_iter().zip(at_least) {
        kept[place].push(partition);
    }
    named(members, kept.to_vec())
}

/// Members that read different topics: each partition goes to the least loaded of its readers.
fn fill_up(
    members: &[&MemberInfo],
    all: &[PartitionIndex],
    mut kept: Vec<Vec<PartitionIndex>>,
) -> Assignments {
    for partition in unclaimed(all, &kept) {
        let readers = (0..members.len())
            .filter(|&place| members[place].topics.contains(&partition.name().topic));
        if let Some(place) = readers.min_by_key(|&place| kept[place].len()) {
            kept[place].push(partition);
        }
    }
    named(members, kept)
}

fn unclaimed(all: &[PartitionIndex], kept: &[Vec<PartitionIndex>]) -> Vec<PartitionIndex> {
    let mut claimed: Vec<PartitionIndex> = kept.iter().flatten().copied().collect();
    claimed.sort_unstable_by_key(|partition| partition.name());
    all.iter()
        .copied()
        .filter(|partition| !is_among(&claimed, *partition))
        .collect()
}

/// Whether a list in order of names holds a partition.
fn is_among(list: &[PartitionIndex], partition: PartitionIndex) -> bool {
    let found = list.binary_search_by_key(&partition.name(), |one| one.name());
    found.is_ok()
}

fn named(members: &[&MemberInfo], lists: Vec<Vec<PartitionIndex>>) -> Assignments {
    members
        .iter()
        .map(|member| member.member)
        .zip(lists)
        .collect()
}

/// `CooperativeStickyAssignor.adjustAssignment`: what moves is first given up by its owner, and
/// given away only in the rebalance after that.
fn leave_what_others_own(members: &[&MemberInfo], assignments: &mut Assignments) {
    let mut owners: BTreeMap<PartitionIndex, MemberId> = BTreeMap::new();
    for member in members {
        for partition in &member.owned {
            owners.entry(*partition).or_insert(member.member);
        }
    }
    for (member, partitions) in assignments {
        partitions.retain(|partition| owners.get(partition).is_none_or(|owner| owner == member));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::ids::{ConsumerIndex, TopicPartition};
    use crate::sim::metadata::TopicImage;
    use proptest::prelude::*;

    fn image(counts: &[u32]) -> Image {
        let mut place = 0;
        let topics = (0_u16..)
            .zip(counts)
            .map(|(topic, &count)| {
                let partition = |number| {
                    let topic = TopicIndex(topic);
                    PartitionIndex::new(place + number, TopicPartition { topic, number })
                };
                let partitions = (0..count).map(partition).collect();
                place += count;
                TopicImage { partitions }
            })
            .collect();
        Image {
            version: 1,
            partitions: Vec::new(),
            unfenced: Vec::new(),
            topics,
        }
    }

    fn members(count: u32, topics: u16) -> Vec<MemberInfo> {
        (1..=count)
            .map(|member| MemberInfo {
                member,
                consumer: ConsumerIndex(member as u16 - 1),
                topics: (0..topics).map(TopicIndex).collect(),
                owned: Vec::new(),
            })
            .collect()
    }

    fn numbers(assignments: &Assignments) -> Vec<Vec<u32>> {
        let of =
            |(_, list): &(_, Vec<PartitionIndex>)| list.iter().map(|p| p.name().number).collect();
        assignments.iter().map(of).collect()
    }

    #[test]
    fn range_gives_the_first_members_of_each_topic_one_more() {
        let assignments = assign(Assignor::Range, &members(2, 2), &image(&[3, 3]));
        assert_eq!(numbers(&assignments), [vec![0, 1, 0, 1], vec![2, 2]]);
    }

    #[test]
    fn members_beyond_the_partitions_get_nothing() {
        let assignments = assign(Assignor::Range, &members(4, 1), &image(&[3]));
        assert_eq!(numbers(&assignments), [vec![0], vec![1], vec![2], vec![]]);
    }

    #[test]
    fn round_robin_goes_over_all_topics() {
        let assignments = assign(Assignor::RoundRobin, &members(2, 2), &image(&[3, 3]));
        assert_eq!(numbers(&assignments), [vec![0, 2, 1], vec![1, 0, 2]]);
    }

    #[test]
    fn a_newcomer_takes_what_is_too_much_and_nothing_else_moves() {
        let image = image(&[6]);
        let mut group = members(2, 1);
        let first = assign(Assignor::Sticky, &group, &image);
        for (member, (_, owned)) in group.iter_mut().zip(first) {
            member.owned = owned;
        }
        group.push(members(3, 1).remove(2));
        let second = assign(Assignor::Sticky, &group, &image);
        assert_eq!(numbers(&second), [vec![0, 2], vec![1, 3], vec![4, 5]]);
    }

    #[test]
    fn a_cooperative_newcomer_waits_until_the_owner_has_given_it_up() {
        let image = image(&[4]);
        let mut group = members(1, 1);
        group[0].owned = image.partitions_of(TopicIndex(0)).collect();
        group.push(members(2, 1).remove(1));
        let first = assign(Assignor::CooperativeSticky, &group, &image);
        assert_eq!(numbers(&first), [vec![0, 1], vec![]]);
        group[0].owned.truncate(2);
        let second = assign(Assignor::CooperativeSticky, &group, &image);
        assert_eq!(numbers(&second), [vec![0, 1], vec![2, 3]]);
    }

    proptest! {
        #[test]
        fn every_partition_has_one_reader_and_nobody_two_more_than_another(
            count in 1_u32..9, partitions in 0_u32..30, left in 0_usize..9,
        ) {
            let image = image(&[partitions]);
            let mut group = members(count, 1);
            let first = assign(Assignor::Sticky, &group, &image);
            for (member, (_, owned)) in group.iter_mut().zip(first) {
                member.owned = owned;
            }
            group.remove(left % count as usize);
            group.extend(members(12, 1).split_off(9));
            for assignor in [Assignor::Range, Assignor::RoundRobin, Assignor::Sticky] {
                let result = assign(assignor, &group, &image);
                let mut all: Vec<u32> = numbers(&result).concat();
                all.sort_unstable();
                prop_assert_eq!(all, (0..partitions).collect::<Vec<_>>());
                let sizes: Vec<usize> = result.iter().map(|(_, list)| list.len()).collect();
                let spread = sizes.iter().max().unwrap() - sizes.iter().min().unwrap();
                prop_assert!(spread <= 1, "{:?} {:?}", assignor, sizes);
            }
        }
    }
}
