//! The parameters of a document, one by one: each becomes a setting, a remark or a problem.

use super::draft::{FoundAt, RecordDraft};
use super::parameters::{IdleValues, PARAMETERS, ParameterRow, RefusedValues, ValueForm};
use super::values;
use crate::diag::did_you_mean;
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue};
use crate::inventory::update_record::{ParameterName, ParameterValue, RecordProvider, RecordRemark, RecordSetting};

/// What turns a switch off in front of its name.
const NOT: &str = "no-";

/// The word of JSON Schema that the design of the format has in its example.
pub const ONE_OF: &str = "oneOf";

/// Reads all parameters of a record.
pub fn read(draft: &mut RecordDraft<'_>, provider: RecordProvider, entries: &[(SettingsKey, SettingsNode)]) {
    for (key, node) in entries {
        if key.name == ONE_OF {
            refuse_one_of(draft, key);
            continue;
        }
        let Some(named) = NamedParameter::of(&key.name) else {
            refuse_unknown(draft, provider, key);
            continue;
        };
        let name = named.name;
        if let Some(first) = draft.given.get(&name) {
            let message = if first.name == key.name {
                format!("the parameter `{}` is there twice", key.name)
            } else {
                format!("`{}` and `{}` say the same parameter", first.name, key.name)
            };
            let hint = format!("keep one of them; the first is on line {}", first.origin.line);
            draft.refuse("duplicate-key", key, message, hint);
            continue;
        }
        draft.given.insert(name, key.clone());
        match ParameterRow::find(name, provider) {
            Some(row) => read_one(draft, row, provider, named, (key, node)),
            None => {
                let of = ParameterRow::providers_of(name).join("`, `");
                let message = format!("`{}` is no parameter of `{provider}`", key.name);
                draft.refuse("wrong-provider", key, message, format!("remove it; it is one of `{of}`"));
            }
        }
    }
}

/// Refuses a literal `oneOf`, with the form in its place.
pub fn refuse_one_of(draft: &mut RecordDraft<'_>, key: &SettingsKey) {
    let hint = "write the parameters of one provider directly below `external-dns-parameters`, such as `policy: sync`";
    draft.refuse("one-of-literal", key, "`oneOf` is a word of schemas, and here are values", hint);
}

/// A parameter as a key names it.
#[derive(Debug, Clone, Copy)]
struct NamedParameter {
    /// Which.
    name: ParameterName,
    /// Whether the key says `no-NAME`.
    is_negated: bool,
}

impl NamedParameter {
    /// The parameter of a key; none where there is none, or one that is no switch has `no-` in front.
    fn of(key: &str) -> Option<NamedParameter> {
        let plain = ParameterName::parse(key).map(|name| NamedParameter { name, is_negated: false });
        let negated = || {
            let name = ParameterName::parse(key.strip_prefix(NOT)?)?;
            ParameterRow::is_flag(name).then_some(NamedParameter { name, is_negated: true })
        };
        plain.or_else(negated)
    }
}

/// Refuses a key that is no parameter.
fn refuse_unknown(draft: &mut RecordDraft<'_>, provider: RecordProvider, key: &SettingsKey) {
    let own = PARAMETERS.iter().filter(|row| row.of.contains(&provider)).map(|row| row.name.as_str());
    let hint = did_you_mean(&key.name, own);
    let hint = hint.unwrap_or_else(|| "`zonewright schema dns-update-record` lists the parameters".to_owned());
    draft.refuse("unknown-key", key, format!("there is no parameter `{}`", key.name), hint);
}

/// Reads one parameter that its provider has.
fn read_one(
    draft: &mut RecordDraft<'_>,
    row: &'static ParameterRow,
    provider: RecordProvider,
    named: NamedParameter,
    (key, node): (&SettingsKey, &SettingsNode),
) {
    let value = match values::read(row.form, node) {
        Ok(ParameterValue::Flag(is_on)) => ParameterValue::Flag(is_on != named.is_negated),
        Ok(value) => value,
        Err(fault) => {
            let at = match (&node.value, fault.item) {
                (SettingsValue::List(items), Some(item)) => FoundAt::from(&items[item]),
                // A key without a value has no place of its own.
                _ if node.is_null() => FoundAt::from(key),
                _ => FoundAt::from(node),
            };
            let message = format!("`{}` cannot have this value: {}", key.name, fault.why);
            return draft.refuse("bad-value", at, message, clause(row.says));
        }
    };
    if row.name == ParameterName::Provider {
        return read_provider(draft, provider, &value, node);
    }
    if row.form == ValueForm::AxfrFlag && node.as_text() == Some("axfr") {
        let message = format!("`axfr` is taken as `true`: `{}` is a switch", row.name);
        draft.warn("taken-as", node, message, "write `true`");
    }
    let text = value.canonical();
    let name = row.name;
    let why_idle = match row.idle {
        IdleValues::Always(why) => Some(why),
        IdleValues::At(at, why) => at.contains(&text.as_str()).then_some(why),
        IdleValues::Never => None,
    };
    let refused = match row.refused {
        RefusedValues::At(at, code, why) => at.contains(&text.as_str()).then_some((code, why)),
        RefusedValues::Otherwise(code, why) => why_idle.is_none().then_some((code, why)),
        RefusedValues::Never => None,
    };
    match (refused, why_idle) {
        (Some((code, why)), _) => {
            let (reason, advice) = why.split_once("; ").expect("the table has a reason and what to do");
            draft.refuse(code, key, format!("`{}` is refused: {reason}", key.name), advice);
        }
        (None, Some(why)) => {
            let message = format!("`{}` has no effect: {why}", key.name);
            draft.warn("without-effect", key, message, "remove it, or leave it for external-dns");
            draft.without_effect.push(RecordRemark { name, value, why, origin: node.origin });
        }
        (None, None) => {
            draft.settings.push(RecordSetting { name, value, origin: node.origin, width: node.width });
        }
    }
}

/// Reads `provider` among the parameters, which says once more what `spec` says.
fn read_provider(draft: &mut RecordDraft<'_>, provider: RecordProvider, value: &ParameterValue, node: &SettingsNode) {
    if RecordProvider::of_word(&value.canonical()) != Some(provider) {
        let message = format!("`provider` is another one than `{provider}`, which `spec.provider` says");
        return draft.refuse("wrong-provider", node, message, "remove it here");
    }
    let why = "`spec.provider` says it";
    draft.warn("without-effect", node, format!("`provider` has no effect here: {why}"), "remove it");
    let (name, value, origin) = (ParameterName::Provider, value.clone(), node.origin);
    draft.without_effect.push(RecordRemark { name, value, why, origin });
}

/// A sentence as a part of another one.
fn clause(sentence: &str) -> String {
    let (first, rest) = sentence.split_at(sentence.chars().next().map_or(0, char::len_utf8));
    format!("{}{}", first.to_lowercase(), rest.trim_end_matches('.'))
}
