import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { draftEvent, type RunId, SHADOW_NOTE, shadowName } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import type { StoredFacts, StoredShadow } from "../../../src/features/committees/FactsRow.ts"
import { COST, commits, LEAD, opened, RISK, recordedAs, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { insertMark } from "../../support/MarkSeeds.ts"
import { insertVoters, numbersFrom } from "./VoterSeeds.ts"

const NAME = shadowName(RISK, "new")

const get = (path: string) =>
  Effect.map(call("GET", path), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return answer.body
  })

const addActs = (runId: string, vote: string | undefined) => {
  const act = {
    ...{ messageType: "Vote", messageId: "x1", at: "2026-11-30T10:00:00.000Z", shown: 2 },
    payload: { proposalId: "p1", vote, reason: "why" }
  }
  const inline = {
    ...{ v: 1, shadow: NAME, as: RISK, agent: "new", mode: "macp.mode.decision.v1" },
    ...{ status: vote === undefined ? "silent" : "acted", acts: vote === undefined ? [] : [act] },
    ...{ refused: [], leftOut: 0, usage: [], note: SHADOW_NOTE }
  }
  const body = { kind: "shadow.acts", label: NAME, inline, idempotencyKey: `shadow.acts/${NAME}` }
  return Effect.map(call("POST", `/runs/${runId}/artifacts`, { body }), ({ status, text }) => {
    assert.strictEqual(status, 201, text)
  })
}

const calls = (runId: RunId | undefined, estimatedCostUsd: number) =>
  Effect.flatMap(EventLog, (log) =>
    runId === undefined
      ? Effect.void
      : log.record({
          runId,
          events: [
            draftEvent(
              "llm.call.completed",
              {
                ts: "2026-11-30T10:00:00.000Z",
                subject: { kind: "participant", id: NAME },
                source: { kind: "runtime", name: "otlp" }
              },
              {
                sender: NAME,
                decodedPayload: { model: "m", calls: 0 },
                shadow: { calls: 1, totalTokens: 9, estimatedCostUsd }
              }
            )
          ]
        })
  )

const ended = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runId = yield* recordedAs(
    "completed",
    ...[...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits]
  )
  const [row] = yield* sql<{ readonly index: number }>`
    SELECT index FROM canonical_events WHERE run_id = ${runId}::uuid AND type = 'decision.finalized'`
  yield* insertMark({ runId, index: row?.index ?? 0, name: "correct", value: true })
  return runId
})

interface Answer {
  readonly data: ReadonlyArray<{ readonly shadows: ReadonlyArray<object>; readonly shadowsLeftOut: number }>
}

/** The answer as it is without shadows. */
const without = ({ data, ...page }: Answer) =>
  JSON.stringify({ ...page, data: data.map((one) => ({ ...one, shadows: [], shadowsLeftOut: 0 })) })

layer(layerTestService(), { excludeTestServices: true })("shadows of a committee", (it) => {
  it.effect("have rows of their own after their runs have ended, and change no figure of the committee", () =>
    Effect.gen(function* () {
      const runs = [yield* ended, yield* ended, yield* ended]
      const paths = ["/committees/independence", "/committees/seats"]
      const before = yield* Effect.forEach(paths, (path) =>
        until(get(path), ({ data, waiting }) => data[0]?.runs === 3 && waiting === 0)
      )
      for (const { data } of before) assert.deepInclude(data[0], { shadows: [], shadowsLeftOut: 0 })
      yield* Effect.forEach(runs, (runId, at) => addActs(runId, [undefined, "APPROVE", "REJECT"][at]))
      const [independence, worth] = yield* Effect.forEach(paths, (path) =>
        until(get(path), ({ data }) => data[0]?.shadows[0]?.tried === 3)
      )
      assert.deepStrictEqual([independence, worth].map(without), before.map(without))
      assert.deepInclude(independence.data[0].shadows[0], {
        ...{ shadow: NAME, as: RISK, agent: "new", tried: 3, runs: 2, cases: 1, errors: 1 }
      })
      const pairs: ReadonlyArray<{ readonly left: string; readonly errors: object }> =
        independence.data[0].shadows[0].pairs
      assert.deepStrictEqual(
        pairs.map(({ left }) => left),
        [COST, LEAD, RISK]
      )
      assert.deepInclude(pairs[2]?.errors, { sharedRuns: 2, rightOnly: 1, isTooFew: true })
      const [shadow] = worth.data[0].shadows
      assert.deepInclude(shadow, { shadow: NAME, runs: 2, notCounted: { "no vote of the shadow": 1 } })
      // Two of three approve; with the shadow's rejection one of three does.
      assert.deepInclude(shadow.changed, { count: 1, n: 2 })
      assert.deepInclude(shadow.rightLost, { count: 1, n: 2 })
      assert.deepInclude(shadow.paired, { runs: 2, participantRight: 2, shadowRight: 1, participantOnly: 1 })
      assert.include(shadow.summary, `with ${NAME} in place of ${RISK} 1 of 2 decisions would be refused`)
      assert.isUndefined(shadow.cost)
      // Its spans are read after its acts have arrived.
      yield* calls(runs[1], 0.25)
      const [{ shadows, ...costed }] = (yield* until(
        get("/committees/seats"),
        ({ data }) => data[0]?.shadows[0]?.cost !== undefined
      )).data
      assert.deepStrictEqual(shadows[0].cost, { runs: 1, costUsd: 0.25, costPerRunUsd: 0.25, guessedCostUsd: 0 })
      const { shadows: _, ...uncosted } = before[1].data[0]
      assert.deepStrictEqual(costed, uncosted)
      // A shadow is not a participant.
      assert.deepStrictEqual((yield* get(`/committees/independence?seats=${COST},${NAME}`)).data, [])
    })
  )

  it.effect("leave a search and the figures of many runs as they are, byte for byte", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql<{ readonly facts: StoredFacts }>`SELECT facts FROM run_voters LIMIT 1`
      if (row === undefined) return assert.fail("no run is on record")
      const next = numbersFrom(3)
      const letter = (share: number) => (next() < share ? "f" : "a")
      const seeds = Array.from({ length: 700 }, (_, at) => ({
        ...{ caseKey: `many-${at}`, outcome: "positive" as const, isRight: at % 3 > 0 },
        votes: [letter(0.6), letter(0.6), letter(0.6)].join(""),
        shadows: ["new", "other"].map(
          (agent): StoredShadow => ({
            ...{ shadow: shadowName(RISK, agent), as: RISK, agent, vote: letter(0.5) },
            ...{ outcome: at % 7 === 0 ? "none" : "same", costUsd: 0.25, guessedUsd: 0 }
          })
        )
      }))
      yield* insertVoters([COST, LEAD, RISK], seeds, { facts: { ...row.facts, costUsd: [0.5, 0.25, 0.25] } })
      const read = Effect.gen(function* () {
        const search = yield* call("POST", "/committees/search", { body: { q: "status:completed" } })
        assert.strictEqual(search.status, 201, search.text)
        return {
          independence: yield* get("/committees/independence"),
          worth: yield* get("/committees/seats"),
          found: search.body.found
        }
      })
      const shadowed = yield* read
      const [independence] = shadowed.independence.data
      assert.strictEqual(independence.effectiveVotes.kind, "known")
      assert.deepInclude(independence.shadows[1], { shadow: shadowName(RISK, "other"), tried: 700, runs: 700 })
      assert.isNumber(independence.shadows[1].pairs[0].errors.phi.low)
      assert.deepInclude(shadowed.worth.data[0].shadows[1].changed, { count: 100, n: 700 })
      assert.deepInclude(shadowed.worth.data[0].shadows[1].cost, { runs: 700, costUsd: 175 })
      yield* sql`UPDATE run_voters SET shadows = NULL`
      const bare = yield* read
      assert.deepStrictEqual(bare.independence.data[0].shadows, [])
      assert.strictEqual(without(shadowed.independence), without(bare.independence))
      assert.strictEqual(without(shadowed.worth), without(bare.worth))
      assert.strictEqual(JSON.stringify(shadowed.found), JSON.stringify(bare.found))
    })
  )
})
