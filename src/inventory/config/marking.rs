//! `owner`, `registry` and the names of the registry's TXT: for all pools, and for one.

use crate::diag::Diagnostic;
use crate::inventory::node::{SettingsNode, TableReader};
use crate::inventory::pool::Pool;
use crate::registry::{AffixFault, MarkAffix, MarkForm, Marking, Registry, is_owner};

/// Reads what holds for all pools; none where there is no owner, or something is wrong.
pub fn read(reader: &mut TableReader<'_>) -> Option<Marking> {
    let owner = match reader.require("owner") {
        Some(node) => read_owner(node, reader),
        None => None,
    };
    let registry = read_registry(reader).unwrap_or(Registry::Journal);
    let form = read_form(reader, None)?;
    Some(Marking { owner: owner?, registry, form, key: None })
}

/// Reads what a pool says, over what holds for all; none where something in it is wrong.
pub fn read_of_pool(pool: &mut TableReader<'_>, of_all: Option<&Marking>) -> Option<Marking> {
    let owner = match pool.take("owner") {
        Some(node) => read_owner(node, pool),
        None => of_all.map(|marking| marking.owner.clone()),
    };
    let registry = read_registry(pool).or(of_all.map(|marking| marking.registry));
    let form = read_form(pool, of_all.map(|marking| &marking.form))?;
    Some(Marking { owner: owner?, registry: registry?, form, key: None })
}

/// Where the key of encrypted TXT is: the provider of secrets reads it.
pub fn read_key(reader: &mut TableReader<'_>) -> Option<SettingsNode> {
    reader.take("txt_encrypt_aes_key").cloned()
}

/// Warns of a key that nothing needs: no pool has its registry in TXT.
pub fn warn_of_idle_key<'p>(
    key: &SettingsNode,
    mut pools: impl Iterator<Item = &'p Pool>,
    reader: &mut TableReader<'_>,
) {
    if pools.any(|pool| pool.marking.registry.reads_texts()) {
        return;
    }
    let message = "`txt_encrypt_aes_key` has no effect: no pool has `registry = \"txt\"`";
    let diagnostic = Diagnostic::warning("without-effect", key.origin, message);
    reader.push(diagnostic.hint("set `registry = \"txt\"`, or remove the key"));
}

/// Reads `registry`.
fn read_registry(reader: &mut TableReader<'_>) -> Option<Registry> {
    let registries = Registry::ALL.iter().map(|registry| (registry.as_str(), *registry)).collect::<Vec<_>>();
    reader.choice("registry", &registries)
}

/// Reads an owner: text that is written into a heritage TXT unchanged.
fn read_owner(node: &SettingsNode, reader: &mut TableReader<'_>) -> Option<String> {
    let owner = match node.as_text() {
        Some(owner) => owner,
        None => {
            reader.wrong_type(node, "text");
            return None;
        }
    };
    if !is_owner(owner) {
        let message = format!("`{owner}` cannot be an owner");
        let diagnostic = reader.source().error("bad-owner", node.origin, node.width, message);
        reader.push(diagnostic.rule("it is recorded as `heritage=external-dns,external-dns/owner=OWNER`").hint(
            "use 1 to 100 bytes without commas, equals signs, quotes, backslashes, blanks and control characters",
        ));
        return None;
    }
    Some(owner.to_owned())
}

/// Reads `txt_prefix`, `txt_suffix` and `txt_wildcard_replacement`, over what holds for all; none where one is wrong.
fn read_form(reader: &mut TableReader<'_>, of_all: Option<&MarkForm>) -> Option<MarkForm> {
    let prefix = read_text(reader, "txt_prefix", MarkAffix::prefix);
    let (suffix_node, suffix) = (reader.node().get("txt_suffix"), read_text(reader, "txt_suffix", MarkAffix::suffix));
    let wildcard = read_text(reader, "txt_wildcard_replacement", MarkForm::wildcard);
    if let (Some(_), Some(_), Some(node)) = (&prefix, &suffix, suffix_node) {
        let message = "`txt_prefix` and `txt_suffix` exclude each other";
        let diagnostic = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(diagnostic.hint("set the one that external-dns has, and leave the other out"));
        return None;
    }
    let inherited = of_all.cloned().unwrap_or_default();
    let affix = match prefix.or(suffix) {
        Some(affix) => Some(affix?),
        None => inherited.affix,
    };
    let wildcard = match wildcard {
        Some(wildcard) => Some(wildcard?),
        None => inherited.wildcard,
    };
    Some(MarkForm { affix, wildcard })
}

/// Reads a text of a name; none where it is not there, and none in it where it is wrong.
fn read_text<T>(
    reader: &mut TableReader<'_>,
    key: &'static str,
    parse: fn(&str) -> Result<T, AffixFault>,
) -> Option<Option<T>> {
    let node = reader.take(key)?;
    let Some(text) = reader.text_of(node) else { return Some(None) };
    Some(match parse(text) {
        Ok(parsed) => Some(parsed),
        Err(fault) => {
            let message = format!("`{text}` cannot be `{key}`: {fault}");
            let diagnostic = reader.source().error("bad-value", node.origin, node.width, message);
            let hint = match key {
                "txt_wildcard_replacement" => "use one label of letters, digits, `-` and `_`",
                _ => "use letters, digits, `-`, `_`, `.`, and `%{record_type}` for the type",
            };
            reader.push(diagnostic.hint(hint));
            None
        }
    })
}
