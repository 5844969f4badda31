//! The loop behind the screen. One line waits; everything after it is synchronous: input becomes a
//! message, the message changes the model, effects go to the session, a frame is drawn.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::command;
use crate::scenario::Scenario;
use crate::session::Session;
use crate::sim::Progress;
use crate::sim::time::SimTime;
use crate::tui::draw;
use crate::tui::input::{FRAME, Input, Inputs};
use crate::tui::keymap::{self, Context};
use crate::tui::model::{Model, Origin, RunFacts};
use crate::tui::msg::{Advanced, Completion, Effect, Life, Msg, Trouble};
use crate::tui::pace::{Motion, Speed};
use crate::tui::picker::{self, Choice, Picker};
use crate::tui::scene::ask_for_series;
use crate::tui::terminal::Screen;
use crate::tui::theme::Theme;
use crate::tui::update::update;

/// Things that may happen in the engine before the clock is looked at again.
const EVENTS_SLICE: u64 = 2_000;
/// Real time that the engine may take of one frame; the rest is for keys and drawing.
const SLICE_TIME: Duration = Duration::from_millis(30);

/// Loads a scenario by its name: the file that was named on the command line again, or one of the
/// library. What is wrong comes back as text, as a terminal would show it.
pub type Load = Box<dyn Fn(&str) -> Result<Scenario, String>>;

/// How the screen looks and runs.
pub struct Options {
    /// Looks.
    pub theme: Theme,
    /// The speed at the start.
    pub speed: Speed,
    /// Where scenarios come from: for starting over, and for the list.
    pub load: Load,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("theme", &self.theme)
            .field("speed", &self.speed)
            .finish_non_exhaustive()
    }
}

/// Why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A person left.
    Quit,
    /// A signal asked for it.
    Signal(i32),
}

impl Exit {
    /// The exit code of the process: 0, or 128 and the signal.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(255),
        }
    }
}

/// Runs a session on the screen until somebody leaves.
pub fn run(session: Session, options: Options) -> io::Result<Exit> {
    let stage = Stage::Run(Box::new(Run::new(session, &options, Origin::CommandLine)));
    block_on(stage, options)
}

/// Shows the library and runs what is picked, until somebody leaves.
pub fn run_picker(options: Options) -> io::Result<Exit> {
    let picker = Picker::new(options.theme);
    block_on(Stage::Pick(picker), options)
}

fn block_on(stage: Stage, options: Options) -> io::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let screen = Screen::enter()?;
        App {
            screen,
            stage,
            options,
            clock: None,
            drawn: None,
        }
        .go()
        .await
    })
}

/// What is on the screen.
enum Stage {
    /// The list of scenarios.
    Pick(Picker),
    /// A run.
    Run(Box<Run>),
}

/// A run with its screen.
struct Run {
    model: Model,
    session: Session,
}

impl Run {
    fn new(mut session: Session, options: &Options, origin: Origin) -> Self {
        let facts = RunFacts {
            length: session.end().since(SimTime::ZERO),
            producers: session.scenario().config.producers.len(),
        };
        let mut model = Model::new(options.theme, facts, origin);
        model.pace.speed = options.speed;
        ask_for_series(&mut session);
        Self { model, session }
    }
}

/// When the screen was drawn last, and whether anything changed since.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    at: Instant,
    is_stale: bool,
}

struct App {
    screen: Screen,
    stage: Stage,
    options: Options,
    /// When the last frame began, while simulated time passes.
    clock: Option<Instant>,
    drawn: Option<Drawn>,
}

impl App {
    async fn go(mut self) -> io::Result<Exit> {
        // People see something before anything else takes time.
        self.draw()?;
        let mut inputs = Inputs::open()?;
        loop {
            let input = inputs.next(self.next_frame()).await;
            if let Some(exit) = self.take(input)? {
                return Ok(exit);
            }
            self.draw_if_due()?;
        }
    }

    /// When the next frame is due; never when nothing moves and nothing changed.
    fn next_frame(&self) -> Option<Instant> {
        let drawn = self.drawn?;
        let wanted = drawn.is_stale || self.is_moving();
        wanted.then(|| drawn.at + FRAME)
    }

    fn is_moving(&self) -> bool {
        match &self.stage {
            Stage::Run(run) => {
                run.model.life == Life::Going && run.model.pace.motion == Motion::Running
            }
            Stage::Pick(_) => false,
        }
    }

    fn take(&mut self, input: Input) -> io::Result<Option<Exit>> {
        match input {
            Input::Key(key) => match self.meaning(&key) {
                Some(msg) => self.apply(msg),
                None => Ok(None),
            },
            Input::Paste(text) => self.apply(Msg::Paste(text)),
            Input::Resized => self.apply(Msg::Resized),
            Input::Frame => self.frame(),
            Input::Suspended => self.apply(Msg::Suspend),
            Input::Continued => {
                self.clock = None;
                self.screen.retake()?;
                self.changed();
                Ok(None)
            }
            Input::Ended(signal) => Ok(Some(Exit::Signal(signal))),
            Input::Lost => Ok(Some(Exit::Signal(signal_hook::consts::SIGHUP))),
        }
    }

    fn meaning(&self, key: &crossterm::event::KeyEvent) -> Option<Msg> {
        match &self.stage {
            Stage::Pick(picker) => picker.meaning(key),
            Stage::Run(run) => keymap::lookup(Context::of(&run.model.layer), Some(&run.model), key),
        }
    }

    /// A frame's time has come: simulated time follows.
    fn frame(&mut self) -> io::Result<Option<Exit>> {
        if !self.is_moving() {
            self.clock = None;
            return Ok(None);
        }
        let now = Instant::now();
        let elapsed = self.clock.map_or(FRAME, |before| now - before);
        self.clock = Some(now);
        self.apply(Msg::Frame(elapsed))
    }

    fn apply(&mut self, msg: Msg) -> io::Result<Option<Exit>> {
        self.changed();
        match &mut self.stage {
            Stage::Pick(picker) => {
                let choice = picker::update(picker, msg);
                self.choose(choice)
            }
            Stage::Run(run) => {
                let effects = update(&mut run.model, msg);
                self.perform(effects)
            }
        }
    }

    fn changed(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.is_stale = true;
        }
    }

    fn choose(&mut self, choice: Choice) -> io::Result<Option<Exit>> {
        match choice {
            Choice::None => Ok(None),
            Choice::Quit => Ok(Some(Exit::Quit)),
            Choice::Suspend => self.suspend(),
            Choice::Clear => self.screen.clear().map(|()| None),
            Choice::Run(name) => {
                match (self.options.load)(&name) {
                    Ok(scenario) => {
                        let session = Session::new(Arc::new(scenario));
                        let run = Run::new(session, &self.options, Origin::Picker);
                        self.clock = None;
                        self.stage = Stage::Run(Box::new(run));
                    }
                    Err(text) => {
                        if let Stage::Pick(picker) = &mut self.stage {
                            picker.trouble = Some(text);
                        }
                    }
                }
                Ok(None)
            }
        }
    }

    fn suspend(&mut self) -> io::Result<Option<Exit>> {
        self.screen.suspend()?;
        self.clock = None;
        Ok(None)
    }

    /// Performs effects in order; what they come to goes back into the model.
    fn perform(&mut self, effects: Vec<Effect>) -> io::Result<Option<Exit>> {
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(Some(Exit::Quit)),
                Effect::Suspend => {
                    self.suspend()?;
                }
                Effect::Clear => self.screen.clear()?,
                Effect::ToPicker => {
                    let name = match &self.stage {
                        Stage::Run(run) => run.session.scenario().name.clone(),
                        Stage::Pick(_) => String::new(),
                    };
                    let mut picker = Picker::new(self.options.theme);
                    picker.select(&name);
                    self.stage = Stage::Pick(picker);
                    return Ok(None);
                }
                effect => {
                    if let Stage::Run(run) = &mut self.stage {
                        perform_in_run(run, &self.options, effect);
                    }
                }
            }
        }
        Ok(None)
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        let due = self
            .drawn
            .is_none_or(|drawn| drawn.is_stale && drawn.at.elapsed() >= FRAME);
        if due { self.draw() } else { Ok(()) }
    }

    fn draw(&mut self) -> io::Result<()> {
        if let Stage::Run(run) = &mut self.stage {
            draw::measure(&mut run.model, &run.session, self.screen.area());
        }
        let stage = &self.stage;
        self.screen.draw(|buffer| match stage {
            Stage::Pick(picker) => picker::draw(buffer, picker),
            Stage::Run(run) => draw::draw(buffer, &run.model, &run.session),
        })?;
        self.drawn = Some(Drawn {
            at: Instant::now(),
            is_stale: false,
        });
        Ok(())
    }
}

/// Hands an effect to the session, and its outcome to the model.
fn perform_in_run(run: &mut Run, options: &Options, effect: Effect) {
    let outcome = match effect {
        Effect::Advance(elapsed) => advance(run, elapsed),
        Effect::Step => moved(run, Duration::ZERO, |session| {
            let _reached = session.step();
        }),
        Effect::StepBack => moved(run, Duration::ZERO, Session::step_back),
        Effect::Rewind => {
            run.session.rewind_to(SimTime::ZERO);
            Msg::Restarted("back at the start; commands come again at their moments".to_owned())
        }
        Effect::Command(line) => {
            Msg::Answered(run.session.command(&line).map_err(|problem| Trouble {
                text: problem.message,
                hint: problem.hint,
            }))
        }
        Effect::Complete(line) => Msg::Completed(complete(&run.session, &line)),
        Effect::Restart => restart(run, options),
        Effect::Quit | Effect::ToPicker | Effect::Suspend | Effect::Clear => return,
    };
    // What comes back asks for nothing more.
    let _none = update(&mut run.model, outcome);
}

/// Lets the session go where this frame's pace leads, as far as the frame has time.
fn advance(run: &mut Run, elapsed: Duration) -> Msg {
    let target = run.model.pace.target(run.session.now(), elapsed);
    moved(run, elapsed, |session| {
        let began = Instant::now();
        while session.advance_to(target, EVENTS_SLICE).progress == Progress::BudgetSpent {
            if began.elapsed() >= SLICE_TIME {
                break;
            }
        }
    })
}

/// Moves the session and says where from and to.
fn moved(run: &mut Run, elapsed: Duration, movement: impl FnOnce(&mut Session)) -> Msg {
    let from = run.session.now();
    movement(&mut run.session);
    let life = if run.session.is_over() {
        Life::Over
    } else {
        Life::Going
    };
    Msg::Advanced(Advanced {
        from,
        to: run.session.now(),
        elapsed,
        life,
    })
}

/// What the word at the end of `line` could become.
fn complete(session: &Session, line: &str) -> Completion {
    let offers = command::complete(line, line.len(), session.names());
    Completion {
        start: offers
            .first()
            .map_or(line.len(), |offer| offer.replace.start),
        words: offers.into_iter().map(|offer| offer.text).collect(),
    }
}

fn restart(run: &mut Run, options: &Options) -> Msg {
    let name = run.session.scenario().name.clone();
    match (options.load)(&name) {
        Ok(scenario) => {
            let before = std::mem::replace(&mut run.session, Session::new(Arc::new(scenario)));
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
