import type { Brief } from "./Brief.ts"
import { llmCallOf, type Model } from "./LlmCall.ts"
import { type Action, act, commit, type Outcome, open, progress, type Step, signal, think } from "./Strategy.ts"

/** What agents report about themselves beside the session, as ambient signals. */

export const started = ({ agentRef, framework, role }: Brief): Action =>
  signal("session.started", { role, framework, agentRef })

/** One call of a language model that led to `summary`. */
export const usedModel = (model: Model, { context, seed, self }: Brief, summary: string): Action => {
  const call = llmCallOf(model, self, { context, seed }, summary)
  return { _tag: "Signal", signalType: "llm.call.completed", data: call, span: callSpan(call) }
}

const callSpan = ({
  completionTokens,
  model,
  participantId,
  promptTokens,
  provider
}: ReturnType<typeof llmCallOf>) => ({
  name: `chat ${model}`,
  attributes: {
    "gen_ai.operation.name": "chat",
    "gen_ai.agent.name": participantId,
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": model,
    "gen_ai.usage.input_tokens": promptTokens,
    "gen_ai.usage.output_tokens": completionTokens
  }
})

/** The scenario's facts, once, from the initiator. */
const sharedContext = ({ context }: Brief): Action =>
  signal("session.context", typeof context === "object" && context !== null ? context : {})

/** `vote` is the final vote of the agent, `recommendation` its own opinion. */
export const ended = ({ self }: Brief, vote: string, recommendation: string): Action =>
  signal("session.ended", { participantId: self, vote, recommendation })

/** The first turn of an initiator: it opens the session, sends its messages, and waits. */
export const opening = (brief: Brief, said: ReadonlyArray<Action>, fraction: number, waiting: string): Step =>
  act(
    open,
    started(brief),
    think("open"),
    think("brief"),
    ...said,
    sharedContext(brief),
    progress(fraction, `waiting for ${waiting}`)
  )

/** The last turn of an initiator: it commits the outcome of the session. `vote` is its own. */
export const concluding = (brief: Brief, outcome: Outcome, vote: string): ReadonlyArray<Action> => [
  commit(outcome),
  progress(1, outcome.reason),
  ended(brief, vote, outcome.action)
]

/** Something worth knowing that is not a message of the session; `reason` says why it is raised. */
export const alert = ({ self }: Brief, signalType: string, severity: Severity, reason: string): Action =>
  signal(signalType, { participantId: self, severity, reason })

export type Severity = "low" | "medium" | "high" | "critical"
