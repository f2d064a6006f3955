import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { create, fromBinary, toBinary } from "@bufbuild/protobuf"
import {
  AgentClient,
  Bootstrap,
  Decision,
  decodeBootstrap,
  EXAMPLE_AGENTS,
  messageTypeOf,
  PaceFactor
} from "@runplane/agents"
import { type CompileLaunchResult, LauncherClient } from "@runplane/api"
import { Launcher } from "@runplane/launcher"
import { type Envelope, SessionState } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const PACKS = fileURLToPath(new URL("../../../../../packs/", import.meta.url))

/** One policy a file; runtimes can read the folder themselves. */
export const POLICIES = `${PACKS}_policies`

/** A fixture of a scenario, with the template it was made for. */
export interface Scene {
  /** `<pack>/<scenario>@<version>` */
  readonly ref: string
  readonly template?: string
  /** Name of the file below `fixtures`, without its ending. */
  readonly fixture: string
  /** Replaces the fixture's own. */
  readonly seed?: string
  /** The vote of the person, in a scenario with one. */
  readonly vote?: PersonVote
}

export type PersonVote = "APPROVE" | "REJECT"

export interface Played {
  readonly state: SessionState
  /** Empty when the session was not committed. */
  readonly history: ReadonlyArray<Envelope>
}

/** The runtime that the agents meet on, with the policies of the packs registered. */
export class Venue extends Context.Service<Venue, { readonly address: string }>()("runplane/stack/test/Venue") {
  static readonly layerSandbox = Layer.effect(
    Venue,
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* Effect.forEach(policyFiles(), sandbox.registerPolicy, { discard: true })
      return { address: sandbox.address }
    })
  ).pipe(Layer.provide(Sandbox.layer({ port: 0 })))
}

/** The launch service over the packs of this repository; its agents meet at the venue. */
export const launchService = Layer.unwrap(
  Effect.map(Launcher, ({ url }) => LauncherClient.layer({ baseUrl: url }).pipe(Layer.provide(FetchHttpClient.layer)))
).pipe(
  Layer.provide(
    Layer.unwrap(
      Effect.map(Effect.all([Venue, createDatabase]), ([{ address }, url]) =>
        Launcher.layer({
          host: "127.0.0.1",
          port: 0,
          settings: {
            database: { url, password: undefined, caFile: undefined },
            packsDir: PACKS,
            serviceRoot: fileURLToPath(new URL("../../../../../", import.meta.url)),
            runtimeAddress: address,
            runtimeTls: false,
            runtimeAllowInsecure: true,
            registerPolicies: false,
            registryCacheTtlMs: 60_000
          }
        })
      )
    )
  )
)

/** Compiles a scene through the launch service and lets its agents play it in this process, at full speed. */
export const play = Effect.fnUntraced(function* (
  scene: Scene
): Effect.fn.Return<Played, unknown, LauncherClient | Venue> {
  const launcher = yield* LauncherClient
  const { address } = yield* Venue
  const compiled = yield* launcher.launch.compile({
    payload: {
      scenarioRef: scene.ref,
      inputs: inputsOf(scene),
      ...(scene.template === undefined ? {} : { templateId: scene.template })
    }
  })
  const clientOf = (participantId: string) =>
    Layer.fresh(AgentClient.layer).pipe(Layer.provideMerge(bootstrapOf(compiled, participantId, address)))
  const people = Object.keys(compiled.people ?? {})
  const evaluations = compiled.participantBindings.length - people.length - 1
  const playerOf = (agentRef: string, participantId: string) =>
    people.includes(participantId) ? personOf(scene, evaluations) : EXAMPLE_AGENTS[agentRef]
  yield* Effect.forEach(
    compiled.participantBindings,
    ({ agentRef, participantId }) =>
      (playerOf(agentRef, participantId) ?? Effect.die(`no agent ${agentRef}`)).pipe(
        Effect.provide(clientOf(participantId))
      ),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.provideService(PaceFactor, 0))
  return yield* readOutcome(clientOf(compiled.initiator?.participantId ?? ""))
})

/** A person who votes once all agents but the initiator have evaluated: a vote before would end the evaluations. */
const personOf = ({ fixture, vote }: Scene, evaluations: number) =>
  Effect.gen(function* () {
    const { envelopes, send } = yield* AgentClient
    if (vote === undefined) return yield* Effect.die(`the scene ${fixture} has a person without a vote`)
    const isEvaluation = ({ messageType }: Envelope) => messageType === messageTypeOf(Decision.Evaluation)
    const evaluated = yield* Stream.runCollect(Stream.take(Stream.filter(envelopes, isEvaluation), evaluations))
    const { proposalId } = fromBinary(Decision.Evaluation, evaluated[0]?.payload ?? new Uint8Array())
    const ballot = create(Decision.Vote, { proposalId, vote, reason: "as the scene wants it" })
    yield* send(messageTypeOf(Decision.Vote), toBinary(Decision.Vote, ballot))
  })

/** Starts a scene's agents as processes through the launch service and waits for the end of their session. */
export const launch = Effect.fnUntraced(function* (
  scene: Scene
): Effect.fn.Return<Played & { readonly agents: number }, unknown, LauncherClient | Venue> {
  const launcher = yield* LauncherClient
  const { address } = yield* Venue
  const { compiled, hostedAgents } = yield* launcher.launch.runExample({
    payload: { scenarioRef: scene.ref, inputs: inputsOf(scene), bootstrapAgents: true }
  })
  const client = Layer.fresh(AgentClient.layer).pipe(
    Layer.provide(bootstrapOf(compiled, compiled.initiator?.participantId ?? "", address))
  )
  return { ...(yield* readOutcome(client)), agents: hostedAgents.length }
})

/** How the session ended and, when it was committed, everything that was said in it. */
const readOutcome = <E>(client: Layer.Layer<AgentClient, E>): Effect.Effect<Played, unknown> =>
  Effect.gen(function* () {
    const { ended, envelopes } = yield* AgentClient
    const state = yield* ended
    if (state !== SessionState.RESOLVED) return { state, history: [] }
    const history = yield* Stream.runCollect(
      Stream.takeUntil(envelopes, ({ messageType }) => messageType === "Commitment")
    )
    return { state, history }
  }).pipe(Effect.provide(client))

export const fixturesOf = (ref: string): ReadonlyArray<string> =>
  readdirSync(`${versionFolder(ref)}/fixtures`).map((name) => name.replace(/\.json$/, ""))

/** Every scenario version of the packs, as references. */
export const allScenarios = (): ReadonlyArray<string> =>
  folders(PACKS).flatMap((pack) =>
    folders(`${PACKS}${pack}/scenarios`).flatMap((scenario) =>
      folders(`${PACKS}${pack}/scenarios/${scenario}`).map((version) => `${pack}/${scenario}@${version}`)
    )
  )

const folders = (path: string) =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && !entry.name.startsWith("_") ? [entry.name] : []
  )

const versionFolder = (ref: string) => `${PACKS}${ref.replace("/", "/scenarios/").replace("@", "/")}`

const inputsOf = ({ fixture, ref, seed }: Scene) => ({
  ...JSON.parse(readFileSync(`${versionFolder(ref)}/fixtures/${fixture}.json`, "utf8")),
  ...(seed === undefined ? {} : { seed })
})

/** The policies of the packs, as they are registered. */
export function policyFiles() {
  return readdirSync(POLICIES).map((name) => {
    const { description, mode, policy_id, rules, schema_version } = JSON.parse(
      readFileSync(`${POLICIES}/${name}`, "utf8")
    )
    return { policyId: policy_id, mode, description, rules: JSON.stringify(rules), schemaVersion: schema_version }
  })
}

/**
 * What the launch service writes into an agent's bootstrap file (docs/internals/launch.md#bootstrap), as the agent
 * reads it.
 */
const bootstrapOf = (compiled: CompileLaunchResult, participantId: string, runtimeUrl: string) => {
  const { session } = compiled.runDescriptor
  const { initiator, scenarioMeta } = compiled
  const binding = compiled.participantBindings.find((candidate) => candidate.participantId === participantId)
  const file = {
    participant_id: participantId,
    session_id: compiled.sessionId,
    mode: session.modeName,
    runtime_url: runtimeUrl,
    auth_token: participantId,
    secure: false,
    participants: session.participants.map(({ id }) => id),
    mode_version: session.modeVersion,
    configuration_version: session.configurationVersion,
    policy_version: session.policyVersion,
    ...(compiled.people && {
      wait_for: Object.keys(compiled.people).map((person) => ({ participant_id: person, evaluates: false }))
    }),
    ...(initiator?.participantId === participantId
      ? {
          initiator: {
            session_start: {
              intent: initiator.sessionStart.intent,
              participants: initiator.sessionStart.participants,
              ttl_ms: initiator.sessionStart.ttlMs,
              max_suspend_ms: initiator.sessionStart.maxSuspendMs,
              mode_version: initiator.sessionStart.modeVersion,
              configuration_version: initiator.sessionStart.configurationVersion,
              policy_version: initiator.sessionStart.policyVersion,
              context_id: initiator.sessionStart.contextId,
              extensions: initiator.sessionStart.extensions
            },
            ...(initiator.kickoff === undefined
              ? {}
              : { kickoff: { message_type: initiator.kickoff.messageType, payload: initiator.kickoff.payload } })
          }
        }
      : {}),
    metadata: {
      role: binding?.role ?? "",
      framework: "custom",
      agent_ref: binding?.agentRef ?? "",
      policy_hints: scenarioMeta.policyHints,
      session_context: scenarioMeta.sessionContext
    }
  }
  return Layer.effect(Bootstrap, decodeBootstrap(JSON.stringify(file)))
}
