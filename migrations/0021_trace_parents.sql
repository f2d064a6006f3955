-- The span that asked for a run, as a W3C traceparent: the run's own span is its child and of the same trace. NULL: the
-- run began a trace.
ALTER TABLE runs ADD COLUMN trace_parent text;
