import { createServer, type Server } from "node:http"
import { AgentCard, Task, TaskStatusUpdateEvent } from "@a2a-js/sdk"
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server"
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express"
import * as Effect from "effect/Effect"
import express from "express"

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
  /** Between two states. */
  readonly pauseMs?: number
}

export const listening = (server: Server, port = 0) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(port, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

export const CARD_PATH = "/.well-known/agent-card.json"

/** An agent on the official server of A2A in JavaScript. Its card names `origin`, where a proxy may be. */
export const makeJsAgent = Effect.fnUntraced(function* (
  does: (asked: Asked) => Does,
  { binding = "JSONRPC", origin, streaming = true }: { binding?: string; origin?: string; streaming?: boolean } = {}
) {
  const asked: Array<Asked> = []
  const cancelled: Array<string> = []
  const app = express()
  const server = createServer(app)
  const port = yield* listening(server)
  const base = origin ?? `http://127.0.0.1:${port}`
  const card = AgentCard.fromJSON({
    name: "an agent of the tests",
    description: "answers as its script says",
    version: "1",
    supportedInterfaces: [{ url: `${base}/a2a`, protocolBinding: binding, protocolVersion: "1.0" }],
    capabilities: { streaming },
    defaultInputModes: ["application/json", "text/plain"],
    defaultOutputModes: ["application/json"],
    skills: [{ id: "vote", name: "vote", description: "votes", tags: ["vote"] }]
  })
  const executor = {
    execute: async (
      { contextId, task, taskId, userMessage }: Parameters<import("@a2a-js/sdk/server").AgentExecutor["execute"]>[0],
      bus: Parameters<import("@a2a-js/sdk/server").AgentExecutor["execute"]>[1]
    ) => {
      const part = userMessage.parts.find(({ content }) => content?.$case === "data")
      const data = part?.content?.$case === "data" ? part.content.value : undefined
      const one: Asked = { messageId: userMessage.messageId, contextId, taskId, data, count: asked.length + 1 }
      asked.push(one)
      const { parts = [], pauseMs = 0, states } = does(one)
      const artifacts = parts.length === 0 ? [] : [{ artifactId: "answer", parts }]
      const history = [...(task?.history ?? []), userMessage]
      const taskIn = (state: string) => {
        const status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() }
        return { ...Task.fromJSON({ id: taskId, contextId, status, artifacts }), history }
      }
      bus.publish(AgentEvent.task(taskIn(states[0] ?? "COMPLETED")))
      for (const state of states.slice(1)) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        const status = { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() }
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status })))
      }
      bus.finished()
    },
    cancelTask: async (
      taskId: string,
      bus: Parameters<import("@a2a-js/sdk/server").AgentExecutor["cancelTask"]>[1]
    ) => {
      cancelled.push(taskId)
      const status = { state: "TASK_STATE_CANCELED", timestamp: new Date().toISOString() }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: "", status })))
      bus.finished()
    }
  }
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  app.use(CARD_PATH, agentCardHandler({ agentCardProvider: requestHandler }))
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
  app.use("/a2a", binding === "JSONRPC" ? jsonRpcHandler(options) : restHandler(options))
  return { port, entrypoint: `${base}${CARD_PATH}`, asked, cancelled }
})

/** An answer that approves. */
export const approves = ({ data }: Asked, over: Readonly<Record<string, unknown>> = {}): Does => ({
  states: ["WORKING", "COMPLETED"],
  parts: [{ data: { act: "approve", confidence: 0.9, reason: "fine", proposalHash: data.proposalHash, ...over } }]
})
