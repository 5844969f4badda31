//! Time that one frame of the whole dashboard takes, drawn into a buffer: at most 2 ms at 200×60 and
//! 1 ms at 120×36, in the middle of the busiest scenario of the library.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kdrill::scenario::{Overrides, Source, load};
use kdrill::session::Session;
use kdrill::sim::time::SimTime;
use kdrill::tui::Run;
use kdrill::tui::model::{Detail, Origin};
use kdrill::tui::pace::Speed;
use kdrill::tui::theme::{Charset, Colors, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A run two thirds through, with everything in its panes.
fn run() -> Run {
    let source = Source::Embedded("full-buffer".to_owned());
    let scenario = load(source, &Overrides::default()).expect("the library loads");
    let mut session = Session::new(Arc::new(scenario));
    let _reached = session.advance_to(SimTime::from_seconds(130), u64::MAX);
    let theme = Theme::new(Colors::True, Charset::Unicode);
    Run::new(session, theme, Speed::REAL, Origin::CommandLine)
}

fn frame(criterion: &mut Criterion) {
    let mut run = run();
    let mut group = criterion.benchmark_group("frame");
    for (width, height) in [(80, 24), (120, 36), (200, 60)] {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        for (name, detail) in [
            ("dashboard", Detail::Dashboard),
            ("expanded", Detail::Expanded),
        ] {
            run.model.detail = detail;
            let id = BenchmarkId::new(name, format!("{width}x{height}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    buffer.reset();
                    run.measure(area);
                    black_box(run.draw(&mut buffer))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, frame);
criterion_main!(benches);
