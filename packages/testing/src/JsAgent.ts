import { createServer } from "node:http"
import type { AgentExecutor } from "@a2a-js/sdk/server"
import * as Effect from "effect/Effect"
import { listening } from "./Loopback.ts"

/** What an agent of the tests is asked: the data part of a message. */
export interface Asked {
  readonly messageId: string
  readonly contextId: string
  readonly taskId: string
  readonly data: { readonly proposalHash: string; readonly allowedActs: ReadonlyArray<string> }
  /** How many messages have come, this one included. */
  readonly count: number
}

/** What it does then: the states of the task in their order, and the parts of its artifact. */
export interface Does {
  readonly states: ReadonlyArray<string>
  readonly parts?: ReadonlyArray<unknown>
  /** Of the task. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Between two states. */
  readonly pauseMs?: number
}

/** The packages of the server; tests that have no such agent do not load them. */
const loaded = Effect.promise(async () => ({
  ...(await import("@a2a-js/sdk")),
  ...(await import("@a2a-js/sdk/server")),
  ...(await import("@a2a-js/sdk/server/express")),
  express: (await import("express")).default
}))

/** Path of the card of each agent of the tests. */
export const CARD_PATH = "/.well-known/agent-card.json"

/** An agent on the official server of A2A in JavaScript. Its card names `origin`, where a proxy may be. */
export const makeJsAgent = Effect.fnUntraced(function* (
  does: (asked: Asked) => Does,
  {
    binding = "JSONRPC",
    keepsContext = true,
    cardOf = () => ({}),
    origin,
    streaming = true
  }: {
    readonly binding?: string
    /** What its card says in another way, at the nth fetch. */
    readonly cardOf?: (fetch: number) => object
    readonly origin?: string
    /** Whether its tasks have the context of the client, by which that finds the task of a lost answer. */
    readonly keepsContext?: boolean
    readonly streaming?: boolean
  } = {}
) {
  const sdk = yield* loaded
  const { AgentEvent, Task, TaskStatusUpdateEvent } = sdk
  const asked: Array<Asked> = []
  const cancelled: Array<string> = []
  const app = sdk.express()
  const server = createServer(app)
  const port = yield* listening(server)
  const base = origin ?? `http://127.0.0.1:${port}`
  let fetches = 0
  const cardNow = () =>
    sdk.AgentCard.fromJSON({
      name: "an agent of the tests",
      description: "answers as its script says",
      version: "1",
      supportedInterfaces: [{ url: `${base}/a2a`, protocolBinding: binding, protocolVersion: "1.0" }],
      capabilities: { streaming },
      defaultInputModes: ["application/json", "text/plain"],
      defaultOutputModes: ["application/json"],
      skills: [{ id: "vote", name: "vote", description: "votes", tags: ["vote"] }],
      ...cardOf(fetches)
    })
  const executor: AgentExecutor = {
    execute: async ({ contextId: given, task, taskId, userMessage }, bus) => {
      const contextId = keepsContext ? given : `of ${taskId}`
      const part = userMessage.parts.find(({ content }) => content?.$case === "data")
      const data = part?.content?.$case === "data" ? part.content.value : undefined
      const one: Asked = { messageId: userMessage.messageId, contextId, taskId, data, count: asked.length + 1 }
      asked.push(one)
      const { metadata = {}, parts = [], pauseMs = 0, states } = does(one)
      const artifacts = parts.length === 0 ? [] : [{ artifactId: "answer", parts }]
      const history = [...(task?.history ?? []), userMessage]
      const taskIn = (state: string) => {
        const status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() }
        return { ...Task.fromJSON({ id: taskId, contextId, status, artifacts, metadata }), history }
      }
      bus.publish(AgentEvent.task(taskIn(states[0] ?? "COMPLETED")))
      for (const state of states.slice(1)) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        const status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() }
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status })))
      }
      bus.finished()
    },
    cancelTask: async (taskId, bus) => {
      cancelled.push(taskId)
      const status = { state: "TASK_STATE_CANCELED", timestamp: new Date().toISOString() }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: "", status })))
      bus.finished()
    }
  }
  const requestHandler = new sdk.DefaultRequestHandler(cardNow(), new sdk.InMemoryTaskStore(), executor)
  app.use(
    CARD_PATH,
    sdk.agentCardHandler({
      agentCardProvider: async () => {
        fetches += 1
        return cardNow()
      }
    })
  )
  const options = { requestHandler, userBuilder: sdk.UserBuilder.noAuthentication }
  app.use("/a2a", binding === "JSONRPC" ? sdk.jsonRpcHandler(options) : sdk.restHandler(options))
  return { port, entrypoint: `${base}${CARD_PATH}`, asked, cancelled }
})

/** An answer that approves. */
export const approves = ({ data }: Asked, over: Readonly<Record<string, unknown>> = {}): Does => ({
  states: ["WORKING", "COMPLETED"],
  parts: [{ data: { act: "approve", confidence: 0.9, reason: "fine", proposalHash: data.proposalHash, ...over } }]
})
