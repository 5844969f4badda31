//! Random clusters, clients, loads and faults: what must hold in all of them.
//!
//! `kdrill swarm --runs N --seed S` runs the same for as long as somebody likes.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use kdrill::swarm::{self, Verdict};

use crate::support::written;

/// Runs in this test, seeds from 1 on.
const RUNS: u64 = 200;
/// Threads that share them.
const JOBS: usize = 4;

fn judged() -> Vec<(u64, Verdict)> {
    let next = AtomicU64::new(1);
    let verdicts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > RUNS {
                        return;
                    }
                    let verdict = swarm::judge(seed);
                    if let Ok(mut verdicts) = verdicts.lock() {
                        verdicts.push((seed, verdict));
                    }
                }
            });
        }
    });
    verdicts.into_inner().unwrap_or_default()
}

/// Shrunk runs that once broke a promise, each for another reason.
#[test]
fn what_the_swarm_found_once_holds_now() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/swarm");
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 5);
    for path in names {
        let text = fs::read_to_string(&path).unwrap();
        let verdict = swarm::judge_scenario(&written(&text));
        assert_eq!(verdict.broken, [], "{}", path.display());
    }
}

#[test]
fn whatever_goes_wrong_the_promises_are_kept() {
    let verdicts = judged();
    assert_eq!(verdicts.len() as u64, RUNS);
    let broken: Vec<String> = verdicts
        .iter()
        .flat_map(|(seed, verdict)| {
            let replay = format!("replay: kdrill swarm --runs 1 --seed {seed}");
            let lines = verdict.broken.iter();
            lines.map(move |broken| format!("seed {seed}: {broken}\n  {replay}"))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // Runs in which nothing happens would keep every promise.
    let sum = |what: &str| {
        let fates = verdicts.iter().flat_map(|(_, verdict)| &verdict.fates);
        let counts = fates.filter(|(known, _)| *known == what);
        counts.map(|(_, count)| count).sum::<u64>()
    };
    for what in [
        "acknowledged",
        "acknowledged and lost",
        "failed",
        "failed but present",
        "copies too many",
        "refused",
    ] {
        assert!(sum(what) > 0, "no record of {RUNS} runs is {what}");
    }
}
