import { hash } from "node:crypto"
import { fromBinary } from "@bufbuild/protobuf"
import {
  activePolicy,
  type CanonicalEvent,
  decisionRecord,
  draftEvent,
  type EventDraft,
  type Forecast,
  forecast,
  makeNormaliser,
  noRedactor,
  type PolicyText,
  RunId,
  recordEvent,
  specifiedPrices,
  whatIf,
  why
} from "@runplane/domain"
import { decodePayload, SessionStartPayloadSchema } from "@runplane/runtime"
import * as Result from "effect/Result"
import type { Played } from "./Rehearsal.ts"

const { normalise } = makeNormaliser({
  decode: decodePayload,
  redactor: noRedactor,
  prices: specifiedPrices,
  sha256: (...parts) => hash("sha256", Buffer.concat(parts), "buffer")
})

/** The events that an observer has of a played session. */
const eventsOf = ({ history }: Played): ReadonlyArray<CanonicalEvent> => {
  const [start] = history
  if (start === undefined) return []
  const { participants, policyVersion } = fromBinary(SessionStartPayloadSchema, start.payload)
  const known = new Set(participants)
  const head = { ts: new Date(0).toISOString(), source: { kind: "control-plane", name: "run-executor" } } as const
  const drafts: ReadonlyArray<EventDraft> = [
    draftEvent("session.bound", head, {
      initiator: start.sender,
      modeName: start.mode,
      participants,
      policyVersion: policyVersion || "policy.default"
    }),
    ...history.flatMap((envelope, at) => {
      const raw = { ...envelope, timestampUnixMs: Number(envelope.timestampUnixMs) }
      const frame = { kind: "stream-envelope", ambient: false, envelope: raw } as const
      return normalise(known, frame, new Date(at).toISOString()).drafts
    })
  ]
  const runId = RunId.make("5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10")
  return drafts.map((draft, at) => recordEvent(draft, { id: `event-${at}`, runId, seq: at + 1, index: at + 1 }))
}

const statusOf = ({ outcomes }: Forecast, outcome: string) =>
  outcomes.find((one) => one.outcome === outcome && one.proposalId === undefined)?.status

/**
 * The differences between the insights into a played session and the acts of the runtime: the forecast after each event
 * against the one before and against the accepted commitment, and the decision record at the end. Empty without any.
 */
export const disagreements = (played: Played, policies: ReadonlyArray<PolicyText>): ReadonlyArray<string> => {
  const events = eventsOf(played)
  const registry = (policyId: string) => policies.find((policy) => policy.policyId === policyId)
  const end = events.findIndex(({ type }) => type === "decision.finalized")
  if (played.history.length === 0) return []
  if (end < 0) return ["the record has no commitment"]
  const found: Array<string> = []
  let before: Forecast | undefined
  for (let length = 1; length <= end; length += 1) {
    const run = decisionRecord(events.slice(0, length))
    const now = forecast(run, activePolicy(run, registry))
    for (const outcome of ["positive", "negative"]) {
      const was = before && statusOf(before, outcome)
      const is = statusOf(now, outcome)
      const isBroken = (was === "impossible" && is !== was) || (was === "certain" && is !== "certain" && is !== "met")
      if (isBroken) found.push(`event ${length}: ${outcome} was ${was} and is ${is}`)
    }
    before = now
  }
  const run = decisionRecord(events)
  const by = activePolicy(run, registry)
  const committed = run.commitment?.positive === false ? "negative" : "positive"
  const last = before && statusOf(before, committed)
  if (last !== "met") found.push(`a ${committed} commitment was accepted, and its forecast was ${last}`)
  const explained = why(run, by)
  if (explained.decidedAt === undefined) found.push(`the reason is unknown: ${explained.notes.join("; ")}`)
  found.push(...explained.rules.flatMap(({ rule, satisfied }) => (satisfied ? [] : [`${rule} counts as not met`])))
  const unchanged = whatIf(run, by, {})
  const isAllowed = Result.isSuccess(unchanged) && unchanged.success.before.allowed && !unchanged.success.changed
  return isAllowed ? found : [...found, "without any change the commitment would not be allowed"]
}
