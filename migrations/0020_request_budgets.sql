-- Requests of each client over all processes (THROTTLE_STORE=postgres). Not logged: it is worth a window of time at most.
CREATE UNLOGGED TABLE request_budgets (
  client text PRIMARY KEY,
  spent bigint NOT NULL,
  window_ends timestamptz NOT NULL,
  blocked_until timestamptz NOT NULL
);
