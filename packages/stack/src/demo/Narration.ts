import type { CanonicalEvent } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { because, flag, number, plainText, read, text } from "./Reading.ts"
import { saying } from "./Sayings.ts"

/** One line of the story of a run. */
export interface Line {
  /** A participant, or `run` for what the control plane says. */
  readonly who: string
  readonly what: string
  /** How much it matters to somebody who watches: drawn in bold, plainly, or dimly on a terminal. */
  readonly weight: "high" | "normal" | "low"
}

/**
 * Tells what an event means to somebody who watches a run; undefined for events that would only be noise (receipts of
 * messages, progress percentages, signals that other events already tell).
 */
export const narrate = (event: CanonicalEvent): Line | undefined => {
  const { messageType = "", sender = "run" } = read(Common, event.data)
  const payload = read(Payload, event.data["decodedPayload"])
  switch (event.type) {
    case "run.created":
      return low("run", "created, waiting for its session")
    case "session.bound":
      return narrateBinding(event)
    case "session.stream.opened": {
      const { status = "" } = read(Stream, event.data)
      return status === "reconnecting" || status === "recovered" ? normal("run", `stream ${status}`) : undefined
    }
    case "proposal.created":
    case "proposal.updated":
      return normal(sender, saying(messageType, event.data["decodedPayload"]))
    case "signal.emitted":
      return TOLD_OTHERWISE.has(payload.signalType ?? "") ? undefined : normal(sender, `signals ${payload.signalType}`)
    case "llm.call.completed":
      return low(sender, usage(payload))
    case "tool.called":
      return low(sender, "calls a tool")
    case "policy.denied":
      return high(sender, `is refused by the policy${because(payload.reason ?? read(Common, event.data).errorMessage)}`)
    case "decision.finalized":
      return high(sender, `commits ${payload.action ?? "the decision"}${outcome(payload)}${because(payload.reason)}`)
    case "run.completed":
      return high("run", "completed")
    case "run.failed":
      return high("run", `failed${because(read(Common, event.data).error)}`)
    case "run.cancelled":
      return high("run", `cancelled${because(read(Common, event.data).reason)}`)
    case "run.suspended":
      return normal("run", "suspended")
    case "run.resumed":
      return normal("run", "resumed")
    default:
      return undefined
  }
}

/** Signals that another event, or another line, already tells. */
const TOLD_OTHERWISE = new Set(["", "session.started", "session.ended", "session.context", "llm.call.completed"])

const Common = Schema.Struct({ messageType: text, sender: text, error: text, errorMessage: text, reason: text })
const Stream = Schema.Struct({ status: text })
const Binding = Schema.Struct({
  initiator: text,
  policyVersion: text,
  participants: Schema.optionalKey(Schema.Array(Schema.String))
})
const Payload = Schema.Struct({
  reason: text,
  signalType: text,
  model: text,
  promptTokens: number,
  completionTokens: number,
  action: text,
  outcome_positive: flag
})
type Payload = typeof Payload.Type

const line =
  (weight: Line["weight"]) =>
  (who: string, what: string): Line => ({
    who: plainText(who),
    what: plainText(what),
    weight
  })
const low = line("low")
const normal = line("normal")
const high = line("high")

const narrateBinding = (event: CanonicalEvent) => {
  const { initiator = "run", participants = [], policyVersion = "" } = read(Binding, event.data)
  return normal(initiator, `opens the session for ${participants.length} participants, under ${policyVersion}`)
}

const usage = ({ completionTokens = 0, model, promptTokens = 0 }: Partial<Payload>) =>
  `used ${model ?? "a model"}, ${promptTokens} + ${completionTokens} tokens`

const outcome = ({ outcome_positive: positive }: Partial<Payload>) =>
  positive === undefined ? "" : positive ? " (positive)" : " (negative)"
