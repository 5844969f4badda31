//! How many bytes records and batches take (message format v2).
//!
//! Invariants: sizes are exact for uncompressed data; every sum saturates; lengths above
//! 2,147,483,647, which Kafka cannot represent, give a size that no limit admits.
//!
//! Simplification: header keys and values are known by their lengths alone.

use crate::kafka::compression::Estimate;

/// The header of a record batch, in bytes.
///
/// Source: `DefaultRecordBatch.RECORD_BATCH_OVERHEAD`.
pub const BATCH_OVERHEAD: u32 = 61;

/// The most that a record adds around its payload, in bytes.
///
/// Source: `DefaultRecord.MAX_RECORD_OVERHEAD`.
pub const RECORD_OVERHEAD_MAX: u32 = 21;

/// A transaction marker as a batch of its own, in bytes; it occupies one offset.
///
/// Source: `EndTransactionMarker`, `ControlRecordType`: a 4-byte key and a 6-byte value.
pub const CONTROL_BATCH_BYTES: u32 = 78;

/// Bytes of an unsigned varint: 1 to 5.
///
/// Source: `ByteUtils.sizeOfUnsignedVarint`.
#[inline]
pub const fn unsigned_varint_len(value: u32) -> u32 {
    // A byte carries seven bits. Nine sixty-fourths stand for one seventh, rounded up, exactly
    // for every count of bits up to 64, and need neither a branch nor a division.
    (9 * (32 - (value | 1).leading_zeros()) + 64) >> 6
}

/// Bytes of a zigzag varint: 1 to 5.
///
/// Source: `ByteUtils.sizeOfVarint`.
#[inline]
pub const fn varint_len(value: i32) -> u32 {
    unsigned_varint_len(((value << 1) ^ (value >> 31)) as u32)
}

/// Bytes of a zigzag varlong: 1 to 10.
///
/// Source: `ByteUtils.sizeOfVarlong`.
#[inline]
pub const fn varlong_len(value: i64) -> u32 {
    let zigzag = ((value << 1) ^ (value >> 63)) as u64;
    (9 * (64 - (zigzag | 1).leading_zeros()) + 64) >> 6
}

/// One header of a record, by its lengths in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderSize {
    /// The key's length in UTF-8 bytes.
    pub key_bytes: u32,
    /// The value's length; nothing for null.
    pub value_bytes: Option<u32>,
}

/// Bytes of a record's key, value and headers with their lengths; nothing stands for null.
///
/// This part does not depend on the record's place in its batch, so it can be computed once.
/// The smallest is 3.
///
/// Source: `DefaultRecord.sizeOf`.
pub fn payload_bytes(
    key_bytes: Option<u32>,
    value_bytes: Option<u32>,
    headers: &[HeaderSize],
) -> u32 {
    let fields = nullable_bytes(key_bytes).saturating_add(nullable_bytes(value_bytes));
    let count = varint_len(i32::try_from(headers.len()).unwrap_or(i32::MAX));
    headers
        .iter()
        .fold(fields.saturating_add(count), |sum, header| {
            sum.saturating_add(nullable_bytes(Some(header.key_bytes)))
                .saturating_add(nullable_bytes(header.value_bytes))
        })
}

/// Bytes of the key of a record without headers, from its [`payload_bytes`] and the bytes of its
/// value; 0 for no key.
pub const fn key_bytes(payload: u32, value_bytes: u32) -> u32 {
    let value = value_bytes.saturating_add(varint_len(value_bytes as i32));
    let field = payload.saturating_sub(value).saturating_sub(1);
    // The length takes one byte more than the next shorter key's at most.
    let longest = field.saturating_sub(varint_len(field as i32));
    let next = longest.saturating_add(1);
    if next.saturating_add(varint_len(next as i32)) == field {
        next
    } else {
        longest
    }
}

/// Bytes of one record within its batch, exactly.
///
/// `index` counts from 0 in the batch, `timestamp_delta_ms` is relative to the batch's first
/// record and may be negative, `payload` comes from [`payload_bytes`]. The smallest is 7.
///
/// Source: `DefaultRecord.sizeInBytes`.
#[inline]
pub const fn record_bytes(index: u32, timestamp_delta_ms: i64, payload: u32) -> u32 {
    let around = 1 + varint_len(index as i32) + varlong_len(timestamp_delta_ms);
    let body = payload.saturating_add(around);
    body.saturating_add(varint_len(body as i32))
}

/// A record's size at any place in its batch, worked out once as far as possible: what a loop over
/// millions of records adds is two comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordSize {
    /// From [`payload_bytes`].
    pub payload: u32,
    /// Bytes at index 0 and delta 0, where two bytes more would not lengthen the length itself;
    /// else 0.
    base: u32,
}

impl RecordSize {
    /// The sizes of a record with this payload.
    pub const fn new(payload: u32) -> Self {
        let body = payload.saturating_add(3);
        let is_steady = varint_len(body as i32) == varint_len(body.saturating_add(2) as i32);
        let base = if is_steady {
            record_bytes(0, 0, payload)
        } else {
            0
        };
        Self { payload, base }
    }

    /// The same as [`record_bytes`].
    #[inline]
    pub const fn at(self, index: u32, timestamp_delta_ms: i64) -> u32 {
        const TWO_BYTES: u64 = 8_192;
        if self.base != 0 && (index as u64) < TWO_BYTES && (timestamp_delta_ms as u64) < TWO_BYTES {
            self.base + (index > 63) as u32 + (timestamp_delta_ms > 63) as u32
        } else {
            record_bytes(index, timestamp_delta_ms, self.payload)
        }
    }
}

/// What the client takes a lone record for when it checks limits and allocates memory, in
/// bytes, whatever the compression.
///
/// It exceeds the true batch of this one record by 15 to 17 bytes.
///
/// Source: `AbstractRecords.estimateSizeInBytesUpperBound`.
#[inline]
pub const fn upper_bound_estimate(payload: u32) -> u32 {
    payload.saturating_add(BATCH_OVERHEAD + RECORD_OVERHEAD_MAX)
}

/// A batch while it fills, with the client's own test for room.
///
/// Source: `RecordAccumulator.append`, `MemoryRecordsBuilder.hasRoomFor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillingBatch {
    limit: u32,
    records: u32,
    bytes: u32,
    estimate: Estimate,
}

impl FillingBatch {
    /// A batch with its first record, which always fits; a record above `batch.size` gets as much
    /// room as its estimate says, and a small successor may find place in what that exceeds.
    pub const fn with_first(batch_size: u32, payload: u32) -> Self {
        let estimate = upper_bound_estimate(payload);
        Self {
            limit: if batch_size > estimate {
                batch_size
            } else {
                estimate
            },
            records: 1,
            bytes: record_bytes(0, 0, payload).saturating_add(BATCH_OVERHEAD),
            estimate: Estimate::EXACT,
        }
    }

    /// The same batch of a client that compresses and estimates how well.
    #[must_use]
    pub const fn estimated(mut self, estimate: Estimate) -> Self {
        self.estimate = estimate;
        self
    }

    /// No batch at all: there is no room for anything.
    pub const NONE: Self = Self {
        limit: 0,
        records: 0,
        bytes: 0,
        estimate: Estimate::EXACT,
    };

    /// Whether the next append is certain not to fit (`ProducerBatch.isFull`).
    pub const fn is_full(&self) -> bool {
        self.limit <= self.written()
    }

    /// Takes another record, `timestamp_delta_ms` after the first; says no if there is no room.
    /// What is in the batch counts as it is estimated, the new record as it is.
    #[must_use]
    #[inline]
    pub fn append(&mut self, timestamp_delta_ms: i64, record: RecordSize) -> bool {
        let record = record.at(self.records, timestamp_delta_ms);
        let filled = self.written().checked_add(record);
        if filled.is_none_or(|filled| filled > self.limit) {
            return false;
        }
        self.bytes = self.bytes.saturating_add(record);
        self.records += 1;
        true
    }

    /// How many records it holds.
    pub const fn records(&self) -> u32 {
        self.records
    }

    /// Its uncompressed bytes, header included.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Its bytes as they will be sent, as far as the client can tell; exact without compression
    /// (`MemoryRecordsBuilder.estimatedSizeInBytes`).
    #[inline]
    pub const fn written(&self) -> u32 {
        self.estimate.written(self.bytes)
    }
}

fn nullable_bytes(length: Option<u32>) -> u32 {
    length.map_or(1, |bytes| bytes.saturating_add(varint_len(bytes as i32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_key_follow_from_payload_and_value() {
        for key in [0, 1, 63, 64, 65, 8_191, 8_192, 8_193, 1_048_576] {
            for value in [0, 10, 63, 64, 100_000] {
                let payload = payload_bytes(Some(key), Some(value), &[]);
                assert_eq!(key_bytes(payload, value), key, "{key} {value}");
            }
        }
        assert_eq!(key_bytes(payload_bytes(None, None, &[]), 0), 0);
    }

    fn null_key(value_bytes: u32) -> u32 {
        payload_bytes(None, Some(value_bytes), &[])
    }

    /// Fills one batch with equal records and answers how many, and the bytes.
    fn fill(limit: u32, value_bytes: u32, spacing_ms: i64) -> (u32, u32) {
        let payload = null_key(value_bytes);
        let mut batch = FillingBatch::with_first(limit, payload);
        while batch.append(
            i64::from(batch.records()) * spacing_ms,
            RecordSize::new(payload),
        ) {}
        (batch.records(), batch.bytes())
    }

    #[test]
    fn a_size_worked_out_once_is_the_exact_one_everywhere() {
        for payload in (0..200)
            .chain(8_100..8_300)
            .chain([1_028, 1_048_570, 200_000_000])
        {
            let size = RecordSize::new(payload);
            for index in [0, 63, 64, 8_191, 8_192, 1_048_576] {
                for delta in [-1, 0, 63, 64, 8_191, 8_192, i64::MAX] {
                    assert_eq!(size.at(index, delta), record_bytes(index, delta, payload));
                }
            }
        }
    }

    #[test]
    fn varints_grow_every_seven_bits() {
        for (value, bytes) in [
            (0, 1),
            (127, 1),
            (128, 2),
            (16_383, 2),
            (16_384, 3),
            (u32::MAX, 5),
        ] {
            assert_eq!(unsigned_varint_len(value), bytes, "{value}");
        }
        for (value, bytes) in [
            (-1, 1),
            (63, 1),
            (64, 2),
            (8191, 2),
            (8192, 3),
            (1_048_575, 3),
            (1_048_576, 4),
            (134_217_727, 4),
            (134_217_728, 5),
            (i32::MIN, 5),
        ] {
            assert_eq!(varint_len(value), bytes, "{value}");
            assert_eq!(varlong_len(value.into()), bytes, "{value}");
        }
        assert_eq!(varlong_len(i64::MAX), 10);
        assert_eq!(varlong_len(i64::MIN), 10);
        assert_eq!(varlong_len((1 << 62) - 1), 9);
    }

    #[test]
    fn the_smallest_record_takes_seven_bytes() {
        assert_eq!(record_bytes(0, 0, payload_bytes(None, None, &[])), 7);
        assert_eq!(record_bytes(0, 0, payload_bytes(Some(0), Some(0), &[])), 7);
    }

    #[test]
    fn full_batches_hold_what_kafkas_own_arithmetic_says() {
        // Value bytes, record bytes, then for each limit the records and bytes of a full batch.
        let limits = [16_384, 32_768, 65_536, 131_072, 1_048_576];
        let table = "
            10     17     910:16377 1820:32757 3641:65535 7281:131055 55619:1048566
            100    109    148:16277 297:32667  595:65447  1191:131007 9520:1048525
            500    509    32:16349  64:32637   128:65277  257:131067  2056:1048557
            1000   1009   16:16205  32:32349   64:64637   129:130287  1038:1048377
            1024   1033   15:15556  31:32084   63:65140   126:130281  1014:1048473
            2048   2057   7:14460   15:30916   31:63828   63:129652   509:1047519
            4096   4105   3:12376   7:28796    15:61636   31:127316   255:1047027
            10240  10251  1:10312   3:30814    6:61567    12:123073   102:1045701";
        for row in table.trim().lines() {
            let mut cells = row.split_whitespace();
            let mut number = || cells.next().unwrap().parse::<u32>().unwrap();
            let (value, record) = (number(), number());
            assert_eq!(record_bytes(0, 0, null_key(value)), record, "{value}");
            for (limit, expected) in limits.into_iter().zip(cells) {
                let (records, bytes) = fill(limit, value, 0);
                assert_eq!(
                    format!("{records}:{bytes}"),
                    expected,
                    "{value} bytes into {limit}"
                );
            }
        }
    }

    #[test]
    fn a_successor_may_fit_into_the_slack_of_a_lone_records_estimate() {
        let tiny = payload_bytes(None, None, &[]);
        let mut batch = FillingBatch::with_first(1, tiny);
        assert_eq!(batch.bytes(), BATCH_OVERHEAD + 7);
        assert!(batch.append(0, RecordSize::new(tiny)) && batch.append(0, RecordSize::new(tiny)));
        assert!(
            !batch.append(0, RecordSize::new(tiny)),
            "the estimate is 17 bytes too high"
        );
        assert_eq!((batch.records(), batch.bytes()), (3, BATCH_OVERHEAD + 21));
    }

    #[test]
    fn keys_and_spread_timestamps_cost_their_bytes() {
        assert_eq!(
            record_bytes(0, 0, payload_bytes(Some(16), Some(1024), &[])),
            1049
        );
        assert_eq!(fill(16_384, 1024, 100), (15, 15_570));
    }

    #[test]
    fn headers_count_their_lengths_and_a_null_value_one_byte() {
        let headers = [
            HeaderSize {
                key_bytes: 5,
                value_bytes: Some(36),
            },
            HeaderSize {
                key_bytes: 4,
                value_bytes: None,
            },
        ];
        let bare = payload_bytes(None, None, &[]);
        assert_eq!(
            payload_bytes(None, None, &headers),
            bare + (1 + 5) + (1 + 36) + (1 + 4) + 1
        );
    }

    #[test]
    fn the_estimate_exceeds_a_lone_records_batch_by_15_to_17_bytes() {
        for (value, slack) in [(10, 17), (1024, 16), (100_000, 15)] {
            let payload = null_key(value);
            let batch = BATCH_OVERHEAD + record_bytes(0, 0, payload);
            assert_eq!(upper_bound_estimate(payload) - batch, slack, "{value}");
        }
    }

    #[test]
    fn a_megabyte_request_takes_a_value_of_1048489_bytes() {
        assert_eq!(upper_bound_estimate(null_key(1_048_489)), 1_048_576);
        assert_eq!(
            BATCH_OVERHEAD + record_bytes(0, 0, null_key(1_048_489)),
            1_048_561
        );
    }

    #[test]
    fn a_transaction_marker_is_one_small_batch() {
        let marker = record_bytes(0, 0, payload_bytes(Some(4), Some(6), &[]));
        assert_eq!(marker, 17);
        assert_eq!(BATCH_OVERHEAD + marker, CONTROL_BATCH_BYTES);
    }

    #[test]
    fn absurd_lengths_saturate() {
        let payload = payload_bytes(Some(u32::MAX), Some(u32::MAX), &[]);
        assert_eq!(payload, u32::MAX);
        assert_eq!(record_bytes(u32::MAX, i64::MIN, payload), u32::MAX);
        assert_eq!(upper_bound_estimate(payload), u32::MAX);
        let mut batch = FillingBatch::with_first(u32::MAX, payload);
        assert_eq!(batch.bytes(), u32::MAX);
        assert!(!batch.append(0, RecordSize::new(0)));
    }

    /// Counts the bytes as `ByteUtils` writes them.
    fn written_varlong(value: i64) -> u32 {
        let mut rest = ((value << 1) ^ (value >> 63)) as u64;
        let mut bytes = 1;
        while rest > 0x7f {
            (rest, bytes) = (rest >> 7, bytes + 1);
        }
        bytes
    }

    proptest::proptest! {
        #[test]
        fn lengths_are_those_of_the_bytes_written(value: i64, bits in 0..64_u32) {
            let value = value >> bits;
            proptest::prop_assert_eq!(varlong_len(value), written_varlong(value));
            let short = value as i32;
            proptest::prop_assert_eq!(varint_len(short), written_varlong(short.into()));
        }
    }
}
