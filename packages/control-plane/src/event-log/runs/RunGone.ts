import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/**
 * A run was deleted while an answer about it was read in parts: what was read is not all of it, and nothing more will
 * come. The transfer is cut (docs/reference/http.md#deleted-while-read). `runId` is undefined where an answer is about
 * many runs and only their number is known to be less.
 */
export class RunGone extends Data.TaggedError("RunGone")<{ readonly runId: string | undefined }> {
  override get message(): string {
    return `${this.runId === undefined ? "a run" : `run ${this.runId}`} was deleted while it was read`
  }
}

/**
 * The end of a reading in parts: fails unless the run is found after the last part. All rows of a run go with it in one
 * transaction, so the parts before are whole when it is there.
 */
export const endOfReading = <A, E>(
  runId: string,
  found: Effect.Effect<A | undefined, E>
): Effect.Effect<void, E | RunGone> =>
  Effect.flatMap(found, (run) => (run === undefined ? Effect.fail(new RunGone({ runId })) : Effect.void))
