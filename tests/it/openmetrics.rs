//! Series for Prometheus: names that exporters have, moments of the simulated clock, and, where its
//! tools are installed, a run in its own database.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// What a run of the library exposes, with one figure more.
fn exposed(scenario: &str, metric: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .args(["run", scenario, "--until", "20s", "--format", "openmetrics"])
        .args(["--metric", metric])
        .output()
        .expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_producers_metric_has_the_name_and_labels_of_the_jmx_exporter() {
    let text = exposed(
        "full-buffer",
        "producer.trips.topic.events.record-error-rate",
    );
    let wait = "kafka_producer_producer_metrics_bufferpool_wait_ratio{scenario=\"full-buffer\",\
                client_id=\"producer-1\",producer=\"trips\"} 0 1767225600.000\n";
    assert!(text.contains(wait));
    assert!(text.contains("kafka_producer_producer_topic_metrics_record_error_rate{"));
}

#[test]
fn librdkafkas_statistics_have_their_own_path_as_name() {
    let text = exposed("queue-full", "producer.polls.node.1.rtt.avg");
    let sample = "librdkafka_broker_rtt_avg{scenario=\"queue-full\",client_id=\"rdkafka\",\
                  producer=\"polls\",broker=\"1\"}";
    assert!(text.contains(sample));
}

#[test]
fn families_stand_together_and_the_text_has_an_end() {
    let text = exposed("full-buffer", "broker.1.LeaderCount");
    let families: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .collect();
    let once: BTreeSet<&&str> = families.iter().collect();
    assert_eq!(once.len(), families.len());
    assert!(text.contains("kafka_server_replicamanager_leadercount{"));
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_figure_that_is_not_there_gets_the_nearest_name() {
    let output = Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .args(["run", "full-buffer", "--format", "csv", "--metric"])
        .arg("producer.trips.record-eror-rate")
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("did you mean `record-error-rate`?"), "{said}");
}

#[test]
#[ignore = "needs promtool, which comes with Prometheus"]
fn prometheus_takes_a_run_into_its_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.om");
    let text = exposed("full-buffer", "producer.trips.record-error-rate");
    fs::write(&file, text).expect("it is written");
    let output = Command::new("promtool")
        .args(["tsdb", "create-blocks-from", "openmetrics"])
        .arg(&file)
        .arg(folder.path().join("data"))
        .output()
        .expect("promtool is installed");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("BLOCK ULID"), "{said}");
}
