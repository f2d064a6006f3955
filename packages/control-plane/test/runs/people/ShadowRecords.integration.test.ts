import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, layer } from "@effect/vitest"
import { SHADOW_NOTE, shadowName } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { COST, commits, LEAD, opened, RISK, recorded, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { insertMark } from "../../support/MarkSeeds.ts"

const NAME = shadowName(RISK, "new")
const acts = (vote: string, over: object = {}) => ({
  ...{ v: 1, shadow: NAME, as: RISK, agent: "new", mode: "macp.mode.decision.v1", status: "acted" },
  acts: [
    {
      ...{ messageType: "Vote", messageId: "x1", at: "2026-11-30T10:00:00.000Z", shown: 2 },
      payload: { proposalId: "p1", vote, reason: "why" }
    }
  ],
  ...{ refused: [], leftOut: 0, usage: [], note: SHADOW_NOTE },
  ...over
})
const post = (runId: string, inline: object, options: object = {}) => {
  const body = { kind: "shadow.acts", label: NAME, inline, idempotencyKey: `shadow.acts/${NAME}` }
  return call("POST", `/runs/${runId}/artifacts`, { body, ...options })
}
const get = (path: string) =>
  Effect.map(call("GET", path), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  })

const decided = (vote: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const runId = yield* recorded(...opened, votes(RISK, vote), votes(COST, "APPROVE"), votes(LEAD, "APPROVE"), commits)
    yield* sql`
      INSERT INTO run_participants SELECT ${runId}::uuid, unnest(${[RISK, COST, LEAD]}::text[]), 1, 0, 0, 0
      ON CONFLICT DO NOTHING`
    const [row] = yield* sql<{ readonly index: number }>`
      SELECT index FROM canonical_events WHERE run_id = ${runId}::uuid AND type = 'decision.finalized'`
    yield* insertMark({ runId, index: row?.index ?? 0, name: "correct", value: true })
    return runId
  })

describe("the acts of a shadow", () => {
  layer(layerTestService(), { excludeTestServices: true })("of a service without keys", (it) => {
    it.effect("have a record of their own, and change no other record, no why and no cost of the run", () =>
      Effect.gen(function* () {
        const runs = [yield* decided("APPROVE"), yield* decided("APPROVE")]
        const [first = ""] = runs
        const reads = [`/agents/${encodeURIComponent(RISK)}/record`, `/runs/${first}/decision/why`]
        const before = yield* Effect.forEach(reads, get)
        assert.strictEqual((yield* get(`/agents/${encodeURIComponent(NAME)}/record`)).runs, 0)
        for (const [at, runId] of runs.entries()) {
          const added = yield* post(runId, acts(at === 0 ? "REJECT" : "APPROVE"))
          assert.strictEqual(added.status, 201, added.text)
          assert.deepStrictEqual((yield* post(runId, acts(at === 0 ? "REJECT" : "APPROVE"))).body, added.body)
        }
        const [record, why] = yield* Effect.forEach(reads, get)
        assert.deepStrictEqual(record, before[0])
        assert.deepStrictEqual(
          { claims: why.claims, cost: why.cost, notes: why.notes },
          { claims: before[1].claims, cost: before[1].cost, notes: before[1].notes }
        )
        const own = yield* get(`/agents/${encodeURIComponent(NAME)}/record`)
        assert.deepInclude(own, { participantId: NAME, examined: 2, runs: 2, judged: 2, right: 1 })
        const all = yield* get("/agents/records")
        const names = all.data.map(({ participantId }: { readonly participantId: string }) => participantId)
        assert.includeMembers(names, [RISK, NAME])
        const { body } = yield* call("GET", `/runs/${first}/events?type=artifact.created`)
        const [event] = body.data
        assert.deepStrictEqual(event.data.shadow, {
          ...{ shadow: NAME, as: RISK, agent: "new", status: "acted" },
          acts: [{ type: "Vote", subject: "p1", vote: "REJECT" }]
        })
        assert.notInclude(JSON.stringify(event.data.shadow), "why")
      })
    )

    it.effect("are refused with the field named where their form is another one", () =>
      Effect.gen(function* () {
        const runId = yield* decided("APPROVE")
        const wrong: ReadonlyArray<readonly [object, string]> = [
          [{ shadow: "someone" }, "inline: shadow"],
          [{ status: "odd" }, "inline: status"],
          [{ leftOut: -1 }, "inline: leftOut"],
          [{ acts: [{}] }, "inline: acts"],
          [{ more: 1 }, "inline: property more"]
        ]
        for (const [over, field] of wrong) {
          const answer = yield* post(runId, acts("APPROVE", over))
          assert.strictEqual(answer.status, 400, JSON.stringify(over))
          assert.include(JSON.stringify(answer.body.message), field)
        }
      })
    )
  })

  const keys = {
    AUTH_API_KEYS: "launcher-key,other-key",
    AUTH_API_KEY_NAMES: "launcher,other",
    AUTH_API_KEY_ROLES: "operator,operator",
    LAUNCHER_KEY_NAME: "launcher"
  }
  layer(layerTestService({ settings: keys }), { excludeTestServices: true })("of a service with keys", (it) => {
    it.effect("are taken from the launch service alone", () =>
      Effect.gen(function* () {
        const runId = yield* decided("APPROVE")
        const by = (key: string) => ({ headers: { "content-type": "application/json", "x-api-key": key } })
        assert.strictEqual((yield* post(runId, acts("APPROVE"), by("other-key"))).status, 403)
        assert.strictEqual((yield* post(runId, acts("APPROVE"), by("launcher-key"))).status, 201)
      })
    )
  })
})
