//! What applications send: keys, value sizes, and the time between records.

mod keys;
mod pace;

pub use keys::{KeySource, KeyTable};
pub use pace::Pace;

use crate::sim::config::ValueConfig;
use crate::sim::rng::Stream;

/// Draws the size of the next value; none is a null value.
pub fn value_bytes(values: &ValueConfig, draws: &mut Stream) -> Option<u32> {
    match values {
        ValueConfig::Null => None,
        ValueConfig::Fixed(bytes) => Some(*bytes),
        ValueConfig::Uniform(least, most) => {
            let range = u64::from(most.saturating_sub(*least)) + 1;
            Some(least + draws.below(range) as u32)
        }
        ValueConfig::Sample(sizes) => sizes.get(draws.below(sizes.len() as u64) as usize).copied(),
    }
}
