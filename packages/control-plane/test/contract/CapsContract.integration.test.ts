import { assert, layer } from "@effect/vitest"
import type { RawEnvelope, RawFrame, RunId, SendAck } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { observed } from "../../src/event-log/append/FrameBytes.ts"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { createRun } from "../support/Runs.ts"
import { differences } from "./Matching.ts"
import { LEAD, MODE } from "./World.ts"

const receivedAt = "2026-07-01T10:00:01.000Z"

const append = (runId: RunId, frames: ReadonlyArray<RawFrame>) =>
  EventLog.use((log) => log.observe({ runId, frames: frames.map((frame) => observed(frame, receivedAt)) }))

let messages = 0
const envelope = (
  sessionId: string,
  messageType: string,
  sender: string,
  payload: Readonly<Record<string, unknown>>
): Extract<RawFrame, { readonly kind: "stream-envelope" }> => {
  messages += 1
  const envelope: RawEnvelope = {
    macpVersion: "1.0",
    mode: MODE,
    messageType,
    messageId: `cap-${messages}`,
    sessionId,
    sender,
    timestampUnixMs: 1_790_000_000_000,
    payload: new TextEncoder().encode(JSON.stringify(payload))
  }
  return { kind: "stream-envelope", envelope, ambient: false }
}

const times = <A>(count: number, make: (number: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index + 1))

const ack = (sessionId: string, messageId: string, over: Partial<SendAck> = {}): RawFrame => ({
  kind: "send-ack",
  ack: {
    ok: true,
    duplicate: false,
    messageId,
    sessionId,
    acceptedAtUnixMs: 1_790_000_000_000,
    sessionState: "OPEN",
    ...over
  }
})

const denial = { code: "POLICY_DENIED", message: "PolicyDenied: no quorum; too early", details: new Uint8Array() }

// The runs have no observer here: the tests append their frames.
const service = layerTestService({ observer: { recoveryEnabled: false } })

layer(service, { excludeTestServices: true })("Limits of the projected state:", (it) => {
  it.effect("each list keeps its newest entries, the totals go on", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const name = (number: number) => `agent://${number}`
      yield* append(runId, [
        envelope(runId, "Proposal", LEAD, { proposalId: "p", option: "go", rationale: "why" }),
        ...times(310, (number) => envelope(runId, "Vote", name(number), { proposalId: "p", vote: "APPROVE" })),
        ...times(60, (number) =>
          envelope(runId, "PolicyCommitmentEvaluated", LEAD, {
            commitmentId: `c${number}`,
            decision: "deny",
            reasons: ["x"]
          })
        ),
        ...times(110, (number) =>
          envelope(runId, "Note", LEAD, { llmCall: { promptTokens: 1, completionTokens: 1, model: `model-${number}` } })
        ),
        ...times(210, (number) => envelope(runId, "Signal", LEAD, { signalType: `signal-${number}` })),
        ...times(110, (number) => envelope(runId, "Progress", LEAD, { progress: 0.5, message: `step ${number}` }))
      ])
      const { body: state } = yield* call("GET", `/runs/${runId}/state`)
      const ends = (list: ReadonlyArray<unknown>, first: unknown, last: unknown) => {
        assert.deepStrictEqual([...differences(list[0], first), ...differences(list.at(-1), last)], [])
      }
      const { proposals } = state.decision.current
      assert.lengthOf(proposals, 50)
      ends(proposals, { participantId: name(261) }, { participantId: name(310), vote: "allow", messageType: "Vote" })
      assert.lengthOf(state.policy.commitmentEvaluations, 50)
      ends(state.policy.commitmentEvaluations, { commitmentId: "c11" }, { commitmentId: "c60", decision: "deny" })
      assert.lengthOf(state.llm.calls, 100)
      ends(state.llm.calls, { model: "model-11" }, { model: "model-110" })
      assert.deepInclude(state.llm.totals, {
        callCount: 110,
        promptTokens: 110,
        completionTokens: 110,
        totalTokens: 220
      })
      assert.lengthOf(state.signals.signals, 200)
      ends(state.signals.signals, { name: "signal-11" }, { name: "signal-210" })
      assert.lengthOf(state.progress.entries, 100)
      ends(state.progress.entries, { message: "step 11" }, { message: "step 110", percentage: 50 })
      assert.lengthOf(state.graph.edges, 300)
      assert.lengthOf(state.timeline.recent, 50)
      assert.strictEqual(state.timeline.recent.at(-1).seq, state.timeline.latestSeq)

      const { body: metrics } = yield* call("GET", `/runs/${runId}/metrics`)
      assert.strictEqual(state.timeline.totalEvents, metrics.eventCount)
      assert.strictEqual(metrics.signalCount, 210)
      assert.strictEqual(metrics.proposalCount, 311)
      assert.strictEqual(state.participants.length, 311)
      const rebuilt = yield* call("POST", `/runs/${runId}/projection/rebuild`)
      assert.deepInclude(rebuilt.body, state)
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("the list of policy votes is one entry a proposal, with true counts", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* append(
        runId,
        times(5, (number) =>
          envelope(runId, "Vote", `agent://${number}`, { proposalId: "p", vote: number === 5 ? "REJECT" : "APPROVE" })
        )
      )
      const { body } = yield* call("GET", `/runs/${runId}/state`)
      assert.deepStrictEqual(body.policy.voteTally, [
        {
          ...{ commitmentId: "p", allow: 4, deny: 1, threshold: 3, quorum: { required: 5, cast: 5 } },
          voters: { allow: 4, deny: 1, required: 5 }
        }
      ])
    })
  )
})

layer(service, { excludeTestServices: true })("Events, acknowledgements:", (it) => {
  const events = (runId: RunId, type: string) => call("GET", `/runs/${runId}/events?type=${type}`)

  it.effect("message.sent: an outbound message was acknowledged", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      yield* append(runId, [ack(runId, "m1"), ack(runId, "m2", { duplicate: true })])
      const { body } = yield* events(runId, "message.sent")
      assert.deepStrictEqual(
        differences(body, {
          total: 2,
          data: [
            {
              subject: { kind: "message", id: "m1" },
              data: {
                messageId: "m1",
                sessionId: runId,
                ok: true,
                duplicate: false,
                sessionState: "OPEN",
                acceptedAtUnixMs: 1_790_000_000_000
              }
            },
            { subject: { kind: "message", id: "m2" }, data: { duplicate: true } }
          ]
        }),
        []
      )
      assert.strictEqual((yield* events(runId, "policy.denied")).body.total, 0)
      yield* assertLogIsExact(runId)
    })
  )

  // docs/reference/events.md#exact-numbers
  it.effect("message.received: the numbers that were sent, in events, state and export", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const text = '{"signalType":"transfer","account":12345678901234567890,"limit":1e400,"to":"a","to":"b"}'
      const { envelope: signal } = envelope(runId, "Signal", LEAD, {})
      yield* append(runId, [
        { kind: "stream-envelope", envelope: { ...signal, payload: new TextEncoder().encode(text) }, ambient: false }
      ])
      const exact = { signalType: "transfer", account: "12345678901234567890", limit: "1e400", to: "b" }
      const altered = { numbersAsText: ["/account", "/limit"], repeatedKeys: ["/to"] }
      const { body } = yield* events(runId, "message.received,signal.emitted")
      const [received, emitted] = body.data
      assert.deepStrictEqual([received.data.payload, received.data.altered], [exact, altered])
      assert.deepStrictEqual([emitted.data.decodedPayload, emitted.data.altered], [exact, altered])
      const { body: state } = yield* call("GET", `/runs/${runId}/state`)
      assert.deepInclude(state.signals.signals[0].payload, exact)
      const { body: bundle } = yield* call("GET", `/runs/${runId}/export`)
      const exported = bundle.canonicalEvents.find(({ type }: { type: string }) => type === "message.received")
      assert.deepStrictEqual(exported.data.payload, exact)
      yield* assertLogIsExact(runId)
    })
  )

  it.effect("policy.denied, case 2: a send-ack with the code POLICY_DENIED, its reasons from the message", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const error = { ...denial, sessionId: runId, messageId: "m3" }
      yield* append(runId, [ack(runId, "m3", { ok: false, error })])
      const { body } = yield* events(runId, "policy.denied")
      assert.deepStrictEqual(
        differences(body, {
          total: 1,
          data: [
            {
              subject: { kind: "policy", id: "m3" },
              data: {
                messageId: "m3",
                sessionId: runId,
                errorCode: "POLICY_DENIED",
                errorMessage: "PolicyDenied: no quorum; too early",
                decodedPayload: { decision: "deny", reasons: ["PolicyDenied: no quorum; too early"] }
              }
            }
          ]
        }),
        []
      )
      assert.strictEqual((yield* events(runId, "message.sent")).body.data[0].data.ok, false)
      const { body: state } = yield* call("GET", `/runs/${runId}/state`)
      assert.deepInclude(state.outboundMessages, { rejected: 1 })
      const { body: messages } = yield* call("GET", `/runs/${runId}/messages`)
      assert.deepStrictEqual(differences(messages, [{ messageId: "m3", status: "rejected" }]), [])
    })
  )

  it.effect("policy.denied, case 2: the reasons of the error's details come first", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const details = new TextEncoder().encode(JSON.stringify({ reasons: ["threshold not met", "veto"] }))
      const error = { ...denial, details, sessionId: runId, messageId: "m4" }
      yield* append(runId, [ack(runId, "m4", { ok: false, error })])
      const { body } = yield* events(runId, "policy.denied")
      assert.deepStrictEqual(body.data[0].data.decodedPayload, {
        decision: "deny",
        reasons: ["threshold not met", "veto"]
      })
    })
  )

  it.effect("a refused send of another kind is not a denial", () =>
    Effect.gen(function* () {
      const runId = yield* createRun()
      const error = { ...denial, code: "RATE_LIMITED", message: "slow down", sessionId: runId, messageId: "m5" }
      yield* append(runId, [ack(runId, "m5", { ok: false, error })])
      assert.strictEqual((yield* events(runId, "message.sent")).body.total, 1)
      assert.strictEqual((yield* events(runId, "policy.denied")).body.total, 0)
    })
  )
})
