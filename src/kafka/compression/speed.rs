//! How long compressing takes, and the reverse.
//!
//! Source: the table in Zstandard's own README (1.5.7, Silesia corpus, one core of a Core
//! i7-9700K) for Zstandard, LZ4 and Snappy, and for zlib's decompression; zlib at its default level
//! is about a third of its level 1 there (lzbench). Levels are not told apart. A figure is
//! uncompressed bytes per second of one core; JSON is quicker, other processors are not the same:
//! what matters is how codecs compare.

use crate::kafka::settings::CompressionType;

const MIB: u64 = 1024 * 1024;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Uncompressed bytes per second that a codec takes in.
const fn compression_rate(codec: CompressionType) -> Option<u64> {
    match codec {
        CompressionType::None => None,
        CompressionType::Gzip => Some(35 * MIB),
        CompressionType::Snappy => Some(520 * MIB),
        CompressionType::Lz4 => Some(675 * MIB),
        CompressionType::Zstd => Some(280 * MIB),
    }
}

/// Uncompressed bytes per second that a codec gives back.
const fn decompression_rate(codec: CompressionType) -> Option<u64> {
    match codec {
        CompressionType::None => None,
        CompressionType::Gzip => Some(390 * MIB),
        CompressionType::Snappy => Some(1_500 * MIB),
        CompressionType::Lz4 => Some(3_850 * MIB),
        CompressionType::Zstd => Some(1_550 * MIB),
    }
}

/// Nanoseconds to compress so many uncompressed bytes.
pub fn compression_time_ns(codec: CompressionType, plain_bytes: u64) -> u64 {
    time_ns(compression_rate(codec), plain_bytes)
}

/// Nanoseconds to decompress what gives so many uncompressed bytes.
pub fn decompression_time_ns(codec: CompressionType, plain_bytes: u64) -> u64 {
    time_ns(decompression_rate(codec), plain_bytes)
}

fn time_ns(rate: Option<u64>, bytes: u64) -> u64 {
    rate.map_or(0, |rate| {
        let nanos = u128::from(bytes) * NANOS_PER_SECOND / u128::from(rate);
        u64::try_from(nanos).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_takes_a_megabyte_in_29_ms_and_gives_it_back_in_3() {
        assert_eq!(compression_time_ns(CompressionType::Gzip, MIB), 28_571_428);
        assert_eq!(decompression_time_ns(CompressionType::Gzip, MIB), 2_564_102);
        assert_eq!(compression_time_ns(CompressionType::None, MIB), 0);
    }
}
