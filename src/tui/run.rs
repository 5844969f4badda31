//! A run with its screen's state: everything between input and terminal. The loop and the tests
//! drive exactly this.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use tokio::time::Instant;

use crate::command::screen::{self, Branch, ScreenCommand};
use crate::command::{self, CommandProblem};
use crate::insight::why::why;
use crate::scenario::Scenario;
use crate::session::Session;
use crate::sim::Progress;
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::draw;
use crate::tui::fork;
use crate::tui::keymap::{self, Context};
use crate::tui::model::{Model, Origin, RunFacts};
use crate::tui::msg::{Advanced, Completion, Effect, Life, Msg, Sought, Trouble};
use crate::tui::pace::{Motion, Speed};
use crate::tui::rehearsing;
use crate::tui::scene::{ask_for_series, is_secret};
use crate::tui::seek::{self, Marks, Target, Wait};
use crate::tui::theme::Theme;
use crate::tui::update::update;

/// Things that may happen in the engine before the clock is looked at again.
const EVENTS_SLICE: u64 = 2_000;
/// Simulated time between two looks at what there is to be sampled, where nobody sees it pass.
const UNSEEN_STEP: SimSpan = SimSpan::from_millis(100);
/// Real time that the engine may take of one frame; the rest is for keys and drawing.
const SLICE_TIME: Duration = Duration::from_millis(30);

/// Loads a scenario by its name: the file that was named on the command line again, or one of the
/// library. What is wrong comes back as text, as a terminal would show it.
pub type Load = Box<dyn Fn(&str) -> Result<Scenario, String>>;

/// How much of a frame's simulated time has to pass before it is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// As much as the engine manages while a person waits.
    #[default]
    Frame,
    /// All of it, however long that takes: nobody waits.
    Whole,
}

/// A run with its screen's state.
#[derive(Debug)]
pub struct Run {
    /// The state of the screen.
    pub model: Model,
    /// The run itself; the branch in focus where it was split.
    pub session: Session,
    /// The other branch.
    pub other: Option<Session>,
    /// How much of a frame's simulated time has to pass before it is drawn.
    pub patience: Patience,
}

impl Run {
    /// A session on a screen, as it is at the start.
    pub fn new(mut session: Session, theme: Theme, speed: Speed, origin: Origin) -> Self {
        let facts = RunFacts {
            length: session.end().since(SimTime::ZERO),
            producers: session.scenario().config.producers.len(),
        };
        let mut model = Model::new(theme, facts, origin);
        model.pace.speed = speed;
        ask_for_series(&mut session);
        rehearsing::prepare(&mut model, &session);
        Self {
            model,
            session,
            other: None,
            patience: Patience::default(),
        }
    }

    /// The same before a person, who is briefed first where it is a rehearsal.
    #[must_use]
    pub fn briefed(mut self) -> Self {
        rehearsing::brief(&mut self.model);
        self
    }

    /// Puts another run beside this one, as its branch B.
    pub fn set_beside(&mut self, mut other: Session) {
        ask_for_series(&mut other);
        self.other = Some(other);
        self.model.fork = Some(Branch::A);
    }

    /// Whether simulated time passes by itself.
    pub fn is_moving(&self) -> bool {
        self.model.life == Life::Going && self.model.pace.motion != Motion::Paused
    }

    /// What a key means now.
    pub fn meaning(&self, key: &KeyEvent) -> Option<Msg> {
        keymap::lookup(Context::of(&self.model.layer), Some(&self.model), key)
    }

    /// Takes a message, lets the session do what it asks for, and returns what is left for the
    /// terminal: [`Effect::Quit`], [`Effect::ToPicker`], [`Effect::Suspend`], [`Effect::Clear`].
    pub fn apply(&mut self, msg: Msg, load: &Load) -> Vec<Effect> {
        let mut left = Vec::new();
        rehearsing::notice_looking(&mut self.session, &self.model, &msg);
        for effect in update(&mut self.model, msg) {
            match effect {
                Effect::Quit | Effect::ToPicker | Effect::Suspend | Effect::Clear => {
                    left.push(effect);
                }
                effect => perform(self, load, effect),
            }
        }
        left
    }

    /// Lets simulated time pass as it would before somebody's eyes, without drawing.
    pub fn go_to(&mut self, at: SimTime) {
        while self.session.now() < at.min(self.session.end()) {
            let next = (self.session.now() + UNSEEN_STEP).min(at);
            let arrived = moved(self, |session| {
                let _reached = session.advance_to(next, u64::MAX);
            });
            let _none = update(&mut self.model, Msg::Advanced(arrived));
        }
    }

    /// Finds out how far things can be scrolled on a screen of this size.
    pub fn measure(&mut self, area: Rect) {
        draw::measure(&mut self.model, (&self.session, self.other.as_ref()), area);
    }

    /// Draws a frame; returns where the cursor belongs, if anywhere.
    pub fn draw(&self, buffer: &mut Buffer) -> Option<Position> {
        draw::draw(buffer, &self.model, (&self.session, self.other.as_ref()))
    }
}

/// Hands an effect to the session, and its outcome to the model.
fn perform(run: &mut Run, load: &Load, effect: Effect) {
    let outcome = match effect {
        Effect::Advance(elapsed) => advance(run, elapsed),
        Effect::Step => {
            let next = fork::next_at(run);
            Msg::Advanced(moved(run, |session| {
                let _reached = session.advance_to(next, u64::MAX);
            }))
        }
        Effect::StepBack => Msg::Advanced(moved(run, Session::step_back)),
        Effect::Seek(target) => sought(run, target),
        Effect::Save => save(&run.session, None),
        Effect::Fork => fork::split(run),
        Effect::Flip => fork::flip(run),
        Effect::Command(line) => {
            rehearsing::command(run, &line).unwrap_or_else(|| command(run, &line))
        }
        Effect::Acknowledge => rehearsing::acknowledge(&mut run.session),
        Effect::Hint => rehearsing::hint(&mut run.session),
        Effect::Complete(line) => Msg::Completed(complete(&run.session, &line)),
        Effect::Why(_) if is_secret(&run.model, &run.session) => {
            rehearsing::failed("hidden until the debrief: find out by yourself")
        }
        Effect::Why(question) => {
            let (simulation, insight) = (run.session.simulation(), run.session.insight());
            Msg::Explained(why(question, simulation, insight))
        }
        Effect::Restart => restart(run, load),
        Effect::Quit | Effect::ToPicker | Effect::Suspend | Effect::Clear => return,
    };
    // What comes back asks for nothing more.
    let _none = update(&mut run.model, outcome);
    if let Some(decided) = rehearsing::decided(run) {
        let _none = update(&mut run.model, decided);
    }
}

/// Does what was typed: the screen's own commands here, all others in the session.
fn command(run: &mut Run, line: &str) -> Msg {
    let trouble = |problem: CommandProblem| Trouble {
        text: problem.message,
        hint: problem.hint,
    };
    match screen::parse(line) {
        Some(Ok(ScreenCommand::Goto(moment))) => sought(run, Target::Moment(moment)),
        Some(Ok(ScreenCommand::Save(file))) => save(&run.session, file.as_deref()),
        Some(Ok(ScreenCommand::Fork)) => fork::split(run),
        Some(Ok(ScreenCommand::Drop(branch))) => fork::drop_branch(run, branch),
        Some(Err(problem)) => Msg::Answered(Err(trouble(problem))),
        None => Msg::Answered(run.session.command(line).map_err(|problem| {
            match screen::meant(line, run.session.names()) {
                Some(verb) => Trouble {
                    hint: Some(format!("did you mean `{verb}`?")),
                    ..trouble(problem)
                },
                None => trouble(problem),
            }
        })),
    }
}

/// Writes the run as a scenario.
fn save(session: &Session, file: Option<&Path>) -> Msg {
    let saved = session.save(file);
    let words = |path: PathBuf| format!("saved: `kdrill run {}` is this run", path.display());
    Msg::Answered(saved.map(words).map_err(|error| Trouble {
        text: error.to_string(),
        hint: None,
    }))
}

/// Goes to another moment, or as far as that can be done at once.
fn sought(run: &mut Run, target: Target) -> Msg {
    let told = if is_secret(&run.model, &run.session) {
        Marks::Typed
    } else {
        Marks::All
    };
    let to = match seek::moment(&run.session, target, told) {
        Ok(to) => to,
        Err(trouble) => return Msg::Answered(Err(trouble)),
    };
    let wait = match run.patience {
        Patience::Frame => Wait::Short,
        Patience::Whole => Wait::Long,
    };
    let mut gone = Ok(());
    let way = moved(run, |session| gone = seek::go(session, to, wait));
    match gone {
        Ok(()) => Msg::Sought(Sought {
            way,
            to,
            words: seek::words(&run.session, to),
        }),
        Err(trouble) => Msg::Answered(Err(trouble)),
    }
}

/// Lets the session go where this frame's pace leads, as far as the frame has time.
fn advance(run: &mut Run, elapsed: Duration) -> Msg {
    let target = run.model.pace.target(run.session.now(), elapsed);
    let patience = run.patience;
    let way = moved(run, |session| {
        let began = Instant::now();
        while session.advance_to(target, EVENTS_SLICE).progress == Progress::BudgetSpent {
            if patience == Patience::Frame && began.elapsed() >= SLICE_TIME {
                break;
            }
        }
    });
    Msg::Advanced(Advanced { elapsed, ..way })
}

/// Moves the session and says where from and to.
fn moved(run: &mut Run, movement: impl FnOnce(&mut Session)) -> Advanced {
    let from = run.session.now();
    let partitions = run.session.simulation().partition_count();
    movement(&mut run.session);
    fork::follow(run);
    if run.session.simulation().partition_count() != partitions {
        ask_for_series(&mut run.session);
    }
    let life = if run.session.is_over() {
        Life::Over
    } else {
        Life::Going
    };
    Advanced {
        from,
        to: run.session.now(),
        elapsed: Duration::ZERO,
        life,
    }
}

/// What the word at the end of `line` could become.
fn complete(session: &Session, line: &str) -> Completion {
    if let Some(completion) = rehearsing::complete(session, line) {
        return completion;
    }
    let offers = command::complete(line, line.len(), session.names());
    let (begun, of_screen) = screen::complete(line);
    let start = offers.first().map(|offer| offer.replace.start);
    let words = offers.into_iter().map(|offer| offer.text);
    Completion {
        start: start.unwrap_or(begun),
        words: words.chain(of_screen).collect(),
    }
}

fn restart(run: &mut Run, load: &Load) -> Msg {
    let name = run.session.scenario().name.clone();
    match load(&name) {
        Ok(scenario) => {
            let before = std::mem::replace(&mut run.session, Session::new(Arc::new(scenario)));
            run.other = None;
            ask_for_series(&mut run.session);
            let same = before.scenario().text == run.session.scenario().text;
            run.model.run = run.session.end().since(SimTime::ZERO);
            run.model.producers = run.session.scenario().config.producers.len();
            let what = if same {
                "the same scenario"
            } else {
                "the changed scenario"
            };
            Msg::Restarted(format!("started over with {what}"))
        }
        Err(text) => Msg::NotRestarted(text),
    }
}
