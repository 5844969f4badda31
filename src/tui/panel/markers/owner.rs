//! What is known of a transactional id: its state, who owns it, how old its transaction is, and
//! what its coordinators wrote.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::insight::names;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionState};
use crate::sim::view::{TransactionView, TransactionalClientView};
use crate::tui::number;
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Cells of the bar that shows an age against its limit.
const AGE_CELLS: u16 = 10;
/// From this width on there is such a bar.
const AGE_WIDTH_MIN: u16 = 56;
/// From this share of the limit on, an age is a warning.
const AGE_WARN_PERCENT: u64 = 75;

/// `fares  Ongoing  4001/2  broker 2  ▇▇▇···· 12.0 of 60 s`.
pub fn head(scene: &Scene<'_>, view: &TransactionView, width: u16) -> Line<'static> {
    let styles = scene.theme().styles;
    let name = text::visible(&view.transactional_id).into_owned();
    let mut spans = vec![
        Span::styled(format!("{name}  "), styles.text.strong),
        Span::styled(view.state.name(), style_of(scene.theme(), view.state)),
        Span::styled(format!("  {}", owner(view.producer)), styles.text.plain),
    ];
    if let Some(coordinator) = view.coordinator {
        let broker = names::broker(scene.config(), coordinator);
        spans.push(Span::styled(format!("  at {broker}"), styles.text.dim));
    }
    if view.state == TransactionState::Ongoing {
        spans.extend(age(scene, view, width));
    } else if view.state.prepared().is_some() {
        let missing = view.partitions.len();
        let words = format!("  markers to {missing}");
        spans.push(Span::styled(words, styles.text.dim));
    }
    Line::from(spans)
}

/// How long the transaction is open, against `transaction.timeout.ms`.
fn age(scene: &Scene<'_>, view: &TransactionView, width: u16) -> Vec<Span<'static>> {
    let Some(started) = view.started else {
        return Vec::new();
    };
    let Theme { styles, glyphs } = scene.theme();
    let age = scene.now().since(started);
    let limit_ms = view.timeout_ms.max(1);
    let percent = age.as_millis().saturating_mul(100) / limit_ms;
    let style = if percent >= AGE_WARN_PERCENT {
        styles.tone.warn
    } else {
        styles.text.plain
    };
    let mut spans = vec![Span::raw("  ")];
    if width >= AGE_WIDTH_MIN {
        let full = (percent.min(100) * u64::from(AGE_CELLS)).div_ceil(100) as usize;
        let rest = usize::from(AGE_CELLS) - full;
        spans.push(Span::styled(glyphs.bar.repeat(full), style));
        spans.push(Span::styled(glyphs.free.repeat(rest), styles.text.dim));
        spans.push(Span::raw(" "));
    }
    let words = format!("{} of {} s", number::span(age), limit_ms / 1000);
    spans.push(Span::styled(words, style));
    spans
}

/// Everybody among the clients who has this id, where there are several: those who lost it are
/// struck out.
pub fn owners(
    scene: &Scene<'_>,
    (view, clients): (&TransactionView, &[TransactionalClientView]),
    width: u16,
) -> Option<Line<'static>> {
    let has_id =
        |client: &&TransactionalClientView| client.transactional_id == view.transactional_id;
    let mut sorted: Vec<_> = clients.iter().filter(has_id).collect();
    let latest = sorted.iter().filter_map(|client| client.owns).max()?;
    if sorted.len() < 2 {
        return None;
    }
    let Theme { styles, glyphs } = scene.theme();
    let mut spans = vec![Span::styled("  owner  ", styles.text.dim)];
    sorted.sort_by_key(|client| std::cmp::Reverse(client.owns));
    for (place, client) in sorted.iter().enumerate() {
        let name = names::producer(scene.config(), client.producer);
        let name = text::visible(name).into_owned();
        if place > 0 {
            let dot = format!(" {} ", glyphs.dot);
            spans.push(Span::styled(dot, styles.text.dim));
        }
        match client.owns {
            Some(owns) if owns < latest => {
                let struck = styles.text.dim.add_modifier(Modifier::CROSSED_OUT);
                spans.push(Span::styled(format!("{name} {}", owner(owns)), struck));
                spans.push(Span::styled(" fenced", styles.tone.warn));
            }
            Some(owns) => {
                let words = format!("{name} {}", owner(owns));
                spans.push(Span::styled(words, styles.text.plain));
            }
            None => spans.push(Span::styled(format!("{name} none yet"), styles.text.dim)),
        }
        if Line::from(spans.clone()).width() > usize::from(width) {
            break;
        }
    }
    Some(Line::from(spans))
}

/// The last records of this id in `__transaction_state`, as many as fit, the newest last.
pub fn log(scene: &Scene<'_>, view: &TransactionView, width: u16) -> Option<Line<'static>> {
    let Theme { styles, glyphs } = scene.theme();
    let head = Span::styled("  log  ", styles.text.dim);
    let mut room = usize::from(width).saturating_sub(head.width());
    let mut steps = Vec::new();
    for step in view.steps.iter().rev() {
        let at = format!("{} ", number::moment(step.at));
        let state = step.state.name();
        let epoch = format!("/{}", step.producer.1);
        let cells = at.len() + state.len() + epoch.len() + 3;
        if cells > room && !steps.is_empty() {
            break;
        }
        room = room.saturating_sub(cells);
        steps.push([
            Span::styled(at, styles.text.dim),
            Span::styled(state, style_of(scene.theme(), step.state)),
            Span::styled(epoch, styles.text.dim),
        ]);
    }
    if steps.is_empty() {
        return None;
    }
    let arrow = Span::styled(format!(" {} ", glyphs.arrow), styles.text.dim);
    let mut spans = vec![head];
    for (place, step) in steps.into_iter().rev().enumerate() {
        if place > 0 {
            spans.push(arrow.clone());
        }
        spans.extend(step);
    }
    Some(Line::from(spans))
}

/// `4001/2`: producer id and epoch.
pub fn owner((producer_id, epoch): ProducerIdAndEpoch) -> String {
    format!("{producer_id}/{epoch}")
}

fn style_of(theme: &Theme, state: TransactionState) -> Style {
    let styles = theme.styles;
    match state {
        TransactionState::Empty => styles.text.dim,
        TransactionState::Ongoing => styles.text.plain,
        TransactionState::PrepareCommit | TransactionState::CompleteCommit => styles.tone.good,
        TransactionState::PrepareAbort | TransactionState::CompleteAbort => styles.tone.warn,
    }
}
