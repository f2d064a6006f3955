import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import type { CompileLaunchResult } from "@runplane/api"
import { ShadowActs } from "@runplane/domain"
import {
  CommitmentPayloadSchema,
  DecisionMode,
  EnvelopeSchema,
  type ParticipantCalls,
  ParticipantClient,
  SessionStartPayloadSchema
} from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { AgentAssignment } from "../../src/agents/AgentBootstrap.ts"
import { AgentHost, type EndedAgent } from "../../src/agents/AgentHost.ts"
import { AgentSlots } from "../../src/agents/AgentSlots.ts"
import { AgentTokens } from "../../src/agents/AgentTokens.ts"
import { LaunchPressure } from "../../src/common/LaunchPressure.ts"
import { type NewRecord, RunRecords } from "../../src/control-plane/RunRecords.ts"
import { Shadows } from "../../src/shadows/Shadows.ts"
import { compiledLaunch } from "../fixtures/Compiled.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { countingProxy } from "./CountingProxy.ts"

const MODE = "macp.mode.decision.v1"
/** No message states a time: a session then begins when the runtime accepts its start. */
export const SENT_AT = 0

export const encode = <Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): Uint8Array<ArrayBuffer> =>
  toBinary(schema, create(schema, init))

export const vote = (choice: string) =>
  encode(DecisionMode.VotePayloadSchema, { proposalId: "p1", vote: choice, reason: "why" })

const decodeActs = Schema.decodeUnknownEffect(ShadowActs)

/** A message of the scripted session. */
export interface Scripted {
  readonly sender: string
  readonly type: string
  readonly payload: Uint8Array<ArrayBuffer>
}

/** The scripted session of a run: the nth differs from the others in texts and confidences. */
export const scriptOf = (nth: number): ReadonlyArray<Scripted> => {
  const evaluation = (confidence: number) =>
    encode(DecisionMode.EvaluationPayloadSchema, {
      proposalId: "p1",
      recommendation: "APPROVE",
      confidence,
      reason: `run ${nth}`
    })
  return [
    {
      sender: "lead",
      type: "SessionStart",
      payload: encode(SessionStartPayloadSchema, {
        intent: `decide ${nth}`,
        participants: ["one", "two", "lead"],
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        ttlMs: 86_400_000n
      })
    },
    {
      sender: "lead",
      type: "Proposal",
      payload: encode(DecisionMode.ProposalPayloadSchema, { proposalId: "p1", option: `option ${nth}` })
    },
    { sender: "two", type: "Evaluation", payload: evaluation(0.9) },
    { sender: "one", type: "Evaluation", payload: evaluation((nth % 10) / 10) },
    { sender: "two", type: "Vote", payload: vote("APPROVE") },
    { sender: "one", type: "Vote", payload: vote("APPROVE") },
    {
      sender: "lead",
      type: "Commitment",
      payload: encode(CommitmentPayloadSchema, {
        commitmentId: "c1",
        action: "decision.selected",
        authorityScope: "release",
        reason: "two of two",
        modeVersion: "1.0.0",
        configurationVersion: "config.default",
        outcomePositive: true
      })
    }
  ]
}

export const compiledOf = (sessionId: string): CompileLaunchResult => {
  const compiled = compiledLaunch()
  const session = { ...compiled.runDescriptor.session, sessionId, ttlMs: 60_000 }
  return { ...compiled, sessionId, runDescriptor: { ...compiled.runDescriptor, session } }
}

/** What a shadow's process does: it gets the calls that its credential allows, and ends with its exit code. */
export type Behaviour = (agent: {
  readonly sessionId: string
  readonly calls: ParticipantCalls
  readonly send: (type: string, payload: Uint8Array<ArrayBuffer>) => Effect.Effect<void>
  /** Waits until the shadow has been shown a message of the type. */
  readonly shown: (type: string) => Effect.Effect<void>
}) => Effect.Effect<number>

/** A host whose processes are fibers: each has nothing but the address and the credential of its bootstrap file. */
const makeFiberHost = Effect.fnUntraced(function* (
  behaviours: ReadonlyMap<string, Behaviour>,
  attached: Array<AgentAssignment>
) {
  const scope = yield* Effect.scope
  let messages = 0

  const playing = Effect.fnUntraced(function* (assignment: AgentAssignment, ended: Deferred.Deferred<EndedAgent>) {
    const { sessionId } = assignment.compiled
    const address = assignment.shadow?.runtimeAddress ?? ""
    const client = yield* Effect.provideContext(
      ParticipantClient,
      yield* Layer.build(Layer.fresh(ParticipantClient.layerGrpc({ address, tls: false })))
    )
    const calls = client.as(Redacted.make(assignment.token))
    const send = (messageType: string, payload: Uint8Array<ArrayBuffer>) => {
      messages += 1
      const envelope = { mode: MODE, messageType, messageId: `x${messages}`, sessionId, payload }
      return Effect.ignore(calls.send({ ...envelope, timestampUnixMs: SENT_AT }))
    }
    const shown = (type: string) =>
      calls.streamSession({ sessionId, afterSequence: 0 }).pipe(
        Stream.filter((frame) => frame._tag === "Envelope" && frame.envelope.messageType === type),
        Stream.take(1),
        Stream.runDrain,
        Effect.retry({ times: 3_000, schedule: Schedule.spaced("20 millis") }),
        Effect.ignore
      )
    const behaviour = behaviours.get(sessionId) ?? (() => Effect.succeed(0))
    const code = yield* behaviour({ sessionId, calls, send, shown })
    yield* Deferred.succeed(ended, { code, signal: null, lastLines: code === 0 ? [] : ["it broke"] })
  }, Effect.scoped)

  return AgentHost.of({
    check: () => Effect.void,
    attach: (assignment) =>
      Effect.gen(function* () {
        attached.push(assignment)
        const ended = yield* Deferred.make<EndedAgent>()
        const fiber = yield* Effect.forkIn(playing(assignment, ended), scope)
        const killed = { code: null, signal: "SIGTERM", lastLines: [] }
        return {
          pid: 1,
          ended: Deferred.await(ended),
          hasEnded: Deferred.isDone(ended),
          lastLines: Effect.succeed([]),
          stop: Effect.sync(() => fiber.interruptUnsafe()).pipe(
            Effect.andThen(Deferred.succeed(ended, killed)),
            Effect.asVoid
          )
        }
      }),
    stopRun: () => Effect.void,
    running: Effect.succeed([]),
    killed: Effect.succeed(0)
  })
})

/** A runtime behind a proxy that counts, the service of shadows, and a host whose processes are fibers. */
export const makeStage = Effect.fnUntraced(function* (
  options: { readonly shadowGraceMs?: number; readonly agentExitGraceMs?: number } = {}
) {
  const sandbox = yield* Effect.provideContext(Sandbox, yield* Layer.build(Layer.fresh(Sandbox.layer({ port: 0 }))))
  const proxy = yield* countingProxy(sandbox.address)
  const behaviours = new Map<string, Behaviour>()
  const attached: Array<AgentAssignment> = []
  const records: Array<NewRecord> = []
  const recorded = new Map<string, Deferred.Deferred<ShadowActs>>()
  const recordOf = (sessionId: string) => {
    const known = recorded.get(sessionId) ?? Deferred.makeUnsafe<ShadowActs>()
    recorded.set(sessionId, known)
    return known
  }
  const host = yield* makeFiberHost(behaviours, attached)
  const settings = settingsLayer({
    runtimeAddress: proxy.address,
    runtimeTls: false,
    runtimeAllowInsecure: true,
    agentExitGraceMs: options.agentExitGraceMs ?? 100,
    shadowGraceMs: options.shadowGraceMs ?? 200
  })
  const layer = Shadows.layerLive.pipe(
    Layer.provide(ParticipantClient.layerGrpc({ address: proxy.address, tls: false })),
    Layer.provide(
      Layer.succeed(
        RunRecords,
        RunRecords.of({
          isConfigured: true,
          post: (record) =>
            Effect.sync(() => {
              records.push(record)
              Deferred.doneUnsafe(recordOf(record.sessionId), Effect.orDie(decodeActs(record.content)))
              return { _tag: "kept" }
            }),
          message: () => Effect.succeed(undefined)
        })
      )
    ),
    Layer.provide([
      Layer.succeed(AgentHost, host),
      AgentSlots.layer.pipe(Layer.provide(LaunchPressure.layer)),
      Layer.succeed(AgentTokens, {
        renewals: () => Stream.never,
        tokenFor: ({ participantId }) => Effect.succeed(participantId)
      }),
      SecureRandom.layerWebCrypto
    ]),
    Layer.provide(settings)
  )
  const shadows = yield* Effect.provideContext(Shadows, yield* Layer.build(layer))

  /** Sends the scripted session to the runtime, without a connection. */
  const script = Effect.fnUntraced(function* (sessionId: string, nth: number) {
    let ordinal = 0
    for (const { payload, sender, type } of scriptOf(nth)) {
      ordinal += 1
      const envelope = create(EnvelopeSchema, {
        macpVersion: "1.0",
        mode: MODE,
        sessionId,
        messageType: type,
        messageId: `m${ordinal}`,
        timestampUnixMs: BigInt(SENT_AT),
        payload
      })
      const ack = yield* sandbox.submit(envelope, sender)
      if (!ack.ok) return yield* Effect.die(new Error(`${type} was refused: ${ack.error?.message}`))
      yield* Effect.yieldNow
    }
  })

  /** The bytes of the accepted envelopes. */
  const bytesOf = (sessionId: string) =>
    Effect.map(sandbox.acceptedHistory(sessionId), (history) =>
      history.map((envelope) => Buffer.from(toBinary(EnvelopeSchema, envelope)).toString("hex"))
    )

  const start = (sessionId: string, behaviour: Behaviour) =>
    Effect.suspend(() => {
      behaviours.set(sessionId, behaviour)
      return shadows.start({
        compiled: compiledOf(sessionId),
        shadow: { shadow: "one~agent-x", as: "one", agent: "agent-x" },
        ttlMs: 60_000,
        agent: Effect.succeed({
          manifest: {
            id: "x",
            name: "X",
            framework: "custom",
            entrypoint: { type: "node_file", value: "x.ts" },
            host: {}
          },
          framework: "custom",
          joinHeader: undefined
        })
      })
    })
  const acts = (sessionId: string) => Effect.timeout(Deferred.await(recordOf(sessionId)), "60 seconds")
  return { shadows, start, script, bytesOf, acts, proxy, attached, records }
})
