import { isFinal } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { TaskReadOptions } from "./TaskReads.ts"

/** A task that waits for inputs is deleted then. Milliseconds. */
const INPUTS_WAIT_MS = 86_400_000
/** Reads of the control plane at the same time. */
const READS = 4
export const SWEEP_MS = 3_600_000
const SWEPT = 100

/** A round deletes tasks that waited too long for inputs, and some of those whose runs are gone. */
export const makeTaskSweep = ({ rows, runs }: Pick<TaskReadOptions, "rows" | "runs">) => {
  let swept: string | undefined
  return Effect.gen(function* () {
    const expired = yield* rows.expire(INPUTS_WAIT_MS)
    if (expired > 0) yield* Effect.logInfo(`deleted ${expired} tasks that had waited for inputs for a day`)
    const ended = yield* rows.ended(swept, SWEPT)
    swept = ended.length < SWEPT ? undefined : ended.at(-1)?.id
    yield* Effect.forEach(
      ended.filter(({ reason, state }) => reason === undefined && isFinal(state)),
      ({ id }) =>
        Effect.flatMap(runs.find(id), (run) => (run === undefined ? Effect.asVoid(rows.remove(id)) : Effect.void)),
      { concurrency: READS, discard: true }
    )
    return { pauseMs: SWEEP_MS }
  })
}
