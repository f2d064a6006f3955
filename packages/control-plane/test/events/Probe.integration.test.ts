import { layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../src/events/EventLog.ts"
import { layerTestLog } from "../support/ControlPlane.ts"
import { messageDraft } from "../support/Appends.ts"
import { createRun } from "../support/Runs.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"
layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })("probe", (it) => {
  it.effect("hot", () => Effect.gen(function* () {
    const log = yield* EventLog
    const one = (n: number, per: number) => Effect.gen(function* () {
      const runId = yield* createRun()
      for (let i = 0; i < n; i++) yield* log.append({ runId, events: Array.from({ length: per }, (_, k) => ({ ...messageDraft(i * per + k), data: { ...messageDraft(i * per + k).data, sender: `agent://${k % 5}` } })) })
    })
    const bench = (name: string, runs: number, n: number, per: number) => Effect.gen(function* () {
      const t = performance.now()
      yield* Effect.all(Array.from({ length: runs }, () => one(n, per)), { concurrency: "unbounded" })
      const s = (performance.now() - t) / 1000
      console.log(process.env["VARIANT"], name, Math.round(runs * n * per / s), "events/s")
    })
    yield* bench("warm", 32, 30, 2)
    for (let i = 0; i < 3; i++) { yield* bench("32 runs x2", 32, 60, 2); yield* bench("32 runs x20", 32, 20, 20); yield* bench("1 run x1", 1, 300, 1) ; yield* bench("1 run x200", 1, 30, 200) }
  }), 100_000)
})
