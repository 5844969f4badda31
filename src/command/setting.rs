//! `set producer NAME key=value`: the part that the client itself would check.

use std::ops::Range;

use crate::kafka::config::java;
use crate::kafka::version::KafkaVersion;

use super::problem::CommandProblem;
use super::text::nearest;

/// Splits `key=value`, and refuses what the client would refuse with this change.
///
/// An unknown key, which a Java client would ignore, is refused too: whoever types it means
/// another one.
pub(super) fn parse(
    setting: &str,
    client: Option<(KafkaVersion, &[(String, String)])>,
    range: Range<usize>,
) -> Result<(String, String), CommandProblem> {
    let problem = |message: String| CommandProblem::new(message, range.clone());
    let Some((key, value)) = setting
        .split_once('=')
        .filter(|(key, _)| !key.trim().is_empty())
    else {
        return Err(problem(format!("`{setting}` is not KEY=VALUE")).hint("such as linger.ms=20"));
    };
    let (key, value) = (key.trim(), value.trim());
    let (version, given) = client.unwrap_or((KafkaVersion::DEFAULT, &[]));
    let Some(known) = java::find(key).filter(|known| known.is_known_to(version)) else {
        let names = java::table().filter(|known| known.is_known_to(version));
        let near = nearest(key, names.map(|known| known.name));
        return Err(problem(format!("a {version} client has no `{key}`"))
            .maybe(near, || "the client would ignore it".to_owned()));
    };
    if known.name == "transactional.id" {
        return Err(problem(
            "transactions are not yet in this version".to_owned(),
        ));
    }
    let mut pairs = given.to_vec();
    pairs.retain(|(given, _)| given != key);
    pairs.push((key.to_owned(), value.to_owned()));
    let refused = java::validate(version, &pairs).err().unwrap_or_default();
    match refused.first() {
        Some(refused) => {
            let message = refused.text.trim_end_matches('.').to_owned();
            Err(problem(format!("{}: {message}", refused.error.name())))
        }
        None => Ok((key.to_owned(), value.to_owned())),
    }
}

/// The client's keys, with what they mean.
pub(super) fn keys() -> impl Iterator<Item = (&'static str, String)> {
    java::table().map(|key| (key.name, key.help.to_owned()))
}
