//! Stories about the whole ledger.

use proptest::prelude::*;

use super::*;
use crate::insight::testing::config;
use crate::kafka::error::ErrorCode;
use crate::sim::fact::Acknowledged;
use crate::sim::ids::TopicIndex;
use crate::sim::time::SimTime;

const TRIPS: ProducerIndex = ProducerIndex(0);

fn appended(partition: u32, batch: u64, base_offset: u64, millis: u64) -> Flow {
    Flow::Appended(Appended {
        producer: TRIPS,
        partition: PartitionIndex::of_first_topic(partition),
        first_ordinal: batch * 10,
        records: 10,
        bytes: 10_000,
        base_offset,
        at: SimTime::from_millis(millis),
    })
}

fn acknowledged(partition: u32, batch: u64) -> Flow {
    Flow::Acknowledged(Acknowledged {
        producer: TRIPS,
        partition: PartitionIndex::of_first_topic(partition),
        first_ordinal: batch * 10,
        records: 10,
        bytes: 10_000,
        created: SimTime::ZERO,
        drained: SimTime::ZERO,
        arrived: SimTime::ZERO,
        appended: SimTime::ZERO,
        answered: SimTime::ZERO,
        at: SimTime::ZERO,
    })
}

fn failed(partition: u32, batch: u64) -> Flow {
    let partition = PartitionIndex::of_first_topic(partition);
    Flow::Failed {
        producer: TRIPS,
        partition,
        first_ordinal: batch * 10,
        records: 10,
    }
}

#[test]
fn a_healthy_hour_adds_up_and_is_one_interval_a_partition() {
    let mut ledger = Ledger::new(&config());
    for batch in 0..10_000 {
        ledger.fold(&[
            appended(2, batch, batch * 10, batch),
            acknowledged(2, batch),
        ]);
    }
    let account = ledger.account_of(TRIPS, 100_020);
    assert_eq!(account.tally.acknowledged_present, 100_000);
    assert_eq!(account.under_way, 20);
    assert_eq!(account.imbalance(), None);
    assert_eq!(
        ledger.of_partition(PartitionIndex::of_first_topic(2)),
        ledger.total()
    );
}

#[test]
fn a_message_that_ended_before_it_had_a_partition_is_accounted_for() {
    let mut ledger = Ledger::new(&config());
    let unassigned = |records, end| Flow::Unassigned {
        producer: TRIPS,
        topic: TopicIndex(0),
        records,
        end,
    };
    ledger.fold(&[
        unassigned(3, UnassignedEnd::Failed),
        unassigned(2, UnassignedEnd::Abandoned),
    ]);
    let account = ledger.account(6);
    assert_eq!((account.tally.failed(), account.tally.abandoned()), (3, 2));
    assert_eq!((account.under_way, account.imbalance()), (1, None));
}

#[test]
fn a_refused_record_was_never_sent() {
    let mut ledger = Ledger::new(&config());
    ledger.fold(&[Flow::Refused {
        producer: TRIPS,
        topic: TopicIndex(0),
        records: 3,
    }]);
    let account = ledger.account(0);
    assert_eq!((account.tally.refused, account.under_way), (3, 0));
}

fn retried(batch: u64, millis: u64, error: ErrorCode) -> Trace {
    Trace {
        at: SimTime::from_millis(millis),
        producer: TRIPS,
        partition: PartitionIndex::of_first_topic(0),
        first_ordinal: batch * 10,
        records: 10,
        step: TraceStep::Retried { error },
    }
}

/// Batch 0 stands twice, since it was sent again after a timeout.
fn doubled() -> Ledger {
    let mut ledger = Ledger::new(&config());
    ledger.identities[0].is_idempotent = false;
    ledger.observe(&Output {
        flows: vec![appended(0, 0, 0, 5), appended(0, 0, 10, 2_000)],
        traces: vec![retried(0, 1_000, ErrorCode::RequestTimedOut)],
        ..Output::default()
    });
    ledger
}

#[test]
fn a_copy_has_its_cause() {
    let total = doubled().total();
    assert_eq!(total.duplicated, 10);
    assert_eq!(total.duplicated_by(DuplicateCause::Timeout), 10);
}

#[test]
fn a_copy_that_is_truncated_takes_its_cause_along() {
    let mut ledger = doubled();
    ledger.fold(&[Flow::Truncated {
        producer: TRIPS,
        partition: PartitionIndex::of_first_topic(0),
        first_ordinal: 0,
        records: 10,
    }]);
    let total = ledger.total();
    assert_eq!((total.duplicated, total.duplicated_by), (0, [0; 7]));
}

#[test]
fn a_record_sent_again_by_its_application_is_a_duplicate_only_where_both_stand() {
    let mut ledger = Ledger::new(&config());
    let again = TraceStep::SentAgain {
        partition: PartitionIndex::of_first_topic(0),
        ordinal: 3,
    };
    let again = Trace {
        first_ordinal: 10,
        records: 1,
        step: again,
        ..retried(0, 500, ErrorCode::RequestTimedOut)
    };
    ledger.observe(&Output {
        flows: vec![failed(0, 0), appended(0, 1, 0, 900)],
        traces: vec![again],
        ..Output::default()
    });
    assert_eq!(ledger.total().duplicated, 0);
    // The first attempt comes late, and is appended after all.
    ledger.fold(&[appended(0, 0, 10, 5_000)]);
    let total = ledger.total();
    assert_eq!(total.duplicated_by(DuplicateCause::Application), 1);
    assert_eq!((total.duplicated, total.failed_present), (1, 10));
}

#[test]
fn appends_of_an_old_and_a_new_leader_are_taken_in_order_of_time() {
    // The new leader's flows come first here: it has the lower rank.
    let mut ledger = Ledger::new(&config());
    ledger.fold(&[appended(0, 1, 10, 9_000), appended(0, 0, 0, 5)]);
    assert_eq!(ledger.total().reordered, 0);
}

proptest! {
    #[test]
    fn the_order_between_entities_does_not_matter(
        fates in prop::collection::vec(0u8..4, 1..60),
        seed in any::<u64>(),
    ) {
        let mut flows = Vec::new();
        for (batch, fate) in (0u64..).zip(&fates) {
            let partition = (batch % 3) as u32;
            let append = appended(partition, batch, batch * 10, batch);
            match fate {
                0 => flows.extend([append, acknowledged(partition, batch)]),
                1 => flows.extend([append, failed(partition, batch)]),
                2 => flows.push(failed(partition, batch)),
                _ => {}
            }
        }
        let mut shuffled = flows.clone();
        let mut state = seed | 1;
        for place in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(place, (state >> 33) as usize % (place + 1));
        }
        let (mut one, mut two) = (Ledger::new(&config()), Ledger::new(&config()));
        one.fold(&flows);
        two.fold(&shuffled);
        prop_assert_eq!(one.total(), two.total());
        let account = one.account(fates.len() as u64 * 10);
        prop_assert_eq!(account.imbalance(), None);
        let open = fates.iter().filter(|&&fate| 2 < fate).count() as u64;
        prop_assert_eq!(account.under_way, open * 10);
    }

    #[test]
    fn batches_handed_over_together_count_like_one_after_the_other(
        // Retries, gaps and duplicates, on one partition.
        batches in prop::collection::vec((0u64..12, any::<bool>()), 1..60),
    ) {
        let flows: Vec<Flow> = (0u64..)
            .zip(&batches)
            .map(|(moment, &(batch, is_append))| {
                if is_append {
                    appended(0, batch, moment * 10, moment)
                } else {
                    acknowledged(0, batch)
                }
            })
            .collect();
        let (mut together, mut singly) = (Ledger::new(&config()), Ledger::new(&config()));
        together.fold(&flows);
        for flow in &flows {
            singly.fold(std::slice::from_ref(flow));
        }
        prop_assert_eq!(together.total(), singly.total());
    }
}
