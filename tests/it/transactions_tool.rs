//! `kafka-transactions.sh` at the prompt, beside a transaction that hangs.

use crate::support::{embedded, run_to, seconds, written};
use kdrill::session::Session;

/// A minute after a late record opened a transaction at offset 120.
fn hanging() -> Session {
    run_to(embedded("hanging-transaction"), seconds(73.0))
}

fn says(session: &mut Session, line: &str) -> String {
    let line = format!("kafka-transactions.sh {line}");
    match session.command(&line) {
        Ok(text) => text,
        Err(problem) => problem.message,
    }
}

fn go_on(session: &mut Session) {
    let next = session.now().as_seconds() + 1.0;
    let _ = session.advance_to(seconds(next), u64::MAX);
}

const ABORT: &str = "abort --topic driver-payouts --partition 5";
const FIND: &str = "find-hanging --topic driver-payouts --max-transaction-timeout 1";

#[test]
fn what_hangs_is_found_and_ended_by_its_first_offset() {
    let mut session = hanging();
    assert_eq!(session.simulation().hanging_transactions(), 1);
    let found = says(&mut session, FIND);
    let row = found.lines().nth(1).unwrap_or_default();
    let cells: Vec<&str> = row.split('\t').map(str::trim).collect();
    assert_eq!(cells[..6], ["driver-payouts", "5", "4001", "0", "0", "120"]);
    let line = format!("{ABORT} --start-offset 120");
    assert_eq!(says(&mut session, &line), "");
    go_on(&mut session);
    assert_eq!(session.simulation().hanging_transactions(), 0);
    assert_eq!(
        says(&mut session, &line),
        "Could not find any open transactions starting at offset 120 on partition driver-payouts-5"
    );
}

#[test]
fn it_is_ended_by_producer_id_and_epochs_as_well() {
    let mut session = hanging();
    let line = format!("{ABORT} --producer-id 4001 --producer-epoch 0 --coordinator-epoch -1");
    assert_eq!(says(&mut session, &line), "");
    go_on(&mut session);
    assert_eq!(session.simulation().hanging_transactions(), 0);
}

#[test]
fn a_marker_of_an_earlier_epoch_is_refused() {
    let mut session = hanging();
    let line = format!("{ABORT} --producer-id 5001 --producer-epoch -1 --coordinator-epoch 0");
    let spec = "AbortTransactionSpec(topicPartition=driver-payouts-5, producerId=5001, \
                producerEpoch=-1, coordinatorEpoch=0)";
    assert_eq!(
        says(&mut session, &line),
        format!(
            "Failed to abort transaction {spec}: WriteTxnMarkers request with {spec} failed due an \
             invalid producer epoch. Enable debug logging for additional detail."
        )
    );
}

#[test]
fn looking_at_transactions_is_not_part_of_the_run() {
    let (mut looked, plain) = (hanging(), hanging());
    for line in ["list", FIND, "describe --transactional-id payouts-pod-2"] {
        let _ = says(&mut looked, line);
    }
    assert_eq!(looked.digest(), plain.digest());
    assert!(looked.journal().is_empty());
}

/// A producer that leaves its transaction open and stands still for a while; another process
/// reads what is committed.
fn abandoned() -> Session {
    run_to(
        written(
            r#"# Who takes the id from a pod that stands still?
            [scenario]
            format = 1
            title = "abandoned"
            duration = "60s"
            [cluster]
            brokers = 3
            [[topic]]
            name = "payouts"
            replication-factor = 3
            history = "records"
            [[producer]]
            name = "pod"
            config.transactional.id = "payouts-1"
            [[producer.script]]
            at = "1s"
            do = "init_transactions"
            [[producer.script]]
            at = "2s"
            do = "begin_transaction"
            [[producer.script]]
            at = "2s"
            do = "produce payouts partition=0 value=v await=true"
            [[producer.script]]
            at = "20s"
            do = "produce payouts partition=0 value=w await=true"
            "#,
        ),
        seconds(10.0),
    )
}

fn state_of(session: &mut Session, id: &str) -> (String, String) {
    let said = says(session, &format!("describe --transactional-id {id}"));
    let row = said.lines().nth(1).unwrap_or_default();
    let cells: Vec<&str> = row.split('\t').map(str::trim).collect();
    (cells[4].to_owned(), cells[3].to_owned())
}

#[test]
fn an_id_is_taken_from_its_owner_and_what_was_open_is_aborted() {
    let mut session = abandoned();
    let before = state_of(&mut session, "payouts-1");
    assert_eq!(before, ("Ongoing".to_owned(), "0".to_owned()));
    let line = "forceTerminateTransaction --transactionalId payouts-1";
    assert_eq!(says(&mut session, line), "");
    go_on(&mut session);
    let (state, epoch) = state_of(&mut session, "payouts-1");
    assert_eq!(state, "Empty");
    assert!(epoch.parse::<i16>().is_ok_and(|epoch| epoch > 0), "{epoch}");
    let payouts = session.simulation().partitions().next().expect("it exists");
    let log = session.simulation().log_lines(payouts);
    assert!(
        log[0].ends_with("aborted") && log[1].contains("ABORT"),
        "{log:?}"
    );
    // The owner comes back to an id that is no longer its own.
    let _ = session.advance_to(seconds(25.0), u64::MAX);
    assert_eq!(session.simulation().log_lines(payouts).len(), 2);
}

#[test]
fn while_replicas_are_missing_the_tool_asks_again_until_it_has_its_epoch() {
    let mut session = abandoned();
    for line in ["broker kill 2", "broker kill 3"] {
        session.command(line).expect("it can be killed");
    }
    let _ = session.advance_to(seconds(30.0), u64::MAX);
    let before = state_of(&mut session, "payouts-1").1;
    let line = "forceTerminateTransaction --transactionalId payouts-1";
    assert_eq!(says(&mut session, line), "");
    go_on(&mut session);
    assert_eq!(state_of(&mut session, "payouts-1").1, before);
    session
        .command("broker start 2")
        .expect("it can be started");
    let _ = session.advance_to(seconds(59.0), u64::MAX);
    let (state, epoch) = state_of(&mut session, "payouts-1");
    assert_eq!(state, "Empty");
    assert_ne!(epoch, before);
}
