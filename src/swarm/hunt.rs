//! `kdrill swarm`: many runs, one after the other on every core, and what they found.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::progress::Progress;
use super::{Broken, Invariant, Plan, Shrunk, Verdict, draw, judge, judge_scenario, shrink};
use crate::command::text::escaped;
use crate::headless::{Exit, catalog, complain, paint_for, select};
use crate::report::output::Destination;
use crate::scenario::{Overrides, load};

/// Failures that are made smaller at most; of more, only the first line is said.
const SHRUNK_MAX: usize = 10;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Scenarios to check instead of drawn ones: files, folders, names of the library.
    pub scenarios: Vec<PathBuf>,
    /// How many runs are drawn.
    pub runs: u64,
    /// The seed of the first; the others follow it.
    pub seed: u64,
    /// Runs at one time.
    pub jobs: usize,
    /// Where the files of failures go; by default they are printed.
    pub output: Option<PathBuf>,
}

/// Runs what is asked for and says what it found.
pub fn run(request: &Request) -> Exit {
    let interrupted = Arc::new(AtomicBool::new(false));
    // Without a handler Ctrl+C still ends the process, only less gracefully.
    let _registered =
        signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&interrupted));
    if request.scenarios.is_empty() {
        hunt(request, &interrupted)
    } else {
        check_files(request, &interrupted)
    }
}

/// The runs that were drawn so far, added up.
#[derive(Debug, Default)]
struct Found {
    runs: u64,
    records: u64,
    fates: Vec<(&'static str, u64)>,
    /// Seeds with what their runs break.
    failures: Vec<(u64, Vec<Broken>)>,
}

impl Found {
    fn add(&mut self, seed: u64, verdict: Verdict) {
        self.runs += 1;
        self.records += verdict.records;
        for (what, count) in verdict.fates {
            match self.fates.iter_mut().find(|(known, _)| *known == what) {
                Some((_, sum)) => *sum += count,
                None => self.fates.push((what, count)),
            }
        }
        if !verdict.broken.is_empty() {
            self.failures.push((seed, verdict.broken));
        }
    }
}

fn hunt(request: &Request, interrupted: &Arc<AtomicBool>) -> Exit {
    let found = run_all(request, interrupted);
    let mut text = summary(request, &found);
    let mut exit = Exit::Held;
    for (place, (seed, broken)) in found.failures.iter().enumerate() {
        exit = exit.merge(Exit::Failed);
        let Some(first) = broken.first() else {
            continue;
        };
        if place >= SHRUNK_MAX || interrupted.load(Ordering::Relaxed) {
            let _written = writeln!(text, "\nseed {seed}: {first}");
            continue;
        }
        exit = exit.merge(tell(request, &mut text, (*seed, broken.as_slice(), first)));
    }
    if interrupted.load(Ordering::Relaxed) {
        exit = exit.merge(Exit::Interrupted);
    }
    exit.merge(catalog::print(&text))
}

/// Draws and runs on every core, each core the next seed that nobody has.
fn run_all(request: &Request, interrupted: &Arc<AtomicBool>) -> Found {
    let mut found = Found::default();
    let mut progress = Progress::new(request.runs);
    let next = Arc::new(AtomicU64::new(0));
    let (said, heard) = mpsc::channel();
    let workers: Vec<_> = (0..request.jobs.max(1))
        .map(|_| {
            let (next, interrupted, said) =
                (Arc::clone(&next), Arc::clone(interrupted), said.clone());
            let (runs, first) = (request.runs, request.seed);
            thread::spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= runs || interrupted.load(Ordering::Relaxed) {
                        return;
                    }
                    let seed = first.wrapping_add(place);
                    if said.send((seed, judge(seed))).is_err() {
                        return;
                    }
                }
            })
        })
        .collect();
    drop(said);
    for (seed, verdict) in heard {
        if let Some(first) = verdict.broken.first() {
            progress.say(&format!("seed {seed}: {}", one_line(first)));
        }
        found.add(seed, verdict);
        progress.show(found.runs, found.failures.len());
    }
    for worker in workers {
        // A worker that panicked lost one run, which the count of runs shows.
        let _ended = worker.join();
    }
    found.failures.sort_by_key(|(seed, _)| *seed);
    found
}

fn one_line(broken: &Broken) -> String {
    let text = broken.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn summary(request: &Request, found: &Found) -> String {
    let last = request.seed.wrapping_add(found.runs.saturating_sub(1));
    let mut text = format!(
        "{} runs, seeds {} to {last}: {} records, {} failures\n",
        found.runs,
        request.seed,
        found.records,
        found.failures.len(),
    );
    for (what, count) in &found.fates {
        let _written = writeln!(text, "  {what:<24} {count:>12}");
    }
    text
}

/// A failure: what is broken, how to see it again, and the file with the faults that matter.
fn tell(request: &Request, text: &mut String, failure: (u64, &[Broken], &Broken)) -> Exit {
    let (seed, all, first) = failure;
    let _written = writeln!(text, "\nseed {seed}");
    for broken in all {
        let _written = writeln!(text, "  {broken}");
    }
    let _written = writeln!(text, "  replay: kdrill swarm --runs 1 --seed {seed}");
    let plan = draw(seed);
    let shrunk = shrink(&plan, first);
    let _written = writeln!(
        text,
        "  {} of {} faults matter (found in {} runs)",
        shrunk.plan.episodes.len(),
        plan.episodes.len(),
        shrunk.runs,
    );
    let file = file_of(&shrunk);
    let Some(folder) = &request.output else {
        let _written = writeln!(text, "\n{file}");
        return Exit::Held;
    };
    write_file(&folder.join(format!("swarm-{seed}.toml")), &file, text)
}

fn write_file(path: &Path, file: &str, text: &mut String) -> Exit {
    // A folder that cannot be made is what writing into it says.
    let _made = path.parent().map(std::fs::create_dir_all);
    let written = Destination::file(path).and_then(|destination| destination.write(file));
    match written {
        Ok(()) => {
            let path = escaped(&path.display().to_string());
            let _written = writeln!(text, "  written to {path}: kdrill swarm {path}");
            Exit::Held
        }
        Err(error) => {
            complain(&format!("error: {error}"));
            Exit::Unwritten
        }
    }
}

/// A scenario that shows the failure to a person.
fn file_of(shrunk: &Shrunk) -> String {
    let Shrunk { plan, broken, .. } = shrunk;
    let mut question = format!(
        "Why does run {} of the swarm break {}?\n#\n# {}\n#\n# Check it: kdrill swarm FILE",
        plan.seed,
        broken.invariant.name(),
        one_line(broken),
    );
    if plan.is_beyond_toml() {
        question.push_str("\n#\n# Its seed is larger than the format's largest number.");
    }
    plan.toml(&question, expectation(broken.invariant))
}

/// What a scenario can say about an invariant.
const fn expectation(invariant: Invariant) -> &'static str {
    match invariant {
        Invariant::AcknowledgedStays => "[[expect]]\nno = [\"acknowledged-loss\"]\n",
        Invariant::AtMostOnce | Invariant::TwiceOnlyIfRetried => {
            "[[expect]]\nno = [\"duplicate\"]\n"
        }
        Invariant::OrderKept => "[[expect]]\nno = [\"reorder\"]\n",
        Invariant::Drained => {
            "[[expect]]\nname = \"everything is decided\"\n\
             metric = \"ledger.records-under-way\"\nequals = 0\n"
        }
        _ => "",
    }
}

/// Checks scenarios that somebody wrote, or that an earlier hunt left.
fn check_files(request: &Request, interrupted: &AtomicBool) -> Exit {
    let mut exit = Exit::Held;
    let mut text = String::new();
    for wanted in select::select(&request.scenarios) {
        if interrupted.load(Ordering::Relaxed) {
            return Exit::Interrupted;
        }
        let source = match wanted {
            Ok(source) => source,
            Err(problem) => {
                complain(&problem.to_string());
                exit = exit.merge(Exit::Usage);
                continue;
            }
        };
        let name = select::shown(&source);
        match load(source, &Overrides::default()) {
            Ok(scenario) => {
                let broken = judge_scenario(&scenario).broken;
                let verdict = if broken.is_empty() { "holds" } else { "BROKEN" };
                let _written = writeln!(text, "{name}: {verdict}");
                for broken in &broken {
                    exit = exit.merge(Exit::Failed);
                    let _written = writeln!(text, "  {broken}");
                }
            }
            Err(problems) => {
                complain(&problems.render(paint_for(&std::io::stderr())));
                exit = exit.merge(Exit::Usage);
            }
        }
    }
    exit.merge(catalog::print(&text))
}

impl Plan {
    /// Whether the seed of the plan cannot be written in its file.
    const fn is_beyond_toml(&self) -> bool {
        self.seed > i64::MAX as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Source;

    #[test]
    fn the_file_of_a_failure_is_a_scenario_with_its_question() {
        let broken = Broken {
            invariant: Invariant::Drained,
            text: "one thing\nand more".to_owned(),
        };
        let plan = draw(3);
        let (plan, runs) = (plan, 1);
        let text = file_of(&Shrunk { plan, broken, runs });
        assert!(text.starts_with("# Why does run 3 of the swarm break drained?\n"));
        let name = "swarm-3".to_owned();
        let scenario = load(Source::Text { name, text }, &Overrides::default());
        assert_eq!(
            scenario.map(|scenario| scenario.expectations.len()).ok(),
            Some(1)
        );
    }
}
