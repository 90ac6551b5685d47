//! A record in the making: what was read of it, and what was found.

use std::collections::HashMap;

use crate::diag::{Code, Diagnostic, Diagnostics, Origin, Severity};
use crate::inventory::node::{SettingsKey, SettingsNode, SourceText};
use crate::inventory::update_record::{ParameterName, RecordProblem, RecordRemark, RecordSetting};

/// A place that a finding is about.
#[derive(Debug, Clone, Copy)]
pub struct FoundAt {
    /// Where it begins.
    pub origin: Origin,
    /// How many characters it takes.
    pub width: usize,
}

impl From<&SettingsNode> for FoundAt {
    fn from(node: &SettingsNode) -> FoundAt {
        FoundAt { origin: node.origin, width: node.width }
    }
}

impl From<&SettingsKey> for FoundAt {
    fn from(key: &SettingsKey) -> FoundAt {
        FoundAt { origin: key.origin, width: key.width }
    }
}

impl From<&RecordSetting> for FoundAt {
    fn from(setting: &RecordSetting) -> FoundAt {
        FoundAt { origin: setting.origin, width: setting.width }
    }
}

/// What was read of a document so far.
pub struct RecordDraft<'a> {
    /// The text of the file.
    pub source: &'a SourceText,
    /// The parameters that are given, whatever is made of them, each with its key.
    pub given: HashMap<ParameterName, SettingsKey>,
    /// The parameters that count.
    pub settings: Vec<RecordSetting>,
    /// The parameters that have no effect.
    pub without_effect: Vec<RecordRemark>,
    /// What is wrong.
    pub problems: Vec<RecordProblem>,
    /// The same, and warnings, for people.
    pub diagnostics: Diagnostics,
}

impl<'a> RecordDraft<'a> {
    /// Starts on a document.
    pub fn new(source: &'a SourceText) -> RecordDraft<'a> {
        RecordDraft {
            source,
            given: HashMap::new(),
            settings: Vec::new(),
            without_effect: Vec::new(),
            problems: Vec::new(),
            diagnostics: Diagnostics::default(),
        }
    }

    /// A parameter that counts.
    pub fn setting(&self, name: ParameterName) -> Option<RecordSetting> {
        self.settings.iter().find(|setting| setting.name == name).cloned()
    }

    /// Notes something that is wrong; the message has no secret in it.
    pub fn refuse(
        &mut self,
        code: impl Into<Code>,
        at: impl Into<FoundAt>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let (code, FoundAt { origin, width }, message) = (code.into(), at.into(), message.into());
        self.diagnostics.push(self.source.error(code, origin, width, message.clone()).hint(hint));
        self.problems.push(RecordProblem { code, message, origin });
    }

    /// Notes something that a person should look at.
    pub fn warn(
        &mut self,
        code: impl Into<Code>,
        at: impl Into<FoundAt>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let FoundAt { origin, width } = at.into();
        let found = self.source.error(code, origin, width, message).hint(hint);
        self.diagnostics.push(Diagnostic { severity: Severity::Warning, ..found });
    }
}
