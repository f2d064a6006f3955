import type { CompileLaunchResult } from "@runplane/api"
import { backoffMs } from "@runplane/domain"
import { ParticipantClient } from "@runplane/runtime"
import { makeShadowRuntime, type ShadowRuntime } from "@runplane/sandbox"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AgentAssignment } from "../agents/AgentBootstrap.ts"
import { AgentHost, type AttachedAgent, endOf } from "../agents/AgentHost.ts"
import type { AgentManifest } from "../agents/AgentManifest.ts"
import { AgentSlots } from "../agents/AgentSlots.ts"
import { AgentTokens } from "../agents/AgentTokens.ts"
import { runtimeOptions } from "../agents/RuntimeOptions.ts"
import { RunRecords } from "../control-plane/RunRecords.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { relaySession } from "./SessionRelay.ts"
import { type ShadowOutcome, shadowActsOf } from "./ShadowRecord.ts"

/** An agent that is tried beside a participant of a launch. */
export type LaunchedShadow = NonNullable<CompileLaunchResult["shadows"]>[number]

/** How the agent of a shadow is started. */
export interface ShadowAgent {
  readonly manifest: AgentManifest
  readonly framework: string
  readonly joinHeader: string | undefined
}

export interface ShadowLaunch {
  readonly compiled: CompileLaunchResult
  readonly shadow: LaunchedShadow
  readonly agent: Effect.Effect<ShadowAgent, { readonly message: string }>
  /** The longest life of the session, milliseconds. */
  readonly ttlMs: number
}

const TOKEN_BYTES = 32
/** A session that is over by its time, and its last messages. Milliseconds. */
const MARGIN_MS = 60_000
/** Pauses between the attempts to add the acts to the run. */
const BACKOFF = { firstMs: 500, longestMs: 30_000 }
/** The run may not be there yet, or its control plane away. Milliseconds. */
const POST_FOR_MS = 3_600_000

/**
 * Tries agents beside participants of launched sessions (docs/reference/shadows.md). Each has a runtime of its own on
 * this machine, which repeats the session to it, and a credential that no other runtime knows. What it does is added to
 * the run at its end. A launch never waits for a shadow, and no failure of one reaches a launch.
 */
export class Shadows extends Context.Service<
  Shadows,
  {
    /** Starts a shadow in the background. */
    readonly start: (launch: ShadowLaunch) => Effect.Effect<void>
    /** Shadows whose acts are not added to their run yet. */
    readonly running: Effect.Effect<number>
  }
>()("runplane/launcher/Shadows") {
  /** With the runtime of the settings, and the control plane of the settings. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      if (settings.runtimeAddress === "") return Shadows.layerNone
      const client = ParticipantClient.layerGrpc(yield* runtimeOptions(settings))
      return Shadows.layerLive.pipe(Layer.provide([client, RunRecords.layer, SecureRandom.layerWebCrypto]))
    })
  )

  static readonly layerLive = Layer.effect(
    Shadows,
    Effect.suspend(() => make)
  )

  /** Without a runtime no launch has a session, and no shadow is started. */
  static readonly layerNone = Layer.succeed(
    Shadows,
    Shadows.of({
      start: ({ shadow }) =>
        Effect.logWarning(`shadow ${shadow.shadow} is not started: PROTO_RUNTIME_ADDRESS is not set`),
      running: Effect.succeed(0)
    })
  )
}

const make = Effect.gen(function* () {
  const settings = yield* LauncherSettings
  const tokens = yield* AgentTokens
  const client = yield* ParticipantClient
  const host = yield* AgentHost
  const slots = yield* AgentSlots
  const records = yield* RunRecords
  const random = yield* SecureRandom.SecureRandom
  const service = yield* Effect.scope
  let running = 0

  /** The runtime as an observer; with development credentials, which are names, as the initiator of the session. */
  const observing = ({ initiator }: CompileLaunchResult) =>
    Effect.map(
      settings.auth === undefined
        ? Effect.succeed(initiator?.participantId ?? settings.serviceName)
        : tokens.tokenFor({
            participantId: settings.serviceName,
            modeName: "",
            isInitiator: false,
            isObserver: true,
            minLifeMs: 0
          }),
      (token) => client.as(Redacted.make(token))
    )

  /** Waits until the shadow is done: its process has ended, or its session has, and the time after it is over. */
  const untilDone = Effect.fnUntraced(function* (
    { compiled, ttlMs }: ShadowLaunch,
    runtime: ShadowRuntime,
    agent: AttachedAgent
  ) {
    const { sessionId } = compiled
    const exit = Effect.map(agent.ended, (end) => (end.code === 0 ? undefined : endOf(end, "its process ended")))
    const flood = Effect.map(runtime.exceeded, (bound) => `it sent ${bound}, and was ended`)
    const session = relaySession({ sessionId, calls: observing(compiled), to: runtime }).pipe(
      Effect.result,
      Effect.flatMap((end) => (end._tag === "Failure" ? Effect.succeed(end.failure.message) : afterEnd(runtime, agent)))
    )
    const late = Effect.as(Effect.sleep(ttlMs + MARGIN_MS), "its session did not end within its time")
    return yield* Effect.raceFirst(Effect.raceFirst(exit, flood), Effect.raceFirst(session, late))
  })

  /** The session has ended: the shadow may still act where its participant has, and then ends by itself. */
  const afterEnd = Effect.fnUntraced(function* (runtime: ShadowRuntime, agent: AttachedAgent) {
    const { agentExitGraceMs, shadowGraceMs } = settings
    const acted = Effect.gen(function* () {
      while (!(yield* runtime.hasEnded)) yield* Effect.sleep(ENDED_POLL_MS)
    })
    const isInTime = Option.isSome(yield* Effect.timeoutOption(acted, shadowGraceMs))
    yield* runtime.endNow
    if (!isInTime) return `it did not act within ${shadowGraceMs} ms after the end of its session`
    const exit = yield* Effect.timeoutOption(agent.ended, agentExitGraceMs)
    return Option.isSome(exit) ? undefined : `it still ran ${agentExitGraceMs} ms after its session, and was ended`
  })

  const play = Effect.fnUntraced(function* (launch: ShadowLaunch, runtime: ShadowRuntime, token: string) {
    const { compiled, shadow } = launch
    const { framework, joinHeader, manifest } = yield* launch.agent
    const participant = compiled.participantBindings.find(({ participantId }) => participantId === shadow.as)
    const { sessionId } = compiled
    const lease = yield* slots.acquire(1, { sessionId, scenarioRef: compiled.display.scenarioRef })
    const assignment: AgentAssignment = {
      compiled,
      binding: { participantId: shadow.as, role: participant?.role ?? "", agentRef: shadow.agent },
      token,
      framework,
      joinHeader,
      shadow: { name: shadow.shadow, runtimeAddress: runtime.address }
    }
    return yield* Effect.gen(function* () {
      const agent = yield* host.attach(assignment, manifest)
      return yield* Effect.ensuring(untilDone(launch, runtime, agent), agent.stop)
    }).pipe(Effect.ensuring(lease.release(1)))
  })

  const run = Effect.fnUntraced(function* (launch: ShadowLaunch) {
    const { compiled, shadow } = launch
    const outcome = yield* Effect.scoped(
      Effect.gen(function* () {
        const token = Base64Url.encode(yield* random.randomBytes(TOKEN_BYTES))
        const runtime = yield* makeShadowRuntime({ participant: shadow.as, token })
        const played = yield* Effect.exit(play(launch, runtime, token))
        const failure = Exit.isSuccess(played) ? played.value : failureText(played)
        return { messages: yield* runtime.messages, signals: yield* runtime.signals, failure }
      })
    ).pipe(Effect.catch((error) => Effect.succeed({ messages: [], signals: [], failure: error.message })))
    const mode = compiled.runDescriptor.session.modeName
    yield* keep(records, compiled.sessionId, { ...outcome, ...shadow, mode })
  })

  const start = Effect.fn("Shadows.start")((launch: ShadowLaunch) =>
    Effect.suspend(() => {
      running += 1
      return run(launch).pipe(
        Effect.catchDefect((defect) => Effect.logError(`shadow ${launch.shadow.shadow} failed`, defect)),
        Effect.ensuring(Effect.sync(() => (running -= 1))),
        Effect.forkIn(service),
        Effect.asVoid
      )
    })
  )
  return Shadows.of({ start, running: Effect.sync(() => running) })
})

/** Adds the acts to the run of the session. */
const keep = Effect.fnUntraced(function* (records: RunRecords["Service"], sessionId: string, outcome: ShadowOutcome) {
  const content = shadowActsOf(outcome)
  const { acts, reason, shadow } = content
  yield* Effect.logInfo(
    `shadow ${shadow} of session ${sessionId}: ${acts.length} acts${reason === undefined ? "" : `; ${reason}`}`
  )
  const since = yield* Clock.currentTimeMillis
  const record = { sessionId, kind: "shadow.acts", label: shadow, idempotencyKey: `shadow.acts/${shadow}`, content }
  for (let tries = 1; ; tries += 1) {
    const posted = yield* records.post(record)
    if (posted._tag === "kept") return
    const age = (yield* Clock.currentTimeMillis) - since
    if (posted._tag === "never" || age >= POST_FOR_MS) {
      return yield* Effect.logError(`the acts of shadow ${shadow} are lost: ${posted.reason}`)
    }
    yield* Effect.sleep(backoffMs(BACKOFF, tries))
  }
})

/** Why a shadow could not be played, in words. */
const failureText = ({ cause }: Exit.Failure<unknown, Unplayed>): string => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure === undefined) return "the launch service failed, or stopped"
  return "reason" in failure && failure.message === "" ? String(failure.reason) : failure.message
}

interface Unplayed {
  readonly message: string
  readonly reason?: unknown
}

/** How often it is read whether the session has ended for the shadow. Milliseconds. */
const ENDED_POLL_MS = 50
