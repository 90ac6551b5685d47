//! Which zone of an account is meant, where several have one name or settings leave some out. Pure.

use super::fault::{AwsFault, AwsFaultKind};

/// A zone, with the setting that leaves it out, where one does.
pub type JudgedZone<T> = (T, Option<&'static str>);

/// What messages say of the zones of a service.
pub struct ZoneWords {
    /// What it calls one.
    pub one: &'static str,
    /// What to do where settings leave out all of one name.
    pub left_out: &'static str,
    /// What to do where several of one name are meant.
    pub several: &'static str,
}

/// The zone that is meant among those of one name; none where the account has none. `facts` are the id of a zone, and whether it
/// is private.
///
/// Errors: several are meant; settings leave all of them out.
pub fn the_one<T>(
    found: Vec<JudgedZone<T>>,
    facts: impl Fn(&T) -> (&str, bool),
    words: &ZoneWords,
) -> Result<Option<T>, AwsFault> {
    let shown = |(zone, left_out): &JudgedZone<T>| {
        let (id, is_private) = facts(zone);
        let kind = if is_private { "private" } else { "public" };
        let by = left_out.map(|key| format!(" by `{key}`")).unwrap_or_default();
        format!("{id} ({kind}){by}")
    };
    let listed = |zones: &[JudgedZone<T>]| zones.iter().map(shown).collect::<Vec<String>>().join(", ");
    let (mut meant, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, left_out)| left_out.is_none());
    let (message, hint) = match (meant.len(), others.as_slice()) {
        (0, []) | (1, _) => return Ok(meant.pop().map(|(zone, _)| zone)),
        (0, others) => {
            (format!("settings leave out each {} of this name: {}", words.one, listed(others)), words.left_out)
        }
        (count, _) => (format!("{count} {}s have this name: {}", words.one, listed(&meant)), words.several),
    };
    Err(AwsFault::new(AwsFaultKind::Refused, "zone-not-served", message, hint))
}
