import { randomUUID } from "node:crypto"
import { AgentClient, Bootstrap, type MessageRefused } from "@runplane/agents"
import { ControlPlaneClient, type RunStreamEvent } from "@runplane/api"
import { RunId } from "@runplane/domain"
import { ParticipantClient } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { commitment, type Message } from "./Messages.ts"
import { INITIATOR, RuntimeUnderTest } from "./RuntimeUnderTest.ts"

export const LEAD = INITIATOR
export const RISK = "agent://risk"
export const OPS = "agent://ops"

/** A run waits at most this long for what it is expected to do. Generous, for machines that are busy. */
const PATIENCE = "60 seconds"

export type Mode = "decision" | "proposal" | "task" | "handoff" | "quorum"

export interface Script {
  readonly mode: Mode
  readonly participants?: ReadonlyArray<string>
  readonly policyVersion?: string
  readonly ttlMs?: number
  readonly metadata?: Schema.JsonObject
}

/** One session and the run that observes it. The initiator is `LEAD`. */
export interface Stage {
  readonly sessionId: string
  readonly runId: RunId
  /** The connection of a participant; one each. */
  readonly as: (participant: string) => Effect.Effect<AgentClient["Service"], never, Scope.Scope>
  /** `POST /runs` for this session. */
  readonly post: Effect.Effect<void>
  /** The initiator opens the session. */
  readonly start: Effect.Effect<void>
  /** Sends messages in this order; each must be accepted. */
  readonly say: (...lines: ReadonlyArray<readonly [participant: string, message: Message]>) => Effect.Effect<void>
  /** Sends a message that must be refused, and answers how. */
  readonly refused: (participant: string, message: Message) => Effect.Effect<MessageRefused>
  /** Sends a message once, without the waits of an agent; answers the code of its refusal. */
  readonly refusedOnce: (participant: string, message: Message) => Effect.Effect<string | undefined>
  /** The initiator commits. */
  readonly commit: (action: string, outcomePositive: boolean) => Effect.Effect<void>
  /** Waits for an event of the run on its public stream. */
  readonly seen: (what: (event: CanonicalFrame) => boolean) => Effect.Effect<CanonicalFrame>
  /** Everything the public stream of the run holds, once the run has ended. */
  readonly followed: Effect.Effect<ReadonlyArray<CanonicalFrame>>
}

export type CanonicalFrame = Extract<RunStreamEvent, { readonly event: "canonical_event" }>["data"]

/** Sets a stage: nothing has been posted or started yet. A step that fails is a defect: it fails the test. */
export const setStage = Effect.fnUntraced(function* (script: Script) {
  const { api, streamRun } = yield* ControlPlaneClient
  const runtime = yield* RuntimeUnderTest
  const scope = yield* Effect.scope
  const sessionId = randomUUID()
  const runId = RunId.make(sessionId)
  const modeName = `macp.mode.${script.mode}.v1`
  const { metadata, participants = [LEAD, RISK, OPS], policyVersion = "policy.default", ttlMs = 60_000 } = script
  const connections = new Map<string, AgentClient["Service"]>()

  const as = Effect.fnUntraced(function* (participant: string) {
    const known = connections.get(participant)
    if (known !== undefined) return known
    const layer = Layer.fresh(AgentClient.layer).pipe(
      Layer.provide(
        Bootstrap.layerMemory({
          participant_id: participant,
          session_id: sessionId,
          mode: modeName,
          runtime_url: runtime.address,
          auth_token: yield* runtime.credentialOf(participant, modeName),
          participants,
          mode_version: "1.0.0",
          configuration_version: "config.default",
          metadata: {}
        })
      )
    )
    const client = Context.get(yield* Layer.buildWithScope(layer, scope), AgentClient)
    connections.set(participant, client)
    return client
  })

  const post = api.runs.create({
    payload: {
      mode: "live",
      runtime: { kind: "rust" },
      session: {
        sessionId,
        modeName,
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        policyVersion,
        ttlMs,
        participants: participants.map((id) => ({ id })),
        ...(metadata === undefined ? {} : { metadata })
      }
    }
  })

  const start = Effect.flatMap(as(LEAD), (lead) =>
    lead.start({
      intent: "the suite",
      participants: [...participants],
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      policyVersion,
      ttlMs: BigInt(ttlMs)
    })
  )

  const send = (participant: string, { messageType, payload }: Message) =>
    Effect.flatMap(as(participant), (client) => client.send(messageType, payload))

  const events = streamRun(runId, { afterSeq: 0 }).pipe(
    Stream.filter((frame) => frame.event === "canonical_event"),
    Stream.map(({ data }) => data)
  )

  const patient = <A, E>(effect: Effect.Effect<A, E>) => Effect.orDie(Effect.timeout(effect, PATIENCE))

  return {
    sessionId,
    runId,
    as,
    post: patient(Effect.asVoid(post)),
    start: patient(Effect.asVoid(start)),
    say: (...lines) =>
      Effect.forEach(lines, ([participant, message]) => patient(send(participant, message)), { discard: true }),
    refused: (participant, message) =>
      patient(
        Effect.flatMap(Effect.flip(send(participant, message)), (failure) =>
          failure._tag === "MessageRefused" ? Effect.succeed(failure) : Effect.die(failure)
        )
      ),
    refusedOnce: (participant, { messageType, payload }) =>
      patient(
        Effect.gen(function* () {
          const bearer = Redacted.make(yield* runtime.credentialOf(participant, modeName))
          const client = yield* Layer.build(ParticipantClient.layerGrpc({ address: runtime.address }))
          const envelope = {
            sessionId,
            mode: modeName,
            messageType,
            messageId: randomUUID(),
            timestampUnixMs: 1,
            payload
          }
          const { error } = yield* Context.get(client, ParticipantClient).as(bearer).send(envelope)
          return error?.code
        }).pipe(Effect.scoped)
      ),
    commit: (action, positive) => patient(Effect.asVoid(send(LEAD, commitment(action, positive, policyVersion)))),
    seen: (what) => patient(Effect.flatMap(Stream.runHead(Stream.filter(events, what)), Effect.fromOption)),
    followed: patient(Stream.runCollect(events))
  } satisfies Stage
})

/**
 * A stage whose run follows the open session and has its policy: what happens from now on is in the log in the order in
 * which it happened, also where the runtime drops the history of a session as soon as it ends.
 */
export const openStage = Effect.fnUntraced(function* (script: Script) {
  const stage = yield* setStage(script)
  yield* stage.post
  yield* stage.start
  yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "SessionStart")
  // The policy is resolved beside the session; a session that ends before has no policy in its log.
  yield* stage.seen(({ type }) => type === "policy.resolved")
  return stage
})
