//! Hashes that decide where a key and an id live.
//!
//! Invariants: every function is total and gives the same answer on every platform; keys are
//! bytes, because the client hashes what the serializer made, not the text that a person sees.

/// The seed that Kafka's murmur2 starts from, before the key's length is mixed in.
const SEED: u32 = 0x9747_b28c;
/// The multiplier of 32-bit murmur2.
const MULTIPLIER: u32 = 0x5bd1_e995;
/// How far a mixed group is shifted onto itself, in bits.
const GROUP_SHIFT: u32 = 24;

/// 32-bit murmur2 of a key, as the Java client computes it.
///
/// Source: `Utils.murmur2`. The result is signed because Java's is; use [`to_positive`] before
/// taking a remainder.
pub fn murmur2(key: &[u8]) -> i32 {
    let mut hash = SEED ^ key.len() as u32;
    let (groups, tail) = key.as_chunks::<4>();
    for group in groups {
        let mut mixed = u32::from_le_bytes(*group).wrapping_mul(MULTIPLIER);
        mixed ^= mixed >> GROUP_SHIFT;
        hash = hash.wrapping_mul(MULTIPLIER) ^ mixed.wrapping_mul(MULTIPLIER);
    }
    if !tail.is_empty() {
        for (position, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * position);
        }
        hash = hash.wrapping_mul(MULTIPLIER);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> 15)) as i32
}

/// Clears the sign bit, which is not the absolute value: −1 becomes 2,147,483,647.
///
/// Source: `Utils.toPositive`.
pub const fn to_positive(hash: i32) -> u32 {
    (hash & i32::MAX) as u32
}

/// The partition of a keyed record: `toPositive(murmur2(key)) mod partitions`.
///
/// `partitions` counts all partitions of the topic, whether or not they have a leader. A topic
/// without partitions cannot be asked; the answer is then 0. An empty key is a key.
///
/// Source: `BuiltInPartitioner.partitionForKey`.
pub fn murmur2_partition(key: &[u8], partitions: u32) -> u32 {
    to_positive(murmur2(key))
        .checked_rem(partitions)
        .unwrap_or(0)
}

/// Java's `String.hashCode`, over UTF-16 units.
///
/// It places transactional ids on `__transaction_state` and groups on `__consumer_offsets`; see
/// [`coordinator_partition`].
pub fn java_string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(unit.into())
    })
}

/// The partition of an internal topic that a transactional id or a group id belongs to:
/// `abs(hashCode(id)) mod partitions`, where the smallest integer counts as 0.
///
/// `partitions` is `transaction.state.log.num.partitions` or `offsets.topic.num.partitions`.
///
/// Source: `TransactionStateManager.partitionFor`, `Utils.abs`.
pub fn coordinator_partition(id: &str, partitions: u32) -> u32 {
    let absolute = java_string_hash(id).checked_abs().unwrap_or(0);
    (absolute as u32).checked_rem(partitions).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn murmur2_agrees_with_the_clients_own_vectors() {
        for (key, hash, positive, of_three, of_six, of_twelve) in [
            ("", 275_646_681, 275_646_681, 0, 3, 9),
            ("a", -1_563_381_124, 584_102_524, 1, 4, 4),
            ("21", -973_932_308, 1_173_551_340, 0, 0, 0),
            ("abc", 479_470_107, 479_470_107, 0, 3, 3),
            ("foobar", -790_332_482, 1_357_151_166, 0, 0, 6),
            ("key-0", 29_210_041, 29_210_041, 1, 1, 1),
            ("key-1", 193_331_640, 193_331_640, 0, 0, 0),
            ("user-42", 1_459_644_460, 1_459_644_460, 1, 4, 4),
            (
                "a-little-bit-long-string",
                -985_981_536,
                1_161_502_112,
                2,
                2,
                8,
            ),
            (
                "a-little-bit-longer-string",
                -1_486_304_829,
                661_178_819,
                2,
                5,
                11,
            ),
        ] {
            let bytes = key.as_bytes();
            assert_eq!(murmur2(bytes), hash, "{key}");
            assert_eq!(to_positive(hash), positive, "{key}");
            assert_eq!(murmur2_partition(bytes, 3), of_three, "{key}");
            assert_eq!(murmur2_partition(bytes, 6), of_six, "{key}");
            assert_eq!(murmur2_partition(bytes, 12), of_twelve, "{key}");
        }
    }

    #[test]
    fn growing_from_three_to_six_partitions_moves_users_3_5_and_6() {
        let place = |partitions| {
            (1..=6).map(move |n| murmur2_partition(format!("user-{n}").as_bytes(), partitions))
        };
        assert_eq!(place(6).collect::<Vec<_>>(), [2, 2, 5, 1, 4, 5]);
        assert_eq!(place(3).collect::<Vec<_>>(), [2, 2, 2, 1, 1, 2]);
        let moved: Vec<_> = (1..=6)
            .zip(place(3).zip(place(6)))
            .filter(|(_, (old, new))| old != new)
            .collect();
        assert_eq!(
            moved.iter().map(|(user, _)| *user).collect::<Vec<i32>>(),
            [3, 5, 6]
        );
    }

    #[test]
    fn clearing_the_sign_is_not_the_absolute_value() {
        assert_eq!(to_positive(-1), 2_147_483_647);
        assert_eq!(to_positive(i32::MIN), 0);
    }

    #[test]
    fn transactional_ids_land_where_the_coordinator_looks_for_them() {
        for (id, hash, partition) in [
            ("a", 97, 47),
            ("payments-0", 1_612_905_872, 22),
            ("orders-tx-1", -1_813_755_632, 32),
            ("my-transactional-id", -959_806_496, 46),
            ("polygenelubricants", i32::MIN, 0),
        ] {
            assert_eq!(java_string_hash(id), hash, "{id}");
            assert_eq!(coordinator_partition(id, 50), partition, "{id}");
        }
    }

    #[test]
    fn a_topic_without_partitions_has_a_stated_answer() {
        assert_eq!(murmur2_partition(b"key", 0), 0);
        assert_eq!(coordinator_partition("id", 0), 0);
    }
}
