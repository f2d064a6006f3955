import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { assertFolded, eraseText, PERSON, personRun, REASON, rowsWith, verifiedExports } from "./PersonRuns.ts"

layer(layerTestService(), { excludeTestServices: true })("an erasure", (it) => {
  it.effect("leaves nothing of a text in the database, and exports that verify", () =>
    Effect.gen(function* () {
      const runId = yield* personRun()
      const before = yield* rowsWith(PERSON)
      assert.isAbove(before.length, 5)
      const { erased, planned } = yield* eraseText(runId)
      assert.strictEqual(erased.members, planned.members)
      assert.isAbove(erased.members, 4)
      assert.deepStrictEqual(erased.rows, planned.rows)
      assert.deepStrictEqual(erased.remains, planned.remains)
      const audits = erased.remains.filter(({ of }: { of: string }) => of === "audit entry")
      const left = yield* rowsWith(PERSON)
      assert.lengthOf(left, audits.length, left.join("\n"))
      yield* assertFolded(runId)
      for (const { text, verified } of yield* verifiedExports(runId)) {
        assert.isFalse(textFinder(PERSON)(text), text)
        assert.isTrue(verified.ok && verified.erased === erased.members)
      }
    })
  )
})
