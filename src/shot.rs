//! From the command line to a still.

use kdrill::cli::{BackgroundName, PaneName, ShotArgs, StillFormatName};
use kdrill::headless::Exit;
use kdrill::scenario::Overrides;
use kdrill::still::{self, Background, Request, StillFormat};
use kdrill::tui::pane::Pane;

use crate::looks;

/// Writes the still that is asked for.
pub fn run(args: ShotArgs) -> Exit {
    let background = match args.background {
        BackgroundName::Dark => Background::Dark,
        BackgroundName::Light => Background::Light,
    };
    let format = match args.format() {
        StillFormatName::Txt => StillFormat::Text,
        StillFormatName::Ansi => StillFormat::Ansi,
        StillFormatName::Svg => StillFormat::Svg(background),
    };
    still::run(&Request {
        theme: looks::fixed(args.theme, args.ascii),
        pane: args.pane.map(pane),
        scenario: args.scenario,
        overrides: Overrides {
            seed: args.seed,
            until: None,
            set: args.set,
            vary: None,
        },
        at: args.at,
        size: args.size,
        format,
        output: args.output,
    })
}

fn pane(name: PaneName) -> Pane {
    match name {
        PaneName::Fill => Pane::Fill,
        PaneName::Wait => Pane::Wait,
        PaneName::Load => Pane::Partitions,
        PaneName::Markers => Pane::Markers,
        PaneName::Cluster => Pane::Cluster,
        PaneName::Warnings => Pane::Warnings,
        PaneName::Events => Pane::Events,
        PaneName::Expectations => Pane::Expectations,
        PaneName::Ledger => Pane::Ledger,
    }
}
