//! Chance for the generator: one seed, a stream for each subject, so that another topic drawn
//! does not change which faults are.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What is drawn. The numbers are part of what a seed means: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Subject {
    /// Brokers and links.
    Cluster = 1,
    /// Topics.
    Topics = 2,
    /// Producers and their loads.
    Producers = 3,
    /// Consumer groups.
    Groups = 4,
    /// What goes wrong.
    Faults = 5,
    /// Where a run is cut into slices.
    Slices = 6,
}

/// One stream of draws.
#[derive(Clone, Debug)]
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of a subject under a seed.
    pub(super) fn new(seed: u64, subject: Subject) -> Self {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(u64::from(subject as u8));
        Self(source)
    }

    /// A whole number below `bound`; 0 when `bound` is 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A whole number from `least` to `most`, both included.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// True so many times in a hundred.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of a list that is not empty.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_draws_the_same_again_and_another_subject_something_else() {
        let draw = |seed, subject| Dice::new(seed, subject).below(u64::MAX);
        assert_eq!(draw(7, Subject::Faults), draw(7, Subject::Faults));
        assert_ne!(draw(7, Subject::Faults), draw(7, Subject::Topics));
        assert_ne!(draw(7, Subject::Faults), draw(8, Subject::Faults));
    }

    #[test]
    fn draws_stay_within_their_bounds_and_reach_them() {
        let mut dice = Dice::new(1, Subject::Cluster);
        let drawn: Vec<u64> = (0..200).map(|_| dice.between(3, 5)).collect();
        assert!((3..=5).all(|number| drawn.contains(&number)));
        assert!(drawn.iter().all(|number| (3..=5).contains(number)));
    }
}
