//! One frame: the dashboard, or one pane over all of it, and whatever lies on top. Reads only.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::command::screen::Branch;
use crate::insight::names;
use crate::session::Session;
use crate::tui::fork;
use crate::tui::glyph;
use crate::tui::layout::{self, Slot, centered};
use crate::tui::model::{Extent, Layer, Model};
use crate::tui::pane::{PANES, Pane};
use crate::tui::panel::difference::Difference;
use crate::tui::panel::footer::Footer;
use crate::tui::panel::header::Header;
use crate::tui::panel::{self, card, help, sheet, why};
use crate::tui::plan::Plan;
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::widget::frame::{Grid, Title, inside};

/// Width of the box that texts are shown in, at most.
const BOX_CELLS: u16 = 84;
/// Columns of what a tool printed, at most.
const OUTPUT_CELLS: u16 = 108;

/// A run, and its other branch where it was split.
pub type Branches<'a> = (&'a Session, Option<&'a Session>);

/// Draws one frame into the whole of `buffer`; returns where the cursor belongs, if anywhere.
pub fn draw(buffer: &mut Buffer, model: &Model, branches: Branches<'_>) -> Option<Position> {
    let area = buffer.area;
    let cursor = if layout::is_large_enough(area) {
        let scene = Scene::new(model, branches.0).beside(branches.1);
        draw_scene(buffer, area, &scene)
    } else {
        draw_too_small(buffer, area, model);
        None
    };
    if !model.theme.glyphs.braille {
        glyph::asciify(buffer);
    }
    cursor
}

fn draw_scene(buffer: &mut Buffer, area: Rect, scene: &Scene<'_>) -> Option<Position> {
    let other = scene.other();
    let plan = plan(area, scene);
    let dashboard = &plan.dashboard;
    (&Header::read(scene)).render(dashboard.header, buffer);
    let focused = dashboard.slots.iter();
    let focused = focused.map(|slot| (slot.outline, slot.panes));
    let focused = focused.filter(|(_, panes)| panes.contains(&scene.model.focus));
    let focused = focused.map(|(outline, _)| outline).next();
    draw_slots(buffer, &dashboard.slots, focused, scene);
    if let Some(other) = &other {
        draw_slots(buffer, &plan.beside, None, other);
        draw_captions(buffer, &plan, scene, other);
    }
    if let Some(difference) = Difference::read(scene) {
        (&difference).render(plan.difference, buffer);
    }
    draw_layer(buffer, dashboard.body, scene);
    let footer = Footer { model: scene.model };
    (&footer).render(dashboard.footer, buffer);
    footer.cursor(dashboard.footer)
}

/// Where everything stands now.
fn plan(area: Rect, scene: &Scene<'_>) -> Plan {
    let wants = scene.wants();
    let beside = scene.other().map_or(wants, |other| other.wants());
    Plan::new(area, scene.model, [wants, beside])
}

/// The panes of one branch, or of the run.
fn draw_slots(buffer: &mut Buffer, slots: &[Slot], focused: Option<Rect>, scene: &Scene<'_>) {
    let outlines: Vec<Rect> = slots.iter().map(|slot| slot.outline).collect();
    let grid = Grid {
        theme: scene.theme(),
        panes: &outlines,
        focused,
    };
    let area = buffer.area;
    (&grid).render(area, buffer);
    for slot in slots {
        draw_slot(buffer, slot, scene);
    }
}

/// Which branch is which, and what was typed last in it alone.
fn draw_captions(buffer: &mut Buffer, plan: &Plan, scene: &Scene<'_>, other: &Scene<'_>) {
    let (Some(places), Some(focus)) = (plan.captions, scene.model.fork) else {
        return;
    };
    let styles = scene.theme().styles;
    let (own, others) = match focus {
        Branch::A => (places[0], places[1]),
        Branch::B => (places[1], places[0]),
    };
    for (place, branch, scene, other) in [
        (own, focus, scene, other),
        (others, focus.other(), other, scene),
    ] {
        let (mark, style) = if branch == focus {
            (scene.theme().glyphs.selected, styles.text.subject)
        } else {
            (" ", styles.text.plain)
        };
        let name = format!(" {mark} {}  ", branch.name());
        let after = text::put(buffer, place, (0, 0), &name, style);
        let room = place.width.saturating_sub(after);
        let words = fork::caption(scene.session, other.session);
        let words = text::visible(&words).into_owned();
        let words = text::fit(&words, room, scene.theme().glyphs.ellipsis);
        text::put(buffer, place, (after, 0), &words, styles.text.dim);
    }
}

/// The pane that shows in a place.
fn shown(model: &Model, slot: &Slot) -> Pane {
    match slot.panes {
        [only] => *only,
        panes if panes.contains(&model.shared) => model.shared,
        panes => panes.first().copied().unwrap_or(Pane::Fill),
    }
}

fn draw_slot(buffer: &mut Buffer, slot: &Slot, scene: &Scene<'_>) {
    let pane = shown(scene.model, slot);
    let inside = inside(slot.outline);
    let panel = panel::read(scene, pane, inside);
    let mut name = if slot.panes.len() > 1 {
        tabs(scene, slot, pane)
    } else {
        name(scene, pane, panel.extent(inside))
    };
    let mut room = value_room(slot.outline, &name);
    let words = producer_words(scene, pane);
    let fits = |words: &&String| {
        let left = room.saturating_sub(text::width(words) + 1);
        panel.value(left).width() <= usize::from(left)
    };
    // Among several producers, which one it is matters more than the value.
    let is_one_of_several = scene.config().producers.len() > 1;
    let last_resort = words.last().filter(|_| is_one_of_several);
    if let Some(words) = words.iter().find(fits).or(last_resort) {
        let style = scene.theme().styles.text.dim;
        name.push_span(Span::styled(format!(" {words}"), style));
        room = room.saturating_sub(text::width(words) + 1);
    }
    let value = panel.value(room);
    (&Title {
        theme: scene.theme(),
        name,
        value,
    })
        .render(slot.outline, buffer);
    panel.draw(inside, buffer);
}

/// `1 Accumulator fill trips`
fn name(scene: &Scene<'_>, pane: Pane, extent: Extent) -> Line<'static> {
    let styles = scene.theme().styles;
    let style = if scene.model.is_focused(pane) {
        styles.frame.title_focused
    } else {
        styles.frame.title
    };
    let mut spans = vec![
        Span::styled(format!("{} ", pane.digit()), styles.text.accent),
        Span::styled(scene.content(pane).name(), style),
    ];
    if scene.model.is_focused(pane) && extent.scroll_max() > 0 {
        spans.push(Span::styled(scrolled(scene, pane, extent), styles.text.dim));
    }
    Line::from(spans)
}

/// Cells that a title leaves for the value.
fn value_room(outline: Rect, name: &Line<'_>) -> u16 {
    const AROUND: u16 = 8;
    let used = u16::try_from(name.width()).unwrap_or(u16::MAX);
    outline.width.saturating_sub(used.saturating_add(AROUND))
}

/// The producer that a pane is about, in full and then short: what fits beside the value is taken.
fn producer_words(scene: &Scene<'_>, pane: Pane) -> Vec<String> {
    let Some(producer) = scene.producer().filter(|_| pane.is_of_one_producer()) else {
        return Vec::new();
    };
    let name = names::producer(scene.config(), producer);
    [scene.producer_words(producer).as_str(), name]
        .into_iter()
        .map(|words| text::visible(words).into_owned())
        .collect()
}

/// Which way there is more, for the focused pane.
fn scrolled(scene: &Scene<'_>, pane: Pane, extent: Extent) -> String {
    let glyphs = scene.theme().glyphs;
    let place = scene.model.scroll_of(pane, extent);
    let (back, on) = (place > 0, place < extent.scroll_max());
    let (above, below) = if pane == Pane::Events {
        (on, back)
    } else {
        (back, on)
    };
    let above = if above { glyphs.more_above } else { "" };
    let below = if below { glyphs.more_below } else { "" };
    format!(" {above}{below}")
}

/// `5 Cluster 6 Warn 7 Events …`, the one that shows in full.
fn tabs(scene: &Scene<'_>, slot: &Slot, shown: Pane) -> Line<'static> {
    let styles = scene.theme().styles;
    let room = slot.outline.width.saturating_sub(6);
    let spelled: u16 = slot
        .panes
        .iter()
        .map(|pane| text::width(scene.short_name(*pane)) + 3)
        .sum();
    let mut spans = Vec::new();
    for &pane in slot.panes {
        let focused = scene.model.is_focused(pane);
        spans.push(Span::styled(
            format!("{}", pane.digit()),
            styles.text.accent,
        ));
        if pane == shown {
            let style = if focused {
                styles.frame.title_focused
            } else {
                styles.frame.title
            };
            spans.push(Span::styled(format!(" {}", scene.short_name(pane)), style));
        } else if spelled <= room {
            spans.push(Span::styled(
                format!(" {}", scene.short_name(pane)),
                styles.text.dim,
            ));
        }
        spans.push(Span::raw(" "));
    }
    spans.pop();
    Line::from(spans)
}

fn draw_layer(buffer: &mut Buffer, body: Rect, scene: &Scene<'_>) {
    let Some((title, lines, first)) = layer_text(scene, body) else {
        return;
    };
    let outline = layer_outline(body, &scene.model.layer, lines.len());
    Clear.render(outline, buffer);
    let theme = scene.theme();
    (&Grid {
        theme,
        panes: &[outline],
        focused: Some(outline),
    })
        .render(outline, buffer);
    let inside = inside(outline);
    let extent = Extent {
        lines: lines.len() as u16,
        visible: inside.height,
    };
    let first = first.min(extent.scroll_max());
    let more = if extent.scroll_max() > 0 {
        let last = (first + inside.height).min(extent.lines);
        format!("{} to {last} of {}", first + 1, extent.lines)
    } else {
        String::new()
    };
    let name = Line::from(Span::styled(title, theme.styles.frame.title_focused));
    let value = Line::from(Span::styled(more, theme.styles.text.dim));
    (&Title { theme, name, value }).render(outline, buffer);
    for (row, line) in (0..inside.height).zip(lines.iter().skip(usize::from(first))) {
        text::put_line(buffer, inside, row, line);
    }
}

/// Title, lines and first line of the text that lies on top, if one does.
fn layer_text(scene: &Scene<'_>, body: Rect) -> Option<(String, Vec<Line<'static>>, u16)> {
    let theme = scene.theme();
    let width = body
        .width
        .min(box_cells(&scene.model.layer))
        .saturating_sub(4);
    match &scene.model.layer {
        Layer::Help(first) => Some(("Keys".to_owned(), help::lines(theme), *first)),
        Layer::Card(first) => {
            let content = scene.content(scene.model.focus);
            let title = format!("Fidelity of: {}", content.name());
            Some((title, card::lines(theme, &content, width), *first))
        }
        Layer::Why(chains, first) => {
            let title = format!("Why: {}", scene.content(scene.model.focus).name());
            Some((title, why::lines(theme, chains, width), *first))
        }
        Layer::Text(words, first) => {
            let style = theme.styles.text.plain;
            let lines = words
                .lines()
                .map(|line| Line::from(Span::styled(text::visible(line).into_owned(), style)));
            Some((
                "The scenario could not be read again".to_owned(),
                lines.collect(),
                *first,
            ))
        }
        Layer::Output(words, first) => {
            let style = theme.styles.text.plain;
            let lines = printed(words, width);
            let lines = lines
                .into_iter()
                .map(|line| Line::from(Span::styled(line, style)));
            Some(("Printed".to_owned(), lines.collect(), *first))
        }
        Layer::Briefing(first) => {
            Some(("Briefing".to_owned(), sheet::briefing(scene, width), *first))
        }
        Layer::Debrief(first) => Some(("Debrief".to_owned(), sheet::debrief(scene, width), *first)),
        Layer::Hint(words, first) => Some((
            "Hint".to_owned(),
            sheet::paragraphs(theme, words, width),
            *first,
        )),
        Layer::None | Layer::Prompt | Layer::Filter | Layer::Leave => None,
    }
}

/// What a tool printed: the columns of a table stand below each other where there is room for all
/// of them.
fn printed(words: &str, width: u16) -> Vec<String> {
    let with_gaps = |gap: &str| {
        let lines = words.lines().map(|line| line.replace('\t', gap));
        let lines = lines.map(|line| text::visible(line.trim_end()).into_owned());
        lines.collect::<Vec<String>>()
    };
    let fits = |lines: &Vec<String>| lines.iter().all(|line| text::width(line) <= width);
    let whole = ["  ", " "].map(with_gaps).into_iter().find(fits);
    whole.unwrap_or_else(|| {
        let lines = with_gaps("  ");
        let wrapped = lines.iter().flat_map(|line| text::wrap(line, width));
        wrapped.collect()
    })
}

fn layer_outline(body: Rect, layer: &Layer, lines: usize) -> Rect {
    let height = u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2);
    centered(body, box_cells(layer), height)
}

/// How wide the layer on top may be: what a tool prints has longer lines than sentences.
const fn box_cells(layer: &Layer) -> u16 {
    match layer {
        Layer::Output(..) => OUTPUT_CELLS,
        _ => BOX_CELLS,
    }
}

/// How far panes and the layer on top can be scrolled on a screen of this size.
pub fn measure(model: &mut Model, branches: Branches<'_>, area: Rect) {
    let mut extents = [Extent::default(); PANES];
    let mut layer = Extent::default();
    if layout::is_large_enough(area) {
        let scene = Scene::new(model, branches.0).beside(branches.1);
        let dashboard = plan(area, &scene).dashboard;
        for slot in &dashboard.slots {
            let pane = shown(model, slot);
            if model.is_focused(pane) {
                let inside = inside(slot.outline);
                extents[pane.index()] = panel::read(&scene, pane, inside).extent(inside);
            }
        }
        if let Some((_, lines, _)) = layer_text(&scene, dashboard.body) {
            let visible = inside(layer_outline(
                dashboard.body,
                &scene.model.layer,
                lines.len(),
            ))
            .height;
            layer = Extent {
                lines: lines.len() as u16,
                visible,
            };
        }
    }
    model.extents = extents;
    model.layer_extent = layer;
}

/// A terminal that is too small gets a sentence.
fn draw_too_small(buffer: &mut Buffer, area: Rect, model: &Model) {
    let words = format!(
        "kdrill needs {} columns and {} lines; this terminal has {} and {}. The run goes on; \
         q leaves.",
        layout::WIDTH_MIN,
        layout::HEIGHT_MIN,
        area.width,
        area.height,
    );
    let style = model.theme.styles.text.plain;
    for (row, line) in (0..area.height).zip(text::wrap(&words, area.width)) {
        text::put(buffer, area, (0, row), &line, style);
    }
}
