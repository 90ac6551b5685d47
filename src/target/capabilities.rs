//! What targets of a type can do, as a value.

/// What targets of one type can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetCapabilities {
    /// Where their zones are.
    pub home: ZoneHome,
    /// What fences a zone where its settings do not say.
    pub fence: ZoneFence,
}

/// Whether one target can make and delete zones, by its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneMaking {
    /// Whether it can make them.
    pub creates: bool,
    /// Whether it can delete them.
    pub deletes: bool,
}

/// Where the zones of a target are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneHome {
    /// In files of the workspace, so that reading them asks no server.
    Workspace,
    /// On servers.
    Servers,
}

/// What keeps two writers of a zone apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneFence {
    /// A marker, since others may write at the same time.
    Marker,
    /// Nothing: there is one writer alone.
    None,
}
