import { assert, describe, it } from "@effect/vitest"
import {
  CANONICAL_EVENT_TYPES,
  CanonicalEvent,
  decodeEvent,
  decodeEventText,
  draftEvent,
  type EventDraft,
  emptyRunMetrics,
  emptyRunState,
  type JsonObject,
  measure,
  project,
  RecordedEvent,
  RunId
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { arbitraryDrafts, arbitraryFrame } from "../support/arbitraries.ts"
import { at, derived, draft, number, RUN_ID, reread, stored, textOf } from "../support/events.ts"
import { normalise } from "../support/frames.ts"

const isTyped = Schema.is(Schema.toType(CanonicalEvent))
const decodeServed = Schema.decodeUnknownSync(Schema.fromJsonString(CanonicalEvent))
const encodeServed = Schema.encodeSync(Schema.fromJsonString(CanonicalEvent))

const recorded = (over: JsonObject = {}): JsonObject => ({
  ...stored(draft("run.failed", { error: "e" }), 1).recorded,
  ...over
})
const decoded = (json: unknown) => Result.getOrThrow(decodeEvent(json))

/** Stored, read again and written again. */
const assertLossless = (draft: EventDraft) => {
  const event = stored(draft, 1)
  const text = textOf(event)
  assert.deepStrictEqual(reread(event), event)
  assert.strictEqual(textOf(reread(event)), text)
  assert.isTrue(isTyped(event), text)
  assert.strictEqual(encodeServed(decodeServed(text)), text)
}

describe("a canonical event", () => {
  it.prop(
    "is read from its stored text as it was drafted, and written as the same text",
    { frame: arbitraryFrame },
    ({ frame }) => {
      normalise(frame).drafts.forEach(assertLossless)
    }
  )

  it.prop("keeps the text of data that no normaliser ever made", { drafts: arbitraryDrafts }, ({ drafts }) => {
    drafts.forEach(assertLossless)
  })

  it("reads data of any form, for every type", () => {
    for (const type of CANONICAL_EVENT_TYPES) {
      for (const data of [
        {},
        { sender: 7, decodedPayload: "text" },
        { decodedPayload: { reasons: {}, supersedes: [] } }
      ]) {
        assertLossless(draftEvent(type, { ts: at(0), source: { kind: "replay", name: "r" } }, data))
      }
    }
  })

  it.prop(
    "is recognised as its schema recognises it",
    { frame: arbitraryFrame, key: Arbitrary.schema(Schema.Literals(Object.keys(RecordedEvent.fields))) },
    ({ frame, key }) => {
      const isRecorded = Schema.is(RecordedEvent)
      for (const event of number(normalise(frame).drafts)) {
        for (const value of [
          undefined,
          null,
          "x",
          1,
          1.5,
          [],
          {},
          { kind: "runtime", name: 1 },
          { kind: "run", id: "x" }
        ]) {
          const changed = JSON.parse(JSON.stringify({ ...event.recorded, [key]: value }))
          const result = decodeEvent(changed)
          const isKnown = Result.isSuccess(result) && result.success.type !== "unknown"
          if (key !== "type" && key !== "schemaVersion")
            assert.strictEqual(isKnown, isRecorded(changed), JSON.stringify(changed))
        }
      }
    }
  )
})

describe("the spellings of a member", () => {
  it.each([
    ["proposal.updated", { proposalId: "p", revisedAction: "a" }, { proposal_id: "p", revised_action: "a" }],
    ["signal.emitted", { signalType: "s" }, { signal_type: "s" }],
    [
      "decision.finalized",
      {
        commitmentId: "c",
        proposalId: "p",
        outcomePositive: false,
        supersedes: { sessionId: "s", commitmentHash: "h" }
      },
      {
        commitment_id: "c",
        proposal_id: "p",
        outcome_positive: false,
        supersedes: { session_id: "s", commitment_hash: "h" }
      }
    ],
    [
      "policy.resolved",
      {
        policyVersion: "v",
        resolvedAt: "t",
        expectedCommitments: [{ commitmentId: "c", requiredRoles: ["r"], policyRef: "p" }]
      },
      { policy_id: "v", resolved_at: "t", expected_commitments: [{ id: "c", required_roles: ["r"], policy_ref: "p" }] }
    ],
    ["policy.commitment.evaluated", { commitmentId: "c" }, { commitment_id: "c" }]
  ] as const)("are one in what a %s says", (type, camelCase, snakeCase) => {
    // A signal keeps its payload beside what it says, as it was spelled.
    const said = (payload: JsonObject) => ({ ...derived(type, "M", "agent://a", payload).data, payload: {} })
    assert.deepStrictEqual<object>(said(camelCase), said(snakeCase))
  })

  it("are one for the session of a run and for the state of a session", () => {
    const early = draft("run.created", { sessionId: "s" })
    const late = draft("run.created", { runtimeSessionId: "s" })
    assert.deepStrictEqual(early.data, late.data)
    const bare = draft("session.state.changed", { state: "OPEN" })
    assert.deepStrictEqual(draft("session.state.changed", { state: "SESSION_STATE_OPEN" }).data, bare.data)
  })
})

describe("an event that this version does not know", () => {
  const foreign: ReadonlyArray<readonly [string, JsonObject]> = [
    ["a type of a later version", recorded({ type: "run.paused" })],
    ["an envelope of a later version", recorded({ schemaVersion: 4 })],
    ["a subject of another kind", recorded({ subject: { kind: "planet", id: "x" } })],
    ["no source, and unknown members", { more: 1, ...recorded({ source: null }) }]
  ]

  it.each(foreign)("is unknown with %s, and keeps what it says and how it was written", (_, json) => {
    const event = decoded(json)
    assert.strictEqual(event.type, "unknown")
    assert.deepStrictEqual<unknown>(event.data, json["data"])
    assert.strictEqual(textOf(event), JSON.stringify(json))
  })

  it("is served and received like any other", () => {
    const text = JSON.stringify(recorded({ type: "run.paused" }))
    const event = decodeServed(text)
    assert.deepStrictEqual([event.type, event.recorded.type], ["unknown", "run.paused"])
    assert.strictEqual(encodeServed(event), text)
  })

  it("counts in the projection and changes nothing else", () => {
    const before = emptyRunState(RUN_ID)
    const event = decoded(recorded({ type: "run.paused" }))
    assert.deepStrictEqual(project(before, event), {
      ...before,
      timeline: { latestSeq: event.seq, latestIndex: event.index, totalEvents: 1, recent: [] }
    })
    assert.strictEqual(measure(emptyRunMetrics(RunId.make(RUN_ID)), event).eventCount, 1)
  })
})

describe("JSON without an event", () => {
  it.each([
    ["null", "null"],
    ["a list", "[]"],
    ["an object without a position", '{"type":"run.created","data":{}}'],
    ["half a text", '{"id":']
  ])("fails to decode: %s", (_, text) => {
    const result = decodeEventText(text)
    assert.isTrue(Result.isFailure(result) && result.failure._tag === "EventUnreadable")
  })
})
