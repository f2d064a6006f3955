import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import { LedgerWriter } from "../../../src/platform/ledger/LedgerWriter.ts"
import { endedRun } from "../../support/EndedRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

const folder = mkdtempSync(join(tmpdir(), "runplane-heads-"))
afterAll(() => rmSync(folder, { recursive: true }))
const SEAL_HEADS_FILE = join(folder, "heads.jsonl")

layer(layerTestService({ settings: { SEAL_HEADS_FILE } }), { excludeTestServices: true })(
  "a seal altered in the database",
  (it) => {
    it.effect("does not stop the ledger, which says so once and publishes the entries of all runs", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { numberPending } = yield* LedgerWriter
        const [altered, other] = [yield* endedRun, yield* endedRun]
        yield* sql`UPDATE run_seals SET seal = '{}' WHERE run_id = ${altered}::uuid`
        // Those of the two runs, and that of the key.
        assert.strictEqual(yield* numberPending, 3)
        const lines = readFileSync(SEAL_HEADS_FILE, "utf8").trimEnd().split("\n")
        const published = lines.map((line) => JSON.parse(line))
        assert.deepStrictEqual(
          published
            .filter(({ kind }) => kind === "seal")
            .map(({ seal, subject }) => [subject.split("/")[0], seal?.runId]),
          [
            [altered, undefined],
            [other, other]
          ]
        )
        const { body } = yield* call("GET", "/readyz")
        const what = "is altered: it is not a seal any more"
        assert.match(
          body.checks.loops.detail,
          new RegExp(`^ledger: the stored seal ${altered}/\\d+, entry \\d+, ${what}$`)
        )
        assert.include((yield* call("GET", "/metrics")).text, 'runplane_seal_doubts_total{what="altered"} 1')
        // It goes on, and does not find the same fault again.
        yield* endedRun
        assert.strictEqual(yield* numberPending, 1)
        assert.strictEqual(yield* numberPending, 0)
        assert.include((yield* call("GET", "/metrics")).text, 'runplane_seal_doubts_total{what="altered"} 1')
      })
    )

    it.effect("counts as a removed one for readers of the run and of the ledger", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { numberPending } = yield* LedgerWriter
        const runId = yield* endedRun
        yield* numberPending
        yield* sql`UPDATE run_seals SET seal = '{}' WHERE run_id = ${runId}::uuid`
        const { body, status } = yield* call("GET", `/runs/${runId}/seal`)
        assert.strictEqual(status, 200)
        assert.isTrue(body.late)
        assert.strictEqual((yield* call("GET", `/runs/${runId}/export`)).status, 200)
        const { data } = (yield* call("GET", "/ledger")).body
        assert.strictEqual(
          data.find((entry: { subject: string }) => entry.subject.startsWith(runId)).content,
          "changed"
        )

        const deleted = yield* endedRun
        assert.strictEqual((yield* call("DELETE", `/runs/${deleted}`)).status, 204)
        yield* numberPending
        yield* sql`UPDATE run_tombstones SET seal = '{}' WHERE run_id = ${deleted}::uuid`
        const ledger = yield* call("GET", "/ledger")
        assert.strictEqual(ledger.status, 200)
        const found = ledger.body.data.findLast((entry: { kind: string }) => entry.kind === "tombstone")
        assert.strictEqual(found.content, "changed")
      })
    )
  }
)
