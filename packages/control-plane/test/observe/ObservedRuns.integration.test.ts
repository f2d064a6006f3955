import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentTransformer } from "effect/sql/Statement"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const UNKNOWN = RunId.make("00000000-0000-4000-8000-000000000001")

layer(ObservedRuns.layer.pipe(Layer.provideMerge(layerTestLog), Layer.provideMerge(layerTestDatabase)))(
  "what observers read",
  (it) => {
    it.effect("the cursors of a thousand of them in two statements", () =>
      Effect.gen(function* () {
        const runs = yield* ObservedRuns
        const known = yield* createRun()
        const asked = Array.from({ length: 999 }, (_, place) =>
          place === 0 ? known : RunId.make(`00000000-0000-4000-9000-${String(place).padStart(12, "0")}`)
        )
        let statements = 0
        const counted = Effect.provideService(
          Effect.forEach([...asked, UNKNOWN], runs.cursor, { concurrency: "unbounded" }),
          CurrentTransformer,
          (statement) =>
            Effect.sync(() => {
              statements += 1
              return statement
            })
        )
        const cursors = yield* counted
        assert.deepStrictEqual(
          cursors.filter((cursor) => cursor !== undefined),
          [0]
        )
        assert.strictEqual(statements, 2)
      })
    )
  }
)
