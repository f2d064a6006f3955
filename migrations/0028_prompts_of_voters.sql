-- The hashes of the prompts of each participant as one text, as in models; null in the rows of earlier releases.
ALTER TABLE run_voters ADD COLUMN prompts text[];
