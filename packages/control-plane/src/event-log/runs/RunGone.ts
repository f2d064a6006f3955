import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * A run was deleted while an answer about it was read in parts, so the answer is incomplete and its transfer is cut
 * (docs/reference/http.md#deleted-while-read). `runId` is undefined for an answer about many runs, whose number has
 * decreased.
 */
export class RunGone extends Data.TaggedError("RunGone")<{ readonly runId: string | undefined }> {
  override get message(): string {
    return `${this.runId === undefined ? "a run" : `run ${this.runId}`} was deleted while it was read`
  }
}

/** A text of a run was erased while an answer about it was read in parts: as with `RunGone`, the transfer is cut. */
export class RunErased extends Data.TaggedError("RunErased")<{ readonly runId: string }> {
  override get message(): string {
    return `texts of run ${this.runId} were erased while it was read`
  }
}

/**
 * The end of a reading in parts: fails unless the run is found after the last part. A deletion removes all rows of a
 * run in one transaction, so the parts are complete when the run still exists.
 */
export const endOfReading = <A, E>(
  runId: string,
  found: Effect.Effect<A | undefined, E>
): Effect.Effect<void, E | RunGone> =>
  Effect.flatMap(found, (run) => (run === undefined ? Effect.fail(new RunGone({ runId })) : Effect.void))
