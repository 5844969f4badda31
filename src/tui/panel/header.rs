//! Two lines: what runs, how, how fast; and the run as a timeline.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::judge::Outcome;
use crate::sim::time::SimTime;
use crate::tui::model::Model;
use crate::tui::msg::Life;
use crate::tui::pace::{Motion, Pace};
use crate::tui::panel::expectations::verdict;
use crate::tui::panel::playbook;
use crate::tui::scene::Scene;
use crate::tui::seek;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::timeline::Timeline;
use crate::tui::zoom::TimeWindow;

/// What the header shows.
#[derive(Debug)]
pub struct Header<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The scenario's name.
    pub name: &'a str,
    /// The scenario's title; nothing while it would tell too much.
    pub title: &'a str,
    /// The alert that fires, in place of the title.
    pub alarm: Option<Line<'static>>,
    /// The seed.
    pub seed: u64,
    /// The present.
    pub now: SimTime,
    /// The furthest moment that the run has been at.
    pub furthest: SimTime,
    /// The end of the run.
    pub end: SimTime,
    /// Moments of faults and other commands.
    pub faults: &'a [SimTime],
    /// Moments at which somebody lost something.
    pub harms: Vec<SimTime>,
    /// What the run does, in words.
    pub state: Line<'static>,
    /// Speed asked and reached.
    pub speed: Line<'static>,
}

impl<'a> Header<'a> {
    /// The header now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let scenario = scene.session.scenario();
        Self {
            theme: scene.theme(),
            name: &scenario.name,
            title: if scene.is_secret() {
                "a rehearsal"
            } else {
                &scenario.title
            },
            alarm: playbook::alarm(scene),
            seed: scene.config().seed,
            now: scene.now(),
            furthest: scene.session.furthest(),
            end: scene.session.end(),
            faults: &scene.faults,
            harms: seek::harms(scene.session),
            state: state(scene),
            speed: speed(scene.model),
        }
    }
}

/// Which branch this is, where the run was split, and what it does, in words.
fn state(scene: &Scene<'_>) -> Line<'static> {
    let mut state = run_state(scene);
    if let Some(branch) = scene.model.fork {
        let words = format!("branch {}, ", branch.name());
        let style = scene.theme().styles.text.subject;
        state.spans.insert(0, Span::styled(words, style));
    }
    state
}

/// What the run does, in words.
fn run_state(scene: &Scene<'_>) -> Line<'static> {
    let styles = scene.theme().styles;
    if scene.model.life == Life::Going {
        let mut state = match scene.model.pace.motion {
            Motion::Running => Line::from(Span::styled("running", styles.tone.good)),
            Motion::Paused => Line::from(Span::styled("paused", styles.tone.warn)),
            Motion::Seeking(to) => return seeking(scene, to),
        };
        if scene.session.is_past() {
            state.push_span(Span::styled(", in the past", styles.tone.warn));
        }
        return state;
    }
    let mut spans = vec![Span::styled("over", styles.text.strong)];
    if let Some((worst, words)) = verdict(scene.session.insight().judgements()) {
        let style = match worst {
            Outcome::Held => styles.tone.good,
            Outcome::Failed => styles.tone.bad,
            Outcome::Pending | Outcome::Inconclusive => styles.tone.warn,
        };
        spans.push(Span::styled(": ", styles.text.dim));
        spans.push(Span::styled(words, style));
    }
    Line::from(spans)
}

/// Where a seek leads, and how long that takes.
fn seeking(scene: &Scene<'_>, to: SimTime) -> Line<'static> {
    let styles = scene.theme().styles;
    let seek = scene.model.seek.as_ref();
    let left = seek.and_then(|seek| seek.left(scene.now(), to));
    let left = left.map_or(String::new(), |left| {
        format!(", {:.1} s left", left.as_secs_f64())
    });
    Line::from(vec![
        Span::styled(format!("going to {to}"), styles.tone.warn),
        Span::styled(left, styles.text.dim),
    ])
}

/// Speed asked and reached; nothing once the run is over.
fn speed(model: &Model) -> Line<'static> {
    let styles = model.theme.styles;
    if model.life == Life::Over || model.seek.is_some() {
        return Line::default();
    }
    let times = model.theme.glyphs.times;
    let asked = match model.pace.speed.name().as_str() {
        "max" => "max".to_owned(),
        name => format!("{times}{name}"),
    };
    let mut spans = vec![
        Span::styled("speed ", styles.text.dim),
        Span::styled(asked, styles.text.accent),
    ];
    if let Some(reached) = model.pace.reached() {
        let style = if lags(&model.pace, reached) {
            styles.tone.warn
        } else {
            styles.text.dim
        };
        spans.push(Span::styled(", reached ", styles.text.dim));
        spans.push(Span::styled(format!("{times}{}", figure(reached)), style));
    }
    Line::from(spans)
}

/// Whether the engine does not keep up.
fn lags(pace: &Pace, reached: f64) -> bool {
    pace.speed.factor().is_finite() && reached < pace.speed.factor() * 0.9
}

/// A factor with as many digits as matter.
fn figure(factor: f64) -> String {
    if factor >= 100.0 {
        crate::tui::number::count(factor.round() as u64)
    } else if factor >= 10.0 {
        format!("{factor:.0}")
    } else if factor >= 1.0 {
        format!("{factor:.1}")
    } else {
        format!("{factor:.2}")
    }
}

impl Widget for &Header<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let area = Rect {
            x: area.x + 1.min(area.width),
            width: area.width.saturating_sub(2),
            ..area
        };
        let styles = self.theme.styles;
        let mut right = self.state.clone();
        if self.speed.width() > 0 {
            right.push_span(Span::raw("   "));
            right.extend(self.speed.clone());
        }
        right.push_span(Span::styled(
            format!("   seed {}", self.seed),
            styles.text.dim,
        ));
        let right_width = (right.width() as u16).min(area.width);
        let start = Rect {
            x: area.right() - right_width,
            width: right_width,
            ..area
        };
        text::put_line(buffer, start, 0, &right);
        let left = Rect {
            width: area.width.saturating_sub(right_width + 2),
            ..area
        };
        let name = text::visible(self.name);
        let after = text::put(buffer, left, (0, 0), &name, styles.text.subject);
        let room = left.width.saturating_sub(after + 2);
        let place = Rect {
            x: left.x + (after + 2).min(left.width),
            width: room,
            ..left
        };
        if let Some(alarm) = &self.alarm {
            text::put_line_cut(buffer, place, 0, alarm, self.theme.glyphs.ellipsis);
        } else {
            let title = text::visible(self.title);
            let title = text::fit(&title, room, self.theme.glyphs.ellipsis);
            text::put(buffer, place, (0, 0), &title, styles.text.plain);
        }
        self.draw_timeline(area, buffer);
    }
}

impl Header<'_> {
    fn draw_timeline(&self, area: Rect, buffer: &mut Buffer) {
        let styles = self.theme.styles;
        if area.height < 2 {
            return;
        }
        let end = self.end.to_string();
        let now = format!("{:>width$}", self.now.to_string(), width = end.len());
        let after = text::put(buffer, area, (0, 1), &now, styles.text.strong);
        text::put_right(buffer, area, 1, &end, styles.text.dim);
        let line = Rect {
            x: area.x + (after + 1).min(area.width),
            y: area.y + 1,
            width: area.width.saturating_sub(after + 2 + text::width(&end)),
            height: 1,
        };
        let timeline = Timeline {
            theme: self.theme,
            window: TimeWindow {
                from: SimTime::ZERO,
                to: self.end,
            },
            now: self.now,
            furthest: self.furthest,
            faults: self.faults,
            harms: &self.harms,
        };
        (&timeline).render(line, buffer);
    }
}
