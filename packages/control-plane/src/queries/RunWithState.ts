import { runNotFound } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { RunStateReader } from "../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"

/** Reads a run with a part of its state, and decodes only that part of the projection. */
export const makeRunWithState = Effect.gen(function* () {
  const states = yield* RunStateReader
  const runs = yield* RunRepository
  return Effect.fnUntraced(function* <S>(reference: string, part: Schema.Decoder<S>) {
    const run = yield* runs.find(reference)
    const current = run && (yield* states.current(run.record.id))
    if (run === undefined || current === undefined) return yield* runNotFound(reference)
    const decode = Schema.decodeEffect(Schema.fromJsonString(part))
    return { run, state: yield* Effect.orDie(decode(current.state)) }
  })
})
