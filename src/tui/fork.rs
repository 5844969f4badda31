//! Two branches of one run, side by side in time.
//!
//! The session of a run is the branch in focus: keys and commands go there, and everything else
//! that looks at a run looks at it. The other branch is kept beside it and brought to the same
//! moment after every move; what was the same run up to the fork shares its past.

use std::mem;

use crate::command::screen::Branch;
use crate::session::Session;
use crate::sim::time::SimTime;
use crate::tui::msg::{Branched, Life, Msg, Trouble};
use crate::tui::run::Run;
use crate::tui::scene::ask_for_series;

/// Splits the run here: A goes on as it is, B is for trying something else.
pub fn split(run: &mut Run) -> Msg {
    if run.other.is_some() {
        return refused(
            "there are two branches already",
            "drop one: `drop a` or `drop b`",
        );
    }
    if run.session.scenario().plan.is_some() {
        return refused(
            "a rehearsal is not split: pages and score are of one run",
            "`s` saves it as a scenario",
        );
    }
    run.other = Some(run.session.clone());
    let now = run.session.now();
    branched(
        run,
        Some(Branch::B),
        format!("two branches from {now} on; commands go to B"),
    )
}

/// Puts the other branch into focus.
pub fn flip(run: &mut Run) -> Msg {
    let (Some(other), Some(focus)) = (&mut run.other, run.model.fork) else {
        return refused("there is one branch only", "`F` splits the run here");
    };
    mem::swap(&mut run.session, other);
    let focus = focus.other();
    branched(run, Some(focus), format!("commands go to {}", focus.name()))
}

/// Gives one branch up; the other one is the run from now on.
pub fn drop_branch(run: &mut Run, branch: Branch) -> Msg {
    let (Some(other), Some(focus)) = (run.other.take(), run.model.fork) else {
        return refused("there is one branch only", "`F` splits the run here");
    };
    if focus == branch {
        run.session = other;
    }
    let words = format!("{} goes on alone", branch.other().name());
    branched(run, None, words)
}

/// Brings the other branch to where the one in focus is.
pub fn follow(run: &mut Run) {
    let at = run.session.now();
    let Some(other) = &mut run.other else {
        return;
    };
    let partitions = other.simulation().partition_count();
    other.approach(at);
    let _reached = other.advance_to(at, u64::MAX);
    if other.simulation().partition_count() != partitions {
        ask_for_series(other);
    }
}

/// The next moment at which anything happens in either branch.
pub fn next_at(run: &Run) -> SimTime {
    let next = run.session.next_at();
    let others = run.other.as_ref().map(Session::next_at);
    // A branch that is over waits for the other one.
    let others = others.filter(|other| run.session.now() < *other);
    others.map_or(next, |other| other.min(next))
}

fn branched(run: &Run, focus: Option<Branch>, words: String) -> Msg {
    let session = &run.session;
    Msg::Branched(Branched {
        focus,
        life: if session.is_over() {
            Life::Over
        } else {
            Life::Going
        },
        length: session.end().since(SimTime::ZERO),
        producers: session.scenario().config.producers.len(),
        words,
    })
}

fn refused(text: &str, hint: &str) -> Msg {
    Msg::Answered(Err(Trouble {
        text: text.to_owned(),
        hint: Some(hint.to_owned()),
    }))
}

/// What makes a branch another one: its scenario's name, or the last command of its own.
pub fn caption(session: &Session, other: &Session) -> String {
    let (name, beside) = (&session.scenario().name, &other.scenario().name);
    let mut typed = session.journal().iter();
    let own = typed.rfind(|entry| !other.journal().contains(entry));
    match own {
        Some(entry) => format!("{} {}", entry.at, entry.line),
        None if name != beside => name.clone(),
        None => "nothing of its own was typed".to_owned(),
    }
}
