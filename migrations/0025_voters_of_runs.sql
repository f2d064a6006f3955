-- The voters of each ended run of a mode with votes, for committees (docs/reference/committees.md). The feature
-- `committees` follows the log and the marks `correct`, and writes them.
CREATE TABLE run_voters (
  run_id uuid PRIMARY KEY REFERENCES runs (id),
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
  -- The same for the recount without the participant; the letters are those of CommitteeLetters.ts.
  recounts text NOT NULL,
  -- The same: 1 for a vote whose opposite would have turned the outcome, 0 for another one, - for no vote.
  pivotal text NOT NULL,
  -- Dollars of the model calls of each participant, and the part that is a guess.
  costs float8[] NOT NULL,
  guessed_costs float8[] NOT NULL,
  -- Milliseconds of each participant up to the decision, and those that the decision could come sooner without it.
  times float8[] NOT NULL,
  saved float8[] NOT NULL,
  -- The models of each participant as one text, empty without any.
  models text[] NOT NULL
);
CREATE INDEX run_voters_committee ON run_voters (committee, run_id);

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
