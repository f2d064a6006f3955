import { create } from "@bufbuild/protobuf"
import { type Envelope, PolicyDescriptorSchema, type RuntimePolicy } from "@runplane/runtime"
import { forever } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { Authenticator } from "../auth/Authenticator.ts"
import { isTelemetry } from "../core/EnvelopeShape.ts"
import { findMode } from "../core/Modes.ts"
import { DECISION_MODE_ID, decisionModeOfShadow } from "../core/modes/DecisionMode.ts"
import { RateLimited } from "../core/Rejection.ts"
import type { Session, Transition } from "../core/Session.ts"
import { checkStart, startSession } from "../core/SessionStart.ts"
import { SandboxFaults } from "../faults/SandboxFaults.ts"
import { Kernel } from "../kernel/Kernel.ts"
import { ModeRegistry } from "../kernel/ModeRegistry.ts"
import { PolicyRegistry } from "../kernel/PolicyRegistry.ts"
import { DEFAULT_OPTIONS } from "../SandboxOptions.ts"
import { type HandlerServices, makeHandlers } from "../server/Handlers.ts"
import { type AddressInUse, type ListenFailed, listen } from "../server/Listener.ts"
import { actOf, endNow, type HeldBack, nothingHeld, type Relayed, relayNext, shadowActed } from "./HeldBack.ts"
import { SHADOW_LIMITS, type ShadowLimits, ShadowMeter } from "./ShadowLimits.ts"

/** The session cannot be shown to a shadow: its mode or policy is not known here. */
export class ShadowUnable extends Data.TaggedError("ShadowUnable")<{ readonly message: string }> {}

/** A message of the shadow. */
export interface ShadowMessage {
  readonly envelope: Envelope
  /** Unix milliseconds. */
  readonly at: number
  /** Accepted messages of the real session that the shadow could have seen. */
  readonly shown: number
  /** Why it was refused; undefined for an accepted one. */
  readonly refusal: { readonly code: string; readonly reason: string } | undefined
}

/** The server of one shadow. */
export interface ShadowRuntime {
  /** `host:port`. */
  readonly address: string
  /**
   * Opens the session by the SessionStart of the real one, and with its policy. `envelope.sender` is the initiator.
   */
  readonly open: (start: Envelope, policy: RuntimePolicy | undefined) => Effect.Effect<void, ShadowUnable>
  /** The next accepted message of the real session. */
  readonly relay: (envelope: Envelope) => Effect.Effect<void>
  /** A change of the state of the real session that its stream does not show. */
  readonly change: (transition: Transition) => Effect.Effect<void>
  /** The end of the session waits for the shadow no longer. */
  readonly endNow: Effect.Effect<void>
  /** Whether the session has ended for the shadow. */
  readonly hasEnded: Effect.Effect<boolean>
  /** Stops the server when the shadow exceeds a bound, and completes with that bound. */
  readonly exceeded: Effect.Effect<string>
  readonly messages: Effect.Effect<ReadonlyArray<ShadowMessage>>
  /** Its signals and reports of progress. */
  readonly signals: Effect.Effect<ReadonlyArray<Envelope>>
}

export interface ShadowRuntimeOptions {
  /** The participant whose messages the shadow sends instead. */
  readonly participant: string
  /** Its only credential. */
  readonly token: string
  readonly limits?: ShadowLimits
}

/**
 * A shadow is started after its session, and can be slower than it: votes of others do not close the evaluations for
 * it, as they do for a participant that the others do not wait for.
 */
const modesFor = (participant: string) => {
  const decision = decisionModeOfShadow(participant)
  return (id: string) => (id === DECISION_MODE_ID ? decision : findMode(id))
}

/** How often the received bytes are compared with their bound. Milliseconds. */
const BYTES_CHECK_MS = 250
/** The session has no time of its own: there is nothing to sweep. Milliseconds. */
const SWEEP_MS = 600_000

/**
 * A runtime with one session, for one agent that is tried beside a participant. It repeats the accepted messages of a
 * real session, and accepts the messages of its agent by the rules of the mode. Nothing leaves it: it has no connection
 * to the real runtime.
 */
export const makeShadowRuntime = (
  options: ShadowRuntimeOptions
): Effect.Effect<ShadowRuntime, AddressInUse | ListenFailed, Scope.Scope> =>
  Effect.flatMap(Layer.build(Layer.fresh(layerOf(options))), (context) =>
    Effect.provideContext(serve(options), context)
  )

const sandboxOptions = { ...DEFAULT_OPTIONS, port: 0, sweepIntervalMs: SWEEP_MS, receipts: "off" } as const

const layerOf = ({ participant, token }: ShadowRuntimeOptions) =>
  SandboxFaults.layer.pipe(
    Layer.provideMerge(Kernel.layer(sandboxOptions)),
    Layer.provideMerge(PolicyRegistry.layer(sandboxOptions.release)),
    Layer.provideMerge(ModeRegistry.layer),
    Layer.provideMerge(Authenticator.layerTokens([{ token, sender: participant, can_start_sessions: false }]))
  )

const serve = Effect.fnUntraced(function* ({ limits = SHADOW_LIMITS, participant }: ShadowRuntimeOptions) {
  const context = yield* Effect.context<HandlerServices>()
  const clock = yield* Clock.Clock
  const kernel = yield* Kernel
  const policies = yield* PolicyRegistry
  const exceeded = yield* Deferred.make<string>()
  const meter = new ShadowMeter(limits, (bound) => Deferred.doneUnsafe(exceeded, Effect.succeed(bound)))
  const step = () => meter.step(clock.currentTimeMillisUnsafe())

  const messages: Array<ShadowMessage> = []
  const signals: Array<Envelope> = []
  let session: Session | undefined
  let held: HeldBack = nothingHeld
  let relayed = 0

  /** Shows a message of the real session. The rules may refuse it here, where the shadow has acted otherwise. */
  const show = ({ envelope }: Relayed, now: number): void => {
    if (session === undefined || session.hasAccepted(envelope.messageId)) return
    const { result, transition } = session.submit(envelope, envelope.sender, now)
    const shown = Result.isSuccess(result) ? transition : session.repeat(envelope, now)
    Effect.runSync(kernel.announce(session, shown))
  }

  const advance = ([next, shown]: ReturnType<typeof relayNext>, now: number): void => {
    held = next
    for (const one of shown) show(one, now)
  }

  const accept: Kernel["Service"]["accept"] = Effect.fnUntraced(function* (envelope, identity) {
    const now = clock.currentTimeMillisUnsafe()
    if (isTelemetry(envelope)) {
      meter.signal()
      if (meter.exceeded !== undefined) return yield* Effect.fail(RateLimited)
      const acceptance = yield* kernel.accept(envelope, identity)
      signals.push(envelope)
      return acceptance
    }
    meter.message()
    if (meter.exceeded !== undefined) return yield* Effect.fail(RateLimited)
    const answer = yield* Effect.result(kernel.accept(envelope, identity))
    const at = { envelope, at: now, shown: relayed - held.held.length - (held.end === undefined ? 0 : 1) }
    if (Result.isFailure(answer)) {
      const { code, variant } = answer.failure
      messages.push({ ...at, refusal: { code, reason: variant } })
      return yield* Effect.fail(answer.failure)
    }
    if (!answer.success.duplicate) {
      messages.push({ ...at, refusal: undefined })
      advance(shadowActed(held, actOf(envelope)), now)
    }
    return answer.success
  })

  const counted = Kernel.of({
    ...kernel,
    accept,
    find: (sessionId) => {
      step()
      return kernel.find(sessionId)
    }
  })
  const listener = yield* listen(
    makeHandlers(Context.add(context, Kernel, counted), sandboxOptions),
    sandboxOptions,
    step
  )
  yield* Effect.forkScoped(
    forever(
      "shadow-bytes",
      Effect.sync(() => meter.received(listener.received())),
      { every: BYTES_CHECK_MS }
    )
  )

  const open = Effect.fn("ShadowRuntime.open")(function* (start: Envelope, policy: RuntimePolicy | undefined) {
    if (policy !== undefined && policies.resolve(policy.policyId) === undefined) {
      const { description, mode, policyId, rules, schemaVersion } = policy
      const descriptor = create(PolicyDescriptorSchema, { description, mode, policyId, rules, schemaVersion })
      yield* Effect.mapError(policies.register(descriptor), ({ message }) => new ShadowUnable({ message }))
    }
    const now = yield* Clock.currentTimeMillis
    const opened = Result.flatMap(checkStart(start, sandboxOptions.release, modesFor(participant)), (request) =>
      startSession(request, start.sender, now, policies.resolve, sandboxOptions.release, true)
    )
    if (Result.isFailure(opened)) {
      const { code, variant } = opened.failure
      return yield* new ShadowUnable({ message: `the session cannot be shown to a shadow: ${code} (${variant})` })
    }
    session = opened.success
    relayed = 1
    yield* kernel.adopt(session)
  })

  return {
    address: listener.address,
    open,
    relay: (envelope) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        relayed += 1
        advance(relayNext(held, { envelope, act: actOf(envelope) }, participant), now)
      }),
    change: (transition) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        session === undefined ? Effect.void : kernel.announce(session, session.repeatState(transition, now))
      ),
    endNow: Effect.map(Clock.currentTimeMillis, (now) => advance(endNow(held), now)),
    hasEnded: Effect.sync(() => session?.isTerminal === true),
    exceeded: Effect.tap(Deferred.await(exceeded), () => listener.stop),
    messages: Effect.sync(() => [...messages]),
    signals: Effect.sync(() => [...signals])
  } satisfies ShadowRuntime
})
