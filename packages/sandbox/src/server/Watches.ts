import type { HandlerContext } from "@connectrpc/connect"
import { SessionLifecycleEvent_EventType } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Authenticator } from "../auth/Authenticator.ts"
import { Kernel } from "../kernel/Kernel.ts"
import { PolicyRegistry } from "../kernel/PolicyRegistry.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { statusOf, watchFailure } from "./Answers.ts"
import type { HandlerServices } from "./Handlers.ts"

/** The five server streams (runtime-wire section 4). */
export const makeWatches = (context: Context.Context<HandlerServices>, options: SandboxOptions) => {
  const run = Effect.runPromiseWith(context)
  const kernel = Context.get(context, Kernel)
  const policies = Context.get(context, PolicyRegistry)
  const authenticator = Context.get(context, Authenticator)
  const identify = (call: HandlerContext) =>
    run(authenticator.authenticate(call.requestHeader).pipe(Effect.mapError(statusOf)))
  const now = () => run(Effect.map(Clock.currentTimeMillis, BigInt))

  return {
    async *watchSessions(_request: unknown, call: HandlerContext) {
      await identify(call)
      // Subscribed before the snapshot is taken, in one turn: no event is missed and none is told twice.
      const live = kernel.lifecycle.subscribe(call.signal)
      const known = kernel.sessions().map((session) => session.metadata())
      for (const session of known) {
        const eventType = SessionLifecycleEvent_EventType.CREATED
        yield { event: { eventType, session, observedAtUnixMs: session.startedAtUnixMs } }
      }
      for await (const { observedAt, session, type } of orStatus(live)) {
        yield { event: { eventType: type, session, observedAtUnixMs: BigInt(observedAt) } }
      }
    },

    async *watchSignals(_request: unknown, call: HandlerContext) {
      await identify(call)
      for await (const envelope of orStatus(kernel.signals.subscribe(call.signal))) yield { envelope }
    },

    async *watchPolicies(_request: unknown, call: HandlerContext) {
      if (options.newerRuntime) await identify(call)
      const changes = policies.changes(call.signal)
      yield { descriptors: [...policies.list("")], observedAtUnixMs: await now() }
      for await (const descriptors of changes) yield { descriptors: [...descriptors], observedAtUnixMs: await now() }
    },

    async *watchModeRegistry(_request: unknown, call: HandlerContext) {
      yield { change: { registry: "modes", observedAtUnixMs: await now() } }
      await aborted(call.signal)
    },

    async *watchRoots(_request: unknown, call: HandlerContext) {
      yield { change: { observedAtUnixMs: await now() } }
      await aborted(call.signal)
    }
  }
}

async function* orStatus<A>(items: AsyncGenerator<A>): AsyncGenerator<A> {
  try {
    yield* items
  } catch (cause) {
    throw watchFailure(cause)
  }
}

/** Nothing here ever changes, so after the first hint the stream only waits for its end. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
