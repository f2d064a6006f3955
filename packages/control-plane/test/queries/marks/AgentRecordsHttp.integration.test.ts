import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { COST, commits, LEAD, opened, RISK, recorded, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { insertMark } from "../../support/MarkSeeds.ts"

interface Row {
  readonly participantId: string
  readonly runs: number
}

const get = (path: string) =>
  Effect.map(call("GET", path), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  })

layer(layerTestService(), { excludeTestServices: true })("GET /agents/records", (it) => {
  it.effect("has the record of each agent as its own page has it, from one read of the runs", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* get("/agents/records"), { data: [], examined: 0, truncated: false })
      const sql = yield* PgClient.PgClient
      const runs = [
        yield* recorded(...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits),
        yield* recorded(...opened, votes(RISK, "REJECT"), votes(COST, "APPROVE"), votes(LEAD, "APPROVE"), commits),
        yield* recorded(...opened, votes(COST, "APPROVE"), votes(LEAD, "APPROVE"), commits)
      ]
      for (const [at, runId] of runs.entries()) {
        yield* sql`
          INSERT INTO run_participants SELECT ${runId}::uuid, unnest(${[RISK, COST, LEAD]}::text[]), 1, 0, 0, 0
          ON CONFLICT DO NOTHING`
        const [row] = yield* sql<{ readonly index: number }>`
          SELECT index FROM canonical_events WHERE run_id = ${runId}::uuid AND type = 'decision.finalized'`
        yield* insertMark({ runId, index: row?.index ?? 0, name: "correct", value: at !== 1 })
      }
      const all = yield* get("/agents/records")
      assert.deepInclude(all, { examined: 3, truncated: false })
      assert.deepStrictEqual(
        all.data.map(({ participantId, runs: count }: Row) => [participantId, count]),
        [
          [COST, 3],
          [LEAD, 3],
          [RISK, 2]
        ]
      )
      for (const figures of all.data) {
        const { participantId } = figures
        const own = yield* get(`/agents/${encodeURIComponent(participantId)}/record`)
        const { examined: _, reliability: __, summary: ___, truncated: ____, ...wanted } = own
        assert.deepStrictEqual(figures, wanted)
      }
      const risk = all.data.find(({ participantId }: Row) => participantId === RISK)
      assert.deepInclude(risk, { withOutcome: 1, judged: 2, right: 2, pivotal: 1 })
      assert.deepInclude(yield* get("/agents/records?limit=2"), { examined: 2, truncated: true })
      assert.deepInclude(yield* get("/agents/records?since=2100-01-01"), { data: [], examined: 0 })
      assert.strictEqual((yield* call("GET", "/agents/records?q=colour:red")).status, 400)
    })
  )
})
