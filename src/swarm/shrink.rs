//! From a plan that breaks an invariant to the few parts of it that matter.
//!
//! Faults are taken out in halves, then quarters, then one by one (delta debugging); then
//! consumer groups and producers; then faults once more. A part stays out if the same invariant
//! is still broken without it.

use super::{Broken, Invariant, Piece, Plan, judge_plan};

/// Runs that one shrinking may take at most.
pub const RUNS_MAX: u32 = 400;

/// What is left of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The smallest plan found.
    pub plan: Plan,
    /// What it breaks.
    pub broken: Broken,
    /// Runs that it took.
    pub runs: u32,
}

/// The smallest plan that still breaks `invariant`, which `plan` does.
pub fn shrink(plan: &Plan, broken: &Broken) -> Shrunk {
    shrink_by(plan, broken, |plan, invariant| {
        let verdict = judge_plan(plan);
        verdict
            .broken
            .into_iter()
            .find(|b| b.invariant == invariant)
    })
}

fn shrink_by(
    plan: &Plan,
    broken: &Broken,
    still: impl Fn(&Plan, Invariant) -> Option<Broken>,
) -> Shrunk {
    let mut shrunk = Shrunk {
        plan: plan.clone(),
        broken: broken.clone(),
        runs: 0,
    };
    loop {
        let before = size(&shrunk.plan);
        shrunk.without(|plan| plan.episodes.len(), Piece::Episode, &still);
        shrunk.without(|plan| plan.groups.len(), Piece::Group, &still);
        shrunk.without(|plan| plan.producers.len(), Piece::Producer, &still);
        if size(&shrunk.plan) == before || shrunk.runs >= RUNS_MAX {
            return shrunk;
        }
    }
}

fn size(plan: &Plan) -> usize {
    plan.episodes.len() + plan.groups.len() + plan.producers.len()
}

impl Shrunk {
    /// Takes out what can go of one list, in ever smaller chunks.
    fn without(
        &mut self,
        length: impl Fn(&Plan) -> usize,
        piece: impl Fn(usize) -> Piece,
        still: &impl Fn(&Plan, Invariant) -> Option<Broken>,
    ) {
        let mut chunk = length(&self.plan);
        while chunk > 0 {
            let mut from = 0;
            while from < length(&self.plan) && self.runs < RUNS_MAX {
                let range = from..from + chunk;
                let gone =
                    |candidate: Piece| range.clone().map(&piece).any(|piece| piece == candidate);
                let smaller = self.plan.only(|candidate| !gone(candidate));
                self.runs += 1;
                match still(&smaller, self.broken.invariant) {
                    Some(broken) => (self.plan, self.broken) = (smaller, broken),
                    None => from += chunk,
                }
            }
            chunk /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::{Episode, Part, Step};

    fn plan(lines: &[&str]) -> Plan {
        let part = |name: &str| Part {
            name: name.to_owned(),
            toml: String::new(),
        };
        let episode = |line: &&str| Episode {
            about: Vec::new(),
            steps: vec![Step {
                at_ms: 1,
                line: (*line).to_owned(),
            }],
        };
        Plan {
            seed: 1,
            seconds: 1,
            cluster: String::new(),
            topics: Vec::new(),
            producers: vec![part("one"), part("two")],
            groups: vec![part("readers")],
            episodes: lines.iter().map(episode).collect(),
        }
    }

    #[test]
    fn what_is_left_are_the_two_faults_and_the_producer_that_matter() {
        let broken = Broken {
            invariant: Invariant::Drained,
            text: String::new(),
        };
        let matters = |plan: &Plan, _| {
            let has = |line: &str| plan.steps().iter().any(|step| step.line == line);
            let two = plan.producers.iter().any(|part| part.name == "two");
            (has("kill") && has("cut") && two).then(|| broken.clone())
        };
        let lines = ["slow", "kill", "pause", "swallow", "cut", "grow", "fence"];
        let shrunk = shrink_by(&plan(&lines), &broken, matters);
        let left: Vec<_> = shrunk.plan.steps().iter().map(|s| s.line.clone()).collect();
        assert_eq!(left, ["kill", "cut"]);
        assert_eq!(shrunk.plan.producers.len(), 1);
        assert!(shrunk.plan.groups.is_empty());
        assert!(shrunk.runs < 60, "{} runs", shrunk.runs);
    }
}
