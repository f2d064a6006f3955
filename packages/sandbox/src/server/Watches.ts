import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf"
import type { ConnectError, HandlerContext } from "@connectrpc/connect"
import { isReleaseFrom } from "@runplane/domain"
import {
  SessionLifecycleEvent_EventType,
  SessionLifecycleEvent_EventTypeSchema,
  WatchSessionsResponseSchema,
  WatchSignalsResponseSchema
} from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Authenticator } from "../auth/Authenticator.ts"
import type { FaultStream } from "../faults/Fault.ts"
import type { FrameAddress } from "../faults/FaultPlan.ts"
import { FaultyFrames } from "../faults/FaultyFrames.ts"
import { SandboxFaults } from "../faults/SandboxFaults.ts"
import { Kernel } from "../kernel/Kernel.ts"
import { ModeRegistry } from "../kernel/ModeRegistry.ts"
import { PolicyRegistry } from "../kernel/PolicyRegistry.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { statusOf, watchFailure } from "./Answers.ts"

export type WatchServices = Kernel | PolicyRegistry | ModeRegistry | Authenticator | SandboxFaults

/** The five server streams (docs/internals/runtime.md#watch-streams). */
export const makeWatches = (context: Context.Context<WatchServices>, options: SandboxOptions) => {
  const run = Effect.runPromiseWith(context)
  const kernel = Context.get(context, Kernel)
  const policies = Context.get(context, PolicyRegistry)
  const modes = Context.get(context, ModeRegistry)
  const authenticator = Context.get(context, Authenticator)
  const identify = (call: HandlerContext) =>
    run(authenticator.authenticate(call.requestHeader).pipe(Effect.mapError(statusOf)))
  const now = () => run(Effect.map(Clock.currentTimeMillis, BigInt))
  const watch = makeFaultyWatch(context)

  return {
    async *watchSessions(_request: unknown, call: HandlerContext) {
      await identify(call)
      yield* watch({
        stream: "lifecycle",
        schema: WatchSessionsResponseSchema,
        signal: call.signal,
        open: (signal) => lifecycleFrames(kernel, signal),
        addressOf: ({ event }) => ({
          sessionId: event?.session?.sessionId ?? "",
          messageType: SessionLifecycleEvent_EventTypeSchema.value[event?.eventType ?? 0]?.localName ?? ""
        })
      })
    },

    async *watchSignals(_request: unknown, call: HandlerContext) {
      await identify(call)
      yield* watch({
        stream: "signals",
        schema: WatchSignalsResponseSchema,
        signal: call.signal,
        open: (signal) => signalFrames(kernel, authenticator.verifiesSenders, signal),
        addressOf: ({ envelope }) => ({
          sessionId: envelope?.sessionId ?? "",
          messageType: envelope?.messageType ?? ""
        })
      })
    },

    async *watchPolicies(_request: unknown, call: HandlerContext) {
      if (isReleaseFrom(options.release, "0.13.0")) await identify(call)
      const changes = policies.changes(call.signal)
      yield { descriptors: [...policies.list("")], observedAtUnixMs: await now() }
      for await (const descriptors of changes) yield { descriptors: [...descriptors], observedAtUnixMs: await now() }
    },

    async *watchModeRegistry(_request: unknown, call: HandlerContext) {
      const changes = modes.changes(call.signal)
      const hint = async () => ({ change: { registry: "modes", observedAtUnixMs: await now() } })
      yield await hint()
      for await (const _change of changes) yield await hint()
    },

    async *watchRoots(_request: unknown, call: HandlerContext) {
      yield { change: { observedAtUnixMs: await now() } }
      await aborted(call.signal)
    }
  }
}

type LifecycleFrame = MessageInitShape<typeof WatchSessionsResponseSchema>

/**
 * Every known session as CREATED, then what happens. Subscribed before the snapshot, in one turn: nothing is missed.
 */
const lifecycleFrames = (kernel: Kernel["Service"], signal: AbortSignal): AsyncGenerator<LifecycleFrame> => {
  const live = kernel.lifecycle.subscribe(signal)
  const known = kernel.sessions().map((session) => session.metadata())
  return (async function* () {
    for (const session of known) {
      const eventType = SessionLifecycleEvent_EventType.CREATED
      yield { event: { eventType, session, observedAtUnixMs: session.startedAtUnixMs } }
    }
    for await (const { observedAt, session, type } of live) {
      yield { event: { eventType: type, session, observedAtUnixMs: BigInt(observedAt) } }
    }
  })()
}

async function* signalFrames(
  kernel: Kernel["Service"],
  senderAuthenticated: boolean,
  signal: AbortSignal
): AsyncGenerator<MessageInitShape<typeof WatchSignalsResponseSchema>> {
  for await (const envelope of kernel.signals.subscribe(signal)) yield { envelope, senderAuthenticated }
}

interface FaultyWatch<Desc extends DescMessage> {
  readonly stream: FaultStream
  readonly schema: Desc
  readonly signal: AbortSignal
  readonly open: (signal: AbortSignal) => AsyncGenerator<MessageInitShape<Desc>>
  readonly addressOf: (frame: MessageInitShape<Desc>) => Omit<FrameAddress, "stream">
}

/** Delivers a watch's frames through the faults in force, and ends it with a status when it lags. */
const makeFaultyWatch = (context: Context.Context<SandboxFaults>) => {
  const run = Effect.runPromiseWith(context)
  const { plan } = Context.get(context, SandboxFaults)
  return async function* <Desc extends DescMessage>({ open, addressOf, schema, signal, stream }: FaultyWatch<Desc>) {
    const faults = new FaultyFrames(plan, stream, schema, (ms) => run(Effect.sleep(ms)))
    let cut: ConnectError | undefined = faults.refusal("") ?? faults.cut("")
    if (cut !== undefined) throw cut
    const ending = new AbortController()
    // A watch that only waits must notice a cut as well.
    const unlisten = plan.listen(() => {
      cut ??= faults.cut("")
      if (cut !== undefined) ending.abort()
    })
    try {
      for await (const frame of open(AbortSignal.any([signal, ending.signal]))) {
        if (faults.passes()) yield frame
        else {
          yield* faults.deliver(frame, addressOf(frame))
          cut ??= faults.cut("")
        }
        if (cut !== undefined) break
      }
    } catch (cause) {
      throw watchFailure(cause)
    } finally {
      ending.abort()
      unlisten()
    }
    if (cut !== undefined) throw cut
  }
}

/** Until the client ends its call: what a stream waits for that has nothing more to say. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
