//! The codecs' real libraries, each in the framing that its client writes.
//!
//! - gzip: zlib with a gzip header and trailer, for both clients.
//! - snappy: snappy-java's stream, which is 16 bytes and then blocks of 32 KiB, each with its
//!   length; librdkafka writes one bare block.
//! - lz4: a frame of independent blocks of 64 KiB. In the Java client level 9 is the fast
//!   compressor and all others are HC; in librdkafka all below 3 are fast.
//! - zstd: one frame. In librdkafka its header says how long the records are; in the Java client it
//!   does not, and an empty block ends it.
//!
//! Source: `GzipCompression`, `SnappyCompression` with snappy-java's `SnappyOutputStream`,
//! `Lz4BlockOutputStream` with lz4-java's factory, `ZstdCompression`;
//! `rd_kafka_msgset_writer_compress_*`, `LZ4F_compressUpdate`.
//!
//! Simplification: the snappy library here is a Rust one that follows an earlier release of
//! Google's; its sizes differ by about one percent.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use lz4::block::CompressionMode;

use crate::kafka::settings::{Compression, CompressionType};

/// Bytes of snappy-java's stream header: magic number and two versions.
const SNAPPY_STREAM_HEADER: usize = 16;
/// Uncompressed bytes of one of its blocks (`SnappyOutputStream.DEFAULT_BLOCK_SIZE`).
const SNAPPY_STREAM_BLOCK: usize = 32 * 1024;
/// Bytes before each block of such a stream, and of an LZ4 frame: its length.
const BLOCK_LENGTH: usize = 4;
/// An LZ4 frame's magic number, flags and checksum of them, and its end mark.
const LZ4_FRAME: usize = 7 + 4;
/// Uncompressed bytes of one of its blocks (`BLOCKSIZE_64KB`).
const LZ4_BLOCK: usize = 64 * 1024;
/// The level that stands for the fast compressor (`CompressionType.LZ4.defaultLevel()`).
const LZ4_FAST_LEVEL: i32 = 9;
/// The least level that is not fast in librdkafka (`LZ4HC_CLEVEL_MIN` of the frame library).
const LZ4_HC_LEVEL_MIN: i32 = 3;
/// The highest level of the HC compressor; what lies above means this one (`LZ4HC_CLEVEL_MAX`).
const LZ4_HC_LEVEL_MAX: i32 = 12;
/// zlib's own choice (`Z_DEFAULT_COMPRESSION`).
const GZIP_DEFAULT_LEVEL: u32 = 6;
/// Zstandard's own choice (`ZSTD_CLEVEL_DEFAULT`).
const ZSTD_DEFAULT_LEVEL: i32 = 3;
/// From this level on Zstandard's tables take hundreds of megabytes if it does not know how little
/// there is to compress: then it is told, which changes a batch by a few bytes.
const ZSTD_LARGE_TABLES_LEVEL: i32 = 16;

/// Who writes a compressed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The Java client, and every broker that compresses anew.
    Java,
    /// librdkafka.
    Librdkafka,
}

/// A codec with its level, as one client writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// Codec and level; without a level the library chooses.
    pub compression: Compression,
    /// Whose framing.
    pub writer: Writer,
}

/// Bytes of the records of one batch, compressed; the batch's header is not among them.
///
/// Fails only where a library does: for want of memory.
pub fn compressed_bytes(codec: Codec, records: &[u8]) -> io::Result<usize> {
    let level = codec.compression.level;
    match (codec.compression.codec, codec.writer) {
        (CompressionType::None, _) => Ok(records.len()),
        (CompressionType::Gzip, _) => gzip(level, records),
        (CompressionType::Snappy, Writer::Java) => snappy_stream(records),
        (CompressionType::Snappy, Writer::Librdkafka) => snappy_block(records),
        (CompressionType::Lz4, writer) => lz4_frame(lz4_mode(level, writer), records),
        (CompressionType::Zstd, writer) => zstd(level, writer, records),
    }
}

fn gzip(level: Option<i32>, records: &[u8]) -> io::Result<usize> {
    let level = level.and_then(|level| u32::try_from(level).ok());
    let level = flate2::Compression::new(level.unwrap_or(GZIP_DEFAULT_LEVEL));
    let mut encoder = GzEncoder::new(Count::default(), level);
    encoder.write_all(records)?;
    Ok(encoder.finish()?.0)
}

fn snappy_stream(records: &[u8]) -> io::Result<usize> {
    let blocks = records.chunks(SNAPPY_STREAM_BLOCK);
    let sizes = blocks.map(|block| Ok(BLOCK_LENGTH + snappy_block(block)?));
    let blocks: usize = sizes.sum::<io::Result<usize>>()?;
    Ok(SNAPPY_STREAM_HEADER + blocks)
}

fn snappy_block(block: &[u8]) -> io::Result<usize> {
    Ok(snap::raw::Encoder::new().compress_vec(block)?.len())
}

fn lz4_mode(level: Option<i32>, writer: Writer) -> CompressionMode {
    let fast = CompressionMode::DEFAULT;
    match (level, writer) {
        (None | Some(LZ4_FAST_LEVEL), Writer::Java) | (None, Writer::Librdkafka) => fast,
        (Some(level), Writer::Librdkafka) if level < LZ4_HC_LEVEL_MIN => fast,
        (Some(level), _) => CompressionMode::HIGHCOMPRESSION(level.min(LZ4_HC_LEVEL_MAX)),
    }
}

fn lz4_frame(mode: CompressionMode, records: &[u8]) -> io::Result<usize> {
    let mut bytes = LZ4_FRAME;
    for block in records.chunks(LZ4_BLOCK) {
        let compressed = lz4::block::compress(block, Some(mode), false)?.len();
        // A block that does not shrink is stored as it is.
        bytes += BLOCK_LENGTH + compressed.min(block.len());
    }
    Ok(bytes)
}

fn zstd(level: Option<i32>, writer: Writer, records: &[u8]) -> io::Result<usize> {
    let level = level.unwrap_or(ZSTD_DEFAULT_LEVEL);
    let mut encoder = zstd::stream::write::Encoder::new(Count::default(), level)?;
    if writer == Writer::Librdkafka || level >= ZSTD_LARGE_TABLES_LEVEL {
        encoder.set_pledged_src_size(Some(records.len() as u64))?;
    }
    encoder.write_all(records)?;
    if writer == Writer::Java {
        // Closing the client's stream flushes it first: an empty block ends the frame.
        encoder.flush()?;
    }
    Ok(encoder.finish()?.0)
}

/// Counts what is written to it.
#[derive(Default)]
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(codec: CompressionType, level: Option<i32>, writer: Writer, records: &[u8]) -> usize {
        let compression = Compression { codec, level };
        let codec = Codec {
            compression,
            writer,
        };
        compressed_bytes(codec, records).unwrap()
    }

    /// Bytes that no codec can shrink.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let mut byte = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..len).map(|_| byte()).collect()
    }

    #[test]
    fn frames_cost_what_their_format_says() {
        use CompressionType::{Gzip, Lz4, Snappy, Zstd};
        let noise = noise(1_000);
        assert_eq!(bytes(Lz4, None, Writer::Java, &noise), 1_000 + 7 + 4 + 4);
        assert_eq!(bytes(Lz4, Some(0), Writer::Librdkafka, &noise), 1_015);
        assert_eq!(
            bytes(Snappy, None, Writer::Java, &noise),
            1_000 + 16 + 4 + 5
        );
        assert_eq!(bytes(Snappy, None, Writer::Librdkafka, &noise), 1_005);
        assert_eq!(bytes(Gzip, None, Writer::Java, &noise), 1_000 + 18 + 5);
        assert_eq!(bytes(Zstd, None, Writer::Java, &noise), 1_000 + 6 + 3 + 3);
    }

    #[test]
    fn each_block_of_64_kib_is_compressed_by_itself() {
        let half = noise(LZ4_BLOCK);
        let twice = [half.clone(), half].concat();
        let size = bytes(CompressionType::Lz4, None, Writer::Java, &twice);
        assert_eq!(size, 2 * LZ4_BLOCK + 7 + 4 + 2 * 4);
    }

    #[test]
    fn level_nine_of_lz4_is_the_fast_compressor_in_java_alone() {
        let text = "{\"page\":\"/basket\",\"device\":\"tablet\",\"ms\":248}".repeat(7);
        let text = (0..200).fold(String::new(), |all, n| format!("{all}{n}{text}"));
        let size = |level, writer| bytes(CompressionType::Lz4, level, writer, text.as_bytes());
        assert_eq!(size(Some(9), Writer::Java), size(None, Writer::Java));
        assert!(size(Some(9), Writer::Librdkafka) < size(None, Writer::Librdkafka));
    }
}
