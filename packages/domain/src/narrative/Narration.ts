import type { CanonicalEvent, EventData, EventOf } from "../events/CanonicalEvent.ts"
import { OTLP_RUNTIME_KIND } from "../events/MessageHeader.ts"
import { lastTextOf } from "../otlp/meaning/Messages.ts"
import { denialText } from "../run/DenialText.ts"
import { booleanAt, isJsonObject, textAt } from "../values/JsonReader.ts"
import { type Because, contributionText } from "./Contributions.ts"

/** One line of the story of a run. */
export interface Line {
  /** A participant, or `run` for the control plane. */
  readonly who: string
  readonly what: string
  /** How much it matters to a reader: bold, plain or dim on a terminal. */
  readonly weight: "high" | "normal" | "low"
}

/** How the texts of others enter a line. */
export interface Wording {
  /** Makes a text harmless for the medium of the line. */
  readonly text: (text: string) => string
  readonly because: Because
}

/**
 * Makes the function that returns the line of an event in the story of a run; undefined for events that would only be
 * noise (acknowledged messages, verified receipts, progress percentages, signals that other events repeat).
 */
export const narrator = ({ because, text }: Wording) => {
  const line =
    (weight: Line["weight"]) =>
    (who: string, what: string): Line => ({ who: text(who), what: text(what), weight })
  const low = line("low")
  const normal = line("normal")
  const high = line("high")

  /** `about` names the subject of an answer, where there are several (`subjectName`). */
  const narrate = (event: CanonicalEvent, about?: string): Line | undefined => {
    switch (event.type) {
      case "run.created":
        return event.data.runtimeKind === OTLP_RUNTIME_KIND
          ? low("run", "begins, with the first span")
          : low("run", "created, waiting for its session")
      case "message.received":
        return work(event)
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
        return normal(senderOf(event.data), contributionText(event.data, because, about))
      case "signal.emitted": {
        const { signalType = "" } = event.data
        return REPEATED_SIGNALS.has(signalType) ? undefined : normal(senderOf(event.data), `signals ${signalType}`)
      }
      case "llm.call.completed":
        return low(senderOf(event.data), usage(event.data))
      case "tool.called":
        return low(senderOf(event.data), `calls ${textAt(event.data.payload, "name") ?? "a tool"}`)
      case "tool.completed":
        return booleanAt(event.recorded.data, "ok") === false
          ? normal(
              senderOf(event.data),
              `${booleanAt(event.recorded.data, "refused") === true ? "is refused the use of" : "fails to use"} ${textAt(event.data.payload, "name") ?? "a tool"}${because(errorOf(event))}`
            )
          : undefined
      case "policy.denied": {
        const { denials, errorMessage } = event.data
        const reasons = denials.length > 0 ? denials.map(denialText).join("; ") : errorMessage
        return high(senderOf(event.data), `is refused by the policy${because(reasons)}`)
      }
      case "decision.finalized": {
        const { action = "the decision", outcomePositive, reason } = event.data
        return high(senderOf(event.data), `commits ${action}${outcome(outcomePositive)}${because(reason)}`)
      }
      case "artifact.created":
        return receipt(event.data)
      case "run.completed":
        return high("run", "completed")
      case "run.failed":
        return high("run", `failed${because(event.data.error)}`)
      case "run.cancelled":
        return high("run", `cancelled${because(event.data.reason)}`)
      case "run.corrected":
        return high("run", `${event.data.status ?? "ended"}, as its root says${because(event.data.error)}`)
      case "run.suspended":
        return normal("run", "suspended")
      case "run.resumed":
        return normal("run", "resumed")
      default:
        return undefined
    }
  }

  /** Work between agents, as telemetry reports it; undefined for other messages, which have events of their own. */
  const work = (event: EventOf<"message.received">): Line | undefined => {
    const { messageType, payload, to } = event.data
    const sender = senderOf(event.data)
    const target = to[0] ?? "an agent"
    switch (messageType) {
      case "AgentInvoked":
        return normal(sender, `invokes ${target}${because(lastTextOf(payload["input"]))}`)
      case "AgentAnswered":
        return booleanAt(event.recorded.data, "ok") === false
          ? high(sender, `fails${because(errorOf(event))}`)
          : normal(sender, `answers ${target}${because(lastTextOf(payload["output"]))}`)
      case "Handoff":
        return normal(sender, `makes a handoff to ${target}`)
      default:
        return undefined
    }
  }

  /** The receipt of the decision; undefined for a verified one, and for other artifacts. */
  const receipt = ({ receipt: report }: EventData<"artifact.created">): Line | undefined => {
    if (report === undefined || report.verified) return undefined
    const { disagreements, reason } = report
    return disagreements === undefined
      ? normal("run", `has no verified receipt of its decision${because(reason)}`)
      : high("run", `has a receipt that disagrees with the log in ${disagreements.join(", ")}`)
  }

  return narrate
}

const errorOf = ({ recorded }: Pick<CanonicalEvent, "recorded">): string | undefined => {
  const { error } = recorded.data
  return isJsonObject(error) ? (textAt(error, "message") ?? textAt(error, "type")) : undefined
}

/** Signals that another event, or another line, repeats. */
const REPEATED_SIGNALS = new Set(["", "session.started", "session.ended", "session.context", "llm.call.completed"])

const senderOf = ({ sender }: { readonly sender: string }) => (sender === "" ? "run" : sender)

const usage = ({
  answered,
  calls,
  completionTokens,
  model = "a model",
  promptTokens,
  totalTokens,
  usage: usageState
}: EventData<"llm.call.completed">) => {
  if (calls === 0) return `used ${model}, counted elsewhere`
  if (answered === false) return `called ${model}, without an answer`
  if (usageState === "missing") return `used ${model}, tokens not stated`
  const parts = promptTokens + completionTokens
  return parts === totalTokens
    ? `used ${model}, ${promptTokens} + ${completionTokens} tokens`
    : `used ${model}, ${totalTokens} tokens`
}

const outcome = (positive: boolean | null) => (positive === null ? "" : positive ? " (positive)" : " (negative)")
