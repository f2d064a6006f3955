-- The voters of each ended run of a mode with votes, for committees (docs/reference/committees.md). The feature
-- `committees` follows the log and the marks `correct`, and writes them.
CREATE TABLE run_voters (
  run_id uuid PRIMARY KEY REFERENCES runs (id),
  created_at timestamptz NOT NULL,
  -- Equal for runs with the same participants: the first digits of SHA-256 over their sorted names.
  committee text NOT NULL,
  participants text[] NOT NULL,
  -- The case of the run; the run itself before a proposal.
  case_key text NOT NULL,
  -- positive, negative, or none: no decision, or one that does not say yes or no.
  outcome text NOT NULL,
  -- Whether the decision was right by its mark `correct`, not that of a judge; null without one.
  is_right boolean,
  -- A letter for each participant: f(or), a(gainst), x for an abstention, - for no vote on the decided proposal.
  votes text NOT NULL,
  -- What a recount of the run reads, and what each participant cost and when it acted (FactsRow.ts).
  facts json NOT NULL,
  -- The models of each participant as one text, empty without any.
  models text[] NOT NULL
) WITH (toast_tuple_target = 256); -- Counts of votes read rows without their facts.
CREATE INDEX run_voters_created ON run_voters (created_at DESC, run_id DESC);

-- Runs whose row has to be made again. The version is another after each change.
CREATE TABLE run_voter_changes (
  run_id uuid PRIMARY KEY REFERENCES runs (id),
  version bigint GENERATED ALWAYS AS IDENTITY,
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX run_voter_changes_due ON run_voter_changes (due_at);

-- How far the log has been followed: from its beginning, so the runs of earlier releases get their rows.
CREATE TABLE run_voter_cursor (seq bigint NOT NULL);
INSERT INTO run_voter_cursor VALUES (0);
