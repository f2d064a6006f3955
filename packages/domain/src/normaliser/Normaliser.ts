import { draftEvent } from "../events/CanonicalEvent.ts"
import { sessionStateData, streamOpenedData } from "../events/ControlPlaneEvents.ts"
import type { RawFrame } from "../frames/RuntimeFrames.ts"
import type { Redactor } from "../redaction/Redaction.ts"
import { cleanObject, cleanText } from "../values/CleanJson.ts"
import { normaliseAck, normaliseInlineError } from "./AnswerFrames.ts"
import { runtimeSource } from "./EnvelopeContext.ts"
import { type NormaliserOptions, normaliseEnvelope } from "./EnvelopeFrame.ts"
import { type NormalisedFrame, rawEvent } from "./NormalisedFrame.ts"

export type { NormaliserOptions } from "./EnvelopeFrame.ts"
export type { NormalisedFrame, RawEventDraft } from "./NormalisedFrame.ts"

export interface Normaliser {
  /**
   * Turns one frame into canonical events. Total: no frame makes it throw, and whatever it answers survives JSON and
   * PostgreSQL text unchanged. `known` holds the participants declared or seen so far; `receivedAt` is the ISO time of
   * reception, which all events of the frame bear.
   */
  readonly normalise: (known: ReadonlySet<string>, frame: RawFrame, receivedAt: string) => NormalisedFrame
}

export const makeNormaliser = (options: NormaliserOptions): Normaliser => ({
  normalise: (known, frame, receivedAt) => {
    switch (frame.kind) {
      case "stream-envelope":
        return normaliseEnvelope(options, known, frame.envelope, frame.ambient, receivedAt)
      case "send-ack":
        return normaliseAck(options.redactor, frame.ack, receivedAt)
      case "stream-inline-error":
        return normaliseInlineError(options.redactor, frame.error, receivedAt)
      case "session-snapshot":
        return normaliseSnapshot(frame, receivedAt)
      case "stream-status":
        return normaliseStatus(options.redactor, frame, receivedAt)
    }
  }
})

type FrameOf<Kind extends RawFrame["kind"]> = Extract<RawFrame, { readonly kind: Kind }>

const normaliseSnapshot = ({ kind, snapshot }: FrameOf<"session-snapshot">, ts: string): NormalisedFrame => ({
  drafts: [
    draftEvent(
      "session.state.changed",
      { ts, subject: { kind: "session", id: cleanText(snapshot.sessionId) }, source: runtimeSource(kind) },
      sessionStateData(snapshot)
    )
  ],
  raw: rawEvent(kind, { snapshot: cleanObject(snapshot) })
})

const normaliseStatus = (
  redactor: Redactor,
  { detail, kind, sessionId, ...rest }: FrameOf<"stream-status">,
  ts: string
): NormalisedFrame => {
  const status = { ...rest, ...(detail !== undefined && { detail: redactor.text(detail) }) }
  return {
    drafts: [
      draftEvent(
        "session.stream.opened",
        {
          ts,
          ...(sessionId !== undefined && { subject: { kind: "session", id: cleanText(sessionId) } }),
          source: runtimeSource(kind)
        },
        streamOpenedData(status)
      )
    ],
    raw: rawEvent(kind, cleanObject({ ...status, sessionId }))
  }
}
