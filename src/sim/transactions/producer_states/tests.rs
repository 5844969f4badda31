//! What a partition remembers of transactional producers, one fact at a time.

use super::*;
use crate::kafka::settings::CompressionType;
use crate::sim::ids::PartitionIndex;

const P: i64 = 4001;

fn part(producer: ProducerIdAndEpoch, base_sequence: i32) -> Part {
    Part {
        partition: PartitionIndex::of_first_topic(0),
        batch: 0,
        producer_id: producer.0,
        epoch: producer.1,
        base_sequence,
        records: 1,
        bytes: 70,
        plain_bytes: 70,
        stored_bytes: 70,
        codec: CompressionType::None,
        first_ordinal: 0,
        error: None,
        current_leader: None,
        base_offset: None,
        required_offset: 0,
    }
}

fn marker(offset: u64, epoch: i16, result: TransactionResult) -> Marker {
    Marker {
        offset,
        producer: (P, epoch),
        result,
        coordinator_epoch: 0,
        at: SimTime::ZERO,
    }
}

/// Record 40 at epoch 0, its ABORT 41 at epoch 1, record 42 at epoch 2, its COMMIT 43.
fn classic(commit_epoch: i16) -> ProducerStates {
    let mut states = ProducerStates::default();
    let version = TransactionVersion::Two;
    states.append(&part((P, 0), 0), (40, SimTime::ZERO));
    states.append_marker(marker(41, 1, TransactionResult::Abort), version);
    states.append(&part((P, 2), 0), (42, SimTime::ZERO));
    states.append_marker(marker(43, commit_epoch, TransactionResult::Commit), version);
    states
}

#[test]
fn a_record_is_what_the_next_marker_of_its_producer_made_of_it() {
    let states = classic(3);
    let fate = |offset| states.fate(offset).map(|(_, fate)| fate);
    assert_eq!(
        [fate(40), fate(42)],
        [Some(Fate::Aborted), Some(Fate::Committed)]
    );
    assert_eq!([fate(41), fate(44)], [None, None]);
    let marker = states.marker_at(41).map(|marker| marker.producer);
    assert_eq!(marker, Some((P, 1)));
}

#[test]
fn readers_of_committed_records_are_given_neither_markers_nor_aborted_records() {
    let states = classic(3);
    let committed = Hide::MarkersAndAborted;
    assert_eq!(states.hidden(40, 44, committed), [(40, 42), (43, 44)]);
    assert_eq!(states.hidden(40, 44, Hide::Markers), [(41, 42), (43, 44)]);
    assert_eq!(states.hidden(41, 43, committed), [(41, 42)]);
}

#[test]
fn an_old_epoch_is_refused_before_anything_else_is_asked() {
    let mut states = classic(3);
    let late = part((P, 0), 1);
    let version = TransactionVersion::Two;
    assert_eq!(states.begin_verification(&late, version), Need::Refusal);
    let refused = Verdict::Refuse(ErrorCode::InvalidProducerEpoch);
    assert_eq!(states.judge(&late, Verifying::On), refused);
}

#[test]
fn a_batch_that_nobody_vouches_for_is_not_part_of_a_transaction() {
    let mut states = classic(3);
    let next = part((P, 3), 0);
    let refused = Verdict::Refuse(ErrorCode::InvalidTxnState);
    assert_eq!(states.judge(&next, Verifying::On), refused);
    let Need::Verification(guard) = states.begin_verification(&next, TransactionVersion::Two)
    else {
        panic!("a new transaction needs the coordinator's word");
    };
    states.end_verification(P, guard);
    assert_eq!(states.judge(&next, Verifying::On), Verdict::Append);
    assert_eq!(
        states.judge(&part((P, 3), 1), Verifying::On),
        Verdict::Refuse(ErrorCode::OutOfOrderSequenceNumber)
    );
}

#[test]
fn a_marker_in_between_takes_the_coordinators_word_back_in_version_1() {
    let mut states = ProducerStates::default();
    let (first, version) = (part((P, 0), 0), TransactionVersion::One);
    let Need::Verification(guard) = states.begin_verification(&first, version) else {
        panic!("a new transaction needs the coordinator's word");
    };
    states.append_marker(marker(0, 0, TransactionResult::Abort), version);
    states.end_verification(P, guard);
    let refused = Verdict::Refuse(ErrorCode::InvalidTxnState);
    assert_eq!(states.judge(&first, Verifying::On), refused);
}

#[test]
fn the_first_unstable_offset_waits_for_the_markers_replication() {
    let mut states = ProducerStates::default();
    states.append(&part((P, 0), 0), (40, SimTime::ZERO));
    assert_eq!(states.first_unstable_offset(41), Some(40));
    let commit = marker(41, 1, TransactionResult::Commit);
    states.append_marker(commit, TransactionVersion::Two);
    assert_eq!(states.first_unstable_offset(41), Some(40));
    assert_eq!(states.first_unstable_offset(42), None);
}

#[test]
fn a_marker_that_was_truncated_leaves_its_transaction_open() {
    let mut states = classic(3);
    states.truncate(43);
    assert_eq!(states.fate(42).map(|(_, fate)| fate), Some(Fate::Open));
    assert_eq!(states.first_unstable_offset(50), Some(42));
}

#[test]
fn a_second_marker_of_the_same_epoch_is_a_retry_and_an_older_coordinator_is_fenced() {
    let states = classic(3);
    let two = TransactionVersion::Two;
    assert_eq!(states.check_marker((P, 3), 0, two), Ok(()));
    assert_eq!(
        states.check_marker((P, 2), 0, two),
        Err(ErrorCode::InvalidProducerEpoch)
    );
    let mut later = classic(3);
    let commit = Marker {
        coordinator_epoch: 1,
        ..marker(44, 3, TransactionResult::Commit)
    };
    later.append_marker(commit, two);
    let fenced = Err(ErrorCode::TransactionCoordinatorFenced);
    assert_eq!(later.check_marker((P, 4), 0, two), fenced);
}
