import { create, fromBinary, fromJson, toBinary } from "@bufbuild/protobuf"
import { REDACTED } from "@runplane/domain"
import {
  type Envelope,
  EnvelopeSchema,
  messageTypes,
  type SessionStartPayload,
  SessionStartPayloadSchema
} from "@runplane/runtime"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The document is not a run bundle, or does not hold a session from its start on. */
export class BundleUnreadable extends Data.TaggedError("BundleUnreadable")<{ readonly message: string }> {}

const RawEnvelope = Schema.Struct({
  macpVersion: Schema.String,
  mode: Schema.String,
  messageType: Schema.String,
  messageId: Schema.String,
  sessionId: Schema.String,
  sender: Schema.String,
  /** Text where a double cannot hold it. */
  timestampUnixMs: Schema.Union([Schema.Finite, Schema.String.check(Schema.isPattern(/^-?\d{1,19}$/))]),
  payloadBase64: Schema.String,
  /** The bytes are the decoded payload as JSON, with what was removed from it. */
  redacted: Schema.optionalKey(Schema.Boolean)
})

const EnvelopeEvent = Schema.Struct({ ambient: Schema.Boolean, envelope: RawEnvelope })
const SnapshotEvent = Schema.Struct({ snapshot: Schema.Struct({ state: Schema.String, sessionId: Schema.String }) })

const StateEvent = Schema.Struct({ state: Schema.String })

const Bundle = Schema.Struct({
  rawEvents: Schema.Array(Schema.Struct({ ts: Schema.String, kind: Schema.String, payload: Schema.Unknown })),
  /** Only these show pauses, cancellation and expiry, which a runtime does not show on a session's stream. */
  canonicalEvents: Schema.optionalKey(
    Schema.Array(Schema.Struct({ ts: Schema.String, type: Schema.String, data: Schema.Unknown }))
  )
})

/** One thing that happened in a recorded session. `at` is in Unix milliseconds. */
export type RecordedStep =
  | { readonly kind: "envelope"; readonly at: number; readonly envelope: Envelope }
  | { readonly kind: "signal"; readonly at: number; readonly envelope: Envelope }
  | { readonly kind: "state"; readonly at: number; readonly state: RecordedState }

/**
 * States of a session from outside its stream, which shows only RESOLVED
 * (docs/internals/runtime.md#stream-silence).
 */
export type RecordedState = "OPEN" | "SUSPENDED" | "RESOLVED" | "EXPIRED" | "CANCELLED"

/** A session that was observed and recorded. */
export interface RecordedRun {
  readonly sessionId: string
  readonly start: Envelope
  readonly payload: SessionStartPayload
  readonly startedAt: number
  /** What followed the start, in order. */
  readonly steps: ReadonlyArray<RecordedStep>
}

/** Reads a run bundle as `GET /runs/:id/export?includeRaw=true` gives it. */
export const readBundle = (bundle: unknown): Result.Result<RecordedRun, BundleUnreadable> =>
  Result.flatMap(Result.mapError(decodeBundle(bundle), unreadable), ({ canonicalEvents = [], rawEvents }) =>
    Result.flatMap(stepsOf(rawEvents, stepOf), (frames) =>
      Result.flatMap(stepsOf(canonicalEvents, stateStepOf), (states) => assemble(merge(frames, states)))
    )
  )

/**
 * The states between the frames. The frames keep their order even when the clock went back; in the same millisecond
 * the frame is first.
 */
const merge = (
  frames: ReadonlyArray<RecordedStep>,
  states: ReadonlyArray<RecordedStep>
): ReadonlyArray<RecordedStep> => {
  const later = [...states]
  const merged = frames.flatMap((frame) => {
    const next = later.findIndex(({ at }) => at >= frame.at)
    return [...later.splice(0, next === -1 ? later.length : next), frame]
  })
  return [...merged, ...later]
}

const stepsOf = <Event>(
  events: ReadonlyArray<Event>,
  read: (event: Event) => Result.Result<RecordedStep | undefined, BundleUnreadable>
): Result.Result<ReadonlyArray<RecordedStep>, BundleUnreadable> => {
  const steps: Array<RecordedStep> = []
  for (const event of events) {
    const step = read(event)
    if (Result.isFailure(step)) return Result.fail(step.failure)
    if (step.success !== undefined) steps.push(step.success)
  }
  return Result.succeed(steps)
}

const decodeBundle = Schema.decodeUnknownResult(Bundle)
const decodeEnvelope = Schema.decodeUnknownResult(EnvelopeEvent)
const decodeSnapshot = Schema.decodeUnknownResult(SnapshotEvent)
const decodeState = Schema.decodeUnknownResult(StateEvent)

const unreadable = (cause: { readonly message: string }) => new BundleUnreadable({ message: cause.message })

interface RawEvent {
  readonly ts: string
  readonly kind: string
  readonly payload: unknown
}

interface CanonicalEvent {
  readonly ts: string
  readonly type: string
  readonly data: unknown
}

const timeOf = (ts: string): Result.Result<number, BundleUnreadable> => {
  const at = Date.parse(ts)
  return Number.isFinite(at)
    ? Result.succeed(at)
    : Result.fail(new BundleUnreadable({ message: `${ts} is not a time` }))
}

const stateStepOf = ({ data, ts, type }: CanonicalEvent): Result.Result<RecordedStep | undefined, BundleUnreadable> =>
  type !== "session.state.changed"
    ? Result.succeed(undefined)
    : Result.flatMap(Result.mapError(decodeState(data), unreadable), ({ state }) =>
        Result.map(timeOf(ts), (at) => (isRecordedState(state) ? { kind: "state", at, state } : undefined))
      )

/** Stream status, acknowledgements and errors are about the observer's own calls, so they are not replayed. */
const stepOf = ({ kind, payload, ts }: RawEvent): Result.Result<RecordedStep | undefined, BundleUnreadable> => {
  const time = timeOf(ts)
  if (Result.isFailure(time)) return Result.fail(time.failure)
  const at = time.success
  if (kind === "stream-envelope") {
    return Result.flatMap(Result.mapError(decodeEnvelope(payload), unreadable), ({ ambient, envelope }) =>
      Result.map(envelopeOf(envelope), (read) => ({ kind: ambient ? "signal" : "envelope", at, envelope: read }))
    )
  }
  if (kind === "session-snapshot") {
    return Result.map(Result.mapError(decodeSnapshot(payload), unreadable), ({ snapshot: { state } }) =>
      isRecordedState(state) ? { kind: "state", at, state } : undefined
    )
  }
  return Result.succeed(undefined)
}

const isRecordedState = Schema.is(Schema.Literals(["OPEN", "SUSPENDED", "RESOLVED", "EXPIRED", "CANCELLED"]))

const envelopeOf = (raw: typeof RawEnvelope.Type): Result.Result<Envelope, BundleUnreadable> =>
  Result.map(payloadOf(raw), (payload) =>
    create(EnvelopeSchema, {
      macpVersion: raw.macpVersion,
      mode: raw.mode,
      messageType: raw.messageType,
      messageId: raw.messageId,
      sessionId: raw.sessionId,
      sender: raw.sender,
      timestampUnixMs: BigInt(
        typeof raw.timestampUnixMs === "string" ? raw.timestampUnixMs : Math.trunc(raw.timestampUnixMs)
      ),
      payload
    })
  )

/**
 * The bytes of the payload; a redacted one is encoded again from its remaining fields. When a redacted number or bytes
 * field does not fit its type, all redacted fields are left out.
 */
const payloadOf = (raw: typeof RawEnvelope.Type): Result.Result<Uint8Array<ArrayBuffer>, BundleUnreadable> => {
  const bytes = new Uint8Array(Buffer.from(raw.payloadBase64, "base64"))
  const type = raw.redacted === true ? payloadType(raw) : undefined
  if (type === undefined) return Result.succeed(bytes)
  const text = new TextDecoder().decode(bytes)
  const encoded = (reviver?: (name: string, value: unknown) => unknown) =>
    Result.try(() => toBinary(type, fromJson(type, JSON.parse(text, reviver), { ignoreUnknownFields: true })))
  return Result.orElse(encoded(), () => encoded(unlessRedacted)).pipe(
    Result.mapError(
      () => new BundleUnreadable({ message: `the redacted ${raw.messageType} ${raw.messageId} cannot be encoded` })
    )
  )
}

const unlessRedacted = (_: string, value: unknown) =>
  typeof value === "string" && value.includes(REDACTED) ? undefined : value

const payloadType = ({ messageType, mode }: { readonly messageType: string; readonly mode: string }) =>
  messageTypes.getMessage(`macp.v1.${messageType}Payload`) ??
  messageTypes.getMessage(`macp.modes.${mode.replace(/^(macp\.mode|ext)\./, "")}.${messageType}Payload`)

const assemble = (steps: ReadonlyArray<RecordedStep>): Result.Result<RecordedRun, BundleUnreadable> => {
  const first = steps.findIndex((step) => step.kind === "envelope")
  const start = steps[first]
  if (start?.kind !== "envelope" || start.envelope.messageType !== "SessionStart") {
    return Result.fail(
      new BundleUnreadable({
        message: "the bundle does not begin with a SessionStart; was it exported with its raw events?"
      })
    )
  }
  const { at, envelope } = start
  return Result.map(
    Result.try({
      try: () => fromBinary(SessionStartPayloadSchema, envelope.payload),
      catch: () => new BundleUnreadable({ message: "the SessionStart has no readable payload" })
    }),
    (payload) => ({
      sessionId: envelope.sessionId,
      start: envelope,
      payload,
      startedAt: at,
      // Signals may have been received before the first envelope was replayed to the observer.
      steps: steps.filter((_, index) => index !== first)
    })
  )
}
