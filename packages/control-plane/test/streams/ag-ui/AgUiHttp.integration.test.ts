import { HttpAgent } from "@ag-ui/client"
import { assert, layer } from "@effect/vitest"
import {
  artifactCreated,
  draftEvent,
  type EventDraft,
  type JsonObject,
  RunId,
  runCancelled,
  runFailed
} from "@runplane/domain"
import { Shutdown } from "@runplane/server"
import { type SseFrame, until } from "@runplane/testing"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { LiveEvents } from "../../../src/event-log/subscribe/LiveEvents.ts"
import { baseUrl, call, layerTestService, openStream } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const said = (
  type: "proposal.created" | "proposal.updated" | "decision.finalized",
  messageType: string,
  sender: string,
  decodedPayload: JsonObject
): EventDraft =>
  draftEvent(
    type,
    { ts: "2026-07-01T10:00:01.000Z", subject: { kind: "proposal", id: "p1" }, source: { kind: "runtime", name: "r" } },
    { messageType, sender, messageId: `${messageType}-${sender}`, decodedPayload }
  )

const TALK = [
  said("proposal.created", "Proposal", "lead", { option: "go" }),
  said("proposal.updated", "Vote", "risk", { vote: "APPROVE", reason: "small" }),
  said("decision.finalized", "Commitment", "lead", { commitmentId: "c1", action: "decision.selected" })
]

const manyVotes = (count: number, reason = "") =>
  Array.from({ length: count }, (_, at) =>
    said("proposal.updated", "Vote", `voter-${at % 5}`, { vote: "APPROVE", ...(reason !== "" && { reason }) })
  )

const record = Effect.fnUntraced(function* (runId: string, events: ReadonlyArray<EventDraft>) {
  const log = yield* EventLog
  return yield* log.record({ runId: RunId.make(runId), events })
})

const cancel = Effect.fnUntraced(function* (runId: RunId) {
  const log = yield* EventLog
  const events = (_: unknown, at: string) => [
    runCancelled({ ts: at, runId, traceId: "t", runtimeSessionId: runId, endedAt: at })
  ]
  yield* log.change({ runId, to: "cancelled", events })
})

/** The client of the protocol: it sends a POST, verifies the events, and applies them. */
const followed = Effect.fnUntraced(function* (path: string) {
  const agent = new HttpAgent({ url: `${yield* baseUrl}${path}`, threadId: "thread-1" })
  yield* Effect.promise(() => agent.runAgent({ runId: "ui-1" }))
  return { state: agent.state, messages: agent.messages }
})

/** The client refuses an answer after it. */
const DEADLINE = new Date(Date.now() + 3_600_000).toISOString()

const asked = (item: string, event: "opened" | "closed"): EventDraft => {
  const fact = { item, event, seat: "officer", scenario: "payments/limit@1.0.0", hash: "c3ab8ff1", unanswered: false }
  const state = event === "opened" ? "open" : "accepted"
  const artifact = { artifactId: `${item}-${event}`, kind: "people.item", label: "Question" }
  return artifactCreated(
    "2026-07-01T10:00:02.000Z",
    { ...artifact, item: { ...fact, state, deadline: DEADLINE } },
    "run-manager"
  )
}

/** The client of the protocol after a stream that ended with interrupts. */
const interruptedAt = Effect.fnUntraced(function* (path: string) {
  const agent = new HttpAgent({ url: `${yield* baseUrl}${path}`, threadId: "thread-1" })
  yield* Effect.promise(() => agent.runAgent({ runId: "ui-1" }))
  return agent
})

const typesOf = (frames: ReadonlyArray<SseFrame>) => frames.map(({ data }) => data.type)

layer(layerTestService({ observer: { recoveryEnabled: false } }), { excludeTestServices: true })(
  "/runs/:id/ag-ui",
  (it) => {
    it.effect("shows a live run to the protocol's own client, up to its end", () =>
      Effect.gen(function* () {
        const live = yield* LiveEvents
        const runId = yield* createRun()
        const client = yield* Effect.forkChild(followed(`/runs/${runId}/ag-ui`))
        yield* until(
          Effect.map(live.subscribe(runId), ({ position }) => position > 0),
          (isSubscribed) => isSubscribed
        )
        for (const event of TALK) yield* record(runId, [event])
        yield* cancel(runId)
        const { messages, state } = yield* Fiber.join(client)
        assert.deepStrictEqual(
          messages.map((message) => ["name" in message ? message.name : "", message.content]),
          [
            ["lead", "lead proposes go"],
            ["risk", "risk votes APPROVE: small"],
            ["lead", "lead commits an approval"]
          ]
        )
        assert.deepStrictEqual(state, (yield* call("GET", `/runs/${runId}/state`)).body)
      })
    )

    it.effect("shows an ended run again, from the start and behind an event", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const { lastSeq } = yield* record(runId, TALK.slice(0, 1))
        yield* record(runId, TALK.slice(1))
        yield* cancel(runId)
        const { body: final } = yield* call("GET", `/runs/${runId}/state`)
        const whole = yield* followed(`/runs/${runId}/ag-ui`)
        assert.lengthOf(whole.messages, 3)
        assert.deepStrictEqual(whole.state, final)
        const rest = yield* followed(`/runs/${runId}/ag-ui?since=${lastSeq}`)
        assert.lengthOf(rest.messages, 2)
        assert.deepStrictEqual(rest.state, final)
        const end = yield* followed(`/runs/${runId}/ag-ui?since=${final.timeline.latestSeq}`)
        assert.isEmpty(end.messages)
        assert.deepStrictEqual(end.state, final)
        const lasts = yield* Effect.forEach([0, final.timeline.latestSeq], (since) =>
          Effect.flatMap(openStream(`/runs/${runId}/ag-ui?since=${since}`), ({ rest }) =>
            Effect.map(rest, (frames) => frames.at(-1)?.data)
          )
        )
        assert.deepInclude(lasts[0], { type: "RUN_FINISHED", outcome: { type: "cancelled" } })
        assert.deepInclude(lasts[0].result, { status: "cancelled" })
        assert.deepInclude(lasts[0].result.decision, { action: "decision.selected", resolvedBy: "lead" })
        const [sentence, ...voters] = lasts[0].result.decision.text.split("\n")
        assert.match(sentence, /Approved \(committed by lead\); 1 for, 0 against, 1 of \d voted\.$/)
        assert.include(voters, "risk voted for it")
        assert.deepStrictEqual(lasts[0], lasts[1])
      })
    )

    it.effect("continues a GET by since or Last-Event-ID, with the ids of the run", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const { lastSeq } = yield* record(runId, TALK.slice(0, 1))
        const frames = yield* Effect.forEach(
          [
            yield* openStream(`/runs/${runId}/ag-ui?since=${lastSeq}`),
            yield* openStream(`/runs/${runId}/ag-ui`, { "last-event-id": String(lastSeq) })
          ],
          (stream) => Effect.all([stream.next, stream.next, stream.next])
        )
        for (const [started, snapshot, step] of frames) {
          assert.deepStrictEqual(started?.data, {
            type: "RUN_STARTED",
            threadId: runId,
            runId,
            protocolVersion: "1.0"
          })
          assert.strictEqual(snapshot?.data.snapshot.timeline.latestSeq, lastSeq)
          assert.deepInclude(step?.data, { type: "STEP_STARTED", stepName: "proposal" })
        }
      })
    )

    it.effect("ends with an error where the client would have less than the run", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const { body: state } = yield* call("GET", `/runs/${runId}/state`)
        const beyond = yield* openStream(`/runs/${runId}/ag-ui?since=${state.timeline.latestSeq + 1_000}`)
        const lost = yield* beyond.rest
        assert.deepInclude(lost.at(-1)?.data, { type: "RUN_ERROR", code: "LOG_RESET" })

        const failed = yield* createRun()
        const log = yield* EventLog
        yield* log.change({
          runId: failed,
          to: "failed",
          events: (_, at) => [
            runFailed({
              ts: at,
              runId: failed,
              traceId: "t",
              runtimeSessionId: failed,
              endedAt: at,
              error: "expired",
              errorCode: "SESSION_EXPIRED"
            })
          ]
        })
        const frames = yield* (yield* openStream(`/runs/${failed}/ag-ui`)).rest
        assert.deepInclude(frames.at(-1)?.data, {
          type: "RUN_ERROR",
          message: "expired",
          code: "SESSION_EXPIRED"
        })
      })
    )

    it.effect("has all messages of a long run, and a state change for each page of them", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* record(runId, manyVotes(1_200))
        yield* cancel(runId)
        const types = typesOf(yield* (yield* openStream(`/runs/${runId}/ag-ui`)).rest)
        assert.lengthOf(
          types.filter((type) => type === "TEXT_MESSAGE_END"),
          1_200
        )
        assert.isAtMost(types.filter((type) => type === "STATE_DELTA" || type === "STATE_SNAPSHOT").length, 5)
        assert.strictEqual(types.at(-1), "RUN_FINISHED")
      })
    )

    it.effect("ends with an interrupt while a person is asked, and goes on after the answer", () =>
      Effect.gen(function* () {
        const id = yield* createRun()
        yield* record(id, TALK.slice(0, 1))
        yield* record(id, [asked("i1", "opened"), asked("i2", "opened")])
        const path = `/runs/${id}/ag-ui`
        const agent = yield* interruptedAt(path)
        const { pendingInterrupts } = agent
        assert.deepStrictEqual(
          pendingInterrupts.map(({ expiresAt, id: item, metadata, reason }) => ({ expiresAt, item, metadata, reason })),
          ["i1", "i2"].map((item) => ({
            expiresAt: DEADLINE,
            item,
            metadata: { seat: "officer", hash: "c3ab8ff1", scenario: "payments/limit@1.0.0" },
            reason: "person"
          }))
        )
        const accepts = new Ajv2020({ strict: false }).compile(pendingInterrupts[0]?.responseSchema ?? { not: {} })
        const body = {
          act: "approve",
          reason: "fine",
          proposalHash: "a".repeat(64),
          basis: { ordinal: 1, sha256: "b".repeat(64) }
        }
        assert.isTrue(accepts(body), JSON.stringify(accepts.errors))
        assert.isFalse(accepts({ ...body, act: "shrug" }))

        // A stream from behind the question has it as well, and one that ignores questions goes on.
        const head = (yield* call("GET", `/runs/${id}/events?limit=200`)).body.at(-1).seq
        assert.lengthOf((yield* interruptedAt(`${path}?since=${head}`)).pendingInterrupts, 2)
        const on = yield* openStream(`${path}?interrupts=false`)

        yield* record(id, [asked("i1", "closed"), asked("i2", "closed")])
        yield* cancel(RunId.make(id))
        // The client answers its interrupts in its next run; the stream ignores that, and has none any more.
        const resume = pendingInterrupts.map(({ id: interruptId }) => ({ interruptId, status: "resolved" as const }))
        yield* Effect.promise(() => agent.runAgent({ runId: "ui-2", resume }))
        assert.deepStrictEqual(agent.pendingInterrupts, [])
        const last = (yield* on.rest).at(-1)
        assert.deepInclude(last?.data, { type: "RUN_FINISHED", outcome: { type: "cancelled" } })
      }).pipe(Effect.scoped)
    )

    it.effect("ends with an error when the run is deleted before the client has all of it", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        for (let part = 0; part < 20; part++) yield* record(runId, manyVotes(30, "x".repeat(40_000)))
        yield* cancel(runId)
        const stream = yield* openStream(`/runs/${runId}/ag-ui`)
        yield* stream.next
        assert.strictEqual((yield* call("DELETE", `/runs/${runId}`)).status, 204)
        const frames = yield* stream.rest
        assert.deepInclude(frames.at(-1)?.data, { type: "RUN_ERROR", code: "RUN_DELETED" })
        assert.isBelow(typesOf(frames).filter((type) => type === "TEXT_MESSAGE_END").length, 600)
      })
    )

    it.effect("refuses an unknown run, and a wrong value with its field", () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const unknown = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
        for (const method of ["GET", "POST"]) {
          const { body, status } = yield* call(method, `/runs/${unknown}/ag-ui`)
          assert.deepStrictEqual([status, body.errorCode], [404, "RUN_NOT_FOUND"])
          const wrong = yield* call(method, `/runs/${runId}/ag-ui?since=-1`)
          assert.strictEqual(wrong.status, 400)
          assert.include(JSON.stringify(wrong.body), "since")
        }
        const long = yield* call("POST", `/runs/${runId}/ag-ui`, { body: { threadId: "x".repeat(257) } })
        assert.strictEqual(long.status, 400)
        assert.include(JSON.stringify(long.body), "threadId")
      })
    )

    it.effect("ends with an error when the process stops", () =>
      Effect.gen(function* () {
        const shutdown = yield* Shutdown
        const runId = yield* createRun()
        const stream = yield* openStream(`/runs/${runId}/ag-ui`)
        yield* stream.next
        yield* shutdown.begin
        assert.deepInclude((yield* stream.rest).at(-1)?.data, { type: "RUN_ERROR", code: "SERVICE_STOPPING" })
      })
    )
  }
)
