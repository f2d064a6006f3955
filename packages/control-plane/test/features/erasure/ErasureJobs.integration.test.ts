import { assert, layer } from "@effect/vitest"
import { textFinder } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { COST, said } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"
import { personRun, REASON, rowsWith, verifiedExports } from "./PersonRuns.ts"

const post = (body: object) => call("POST", "/erasures", { body })

/** The job when it is done. */
const done = (id: string) =>
  Effect.map(
    until(call("GET", `/erasures/${id}`), ({ body }) => body.state === "done"),
    ({ body }) => body
  )

/** A dry run that is done. */
const planned = Effect.fnUntraced(function* (find: string, query?: string) {
  const { body, status, text } = yield* post({
    find,
    reason: REASON,
    dryRun: true,
    ...(query !== undefined && { query })
  })
  assert.strictEqual(status, 202, text)
  return yield* done(body.id)
})

const RUNS = 12

layer(layerTestService(), { excludeTestServices: true })("an erasure from many runs", (it) => {
  it.effect("erases a person from all runs that match, each of which verifies afterwards", () =>
    Effect.gen(function* () {
      const person = "Zoë Ångström"
      const runs = yield* Effect.forEach(Array.from({ length: RUNS }), () => personRun(person))
      const other = yield* personRun("Bo Nilsson")
      const old = yield* createRun({ chain: 1, tags: [person] })
      const plan = yield* planned(person, "tags:refund OR status:queued")
      assert.deepInclude(plan, { dryRun: true, state: "done", erased: 0, matching: RUNS, leftOut: 1 })
      assert.deepInclude(plan.runsLeftOut, {
        runId: old,
        why: `run ${old} is sealed in version 1, in which no text can be erased; delete the whole run instead`
      })
      const answer = yield* post({ find: person, reason: REASON, plan: plan.plan })
      assert.strictEqual(answer.status, 202, answer.text)
      const job = yield* done(answer.body.id)
      assert.deepInclude(job, { dryRun: false, runs: RUNS + 1, done: RUNS + 1, erased: RUNS, leftOut: 1 })
      assert.strictEqual(job.members, plan.members)
      const left = (yield* rowsWith(person)).filter((row) => !row.startsWith("public.audit_log"))
      // The run of version 1 was left out, and the job says so.
      assert.isTrue(
        left.every((row) => row.includes(old)),
        left.join("\n")
      )
      for (const run of runs) {
        for (const { text } of yield* verifiedExports(run)) assert.isFalse(textFinder(person)(text))
      }
      assert.isTrue((yield* verifiedExports(other)).every(({ text }) => textFinder("Bo Nilsson")(text)))
      const { body } = yield* call("GET", "/erasures")
      assert.deepStrictEqual(
        body.data.slice(0, 2).map(({ id }: { id: string }) => id),
        [job.id, plan.id]
      )
    })
  )

  it.effect("keeps neither the text nor a search that has it, once it is done", () =>
    Effect.gen(function* () {
      const person = "Ida Vestergård"
      yield* personRun(person)
      const plan = yield* planned(person, `metadata.customer:"${person}"`)
      assert.strictEqual(plan.matching, 1)
      assert.strictEqual(plan.query, "")
      const { body } = yield* post({ find: person, reason: REASON, plan: plan.plan })
      yield* done(body.id)
      assert.deepStrictEqual(
        (yield* rowsWith(person)).filter((row) => !row.startsWith("public.audit_log")),
        []
      )
    })
  )

  it.effect("leaves a run out that has changed since the dry run", () =>
    Effect.gen(function* () {
      const person = "Ole Brønsted"
      const [changed, same] = [yield* personRun(person, false), yield* personRun(person)]
      const plan = yield* planned(person, "tags:refund")
      yield* (yield* EventLog).record({
        runId: changed,
        events: [said("proposal.updated", "Objection", COST, { severity: "low", reason: person })]
      })
      const { body } = yield* post({ find: person, reason: REASON, plan: plan.plan })
      const job = yield* done(body.id)
      assert.deepInclude(job, { matching: 2, erased: 1, leftOut: 1 })
      assert.strictEqual(job.runsLeftOut[0].runId, changed)
      assert.include(job.runsLeftOut[0].why, "the plan is out of date")
      assert.isTrue((yield* rowsWith(person)).some((row) => row.includes(changed)))
      assert.isFalse((yield* verifiedExports(same)).some(({ text }) => textFinder(person)(text)))
    })
  )

  it.effect("leaves a run out that was deleted meanwhile", () =>
    Effect.gen(function* () {
      const person = "Per Østergaard"
      const gone = yield* personRun(person)
      const plan = yield* planned(person, "tags:refund")
      yield* call("DELETE", `/runs/${gone}`)
      const { body } = yield* post({ find: person, reason: REASON, plan: plan.plan })
      const job = yield* done(body.id)
      assert.deepInclude(job, { erased: 0, leftOut: 1 })
      assert.include(job.runsLeftOut[0].why, "not found")
    })
  )

  it.effect("is refused without the plan of a dry run that is done", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post({ find: "Unknown Person", reason: REASON })).status, 400)
      const unknown = yield* post({ find: "Unknown Person", reason: REASON, plan: `1-1-${"0".repeat(64)}` })
      assert.strictEqual(unknown.status, 409)
      assert.include(unknown.body.message, "no dry run that is done has this plan")
      const field = yield* post({ find: "Unknown Person", reason: REASON, dryRun: true, query: "colour:red" })
      assert.strictEqual(field.status, 400)
      assert.include(field.text, "colour")
      assert.strictEqual((yield* call("GET", `/erasures/${"5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"}`)).status, 404)
    })
  )
})
