import * as Data from "effect/Data"

/**
 * The transaction of an append did not commit, or its outcome stayed unknown for `OUTCOME_TIMEOUT_MS`: read the cursor
 * again before the next append. A change of status, a creation and frames may be retried in any case, because the log
 * recognises them.
 */
export class AppendFailed extends Data.TaggedError("AppendFailed")<{
  readonly runId: string
  readonly reason: string
  /** The database could not be used at all, or time ran out; the request itself may be right. */
  readonly outage: boolean
}> {
  override get message(): string {
    return `could not append to run ${this.runId}: ${this.reason}`
  }
}
