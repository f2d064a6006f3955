/** Why ingest drops spans and log records (docs/reference/ingest.md#dropped). */
export const dropReasons = [
  ...(["invalid", "run_full", "run_deleted", "without_span"] as const),
  ...(["construction", "unrelated", "log_unread", "log_full"] as const),
  // Parts beyond the limits of a request.
  ...(["groups", "attributes", "events", "links", "values"] as const)
]
export type DropReason = (typeof dropReasons)[number]
/** Why telemetry does not join the run of the session that it names (docs/reference/ingest.md#joining). */
export const joinRefusals = ["not_named", "other_session", "token_invalid", "token_expired"] as const
export type JoinRefusal = (typeof joinRefusals)[number]
