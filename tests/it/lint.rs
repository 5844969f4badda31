//! Real configurations explained.

use std::fs;
use std::process::{Command, Output};

/// What is said of a file with these lines.
fn lint(lines: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("client.properties"), lines).expect("it is written");
    Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .args(["lint", "client.properties"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_empty_java_configuration_is_explained_by_its_defaults() {
    insta::assert_snapshot!(said(&lint("", &[])));
}

#[test]
fn an_empty_librdkafka_configuration_is_explained_by_its_defaults() {
    insta::assert_snapshot!(said(&lint("", &["--client", "librdkafka"])));
}

#[test]
fn what_the_client_refuses_is_refused_in_its_words() {
    let output = lint("max.in.flight.requests.per.connection=10\n", &[]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        words.contains("must be set to at most 5. Current value is 10"),
        "{words}"
    );
}

#[test]
fn a_mistyped_key_and_a_secret_are_named_and_hidden() {
    let output = lint("lingerms=3\nsasl.jaas.config=top secret\n", &[]);
    let words = said(&output);
    assert!(words.contains("did you mean linger.ms?"), "{words}");
    assert!(!words.contains("top secret"), "{words}");
}

#[test]
fn many_partitions_with_large_batches_take_more_than_the_pool_has() {
    let output = lint("batch.size=1000000\n", &["--partitions", "100"]);
    assert!(said(&output).contains("Open batches alone take most of the pool"));
}

#[test]
fn a_file_that_is_not_there_is_said_to_be_missing() {
    let output = Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .args(["lint", "nowhere.properties"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(
        words.contains("nowhere.properties cannot be read"),
        "{words}"
    );
}
