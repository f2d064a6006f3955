import { type CompileLaunchResult, LauncherApi, launcherError } from "@runplane/api"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { edgeServices, LauncherEdge } from "../../src/index.ts"
import { descriptor } from "./FakeControlPlane.ts"

export const compiled: CompileLaunchResult = {
  sessionId: "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10",
  mode: "sandbox",
  runDescriptor: descriptor,
  scenarioMeta: {},
  display: { title: "T", scenarioRef: "a/b@1" },
  participantBindings: []
}

const Catalog = HttpApiBuilder.group(LauncherApi, "catalog", (handlers) =>
  handlers.handleAll({
    packs: () => Effect.succeed([{ slug: "a", name: "A", description: "", tags: [] }]),
    packScenarios: ({ params }) => Effect.fail(launcherError("PACK_NOT_FOUND", `pack not found: ${params.packSlug}`)),
    scenarios: () => Effect.succeed([]),
    agents: () => Effect.succeed([]),
    agent: ({ params }) => Effect.fail(launcherError("AGENT_NOT_FOUND", `example agent not found: ${params.agentRef}`)),
    launchSchema: () => Effect.die(new Error("a handler that is broken"))
  })
)

const Launch = HttpApiBuilder.group(LauncherApi, "launch", (handlers) =>
  handlers.handleAll({
    compile: ({ payload }) =>
      payload.inputs["broken"] === true
        ? Effect.fail(launcherError("VALIDATION_ERROR", "Input validation failed", { errors: [{ keyword: "type" }] }))
        : Effect.succeed(compiled),
    runExample: () => Effect.succeed({ compiled, hostedAgents: [] }),
    queue: () => Effect.succeed({ agents: { running: 0, limit: 1 }, limit: 1, waiting: [] })
  })
)

const Processes = HttpApiBuilder.group(LauncherApi, "processes", (handlers) =>
  handlers.handleAll({ list: () => Effect.succeed([]), stop: () => Effect.void })
)

const People = HttpApiBuilder.group(LauncherApi, "people", (handlers) =>
  handlers.handleAll({
    audit: ({ query }) => Effect.succeed({ data: [], limit: query.limit }),
    erase: ({ payload: { sessionId } }) =>
      Effect.fail(launcherError("ITEM_NOT_FOUND", `no seat of a person is in session ${sessionId}`))
  })
)

const Inbox = HttpApiBuilder.group(LauncherApi, "inbox", (handlers) => {
  const unknown = ({ params }: { readonly params: { readonly id: string } }) =>
    Effect.fail(launcherError("ITEM_NOT_FOUND", `no item has the id ${params.id}`))
  return handlers.handleAll({
    list: ({ query }) => Effect.succeed({ data: [], limit: query.limit }),
    stream: () => Effect.succeed(Stream.empty),
    show: unknown,
    challenge: unknown,
    answer: unknown,
    question: unknown,
    return: unknown
  })
})

const Delegations = HttpApiBuilder.group(LauncherApi, "delegations", (handlers) => {
  const unknown = ({ params }: { readonly params: { readonly id: string } }) =>
    Effect.fail(launcherError("DELEGATION_NOT_FOUND", `you have given no delegation with the id ${params.id}`))
  return handlers.handleAll({
    list: () => Effect.succeed({ given: [], received: [] }),
    create: ({ payload: { reason } }) => Effect.succeed({ ...DELEGATION, reason }),
    revoke: unknown
  })
})

const DELEGATION = {
  ...{ id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11", by: "ana", to: "ben" },
  ...{ from: "2026-12-24T00:00:00.000Z", until: "2026-12-31T00:00:00.000Z", createdAt: "2026-12-24T00:00:00.000Z" },
  state: "active"
} as const

const Links = HttpApiBuilder.group(LauncherApi, "links", (handlers) => {
  const refuse = () => Effect.fail(launcherError("LINK_NOT_FOUND", "no question has this link"))
  return handlers.handleAll({ read: refuse, code: refuse, answer: refuse })
})

const Passkeys = HttpApiBuilder.group(LauncherApi, "passkeys", (handlers) => {
  const refuse = () => Effect.fail(launcherError("PASSKEY_REFUSED", "this service enrols none"))
  return handlers.handleAll({
    list: () => Effect.succeed({ data: [], enrolment: "impossible" as const }),
    begin: refuse,
    enrol: refuse,
    remove: ({ params: { id } }) =>
      Effect.fail(launcherError("PASSKEY_NOT_FOUND", `no passkey of yours has the id ${id}`))
  })
})

const Health = HttpApiBuilder.group(LauncherApi, "health", (handlers) =>
  handlers.handle("healthz", () => Effect.succeed({ ok: true as const, service: "launcher" }))
)

const Probes = HttpApiBuilder.group(LauncherApi, "probes", (handlers) =>
  handlers.handleAll({
    livez: () => Effect.succeed({ status: "ok" as const }),
    readyz: () => Effect.succeed({ status: "ok" as const, ok: true, checks: { catalog: { ok: true, detail: "" } } }),
    metrics: () => Effect.succeed("up 1\n")
  })
)

const Admin = HttpApiBuilder.group(LauncherApi, "admin", (handlers) =>
  handlers.handle("setLogLevel", ({ payload }) => Effect.succeed({ level: payload.level, previous: "info" as const }))
)

/** The routes of a launch service of fakes; settings as environment variables. */
export const fakeLauncher = (env: Readonly<Record<string, string>> = {}) =>
  HttpRouter.serve(
    HttpApiBuilder.layer(LauncherApi).pipe(
      Layer.provide([
        Catalog,
        Launch,
        Processes,
        Inbox,
        Delegations,
        Passkeys,
        Links,
        People,
        Health,
        Probes,
        Admin,
        LauncherEdge.handlers
      ]),
      Layer.provide(LauncherEdge.layerMiddleware),
      Layer.merge(LauncherEdge.layer)
    ),
    { disableLogger: true, disableListenLog: true }
  ).pipe(Layer.provide(edgeServices), Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
