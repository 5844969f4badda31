//! Generated loads in transactions, and what their threads wait for.

use kdrill::insight::sentence::sentence;
use kdrill::session::Session;
use kdrill::sim::ids::{ProducerIndex, TopicIndex, TopicPartition};

use crate::support::{run_to_end, written};

/// Three brokers, topic `events` with one partition, and a client whose configuration and loads are
/// given; `rest` says what happens.
fn world(client: &str, rest: &str) -> Session {
    run_to_end(written(&format!(
        r#"# What becomes of it?
        [scenario]
        format = 1
        title = "transactions of a load"
        duration = "30s"
        seed = 1
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "10Gbit/s" }}
        [[topic]]
        name = "events"
        partitions = 1
        replication-factor = 3
        history = "records"
        [[producer]]
        name = "app"
        {client}
        {rest}"#
    )))
}

fn lines(session: &Session) -> Vec<String> {
    let simulation = session.simulation();
    let (topic, number) = (TopicIndex(0), 0);
    let index = simulation.find_partition(TopicPartition { topic, number });
    index.map_or_else(Vec::new, |index| simulation.log_lines(index))
}

fn happenings(session: &Session) -> Vec<String> {
    let config = session.simulation().config();
    let entries = session.insight().log().entries();
    entries
        .map(|entry| sentence(&entry.first.fact, config))
        .collect()
}

#[test]
fn two_loads_share_transactions_and_the_last_one_commits() {
    let session = world(
        r#"config.transactional.id = "events""#,
        r#"[[producer.load]]
        topic = "events"
        rate = 100
        value = { bytes = 10 }
        records = 5
        transaction = { records = 8 }
        [[producer.load]]
        topic = "events"
        rate = 10
        value = { bytes = 10 }
        records = 7"#,
    );
    let lines = lines(&session);
    let committed = lines.iter().filter(|line| line.ends_with("committed"));
    let commits = lines.iter().filter(|line| line.contains("COMMIT"));
    assert_eq!((committed.count(), commits.count()), (12, 2), "{lines:?}");
    assert!(
        happenings(&session)
            .iter()
            .all(|said| !said.contains("limit"))
    );
}

#[test]
fn a_load_that_flushed_sends_again_what_failed_and_waits_for_it() {
    let session = world(
        "config.linger.ms = 1000",
        r#"[[producer.load]]
        topic = "events"
        rate = 100
        value = { bytes = 10 }
        records = 25
        await = { every = 10 }
        on-failed = "resend"
        at-end = "flush"
        [[timeline]]
        at = "2050ms"
        do = "inject TOPIC_AUTHORIZATION_FAILED --partition events-0 --count 1""#,
    );
    let tally = session.insight().ledger().of(ProducerIndex(0));
    assert_eq!((tally.failed_absent, tally.acknowledged_present), (5, 25));
}

#[test]
fn a_client_before_2_5_is_broken_for_good_when_sequences_are_lost() {
    let lost = |version: &str| {
        let session = world(
            &format!(
                r#"version = "{version}"
                config.enable.idempotence = true
                config.transactional.id = "events"
                config.request.timeout.ms = 1000
                config.delivery.timeout.ms = 2000"#
            ),
            r#"[[producer.load]]
            topic = "events"
            rate = 100
            value = { bytes = 10 }
            records = 300
            transaction = { records = 100 }
            [[timeline]]
            at = "1500ms"
            do = "inject NOT_ENOUGH_REPLICAS --partition events-0 --count 300""#,
        );
        let said = happenings(&session);
        let fatal = said
            .iter()
            .filter(|said| said.contains("isn't safe to continue"));
        fatal.count()
    };
    assert!(lost("2.4") > 0);
    assert_eq!(lost("2.5"), 0);
}
