import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { draftEvent, type Mark } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { runOfKey } from "../../../src/features/ingest/TraceRuns.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { createRun } from "../../support/Runs.ts"
import { webhookReceiver } from "../../support/WebhookReceiver.ts"
import { exportOf, logOf, post, span, traceIdOf } from "./support/Exports.ts"

const settings = {
  OTLP_SETTLE_MS: "300",
  OTLP_IDLE_MS: "2000",
  OTLP_PARENT_WAIT_MS: "2000",
  WEBHOOK_ALLOW_PRIVATE_TARGETS: "true"
}
const runOf = (trace: number) => runOfKey("anonymous", traceIdOf(trace))

const EVALUATION = "gen_ai.evaluation.result"
const result = (name: string, value: string, more: Readonly<Record<string, string>> = {}) => ({
  name: EVALUATION,
  attributes: { "gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": value, ...more }
})
const chat = (trace: number, number: number, more: Partial<Parameters<typeof span>[0]> = {}) =>
  span({
    trace,
    span: number,
    parent: 1,
    name: "chat gpt-4o",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.response.id": `response-${trace}-${number}`
    },
    ...more
  })
const decision = (action: string) => ({ name: "runplane.decision", attributes: { action } })

const marksOf = (trace: number) =>
  Effect.map(
    call("GET", `/runs/${runOf(trace)}/marks?history=true`),
    ({ body }): ReadonlyArray<Mark> => body.data ?? []
  )
const marksAt = (trace: number, count: number) => until(marksOf(trace), (marks) => marks.length >= count)
const metric = (name: string) =>
  Effect.map(call("GET", "/metrics"), ({ text }) => Number(text.split(`${name} `)[1]?.split("\n")[0]))

layer(layerTestService({ settings }), { excludeTestServices: true })("judgements of telemetry", (it) => {
  it.effect("become marks of the model call, the participant or the run that they judge", () =>
    Effect.gen(function* () {
      const evaluator = span({
        ...{ trace: 1, span: 3, parent: 2, name: "politeness judge" },
        attributes: {
          "openinference.span.kind": "EVALUATOR",
          "gen_ai.operation.name": "",
          "output.value": '{"score":-1,"label":"rude","explanation":"it shouts"}'
        }
      })
      const root = span({ trace: 1, span: 1, events: [result("Answer Relevancy", "0.5")] })
      yield* post(exportOf([root, chat(1, 2, { events: [result("tone", "1")] }), evaluator]))
      const marks = yield* marksAt(1, 3)
      const { decoded } = yield* assertLogIsExact(runOf(1))
      const llm = decoded.find(({ type }) => type === "llm.call.completed")
      assert(llm)
      const target = { target: { kind: "llmCall" as const, id: llm.id }, index: llm.index }
      const byName = new Map(marks.map((mark) => [mark.name, mark]))
      for (const mark of marks) assert.deepInclude(mark, { source: "judge", author: "source:anonymous" })
      assert.deepInclude(byName.get("tone"), { ...target, value: 1, judge: { name: "tone" } })
      assert.deepInclude(byName.get("politeness_judge"), {
        ...target,
        value: -1,
        comment: "it shouts",
        judge: { name: "politeness judge" }
      })
      assert.deepInclude(byName.get("Answer_Relevancy"), {
        target: { kind: "participant", id: "coordinator" },
        value: 0.5
      })
    })
  )

  it.effect("become marks once, also when they are sent again, and as log records", () =>
    Effect.gen(function* () {
      const spans = exportOf([span({ trace: 2, span: 1, events: [result("tone", "1"), result("tone", "0")] })])
      const log = logOf(2, 1, EVALUATION, { "gen_ai.evaluation.name": "logged", "gen_ai.evaluation.score.label": "ok" })
      for (let again = 0; again < 2; again++) {
        yield* post(spans)
        yield* post(log, { path: "/v1/logs" })
      }
      const marks = yield* marksAt(2, 3)
      const sql = yield* PgClient.PgClient
      yield* until(sql`SELECT FROM otlp_inbox`, (rows) => rows.length === 0)
      assert.deepStrictEqual(yield* marksOf(2), marks)
      const tones = marks.filter(({ name }) => name === "tone").toReversed()
      assert.deepStrictEqual(
        tones.map(({ replacedBy, value }) => [value, replacedBy]),
        [
          [1, tones[1]?.id],
          [0, undefined]
        ]
      )
      assert.strictEqual(marks.find(({ name }) => name === "logged")?.value, "ok")
    })
  )

  it.effect("called correct are the truth about the last decision, and are dropped without one", () =>
    Effect.gen(function* () {
      const dropped = yield* metric('otlp_marks_total{outcome="dropped"}')
      yield* post(exportOf([span({ trace: 3, span: 1, events: [decision("ship"), result("correct", "1")] })]))
      const [truth] = yield* marksAt(3, 1)
      const { decoded } = yield* assertLogIsExact(runOf(3))
      const last = decoded.findLast(({ type }) => type === "decision.finalized")
      assert(last)
      assert.deepInclude(truth, { target: { kind: "decision", id: last.id }, index: last.index, value: true })
      yield* post(exportOf([span({ trace: 4, span: 1, events: [result("correct", "1"), result("tone", "1")] })]))
      assert.deepStrictEqual(
        (yield* marksAt(4, 1)).map(({ name }) => name),
        ["tone"]
      )
      yield* until(metric('otlp_marks_total{outcome="dropped"}'), (count) => count === dropped + 1)
    })
  )

  it.effect("called correct name a flag or an action of the run, and are dropped otherwise", () =>
    Effect.gen(function* () {
      const dropped = yield* metric('otlp_marks_total{outcome="dropped"}')
      const labelled = (label: string) => ({
        name: EVALUATION,
        attributes: { "gen_ai.evaluation.name": "correct", "gen_ai.evaluation.score.label": label }
      })
      const events = [decision("ship"), ...["Yes", "plain nonsense", "Ship"].map(labelled)]
      yield* post(exportOf([span({ trace: 10, span: 1, events })]))
      const marks = yield* marksAt(10, 2)
      assert.deepStrictEqual(marks.map(({ value }) => value).toReversed(), [true, "Ship"])
      yield* until(metric('otlp_marks_total{outcome="dropped"}'), (count) => count === dropped + 1)
    })
  )

  it.effect("give the agents of the run a record", () =>
    Effect.gen(function* () {
      const says = (name: string, participant: string, more: Readonly<Record<string, string>>) => ({
        name,
        attributes: { "proposal.id": "p1", participant, ...more }
      })
      const decided = {
        name: "runplane.decision",
        attributes: { action: "ship", positive: "true", "proposal.id": "p1" }
      }
      const events = [
        says("runplane.proposal", "lead", { option: "ship" }),
        says("runplane.vote", "risk", { vote: "REJECT", confidence: "0.6" }),
        says("runplane.vote", "cost", { vote: "APPROVE", confidence: "0.9" }),
        says("runplane.vote", "lead", { vote: "APPROVE" }),
        decided,
        result("correct", "0")
      ]
      yield* post(exportOf([span({ trace: 7, span: 1, events })]))
      yield* marksAt(7, 1)
      const recordOf = (agent: string) => Effect.map(call("GET", `/agents/${agent}/record`), ({ body }) => body)
      const record = { examined: 1, runs: 1, judged: 1, withOutcome: 0, pivotal: 0 }
      const risk = yield* recordOf("risk")
      assert.deepInclude(risk, { ...record, right: 1, againstMajority: 1, rightAgainstMajority: 1 })
      assert.strictEqual(risk.brier.n, 1)
      assert.approximately(risk.brier.score, 0.4 ** 2, 1e-12)
      const cost = yield* recordOf("cost")
      assert.deepInclude(cost, { ...record, withOutcome: 1, pivotal: 1, right: 0, againstMajority: 0 })
      assert.approximately(cost.brier.score, 0.9 ** 2, 1e-12)
      assert.deepInclude(yield* recordOf("coordinator"), { runs: 0 })
    })
  )

  it.effect("keep the definition of their name: the score, else the label, else nothing", () =>
    Effect.gen(function* () {
      yield* call("PUT", "/marks/definitions/verdict", { body: { kind: "category", categories: ["good", "bad"] } })
      const labelled = (label: string) => result("verdict", "7", { "gen_ai.evaluation.score.label": label })
      yield* post(
        exportOf([span({ trace: 5, span: 1, events: [labelled("bad"), labelled("odd"), result("tone", "1")] })])
      )
      const marks = yield* marksAt(5, 2)
      assert.deepStrictEqual(
        marks.map(({ name, value }) => [name, value]),
        [
          ["tone", 1],
          ["verdict", "bad"]
        ]
      )
    })
  )

  it.effect("judge an ended run too, and are delivered to webhooks", () =>
    Effect.gen(function* () {
      yield* post(exportOf([span({ trace: 6, span: 1 }), chat(6, 2)]))
      yield* until(call("GET", `/runs/${runOf(6)}`), ({ body }) => body.status === "completed")
      const { requests, url } = yield* webhookReceiver()
      yield* call("POST", "/webhooks", { body: { url, secret: "s", events: ["mark.added"] } })
      const named = { "gen_ai.response.id": "response-6-2" }
      const judge = span({ trace: 6, span: 9, parent: 1, name: "later", events: [result("tone", "1", named)] })
      yield* post(exportOf([judge]))
      const [mark] = yield* marksAt(6, 1)
      assert.strictEqual(mark?.target.kind, "llmCall")
      const { body } = yield* Queue.take(requests)
      assert.deepInclude(JSON.parse(body), {
        event: "mark.added",
        runId: runOf(6),
        status: "completed",
        data: { mark }
      })
    })
  )

  it.effect("called correct are not the truth about a run of the runtime that their spans join", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sessionId = randomUUID()
      const runId = yield* createRun({ status: "running", createdAt: new Date().toISOString() })
      yield* sql`
        UPDATE runs SET runtime_session_id = ${sessionId}, runtime_kind = 'rust-runtime' WHERE id = ${runId}::uuid`
      const finalized = draftEvent(
        "decision.finalized",
        {
          ts: new Date().toISOString(),
          subject: { kind: "decision", id: "d" },
          source: { kind: "runtime", name: "rust-runtime" }
        },
        { sender: "a", decodedPayload: { action: "ship" } }
      )
      yield* Effect.flatMap(EventLog, (log) => log.record({ runId, events: [finalized] }))
      const attributes = { "macp.session.id": sessionId }
      const root = span({ trace: 8, span: 1, attributes, events: [result("correct", "0"), result("tone", "1")] })
      yield* post(exportOf([root]))
      const marks = yield* until(call("GET", `/runs/${runId}/marks`), ({ body }) => body.total > 0)
      assert.deepStrictEqual(
        marks.body.data.map(({ name }: Mark) => name),
        ["tone"]
      )
    })
  )

  it.effect("cannot be given by a caller under the name of an alert rule", () =>
    Effect.gen(function* () {
      const runId = yield* createRun({ status: "running", createdAt: new Date().toISOString() })
      const body = { target: { kind: "run" }, name: "tone", value: 1, source: "rule" }
      const refused = yield* call("POST", `/runs/${runId}/marks`, { body })
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, "source")
      assert.strictEqual(
        (yield* call("POST", `/runs/${runId}/marks`, { body: { ...body, source: "api" } })).status,
        201
      )
    })
  )

  it.effect("do not hide that a span states a cost that is not money", () =>
    Effect.gen(function* () {
      const attributes = {
        ...{ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.cost": "999999" },
        ...{ "gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "2" }
      }
      yield* post(exportOf([span({ trace: 9, span: 1 }), chat(9, 2, { attributes })]))
      yield* until(call("GET", `/runs/${runOf(9)}`), ({ body }) => body.status === "completed")
      const { body: state } = yield* call("GET", `/runs/${runOf(9)}/state`)
      assert.strictEqual(state.llm.totals.uncountedCostUsd, 999_999)
      assert.isBelow(state.llm.totals.estimatedCostUsd, 0.01)
      assert.strictEqual(state.llm.calls[0].uncountedCostUsd, 999_999)
      const { body: listed } = yield* call("GET", `/runs?q=id:${runOf(9)}`)
      assert.strictEqual(listed.data[0].usage.uncountedCostUsd, 999_999)
      assert.isBelow(listed.data[0].usage.estimatedCostUsd, 0.01)
    })
  )
})
