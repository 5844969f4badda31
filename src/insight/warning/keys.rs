//! Diagnoses about single keys, in topics whose records are remembered one by one.

use super::{Checkup, Diagnosis, Scope, Subject, Verdict};
use crate::insight::names;
use crate::insight::sentence::count;

/// Records of one key are on several partitions.
pub(super) struct SplitKeys;

impl Diagnosis for SplitKeys {
    fn name(&self) -> &'static str {
        "split-keys"
    }

    fn summary(&self) -> &'static str {
        "topics have keys on several partitions"
    }

    fn scope(&self) -> Scope {
        Scope::Topics
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Topic(topic) = subject else {
            return Verdict::Quiet;
        };
        let Some((key, history)) = checkup.simulation.first_split_key(topic) else {
            return Verdict::Quiet;
        };
        let spans = history.spans.iter();
        let numbers: Vec<u32> = spans.map(|span| span.partition.name().number).collect();
        let others = match checkup.simulation.split_keys(topic).unwrap_or(1) {
            0 | 1 => String::new(),
            2 => ", and one more key is split".to_owned(),
            count => format!(", and {} more keys are split", count - 1),
        };
        Verdict::Raised(format!(
            "key {} of topic {} has records on partitions {}{others}: nobody reads them in the \
             order in which they were written",
            names::key(key),
            names::topic(checkup.config(), topic),
            names::numbers(&numbers),
        ))
    }
}

/// A group reads records after later ones of their keys.
pub(super) struct OutOfOrderReads;

impl Diagnosis for OutOfOrderReads {
    fn name(&self) -> &'static str {
        "out-of-order-reads"
    }

    fn summary(&self) -> &'static str {
        "consumer groups read keys out of order"
    }

    fn scope(&self) -> Scope {
        Scope::Groups
    }

    fn check(&self, subject: Subject, checkup: &Checkup<'_>) -> Verdict {
        let Subject::Group(group) = subject else {
            return Verdict::Quiet;
        };
        let Some(reads) = checkup.simulation.reads_out_of_order(group) else {
            return Verdict::Quiet;
        };
        let Some(first) = reads.first else {
            return Verdict::Quiet;
        };
        let config = checkup.config();
        Verdict::Raised(format!(
            "group {} has read {} of {} out of order, first key {}: its records on {} came after \
             later ones on partition {}",
            names::group(config, group),
            count(reads.records, "record"),
            count(reads.keys, "key"),
            names::key(checkup.simulation.key_of(first.key)),
            names::partition(config, first.partition),
            first.overtaken_on.name().number,
        ))
    }
}
