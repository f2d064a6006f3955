import type { CanonicalEvent, EventData } from "@runplane/domain"
import { contributionText } from "./Contributions.ts"
import { because, plainText } from "./PlainText.ts"

/** One line of the story of a run. */
export interface Line {
  /** A participant, or `run` for the control plane. */
  readonly who: string
  readonly what: string
  /** How much it matters to a reader: bold, plain or dim on a terminal. */
  readonly weight: "high" | "normal" | "low"
}

/**
 * The line of an event in the story of a run; undefined for events that would only be noise (receipts of messages,
 * progress percentages, signals that other events repeat).
 */
export const narrate = (event: CanonicalEvent): Line | undefined => {
  switch (event.type) {
    case "run.created":
      return low("run", "created, waiting for its session")
    case "session.bound": {
      const { initiator = "run", participants, policyVersion = "" } = event.data
      return normal(initiator, `opens the session for ${participants.length} participants, under ${policyVersion}`)
    }
    case "session.stream.opened": {
      const { status } = event.data
      return status === "reconnecting" || status === "recovered" ? normal("run", `stream ${status}`) : undefined
    }
    case "proposal.created":
    case "proposal.updated":
      return normal(senderOf(event.data), contributionText(event.data))
    case "signal.emitted": {
      const { signalType = "" } = event.data
      return REPEATED_SIGNALS.has(signalType) ? undefined : normal(senderOf(event.data), `signals ${signalType}`)
    }
    case "llm.call.completed":
      return low(senderOf(event.data), usage(event.data))
    case "tool.called":
      return low(senderOf(event.data), "calls a tool")
    case "policy.denied":
      return high(senderOf(event.data), `is refused by the policy${because(event.data.errorMessage)}`)
    case "decision.finalized": {
      const { action = "the decision", outcomePositive, reason } = event.data
      return high(senderOf(event.data), `commits ${action}${outcome(outcomePositive)}${because(reason)}`)
    }
    case "run.completed":
      return high("run", "completed")
    case "run.failed":
      return high("run", `failed${because(event.data.error)}`)
    case "run.cancelled":
      return high("run", `cancelled${because(event.data.reason)}`)
    case "run.suspended":
      return normal("run", "suspended")
    case "run.resumed":
      return normal("run", "resumed")
    default:
      return undefined
  }
}

/** Signals that another event, or another line, repeats. */
const REPEATED_SIGNALS = new Set(["", "session.started", "session.ended", "session.context", "llm.call.completed"])

const senderOf = ({ sender }: { readonly sender: string }) => (sender === "" ? "run" : sender)

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

const usage = ({
  completionTokens,
  model = "a model",
  promptTokens,
  totalTokens,
  usage: usageState
}: EventData<"llm.call.completed">) => {
  if (usageState === "missing") return `used ${model}, tokens not stated`
  const parts = promptTokens + completionTokens
  return parts === totalTokens
    ? `used ${model}, ${promptTokens} + ${completionTokens} tokens`
    : `used ${model}, ${totalTokens} tokens`
}

const outcome = (positive: boolean | null) => (positive === null ? "" : positive ? " (positive)" : " (negative)")
