import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2"
import { create, toBinary } from "@bufbuild/protobuf"
import type { ConnectRouter } from "@connectrpc/connect"
import { connectNodeAdapter } from "@connectrpc/connect-node"
import {
  DecisionMode,
  EnvelopeSchema,
  GetSessionResponseSchema,
  InitializeResponseSchema,
  MACPRuntimeService,
  SessionLifecycleEvent_EventType,
  SessionMetadataSchema,
  SessionState,
  StreamSessionResponseSchema,
  WatchSessionsResponseSchema
} from "@runplane/runtime"

/** Mode of the scripted session. */
export const SCRIPTED_MODE = "macp.mode.decision.v1"

/** Envelope number `ordinal` of the script: a vote whose reason tells its place. */
export const scriptedEnvelope = (sessionId: string, ordinal: number) =>
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

/**
 * A runtime over real gRPC with one session of a fixed history, for tests that kill the observer. `limit` says how much of the
 * history the runtime has accepted so far; when it has accepted everything, the session is RESOLVED.
 */
export class ScriptedRuntime {
  readonly sessionId: string
  readonly length: number
  #limit = 0
  #wake: Array<() => void> = []
  #server: Http2Server
  #sessions = new Set<ServerHttp2Session>()
  #subscriptions: Array<number> = []

  private constructor(sessionId: string, length: number) {
    this.sessionId = sessionId
    this.length = length
    this.#server = createServer(connectNodeAdapter({ routes: (router) => this.#routes(router) }))
    this.#server.on("session", (session) => {
      this.#sessions.add(session)
      session.on("close", () => this.#sessions.delete(session))
    })
  }

  static async start(sessionId: string, length: number): Promise<ScriptedRuntime> {
    const runtime = new ScriptedRuntime(sessionId, length)
    await new Promise<void>((resolve) => runtime.#server.listen(0, "127.0.0.1", resolve))
    return runtime
  }

  get address(): string {
    const address = this.#server.address()
    return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }

  /** The `afterSequence` of each subscription, in order. */
  get subscriptions(): ReadonlyArray<number> {
    return this.#subscriptions
  }

  /** Accepts the history up to this ordinal. */
  accept(limit: number): void {
    this.#limit = Math.min(limit, this.length)
    for (const wake of this.#wake.splice(0)) wake()
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #metadata() {
    const resolved = this.#limit === this.length
    return create(SessionMetadataSchema, {
      sessionId: this.sessionId,
      mode: SCRIPTED_MODE,
      state: resolved ? SessionState.RESOLVED : SessionState.OPEN,
      startedAtUnixMs: 1_790_000_000_000n,
      expiresAtUnixMs: 4_000_000_000_000n,
      modeVersion: "1.0.0",
      configurationVersion: "config.default",
      policyVersion: "policy.default",
      participants: [0, 1, 2, 3, 4].map((number) => `agent://${number}`),
      initiator: "agent://1",
      // The first envelope stands for the SessionStart, which activity does not count.
      participantActivity: [{ participantId: "agent://1", messageCount: Math.max(0, this.#limit - 1) }]
    })
  }

  #routes(router: ConnectRouter) {
    const runtime = this
    const changed = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        runtime.#wake.push(resolve)
        signal.addEventListener("abort", () => resolve(), { once: true })
      })
    router.service(MACPRuntimeService, {
      initialize: () =>
        create(InitializeResponseSchema, { selectedProtocolVersion: "1.0", supportedModes: [SCRIPTED_MODE] }),
      getSession: () => create(GetSessionResponseSchema, { metadata: runtime.#metadata() }),
      async *watchSessions(_request, context) {
        yield create(WatchSessionsResponseSchema, {
          event: { eventType: SessionLifecycleEvent_EventType.CREATED, session: runtime.#metadata() }
        })
        while (!context.signal.aborted && runtime.#limit < runtime.length) await changed(context.signal)
        if (context.signal.aborted) return
        yield create(WatchSessionsResponseSchema, {
          event: { eventType: SessionLifecycleEvent_EventType.RESOLVED, session: runtime.#metadata() }
        })
        while (!context.signal.aborted) await changed(context.signal)
      },
      async *watchSignals(_request, context) {
        while (!context.signal.aborted) await changed(context.signal)
      },
      async *streamSession(requests, context) {
        for await (const request of requests) {
          let next = Number(request.afterSequence) + 1
          runtime.#subscriptions.push(next - 1)
          while (!context.signal.aborted) {
            while (next <= runtime.#limit) {
              yield create(StreamSessionResponseSchema, {
                response: { case: "envelope", value: scriptedEnvelope(runtime.sessionId, next) }
              })
              next += 1
            }
            await changed(context.signal)
          }
        }
      }
    })
  }
}
