"""The tables of a SQLite file, and what leads to them from each older version. Loaded only for a file that is new or
old."""

from __future__ import annotations

# What leads from each version of the file to the next. The first was without lineage and times of readers, the second
# without states of sessions, the third without the lists that readers sent last, and the fourth kept observed tool
# calls as revisions of the plan.
MIGRATIONS = (
    """
    CREATE TABLE plans (
        id TEXT PRIMARY KEY, revision INTEGER NOT NULL, head TEXT NOT NULL, place TEXT NOT NULL, agent TEXT NOT NULL,
        touched REAL NOT NULL, author TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE places (place TEXT PRIMARY KEY, plan TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE items (
        plan TEXT NOT NULL, id TEXT NOT NULL, rank INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (plan, id)
    ) WITHOUT ROWID;
    CREATE TABLE history (
        plan TEXT NOT NULL, revision INTEGER NOT NULL, at TEXT NOT NULL, by TEXT NOT NULL, reader TEXT NOT NULL,
        dialect TEXT NOT NULL, kind TEXT NOT NULL, changes TEXT NOT NULL, PRIMARY KEY (plan, revision)
    ) WITHOUT ROWID;
    CREATE TABLE readers (
        plan TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL, PRIMARY KEY (plan, key)
    ) WITHOUT ROWID;
    CREATE TABLE bindings (
        session TEXT NOT NULL, agent TEXT NOT NULL, plan TEXT NOT NULL, PRIMARY KEY (session, agent)
    ) WITHOUT ROWID
    """,
    """
    ALTER TABLE plans RENAME TO old_plans;
    ALTER TABLE readers RENAME TO old_readers;
    ALTER TABLE bindings RENAME TO old_bindings;
    CREATE TABLE plans (
        id TEXT PRIMARY KEY, revision INTEGER NOT NULL, head TEXT NOT NULL, place TEXT NOT NULL, agent TEXT NOT NULL,
        touched TEXT NOT NULL, author TEXT NOT NULL, parent TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE readers (
        plan TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL, at TEXT NOT NULL, PRIMARY KEY (plan, key)
    ) WITHOUT ROWID;
    CREATE TABLE bindings (
        session TEXT NOT NULL, agent TEXT NOT NULL, plan TEXT NOT NULL, host TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (session, agent)
    ) WITHOUT ROWID;
    INSERT INTO plans SELECT id, revision, head, place, agent, strftime('%Y-%m-%dT%H:%M:%fZ', touched, 'unixepoch'),
        author, '' FROM old_plans;
    INSERT INTO readers SELECT plan, key, seen, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM old_readers;
    INSERT INTO bindings SELECT session, agent, plan, '', strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM old_bindings;
    DROP TABLE old_plans;
    DROP TABLE old_readers;
    DROP TABLE old_bindings;
    CREATE INDEX bindings_by_plan ON bindings (plan)
    """,
    "CREATE TABLE paces (key TEXT PRIMARY KEY, data TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE lists (
        plan TEXT NOT NULL, key TEXT NOT NULL, tool TEXT NOT NULL, data TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (plan, key, tool)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE observations (
        number INTEGER PRIMARY KEY, plan TEXT NOT NULL, item TEXT NOT NULL, at TEXT NOT NULL, data TEXT NOT NULL
    );
    CREATE INDEX observations_by_item ON observations (plan, item)
    """,
)
OBSERVATIONS = 5  # the version that keeps tool calls beside the plan
# The very first programs left a first version without authors, in which the latest plan of a place was searched.
EARLIEST = """
    DROP INDEX plans_by_place;
    ALTER TABLE plans ADD COLUMN author TEXT NOT NULL DEFAULT '';
    CREATE TABLE places (place TEXT PRIMARY KEY, plan TEXT NOT NULL) WITHOUT ROWID;
    INSERT OR REPLACE INTO places SELECT place, id FROM plans WHERE agent = 'main' ORDER BY touched
    """


def statements(old: int, new: int) -> list[str]:
    """What leads from one version of the file to another; from version 0, a file with nothing in it."""
    made = [statement for script in MIGRATIONS[old:new] for statement in script.split(";")]
    return [*made, f"PRAGMA user_version={new}"]
