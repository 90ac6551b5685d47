CREATE TABLE schema_version (version BIGINT NOT NULL);
INSERT INTO schema_version VALUES (1);
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
INSERT INTO applies VALUES (1, 'sha256:aa', 'sha256:bb', 1795140000000000000, 'ops', NULL, '{"racktables/hosts.csv":"00ff"}', 2, 1795140009000000000, '{"applied":1,"stale":1}');
INSERT INTO applies VALUES (2, 'sha256:cc', 'sha256:dd', 1795140100000000000, 'ops', 'ticket 7', '{}', 1, NULL, NULL);
INSERT INTO batches VALUES (1, 1, 'search.example.net.', 'forward', NULL, 'e=1 p=sha256:aa b=1', 0, 1, 1795140001000000000, 'done', NULL, 1795140002000000000);
INSERT INTO batches VALUES (2, 1, 'search.example.net.', 'forward', '"e=1 p=sha256:aa b=1"', 'e=2 p=sha256:aa b=1', 1, 1, 1795140101000000000, NULL, NULL, NULL);
INSERT INTO batch_changes VALUES (1, 1, '[{"host":7,"project":"search","name":"a.search.example.net.","type":"AAAA","before":null,"after":{"ttl":600,"rdata":["2a02::1"]}}]');
INSERT INTO own_rrsets VALUES ('a.search.example.net.', 'AAAA', 'search.example.net.', 1);
INSERT INTO markers VALUES ('search.example.net.', 'e=1 p=sha256:aa b=1', 1795140002000000000);
INSERT INTO ledger VALUES (1, 7, 'search', 1795140002000000000);
INSERT INTO breakers VALUES ('global', 1795140003000000000, 'a limit was exceeded');
INSERT INTO accepted_sources VALUES ('racktables/hosts.csv', '00ff', 1795140009000000000, 1);
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
UPDATE schema_version SET version = 2;
INSERT INTO applies VALUES (3, 'sha256:ee', 'sha256:ff', 1795140200000000000, 'night', NULL, '{"racktables/hosts.csv":"11ff"}', 1, 1795140209000000000, '{"stale":1}', 1);
INSERT INTO plans VALUES (2, 1795226500000000000, '{}');
INSERT INTO resumptions VALUES (2, 1795140150000000000, 'night', 'after the reboot');
INSERT INTO left_hosts VALUES (3, 0, 7, 'search', 'a.search.example.net.', 'stale', 'it is stale');
INSERT INTO once_own VALUES (3, 'a.search.example.net.', 'AAAA');
INSERT INTO accepted_sources VALUES ('racktables/l3-tors.txt', '22ff', 1795140009000000000, 1);
