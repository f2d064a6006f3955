-- The runs in which an agent was tried beside a participant, by the name of the shadow.
CREATE INDEX artifacts_shadows ON artifacts (label) WHERE kind = 'shadow.acts';
