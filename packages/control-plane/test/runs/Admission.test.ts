import { assert, describe, it } from "@effect/vitest"
import { type Conflict, controlPlaneError } from "@runplane/api"
import { RunDescriptor } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { newRun } from "../../src/event-log/runs/NewRun.ts"
import { type AdmissionGuard, admitted } from "../../src/runs/Admission.ts"
import { descriptor } from "../support/HttpService.ts"

const RUN_ID = "018f0000-0000-7000-8000-000000000001"
const run = newRun(Schema.decodeUnknownSync(RunDescriptor)(descriptor()), {
  ...{ id: RUN_ID, sessionId: RUN_ID, traceId: "1".repeat(32), spanId: "" }
})

/** Guards, and the steps of an insertion in their order. */
const insertion = Effect.fnUntraced(function* (refusals: ReadonlyArray<Conflict | undefined>) {
  const steps: Array<string> = []
  const step = (name: string) => Effect.sync(() => void steps.push(name))
  const guards = refusals.map(
    (refusal, number): AdmissionGuard =>
      () =>
        Effect.succeed({
          prepare: step(`prepare ${number}`),
          decide: Effect.as(step(`decide ${number}`), refusal),
          undo: step(`undo ${number}`)
        })
  )
  const admission = yield* admitted(guards, run, {
    insert: Effect.as(step("insert"), true),
    remove: () => step("remove")
  })
  const isInserted = yield* admission.insert
  return { isInserted, steps, refusal: admission.refusal() }
})

describe("a run that guards admit or refuse", () => {
  it.effect("is inserted when all admit it", () =>
    Effect.gen(function* () {
      const { isInserted, refusal, steps } = yield* insertion([undefined, undefined])
      assert.isTrue(isInserted)
      assert.isUndefined(refusal)
      assert.deepStrictEqual(steps, ["prepare 0", "prepare 1", "insert", "decide 0", "decide 1"])
    })
  )

  it.effect("leaves nothing of the guards that admitted it before another one refuses it", () =>
    Effect.gen(function* () {
      const refused = controlPlaneError("CONFLICT", "refused")
      const { isInserted, refusal, steps } = yield* insertion([undefined, refused, undefined])
      assert.isFalse(isInserted)
      assert.strictEqual(refusal, refused)
      assert.deepStrictEqual(steps.slice(3), ["insert", "decide 0", "decide 1", "undo 0", "remove"])
    })
  )
})
