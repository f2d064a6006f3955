import { create } from "@bufbuild/protobuf"
import { type Ack, type Envelope, PolicyDescriptorSchema } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Authenticator, developmentIdentity, type SignedTokenOptions, type StaticToken } from "./auth/Authenticator.ts"
import type { KeySource } from "./auth/KeySource.ts"
import { SandboxFaults } from "./faults/SandboxFaults.ts"
import { Kernel } from "./kernel/Kernel.ts"
import { ModeRegistry } from "./kernel/ModeRegistry.ts"
import { type PolicyRefused, PolicyRegistry } from "./kernel/PolicyRegistry.ts"
import type { BundleUnreadable } from "./recorded/RecordedRun.ts"
import { type Replayed, type ReplayOptions, replayBundle, type SessionIdTaken } from "./recorded/Replay.ts"
import { DEFAULT_OPTIONS, type SandboxOptions } from "./SandboxOptions.ts"
import { type HandlerServices, makeHandlers } from "./server/Handlers.ts"
import { type AddressInUse, type ListenFailed, listen } from "./server/Listener.ts"
import { send } from "./server/Send.ts"

/** A policy as the files and the wire describe it; `rules` is JSON text. */
export interface PolicyToRegister {
  readonly policyId: string
  readonly mode: string
  readonly description: string
  readonly rules: string
  readonly schemaVersion: number
}

/**
 * The development runtime: the contract of docs/internals/runtime.md served over HTTP/2 without TLS, everything in
 * memory. It is for development and tests; sessions are gone with the process.
 */
export class Sandbox extends Context.Service<
  Sandbox,
  {
    /** `host:port`, with the port that was taken. */
    readonly address: string
    /** Every accepted envelope of a session in order, empty when it is unknown or compacted. */
    readonly acceptedHistory: (sessionId: string) => Effect.Effect<ReadonlyArray<Envelope>>
    /** The state of a session's mode as plain JSON, undefined when the session is unknown. */
    readonly modeState: (sessionId: string) => Effect.Effect<Readonly<Record<string, unknown>> | undefined>
    /**
     * Sends an envelope as `sender` without a connection, at the speed of the kernel: for load that should measure a
     * client of the runtime and not the sending of messages. The envelope must not be used again.
     */
    readonly submit: (envelope: Envelope, sender: string) => Effect.Effect<Ack>
    /** Registers a policy without a call. */
    readonly registerPolicy: (policy: PolicyToRegister) => Effect.Effect<void, PolicyRefused>
    /**
     * Plays an exported run bundle (`GET /runs/:id/export?includeRaw=true`) as a live session, to its end. Watchers and
     * subscribers see it like any other; it accepts no messages.
     */
    readonly replayBundle: (
      bundle: unknown,
      options?: ReplayOptions
    ) => Effect.Effect<Replayed, BundleUnreadable | SessionIdTaken>
    /** Cuts every connection without a word, as a failing network does, and goes on listening. */
    readonly disconnect: Effect.Effect<void>
    /** Ends every open stream and stops listening. Idempotent; the layer's scope does it too. */
    readonly stop: Effect.Effect<void>
  }
>()("runplane/sandbox/Sandbox") {
  /** Listens with development credentials: any bearer value is the sender. */
  static readonly layer = (
    options: Partial<SandboxOptions> = {}
  ): Layer.Layer<Sandbox | SandboxFaults, AddressInUse | ListenFailed> => {
    const { devObserver, observers } = { ...DEFAULT_OPTIONS, ...options }
    return served(options).pipe(Layer.provide(Authenticator.layerDevelopment(devObserver ? observers : [])))
  }

  /** Listens and knows only the identities of a token list (docs/internals/runtime.md#identities). */
  static readonly layerTokens = (
    tokens: ReadonlyArray<StaticToken>,
    options: Partial<SandboxOptions> = {}
  ): Layer.Layer<Sandbox | SandboxFaults, AddressInUse | ListenFailed> =>
    served(options).pipe(Layer.provide(Authenticator.layerTokens(tokens)))

  /**
   * Listens and knows signed tokens, and static ones beside them when they are given
   * (docs/internals/runtime.md#signed-tokens).
   */
  static readonly layerSigned = (
    tokens: SignedTokenOptions,
    options: Partial<SandboxOptions> = {}
  ): Layer.Layer<Sandbox | SandboxFaults, AddressInUse | ListenFailed, KeySource> =>
    served(options).pipe(Layer.provide(Authenticator.layerSigned(tokens)))
}

/** Listens with the identities of an authenticator. */
const served = (
  given: Partial<SandboxOptions>
): Layer.Layer<Sandbox | SandboxFaults, AddressInUse | ListenFailed, Authenticator> => {
  const options = { ...DEFAULT_OPTIONS, ...given }
  return Layer.effect(Sandbox, make(options)).pipe(
    // Two sandboxes in one process must not share their faults or policies.
    Layer.provideMerge(Layer.fresh(SandboxFaults.layer)),
    Layer.provide(Kernel.layer(options)),
    Layer.provide(Layer.fresh(PolicyRegistry.layer(options.release))),
    Layer.provide(Layer.fresh(ModeRegistry.layer))
  )
}

const make = Effect.fnUntraced(function* (options: SandboxOptions) {
  const context = yield* Effect.context<HandlerServices>()
  const kernel = Context.get(context, Kernel)
  const policies = Context.get(context, PolicyRegistry)
  const listener = yield* listen(makeHandlers(context, options), options)
  return Sandbox.of({
    address: listener.address,
    acceptedHistory: (sessionId) =>
      Effect.sync(() => (kernel.find(sessionId)?.log.entries() ?? []).map(({ envelope }) => envelope)),
    modeState: (sessionId) => Effect.sync(() => kernel.find(sessionId)?.inspectMode()),
    submit: (envelope, sender) => send(kernel, options, envelope, Effect.succeed(developmentIdentity(sender, false))),
    registerPolicy: (policy) => policies.register(create(PolicyDescriptorSchema, { ...policy })),
    replayBundle: (bundle, replay = {}) => replayBundle(kernel, bundle, replay),
    disconnect: listener.disconnect,
    stop: listener.stop
  })
})
