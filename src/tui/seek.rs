//! Moving through the run: where keys and `:goto` lead, and how the way there is gone.
//!
//! Kept states lead most of the way at once. What is left is gone at full speed: at once where that
//! takes no longer than [`AT_ONCE`], else frame by frame, so that the screen lives and the seek can
//! be stopped.

use std::time::Duration;

use tokio::time::Instant;

use crate::command::screen::Moment;
use crate::insight::kind::{Severity, severity};
use crate::session::Session;
use crate::sim::Progress;
use crate::sim::time::SimTime;
use crate::tui::msg::Trouble;

/// Real time that a seek may take before anything is drawn.
const AT_ONCE: Duration = Duration::from_millis(100);
/// Things that may happen in the engine before the clock is looked at again.
const EVENTS_SLICE: u64 = 2_000;

/// Where to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A moment as people say it.
    Moment(Moment),
    /// The last mark before now.
    MarkBefore,
    /// The first mark after now.
    MarkAfter,
}

/// How long somebody waits for a seek.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As long as nobody notices.
    Short,
    /// Until it is there: nobody waits.
    Long,
}

/// Which faults have a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// All, those to come too.
    All,
    /// Only what was typed: the others are to be found out.
    Typed,
}

/// Moments of faults and other commands, past and to come, in order.
pub fn faults(session: &Session, marks: Marks) -> Vec<SimTime> {
    let planned = session.simulation().config().timeline.iter();
    let planned = planned.map(|(at, _)| *at).filter(|_| marks == Marks::All);
    let typed = session.journal().iter().map(|entry| entry.at);
    let mut faults: Vec<SimTime> = planned.chain(typed).collect();
    faults.sort_unstable();
    faults.dedup();
    faults
}

/// Moments at which somebody lost something, as far as the run has been: refusals, failed batches.
pub fn harms(session: &Session) -> Vec<SimTime> {
    let marks = session.marks().iter();
    marks
        .filter(|mark| severity(&mark.fact) == Severity::Error)
        .map(|mark| mark.at)
        .collect()
}

/// The moment that is meant now.
pub fn moment(session: &Session, target: Target, told: Marks) -> Result<SimTime, Trouble> {
    let now = session.now();
    let marks = || faults(session, told).into_iter().chain(harms(session));
    let none = |side: &str| Trouble {
        text: format!("there is no mark {side} this moment"),
        hint: None,
    };
    match target {
        Target::Moment(moment) => Ok(moment.from(now, session.end())),
        Target::MarkBefore => marks()
            .filter(|mark| *mark < now)
            .max()
            .ok_or_else(|| none("before")),
        Target::MarkAfter => marks()
            .filter(|mark| now < *mark && *mark <= session.end())
            .min()
            .ok_or_else(|| none("after")),
    }
}

/// Goes towards `to`; it may not get there at once.
pub fn go(session: &mut Session, to: SimTime, wait: Wait) -> Result<(), Trouble> {
    if !session.approach(to) {
        return Err(Trouble {
            text: "no earlier state of this run was kept".to_owned(),
            hint: None,
        });
    }
    let began = Instant::now();
    while session.advance_to(to, EVENTS_SLICE).progress == Progress::BudgetSpent {
        if wait == Wait::Short && AT_ONCE <= began.elapsed() {
            break;
        }
    }
    Ok(())
}

/// What is said on arrival.
pub fn words(session: &Session, at: SimTime) -> String {
    let ahead = session.journal().iter().filter(|entry| at < entry.at);
    match ahead.count() {
        0 => format!("at {at}"),
        1 => format!("at {at}; the command after it comes again unless another one is given"),
        count => {
            format!("at {at}; the {count} commands after it come again unless another one is given")
        }
    }
}
