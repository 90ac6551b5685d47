-- A state as version 6 had it, made of one of this version: of host 7 alone.
DROP TABLE cms_tasks;
DROP TABLE cms_refusals;
DROP TABLE cms_calls;
DROP TABLE cms_failures;
DROP TABLE cms_given;
DROP TABLE gates_asked;
DROP TABLE flux_updates;
DROP TABLE flux_zones;
DROP TABLE flux;
DROP TABLE rollout_clock;
DROP TABLE rollout_batches;
DROP TABLE rollout_waits;
DROP TABLE stated_rrsets;
DROP TABLE seen_copies;
DROP TABLE zone_steps;
DROP TABLE zone_consensus;
DROP TABLE target_steps;
DROP TABLE target_serials;
DROP TABLE server_rows;
DROP TABLE rrset_rows;
DROP TABLE ledger;
DROP TABLE left_subjects;
DROP TABLE blocked_subjects;
CREATE TABLE ledger (
    apply BIGINT NOT NULL REFERENCES applies (id),
    host BIGINT NOT NULL,
    project TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (apply, host, project)
);
CREATE INDEX ledger_at ON ledger (at);
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
CREATE TABLE blocked_hosts (
    apply BIGINT NOT NULL REFERENCES applies (id),
    host BIGINT NOT NULL,
    PRIMARY KEY (apply, host)
);
UPDATE batch_changes SET changes = replace(changes, '"subject":"host:7"', '"host":7');
DROP INDEX batches_awaited;
ALTER TABLE batches DROP COLUMN pool;
ALTER TABLE batches DROP COLUMN target;
CREATE INDEX batches_awaited ON batches (zone) WHERE awaited = 1;
ALTER TABLE adoptions DROP COLUMN pool;
ALTER TABLE adoptions DROP COLUMN target;
ALTER TABLE markers RENAME TO markers_of_copies;
CREATE TABLE markers (
    zone TEXT NOT NULL PRIMARY KEY,
    marker TEXT NOT NULL,
    at BIGINT NOT NULL
);
INSERT INTO markers (zone, marker, at) SELECT zone, marker, at FROM markers_of_copies;
DROP TABLE markers_of_copies;
DROP TABLE lacks;
ALTER TABLE own_rrsets RENAME TO own_rrsets_of_copies;
CREATE TABLE own_rrsets (
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    zone TEXT NOT NULL,
    apply BIGINT NOT NULL REFERENCES applies (id),
    seal BIGINT,
    PRIMARY KEY (name, type)
);
INSERT INTO own_rrsets (name, type, zone, apply, seal) SELECT name, type, zone, apply, seal FROM own_rrsets_of_copies;
DROP TABLE own_rrsets_of_copies;
ALTER TABLE once_own RENAME TO once_own_of_copies;
CREATE TABLE once_own (
    apply BIGINT NOT NULL REFERENCES applies (id),
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    PRIMARY KEY (apply, name, type)
);
INSERT INTO once_own (apply, name, type) SELECT apply, name, type FROM once_own_of_copies;
DROP TABLE once_own_of_copies;
DROP TABLE pods_down;
UPDATE schema_version SET version = 6;
