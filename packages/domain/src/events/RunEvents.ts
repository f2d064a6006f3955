import * as Schema from "effect/Schema"
import { ReceiptReport, receiptReportIn } from "../receipts/ReceiptReport.ts"
import { eventType } from "./EventType.ts"
import { inData, member, textOr } from "./Members.ts"
import { AnswerFact, answerFactIn, ItemFact, itemFactIn, TurnFact, turnFactIn } from "./PeopleFacts.ts"
import { ShadowFact, shadowFactIn } from "./ShadowFact.ts"

/**
 * The life of the run's record. The control plane emits these itself, each in the transaction that changes the status;
 * the subject is the run.
 */

const endStatuses = ["completed", "failed"] as const
const EndStatus = Schema.Literals(endStatuses)

const identity = {
  modeName: inData.text(),
  /** The session of the run. Recorded as `sessionId` until an observer searches for the session. */
  runtimeSessionId: inData.text("sessionId"),
  /** W3C trace id of the run. */
  traceId: inData.text()
}

/** The run was accepted and waits for its session: `queued`. */
export const RunCreated = eventType("run.created", {
  ...identity,
  runtimeKind: inData.text(),
  runtimeVersion: inData.text()
})

/** An observer searches for the session: `starting`. */
export const RunStarted = eventType("run.started", {
  ...identity,
  runtimeKind: inData.text(),
  startedAt: inData.text()
})

/** Of a run that was ingested: its start, which a span that arrived after `run.started` may have moved. */
const startedAt = inData.text()

/** The session was resolved and all of its history is in the log. */
export const RunCompleted = eventType("run.completed", { ...identity, startedAt, endedAt: inData.text() })

/** The run cannot continue; `error` is the reason for people, `errorCode` for programs. */
export const RunFailed = eventType("run.failed", {
  ...identity,
  startedAt,
  endedAt: inData.text(),
  error: inData.text(),
  errorCode: inData.text()
})

/** A caller, or the session itself, cancelled the run. */
export const RunCancelled = eventType("run.cancelled", { ...identity, endedAt: inData.text(), reason: inData.text() })

/**
 * The run ended otherwise than its end says, which was recorded before its root came: the same members as of the end,
 * and the name of the run.
 */
export const RunCorrected = eventType("run.corrected", {
  ...identity,
  status: member(Schema.UndefinedOr(EndStatus), ({ data }) => endStatuses.find((status) => status === data["status"])),
  startedAt,
  endedAt: inData.text(),
  error: inData.text(),
  errorCode: inData.text(),
  name: inData.text()
})

/** The session pauses. */
export const RunSuspended = eventType("run.suspended", { ...identity, reason: inData.text() })

/** The session goes on after a pause. */
export const RunResumed = eventType("run.resumed", { ...identity, reason: inData.text() })

/**
 * Something was added to the run: a document, or a link to a trace. Emitted by the control plane; the subject is the
 * artifact.
 */
export const ArtifactCreated = eventType("artifact.created", {
  artifactId: textOr(inData.text()),
  kind: inData.text(),
  label: inData.text(),
  uri: inData.text(),
  traceId: inData.text(),
  /** SHA-256 of the inline content as it is served, hexadecimal. Recorded since seals cover artifacts. */
  contentSha256: inData.text(),
  /** The check of the receipt that the artifact holds (docs/reference/decisions.md#receipts). */
  receipt: member(Schema.UndefinedOr(ReceiptReport), ({ data }) => receiptReportIn(data)),
  /** The question to a person that the artifact is about. */
  item: member(Schema.UndefinedOr(ItemFact), ({ data }) => itemFactIn(data)),
  /** The answer of a seat that the artifact proves (docs/reference/people.md#record). */
  answer: member(Schema.UndefinedOr(AnswerFact), ({ data }) => answerFactIn(data)),
  /** What became of a turn of an agent that speaks A2A. */
  turn: member(Schema.UndefinedOr(TurnFact), ({ data }) => turnFactIn(data)),
  /** The shadow whose acts the artifact has (docs/reference/shadows.md#record). */
  shadow: member(Schema.UndefinedOr(ShadowFact), ({ data }) => shadowFactIn(data))
})
