import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import { layerControlPlane, layerRuntime } from "@runplane/control-plane"
import { Launcher } from "@runplane/launcher"
import { CONTROL_PLANE_IDENTITY, encodePayload, ParticipantClient } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase, freePorts, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createMigratedDatabase } from "../support/MigratedDatabase.ts"
import { packsWith } from "../support/TestPacks.ts"

const MODE = "macp.mode.decision.v1"
const AGENT = "commander-agent"

/** Keys of two callers who launch, and of one who reads. */
export const KEYS = { ana: "key-of-ana-1", bo: "key-of-bo-2", reader: "key-of-reader-3" } as const
export type CallerName = keyof typeof KEYS

const AUTHENTICATION = {
  AUTH_API_KEYS: Object.values(KEYS).join(","),
  AUTH_API_KEY_NAMES: Object.keys(KEYS).join(","),
  AUTH_API_KEY_ROLES: "operator,operator,viewer"
}

interface ScenarioOptions {
  readonly name: string
  readonly participants?: string
  readonly launch?: string
  readonly publish?: boolean
}

const scenario = ({ launch = "", name, participants, publish = true }: ScenarioOptions) => `
apiVersion: scenarios.macp.dev/v1
kind: ScenarioVersion
metadata: { pack: court, scenario: ${name}, version: 1.0.0, name: ${name}, summary: Decides ${name}. }
spec:
${publish ? "  publish: a2a" : ""}
  inputs:
    schema:
      type: object
      additionalProperties: false
      required: [topic]
      properties: { topic: { type: string } }
  launch:
    modeName: ${MODE}
    modeVersion: 1.0.0
    configurationVersion: config.default
    ttlMs: 7200000
    participants:
      - { id: lead, role: lead, agentRef: ${AGENT} }
${participants ?? ""}
${launch}
`

const PACK = `
apiVersion: scenarios.macp.dev/v1
kind: ScenarioPack
metadata: { slug: court, name: Court }
`

/** Under it the control plane may cancel a session, as the lead may. */
export const POLICY = "policy.court.shared"

const SCENARIOS: ReadonlyArray<ScenarioOptions> = [
  {
    name: "open",
    launch: `    policyVersion: ${POLICY}\n    metadataTemplate: { cancellationDelegated: true }`
  },
  { name: "bound" },
  { name: "broken", launch: "    contextTemplate: { missing: '{{ inputs.nix }}' }" },
  {
    name: "person",
    participants: "      - { id: officer, role: officer, agentRef: duty-officer }",
    launch: `    people: { officer: { assign: ["person:ana", "group:leads"], when: proposed, deadline: 1h } }`
  },
  { name: "private", publish: false }
]

/** Packs whose only agent never speaks: the test plays the sessions. */
export const makePacks = Effect.gen(function* () {
  const folder = yield* packsWith({ [AGENT]: { idle: [] } })
  for (const options of SCENARIOS) {
    const path = join(folder, "court", "scenarios", options.name, "1.0.0")
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, "scenario.yaml"), scenario(options))
  }
  writeFileSync(join(folder, "court", "pack.yaml"), PACK)
  return folder
})

const CONTROL_PLANE = {
  NODE_ENV: "test",
  THROTTLE_LIMIT: "100000",
  RUNTIME_ALLOW_INSECURE: "true",
  SESSION_POLL_MAX_MS: "100",
  SESSION_END_CHECK_DELAY_MS: "100",
  SESSION_DISCOVERY_GRACE_MS: "600000",
  STREAM_BACKOFF_BASE_MS: "50",
  RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY
}

const environment = (env: Readonly<Record<string, string>>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

/** A runtime, a control plane, and what a launch service over both needs. */
export const makeCourt = Effect.gen(function* () {
  const [port = 0, launcherPort = 0] = yield* freePorts(2)
  const sandbox = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
  yield* sandbox.registerPolicy({
    policyId: POLICY,
    mode: MODE,
    schemaVersion: 3,
    description: "the lead commits, and the control plane cancels",
    rules: JSON.stringify({
      commitment: { authority: "designated_role", designated_roles: ["lead", CONTROL_PLANE_IDENTITY] }
    })
  })
  yield* Layer.build(
    layerControlPlane({ http: { host: "127.0.0.1", port }, database: { url: yield* createMigratedDatabase } }).pipe(
      Layer.provide(layerRuntime),
      Layer.provide(environment({ ...CONTROL_PLANE, RUNTIME_ADDRESS: sandbox.address }))
    )
  )
  const controlPlaneUrl = `http://127.0.0.1:${port}`
  const plane = yield* Layer.build(
    ControlPlaneClient.layer({ baseUrl: controlPlaneUrl }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))
  )
  const participants = yield* Layer.build(ParticipantClient.layerGrpc({ address: sandbox.address }))
  return {
    controlPlaneUrl,
    launcherPort,
    launcherUrl: `http://127.0.0.1:${launcherPort}`,
    runtime: sandbox.address,
    packsDir: yield* makePacks,
    database: yield* createDatabase,
    plane: Context.get(plane, ControlPlaneClient),
    session: sessionsOf(Context.get(participants, ParticipantClient))
  }
})
export type Court = Effect.Success<typeof makeCourt>

/** The launch service in this process. */
export const serveLauncher = (court: Court) =>
  Layer.build(
    Launcher.layer({
      host: "127.0.0.1",
      port: court.launcherPort,
      settings: {
        packsDir: court.packsDir,
        serviceRoot: court.packsDir,
        database: { url: court.database },
        controlPlane: { url: court.controlPlaneUrl, timeoutMs: 10_000, apiKey: undefined },
        runtimeAddress: court.runtime,
        runtimeTls: false,
        runtimeAllowInsecure: true,
        registerPolicies: false,
        signIn: "key",
        a2a: { publicUrl: court.launcherUrl }
      }
    }).pipe(Layer.provide(environment({ ...AUTHENTICATION, THROTTLE_LIMIT: "100000", NODE_ENV: "test" })))
  )

/** The same as settings of a process. */
export const launcherEnvironment = (court: Court): Readonly<Record<string, string>> => ({
  ...AUTHENTICATION,
  HOST: "127.0.0.1",
  PORT: String(court.launcherPort),
  NODE_ENV: "test",
  THROTTLE_LIMIT: "100000",
  PACKS_DIR: court.packsDir,
  SERVICE_ROOT: court.packsDir,
  LAUNCHER_DATABASE_URL: court.database,
  LAUNCHER_PUBLIC_URL: court.launcherUrl,
  A2A_ENABLED: "true",
  PROTO_CONTROL_PLANE_URL: court.controlPlaneUrl,
  PROTO_RUNTIME_ADDRESS: court.runtime,
  PROTO_RUNTIME_TLS: "false",
  PROTO_RUNTIME_ALLOW_INSECURE: "true",
  PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true",
  REGISTER_POLICIES_ON_LAUNCH: "false"
})

const decision = (type: string) => `macp.modes.decision.v1.${type}Payload`

/** Plays the lead of a session, whose messages the runtime accepts. */
const sessionsOf = (client: ParticipantClient["Service"]) => {
  let messages = 0
  const say = Effect.fnUntraced(function* (
    sessionId: string,
    messageType: string,
    payloadType: string,
    payload: Parameters<typeof encodePayload>[1]
  ) {
    messages += 1
    const envelope = {
      sessionId,
      mode: MODE,
      messageType,
      messageId: `court-${messages}`,
      timestampUnixMs: Date.now(),
      payload: encodePayload(payloadType, payload)
    }
    const ack = yield* client.as(Redacted.make("lead")).send(envelope)
    if (!ack.ok) return yield* Effect.die(new Error(`${messageType}: ${ack.error?.code} ${ack.error?.message}`))
  })
  const versions = { modeVersion: "1.0.0", configurationVersion: "config.default" }
  return {
    open: (sessionId: string, participants = ["lead"], policyVersion = "") =>
      say(sessionId, "SessionStart", "macp.v1.SessionStartPayload", {
        intent: "decide it",
        participants,
        ...versions,
        ttlMs: "7200000",
        policyVersion
      }),
    propose: (sessionId: string) =>
      say(sessionId, "Proposal", decision("Proposal"), { proposalId: "p1", option: "the plan" }),
    vote: (sessionId: string, vote: "APPROVE" | "REJECT") =>
      say(sessionId, "Vote", decision("Vote"), { proposalId: "p1", vote, reason: "<b>so it is</b>" }),
    commit: (sessionId: string, outcomePositive: boolean) =>
      say(sessionId, "Commitment", "macp.v1.CommitmentPayload", {
        commitmentId: "c1",
        action: outcomePositive ? "decision.selected" : "decision.rejected",
        authorityScope: "court",
        reason: "one of one",
        ...versions,
        outcomePositive
      })
  }
}

/** Decides the session of a task, for or against. */
export const decide = Effect.fnUntraced(function* ({ plane, session }: Court, taskId: string, positive: boolean) {
  yield* session.open(taskId)
  yield* session.propose(taskId)
  yield* session.vote(taskId, positive ? "APPROVE" : "REJECT")
  yield* session.commit(taskId, positive)
  yield* until(
    plane.api.runs.get({ params: { id: taskId }, query: {} }),
    ({ status }) => status === "completed",
    "100 millis"
  )
})

/** The run of a task, once the control plane has it. */
export const runsOf = ({ plane }: Court) =>
  Effect.map(
    plane.api.runs.list({
      query: {
        limit: 100,
        offset: 0,
        sortBy: "createdAt",
        sortOrder: "desc",
        includeArchived: false
      }
    }),
    ({ data }) => data
  )

/** A call of JSON-RPC. */
export const rpc = ({ launcherUrl }: Court, caller: CallerName, method: string, params: object = {}) =>
  Effect.promise(async () => {
    const response = await fetch(`${launcherUrl}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", "x-api-key": KEYS[caller] },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    })
    const text = await response.text()
    if (response.status !== 200) return { status: response.status, text }
    const { error, result } = JSON.parse(text)
    return { status: 200, text, error, result }
  })

export const message = (messageId: string, parts: ReadonlyArray<object>, others: object = {}) => ({
  message: { messageId, role: "ROLE_USER", parts, ...others },
  configuration: { returnImmediately: true }
})

export const inputs = (skill: string, topic = "plan") =>
  [[{ data: { topic } }], { metadata: { skill: `court/${skill}` } }] as const

/** The task of an answer. */
export const taskIn = (answer: Effect.Success<ReturnType<typeof rpc>>) =>
  answer.result?.task ?? answer.result ?? assert.fail(answer.text)
