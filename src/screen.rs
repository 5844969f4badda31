//! From the command line to the screen: theme, speed, and where scenarios come from.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kdrill::cli::{RunArgs, ScreenArgs, ThemeName};
use kdrill::headless::{Exit, complain, paint_for, select};
use kdrill::rehearsal::debrief::Debrief;
use kdrill::scenario::{Overrides, Paint, Scenario, Source, load};
use kdrill::session::Session;
use kdrill::tui::pace::Speed;
use kdrill::tui::theme::{Charset, Colors, Environment, Theme};
use kdrill::tui::{self, Options};

/// Shows a scenario, or the library where none is named.
pub fn run(args: &RunArgs) -> ExitCode {
    let overrides = Overrides {
        seed: args.seed,
        until: args.until,
        set: args.set.clone(),
        vary: None,
    };
    let Some(wanted) = args.scenarios.first() else {
        return shown(tui::run_picker(options(&args.screen, None, overrides)));
    };
    let source = match select::select(std::slice::from_ref(wanted)).pop() {
        Some(Ok(source)) => source,
        Some(Err(nothing)) => {
            complain(&nothing.to_string());
            return Exit::Usage.into();
        }
        None => return Exit::Usage.into(),
    };
    let loaded = load(source.clone(), &overrides);
    let scenario = match loaded {
        Ok(scenario) => scenario,
        Err(problems) => {
            complain(&problems.render(paint_for(&std::io::stderr())));
            return Exit::Usage.into();
        }
    };
    let session = Session::new(Arc::new(scenario));
    shown(tui::run(
        session,
        options(&args.screen, Some(source), overrides),
    ))
}

/// Shows a rehearsal: what it came to, and how the screen was left. `None`: it could not be shown.
pub fn rehearse(
    screen: &ScreenArgs,
    (scenario, source, seed): (Scenario, Source, Option<u64>),
) -> Option<(Option<Debrief>, u8)> {
    let overrides = Overrides {
        seed,
        vary: seed,
        ..Overrides::default()
    };
    let session = Session::new(Arc::new(scenario));
    match tui::rehearse(session, options(screen, Some(source), overrides)) {
        Ok((exit, debrief)) => Some((debrief, exit.code())),
        Err(error) => {
            complain(&format!("error: the screen cannot be used: {error}"));
            None
        }
    }
}

/// Shows two runs side by side.
pub fn run_pair((a, b): (Scenario, Scenario), screen: &ScreenArgs) -> ExitCode {
    let again = a.clone();
    let options = Options {
        load: Box::new(move |_| Ok(again.clone())),
        ..options(screen, None, Overrides::default())
    };
    let session = |scenario| Session::new(Arc::new(scenario));
    shown(tui::run_pair(session(a), session(b), options))
}

fn options(screen: &ScreenArgs, named: Option<Source>, overrides: Overrides) -> Options {
    Options {
        theme: theme(screen),
        speed: screen.speed.map_or(Speed::nearest(1.0), Speed::nearest),
        load: Box::new(move |name| reload(name, named.as_ref(), &overrides)),
    }
}

fn theme(screen: &ScreenArgs) -> Theme {
    let environment = Environment::of_process();
    let colors = match screen.theme {
        ThemeName::Auto => environment.colors(),
        ThemeName::Mono => Colors::None,
        ThemeName::Sixteen => Colors::Sixteen,
        ThemeName::Indexed => Colors::Indexed,
        ThemeName::Truecolor => Colors::True,
    };
    let charset = if screen.ascii {
        Charset::Ascii
    } else {
        environment.charset()
    };
    Theme::new(colors, charset)
}

/// The scenario of the command line read again, with what the command line changes about it; or
/// one of the library as it is.
fn reload(name: &str, named: Option<&Source>, overrides: &Overrides) -> Result<Scenario, String> {
    let is_named = |source: &&Source| match source {
        Source::Path(path) => is_stem(path, name),
        Source::Embedded(known) | Source::Text { name: known, .. } => known == name,
    };
    let (source, overrides) = match named.filter(is_named) {
        Some(source) => (source.clone(), overrides.clone()),
        None => (Source::Embedded(name.to_owned()), Overrides::default()),
    };
    load(source, &overrides).map_err(|problems| problems.render(Paint::Plain))
}

fn is_stem(path: &Path, name: &str) -> bool {
    path.file_stem().is_some_and(|stem| stem == name) || path.to_string_lossy() == name
}

fn shown(outcome: std::io::Result<tui::Exit>) -> ExitCode {
    match outcome {
        Ok(exit) => exit.code().into(),
        Err(error) => {
            complain(&format!("error: the screen cannot be used: {error}"));
            Exit::Usage.into()
        }
    }
}
