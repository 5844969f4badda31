//! Compression: how many bytes a batch takes once its client, or its broker, compressed it.
//!
//! `codec` has the real libraries, each in the framing that its client writes; `sample` the records
//! that are compressed, byte for byte as they stand in a batch; `curve` what a codec makes of
//! batches of every size, measured on a sample; `estimate` the Java client's guess of a batch's
//! size while it fills; `speed` how long compressing takes.
//!
//! Invariants: the same sample and codec give the same sizes on every platform; a run looks sizes
//! up in a curve and never calls a library.

mod codec;
mod curve;
mod estimate;
mod sample;
mod speed;

pub use codec::{Codec, Writer, compressed_bytes};
pub use curve::Curve;
pub use estimate::{Estimate, RatioEstimate};
pub use sample::{SampleRecord, write_records};
pub use speed::{compression_time_ns, decompression_time_ns};
