//! Draws one problem as a compiler would: title, the lines with carets, hints.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::command::text::is_harmless;
use crate::kafka::config::MASK;

use super::problem::{Mark, Paint, Problem};
use super::sources::Sources;
use super::tree::SourceId;

/// A line longer than this is cut down to what surrounds the caret.
const LINE_BYTES_MAX: usize = 400;
/// Bytes kept on either side of the caret in such a line.
const AROUND_BYTES: usize = 60;

/// One problem as text, without a final line feed.
pub(crate) fn problem(problem: &Problem, sources: &Sources, paint: Paint) -> String {
    draw(problem, sources, Level::ERROR, paint)
}

/// One note as text, without a final line feed.
pub(crate) fn note(note: &Problem, sources: &Sources, paint: Paint) -> String {
    draw(note, sources, Level::NOTE, paint)
}

fn draw(problem: &Problem, sources: &Sources, level: Level<'static>, paint: Paint) -> String {
    let mut group: Group<'_> = Group::with_title(level.primary_title(problem.title()));
    let mut drawn: Vec<SourceId> = Vec::new();
    for mark in &problem.marks {
        let source = mark.place.source;
        if drawn.contains(&source) {
            continue;
        }
        drawn.push(source);
        let marks = problem
            .marks
            .iter()
            .filter(|mark| mark.place.source == source);
        group = match excerpt(&marks.collect::<Vec<_>>(), sources) {
            Excerpt::Lines(snippet) => group.element(snippet),
            Excerpt::PartOfLine(origin, snippet) => group.element(origin).element(snippet),
        };
    }
    if problem.marks.is_empty() {
        let title = renderer(paint).render(&[group]);
        return problem
            .hints()
            .iter()
            .fold(title, |text, hint| format!("{text}\n  = help: {hint}"));
    }
    for hint in problem.hints() {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    renderer(paint).render(&[group])
}

fn renderer(paint: Paint) -> Renderer {
    match paint {
        Paint::Plain => Renderer::plain(),
        Paint::Coloured => Renderer::styled(),
    }
}

/// What is shown of a text.
enum Excerpt<'a> {
    Lines(Snippet<'a, Annotation<'a>>),
    /// A long line cut down: its place is written by hand, since the snippet counts from the cut.
    PartOfLine(Origin<'a>, Snippet<'a, Annotation<'a>>),
}

/// The lines that some marks of one text touch. Only these are handed to the renderer, which
/// would otherwise go through the whole text for every problem.
fn excerpt<'a>(marks: &[&'a Mark], sources: &'a Sources) -> Excerpt<'a> {
    let source = marks[0].place.source;
    let (path, text) = (sources.path(source), sources.text(source));
    let ranges: Vec<_> = marks.iter().map(|mark| sources.range(mark.place)).collect();
    let first = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let last = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = text[last..]
        .find('\n')
        .map_or(text.len(), |length| last + length);
    if end - start > LINE_BYTES_MAX && !text[start..end].contains('\n') {
        return part_of_line(marks[0], sources, start..end);
    }
    let line_start = text[..start].matches('\n').count() + 1;
    let annotations = marks.iter().enumerate().map(|(at, mark)| {
        let kind = if at == 0 {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        let range = sources.range(mark.place);
        let before = shown(sources, source, start..range.start).len();
        let length = shown(sources, source, range).len();
        annotate(kind, before..before + length, &mark.label)
    });
    let snippet = Snippet::source(shown(sources, source, start..end))
        .line_start(line_start)
        .path(path);
    Excerpt::Lines(snippet.annotations(annotations))
}

/// What surrounds the caret of one mark in a long line.
fn part_of_line<'a>(mark: &'a Mark, sources: &'a Sources, line: Range<usize>) -> Excerpt<'a> {
    let source = mark.place.source;
    let text = sources.text(source);
    let range = sources.range(mark.place);
    let boundary = |at: usize| {
        let at = at.clamp(line.start, line.end);
        (at..=line.end)
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(line.end)
    };
    let start = boundary(range.start.saturating_sub(AROUND_BYTES));
    let end = boundary(range.start + AROUND_BYTES);
    let caret = shown(sources, source, start..range.start).len();
    let length = shown(
        sources,
        source,
        range.start..range.end.clamp(range.start, end),
    )
    .len();
    let place = sources.position(mark.place);
    let path = sources.path(source);
    let origin = Origin::path(path)
        .line(place.line)
        .char_column(place.column);
    let snippet = Snippet::source(shown(sources, source, start..end)).line_start(place.line);
    let annotation = annotate(AnnotationKind::Primary, caret..caret + length, &mark.label);
    Excerpt::PartOfLine(origin, snippet.annotation(annotation))
}

/// A stretch of a file as it may be shown: secrets masked, line by line, so that lines keep their
/// numbers. What two neighbouring stretches show is what they show as one.
fn shown(sources: &Sources, source: SourceId, range: Range<usize>) -> Cow<'_, str> {
    let text = sources.text(source);
    let mut secrets = sources
        .secrets(source)
        .iter()
        .filter(|secret| secret.start < range.end && range.start < secret.end)
        .peekable();
    if secrets.peek().is_none() {
        return harmless(&text[range]);
    }
    let mut shown = String::new();
    let mut open = range.start;
    for secret in secrets {
        let hidden = secret.start.max(range.start)..secret.end.min(range.end);
        shown.push_str(&harmless(&text[open..hidden.start]));
        for (offset, c) in text[hidden.clone()].char_indices() {
            let at = hidden.start + offset;
            if at == secret.start || text[..at].ends_with('\n') {
                shown.push_str(MASK);
            }
            if c == '\n' {
                shown.push(c);
            }
        }
        open = hidden.end;
    }
    shown.push_str(&harmless(&text[open..range.end]));
    Cow::Owned(shown)
}

/// The renderer takes care of ASCII's control characters itself; here go the others that a
/// terminal would obey, or not show.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_fine = |c: char| c.is_ascii() || is_harmless(c);
    if text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    let instead = char::REPLACEMENT_CHARACTER;
    text.chars()
        .map(|c| if is_fine(c) { c } else { instead })
        .collect()
}

fn annotate(kind: AnnotationKind, range: Range<usize>, label: &str) -> Annotation<'_> {
    let annotation = kind.span(range);
    if label.is_empty() {
        annotation
    } else {
        annotation.label(label)
    }
}
