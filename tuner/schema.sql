-- What tuning knows. Every fact is a row of its own: adding a configuration, resuming and merging are plain inserts.
-- Times are seconds, sizes bytes.

-- Where a trial ran, or for which architecture it was predicted (then gpu is empty).
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,            -- of the columns below
  gpu TEXT NOT NULL,
  arch TEXT NOT NULL,                   -- full architecture, such as sm_90a
  capability TEXT NOT NULL,             -- 9.0
  sms INTEGER NOT NULL,
  l2_bytes INTEGER NOT NULL,
  toolkit TEXT NOT NULL,
  assembler TEXT NOT NULL,
  tool TEXT NOT NULL                    -- version of tilec and hash of its code generator
) STRICT;

CREATE TABLE kernel (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,                   -- of the canonical tile IR under the file's own defaults
  name TEXT NOT NULL,
  file TEXT NOT NULL,
  UNIQUE (hash, name, file)
) STRICT;

CREATE TABLE problem (
  id INTEGER PRIMARY KEY,
  kernel_id INTEGER NOT NULL REFERENCES kernel (id),
  problem TEXT NOT NULL,                -- C=1024,R=4096,T=f32: extents, scalars and dtypes
  extents TEXT NOT NULL,                -- JSON
  dtypes TEXT NOT NULL,                 -- JSON
  strides TEXT NOT NULL,                -- class: contiguous
  alignment INTEGER NOT NULL,
  UNIQUE (kernel_id, problem, strides, alignment)
) STRICT;

-- Machine code by its content: configurations that compile to the same code share it.
CREATE TABLE binary (
  hash TEXT PRIMARY KEY,                -- sha256
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,             -- of IR, configuration, tool versions, flags and full architecture
  arch TEXT NOT NULL,
  plan TEXT NOT NULL,                   -- the artifact as JSON; it holds the hashes of its binaries
  binary_hash TEXT NOT NULL,            -- of the first binary
  registers INTEGER NOT NULL,
  shared_bytes INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  compile_seconds REAL NOT NULL
) STRICT;

CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,             -- sha256 of key_parts: whatever can change the result
  key_parts TEXT NOT NULL,              -- JSON
  problem_id INTEGER NOT NULL REFERENCES problem (id),
  environment_id INTEGER NOT NULL REFERENCES environment (id),
  configuration TEXT NOT NULL,          -- JSON
  configuration_id INTEGER NOT NULL,    -- its number in the space it was taken from
  policy TEXT NOT NULL,                 -- of timing: cold, hot, graph; or model for a prediction
  verification TEXT NOT NULL,           -- how the result was checked
  artifact_id INTEGER REFERENCES artifact (id),
  status TEXT NOT NULL,                 -- statuses.def
  reason TEXT NOT NULL,
  samples_taken INTEGER NOT NULL,
  median REAL,                          -- seconds; absent where nothing was measured
  low REAL, high REAL,                  -- 95 % interval of the median
  samples TEXT NOT NULL,                -- JSON list of seconds
  clocks TEXT NOT NULL,                 -- JSON: clocks seen while measuring, throttling
  driver TEXT NOT NULL,
  created TEXT NOT NULL                 -- UTC, ISO 8601
) STRICT;
CREATE INDEX trial_of_problem ON trial (problem_id, environment_id, policy);

-- A choice made by hand; it comes before what was measured.
CREATE TABLE pin (
  id INTEGER PRIMARY KEY,
  problem_id INTEGER NOT NULL REFERENCES problem (id),
  arch TEXT NOT NULL,
  configuration TEXT NOT NULL,
  reason TEXT NOT NULL,
  created TEXT NOT NULL,
  UNIQUE (problem_id, arch)
) STRICT;

-- The best of all trials of a problem: within half a percent of the fastest, the fewest resources, then the smallest
-- number win, so that a second run names the same one.
CREATE VIEW winner AS
WITH good AS (
  SELECT trial.*, coalesce(artifact.registers * artifact.threads, 0) AS registers,
         coalesce(artifact.shared_bytes, 0) AS shared_bytes,
         min(median) OVER (PARTITION BY problem_id, environment_id, policy) AS fastest
  FROM trial LEFT JOIN artifact ON artifact.id = trial.artifact_id
  WHERE status IN ('ok', 'predicted') AND median > 0
), ranked AS (
  SELECT *, row_number() OVER (PARTITION BY problem_id, environment_id, policy
                               ORDER BY registers, shared_bytes, configuration_id, id) AS place
  FROM good WHERE median <= fastest * 1.005
)
SELECT id AS trial_id, problem_id, environment_id, policy, configuration, median, low, high
FROM ranked WHERE place = 1;
