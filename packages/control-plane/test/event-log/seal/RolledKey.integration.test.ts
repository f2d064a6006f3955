import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { ChainVersion } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunSeals } from "../../../src/event-log/seal/RunSeals.ts"
import { appendMessages } from "../../support/Appends.ts"
import { headOf } from "../../support/Chains.ts"
import { layerTestLog } from "../../support/ControlPlane.ts"
import { endRun } from "../../support/EndedRuns.ts"
import { createRun, readLog } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

layer(layerTestLog.pipe(Layer.provideMerge(layerTestDatabase)), { excludeTestServices: true })(
  "a run whose key is rotated while it is open",
  (it) => {
    for (const chain of [1, 2] satisfies ReadonlyArray<ChainVersion>) {
      it.effect(`keeps version ${chain} of its chain, and the new key vouches for the later events`, () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const runId = yield* createRun({ chain })
          yield* appendMessages(runId, 3)
          // Another key has written the head.
          yield* sql`UPDATE run_heads SET head_mac = decode(repeat('11', 32), 'hex') WHERE run_id = ${runId}::uuid`
          yield* appendMessages(runId, 2)
          yield* endRun(runId)
          const seal = yield* RunSeals.use((seals) => seals.sealed(runId))
          assert(typeof seal === "object")
          assert.strictEqual(seal.chain, chain === 2 ? 2 : undefined)
          assert.deepInclude(seal, { events: 7, provenAfter: 4, late: false })
          assert.strictEqual(seal.head, headOf(runId, (yield* readLog(runId)).events, chain))
        })
      )
    }
  }
)
