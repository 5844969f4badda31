//! `kdrill keys` as a shell sees it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const USERS: [&str; 6] = ["user-1", "user-2", "user-3", "user-4", "user-5", "user-6"];

fn kdrill(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kdrill"));
    command
        .arg("keys")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn keys(arguments: &[&str]) -> Output {
    kdrill(arguments).output().unwrap()
}

/// The same with lines on standard input.
fn piped(lines: &[u8], arguments: &[&str]) -> Output {
    let mut child = kdrill(arguments).stdin(Stdio::piped()).spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(lines);
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn help_has_examples() {
    insta::assert_snapshot!("help", stdout(&keys(&["--help"])));
}

#[test]
fn two_clients_disagree_on_five_of_six_users() {
    let text = stdout(&keys(&USERS));
    assert!(text.contains("put 5 of 6 keys"), "{text}");
    insta::assert_snapshot!("six_users", text);
}

#[test]
fn growing_shows_which_keys_move() {
    let output = keys(&[&USERS[..], &["--partitions", "3", "--grow", "6"]].concat());
    insta::assert_snapshot!("growing", stdout(&output));
    let output = keys(&[&USERS[..], &["-p", "3", "-g", "6", "--format", "json"]].concat());
    let moved = &json(&output)["summary"]["partitioners"]["murmur2_random"]["moved"];
    assert_eq!(moved["keys"], 3);
    assert_eq!(moved["keys_share"], 0.5);
}

#[test]
fn a_text_and_a_number_are_different_keys() {
    let row = |serializer| {
        let output = keys(&["42", "-p", "64", "-s", serializer, "--format", "json"]);
        let value = json(&output);
        let key = &value["keys"][0];
        (
            key["bytes"].to_string(),
            key["partitions"]["murmur2_random"].to_string(),
        )
    };
    assert_eq!(row("string").0, "\"3432\"");
    assert_eq!(row("int32").0, "\"0000002a\"");
    assert_eq!(row("int64").0, "\"000000000000002a\"");
    assert_eq!(row("json").0, "\"22343222\"");
    let mut partitions: Vec<_> = ["string", "int32", "int64", "json"]
        .into_iter()
        .map(|serializer| row(serializer).1)
        .collect();
    partitions.sort();
    partitions.dedup();
    assert_eq!(partitions.len(), 4);
}

#[test]
fn keys_that_do_not_fit_are_told_with_their_lines_and_nothing_is_written() {
    let output = piped(
        b"7\nseven\n4294967296\n9\n",
        &["-s", "int32", "--format", "csv"],
    );
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    insta::assert_snapshot!("unfit_keys", stderr(&output));
    let many = "x\n".repeat(1_000);
    let complaints = stderr(&piped(many.as_bytes(), &["-s", "int64"]));
    assert!(
        complaints.ends_with("error: 990 more keys do not fit\n"),
        "{complaints}"
    );
    let output = keys(&["7", "eight", "-s", "int64"]);
    assert!(stderr(&output).starts_with("error: argument 2: \"eight\""));
    let output = piped(b"caf\xe9\n", &[]);
    assert!(
        stderr(&output).contains(":1: \"caf\\xe9\" is not UTF-8"),
        "{output:?}"
    );
}

#[test]
fn counts_stand_behind_a_tab_or_what_is_named() {
    let output = piped(b"user-1\t30\nuser-3\t10\n", &["--format", "json"]);
    let summary = &json(&output)["summary"];
    assert_eq!(summary["records"], 40);
    let java = &summary["partitioners"]["murmur2_random"];
    assert_eq!(
        java["records_by_partition"],
        serde_json::json!([0, 0, 30, 0, 0, 10])
    );
    assert_eq!(java["max_over_mean"], 4.5);
    let output = piped(b"a,b,5\n", &["--separator", ",", "--format", "csv"]);
    assert!(stdout(&output).contains("\"a,b\",5,random,"), "{output:?}");
    let output = piped(b"a\tb\n", &["--separator", "none", "--format", "json"]);
    assert_eq!(json(&output)["keys"][0]["key"], "a\tb");
    let output = piped(b"ok\t1\na\tb\n", &[]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("input:2: \"b\" is not a count"),
        "{output:?}"
    );
}

#[test]
fn what_is_drawn_is_said_to_be_random() {
    let output = piped(
        b"user-1\n\nnone\n",
        &["--null-marker", "none", "-p", "12", "--format", "csv"],
    );
    let text = stdout(&output);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(
        rows,
        [
            "key,count,random,consistent,consistent_random,murmur2,murmur2_random,fnv1a,fnv1a_random",
            "user-1,1,random,8,8,8,8,0,0",
            ",1,random,0,random,9,9,3,3",
            "none,1,random,0,random,9,random,3,random",
        ]
    );
    let output = piped(b"user-1\n\nnone\n", &["--null-marker", "none", "-p", "12"]);
    insta::assert_snapshot!("null_and_empty", stdout(&output));
    let output = piped(b"none\n", &["--null-marker", "none", "--format", "json"]);
    let value = json(&output);
    assert_eq!(value["keys"][0]["key"], Value::Null);
    assert_eq!(
        value["keys"][0]["partitions"]["murmur2_random"],
        Value::Null
    );
    assert_eq!(value["keys"][0]["partitions"]["murmur2"], 3);
}

#[test]
fn rows_by_partition_take_the_place_of_keys_that_are_not_listed() {
    let output = keys(&[&USERS[..], &["-p", "3", "--list", "0", "--format", "csv"]].concat());
    let text = stdout(&output);
    assert!(text.starts_with("partition,random,consistent,"), "{text}");
    assert_eq!(text.lines().count(), 5, "{text}");
    let output = keys(&[&USERS[..], &["--list", "2", "--format", "json"]].concat());
    assert_eq!(json(&output)["keys"].as_array().unwrap().len(), 2);
    assert_eq!(json(&output)["summary"]["keys"], 6);
}

#[test]
fn text_fits_into_80_columns_whatever_the_keys() {
    let long = "tenant/".repeat(50);
    let lines = format!("{long}\t123456789\n漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字\n\nnone\t7\n");
    for partitions in ["1", "6", "32", "1000"] {
        let arguments = ["--null-marker", "none", "-p", partitions, "-g", "100000"];
        let text = stdout(&piped(lines.as_bytes(), &arguments));
        let width = |line: &str| unicode_width::UnicodeWidthStr::width(line);
        let wide: Vec<&str> = text.lines().filter(|line| width(line) > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}\n{text}");
    }
}

#[test]
fn no_format_sends_control_characters() {
    for format in ["text", "csv", "json"] {
        let output = piped(b"a\x1b[2J\x7f\xc2\x9bz\n", &["--format", format]);
        let is_control = |byte: &u8| (*byte < 0x20 && *byte != b'\n') || *byte == 0x7f;
        assert!(!output.stdout.iter().any(is_control), "{output:?}");
        assert!(!stdout(&output).contains('\u{9b}'), "{output:?}");
    }
    let output = piped(b"a\x1b\xc2\x9bz\n", &["--format", "json"]);
    assert_eq!(json(&output)["keys"][0]["key"], "a\u{1b}\u{9b}z");
}

#[test]
fn wrong_usage_is_2_and_names_what_is_wrong() {
    for arguments in [
        &["--partitions", "0", "a"][..],
        &["--partitions", "6", "--grow", "6", "a"],
        &["--file", "missing.txt"],
        &["--file", "."],
        &["--file", "keys.txt", "a"],
        &["--serializer", "avro", "a"],
    ] {
        let output = keys(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).starts_with("error: "), "{output:?}");
    }
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("keys.csv");
    let target_text = target.to_str().unwrap();
    fs::write(&target, "old").unwrap();
    let arguments = ["--format", "csv", "-s", "int32", "-o", target_text];
    let output = piped(b"1\nx\n", &arguments);
    assert_eq!(code(&output), 2);
    assert_eq!(fs::read_to_string(&target).unwrap(), "old");
    assert_eq!(code(&piped(b"1\n2\n", &arguments)), 0);
    assert_eq!(fs::read_to_string(&target).unwrap().lines().count(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let output = keys(&["a", "-o", "/dev/full"]);
    assert_eq!(code(&output), 4);
    assert!(
        stderr(&output).starts_with("error: could not write /dev/full"),
        "{output:?}"
    );
}

#[test]
fn a_reader_that_goes_away_is_quiet_success() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys.txt");
    fs::write(&path, "user-1\n".repeat(200_000)).unwrap();
    let arguments = ["--format", "csv", "--file", path.to_str().unwrap()];
    let mut child = kdrill(&arguments).spawn().unwrap();
    let mut first = [0; 3];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    assert_eq!(&first, b"key");
}
