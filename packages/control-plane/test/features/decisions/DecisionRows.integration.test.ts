import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { EventDraft, ListedDecision, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { RunAdministration } from "../../../src/event-log/runs/RunAdministration.ts"
import { decisionLag, makeChangedDecisions } from "../../../src/features/decisions/ChangedDecisions.ts"
import { makeDecisionRows } from "../../../src/features/decisions/DecisionRows.ts"
import { BacktestRuns } from "../../../src/queries/decisions/BacktestRuns.ts"
import { COST, commits, decided, LEAD, opened, RISK, recorded, said, votes } from "../../support/Committee.ts"
import { layerTestAdministration, layerTestLog } from "../../support/ControlPlane.ts"
import { aDeletion, createRun } from "../../support/Runs.ts"
import { layerTestDatabase } from "../../support/TestDatabase.ts"

const service = Layer.mergeAll(layerTestAdministration, BacktestRuns.layer).pipe(
  Layer.provideMerge(layerTestLog),
  Layer.provideMerge(layerTestDatabase)
)

/** Follows the log to its end, and makes the rows that are due. */
const caughtUp = Effect.gen(function* () {
  const follow = yield* makeChangedDecisions
  const makeRows = yield* makeDecisionRows
  yield* Effect.repeat(follow, { until: (followed) => followed?.isEnd === true })
  return yield* Effect.repeat(makeRows, { until: ({ isEnd }) => isEnd })
})

interface Row {
  readonly seq: bigint
  readonly verdict: string
  readonly listed: ListedDecision
  readonly options: string
  readonly ballots: ReadonlyArray<string>
  readonly dissenters: ReadonlyArray<string>
}

const rowOf = Effect.fnUntraced(function* (runId: RunId) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<Row>`
    SELECT seq, verdict, listed, options, ballots, dissenters FROM run_decisions WHERE run_id = ${runId}::uuid`
  return row
})

/** Makes the rows of changed runs due at once. */
const hurry = Effect.flatMap(PgClient.PgClient, (sql) => sql`UPDATE run_decision_changes SET due_at = now()`)

const append = Effect.fnUntraced(function* (runId: RunId, ...events: ReadonlyArray<EventDraft>) {
  yield* (yield* EventLog).record({ runId, events })
})

layer(service, { excludeTestServices: true })("the decisions of runs", (it) => {
  it.effect("are made of the log from its beginning on, also of runs of earlier releases", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const empty = yield* createRun()
      yield* caughtUp
      const row = yield* rowOf(runId)
      assert.deepInclude(row, { verdict: "for", options: "go <b>now</b>", dissenters: [LEAD] })
      assert.sameMembers([...(row?.ballots ?? [])], [`APPROVE ${RISK}`, `APPROVE ${COST}`, `REJECT ${LEAD}`])
      assert.deepInclude(row?.listed, {
        ...{ verdict: "for", word: "Approved", action: "decision.selected", question: "go <b>now</b>" },
        ...{ counts: "2 for, 1 against, 3 of 3 voted", heads: { for: 2, against: 1, abstained: 0, none: 0 } },
        asOfSeq: Number(row?.seq)
      })
      assert.deepStrictEqual(row?.listed.seats, [
        [RISK, "for", 1],
        [COST, "for", 1],
        [LEAD, "against", 1]
      ])
      assert.deepInclude((yield* rowOf(empty))?.listed, { verdict: "open", counts: "0 of 0 voted" })
    })
  )

  it.effect("lag by the run that is due for longest, and not without a due run", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* caughtUp
      const later = yield* decided
      const runId = yield* decided
      yield* Effect.flatMap(makeChangedDecisions, (follow) =>
        Effect.repeat(follow, { until: (done) => done?.isEnd === true })
      )
      const due = (id: RunId, offset: string) =>
        sql`UPDATE run_decision_changes SET due_at = now() + ${offset}::interval WHERE run_id = ${id}::uuid`
      yield* sql`UPDATE run_decision_changes SET due_at = now() + interval '1 hour'`
      assert.strictEqual(yield* decisionLag, 0)
      yield* due(later, "-1 minute")
      yield* due(runId, "-1 hour")
      assert.closeTo(yield* decisionLag, 3_600, 60)
      yield* caughtUp
      assert.strictEqual(yield* decisionLag, 0)
    })
  )

  it.effect("follow votes that change, and keep those of the commitment", () =>
    Effect.gen(function* () {
      const runId = yield* recorded(...opened, votes(RISK, "APPROVE"))
      yield* caughtUp
      assert.deepInclude(yield* rowOf(runId), { verdict: "open", ballots: [`APPROVE ${RISK}`], dissenters: [] })
      yield* append(runId, votes(RISK, "REJECT"), votes(COST, "APPROVE"), votes(LEAD, "APPROVE"))
      yield* caughtUp
      yield* hurry
      yield* caughtUp
      assert.includeMembers([...((yield* rowOf(runId))?.ballots ?? [])], [`REJECT ${RISK}`])
      yield* append(runId, commits, votes(RISK, "APPROVE"))
      yield* hurry
      yield* caughtUp
      yield* hurry
      yield* caughtUp
      const row = yield* rowOf(runId)
      assert.deepInclude(row, { verdict: "for", dissenters: [RISK] })
      assert.includeMembers([...(row?.ballots ?? [])], [`REJECT ${RISK}`])
    })
  )

  it.effect("of several proposals have the tally, and no voters before one is committed", () =>
    Effect.gen(function* () {
      const hold = said("proposal.created", "Proposal", RISK, { proposalId: "p2", option: "Halten ÜBER Nacht" })
      const on = (proposalId: string, by: string, vote: string) =>
        said("proposal.updated", "Vote", by, { proposalId, vote })
      const ballots = [on("p1", RISK, "REJECT"), on("p2", RISK, "APPROVE"), on("p2", COST, "APPROVE")]
      const runId = yield* recorded(...opened, hold, ...ballots)
      yield* caughtUp
      const open = yield* rowOf(runId)
      assert.notProperty(open?.listed, "seats")
      assert.notProperty(open?.listed, "heads")
      assert.deepInclude(open?.listed.tally, { for: 2, against: 1 })
      assert.strictEqual(open?.options, "go <b>now</b>\nhalten über nacht")
      assert.sameMembers([...(open?.ballots ?? [])], [`REJECT ${RISK}`, `APPROVE ${RISK}`, `APPROVE ${COST}`])
      const payload = { proposalId: "p2", action: "hold", outcome_positive: true }
      yield* append(runId, said("decision.finalized", "Commitment", LEAD, payload))
      yield* caughtUp
      yield* hurry
      yield* caughtUp
      const row = yield* rowOf(runId)
      assert.deepInclude(row?.listed.heads, { for: 2, against: 0, none: 1 })
      assert.deepStrictEqual(row?.dissenters, [])
    })
  )

  it.effect("go on where another process has stopped, and write nothing twice", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const [first, second] = [yield* makeChangedDecisions, yield* makeChangedDecisions]
      const both = yield* Effect.all([first, second], { concurrency: 2 })
      assert.isTrue(both.some((followed) => followed?.isEnd === true))
      // The process ends between the note of the change and the row.
      assert.isUndefined(yield* rowOf(runId))
      const [one, other] = [yield* makeDecisionRows, yield* makeDecisionRows]
      yield* Effect.all([one, other], { concurrency: 2 })
      assert.deepInclude(yield* rowOf(runId), { verdict: "for" })
      const sql = yield* PgClient.PgClient
      assert.deepStrictEqual(yield* sql`SELECT FROM run_decision_changes`, [])
    })
  )

  it.effect("are deleted with their runs, also while they are made", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runs = yield* RunAdministration
      const [runId, later] = [yield* decided, yield* decided]
      yield* caughtUp
      const deleted = (id: RunId) => sql.withTransaction(Effect.andThen(runs.lock([id]), runs.remove([id], aDeletion)))
      yield* deleted(runId)
      assert.isUndefined(yield* rowOf(runId))
      yield* append(later, votes(RISK, "REJECT"))
      yield* yield* makeChangedDecisions
      yield* hurry
      const makeRows = yield* makeDecisionRows
      yield* Effect.all([makeRows, deleted(later)], { concurrency: 2 })
      assert.isUndefined(yield* rowOf(later))
      assert.deepStrictEqual(yield* sql`SELECT FROM run_decision_changes WHERE run_id = ${later}::uuid`, [])
    })
  )

  it.effect("of other runs do not wait for one whose record cannot be read", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [broken, sound] = [yield* decided, yield* decided]
      yield* sql`
        UPDATE canonical_events SET event = '{"type": 7}' WHERE run_id = ${broken}::uuid AND type = 'proposal.created'`
      yield* caughtUp
      assert.isUndefined(yield* rowOf(broken))
      assert.deepInclude(yield* rowOf(sound), { verdict: "for" })
      const [change] = yield* sql<{ readonly isLate: boolean }>`
        SELECT due_at > now() + interval '50 minutes' AS "isLate" FROM run_decision_changes
        WHERE run_id = ${broken}::uuid`
      assert.isTrue(change?.isLate)
    })
  )

  it.effect("of a run with 50,000 acts are made once for many events, after those of the others", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* recorded(...opened)
      const acts = Array.from({ length: 50_000 }, (_, at) => votes([LEAD, RISK, COST][at % 3] ?? LEAD, "APPROVE"))
      for (let at = 0; at < acts.length; at += 2_000) yield* append(runId, ...acts.slice(at, at + 2_000))
      const small = yield* decided
      yield* Effect.repeat(yield* makeChangedDecisions, { until: (followed) => followed?.isEnd === true })
      const makeRows = yield* makeDecisionRows
      yield* makeRows
      const row = yield* rowOf(runId)
      assert.deepInclude(row?.listed.heads, { for: 3, none: 0 })
      assert.deepInclude(yield* rowOf(small), { verdict: "for" })
      // The next row waits for a time that grows with the run.
      yield* append(runId, commits)
      yield* Effect.repeat(yield* makeChangedDecisions, { until: (followed) => followed?.isEnd === true })
      const [change] = yield* sql<{ readonly seconds: number }>`
        SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM run_decision_changes
        WHERE run_id = ${runId}::uuid`
      assert.isAbove(change?.seconds ?? 0, 30)
      assert.deepInclude(yield* makeRows, { runs: 0, isEnd: true })
      yield* hurry
      yield* makeRows
      assert.deepInclude(yield* rowOf(runId), { verdict: "for" })
    })
  )
})
