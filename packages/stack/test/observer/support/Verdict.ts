import { assert } from "@effect/vitest"
import { RawEvent } from "@runplane/api"
import {
  decodeEvent,
  emptyRunMetrics,
  emptyRunState,
  measure,
  project,
  RecordedEvent,
  RunId,
  RunMetrics,
  RunState,
  RunStatus
} from "@runplane/domain"
import type { Envelope } from "@runplane/runtime"
import type { Fault } from "@runplane/sandbox"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Trouble } from "./FaultMix.ts"
import { Documents } from "./ObservedStack.ts"
import type { PlayedSession } from "./PlayedSession.ts"

const is = Schema.is(
  Schema.Struct({
    run: Schema.Struct({ status: RunStatus }),
    projection: RunState,
    metrics: RunMetrics,
    canonicalEvents: Schema.Array(RecordedEvent),
    rawEvents: Schema.Array(RawEvent)
  })
)

/**
 * `GET /runs/:id/export?includeRaw=true`, checked but not decoded, so that its keys keep their order; the events typed.
 */
export const exportOf = Effect.fnUntraced(function* (runId: string) {
  const read = yield* Documents
  const bundle: unknown = JSON.parse(yield* read(`/runs/${runId}/export?includeRaw=true&eventLimit=50000`))
  if (!is(bundle)) return assert.fail(`not a bundle: ${JSON.stringify(bundle).slice(0, 500)}`)
  return {
    ...bundle,
    canonicalEvents: bundle.canonicalEvents.map((event) => Result.getOrThrow(decodeEvent(event)))
  }
})

export type Bundle = Effect.Success<ReturnType<typeof exportOf>>

const STATUS_AFTER = { RESOLVED: "completed", CANCELLED: "cancelled", EXPIRED: "failed" } as const
const ENDS: ReadonlyArray<string> = ["run.completed", "run.failed", "run.cancelled"]
const AMBIENT: ReadonlyArray<string> = ["Signal", "Progress"]

/** What is true of every log, whatever happened on the way to it. */
export const assertSound = (runId: string, { canonicalEvents, metrics, projection, run }: Bundle) => {
  assert.deepStrictEqual(
    canonicalEvents.map(({ index }) => index),
    canonicalEvents.map((_, at) => at + 1)
  )
  for (const [at, { seq }] of canonicalEvents.entries()) {
    assert.isAbove(seq, canonicalEvents[at - 1]?.seq ?? 0)
  }
  assert.lengthOf(
    canonicalEvents.filter(({ type }) => ENDS.includes(type)),
    1,
    "one end"
  )
  assert.strictEqual(projection.run.status, run.status)
  const id = RunId.make(runId)
  assert.strictEqual(JSON.stringify(projection), JSON.stringify(canonicalEvents.reduce(project, emptyRunState(id))))
  assert.strictEqual(JSON.stringify(metrics), JSON.stringify(canonicalEvents.reduce(measure, emptyRunMetrics(id))))
}

/**
 * One accepted envelope as the runtime has it and as the log has it; the time is the sandbox's when the sender gave
 * none.
 */
interface Line {
  readonly messageId: string
  readonly messageType: string
  readonly sender: string
  readonly payload: string
}

const lineOf = ({ messageId, messageType, payload, sender }: Envelope): Line => ({
  messageId,
  messageType,
  sender,
  payload: Buffer.from(payload).toString("base64")
})

const RawEnvelope = Schema.Struct({
  ambient: Schema.Boolean,
  envelope: Schema.Struct({
    messageId: Schema.String,
    messageType: Schema.String,
    sender: Schema.String,
    payloadBase64: Schema.String
  })
})
const isRawEnvelope = Schema.is(RawEnvelope)

/** The envelopes of the session, and the ids of the signals, in the order of the log. */
export const linesOf = ({ rawEvents }: Bundle) => {
  const frames = rawEvents.flatMap(({ payload }) => (isRawEnvelope(payload) ? [payload] : []))
  const lines = frames
    .filter(({ ambient }) => !ambient)
    .map(
      ({ envelope: { messageId, messageType, payloadBase64, sender } }): Line => ({
        messageId,
        messageType,
        sender,
        payload: payloadBase64
      })
    )
  return { lines, signals: frames.filter(({ ambient }) => ambient).map(({ envelope }) => envelope.messageId) }
}

/** The run ended as its session did, and its log is the runtime's history, as far as the trouble lets it be. */
export const assertConverged = (
  played: PlayedSession,
  bundle: Bundle,
  trouble: Pick<Trouble, "loses">,
  faults: ReadonlyArray<Fault>
) => {
  assertSound(played.sessionId, bundle)
  assert.strictEqual(bundle.run.status, STATUS_AFTER[played.ending])
  const { lines, signals } = linesOf(bundle)
  const received = bundle.canonicalEvents
    .filter(
      ({ recorded: { data }, type }) => type === "message.received" && !AMBIENT.includes(String(data["messageType"]))
    )
    .map(({ recorded: { data } }) => data["messageId"])
  assert.deepStrictEqual(
    received,
    lines.map(({ messageId }) => messageId)
  )
  for (const signal of signals) assert.include(played.signals, signal)

  const history = lastWordApart(played.history.map(lineOf), lines)
  const bound = bundle.canonicalEvents.some(({ type }) => type === "session.bound")
  // A session that was cancelled or expired before the first look is not bound (docs/reference/events.md#steps).
  if (!bound) {
    assert.notStrictEqual(played.ending, "RESOLVED")
    return assert.deepStrictEqual(lines, [])
  }
  assertHistory(lines, history, bundle.projection.run.historyGap === true, trouble, faults)
}

/**
 * Newer runtimes write a SessionCancel after they have reported the cancellation, and do not count it. The observer
 * waits a moment for it, so it may be missing.
 */
const lastWordApart = (history: ReadonlyArray<Line>, lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const last = history.at(-1)
  const missing = last?.messageType === "SessionCancel" && !lines.some(({ messageId }) => messageId === last.messageId)
  return missing ? history.slice(0, -1) : history
}

/** An envelope that was too large has a note instead of its payload. */
const isUnread = ({ payload }: Line): boolean => Buffer.from(payload, "base64").toString().startsWith('{"unstorable"')

const assertHistory = (
  stored: ReadonlyArray<Line>,
  history: ReadonlyArray<Line>,
  gap: boolean,
  { loses }: Pick<Trouble, "loses">,
  faults: ReadonlyArray<Fault>
) => {
  const payloads = new Map(history.map(({ messageId, payload }) => [messageId, payload]))
  const lines = stored.map((line) =>
    isUnread(line) ? { ...line, payload: payloads.get(line.messageId) ?? "unknown" } : line
  )
  const unread = stored.filter(isUnread)
  if (loses !== "payloads" && loses !== "anything") assert.deepStrictEqual(unread, [])
  switch (loses) {
    case undefined:
    case "payloads":
      assert.deepStrictEqual(lines, history)
      break
    case "late":
      assert.deepStrictEqual(sorted(lines), sorted(history))
      assert.isAtMost(history.length - inOrder(lines, history), dropsOf(faults), "no more are late than were dropped")
      break
    case "one type": {
      const lost = faults.flatMap((fault) => ("messageType" in fault ? [fault.messageType] : []))
      assert.deepStrictEqual(
        lines,
        history.filter(({ messageType }) => !lost.includes(messageType))
      )
      break
    }
    case "the rest":
      assert.deepStrictEqual(lines, history.slice(0, lines.length))
      break
    case "anything": {
      assert.lengthOf(new Set(lines.map(({ messageId }) => messageId)), lines.length)
      for (const line of lines) assert.deepInclude(history, line)
    }
  }
  const isWhole = lines.length === history.length && unread.length === 0
  assert.strictEqual(gap, !isWhole, "marked with a gap if and only if something is missing")
}

const sorted = (lines: ReadonlyArray<Line>) => lines.map((line) => JSON.stringify(line)).toSorted()

const dropsOf = (faults: ReadonlyArray<Fault>): number =>
  faults.reduce((sum, fault) => sum + (fault.kind === "drop" && "times" in fault ? (fault.times ?? 0) : 0), 0)

/** How many lines are in the order of the history: the longest ascending sequence of their positions. */
const inOrder = (lines: ReadonlyArray<Line>, history: ReadonlyArray<Line>): number => {
  const position = new Map(history.map(({ messageId }, index) => [messageId, index]))
  const lowestEnds: Array<number> = []
  for (const { messageId } of lines) {
    const at = position.get(messageId) ?? -1
    const row = lowestEnds.findIndex((end) => end >= at)
    lowestEnds[row === -1 ? lowestEnds.length : row] = at
  }
  return lowestEnds.length
}
