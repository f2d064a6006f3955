import type { MessageInitShape } from "@bufbuild/protobuf"
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect"
import { isReleaseFrom } from "@runplane/domain"
import { type Envelope, SessionState, type StreamSessionRequest, StreamSessionResponseSchema } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Authenticator } from "../auth/Authenticator.ts"
import type { Identity } from "../auth/Identity.ts"
import { checkShape, isAmbient, isTelemetry } from "../core/EnvelopeShape.ts"
import type { Rejection } from "../core/Rejection.ts"
import type { Session } from "../core/Session.ts"
import { FaultyFrames } from "../faults/FaultyFrames.ts"
import { SandboxFaults } from "../faults/SandboxFaults.ts"
import { Kernel } from "../kernel/Kernel.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { compacted, historyUnavailable, inlineError, inlineRefusal, statusOf, streamEnd } from "./Answers.ts"
import { SessionSubscription } from "./SessionSubscription.ts"

export type StreamServices = Kernel | Authenticator | SandboxFaults

/**
 * The StreamSession call (docs/internals/runtime.md#stream-frames): passive subscription and submission on one
 * bidirectional stream.
 */
export const makeStreamSession = (context: Context.Context<StreamServices>, options: SandboxOptions) => {
  const run = Effect.runPromiseWith(context)
  const authenticator = Context.get(context, Authenticator)
  const { plan } = Context.get(context, SandboxFaults)
  return async function* (
    requests: AsyncIterable<StreamSessionRequest>,
    call: HandlerContext
  ): AsyncGenerator<MessageInitShape<typeof StreamSessionResponseSchema>> {
    // Once, at the opening: a credential that expires later does not end the stream.
    const identity = await run(authenticator.authenticate(call.requestHeader).pipe(Effect.mapError(statusOf)))
    const faults = new FaultyFrames(plan, "session", StreamSessionResponseSchema, (ms) => run(Effect.sleep(ms)))
    const subscription = new SessionSubscription(options.sessionBuffer, faults)
    const unlisten = plan.listen(() => subscription.wake())
    call.signal.addEventListener("abort", () => subscription.finish(), { once: true })
    const reader = new FrameReader(subscription, faults, identity, context, options)
    // Never rejects: whatever goes wrong with the request side ends the subscription.
    const reading = reader.readAll(requests)
    try {
      yield* subscription.frames()
    } finally {
      unlisten()
    }
    // The request side of a finished call ends by itself; do not wait for a client that keeps it open.
    if (call.signal.aborted) await reading
  }
}

/** The receiving side of one StreamSession. */
class FrameReader {
  readonly #subscription: SessionSubscription
  readonly #faults: FaultyFrames<typeof StreamSessionResponseSchema>
  readonly #identity: Identity
  readonly #kernel: Kernel["Service"]
  readonly #options: SandboxOptions
  readonly #run: <A, E>(effect: Effect.Effect<A, E>) => Promise<Result.Result<A, E>>
  /** The session this stream is bound to, from the first frame that passes its checks. */
  #bound: string | undefined

  constructor(
    subscription: SessionSubscription,
    faults: FaultyFrames<typeof StreamSessionResponseSchema>,
    identity: Identity,
    context: Context.Context<StreamServices>,
    options: SandboxOptions
  ) {
    this.#subscription = subscription
    this.#faults = faults
    this.#identity = identity
    this.#kernel = Context.get(context, Kernel)
    this.#options = options
    const run = Effect.runPromiseWith(context)
    this.#run = (effect) => run(Effect.result(effect))
  }

  /** Reads until the client half-closes, which ends the subscription after the frames that are due. */
  async readAll(requests: AsyncIterable<StreamSessionRequest>): Promise<void> {
    try {
      for await (const request of requests) {
        const failure = await this.#read(request)
        if (failure !== undefined) return this.#subscription.fail(failure)
      }
      this.#subscription.finish()
    } catch (cause) {
      this.#subscription.fail(ConnectError.from(cause))
    }
  }

  #read(request: StreamSessionRequest): Promise<ConnectError | undefined> {
    const { envelope, subscribeSessionId } = request
    if (envelope !== undefined && subscribeSessionId === "") return this.#submit(envelope)
    if (envelope === undefined && subscribeSessionId !== "") return this.#subscribe(request)
    return Promise.resolve(malformed("a frame holds either an envelope or subscribe_session_id"))
  }

  async #subscribe({ afterSequence, subscribeSessionId }: StreamSessionRequest): Promise<ConnectError | undefined> {
    if (this.#isForeign(subscribeSessionId)) return malformed("the stream is bound to another session")
    const refusal = this.#faults.refusal(subscribeSessionId)
    if (refusal !== undefined) return refusal
    const session = this.#kernel.find(subscribeSessionId)
    if (session === undefined) return new ConnectError(`session ${subscribeSessionId} not found`, Code.NotFound)
    if (!this.#identity.isObserver && !session.isMember(this.#identity.sender)) {
      await this.#inline("FORBIDDEN: caller is not a participant or observer of this session", subscribeSessionId)
      return undefined
    }
    this.#bound = subscribeSessionId
    const { log } = session
    const after = Number(afterSequence)
    if (after < log.base) {
      if (isReleaseFrom(this.#options.release, "0.13.0")) return historyUnavailable(log.base)
      await this.#inline(compacted(log.base), subscribeSessionId)
    }
    this.#subscription.follow(subscribeSessionId, log, Math.max(after, log.base))
    return undefined
  }

  async #submit(envelope: Envelope): Promise<ConnectError | undefined> {
    if (isAmbient(envelope)) return malformed("ambient messages cannot travel on a session stream")
    if (this.#isForeign(envelope.sessionId)) return malformed("the stream is bound to another session")
    const misshapen = checkShape(envelope, this.#options.maxPayloadBytes)
    if (misshapen !== undefined) return this.#refuse(misshapen, envelope)
    const before = this.#kernel.find(envelope.sessionId)
    const admitted = await this.#run(this.#kernel.admit(envelope, this.#identity))
    if (Result.isFailure(admitted)) return this.#refuse(admitted.failure, envelope)
    const unfit = before === undefined ? undefined : preCheck(envelope, before)
    if (unfit !== undefined) return unfit
    this.#bound = envelope.sessionId
    // Joined before the submission, so that the sender gets its own envelope back.
    if (before !== undefined) this.#join(before, before.log.end)
    const accepted = await this.#run(this.#kernel.accept(envelope, this.#identity))
    if (Result.isFailure(accepted)) return this.#refuse(accepted.failure, envelope)
    const session = this.#kernel.find(envelope.sessionId)
    if (session !== undefined) this.#join(session, 0)
    return undefined
  }

  #join(session: Session, after: number): void {
    if (!this.#subscription.isFollowing) this.#subscription.follow(session.binding.sessionId, session.log, after)
  }

  /** Inline where the contract says so, otherwise the status that ends the stream. */
  async #refuse(rejection: Rejection, envelope: Envelope): Promise<ConnectError | undefined> {
    const end = streamEnd(rejection, this.#options)
    if (end !== undefined) return end
    const sessionId = this.#bound ?? envelope.sessionId
    const { messageId } = envelope
    await this.#subscription.sendError(inlineRefusal(rejection, { messageId, sessionId }, this.#options.release))
    return undefined
  }

  #inline(text: string, sessionId: string): Promise<void> {
    return this.#subscription.sendError(inlineError(text, this.#bound ?? sessionId))
  }

  #isForeign(sessionId: string): boolean {
    return this.#bound !== undefined && this.#bound !== sessionId
  }
}

const malformed = (text: string) => new ConnectError(text, Code.InvalidArgument)

/** Ends the stream before the kernel is called: another mode than the session's, or a session that is not open. */
const preCheck = (envelope: Envelope, session: Session): ConnectError | undefined => {
  if (envelope.messageType === "SessionStart" || isTelemetry(envelope)) return undefined
  if (session.hasAccepted(envelope.messageId)) return undefined
  if (envelope.mode !== session.modeId) return malformed("the envelope's mode is not the session's mode")
  return session.state === SessionState.OPEN ? undefined : malformed("the session is not open")
}
