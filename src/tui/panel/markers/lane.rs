//! The end of a partition's log, drawn.
//!
//! ```text
//! fares-2   ×4001/0 A4001/1 ●4001/2 C4001/3
//!           40      41      42      43      ▲△44
//! ```
//!
//! Every transaction by itself while there is room for its producer id and epoch, then with its
//! epoch alone, then with nothing but its records: `●125 C ●125 C ○37`.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::insight::names;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionResult};
use crate::sim::ids::PartitionIndex;
use crate::sim::transactions::lane::{Run, RunKind};
use crate::sim::transactions::producer_states::Fate;
use crate::sim::view::PartitionView;
use crate::tui::number;
use crate::tui::panel::markers::Detail;
use crate::tui::panel::markers::owner::owner;
use crate::tui::scene::Scene;
use crate::tui::shorten::Shortener;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Cells of a partition's name at most.
const NAME_CELLS_MAX: u16 = 18;
/// Neighbours of one transaction that are drawn one by one at most.
const SINGLES_MAX: u64 = 3;

/// How a producer is named beside its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// `4001/2`
    Owner,
    /// `/2`
    Epoch,
    /// Not at all.
    None,
}

/// A run as it is written, with its first offset.
struct Token {
    offset: u64,
    end_offset: u64,
    text: String,
    style: Style,
}

/// A label below a lane, with the cell that it begins in.
struct Placed {
    at: usize,
    text: String,
    style: Style,
}

impl Placed {
    fn end(&self) -> usize {
        self.at + usize::from(text::width(&self.text))
    }
}

/// A lane for each partition, with offsets below it or without.
pub fn lanes(
    scene: &Scene<'_>,
    partitions: &[PartitionIndex],
    width: u16,
    detail: Detail,
) -> Vec<Line<'static>> {
    let named = |&index: &PartitionIndex| {
        let name = names::partition(scene.config(), index);
        (index, text::visible(&name).into_owned())
    };
    let named: Vec<_> = partitions.iter().map(named).collect();
    let widest = named.iter().map(|(_, name)| text::width(name)).max();
    let column = widest
        .unwrap_or(0)
        .min(NAME_CELLS_MAX)
        .min(width / 3)
        .saturating_add(2);
    let whole = named.iter().map(|(_, name)| name.as_str());
    let way = Shortener::of(whole, column - 2, scene.theme().glyphs.ellipsis);
    let mut lines = Vec::new();
    for (index, name) in &named {
        let index = *index;
        let view = scene.session.simulation().partition(index);
        let room = width.saturating_sub(column);
        let tokens = tokens(scene, index, room);
        let name = way.fit(name, column - 2).into_owned();
        lines.push(row(scene.theme(), (&name, column), &tokens, &view));
        if detail >= Detail::Offsets {
            lines.push(ruler(scene.theme(), column, &tokens, &view));
        }
    }
    lines
}

/// The runs that fit, as they are written: the most telling way in which all of them do, or the
/// shortest one with the newest of them.
fn tokens(scene: &Scene<'_>, index: PartitionIndex, room: u16) -> Vec<Token> {
    let room = usize::from(room);
    // A token and the blank behind it.
    let runs = scene.session.simulation().lane(index, room / 2 + 1);
    let cells = |tokens: &[Token]| -> usize { tokens.iter().map(cells_of).sum() };
    // Below the end stands the caret with its offset.
    let caret = 8;
    for label in [Label::Owner, Label::Epoch] {
        let tokens: Vec<_> = runs
            .iter()
            .map(|run| token(scene.theme(), run, label))
            .collect();
        if cells(&tokens) + caret <= room {
            return tokens;
        }
    }
    let mut newest = Vec::new();
    let mut left = room.saturating_sub(caret);
    for run in runs.iter().rev() {
        let token = token(scene.theme(), run, Label::None);
        let cells = cells_of(&token);
        if cells > left {
            break;
        }
        left -= cells;
        newest.push(token);
    }
    newest.reverse();
    newest
}

fn cells_of(token: &Token) -> usize {
    usize::from(text::width(&token.text)) + 1
}

fn token(theme: &Theme, run: &Run, label: Label) -> Token {
    let Theme { styles, glyphs } = theme;
    let with = |text: String, producer: ProducerIdAndEpoch| match label {
        Label::Owner => text + &owner(producer),
        Label::Epoch => format!("{text}/{}", producer.1),
        Label::None => text,
    };
    let (text, style) = match run.what {
        RunKind::Plain => (counted(glyphs.dot, run.offsets), styles.text.dim),
        RunKind::Records(producer, fate) => {
            let (glyph, style) = match fate {
                Fate::Open => (glyphs.pending, styles.text.accent),
                Fate::Committed => (glyphs.now, styles.tone.good),
                Fate::Aborted => (glyphs.times, styles.tone.warn),
            };
            let records = counted(glyph, run.offsets);
            let is_counted = run.offsets > SINGLES_MAX && label == Label::Owner;
            let records = if is_counted { records + " " } else { records };
            (with(records, producer), style)
        }
        RunKind::Marker(producer, result) => {
            let (letter, tone) = match result {
                TransactionResult::Commit => ("C", styles.tone.good),
                TransactionResult::Abort => ("A", styles.tone.warn),
            };
            let style = tone.add_modifier(Modifier::BOLD | Modifier::REVERSED);
            (with(letter.to_owned(), producer), style)
        }
    };
    Token {
        offset: run.offset,
        end_offset: run.end_offset(),
        text,
        style,
    }
}

/// `●●●`, or `●125`.
fn counted(glyph: &str, count: u64) -> String {
    if count <= SINGLES_MAX {
        glyph.repeat(count as usize)
    } else {
        format!("{glyph}{}", number::count(count))
    }
}

fn row(
    theme: &Theme,
    (name, column): (&str, u16),
    tokens: &[Token],
    view: &PartitionView,
) -> Line<'static> {
    let Theme { styles, glyphs } = theme;
    let is_cut = tokens
        .first()
        .is_some_and(|first| first.offset > view.log_start_offset);
    let gap = usize::from(column).saturating_sub(usize::from(text::width(name)));
    let gap = if is_cut {
        format!("{}{}", " ".repeat(gap.saturating_sub(1)), glyphs.ellipsis)
    } else {
        " ".repeat(gap)
    };
    let mut spans = vec![
        Span::styled(name.to_owned(), styles.text.strong),
        Span::styled(gap, styles.text.dim),
    ];
    for token in tokens {
        spans.push(Span::styled(token.text.clone(), token.style));
        spans.push(Span::raw(" "));
    }
    Line::from(spans)
}

/// Offsets below the runs that they begin, with the carets of the last stable offset and of the
/// high watermark; below the name, how much is held back.
fn ruler(theme: &Theme, column: u16, tokens: &[Token], view: &PartitionView) -> Line<'static> {
    let styles = theme.styles;
    let held = view.high_watermark.saturating_sub(view.last_stable_offset);
    let room = column.saturating_sub(1);
    let (words, style) = if held > 0 {
        // A word that is cut says less than none.
        let count = number::count(held);
        let whole = format!("{count} held");
        let fits = text::width(&whole) <= room;
        (if fits { whole } else { count }, styles.tone.warn)
    } else {
        (String::new(), styles.text.dim)
    };
    let words = text::fit(&words, room, "").into_owned();
    let mut labels: Vec<Placed> = Vec::new();
    let mut at = usize::from(column);
    let end = tokens.last().map(|last| last.end_offset);
    let places = tokens.iter().map(|token| (token.offset, cells_of(token)));
    for (offset, cells) in places.chain(end.map(|end| (end, 0))) {
        let (text, style) = label_at(theme, offset, view);
        let is_caret = style != styles.text.dim;
        let is_free = labels.last().is_none_or(|last| last.end() < at);
        // An offset makes room for a caret; the end has no offset of its own.
        if is_caret
            && !is_free
            && labels
                .last()
                .is_some_and(|last| last.style == styles.text.dim)
        {
            labels.pop();
        }
        if is_caret || (is_free && Some(offset) != end) {
            labels.push(Placed { at, text, style });
        }
        at += cells;
    }
    let mut used = usize::from(text::width(&words));
    let mut spans = vec![Span::styled(words, style)];
    for label in labels {
        let blank = " ".repeat(label.at.saturating_sub(used));
        used = label.end();
        spans.push(Span::raw(blank));
        spans.push(Span::styled(label.text, label.style));
    }
    Line::from(spans)
}

/// An offset, behind carets where the last stable offset or the high watermark stands.
fn label_at(theme: &Theme, offset: u64, view: &PartitionView) -> (String, Style) {
    let Theme { styles, glyphs } = theme;
    let is_stable = offset == view.last_stable_offset;
    let is_watermark = offset == view.high_watermark;
    let caret = match (is_stable, is_watermark) {
        (true, true) => format!("{}{}", glyphs.stable, glyphs.watermark),
        (true, false) => glyphs.stable.to_owned(),
        (false, true) => glyphs.watermark.to_owned(),
        (false, false) => return (offset.to_string(), styles.text.dim),
    };
    let is_held = is_stable && view.last_stable_offset < view.high_watermark;
    let style = if is_held {
        styles.tone.warn
    } else {
        styles.text.plain
    };
    (format!("{caret}{offset}"), style)
}
