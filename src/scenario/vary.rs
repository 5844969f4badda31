//! What a rehearsal draws anew by a seed (`[rehearsal] vary`), so that it cannot be learnt by
//! heart: values are put into the tree as `--set` would, before it is checked.
//!
//! Invariant: every entry is tried out in every load, so that a wrong path is found without a draw.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::command::units;
use crate::sim::time::SimSpan;

use super::fields::ROOT;
use super::problem::{Findings, Problem};
use super::set;
use super::tree::{Node, Table, Value};

/// Steps of a millisecond are fine enough for people.
const NANOS_PER_STEP: u64 = 1_000_000;

/// Draws by `seed`; without one, only says what is wrong.
pub(crate) fn apply(root: &mut Table, seed: Option<u64>, findings: &mut Findings) {
    let entries = root
        .get("rehearsal")
        .and_then(Node::as_table)
        .and_then(|table| table.get("vary"))
        .and_then(Node::as_array)
        .map(<[Node]>::to_vec)
        .unwrap_or_default();
    if entries.is_empty() {
        return;
    }
    let mut trial = root.clone();
    for entry in &entries {
        // What is wrong with the entry's shape is said with that of all others.
        let Some(table) = entry.as_table() else {
            continue;
        };
        if let Err(problem) = vary(&mut trial, table, entry, seed.unwrap_or(0)) {
            findings.problem(problem);
        }
    }
    if seed.is_some() {
        *root = trial;
    }
}

fn vary(root: &mut Table, table: &Table, entry: &Node, seed: u64) -> Result<(), Problem> {
    let Some((path_node, path)) = table
        .get("path")
        .and_then(|node| Some((node, node.as_text()?)))
    else {
        return Ok(());
    };
    let together = table.get("together").and_then(Node::as_text);
    let mut stream = Draws::new(seed, together.unwrap_or(path));
    let drawn = match (table.get("between"), table.get("one-of")) {
        (Some(between), None) => drawn_between(between, &mut stream)?,
        (None, Some(list)) => {
            let items = list.as_array().unwrap_or(&[]);
            let place = stream.below(items.len() as u64) as usize;
            let nothing = || Problem::new("`one-of` has nothing to take").at(list.place, "");
            items.get(place).ok_or_else(nothing)?.clone()
        }
        _ => {
            let problem = Problem::new("`vary` draws in exactly one way");
            return Err(problem.at(entry.place, "expected one of between or one-of"));
        }
    };
    let nowhere = || Problem::new("`path` is no path").at(path_node.place, "");
    let mut parts = set::parts(path, path_node.place.source).ok_or_else(nowhere)?;
    for part in &mut parts {
        part.place = path_node.place;
    }
    set::put(&ROOT, root, &parts, drawn)
}

/// Draws for one word, independent of those for others.
struct Draws(ChaCha8Rng);

impl Draws {
    fn new(seed: u64, word: &str) -> Self {
        // FNV-1a: an identity, no secret.
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        source.set_stream(hash);
        Self(source)
    }

    /// A uniform whole number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

/// A value between two, both included: whole numbers, durations, or byte rates.
fn drawn_between(between: &Node, stream: &mut Draws) -> Result<Node, Problem> {
    let problem = |text: &str| Problem::new(text).at(between.place, "expected [a, b]");
    let [low, high] = between.as_array().unwrap_or(&[]) else {
        return Err(problem("`between` takes two values"));
    };
    let mut draw = |low: u64, high: u64| {
        let ordered = low <= high && high < u64::MAX;
        ordered
            .then(|| low + stream.below(high - low + 1))
            .ok_or_else(|| problem("`between` is upside down"))
    };
    let value = match (&low.value, &high.value) {
        (Value::Integer(Some(low)), Value::Integer(Some(high))) => {
            let (Ok(low), Ok(high)) = (u64::try_from(*low), u64::try_from(*high)) else {
                return Err(problem("`between` takes numbers of at least 0"));
            };
            Value::Integer(Some(i128::from(draw(low, high)?)))
        }
        (Value::Text(low), Value::Text(high)) => {
            let durations = (units::duration(low), units::duration(high));
            let rates = (units::byte_rate(low), units::byte_rate(high));
            match (durations, rates) {
                ((Ok(low), Ok(high)), _) => {
                    let steps = |span: SimSpan| span.as_nanos() / NANOS_PER_STEP;
                    let millis = draw(steps(low), steps(high))?;
                    Value::Text(units::show_duration(SimSpan::from_millis(millis)))
                }
                (_, (Ok(low), Ok(high))) => Value::Text(units::show_byte_rate(draw(low, high)?)),
                _ => return Err(problem("`between` takes durations, byte rates or numbers")),
            }
        }
        _ => return Err(problem("`between` takes durations, byte rates or numbers")),
    };
    Ok(Node {
        place: between.place,
        value,
    })
}
