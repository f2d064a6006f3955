import { hash } from "node:crypto"
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2"
import { create, toBinary } from "@bufbuild/protobuf"
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect"
import { connectNodeAdapter } from "@connectrpc/connect-node"
import { issueReceipt } from "@runplane/domain"
import {
  CommitmentPayloadSchema,
  DecisionMode,
  EnvelopeSchema,
  GetDecisionReceiptResponseSchema,
  GetReceiptKeysResponseSchema,
  GetSessionResponseSchema,
  InitializeResponseSchema,
  MACPRuntimeService,
  SessionLifecycleEvent_EventType,
  SessionMetadataSchema,
  SessionState,
  SignalPayloadSchema,
  StreamSessionResponseSchema,
  WatchSessionsResponseSchema,
  WatchSignalsResponseSchema
} from "@runplane/runtime"
import { onLoopback } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** Mode of the scripted session. */
const SCRIPTED_MODE = "macp.mode.decision.v1"

/** Envelope number `ordinal` of the script: a vote whose reason is its position. */
const scriptedEnvelope = (sessionId: string, ordinal: number) =>
  create(EnvelopeSchema, {
    macpVersion: "1.0",
    mode: SCRIPTED_MODE,
    messageType: ordinal === 1 ? "Proposal" : "Vote",
    messageId: `message-${ordinal}`,
    sessionId,
    sender: `agent://${ordinal % 5}`,
    timestampUnixMs: 1_790_000_000_000n + BigInt(ordinal),
    payload:
      ordinal === 1
        ? toBinary(
            DecisionMode.ProposalPayloadSchema,
            create(DecisionMode.ProposalPayloadSchema, { proposalId: "p1", option: "go", rationale: "because" })
          )
        : toBinary(
            DecisionMode.VotePayloadSchema,
            create(DecisionMode.VotePayloadSchema, { proposalId: "p1", vote: "APPROVE", reason: `vote ${ordinal}` })
          )
  })

/** The payload of a positive commitment. */
export const COMMITMENT = toBinary(
  CommitmentPayloadSchema,
  create(CommitmentPayloadSchema, {
    commitmentId: "c1",
    action: "decision.selected",
    authorityScope: "release",
    reason: "majority",
    outcomePositive: true
  })
)

/** The last envelope of a session with a receipt. */
const scriptedCommitment = (sessionId: string, ordinal: number) =>
  create(EnvelopeSchema, {
    ...scriptedEnvelope(sessionId, ordinal),
    messageType: "Commitment",
    sender: "agent://1",
    payload: COMMITMENT
  })

interface Session {
  readonly id: string
  readonly length: number
  accepted: number
}

const receiptOf = (sessionId: string): string =>
  Result.getOrThrow(
    issueReceipt((...parts) => hash("sha256", Buffer.concat(parts), "buffer"), {
      ...{ sessionId, mode: SCRIPTED_MODE, wire: COMMITMENT, issuer: "runtime:scripted" },
      issuedAt: "2026-07-01T10:00:00Z",
      semantics: { implementation: "scripted", rev: 1 }
    })
  )

/**
 * A runtime over real gRPC with any number of sessions of a scripted history each, and ambient signals: what processes
 * of the service observe that are started and killed. A session whose whole history is accepted is RESOLVED. The fake
 * of `@runplane/runtime/testing` cannot stand in for it: it is called within one process, without a connection.
 */
export class ScriptedRuntime {
  readonly #sessions = new Map<string, Session>()
  /** Ids of the sessions that have ended, in the order of their ends. */
  readonly #resolved: Array<string> = []
  readonly #connections = new Set<ServerHttp2Session>()
  readonly #wake = new Set<() => void>()
  readonly #signals: Array<Parameters<typeof create<typeof EnvelopeSchema>>[1]> = []
  readonly #server: Http2Server
  #address = ""
  /** The `afterSequence` of each subscription so far, in order. */
  readonly subscriptions: Array<number> = []
  /** Subscriptions to sessions that are open now. */
  readonly open = new Map<string, number>()
  /** Whether sessions end with a Commitment, and have a receipt of it without a signature. */
  issuesReceipts = false
  /** Ids of the sessions whose receipt was requested, in order. */
  readonly receiptRequests: Array<string> = []
  /** Processes that watch the signals now. */
  signalWatchers = 0

  private constructor() {
    this.#server = createServer(connectNodeAdapter({ routes: (router) => this.#routes(router) }))
    this.#server.on("session", (connection) => {
      this.#connections.add(connection)
      connection.on("close", () => this.#connections.delete(connection))
    })
  }

  /** Listens on a free port of the loopback until the scope closes. */
  static readonly start = Effect.gen(function* () {
    const runtime = new ScriptedRuntime()
    const port = yield* onLoopback(runtime.#server, () => {
      for (const connection of runtime.#connections) connection.destroy()
    })
    runtime.#address = `127.0.0.1:${port}`
    return runtime
  })

  get address(): string {
    return this.#address
  }

  openSession(id: string, length: number): void {
    this.#sessions.set(id, { id, length, accepted: 1 })
    this.#changed()
  }

  /** Accepts the history up to this ordinal. */
  accept(id: string, ordinal: number): void {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new Error(`no session ${id}`)
    if (session.accepted === session.length) return
    session.accepted = Math.min(Math.max(session.accepted, ordinal), session.length)
    if (session.accepted === session.length) this.#resolved.push(id)
    this.#changed()
  }

  /** Sends an ambient signal about a session to every watcher. */
  signal(sessionId: string, number: number): void {
    this.#signals.push({
      macpVersion: "1.0",
      messageType: "Signal",
      messageId: `signal-${number}`,
      sender: "agent://0",
      timestampUnixMs: 1_790_000_000_000n + BigInt(number),
      payload: toBinary(
        SignalPayloadSchema,
        create(SignalPayloadSchema, { signalType: "note", confidence: 0.5, correlationSessionId: sessionId })
      )
    })
    this.#changed()
  }

  #changed(): void {
    const waiting = [...this.#wake]
    this.#wake.clear()
    for (const wake of waiting) wake()
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake.add(resolve)
      signal.addEventListener("abort", () => resolve(), { once: true })
    })
  }

  #session(id: string): Session {
    const session = this.#sessions.get(id)
    if (session === undefined) throw new ConnectError(`session ${id} not found`, Code.NotFound)
    return session
  }

  #metadata(session: Session) {
    return create(SessionMetadataSchema, {
      sessionId: session.id,
      mode: SCRIPTED_MODE,
      state: session.accepted === session.length ? SessionState.RESOLVED : SessionState.OPEN,
      startedAtUnixMs: 1_790_000_000_000n,
      expiresAtUnixMs: 4_000_000_000_000n,
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      policyVersion: "policy.default",
      participants: [0, 1, 2, 3, 4].map((number) => `agent://${number}`),
      initiator: "agent://1",
      // The first envelope stands for the SessionStart, which activity does not count.
      participantActivity: [{ participantId: "agent://1", messageCount: session.accepted - 1 }]
    })
  }

  #routes(router: ConnectRouter) {
    const runtime = this
    router.service(MACPRuntimeService, {
      initialize: () =>
        create(InitializeResponseSchema, {
          selectedProtocolVersion: "1.0",
          supportedModes: [SCRIPTED_MODE],
          capabilities: { decisionReceipt: { getDecisionReceipt: runtime.issuesReceipts, signed: false } }
        }),
      getDecisionReceipt: ({ sessionId }) => {
        runtime.receiptRequests.push(sessionId)
        return create(GetDecisionReceiptResponseSchema, { receiptJson: receiptOf(runtime.#session(sessionId).id) })
      },
      getReceiptKeys: () => create(GetReceiptKeysResponseSchema, { jwksJson: '{"keys":[]}' }),
      getSession: ({ sessionId }) =>
        create(GetSessionResponseSchema, { metadata: runtime.#metadata(runtime.#session(sessionId)) }),
      async *watchSessions(_request, context) {
        let next = runtime.#resolved.length
        while (!context.signal.aborted) {
          for (; next < runtime.#resolved.length; next++) {
            const session = runtime.#metadata(runtime.#session(runtime.#resolved[next] ?? ""))
            yield create(WatchSessionsResponseSchema, {
              event: { eventType: SessionLifecycleEvent_EventType.RESOLVED, session }
            })
          }
          await runtime.#next(context.signal)
        }
      },
      async *watchSignals(_request, context) {
        let next = runtime.#signals.length
        runtime.signalWatchers += 1
        try {
          while (!context.signal.aborted) {
            for (; next < runtime.#signals.length; next++) {
              yield create(WatchSignalsResponseSchema, {
                envelope: create(EnvelopeSchema, runtime.#signals[next] ?? {})
              })
            }
            await runtime.#next(context.signal)
          }
        } finally {
          runtime.signalWatchers -= 1
        }
      },
      async *streamSession(requests, context) {
        for await (const { afterSequence, subscribeSessionId } of requests) {
          const session = runtime.#session(subscribeSessionId)
          runtime.subscriptions.push(Number(afterSequence))
          runtime.open.set(session.id, (runtime.open.get(session.id) ?? 0) + 1)
          try {
            for (let next = Number(afterSequence) + 1; !context.signal.aborted; ) {
              while (next <= session.accepted) {
                const isLast = next === session.length
                const envelopeOf = isLast && runtime.issuesReceipts ? scriptedCommitment : scriptedEnvelope
                yield create(StreamSessionResponseSchema, {
                  response: { case: "envelope", value: envelopeOf(session.id, next++) }
                })
              }
              await runtime.#next(context.signal)
            }
          } finally {
            runtime.open.set(session.id, (runtime.open.get(session.id) ?? 1) - 1)
          }
        }
      }
    })
  }
}
