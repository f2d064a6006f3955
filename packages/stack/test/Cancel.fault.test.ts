import { createServer, type Server } from "node:http"
import { assert, layer } from "@effect/vitest"
import { AgentClient, Bootstrap } from "@runplane/agents"
import { ControlPlaneClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StackProcess } from "./support/StackProcess.ts"
import {
  cancel,
  createRun,
  LABELS,
  launch,
  MODE,
  Running,
  reached,
  runningWith,
  runOf,
  startServing,
  untilGone
} from "./support/StackRuns.ts"
import { INITIATOR, packsWith, SPECIALISTS } from "./support/TestPacks.ts"

/** CANCEL_CALLBACK_TIMEOUT_MS of the stack under test. */
const CALLBACK_TIMEOUT_MS = 2_000

/** Where the run says that its initiator listens. */
const callbackOf = Effect.fnUntraced(function* (id: string) {
  const { metadata } = yield* runOf(id)
  return yield* Schema.decodeUnknownEffect(Schema.Struct({ url: Schema.String, bearer: Schema.String }))(
    metadata["cancelCallback"]
  )
})

/** A server that takes every request and answers none. */
const neverAnswers = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer(() => {})
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    })
).pipe(
  Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  })
)

const stackOfPatience = Effect.gen(function* () {
  // No agent votes, so the session stays open for as long as the tests need.
  const packs = yield* packsWith(Object.fromEntries(SPECIALISTS.map((agentRef) => [agentRef, { idle: [] }])))
  return yield* startServing({
    PACKS_DIR: packs,
    CANCEL_CALLBACK_TIMEOUT_MS: String(CALLBACK_TIMEOUT_MS),
    SANDBOX_ACCEPT_NAMES: "false"
  })
})

layer(runningWith(stackOfPatience), { excludeTestServices: true, timeout: "60 seconds" })(
  "cancelling a run by its initiator, through its callback",
  (it) => {
    it.effect("ends the session with the initiator's own authority, and no other caller can do that", () =>
      Effect.gen(function* () {
        const { id, pids } = yield* launch
        yield* reached(id, "proposal.created")
        const { bearer, url } = yield* callbackOf(id)
        assert.strictEqual(bearer, "[REDACTED]")
        const strangers = yield* Effect.forEach([undefined, "Bearer ", `Bearer ${bearer}`], (authorization) =>
          Effect.promise(() => fetch(url, { method: "POST", headers: authorization ? { authorization } : {} }))
        )
        assert.deepStrictEqual(
          strangers.map(({ status }) => status),
          [401, 401, 401]
        )
        const run = yield* runOf(id)
        assert.strictEqual(run.status, "running")
        // From the request POST /examples/run.
        assert.includeMembers([...run.tags], ["example", "incident", ...LABELS.tags])
        assert.deepInclude(run.metadata, { runLabel: LABELS.runLabel })
        assert.deepNestedInclude(run.metadata, { "executionRequest.execution.requester": LABELS.requester })

        yield* cancel(id, "wrong region")
        yield* reached(id, "run.cancelled")
        assert.strictEqual((yield* runOf(id)).status, "cancelled")
        yield* untilGone([pids.get(INITIATOR) ?? 0])
        const { api } = yield* ControlPlaneClient
        const { data } = yield* api.runs.list({ query: { ...FIRST_PAGE, status: "cancelled" } })
        assert.deepStrictEqual(
          data.map((run) => run.id),
          [id]
        )
        const again = yield* Effect.flip(cancel(id, "twice"))
        assert.include(again, { _tag: "Conflict", errorCode: "INVALID_STATE_TRANSITION" })
      })
    )

    it.effect("reports that the agent has ended, and does not change the run", () =>
      Effect.gen(function* () {
        const { id, pids } = yield* launch
        yield* reached(id, "proposal.created")
        const pid = pids.get(INITIATOR) ?? assert.fail("no initiator")
        process.kill(pid, "SIGKILL")
        yield* untilGone([pid])
        const { url } = yield* callbackOf(id)
        const failure = yield* Effect.flip(cancel(id, "too late"))
        assert.strictEqual(failure._tag, "BadGateway")
        assert.strictEqual(failure.message, `cancel callback ${url} failed: no answer within ${CALLBACK_TIMEOUT_MS} ms`)
        assert.strictEqual((yield* runOf(id)).status, "running")
      })
    )

    it.effect("does not wait longer than its time for an agent that hangs", () =>
      Effect.gen(function* () {
        const port = yield* neverAnswers
        const url = `http://127.0.0.1:${port}/cancel`
        const failure = yield* Effect.flip(Effect.flatMap(createRun(url), (id) => cancel(id, "enough")))
        assert.strictEqual(failure.message, `cancel callback ${url} failed: no answer within ${CALLBACK_TIMEOUT_MS} ms`)
      })
    )

    it.effect("does not let an agent act with less than its own token", () =>
      Effect.gen(function* () {
        const stack = yield* Running
        const line = yield* stack.line("auth service")
        const authUrl = /http:\S+/.exec(line ?? "")?.[0] ?? assert.fail("no auth service")
        const scopes = { can_start_sessions: false, is_observer: false, allowed_modes: [MODE, ""] }
        const minted = yield* Effect.promise(async () => {
          const answer = await fetch(`${authUrl}/tokens`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ sender: "lead", scopes })
          })
          return await answer.json()
        })
        const { token } = yield* Schema.decodeUnknownEffect(Schema.Struct({ token: Schema.String }))(minted)
        assert.match(yield* openSession(stack, token), /FORBIDDEN/)
        assert.match(yield* openSession(stack, "lead"), /UNAUTHENTICATED/)
      })
    )
  }
)

const FIRST_PAGE = { limit: 10, offset: 0, sortBy: "createdAt", sortOrder: "desc", includeArchived: false } as const

/** Tries to open a session with a credential; answers why it could not. */
const openSession = ({ ports }: StackProcess, token: string) => {
  const bootstrap = Bootstrap.layerMemory({
    participant_id: "lead",
    session_id: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a41",
    mode: MODE,
    runtime_url: `127.0.0.1:${ports.sandbox}`,
    auth_token: token,
    participants: ["lead"],
    mode_version: "1.0.0",
    configuration_version: "config.default",
    metadata: {}
  })
  const start = { intent: "x", participants: ["lead"], ttlMs: 1_000n, modeVersion: "1.0.0", configurationVersion: "c" }
  return Effect.flatMap(AgentClient, (client) => client.start(start)).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "opened" }),
    Effect.provide(Layer.fresh(AgentClient.layer).pipe(Layer.provide(bootstrap)))
  )
}
