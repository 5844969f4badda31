//! What a Java client of a given release does differently, beyond its defaults.
//!
//! Invariant: every question has one answer for one version, and cites the change that moved it;
//! back-ports count where they were released.

use super::version::KafkaVersion;

impl KafkaVersion {
    /// Whether a producer is idempotent when nobody said anything about it (KIP-679).
    ///
    /// 3.0.0 and 3.1.0 meant to be, and were not (KAFKA-13598).
    pub fn is_idempotent_by_default(self) -> bool {
        self.at_least(3, 0) && self != Self::new(3, 0, 0) && self != Self::new(3, 1, 0)
    }

    /// Whether more than five requests in flight are refused with idempotence even where it was
    /// not asked for; 3.x switched idempotence off instead (4.0).
    pub fn refuses_deep_pipelines(self) -> bool {
        self.at_least(4, 0)
    }

    /// Whether a batch that expires on the wire keeps its memory until the answer arrives
    /// (KAFKA-19012).
    pub fn keeps_memory_of_expired_requests(self) -> bool {
        self.at_least(4, 2)
            || self.is_patched(4, 1, 2)
            || self.is_patched(4, 0, 2)
            || self.is_patched(3, 9, 2)
    }

    /// Whether a batch that was split before is halved when it is split again; older clients cut
    /// to `batch.size` each time and could loop (4.2).
    pub fn halves_split_batches(self) -> bool {
        self.at_least(4, 2)
    }

    /// Whether a retry skips its backoff once a newer leader is known, and produce answers name
    /// that leader (KIP-951).
    pub fn skips_backoff_for_new_leaders(self) -> bool {
        self.at_least(3, 7)
    }

    /// Whether a class in `partitioner.class` is asked once more when its record needs a new batch
    /// (KIP-480; gone with `Partitioner.onNewBatch` in 4.0).
    pub fn asks_partitioners_again(self) -> bool {
        self.at_least(2, 4) && !self.at_least(4, 0)
    }

    /// Whether `RoundRobinPartitioner` skips a partition for every new batch (KAFKA-9965, gone
    /// with KAFKA-17632).
    pub fn round_robin_skips(self) -> bool {
        self.asks_partitioners_again() && !self.is_patched(3, 9, 2)
    }

    /// Whether retriable errors of a transaction reach the application as
    /// `TransactionAbortableException` (KIP-1050).
    pub fn wraps_retriable_as_abortable(self) -> bool {
        self.at_least(4, 1)
    }

    /// Whether `flush()` waits for the children of split batches, and refuses to run in a
    /// callback (4.1).
    pub fn flush_is_strict(self) -> bool {
        self.at_least(4, 1)
    }

    /// Whether the client speaks transaction version 2 (KIP-890).
    pub fn speaks_transaction_version_2(self) -> bool {
        self.at_least(4, 0)
    }

    /// Whether a producer raises its own epoch after a failure instead of stopping (KIP-360).
    pub fn bumps_epochs(self) -> bool {
        self.at_least(2, 5)
    }

    /// How many samples a metric of `num_samples` keeps: one more since 3.8.
    pub fn metric_samples_kept(self, num_samples: u32) -> u32 {
        num_samples
            .max(1)
            .saturating_add(u32::from(self.at_least(3, 8)))
    }

    fn is_patched(self, major: u16, minor: u16, patch: u16) -> bool {
        self.major == major && self.minor == minor && self.patch >= patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> KafkaVersion {
        text.parse().unwrap()
    }

    #[test]
    fn two_releases_only_meant_to_be_idempotent() {
        let idempotent = |text| version(text).is_idempotent_by_default();
        assert!(
            ["3.0.1", "3.1.1", "3.2.0", "4.3.0"]
                .into_iter()
                .all(idempotent)
        );
        assert!(!["2.8.2", "3.0.0", "3.1.0"].into_iter().any(idempotent));
    }

    #[test]
    fn memory_of_expired_requests_is_kept_since_4_2_and_in_three_patches() {
        let keeps = |text| version(text).keeps_memory_of_expired_requests();
        assert!(
            ["3.9.2", "4.0.2", "4.1.2", "4.2.0", "4.4.0"]
                .into_iter()
                .all(keeps)
        );
        assert!(!["3.8.1", "3.9.1", "4.0.1", "4.1.1"].into_iter().any(keeps));
    }

    #[test]
    fn round_robin_skipped_partitions_from_2_4_to_3_9_1() {
        let skips = |text| version(text).round_robin_skips();
        assert!(["2.4.0", "3.9.1"].into_iter().all(skips));
        assert!(!["2.3.1", "3.9.2", "4.0.0"].into_iter().any(skips));
    }

    #[test]
    fn metrics_keep_one_sample_more_since_3_8() {
        assert_eq!(version("3.7.2").metric_samples_kept(2), 2);
        assert_eq!(version("3.8.0").metric_samples_kept(2), 3);
    }
}
