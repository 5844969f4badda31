//! One recorded case beside what the simulation says: figure by figure, each with its tolerance.

use std::fmt::Display;

/// A case of a probe, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// `probe/case`, as recorded.
    pub case: String,
    /// What is compared, in the words of `docs/fidelity.md`.
    pub mechanism: &'static str,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One figure, real and simulated.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// As recorded.
    pub real: Value,
    /// As simulated.
    pub simulated: Value,
    /// How far they may be apart.
    pub tolerance: Tolerance,
}

/// A figure's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Anything that is the same or not.
    Text(String),
}

/// How far real and simulated may be apart, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Not at all.
    Exact,
    /// By this share of the real figure.
    Share(f64, &'static str),
    /// By this much, in the figure's own unit.
    Absolute(f64, &'static str),
}

impl Comparison {
    /// A case without figures yet.
    pub fn new(case: impl Into<String>, mechanism: &'static str) -> Self {
        Self {
            case: case.into(),
            mechanism,
            figures: Vec::new(),
        }
    }

    /// Adds two numbers.
    pub fn number(
        mut self,
        name: impl Into<String>,
        real: f64,
        simulated: f64,
        tolerance: Tolerance,
    ) -> Self {
        self.figures.push(Figure {
            name: name.into(),
            real: Value::Number(real),
            simulated: Value::Number(simulated),
            tolerance,
        });
        self
    }

    /// Adds two texts, which must be the same.
    pub fn text(
        mut self,
        name: impl Into<String>,
        real: impl Into<String>,
        simulated: impl Into<String>,
    ) -> Self {
        self.figures.push(Figure {
            name: name.into(),
            real: Value::Text(real.into()),
            simulated: Value::Text(simulated.into()),
            tolerance: Tolerance::Exact,
        });
        self
    }

    /// Adds two lists, which must be the same; of different ones the first difference is shown.
    pub fn list<T: Display>(self, name: &str, real: &[T], simulated: &[T]) -> Self {
        let text = |items: &[T]| items.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (real, simulated) = (text(real), text(simulated));
        let length = real.len().max(simulated.len());
        let differs = (0..length).find(|&at| real.get(at) != simulated.get(at));
        let Some(at) = differs else {
            let all = format!("{length} alike");
            return self.text(name, all.clone(), all);
        };
        let shown = |items: &[String]| {
            let item = items.get(at).map_or("nothing", String::as_str);
            format!("{item} (number {at} of {})", items.len())
        };
        self.text(name, shown(&real), shown(&simulated))
    }

    /// The figures that are too far apart.
    pub fn differences(&self) -> impl Iterator<Item = &Figure> {
        self.figures.iter().filter(|figure| !figure.holds())
    }

    /// Whether there is anything, and all of it holds.
    pub fn holds(&self) -> bool {
        !self.figures.is_empty() && self.differences().next().is_none()
    }
}

impl Figure {
    /// How far the two are apart, as a share of what is allowed: up to 1 is fine.
    pub fn strain(&self) -> f64 {
        match (&self.real, &self.simulated, self.tolerance) {
            (Value::Number(real), Value::Number(simulated), tolerance) => {
                let apart = (real - simulated).abs();
                let allowed = match tolerance {
                    Tolerance::Exact => 0.0,
                    Tolerance::Share(share, _) => real.abs() * share,
                    Tolerance::Absolute(most, _) => most,
                };
                if apart == 0.0 { 0.0 } else { apart / allowed }
            }
            (real, simulated, _) if real == simulated => 0.0,
            _ => f64::INFINITY,
        }
    }

    /// Whether they are close enough.
    pub fn holds(&self) -> bool {
        self.strain() <= 1.0
    }

    /// The difference in words.
    pub fn difference(&self) -> String {
        match (&self.real, &self.simulated) {
            (real, simulated) if real == simulated => "none".to_string(),
            (Value::Number(real), Value::Number(simulated)) if *real != 0.0 => {
                format!("{:+.2} %", (simulated - real) / real.abs() * 100.0)
            }
            (Value::Number(real), Value::Number(simulated)) => format!("{:+}", simulated - real),
            _ => "differs".to_string(),
        }
    }
}

impl Display for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) if number.fract() == 0.0 => write!(out, "{number}"),
            Self::Number(number) => write!(out, "{number:.4}"),
            Self::Text(text) => out.write_str(text),
        }
    }
}

/// The median, and how far the runs are apart as a share of it.
pub fn median_and_spread(mut runs: Vec<f64>) -> (f64, f64) {
    runs.sort_by(f64::total_cmp);
    let median = runs[runs.len() / 2];
    (median, (runs[runs.len() - 1] - runs[0]) / median.abs())
}
