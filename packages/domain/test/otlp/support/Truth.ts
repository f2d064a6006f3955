import type { Expected, ExpectedRun } from "./Golden.ts"
import type { CallSummary, TraceFoldSummary } from "./Summary.ts"

/** What the wire of some emitters does not say: the part of the summary that differs from the truth, and why. */
interface Difference {
  readonly folders: RegExp
  readonly why: string
  readonly lost: (truth: TraceFoldSummary, run: ExpectedRun) => Partial<TraceFoldSummary>
}

const callsOf =
  (
    change: (call: CallSummary, expected: ExpectedRun["llmCalls"][number]) => Partial<CallSummary>
  ): Difference["lost"] =>
  (truth, run) => ({
    calls: truth.calls.map((call, at) => {
      const expected = run.llmCalls[at]
      return expected === undefined ? call : { ...call, ...change(call, expected) }
    })
  })

/** The errors of tools say this instead; nothing where the text is undefined. */
const toolErrors =
  (text: (error: string) => string | undefined): Difference["lost"] =>
  ({ tools }) => ({
    tools: tools.map(({ error, ...tool }) => {
      const said = error === undefined ? undefined : text(error)
      return { ...tool, ...(said !== undefined && { error: said }) }
    })
  })

const byTeam =
  (agent: string): Difference["lost"] =>
  ({ calls, tools }) => ({
    calls: calls.map((call) => ({ ...call, agent })),
    tools: tools.map((tool) => ({ ...tool, agent }))
  })

const CONTEXT_LENGTH = "This model's maximum context length is 1000 tokens."

export const DIFFERENCES: ReadonlyArray<Difference> = [
  {
    folders: /nocontent$/,
    why: "a setting of the emitter hides all texts",
    lost: () => ({ finalAnswer: undefined })
  },
  {
    folders: /^(?:agent-framework|ai-sdk|pydantic-ai)\/nocontent$|^google-adk\/(?!error$)/,
    why: "the status of a failed tool has no message",
    lost: toolErrors(() => undefined)
  },
  {
    folders: /^openai-agents-openinference\/(?!error$)/,
    why: "the SDK replaces the error of a tool",
    lost: toolErrors(
      () =>
        "Error running tool (non-fatal): {'tool_name': 'error_budget', 'error': " +
        "'Tool execution failed. Error details are redacted.'}"
    )
  },
  {
    folders: /^ai-sdk\/recovered$/,
    why: "the truth names the HTTP status, the emitter the message",
    lost: toolErrors(() => CONTEXT_LENGTH)
  },
  {
    folders: /^agent-framework\/recovered$/,
    why: "the truth names the HTTP status, the emitter the message",
    lost: toolErrors(
      () =>
        "(\"<class 'agent_framework_openai._chat_completion_client.OpenAIChatCompletionClient'> service failed to " +
        `complete the prompt: Error code: 400 - ${CONTEXT_LENGTH}", BadRequestError("Error code: 400 - ` +
        `${CONTEXT_LENGTH}"))`
    )
  },
  {
    folders: /^pydantic-ai\/error$/,
    why: "the truth names the HTTP status, the emitter the message",
    lost: toolErrors(
      () =>
        `status_code: 400, model_name: gpt-5-mini, body: {'message': "${CONTEXT_LENGTH}", 'type': ` +
        "'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}"
    )
  },
  {
    folders: /^haystack\//,
    why: "the emitter puts the error of a tool into a sentence",
    lost: toolErrors(
      (error) => `Failed to invoke Tool \`error_budget\` with parameters {'release': '2.4'}. Error: ${error}`
    )
  },
  {
    folders: /^haystack\//,
    why: "the truth lacks the tools that call agents",
    lost: ({ tools }) => ({
      tools: tools.flatMap((tool) => [{ name: `ask_${tool.agent}`, agent: "coordinator", ok: true }, tool])
    })
  },
  {
    folders: /^langgraph-openinference\//,
    why: "graph edges are not on the wire",
    lost: () => ({ handoffs: [] })
  },
  {
    folders: /^google-adk\//,
    why: "the name of the application is not on the wire, its root agent is",
    lost: () => ({ name: "coordinator" })
  },
  {
    folders: /^openai-agents-openinference\//,
    why: "the group of the run is not exported",
    lost: () => ({ conversationId: undefined })
  },
  {
    folders: /^langfuse\//,
    why: "the truth has the letter of the conversation",
    lost: (_, { conversation }) => ({ conversationId: `conv-${conversation}` })
  },
  {
    folders: /^pydantic-ai\/stream$/,
    why: "the emitter makes an id of its own for a stream",
    lost: () => ({ conversationId: "01a21310-e7ed-7506-9d76-1a115cb2f389" })
  },
  {
    folders: /^openai-v2\//,
    why: "the instrumentation names no agent and no workflow",
    lost: (truth, run) => ({ ...byTeam("release-committee")(truth, run), name: "POST /decide", invocations: [] })
  },
  {
    folders: /^crewai-openinference\/crewai-only$/,
    why: "no model call is on the wire",
    lost: () => ({ calls: [], totals: { input: 0, output: 0 } })
  },
  {
    folders: /^crewai-openinference\/nocontent$/,
    why: "co-workers are only in the hidden arguments",
    lost: (truth, run) => ({
      ...byTeam("coordinator")(truth, run),
      participants: ["coordinator"],
      invocations: ["coordinator"],
      handoffs: []
    })
  },
  {
    folders: /^(?:openai-agents-openinference\/chat-completions|langgraph-openinference\/stream)$/,
    why: "only the requested model is on the wire",
    lost: callsOf((_, { requestModel }) => ({ model: requestModel }))
  },
  {
    folders: /^langgraph-openinference\/cache-write$/,
    why: "the scripted model names no model",
    lost: callsOf(() => ({ model: undefined }))
  },
  {
    folders: /^openai-agents-openinference\/error$/,
    why: "a failed call names no model",
    lost: callsOf(({ model, ok }) => ({ model: ok ? model : undefined }))
  },
  {
    folders: /^(?:openai-agents-openinference|langfuse)\/error$/,
    why: "the class of the error is not on the wire, or only in a text",
    lost: () => ({ errorCode: "APPLICATION_ERROR" })
  }
]

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** The usage of a call less what the emitter loses, which it may say under the names of the truth. */
const usageOf = (run: ExpectedRun, at: number, notOnTheWire: Expected["tokensNotOnTheWire"]): CallSummary["usage"] => {
  const call = run.llmCalls[at]
  if (call?.usage === undefined) return undefined
  const start = `${run.conversation}/${call.agent}#${at}: `
  const lost = notOnTheWire.filter((text) => text.startsWith(start)).map((text) => text.slice(start.length))
  if (lost.includes("input and output tokens")) return undefined
  const { cacheRead = 0, cacheWrite = 0, input, output, reasoning = 0 } = call.usage
  return {
    ...NO_USAGE,
    input,
    output,
    cacheRead: lost.includes(`cacheRead ${cacheRead}`) ? 0 : cacheRead,
    cacheWrite,
    reasoning: lost.includes(`reasoning ${reasoning}`) ? 0 : reasoning
  }
}

/** The summary that the truth of a run makes, before differences. */
const truthOf = (run: ExpectedRun, { tokensNotOnTheWire }: Expected): TraceFoldSummary => {
  const calls = run.llmCalls.map(
    ({ agent, ok, requestModel, responseModel }, at): CallSummary => ({
      agent,
      model: ok ? responseModel : requestModel,
      ok,
      usage: usageOf(run, at, tokensNotOnTheWire)
    })
  )
  const sum = (name: "input" | "output") => calls.reduce((total, { usage }) => total + (usage?.[name] ?? 0), 0)
  return {
    name: run.runName ?? undefined,
    status: run.status,
    errorCode: run.error,
    finalAnswer: run.finalAnswer ?? undefined,
    conversationId: run.conversationId,
    participants: run.participants.toSorted(),
    invocations: run.agentInvocations,
    calls,
    totals: { input: sum("input"), output: sum("output") },
    tools: run.toolCalls
      .filter(({ isHandoff, spanOnTheWire }) => isHandoff !== true && spanOnTheWire !== false)
      .map(({ agent, error, name, nameOnTheWire, ok }) => ({
        name: nameOnTheWire ?? name,
        agent,
        ok,
        ...(error !== undefined && { error })
      })),
    handoffs: run.handoffs.map(({ from, to }) => `${from} > ${to}`)
  }
}

/** What a fold of the run must say, and the differences of its folder that change nothing. */
export const expectedSummary = (folder: string, run: ExpectedRun, expected: Expected) => {
  let summary = truthOf(run, expected)
  const idle: Array<string> = []
  for (const { folders, lost, why } of DIFFERENCES) {
    if (!folders.test(folder)) continue
    const next = { ...summary, ...lost(summary, run) }
    if (JSON.stringify(next) === JSON.stringify(summary)) idle.push(why)
    summary = next
  }
  return { summary, idle }
}
