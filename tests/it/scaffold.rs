//! New scenarios, from nothing and from a real cluster.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn kdrill(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs")
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the real tool printed of a cluster of three brokers.
fn described() -> String {
    let golden = include_str!("../golden/real/tools.json");
    let golden: serde_json::Value = serde_json::from_str(golden).expect("JSON");
    let output = &golden["cases"]["012-topics-describe-all"]["output"];
    output.as_str().expect("text").to_owned()
}

#[test]
fn a_new_scenario_runs_and_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = kdrill(folder.path(), &["new", "-o", "mine.toml"]);
    assert!(made.status.success(), "{}", said(&made.stderr));
    let run = kdrill(folder.path(), &["run", "mine.toml", "--headless"]);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run.stdout));
}

#[test]
fn a_file_that_is_there_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("mine.toml"), "precious").expect("it is written");
    let made = kdrill(folder.path(), &["new", "-o", "mine.toml"]);
    assert_eq!(made.status.code(), Some(2));
    let kept = fs::read_to_string(folder.path().join("mine.toml")).expect("it is there");
    assert_eq!(kept, "precious");
}

#[test]
fn a_real_client_and_real_topics_become_a_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("topics.txt"), described()).expect("it is written");
    fs::write(
        folder.path().join("app.properties"),
        "linger.ms=20\nacks=1\n",
    )
    .expect("it is written");
    let arguments = [
        "new",
        "--properties",
        "app.properties",
        "--describe",
        "topics.txt",
        "-o",
        "mine.toml",
    ];
    let made = kdrill(folder.path(), &arguments);
    assert!(made.status.success(), "{}", said(&made.stderr));
    let text = fs::read_to_string(folder.path().join("mine.toml")).expect("it is there");
    assert!(text.contains("name = \"click.events\"\npartitions = 1\nreplication-factor = 2"));
    let run = kdrill(
        folder.path(),
        &["run", "mine.toml", "--until", "5s", "--format", "json"],
    );
    assert!(
        said(&run.stdout).contains("\"click.events-0\""),
        "{}",
        said(&run.stderr)
    );
}

#[test]
fn what_the_client_refuses_is_refused_before_a_file_is_made() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("app.properties"), "acks=7\n").expect("it is written");
    let arguments = ["new", "--properties", "app.properties", "-o", "mine.toml"];
    let made = kdrill(folder.path(), &arguments);
    assert_eq!(made.status.code(), Some(2));
    assert!(
        said(&made.stderr).contains("acks"),
        "{}",
        said(&made.stderr)
    );
    assert!(!folder.path().join("mine.toml").exists());
}
