//! The real binary, as a shell sees it: exit codes, streams, files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A run of a few seconds in which nothing goes wrong.
const QUIET: &str = r#"
[scenario]
format = 1
title = "Nothing to see"
duration = "5s"

[cluster]
brokers = 1

[[topic]]
name = "events"
partitions = 2
replication-factor = 1

[[producer]]
name = "trips"

[[producer.load]]
topic = "events"
rate = 100
key = { uniform = 50, format = "rider-{n}" }
value = { bytes = 100 }

[[expect]]
name = "the buffer stays empty"
metric = "producer.trips.buffer-available-bytes"
at = "4s"
above = 33000000
"#;

const FAILING: &str = r#"
[[expect]]
name = "the buffer is full"
metric = "producer.trips.buffer-available-bytes"
at = "4s"
below = 1
"#;

/// A folder with scenario files.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `kdrill` here.
    fn kdrill(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kdrill"));
        command
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    fn names(&self) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        names
    }
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

fn failing() -> String {
    format!("{QUIET}{FAILING}")
}

#[test]
fn what_holds_is_0_what_fails_is_1_what_stays_open_is_3() {
    let folder = Folder::new(&[("quiet.toml", QUIET), ("failing.toml", &failing())]);
    assert_eq!(code(&folder.kdrill(&["quiet.toml"])), 0);
    assert_eq!(code(&folder.kdrill(&["failing.toml"])), 1);
    assert_eq!(code(&folder.kdrill(&["quiet.toml", "--until", "2s"])), 3);
}

#[test]
fn of_several_scenarios_the_worst_code_wins() {
    let folder = Folder::new(&[("quiet.toml", QUIET), ("failing.toml", &failing())]);
    assert_eq!(code(&folder.kdrill(&["quiet.toml", "failing.toml"])), 1);
    assert_eq!(code(&folder.kdrill(&["failing.toml", "missing.toml"])), 2);
    let report = folder.kdrill(&[".", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(value["runs"][0]["scenario"], "failing");
    assert_eq!(value["runs"][1]["scenario"], "quiet");
}

#[test]
fn wrong_usage_is_2_and_says_what_to_do() {
    let folder = Folder::new(&[]);
    for arguments in [
        &["no-such-scenario"][..],
        &["missing.toml"],
        &["--seed", "many", "full-buffer"],
        &["full-buffer", "--until", "soon"],
        &["."],
        &[],
        &["show", "full-bufer"],
        &["check", "missing.toml"],
    ] {
        let output = folder.kdrill(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.trim().is_empty(), "{arguments:?} says nothing");
    }
    insta::assert_snapshot!(
        "a_name_nearly_right",
        stderr(&folder.kdrill(&["full-bufer"]))
    );
    insta::assert_snapshot!("a_missing_file", stderr(&folder.kdrill(&["my/full.toml"])));
    insta::assert_snapshot!("an_empty_folder", stderr(&folder.kdrill(&["."])));
}

#[test]
fn a_bad_file_gets_carets_and_runs_nothing() {
    let bad = QUIET
        .replace("partitions = 2", "partitons = 2")
        .replace("5s", "5 parsecs");
    let folder = Folder::new(&[("bad.toml", &bad)]);
    let output = folder.kdrill(&["bad.toml"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    insta::assert_snapshot!("a_bad_file", stderr(&output));
}

#[test]
fn rubbish_is_a_problem_and_never_a_panic() {
    let folder = Folder::new(&[("empty.toml", "")]);
    fs::write(folder.path().join("latin.toml"), b"title = \"caf\xe9\"").unwrap();
    fs::write(folder.path().join("zeros.toml"), vec![0_u8; 1_000_000]).unwrap();
    fs::write(folder.path().join("long.toml"), "[".repeat(100_000)).unwrap();
    for name in ["empty.toml", "latin.toml", "zeros.toml", "long.toml"] {
        for arguments in [&[name][..], &["check", name]] {
            let output = folder.kdrill(arguments);
            assert_eq!(code(&output), 2, "{arguments:?}");
            assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        }
    }
}

#[test]
fn two_equal_runs_give_equal_bytes_in_every_format() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    for format in ["text", "json", "junit", "csv"] {
        let arguments = ["quiet.toml", "--format", format, "--seed", "5"];
        let (one, two) = (folder.kdrill(&arguments), folder.kdrill(&arguments));
        assert!(!one.stdout.is_empty());
        assert_eq!(stdout(&one), stdout(&two), "{format}");
    }
}

#[test]
fn a_report_is_readable_at_80_columns() {
    let folder = Folder::new(&[("failing.toml", &failing())]);
    let text = stdout(&folder.kdrill(&["failing.toml"]));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("FAILED        the buffer is full"), "{text}");
}

#[test]
fn json_has_the_documented_fields() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    let output = folder.kdrill(&["quiet.toml", "--format", "json", "--seed", "9"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["format"], 1);
    assert_eq!(report["scenario"], "quiet");
    assert_eq!(report["seed"], 9);
    assert_eq!(report["ended"], true);
    assert_eq!(report["simulated_seconds"], 5.0);
    let metric = &report["producers"]["trips"]["metrics"]["buffer-total-bytes"];
    for figure in ["last", "min", "mean", "max"] {
        assert_eq!(metric[figure], 33_554_432.0, "{figure}");
    }
    let has = |object: &serde_json::Value, fields: &str| {
        let object = object.as_object().unwrap();
        fields
            .split(' ')
            .for_each(|field| assert!(object.contains_key(field), "{field}"));
    };
    has(
        &report["partitions"]["events-1"],
        "leader isr log_start_offset log_end_offset high_watermark last_stable_offset \
         records_in bytes_in",
    );
    has(
        &report["totals"],
        "records_sent records_acked records_failed records_refused records_lost_acknowledged \
         records_duplicated records_reordered",
    );
    assert_eq!(report["expectations"][0]["held"], true);
    assert_eq!(report["warnings"], serde_json::json!([]));
}

#[test]
fn junit_has_a_case_for_every_expectation() {
    let folder = Folder::new(&[("failing.toml", &failing())]);
    let text = stdout(&folder.kdrill(&["failing.toml", "--format", "junit"]));
    assert!(text.starts_with("<?xml"), "{text}");
    assert!(
        text.contains(r#"tests="2" skipped="0" failures="1" errors="0""#),
        "{text}"
    );
    assert!(!text.contains("timestamp="), "{text}");
}

#[test]
fn a_file_appears_whole_and_nothing_else_beside_it() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    let output = folder.kdrill(&["quiet.toml", "--format", "json", "-o", "report.json"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""));
    let text = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let _report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = ["quiet.toml", "report.json"].map(|name| folder.path().join(name));
    assert_eq!(folder.names(), expected);
}

#[test]
fn a_report_that_cannot_be_written_is_4_and_leaves_nothing() {
    let folder = Folder::new(&[("quiet.toml", QUIET), ("failing.toml", &failing())]);
    let before = folder.names();
    for target in [
        "no/such/folder/report.json",
        "/proc/report.json",
        ".",
        "/dev/full",
    ] {
        let output = folder.kdrill(&["failing.toml", "-o", target]);
        assert_eq!(code(&output), 4, "{target}: {}", stderr(&output));
        assert!(
            stderr(&output).starts_with("error: could not write"),
            "{}",
            stderr(&output)
        );
    }
    assert_eq!(folder.names(), before);
}

#[cfg(unix)]
#[test]
fn a_full_standard_output_is_4() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = folder
        .command(&["quiet.toml"])
        .stdout(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(4));
}

#[test]
fn a_reader_that_goes_away_is_quiet_success() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    for arguments in [
        &["quiet.toml", "--format", "csv"][..],
        &["schema"],
        &["list"],
    ] {
        let mut child = folder
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut complaints = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut complaints)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
        assert_eq!(complaints, "", "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run_with_130_and_no_report() {
    let long = QUIET
        .replace("\"5s\"", "\"30d\"")
        .replace("rate = 100", "rate = 10000");
    let folder = Folder::new(&[("long.toml", &long)]);
    let mut child = folder
        .command(&["long.toml", "-o", "report.txt"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The report's place is taken once the run begins, so its appearance is the signal.
    while folder.names().len() < 2 {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.names(), [folder.path().join("long.toml")]);
}

#[test]
fn the_library_can_be_listed_shown_and_checked() {
    let folder = Folder::new(&[]);
    let list = folder.kdrill(&["list"]);
    assert_eq!(code(&list), 0);
    let question = "Why does one dead broker stop partitions that are not its own?";
    assert!(stdout(&list).contains(question), "{}", stdout(&list));
    let shown = folder.kdrill(&["show", "full-buffer"]);
    fs::write(folder.path().join("mine.toml"), &shown.stdout).unwrap();
    assert_eq!(code(&folder.kdrill(&["check", "mine.toml"])), 0);
}

#[test]
fn help_tells_everything_at_80_columns() {
    let folder = Folder::new(&[]);
    insta::assert_snapshot!("help", stdout(&folder.kdrill(&["--help"])));
}

#[test]
fn a_swarm_says_what_it_ran_and_finds_nothing_wrong() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    let drawn = folder.kdrill(&["swarm", "--runs", "3", "--seed", "1"]);
    assert_eq!(code(&drawn), 0);
    let text = stdout(&drawn);
    assert!(text.starts_with("3 runs, seeds 1 to 3: "), "{text}");
    let checked = folder.kdrill(&["swarm", "quiet.toml"]);
    let text = stdout(&checked);
    assert_eq!((code(&checked), text.as_str()), (0, "quiet.toml: holds\n"));
}

#[test]
fn a_still_is_written_as_its_file_is_called_and_the_same_each_time() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    let shoot = |file: &str| {
        let shot = folder.kdrill(&["shot", "quiet.toml", "--at", "3s", "-o", file]);
        assert_eq!(code(&shot), 0, "{}", stderr(&shot));
        fs::read_to_string(folder.path().join(file)).unwrap()
    };
    let picture = shoot("still.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("<title>kdrill: quiet at 3.000s"));
    assert_eq!(picture, shoot("again.svg"));
    assert!(shoot("still.txt").contains("Accumulator fill"));
    assert!(shoot("still.ansi").contains("\x1b[0m"));
}

#[test]
fn a_still_of_one_pane_fills_the_screen() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    let shot = folder.kdrill(&[
        "shot",
        "quiet.toml",
        "--pane",
        "load",
        "--size",
        "80x24",
        "--ascii",
    ]);
    let text = stdout(&shot);
    assert_eq!(text.lines().count(), 24);
    assert!(text.contains("Per-partition load") && !text.contains("Accumulator fill"));
    assert!(text.is_ascii());
}

#[test]
fn a_recording_lasts_as_long_as_its_speed_says() {
    let folder = Folder::new(&[("quiet.toml", QUIET)]);
    fs::write(folder.path().join("demo.keys"), "at 2s press Tab\n").unwrap();
    let arguments = "record quiet.toml --speed 2 --keys demo.keys -o demo.cast";
    let recorded = folder.kdrill(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(code(&recorded), 0, "{}", stderr(&recorded));
    let cast = fs::read_to_string(folder.path().join("demo.cast")).unwrap();
    let lines: Vec<serde_json::Value> = cast
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&lines[0]["version"], &lines[0]["width"]),
        (&2.into(), &120.into())
    );
    let last = lines.last().unwrap()[0].as_f64().unwrap();
    // Five simulated seconds at twice real time, and two in which the last frame stands.
    assert!((4.4..4.8).contains(&last), "{last}");
}

#[test]
fn a_wrong_line_of_a_key_script_is_named() {
    let folder = Folder::new(&[("quiet.toml", QUIET), ("demo.keys", "press space\njump\n")]);
    let recorded = folder.kdrill(&["record", "quiet.toml", "--keys", "demo.keys"]);
    assert_eq!(code(&recorded), 2);
    assert!(stderr(&recorded).starts_with("error: demo.keys, line 2: expected `at TIME"));
}

#[test]
fn shells_and_manuals_know_every_subcommand() {
    let folder = Folder::new(&[]);
    let bash = stdout(&folder.kdrill(&["completions", "bash"]));
    assert!(
        ["record", "shot", "keys", "check"]
            .iter()
            .all(|word| bash.contains(word))
    );
    assert_eq!(code(&folder.kdrill(&["man", "pages"])), 0);
    for page in [
        "kdrill.1",
        "kdrill-run.1",
        "kdrill-keys.1",
        "kdrill-record.1",
    ] {
        let text = fs::read_to_string(folder.path().join("pages").join(page)).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn a_rehearsal_answers_with_won_lost_or_wrong_usage() {
    let folder = Folder::new(&[
        ("nothing", ""),
        (
            "act",
            "at page+10s set producer shop enable.idempotence=true\n",
        ),
        ("wrong", "at 1s brokr start 2\n"),
    ]);
    let rehearse = |script: &str| {
        let path = folder.0.path().join(script);
        let debrief = folder.0.path().join(format!("{script}.md"));
        let output = Command::new(env!("CARGO_BIN_EXE_kdrill"))
            .args(["rehearse", "double-orders", "--script"])
            .arg(path)
            .arg("--debrief")
            .arg(&debrief)
            .output()
            .unwrap();
        (output.status.code(), output, debrief)
    };
    let (won, output, debrief) = rehearse("act");
    assert_eq!(won, Some(0));
    assert_eq!(fs::read(&debrief).unwrap(), output.stdout);
    let (lost, output, _) = rehearse("nothing");
    assert_eq!(lost, Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Lost: the time was up"));
    let (wrong, output, debrief) = rehearse("wrong");
    assert_eq!(wrong, Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1: "));
    assert!(!debrief.exists(), "whole or not at all");
}
