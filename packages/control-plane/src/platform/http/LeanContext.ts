import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const OURS = "runplane/"

/** Those of our keys that code looks up wherever it runs: `Context.Reference`, each with a value by default. */
export const OUR_REFERENCES: ReadonlySet<string> = new Set([
  "runplane/control-plane/HeadsFile",
  "runplane/control-plane/EventLogSettings",
  "runplane/control-plane/ProcessChannel",
  "runplane/control-plane/Metrics",
  "runplane/control-plane/PoolUse",
  "runplane/control-plane/ProjectionSettings",
  "runplane/control-plane/SealKeys",
  "runplane/runtime/OtherCredentials",
  "runplane/runtime/OutgoingTraceState",
  "runplane/runtime/RuntimeCallMeter",
  "runplane/server/BudgetExchange",
  "runplane/server/HttpObserver",
  "runplane/server/LogLevelSwitch",
  "runplane/server/RequestFacts",
  "runplane/server/RequestId",
  "runplane/server/RequestSpanName",
  "runplane/server/RootSpans",
  "runplane/server/SpanCounts",
  "runplane/server/Tickets"
])

/**
 * Runs an effect that needs no service without those of the control plane, and with everything else: clock, tracer,
 * loggers, references. Effect copies the whole context of a fiber where it is looked up or added to often, so for
 * fibers that are many or busy the services that nobody asks for would be most of what they hold and copy.
 */
export const withoutServices = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.updateContext(effect, leanContext)

/** What is left of a context without the services of the control plane. */
const leanContext = (context: Context.Context<never>): Context.Context<never> =>
  Context.makeUnsafe(
    new Map([...context.mapUnsafe].filter(([key]) => !key.startsWith(OURS) || OUR_REFERENCES.has(key)))
  )
