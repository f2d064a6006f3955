import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { turnSeat } from "@runplane/domain"
import { cardAt, makeScriptedAgent, request, type Seen, sendJson, until } from "@runplane/testing"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { SeatRows } from "../../../src/people/SeatRows.ts"
import { makeInboxStage, sessionOf } from "../InboxStage.ts"
import { DECISION, propose, SEAT, start } from "../SeatStage.ts"
import { pin } from "./TurnStage.ts"

const PUBLIC = "https://launch.example.org"
const TASK = "task-1"

const bodyOf = ({ body }: Seen) => JSON.parse(body)
const methodOf = (seen: Seen): string => (seen.body === "" ? "" : bodyOf(seen).method)

/** An agent that works until the test ends its work, and the polls of its task. */
const makeAgent = Effect.gen(function* () {
  const state = { isDone: false }
  const { entrypoint, seen } = yield* makeScriptedAgent((one, outgoing, base) => {
    const capabilities = { streaming: false, pushNotifications: true }
    if (one.body === "") return sendJson(outgoing, cardAt(`${base}/a2a`, { capabilities }))
    const { id, method, params } = bodyOf(one)
    const message = seen.find((each) => methodOf(each) === "SendMessage")
    const asked = method === "SendMessage" ? params : message === undefined ? undefined : bodyOf(message).params
    const [, data] = asked?.message.parts ?? []
    const answer = { act: "approve", reason: "fine", proposalHash: data?.data.proposalHash }
    const task = {
      ...{ id: TASK, contextId: asked?.message.contextId, history: [asked?.message] },
      status: { state: `TASK_STATE_${state.isDone ? "COMPLETED" : "WORKING"}` },
      ...(state.isDone && { artifacts: [{ artifactId: "a", parts: [{ data: answer }] }] })
    }
    const result = method === "SendMessage" ? { task } : method === "ListTasks" ? { tasks: [task] } : task
    return sendJson(outgoing, JSON.stringify({ jsonrpc: "2.0", id, result }))
  })
  return { entrypoint, seen, state, polls: () => seen.filter((one) => methodOf(one) === "GetTask").length }
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("notices of an agent that speaks A2A", (it) => {
  it.effect(
    "end the pause before its task is read again, with their token and task alone",
    () =>
      Effect.gen(function* () {
        const agent = yield* makeAgent
        const stage = yield* makeInboxStage([], { LAUNCHER_PUBLIC_URL: PUBLIC, A2A_ALLOW_PRIVATE: "true" })
        const sessionId = sessionOf("noticed")
        yield* Context.get(stage.rows, SeatRows).add([
          {
            ...{ sessionId, seat: SEAT, modeName: DECISION, scenarioRef: "demo/people@1.0.0" },
            ...{ rules: turnSeat({ when: "proposed" }), seats: [SEAT], requester: undefined },
            agent: yield* pin(agent.entrypoint)
          }
        ])
        const url = yield* stage.restart
        yield* Effect.gen(function* () {
          yield* start(sessionId, ["lead", "a", SEAT])
          yield* propose(sessionId)
        }).pipe(Effect.provideContext(stage.runtime))
        // By then the pauses are of eight and ten seconds.
        yield* until(Effect.sync(agent.polls), (polls) => polls >= 5)
        const sent = agent.seen.find((one) => methodOf(one) === "SendMessage")
        const config = sent === undefined ? undefined : bodyOf(sent).params.configuration.taskPushNotificationConfig
        const item = yield* stage.openItem("noticed")
        assert.strictEqual(config.url, `${PUBLIC}/turns/${item}/notices`)
        assert.match(config.token, /^[0-9a-f]{64}$/)
        const [stored] = yield* stage.sql`SELECT t::text AS row FROM people.turns t`
        assert.notInclude(String(stored?.["row"]), config.token)

        const notice = (token: string, body: unknown, of = item) =>
          request("POST", `${url}/turns/${of}/notices`, {
            headers: { "x-a2a-notification-token": token, "content-type": "application/a2a+json" },
            body
          })
        const about = (taskId: string) => ({ statusUpdate: { taskId, status: { state: "TASK_STATE_COMPLETED" } } })
        for (const [token, body, of] of [
          ["0".repeat(64), about(TASK), item],
          ["", about(TASK), item],
          [config.token, about("task-2"), item],
          [config.token, { act: "reject" }, item],
          [config.token, about(TASK), "00000000-0000-4000-8000-000000000000"],
          [config.token, about(TASK), "%2e%2e"]
        ] as const) {
          assert.strictEqual((yield* notice(token, body, of)).status, 404, JSON.stringify([token, body, of]))
        }
        // Each ends the pause: these polls would take half a minute without them.
        const before = agent.polls()
        const began = yield* Clock.currentTimeMillis
        for (let more = 1; more <= 3; more += 1) {
          assert.strictEqual((yield* notice(config.token, about(TASK))).status, 204)
          yield* until(Effect.sync(agent.polls), (polls) => polls >= before + more)
        }
        assert.isBelow((yield* Clock.currentTimeMillis) - began, 20_000)
        agent.state.isDone = true
        assert.strictEqual((yield* notice(config.token, about(TASK))).status, 204)
        yield* until(stage.itemsOf("noticed"), ([found]) => found?.state === "accepted")
        assert.strictEqual((yield* notice(config.token, about(TASK))).status, 404, "the turn is over")
        assert.strictEqual((yield* notice(config.token, "x".repeat(1_100_000))).status, 413)
      }),
    120_000
  )
})
