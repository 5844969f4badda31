//! What a codec makes of batches of every size: a few measured points, and straight lines between.

use std::io;

use super::codec::{Codec, compressed_bytes};
use super::sample::{SampleRecord, write_records};

/// Uncompressed bytes up to which a sample is measured: the largest request of a client.
const PLAIN_BYTES_MAX: usize = 1024 * 1024;
/// Batches that are measured for one point at most.
const BATCHES_A_POINT_MAX: usize = 16;
/// Uncompressed bytes that are compressed for one point, unless a single batch is larger.
const BYTES_A_POINT: usize = 128 * 1024;

/// Compressed bytes by uncompressed bytes, batch headers on neither side.
///
/// Invariant: at least one point, in ascending order of their uncompressed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    points: Vec<Point>,
}

/// One measured size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    plain: u64,
    compressed: u64,
}

impl Curve {
    /// What a codec makes of consecutive records of a sample, each `interval_us` after the one
    /// before: batches of 1, 2, 3, 4, 6, 9 … records, each size on average over several places of
    /// the sample.
    ///
    /// A batch with more records than the sample goes on as the last two points do: that its
    /// records would repeat is not assumed.
    pub fn of_sample(
        codec: Codec,
        sample: &[SampleRecord<'_>],
        interval_us: u64,
    ) -> io::Result<Self> {
        let mut points = vec![Point::of_nothing(codec)?];
        let mut depth = 1;
        while depth <= sample.len() {
            let point = average(codec, sample, (depth, interval_us))?;
            points.push(point);
            if depth == sample.len() || point.plain >= PLAIN_BYTES_MAX as u64 {
                break;
            }
            depth = (depth + depth.div_ceil(2)).min(sample.len());
        }
        Ok(Self { points })
    }

    /// Records that shrink to so many millionths, whatever their number, in the codec's own frame.
    pub fn of_ratio(codec: Codec, ratio_ppm: u32) -> io::Result<Self> {
        const MILLION: u64 = 1_000_000;
        let nothing = Point::of_nothing(codec)?;
        let compressed = nothing.compressed + u64::from(ratio_ppm);
        let million = Point {
            plain: MILLION,
            compressed,
        };
        Ok(Self {
            points: vec![nothing, million],
        })
    }

    /// Batches of which each of these is as likely to be what they are made of.
    pub fn average(curves: &[Self]) -> Option<Self> {
        let [first, rest @ ..] = curves else {
            return None;
        };
        if rest.is_empty() {
            return Some(first.clone());
        }
        let mut places: Vec<u64> = curves
            .iter()
            .flat_map(|curve| curve.points.iter().map(|point| point.plain))
            .collect();
        places.sort_unstable();
        places.dedup();
        let point = |plain| {
            let sum: u64 = curves.iter().map(|curve| curve.at(plain)).sum();
            Point {
                plain,
                compressed: sum / curves.len() as u64,
            }
        };
        Some(Self {
            points: places.into_iter().map(point).collect(),
        })
    }

    /// Compressed bytes of so many uncompressed ones.
    pub fn compressed(&self, plain: u32) -> u32 {
        u32::try_from(self.at(plain.into())).unwrap_or(u32::MAX)
    }

    fn at(&self, plain: u64) -> u64 {
        let above = self.points.partition_point(|point| point.plain < plain);
        let last = self.points.len() - 1;
        // Beyond the last point, the line through the last two goes on.
        let above = above.min(last);
        let Some(below) = above.checked_sub(1) else {
            return self.points[above].compressed;
        };
        let (from, to) = (self.points[below], self.points[above]);
        let run = i128::from(to.plain - from.plain).max(1);
        let rise = i128::from(to.compressed) - i128::from(from.compressed);
        let along = i128::from(plain) - i128::from(from.plain);
        let compressed = i128::from(from.compressed) + rise * along / run;
        u64::try_from(compressed.max(0)).unwrap_or(u64::MAX)
    }
}

impl Point {
    fn of_nothing(codec: Codec) -> io::Result<Self> {
        Ok(Self {
            plain: 0,
            compressed: compressed_bytes(codec, &[])? as u64,
        })
    }
}

/// The mean over batches of `depth` records from places spread over the sample.
fn average(
    codec: Codec,
    sample: &[SampleRecord<'_>],
    (depth, interval_us): (usize, u64),
) -> io::Result<Point> {
    let mut records = Vec::new();
    write_records(&mut records, &sample[..depth], interval_us);
    let affordable = BYTES_A_POINT / records.len().max(1);
    let places = (sample.len() / depth).min(affordable);
    let places = places.clamp(1, BATCHES_A_POINT_MAX);
    let last_start = sample.len() - depth;
    let (mut plain, mut compressed) = (0, 0);
    for place in 0..places {
        let start = last_start * place / (places - 1).max(1);
        records.clear();
        write_records(&mut records, &sample[start..start + depth], interval_us);
        plain += records.len();
        compressed += compressed_bytes(codec, &records)?;
    }
    Ok(Point {
        plain: (plain / places) as u64,
        compressed: (compressed / places) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::super::codec::Writer;
    use super::*;
    use crate::kafka::settings::{Compression, CompressionType};

    fn codec(codec: CompressionType) -> Codec {
        Codec {
            compression: Compression { codec, level: None },
            writer: Writer::Java,
        }
    }

    fn clicks(count: usize) -> Vec<String> {
        (0..count)
            .map(|n| {
                format!(
                    "{{\"user\":\"u-{}\",\"page\":\"/basket\"}}",
                    n * 7_919 % 50_000
                )
            })
            .collect()
    }

    fn curve(codec_type: CompressionType, count: usize) -> Curve {
        let clicks = clicks(count);
        let sample: Vec<_> = clicks
            .iter()
            .map(|click| SampleRecord {
                key: None,
                value: Some(click.as_bytes()),
            })
            .collect();
        Curve::of_sample(codec(codec_type), &sample, 0).unwrap()
    }

    #[test]
    fn deeper_batches_compress_better() {
        for codec in CompressionType::ALL.into_iter().skip(1) {
            let curve = curve(codec, 3_000);
            let share = |plain: u32| f64::from(curve.compressed(plain)) / f64::from(plain);
            assert!(share(200) > share(2_000), "{codec:?}");
            assert!(share(2_000) > share(20_000), "{codec:?}");
        }
    }

    #[test]
    fn a_batch_deeper_than_the_sample_goes_on_as_the_last_points_do() {
        let curve = curve(CompressionType::Gzip, 10);
        let last = curve.points[curve.points.len() - 1];
        let next = curve.at(last.plain * 2);
        assert!(next > last.compressed && next < last.compressed * 2);
    }

    #[test]
    fn a_ratio_holds_at_every_size_beside_the_frame() {
        let curve = Curve::of_ratio(codec(CompressionType::Lz4), 250_000).unwrap();
        assert_eq!(curve.compressed(0), 11);
        assert_eq!(curve.compressed(1_000), 11 + 250);
        assert_eq!(curve.compressed(8_000_000), 11 + 2_000_000);
    }

    #[test]
    fn curves_that_are_mixed_lie_between_both() {
        let of = |ppm| Curve::of_ratio(codec(CompressionType::Lz4), ppm).unwrap();
        let mixed = Curve::average(&[of(200_000), of(600_000)]).unwrap();
        assert_eq!(mixed.compressed(1_000), 11 + 400);
        assert_eq!(Curve::average(&[]), None);
    }
}
