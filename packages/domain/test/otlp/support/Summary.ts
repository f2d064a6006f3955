import { type EventOf, isJsonObject, type JsonObject, type KnownEvent, textAt } from "@runplane/domain"
import type { TraceFoldResult } from "./TraceFolds.ts"

/** What a fold says, in the form in which the recordings state their truth. */
export interface TraceFoldSummary {
  readonly name: string | undefined
  readonly status: string
  readonly errorCode: string | undefined
  readonly finalAnswer: string | undefined
  readonly conversationId: string | undefined
  readonly participants: ReadonlyArray<string>
  readonly invocations: ReadonlyArray<string>
  readonly calls: ReadonlyArray<CallSummary>
  readonly totals: { readonly input: number; readonly output: number }
  readonly tools: ReadonlyArray<{ name: string; agent: string; ok: boolean; error?: string }>
  readonly handoffs: ReadonlyArray<string>
}

export interface CallSummary {
  readonly agent: string
  readonly model: string | undefined
  readonly ok: boolean
  /** Undefined when the call states no count. */
  readonly usage:
    | { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number }
    | undefined
}

const recorded = ({ recorded: { data } }: KnownEvent): JsonObject => data

const byStart = (left: KnownEvent, right: KnownEvent): number =>
  (textAt(recorded(left), "startedAt") ?? "") < (textAt(recorded(right), "startedAt") ?? "") ? -1 : 1

const callOf = ({ data, ...event }: EventOf<"llm.call.completed">): CallSummary => ({
  agent: data.sender,
  model: data.model,
  ok: event.recorded.data["ok"] === true,
  usage:
    data.usage === "missing"
      ? undefined
      : {
          input: data.promptTokens,
          output: data.completionTokens,
          cacheRead: data.cachedTokens ?? 0,
          cacheWrite: data.cacheWriteTokens ?? 0,
          reasoning: data.reasoningTokens ?? 0
        }
})

/** Whether an event counts a model call. */
export const isCounted = (event: KnownEvent): event is EventOf<"llm.call.completed"> =>
  event.type === "llm.call.completed" && event.recorded.data["counted"] !== false

export const summaryOf = ({ artifacts, end, events, facts, state }: TraceFoldResult): TraceFoldSummary => {
  const messages = events.filter((event) => event.type === "message.received").toSorted(byStart)
  const invoked = messages.filter(({ data }) => data.messageType === "AgentInvoked")
  const handoffs = [
    ...messages.filter(({ data }) => data.messageType === "Handoff"),
    ...invoked.filter(({ data }) => data.sender !== "user")
  ]
  // A run of several traces has an output for each root.
  const outputs = artifacts.flatMap(({ content, kind }) => (kind === "otlp.output" ? [content] : []))
  const tools = events.filter((event) => event.type === "tool.completed").toSorted(byStart)
  return {
    name: facts.name,
    status: state.run.status,
    errorCode: end?.errorCode,
    finalAnswer: outputs.length === 0 ? undefined : outputs.toSorted().join("\n"),
    conversationId: facts.metadata["conversationId"],
    participants: state.participants.map(({ participantId }) => participantId).toSorted(),
    invocations: invoked.flatMap(({ data }) => data.to),
    calls: events.filter(isCounted).toSorted(byStart).map(callOf),
    totals: { input: state.llm.totals.promptTokens, output: state.llm.totals.completionTokens },
    tools: tools.map(({ data: { payload, sender } }) => {
      const error = payload["error"]
      const message = isJsonObject(error) ? textAt(error, "message") : undefined
      return {
        name: textAt(payload, "name") ?? "",
        agent: sender,
        ok: payload["ok"] === true,
        ...(message !== undefined && { error: message })
      }
    }),
    handoffs: handoffs.flatMap(({ data }) => data.to.map((to) => `${data.sender} > ${to}`))
  }
}
