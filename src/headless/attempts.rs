//! Earlier rehearsals, in the person's state folder.
//!
//! Invariants: the file appears whole or stays as it was; a file that cannot be read, or holds
//! something else, never stops a rehearsal; at most [`ATTEMPTS_MAX`] are kept.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::command::text::{append, escaped};
use crate::rehearsal::debrief::Debrief;
use crate::report::output::{Destination, WriteError};

/// Rehearsals that are remembered at most; the oldest are forgotten first.
pub const ATTEMPTS_MAX: usize = 500;
/// Bytes of the file that are read at most.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// One rehearsal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The scenario's name.
    pub scenario: String,
    /// Its seed.
    pub seed: u64,
    /// `won` or `lost`.
    pub verdict: String,
    /// Points.
    pub score: u32,
    /// Seconds from the first page to the first look.
    pub detect_after: Option<f64>,
    /// Seconds from the first page to the mitigation.
    pub mitigate_after: Option<f64>,
}

impl Attempt {
    /// What is remembered of a debrief.
    pub fn of(debrief: &Debrief) -> Self {
        let page = debrief.times.page;
        let after = |time: Option<f64>| Some(time? - page?);
        Self {
            scenario: debrief.scenario.clone(),
            seed: debrief.seed,
            verdict: debrief.verdict.to_owned(),
            score: debrief.score,
            detect_after: after(debrief.times.detect),
            mitigate_after: after(debrief.times.mitigate),
        }
    }
}

/// Where rehearsals are remembered: `$XDG_STATE_HOME/kdrill`, by default `~/.local/state/kdrill`.
pub fn file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute()).or_else(|| {
        let home = PathBuf::from(variable("HOME")?);
        Some(home.join(".local").join("state"))
    })?;
    Some(state.join("kdrill").join("rehearsals.json"))
}

/// Earlier rehearsals, oldest first; none where they cannot be read.
pub fn read(file: &Path) -> Vec<Attempt> {
    let is_small = fs::metadata(file).is_ok_and(|data| data.len() <= FILE_BYTES_MAX);
    let text = is_small.then(|| fs::read_to_string(file).ok()).flatten();
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Remembers one more. What cannot be read is not written over.
pub fn remember(file: &Path, attempt: &Attempt) -> Result<(), WriteError> {
    let mut attempts = read(file);
    if attempts.is_empty() && fs::metadata(file).is_ok_and(|data| 2 < data.len()) {
        // Somebody else's, or a later version's.
        return Ok(());
    }
    attempts.push(attempt.clone());
    let surplus = attempts.len().saturating_sub(ATTEMPTS_MAX);
    attempts.drain(..surplus);
    if let Some(folder) = file.parent() {
        // Where it cannot be made, writing says so.
        let _made = fs::create_dir_all(folder);
    }
    let mut text = serde_json::to_string_pretty(&attempts).unwrap_or_default();
    text.push('\n');
    Destination::file(file)?.write(&text)
}

/// This attempt beside the last one at the same incident, in words.
pub fn compared(this: &Attempt, earlier: &[Attempt]) -> String {
    let same = |other: &&Attempt| other.scenario == this.scenario;
    let times = earlier.iter().filter(same).count();
    let Some(last) = earlier.iter().rev().find(same) else {
        let name = escaped(&this.scenario);
        return format!("This was the first rehearsal of `{name}`.");
    };
    let mut text = format!(
        "Last time ({times} before this): {}, {} points; now: {}, {} points.",
        escaped(&last.verdict),
        last.score,
        this.verdict,
        this.score
    );
    let mut times = |what: &str, before: Option<f64>, now: Option<f64>| {
        if let (Some(before), Some(now)) = (before, now) {
            append(
                &mut text,
                format_args!(" Page to {what}: {before:.1} s, now {now:.1} s."),
            );
        }
    };
    times("first look", last.detect_after, this.detect_after);
    times("mitigation", last.mitigate_after, this.mitigate_after);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(score: u32) -> Attempt {
        Attempt {
            scenario: "slow-acks".to_owned(),
            seed: 7,
            verdict: if score == 0 { "lost" } else { "won" }.to_owned(),
            score,
            detect_after: Some(5.0),
            mitigate_after: (score > 0).then_some(20.0),
        }
    }

    #[test]
    fn an_attempt_is_read_back_and_compared_with_the_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kdrill").join("rehearsals.json");
        assert!(read(&file).is_empty());
        remember(&file, &attempt(0)).unwrap();
        remember(&file, &attempt(90)).unwrap();
        let earlier = read(&file);
        assert_eq!(earlier, [attempt(0), attempt(90)]);
        let words = compared(&attempt(95), &earlier);
        assert!(words.starts_with("Last time (2 before this): won, 90 points; now: won, 95"));
        assert!(compared(&attempt(95), &[]).contains("the first rehearsal"));
    }

    #[test]
    fn what_cannot_be_read_stops_nothing_and_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rehearsals.json");
        fs::write(&file, "not a list").unwrap();
        assert!(read(&file).is_empty());
        remember(&file, &attempt(90)).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "not a list");
    }
}
