import * as Schema from "effect/Schema"
import { runSliced } from "../values/Sliced.ts"
import { type Course, medoidCandidates, medoidInSlices } from "./Flips.ts"

/** Characters of a typical run, as JSON. */
const MOST_CHARACTERS = 256 * 1024

/** The steps of the run in the middle of those that a baseline recorded, as later runs are compared with it. */
export const TypicalRun = Schema.Struct({
  runId: Schema.String,
  steps: Schema.Array(
    Schema.Struct({
      participantId: Schema.String,
      type: Schema.String,
      key: Schema.String,
      said: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null]))
    })
  )
})
export type TypicalRun = typeof TypicalRun.Type

/** The run in the middle of several; undefined without one, and when it is too large to keep. */
export const typicalOf = (courses: ReadonlyArray<Course>): TypicalRun | undefined => {
  const medoid = runSliced(medoidInSlices(medoidCandidates(courses)))
  if (medoid === undefined) return undefined
  const steps = medoid.outline.steps.map(({ key, participantId, said, type }) => ({
    participantId,
    type,
    key,
    said: Object.fromEntries(
      Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
    )
  }))
  const run = { runId: medoid.runId, steps }
  return JSON.stringify(run).length > MOST_CHARACTERS ? undefined : run
}

/** A recorded run as one that others are compared with. */
export const courseOf = ({ runId, steps }: TypicalRun): Course => ({
  runId,
  outline: {
    steps: steps.map((step, at) => ({ ...step, seq: at, index: at, text: () => "", free: {} })),
    outcome: "none",
    lastIndex: steps.length,
    spendings: []
  }
})
