import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { RuntimeError, type RuntimeErrorReason } from "./RuntimeError.ts"

export type CircuitState = "CLOSED" | "OPEN" | "HALF_OPEN"

/** One entry of the history; `enteredAt` in Unix milliseconds. */
export interface CircuitTransition {
  readonly state: CircuitState
  readonly enteredAt: number
  readonly reason: string
}

export interface CircuitBreakerOptions {
  /** Consecutive failures that open the circuit. */
  readonly threshold?: number
  /** Milliseconds the circuit stays open before a probe is let through. */
  readonly resetMs?: number
}

const BREAKER_THRESHOLD = 5
const BREAKER_RESET_MS = 30_000
/** Entries kept, the oldest go first. */
export const BREAKER_HISTORY_ENTRIES = 200

// Answers about the request, not about the health of the runtime: neither failure nor success.
const NOT_COUNTED: ReadonlySet<RuntimeErrorReason> = new Set([
  "NOT_FOUND",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "ALREADY_EXISTS",
  "UNIMPLEMENTED"
])

interface Circuit {
  readonly state: CircuitState
  /** Grows with each change of state, so that a call that began before the change cannot influence what follows it. */
  readonly epoch: number
  readonly consecutiveFailures: number
  readonly openedAt: number
  readonly probing: boolean
  readonly history: ReadonlyArray<CircuitTransition>
  readonly successes: number
  readonly failures: number
}

interface Admission {
  readonly epoch: number
  readonly probe: boolean
}

type Outcome = "success" | "failure" | "not-counted"

/**
 * Stops calling a runtime that keeps failing: a number of consecutive failures opens the circuit; after a while one
 * probe at a time is let through, and its outcome closes or opens the circuit again. Calls that are refused fail with
 * reason CIRCUIT_BREAKER_OPEN. State and history live in this process.
 *
 * Ours and not the one of effect/persistence, which knows no reset by hand and keeps neither time nor reason of a
 * change.
 */
export class CircuitBreaker extends Context.Service<
  CircuitBreaker,
  {
    /** Makes the call, or refuses it. `method` names the call in the refusal. */
    readonly guard: <A, R>(method: string, call: Effect.Effect<A, RuntimeError, R>) => Effect.Effect<A, RuntimeError, R>
    /** Reading moves an open circuit whose time is over to HALF_OPEN. */
    readonly state: Effect.Effect<CircuitState>
    /** Oldest first. */
    readonly history: Effect.Effect<ReadonlyArray<CircuitTransition>>
    /** Closes the circuit by hand; leaves an entry only if it was not closed. */
    readonly reset: Effect.Effect<void>
    /** Counted outcomes since the start, for metrics. */
    readonly counts: Effect.Effect<{ readonly successes: number; readonly failures: number }>
  }
>()("runplane/runtime/CircuitBreaker") {
  static readonly layer = (options: CircuitBreakerOptions = {}): Layer.Layer<CircuitBreaker> =>
    Layer.effect(CircuitBreaker, make(options))
}

const make = Effect.fnUntraced(function* ({
  resetMs = BREAKER_RESET_MS,
  threshold = BREAKER_THRESHOLD
}: CircuitBreakerOptions) {
  const circuit = yield* Ref.make(initial(yield* Clock.currentTimeMillis))

  const admit = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Ref.modify(circuit, (current) => admitCall(halfOpenIfDue(current, resetMs, now)))
  )
  const settle = (admission: Admission, outcome: Outcome) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.update(circuit, (current) => settleCall(current, threshold, admission, outcome, now))
    )
  const current = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Ref.updateAndGet(circuit, (stored) => halfOpenIfDue(stored, resetMs, now))
  )

  return CircuitBreaker.of({
    guard: (method, call) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(admit, (admission) =>
          admission === undefined
            ? Effect.fail(refusal(method))
            : Effect.onExit(restore(call), (exit) => settle(admission, outcomeOf(exit)))
        )
      ),
    state: Effect.map(current, ({ state }) => state),
    history: Effect.map(current, ({ history }) => history),
    counts: Effect.map(Ref.get(circuit), ({ failures, successes }) => ({ failures, successes })),
    reset: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Ref.update(circuit, (stored) =>
        stored.state === "CLOSED"
          ? { ...stored, consecutiveFailures: 0 }
          : enter({ ...stored, consecutiveFailures: 0 }, "CLOSED", "manual reset", now)
      )
    )
  })
})

const initial = (now: number): Circuit => ({
  state: "CLOSED",
  epoch: 0,
  consecutiveFailures: 0,
  openedAt: 0,
  probing: false,
  history: [{ state: "CLOSED", enteredAt: now, reason: "initial" }],
  successes: 0,
  failures: 0
})

const enter = (circuit: Circuit, state: CircuitState, reason: string, now: number): Circuit => ({
  ...circuit,
  state,
  epoch: circuit.epoch + 1,
  openedAt: state === "OPEN" ? now : circuit.openedAt,
  probing: false,
  history: [...circuit.history, { state, enteredAt: now, reason }].slice(-BREAKER_HISTORY_ENTRIES)
})

/** An open circuit becomes half open after its time; there is no timer, so every reader calls this first. */
const halfOpenIfDue = (circuit: Circuit, resetMs: number, now: number): Circuit => {
  const elapsed = now - circuit.openedAt
  return circuit.state === "OPEN" && elapsed >= resetMs
    ? enter(circuit, "HALF_OPEN", `reset timeout after ${elapsed}ms`, now)
    : circuit
}

const admitCall = (circuit: Circuit): [Admission | undefined, Circuit] => {
  switch (circuit.state) {
    case "CLOSED":
      return [{ epoch: circuit.epoch, probe: false }, circuit]
    case "HALF_OPEN":
      return circuit.probing
        ? [undefined, circuit]
        : [
            { epoch: circuit.epoch, probe: true },
            { ...circuit, probing: true }
          ]
    case "OPEN":
      return [undefined, circuit]
  }
}

const settleCall = (
  circuit: Circuit,
  threshold: number,
  admission: Admission,
  outcome: Outcome,
  now: number
): Circuit => {
  const counted: Circuit = {
    ...circuit,
    successes: circuit.successes + (outcome === "success" ? 1 : 0),
    failures: circuit.failures + (outcome === "failure" ? 1 : 0)
  }
  if (circuit.epoch !== admission.epoch) return counted
  if (outcome === "not-counted") return admission.probe ? { ...counted, probing: false } : counted
  if (outcome === "success") {
    return admission.probe
      ? enter({ ...counted, consecutiveFailures: 0 }, "CLOSED", "half-open probe succeeded", now)
      : { ...counted, consecutiveFailures: 0 }
  }
  const consecutiveFailures = circuit.consecutiveFailures + 1
  const failed = { ...counted, consecutiveFailures }
  return admission.probe || consecutiveFailures >= threshold
    ? enter(failed, "OPEN", `${consecutiveFailures} consecutive failures`, now)
    : failed
}

// A call that was given up by its caller says nothing about the runtime.
const outcomeOf = (exit: Exit.Exit<unknown, RuntimeError>): Outcome => {
  if (Exit.isSuccess(exit)) return "success"
  if (Cause.hasInterruptsOnly(exit.cause)) return "not-counted"
  const error = Cause.findErrorOption(exit.cause)
  return Option.isSome(error) && NOT_COUNTED.has(error.value.reason) ? "not-counted" : "failure"
}

const refusal = (method: string) =>
  new RuntimeError({ reason: "CIRCUIT_BREAKER_OPEN", method, message: "circuit breaker is open" })
