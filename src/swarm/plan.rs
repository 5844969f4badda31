//! One drawn run as a scenario file that a person can read, change and run.
//!
//! A plan is a list of parts, each a piece of TOML, and of episodes: a fault and its cure. Both
//! can be taken out one by one, which is how a failure is made small.

use std::fmt::Write as _;

/// When the last fault is cured at the latest, in ms of simulated time.
pub const HEALED_MS: u64 = 15_000;

/// One drawn run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed that it was drawn from; that of the run, too.
    pub seed: u64,
    /// How long the run takes, in seconds of simulated time.
    pub seconds: u64,
    /// The `[cluster]` table.
    pub cluster: String,
    /// `[[topic]]` tables.
    pub topics: Vec<Part>,
    /// `[[producer]]` tables with their loads.
    pub producers: Vec<Part>,
    /// `[[consumer]]` tables.
    pub groups: Vec<Part>,
    /// What goes wrong, in order of beginning.
    pub episodes: Vec<Episode>,
}

/// One table with all below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What others call it.
    pub name: String,
    /// As it stands in the file.
    pub toml: String,
}

/// A fault and its cure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// Names of parts without which it means nothing.
    pub about: Vec<String>,
    /// Its commands, in order of time.
    pub steps: Vec<Step>,
}

/// One command at its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// When, in ms of simulated time.
    pub at_ms: u64,
    /// The command, as typed at `:`.
    pub line: String,
}

impl Plan {
    /// The scenario file: `question` opens it, `expectations` close it.
    pub fn toml(&self, question: &str, expectations: &str) -> String {
        let mut text = format!("# {question}\n\n[scenario]\nformat = 1\n");
        let _written = writeln!(text, "title = \"Swarm run {}\"", self.seed);
        let _written = writeln!(text, "duration = \"{}s\"", self.seconds);
        // TOML has no integers beyond 63 bits.
        let seed = self.seed & i64::MAX as u64;
        let _written = writeln!(text, "seed = {seed}\n\n[cluster]\n{}", self.cluster);
        for part in self
            .topics
            .iter()
            .chain(&self.producers)
            .chain(&self.groups)
        {
            let _written = writeln!(text, "\n{}", part.toml.trim_end());
        }
        for step in self.steps() {
            let at = show_ms(step.at_ms);
            let _written = writeln!(
                text,
                "\n[[timeline]]\nat = \"{at}\"\ndo = \"{}\"",
                step.line
            );
        }
        if !expectations.is_empty() {
            let _written = writeln!(text, "\n{}", expectations.trim_end());
        }
        text
    }

    /// All commands in order of time; those of one moment in the order of their episodes.
    pub fn steps(&self) -> Vec<&Step> {
        let all = self.episodes.iter().flat_map(|episode| &episode.steps);
        let mut steps: Vec<&Step> = all.collect();
        steps.sort_by_key(|step| step.at_ms);
        steps
    }

    /// The plan without the parts and episodes that `keep` does not want, and without episodes
    /// that are about parts that are gone.
    #[must_use]
    pub fn only(&self, keep: impl Fn(Piece) -> bool) -> Self {
        let mut plan = self.clone();
        let parts = |parts: &[Part], piece: fn(usize) -> Piece| {
            let kept = parts.iter().enumerate();
            let kept = kept.filter(|(place, _)| keep(piece(*place)));
            kept.map(|(_, part)| part.clone()).collect::<Vec<_>>()
        };
        plan.producers = parts(&self.producers, Piece::Producer);
        plan.groups = parts(&self.groups, Piece::Group);
        let named = |name: &String| {
            let all = plan.topics.iter().chain(&plan.producers);
            all.chain(&plan.groups).any(|part| part.name == *name)
        };
        let episodes = self.episodes.iter().enumerate();
        plan.episodes = episodes
            .filter(|(place, episode)| {
                keep(Piece::Episode(*place)) && episode.about.iter().all(named)
            })
            .map(|(_, episode)| episode.clone())
            .collect();
        plan
    }
}

/// Something that can be taken out of a plan, by its place in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A fault and its cure.
    Episode(usize),
    /// A producer with its loads.
    Producer(usize),
    /// A consumer group.
    Group(usize),
}

/// `1.25s` or `300ms`.
pub(super) fn show_ms(ms: u64) -> String {
    match (ms / 1_000, ms % 1_000) {
        (0, ms) => format!("{ms}ms"),
        (seconds, 0) => format!("{seconds}s"),
        (seconds, ms) => {
            let fraction = format!("{ms:03}");
            format!("{seconds}.{}s", fraction.trim_end_matches('0'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(about: &[&str], at_ms: u64, line: &str) -> Episode {
        let line = line.to_owned();
        Episode {
            about: about.iter().map(ToString::to_string).collect(),
            steps: vec![Step { at_ms, line }],
        }
    }

    fn plan() -> Plan {
        let part = |name: &str| Part {
            name: name.to_owned(),
            toml: format!("# {name}"),
        };
        Plan {
            seed: 7,
            seconds: 60,
            cluster: "brokers = 3".to_owned(),
            topics: vec![part("t-1")],
            producers: vec![part("p-1"), part("p-2")],
            groups: Vec::new(),
            episodes: vec![
                episode(&["p-1"], 3_000, "producer crash p-1"),
                episode(&[], 1_500, "broker kill 1"),
            ],
        }
    }

    #[test]
    fn moments_are_written_as_people_write_them() {
        assert_eq!(
            [300, 2_000, 2_050, 14_125].map(show_ms),
            ["300ms", "2s", "2.05s", "14.125s"]
        );
    }

    #[test]
    fn commands_stand_in_order_of_time() {
        let plan = plan();
        let lines: Vec<&str> = plan.steps().iter().map(|step| step.line.as_str()).collect();
        assert_eq!(lines, ["broker kill 1", "producer crash p-1"]);
    }

    #[test]
    fn a_fault_goes_with_the_producer_that_it_befalls() {
        let smaller = plan().only(|piece| piece != Piece::Producer(0));
        assert_eq!(smaller.producers.len(), 1);
        assert_eq!(smaller.episodes, [episode(&[], 1_500, "broker kill 1")]);
    }
}
