import { assert, layer } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentTransformer } from "effect/sql/Statement"
import { ObservedRuns } from "../../src/observe/ObservedRuns.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

/** The statements that the reads send. */
const countStatements = Effect.fnUntraced(function* <A, E, R>(reads: Effect.Effect<A, E, R>) {
  let statements = 0
  const answers = yield* Effect.provideService(reads, CurrentTransformer, (statement) =>
    Effect.sync(() => {
      statements += 1
      return statement
    })
  )
  return { answers, statements }
})

layer(ObservedRuns.layer.pipe(Layer.provideMerge(layerTestLog), Layer.provideMerge(layerTestDatabase)))(
  "what observers read",
  (it) => {
    it.effect("the cursors of a thousand of them in two statements", () =>
      Effect.gen(function* () {
        const runs = yield* ObservedRuns
        const known = yield* createRun()
        const runIds = Array.from({ length: 1_000 }, (_, index) =>
          index === 0 ? known : RunId.make(`00000000-0000-4000-9000-${String(index).padStart(12, "0")}`)
        )
        const { answers, statements } = yield* countStatements(
          Effect.forEach(runIds, runs.cursor, { concurrency: "unbounded" })
        )
        assert.deepStrictEqual(
          answers.filter((cursor) => cursor !== undefined),
          [0]
        )
        assert.strictEqual(statements, 2)
      })
    )

    it.effect("the runs of a thousand sessions in two statements", () =>
      Effect.gen(function* () {
        const runs = yield* ObservedRuns
        const sessionId = "session-0"
        const known = yield* createRun({ sessionId })
        const names = Array.from({ length: 1_000 }, (_, index) => `session-${index}`)
        const { answers, statements } = yield* countStatements(
          Effect.forEach(names, runs.ofSession, { concurrency: "unbounded" })
        )
        assert.strictEqual(answers[0]?.runId, known)
        assert.deepStrictEqual(new Set(answers.slice(1)), new Set([undefined]))
        assert.strictEqual(statements, 2)
      })
    )
  }
)
