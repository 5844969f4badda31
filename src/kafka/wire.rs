//! How many bytes requests and responses take on a connection, frame included.
//!
//! Invariants: produce requests and answers are exact for versions 12 and 13 of the protocol;
//! every sum saturates.
//!
//! Simplifications: older clients' produce requests count as version 12, a few bytes from the
//! truth; the sizes of `ApiVersions` answers and of a node's address are estimates. They matter
//! for `outgoing-byte-rate` and its like, not for any limit.

use super::size::unsigned_varint_len;
use super::version::KafkaVersion;

/// The length that precedes every request and response, in bytes.
pub const FRAME_BYTES: u32 = 4;
/// An answer to `InitProducerId` or to `EndTxn` (version 5), in bytes.
pub const PRODUCER_ID_RESPONSE_BYTES: u32 = FRAME_BYTES + RESPONSE_HEADER_BYTES + 17;
/// An answer to `ApiVersions`, in bytes: an estimate for sixty APIs and eight features.
pub const API_VERSIONS_RESPONSE_BYTES: u32 = 840;
/// The length of a broker's host name where nothing better is known, in bytes.
const HOST_BYTES: u32 = 16;
/// Correlation id and tags before an answer, in bytes.
const RESPONSE_HEADER_BYTES: u32 = 5;
/// A cluster id with its length, in bytes.
const CLUSTER_ID_BYTES: u32 = 23;
/// A topic id, in bytes.
const UUID_BYTES: u32 = 16;

/// How a request names its topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicNaming {
    /// By name: Produce up to version 12.
    Names,
    /// By topic id: Produce version 13, since 4.1 on both sides (KIP-516).
    Ids,
}

impl TopicNaming {
    /// What a client and a broker of these versions agree on.
    ///
    /// A transactional producer under transaction version 1 stays at version 11, so at names.
    pub fn negotiated(client: KafkaVersion, broker: KafkaVersion) -> Self {
        if client.min(broker).at_least(4, 1) {
            Self::Ids
        } else {
            Self::Names
        }
    }

    const fn bytes(self, name_bytes: u32) -> u32 {
        match self {
            Self::Names => compact_string_bytes(name_bytes),
            Self::Ids => UUID_BYTES,
        }
    }
}

/// Frame and header of a request, in bytes, for a client id of this length.
pub const fn request_header_bytes(client_id_bytes: u32) -> u32 {
    client_id_bytes.saturating_add(FRAME_BYTES + 2 + 2 + 4 + 2 + 1)
}

/// A Produce request without its topics, in bytes.
///
/// Add [`produce_topic_bytes`] for each topic and [`produce_partition_bytes`] for each batch.
pub fn produce_request_bytes(
    client_id_bytes: u32,
    transactional_id_bytes: Option<u32>,
    topics: u32,
) -> u32 {
    request_header_bytes(client_id_bytes)
        .saturating_add(nullable_compact_bytes(transactional_id_bytes))
        .saturating_add(2 + 4 + array_bytes(topics) + 1)
}

/// One topic of a Produce request without its batches, in bytes.
pub const fn produce_topic_bytes(naming: TopicNaming, name_bytes: u32, partitions: u32) -> u32 {
    naming
        .bytes(name_bytes)
        .saturating_add(array_bytes(partitions) + 1)
}

/// One batch of a Produce request with its partition, in bytes.
pub const fn produce_partition_bytes(batch_bytes: u32) -> u32 {
    compact_string_bytes(batch_bytes).saturating_add(4 + 1)
}

/// A successful answer to a Produce request, in bytes; a topic is its name's length and the
/// number of its partitions.
pub fn produce_response_bytes(naming: TopicNaming, topics: &[(u32, u32)]) -> u32 {
    const PARTITION_BYTES: u32 = 4 + 2 + 8 + 8 + 8 + 1 + 1 + 1;
    let envelope = FRAME_BYTES + RESPONSE_HEADER_BYTES + array_bytes(topics.len() as u32) + 4 + 1;
    topics
        .iter()
        .fold(envelope, |sum, (name_bytes, partitions)| {
            sum.saturating_add(produce_topic_bytes(naming, *name_bytes, *partitions))
                .saturating_add(partitions.saturating_mul(PARTITION_BYTES))
        })
}

/// A Produce request of librdkafka, which carries one batch of one partition, in bytes (version 9
/// or later, topics by name).
///
/// Source: `rd_kafka_msgset_create_ProduceRequest`; 112 bytes were measured for the smallest.
pub const fn rdkafka_produce_request_bytes(
    client_id_bytes: u32,
    topic_bytes: u32,
    batch_bytes: u32,
) -> u32 {
    const FIXED_BYTES: u32 = 32;
    client_id_bytes
        .saturating_add(topic_bytes)
        .saturating_add(FIXED_BYTES)
        .saturating_add(compact_string_bytes(batch_bytes))
}

/// A Metadata request that lists topics of these name lengths, in bytes (version 13).
pub fn metadata_request_bytes(client_id_bytes: u32, topic_name_bytes: &[u32]) -> u32 {
    let count = array_bytes(topic_name_bytes.len() as u32);
    let envelope = request_header_bytes(client_id_bytes).saturating_add(count + 1 + 1 + 1);
    topic_name_bytes.iter().fold(envelope, |sum, name| {
        sum.saturating_add(compact_string_bytes(*name))
            .saturating_add(UUID_BYTES + 1)
    })
}

/// One topic of a Metadata answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicMetadataSize {
    /// The name's length in bytes.
    pub name_bytes: u32,
    /// How many partitions it has.
    pub partitions: u32,
    /// Replicas and in-sync replicas of one partition, counted together.
    pub replica_entries: u32,
}

/// A Metadata answer about these topics and so many brokers, in bytes (version 13).
pub fn metadata_response_bytes(brokers: u32, topics: &[TopicMetadataSize]) -> u32 {
    const BROKER_BYTES: u32 = 4 + 1 + HOST_BYTES + 4 + 1 + 1;
    const PARTITION_BYTES: u32 = 2 + 4 + 4 + 4 + 1 + 1 + 1 + 1;
    let counts = array_bytes(brokers) + array_bytes(topics.len() as u32);
    let envelope = FRAME_BYTES + RESPONSE_HEADER_BYTES + 4 + CLUSTER_ID_BYTES + 4 + 2 + 1 + counts;
    let start = brokers
        .saturating_mul(BROKER_BYTES)
        .saturating_add(envelope);
    topics.iter().fold(start, |sum, topic| {
        let partition = topic
            .replica_entries
            .saturating_mul(4)
            .saturating_add(PARTITION_BYTES);
        sum.saturating_add(compact_string_bytes(topic.name_bytes))
            .saturating_add(2 + UUID_BYTES + 1 + array_bytes(topic.partitions) + 4 + 1)
            .saturating_add(topic.partitions.saturating_mul(partition))
    })
}

/// An `ApiVersions` request, in bytes (version 4, client software name included).
pub const fn api_versions_request_bytes(client_id_bytes: u32) -> u32 {
    const SOFTWARE_BYTES: u32 = 1 + 17 + 1 + 5;
    request_header_bytes(client_id_bytes).saturating_add(SOFTWARE_BYTES + 1)
}

/// An `InitProducerId` request, in bytes (version 5).
pub fn init_producer_id_request_bytes(
    client_id_bytes: u32,
    transactional_id_bytes: Option<u32>,
) -> u32 {
    request_header_bytes(client_id_bytes)
        .saturating_add(nullable_compact_bytes(transactional_id_bytes))
        .saturating_add(4 + 8 + 2 + 1)
}

/// An `EndTxn` request, in bytes (version 5).
pub const fn end_txn_request_bytes(client_id_bytes: u32, transactional_id_bytes: u32) -> u32 {
    request_header_bytes(client_id_bytes)
        .saturating_add(compact_string_bytes(transactional_id_bytes))
        .saturating_add(8 + 2 + 1 + 1)
}

const fn compact_string_bytes(length: u32) -> u32 {
    length.saturating_add(unsigned_varint_len(length.saturating_add(1)))
}

fn nullable_compact_bytes(length: Option<u32>) -> u32 {
    length.map_or(1, compact_string_bytes)
}

const fn array_bytes(items: u32) -> u32 {
    unsigned_varint_len(items.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT_ID: u32 = "producer-1".len() as u32;

    fn one_topic_request(naming: TopicNaming, batches: &[u32]) -> u32 {
        let topic = produce_topic_bytes(naming, "events".len() as u32, batches.len() as u32);
        let batches: u32 = batches
            .iter()
            .map(|bytes| produce_partition_bytes(*bytes))
            .sum();
        produce_request_bytes(CLIENT_ID, None, 1) + topic + batches
    }

    #[test]
    fn one_full_batch_travels_in_15615_bytes() {
        assert_eq!(one_topic_request(TopicNaming::Ids, &[15_556]), 15_615);
    }

    #[test]
    fn the_smallest_request_of_librdkafka_takes_112_bytes() {
        let client_id = "rdkafka".len() as u32;
        assert_eq!(rdkafka_produce_request_bytes(client_id, 2, 70), 112);
    }

    #[test]
    fn a_further_partition_adds_its_batch_and_seven_bytes() {
        let one = one_topic_request(TopicNaming::Ids, &[15_556]);
        let two = one_topic_request(TopicNaming::Ids, &[15_556, 10_312]);
        assert_eq!(two - one, 10_312 + 7);
        assert_eq!(produce_partition_bytes(16_382), 16_382 + 7);
        assert_eq!(produce_partition_bytes(16_383), 16_383 + 8);
    }

    #[test]
    fn a_name_takes_its_own_length_where_an_id_takes_sixteen() {
        let by_id = one_topic_request(TopicNaming::Ids, &[100]);
        assert_eq!(
            by_id - one_topic_request(TopicNaming::Names, &[100]),
            16 - 7
        );
    }

    #[test]
    fn a_success_is_answered_in_66_bytes() {
        assert_eq!(produce_response_bytes(TopicNaming::Ids, &[(6, 1)]), 66);
    }

    #[test]
    fn topic_ids_need_4_1_on_both_sides() {
        let (old, new) = (KafkaVersion::new(4, 0, 0), KafkaVersion::new(4, 1, 0));
        assert_eq!(TopicNaming::negotiated(new, new), TopicNaming::Ids);
        assert_eq!(TopicNaming::negotiated(old, new), TopicNaming::Names);
        assert_eq!(TopicNaming::negotiated(new, old), TopicNaming::Names);
    }

    #[test]
    fn metadata_grows_with_topics_and_partitions() {
        let topic = TopicMetadataSize {
            name_bytes: 6,
            partitions: 12,
            replica_entries: 6,
        };
        let none = metadata_response_bytes(3, &[]);
        assert_eq!(
            metadata_response_bytes(3, &[topic]) - none,
            7 + 25 + 12 * (18 + 24)
        );
        assert_eq!(
            metadata_request_bytes(10, &[6]) - metadata_request_bytes(10, &[]),
            24
        );
    }

    #[test]
    fn absurd_counts_saturate() {
        let topic = TopicMetadataSize {
            name_bytes: u32::MAX,
            partitions: u32::MAX,
            replica_entries: u32::MAX,
        };
        assert_eq!(metadata_response_bytes(u32::MAX, &[topic]), u32::MAX);
        assert_eq!(
            produce_response_bytes(TopicNaming::Names, &[(9, u32::MAX)]),
            u32::MAX
        );
    }
}
