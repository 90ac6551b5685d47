//! The tables of a state, and how they came about: one step a version.
//!
//! The SQL is what SQLite and PostgreSQL have in common. Times are nanoseconds since 1970 (UTC). Numbers of hosts use
//! all 64 bits, and are kept as signed ones of the same bits. Names are in presentation format, lower case, with the
//! final dot.

/// What makes each version of the one before; the first is made of nothing.
pub const STEPS: &[&str] = &[V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12, V13, V14, V15, V16, V17, V18, V19, V20];

/// The version that this program reads and writes.
pub const VERSION: i64 = STEPS.len() as i64;

/// The tables of version 1.
///
/// The changes of a batch have a table of their own: they are long, and stay as they are when the batch settles.
const V1: &str = "
CREATE TABLE applies (
    id BIGINT NOT NULL PRIMARY KEY,
    plan TEXT NOT NULL,
    effect TEXT NOT NULL,
    started BIGINT NOT NULL,
    who TEXT NOT NULL,
    reason TEXT,
    inputs TEXT NOT NULL,
    hosts BIGINT NOT NULL,
    finished BIGINT,
    outcomes TEXT
);
CREATE TABLE batches (
    apply BIGINT NOT NULL REFERENCES applies (id),
    number BIGINT NOT NULL,
    zone TEXT NOT NULL,
    phase TEXT NOT NULL,
    marker_before TEXT,
    marker_after TEXT,
    awaited BIGINT NOT NULL,
    hosts BIGINT NOT NULL,
    sent_at BIGINT NOT NULL,
    settled TEXT,
    why TEXT,
    settled_at BIGINT,
    PRIMARY KEY (apply, number)
);
CREATE TABLE batch_changes (
    apply BIGINT NOT NULL,
    number BIGINT NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (apply, number),
    FOREIGN KEY (apply, number) REFERENCES batches (apply, number)
);
CREATE INDEX batches_awaited ON batches (zone) WHERE awaited = 1;
CREATE TABLE own_rrsets (
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    zone TEXT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id),
    PRIMARY KEY (name, type)
);
CREATE TABLE markers (
    zone TEXT NOT NULL PRIMARY KEY,
    marker TEXT NOT NULL,
    at BIGINT NOT NULL
);
CREATE TABLE adoptions (
    zone TEXT NOT NULL,
    marker TEXT,
    who TEXT NOT NULL,
    reason TEXT NOT NULL,
    at BIGINT NOT NULL
);
CREATE TABLE ledger (
    apply BIGINT NOT NULL REFERENCES applies (id),
    host BIGINT NOT NULL,
    project TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (apply, host, project)
);
CREATE INDEX ledger_at ON ledger (at);
CREATE TABLE breakers (
    scope TEXT NOT NULL PRIMARY KEY,
    tripped BIGINT NOT NULL,
    why TEXT NOT NULL
);
CREATE TABLE accepted_sources (
    name TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    at BIGINT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id)
);
";

/// What version 2 adds: the plans of applies that may be taken up again, who did so, whose changes were not made and
/// why, which applies undo others, and which RRsets were own when they were deleted.
const V2: &str = "
ALTER TABLE applies ADD COLUMN undoes BIGINT;
CREATE TABLE plans (
    apply BIGINT NOT NULL PRIMARY KEY REFERENCES applies (id),
    expires BIGINT NOT NULL,
    document TEXT NOT NULL
);
CREATE TABLE resumptions (
    apply BIGINT NOT NULL REFERENCES applies (id),
    at BIGINT NOT NULL,
    who TEXT NOT NULL,
    reason TEXT
);
CREATE TABLE left_hosts (
    apply BIGINT NOT NULL REFERENCES applies (id),
    place BIGINT NOT NULL,
    host BIGINT,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    outcome TEXT NOT NULL,
    message TEXT,
    PRIMARY KEY (apply, place)
);
CREATE TABLE once_own (
    apply BIGINT NOT NULL REFERENCES applies (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (apply, name, type)
);
";

/// What version 3 adds: breakers that were reset, limits that an operator lifted for one apply, the last accepted
/// exports with their content, the switches that any of them listed, the RRsets that wait to be deleted, and which
/// applies tried their inputs on the whole fleet.
const V3: &str = "
ALTER TABLE applies ADD COLUMN is_whole BIGINT NOT NULL DEFAULT 1;
CREATE TABLE breaker_resets (
    scope TEXT NOT NULL,
    tripped BIGINT NOT NULL,
    why TEXT NOT NULL,
    at BIGINT NOT NULL,
    who TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE TABLE allowances (
    apply BIGINT NOT NULL REFERENCES applies (id),
    name TEXT NOT NULL,
    number BIGINT NOT NULL,
    effect TEXT NOT NULL,
    at BIGINT NOT NULL,
    who TEXT NOT NULL,
    PRIMARY KEY (apply, name)
);
DROP TABLE accepted_sources;
CREATE TABLE exports (
    source TEXT NOT NULL PRIMARY KEY,
    row_count BIGINT NOT NULL,
    dated BIGINT,
    at BIGINT NOT NULL,
    apply BIGINT REFERENCES applies (id),
    who TEXT NOT NULL,
    reason TEXT
);
CREATE TABLE export_files (
    source TEXT NOT NULL REFERENCES exports (source),
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (source, name)
);
CREATE TABLE l3_switches (
    name TEXT NOT NULL PRIMARY KEY,
    since BIGINT NOT NULL
);
CREATE TABLE waits (
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (name, type)
);
";

/// What version 4 adds: when the plan of an apply was made, null where an earlier version began it; and the hosts that
/// the plan of the latest whole apply, and of those since, left for what blocked them.
const V4: &str = "
ALTER TABLE applies ADD COLUMN planned BIGINT;
CREATE TABLE blocked_hosts (
    apply BIGINT NOT NULL REFERENCES applies (id),
    host BIGINT NOT NULL,
    PRIMARY KEY (apply, host)
);
";

/// What version 5 adds: the digests by which rows prove what they hold; rows that are there get theirs at this step.
const V5: &str = "
ALTER TABLE batches ADD COLUMN seal BIGINT;
ALTER TABLE batch_changes ADD COLUMN seal BIGINT;
ALTER TABLE own_rrsets ADD COLUMN seal BIGINT;
ALTER TABLE exports ADD COLUMN seal BIGINT;
ALTER TABLE export_files ADD COLUMN content_seal BIGINT;
ALTER TABLE export_files ADD COLUMN seal BIGINT;
";

/// What version 6 adds: the id of the workspace, one row.
const V6: &str = "
CREATE TABLE workspace (id TEXT NOT NULL PRIMARY KEY);
";

/// What version 7 changes: what was decided about has its text, where it had the number of a host. What is in the
/// tables of the earlier versions is copied at this step (`subjects`). Plans that are kept have a format that is no longer read.
const V7: &str = "
DELETE FROM plans;
DROP INDEX ledger_at;
ALTER TABLE ledger RENAME TO ledger_of_hosts;
CREATE TABLE ledger (
    apply BIGINT NOT NULL REFERENCES applies (id),
    subject TEXT NOT NULL,
    project TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (apply, subject, project)
);
CREATE INDEX ledger_at ON ledger (at);
CREATE TABLE left_subjects (
    apply BIGINT NOT NULL REFERENCES applies (id),
    place BIGINT NOT NULL,
    subject TEXT NOT NULL,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    outcome TEXT NOT NULL,
    message TEXT,
    PRIMARY KEY (apply, place)
);
CREATE TABLE blocked_subjects (
    apply BIGINT NOT NULL REFERENCES applies (id),
    subject TEXT NOT NULL,
    PRIMARY KEY (apply, subject)
);
";

/// Version 8: markers and updates are of a copy, which is a zone as one target of a pool holds it. A hyphen is in place of
/// the pool and the target of older ones.
const V8: &str = "
ALTER TABLE batches ADD COLUMN pool TEXT NOT NULL DEFAULT '-';
ALTER TABLE batches ADD COLUMN target TEXT NOT NULL DEFAULT '-';
ALTER TABLE adoptions ADD COLUMN pool TEXT NOT NULL DEFAULT '-';
ALTER TABLE adoptions ADD COLUMN target TEXT NOT NULL DEFAULT '-';
ALTER TABLE markers RENAME TO markers_of_zones;
CREATE TABLE markers (
    zone TEXT NOT NULL,
    marker TEXT NOT NULL,
    at BIGINT NOT NULL,
    pool TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (pool, target, zone)
);
INSERT INTO markers (zone, marker, at, pool, target) SELECT zone, marker, at, '-', '-' FROM markers_of_zones;
DROP TABLE markers_of_zones;
";

/// Version 9: own RRsets are of a copy, too, with a hyphen in place of the pool and the target of older ones, which count
/// at any target; and there is a list of the changes that targets lack.
const V9: &str = "
ALTER TABLE own_rrsets RENAME TO own_rrsets_of_zones;
CREATE TABLE own_rrsets (
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    zone TEXT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id),
    seal BIGINT,
    pool TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (name, type, pool, target)
);
INSERT INTO own_rrsets (name, type, zone, apply, seal, pool, target)
  SELECT name, type, zone, apply, seal, '-', '-' FROM own_rrsets_of_zones;
DROP TABLE own_rrsets_of_zones;
ALTER TABLE once_own RENAME TO once_own_of_zones;
CREATE TABLE once_own (
    apply BIGINT NOT NULL REFERENCES applies (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    pool TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (apply, name, type, pool, target)
);
INSERT INTO once_own (apply, name, type, pool, target) SELECT apply, name, type, '-', '-' FROM once_own_of_zones;
DROP TABLE once_own_of_zones;
CREATE TABLE lacks (
    pool TEXT NOT NULL,
    target TEXT NOT NULL,
    zone TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id),
    at BIGINT NOT NULL,
    change TEXT NOT NULL,
    why TEXT NOT NULL,
    seal BIGINT,
    PRIMARY KEY (pool, target, zone, name, type, apply)
);
";

/// What version 10 adds: whether what was applied is served. The steps of each zone of a pool; what each target reached, and
/// the serials that it served then; a row for each server and action; the consensus step; and a row for each RRset,
/// which a later step replaces. The server of a target that votes by itself is an empty text.
const V10: &str = "
CREATE TABLE zone_steps (
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    step BIGINT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id),
    at BIGINT NOT NULL,
    PRIMARY KEY (pool, zone, step)
);
CREATE INDEX zone_steps_apply ON zone_steps (apply);
CREATE TABLE zone_consensus (
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    step BIGINT NOT NULL,
    PRIMARY KEY (pool, zone)
);
CREATE TABLE target_steps (
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    target TEXT NOT NULL,
    step BIGINT NOT NULL,
    is_set_back BIGINT NOT NULL,
    PRIMARY KEY (pool, zone, target)
);
CREATE TABLE target_serials (
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    target TEXT NOT NULL,
    step BIGINT NOT NULL,
    serial BIGINT NOT NULL,
    PRIMARY KEY (pool, zone, target, step)
);
CREATE TABLE server_rows (
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    target TEXT NOT NULL,
    server TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    fault TEXT,
    serial BIGINT,
    step BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (pool, zone, target, server, action)
);
CREATE TABLE rrset_rows (
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    step BIGINT NOT NULL,
    task TEXT NOT NULL,
    status TEXT NOT NULL,
    PRIMARY KEY (pool, zone, name, type)
);
CREATE INDEX rrset_rows_open ON rrset_rows (pool, zone) WHERE status IN ('PENDING', 'ERROR');
CREATE INDEX rrset_rows_step ON rrset_rows (pool, zone, step);
";

/// What version 11 adds: the copies that applies saw, of zones that are made where they are missing; and why a zone was not
/// made or deleted.
const V11: &str = "
CREATE TABLE seen_copies (
    pool TEXT NOT NULL,
    target TEXT NOT NULL,
    zone TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (pool, target, zone)
);
ALTER TABLE server_rows ADD COLUMN why TEXT;
";

/// What version 12 adds: which manifest or zone file claims which RRset.
const V12: &str = "
CREATE TABLE stated_rrsets (
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    stated_by TEXT NOT NULL,
    PRIMARY KEY (name, type, stated_by)
);
";

/// What version 13 adds: the changes of subjects that have a budget, with the updates that had them and the zones in which
/// they are served or not yet; the batches of groups; and the subjects that wait. A change of a later part of an apply has
/// the row of the earlier one.
const V13: &str = "
CREATE TABLE flux (
    subject TEXT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id),
    group_name TEXT NOT NULL,
    location TEXT NOT NULL,
    settle BIGINT NOT NULL,
    is_disruptive BIGINT NOT NULL,
    is_repair BIGINT NOT NULL,
    canary_of BIGINT,
    former TEXT NOT NULL,
    is_over BIGINT NOT NULL,
    PRIMARY KEY (subject, apply)
);
CREATE INDEX flux_apply ON flux (apply);
CREATE TABLE flux_updates (
    apply BIGINT NOT NULL,
    subject TEXT NOT NULL,
    number BIGINT NOT NULL,
    is_lost BIGINT NOT NULL,
    PRIMARY KEY (apply, subject, number)
);
CREATE TABLE flux_zones (
    apply BIGINT NOT NULL,
    subject TEXT NOT NULL,
    pool TEXT NOT NULL,
    zone TEXT NOT NULL,
    after_step BIGINT NOT NULL,
    served BIGINT,
    PRIMARY KEY (apply, subject, pool, zone)
);
CREATE INDEX flux_zones_open ON flux_zones (pool, zone) WHERE served IS NULL;
CREATE TABLE rollout_batches (
    group_name TEXT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    is_canary_settled BIGINT NOT NULL,
    in_service BIGINT NOT NULL
);
CREATE TABLE rollout_waits (
    subject TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    group_name TEXT NOT NULL,
    batch BIGINT NOT NULL,
    since BIGINT NOT NULL,
    code TEXT NOT NULL,
    until BIGINT,
    message TEXT NOT NULL
);
";

/// What version 14 adds: the latest time at which waves were chosen. It never falls, and has one row at most.
const V14: &str = "
CREATE TABLE rollout_clock (
    one BIGINT NOT NULL PRIMARY KEY,
    latest BIGINT NOT NULL
);
";

/// What version 15 adds: which addresses a change gave a subject, whether one of them answered a probe, and whether the
/// subject was down before; and what gates said before the waves of an apply.
const V15: &str = "
ALTER TABLE flux ADD COLUMN gave TEXT NOT NULL DEFAULT '[]';
ALTER TABLE flux ADD COLUMN answer BIGINT;
ALTER TABLE flux ADD COLUMN is_down BIGINT NOT NULL DEFAULT 0;
CREATE TABLE gates_asked (
    apply BIGINT NOT NULL REFERENCES applies (id),
    at BIGINT NOT NULL,
    group_name TEXT NOT NULL,
    gate TEXT NOT NULL,
    outcome TEXT NOT NULL,
    said TEXT NOT NULL
);
CREATE INDEX gates_asked_apply ON gates_asked (apply);
";

/// What version 16 adds: the pods that an export called dead or waiting, since which none had them active where
/// their names point.
const V16: &str = "
CREATE TABLE pods_down (
    subject TEXT NOT NULL PRIMARY KEY
);
";

/// What version 17 adds: what a subject is to have in the end, where its change stopped in between, as JSON.
const V17: &str = "
ALTER TABLE flux ADD COLUMN wanted TEXT;
";

/// What version 18 adds: whether a pod that is down is in service, and since when that it is down is known. Of those that are
/// known already, every plan that can still go on may know.
const V18: &str = "
ALTER TABLE pods_down ADD COLUMN in_service BIGINT NOT NULL DEFAULT 1;
ALTER TABLE pods_down ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
";

/// What version 19 adds: tasks at cluster-management services, hosts that were rejected or went to the end, how services were
/// asked, and which of them do not answer; and what services said of the hosts of an apply before their wave.
const V19: &str = "
CREATE TABLE cms_tasks (
    id TEXT NOT NULL PRIMARY KEY,
    service TEXT NOT NULL,
    project TEXT NOT NULL,
    subject TEXT NOT NULL,
    host TEXT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    comment TEXT NOT NULL,
    task_group TEXT NOT NULL,
    since BIGINT NOT NULL,
    tried BIGINT,
    status TEXT,
    message TEXT NOT NULL,
    said_at BIGINT,
    fault TEXT,
    is_used BIGINT NOT NULL,
    is_ended BIGINT NOT NULL
);
CREATE INDEX cms_tasks_subject ON cms_tasks (subject);
CREATE TABLE cms_refusals (
    subject TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    service TEXT NOT NULL,
    message TEXT NOT NULL,
    change TEXT NOT NULL
);
CREATE TABLE cms_calls (
    service TEXT NOT NULL,
    version TEXT NOT NULL,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    outcome TEXT NOT NULL,
    count BIGINT NOT NULL,
    took BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (service, version, project, kind, action, outcome)
);
CREATE TABLE cms_failures (
    service TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    since BIGINT NOT NULL,
    last BIGINT NOT NULL,
    count BIGINT NOT NULL
);
CREATE TABLE cms_given (
    apply BIGINT NOT NULL REFERENCES applies (id),
    subject TEXT NOT NULL,
    service TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (apply, subject, service, status)
);
";

/// What version 20 adds: the hosts at whose names a change takes addresses, and of which no rule has a part in that.
const V20: &str = "
ALTER TABLE flux ADD COLUMN affected TEXT NOT NULL DEFAULT '[]';
";

/// The first version whose rows have digests.
pub const SEALED: i64 = 5;

/// The first version that has the id of its workspace.
pub const NAMED: i64 = 6;

/// The first version that knows subjects.
pub const OF_SUBJECTS: i64 = 7;
