//! What a notice says.

use crate::dns::Name;
use crate::dns::reverse::address_of;
use crate::plan::Notice;

/// What a notice says, with what it is about in front unless it says so itself; not sanitized.
pub fn says(notice: &Notice) -> String {
    let Notice { name, message, .. } = notice;
    let address = Name::parse(name).ok().and_then(|name| address_of(name.as_name()));
    let says_so = message.contains(name.as_str()) || address.is_some_and(|own| message.contains(&format!("`{own}`")));
    if says_so { message.clone() } else { format!("{name}: {message}") }
}
