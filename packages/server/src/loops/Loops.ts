import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import { Counter, Gauge, type Registry } from "prom-client"
import { withoutSecrets } from "./WithoutSecrets.ts"

/** A loop that fails, or that has not finished a round in time. Times in milliseconds, those of a clock since 1970. */
export interface LoopTrouble {
  readonly name: string
  /** Failed rounds since the last one that worked. */
  readonly failures: number
  /** Of the first of these; undefined while none failed. */
  readonly failingSince: number | undefined
  /** The text of the last failure, without secrets; undefined while none failed. */
  readonly error: string | undefined
  /** How long the next round is due, once that is longer than a round may take; 0 while the loop is in time. */
  readonly lateMs: number
}

/** The state of one running loop. `forever` writes it. */
export class LoopState {
  readonly name: string
  /** Of one round, in milliseconds. */
  readonly limitMs: number
  /** When the next round is due, or the current one began. A failure does not move it. Infinite while it waits. */
  dueAt: number
  finishedAt: number | undefined
  failures = 0
  failingSince: number | undefined
  error: string | undefined

  constructor(name: string, limitMs: number, dueAt: number) {
    this.name = name
    this.limitMs = limitMs
    this.dueAt = dueAt
  }

  /** A round begins: earlier than planned when something woke the loop. */
  begin(now: number): void {
    this.dueAt = Math.min(this.dueAt, now)
  }

  /** A round, or a part of a long one, worked. Returns since when it had failed. */
  worked(now: number): { readonly since: number; readonly failures: number } | undefined {
    const ended = this.failingSince === undefined ? undefined : { since: this.failingSince, failures: this.failures }
    this.dueAt = now
    this.finishedAt = now
    this.failures = 0
    this.failingSince = undefined
    this.error = undefined
    return ended
  }

  /** The round waits for its input. */
  waits(): void {
    this.dueAt = Number.POSITIVE_INFINITY
  }

  /** Returns whether the outage begins with this failure. */
  failed(now: number, error: string): boolean {
    this.dueAt = Math.min(this.dueAt, now)
    this.failures += 1
    this.error = error
    const isFirst = this.failingSince === undefined
    this.failingSince ??= now
    return isFirst
  }

  lateMs(now: number): number {
    const due = now - this.dueAt
    return due > this.limitMs ? due : 0
  }
}

const makeLoops = (clock: () => number, registry?: Registry) => {
  /** A loop of several fibers has several states. */
  const states = new Map<string, Set<LoopState>>()
  const remarks = new Map<string, string>()
  const registers = registry === undefined ? [] : [registry]
  const failures = new Counter({
    name: "runplane_loop_failures_total",
    help: "Rounds of background loops that failed",
    labelNames: ["loop"],
    registers
  })
  const gauge = (name: string, help: string, read: (states: ReadonlyArray<LoopState>) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ["loop"],
      registers,
      // Only of the loops that run here now: a singleton may have moved to another process.
      collect() {
        this.reset()
        for (const [loop, ofLoop] of states) {
          const value = read([...ofLoop])
          if (value !== undefined) this.set({ loop }, value)
        }
      }
    })
  gauge(
    "runplane_loop_last_round_timestamp_seconds",
    "When a background loop last finished a round, Unix time",
    (all) => {
      const finished = all.flatMap(({ finishedAt }) => (finishedAt === undefined ? [] : [finishedAt]))
      return finished.length === 0 ? undefined : Math.max(...finished) / 1_000
    }
  )
  gauge(
    "runplane_loop_late_seconds",
    "How long a round of a background loop is overdue; 0 while it is in time",
    (all) => {
      const now = clock()
      return Math.max(...all.map((state) => state.lateMs(now))) / 1_000
    }
  )

  return {
    open: (name: string, limitMs: number, dueAt: number): LoopState => {
      const state = new LoopState(name, limitMs, dueAt)
      states.set(name, (states.get(name) ?? new Set()).add(state))
      // An increase from no series is invisible to Prometheus.
      failures.inc({ loop: name }, 0)
      return state
    },
    close: (state: LoopState): void => {
      const ofName = states.get(state.name)
      ofName?.delete(state)
      if (ofName?.size === 0) states.delete(state.name)
    },
    countFailure: (name: string): void => failures.inc({ loop: name }),
    /** What readers of the readiness should know of a loop that goes on; the next remark of its name replaces it. */
    remark: (name: string, text: string): void => void remarks.set(name, withoutSecrets(text)),
    remarks: (): ReadonlyMap<string, string> => remarks,
    /** The names of the loops that run. */
    names: (): ReadonlyArray<string> => [...states.keys()].toSorted(),
    /** The failing and the late ones, by name. A loop of several fibers stands once, with its worst state. */
    troubles: (now: number): ReadonlyArray<LoopTrouble> =>
      [...states]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .flatMap(([name, ofName]) => {
          const [worst] = [...ofName]
            .map((state) => ({ state, lateMs: state.lateMs(now) }))
            .filter(({ lateMs, state }) => state.failures > 0 || lateMs > 0)
            .toSorted((one, other) => other.lateMs - one.lateMs || other.state.failures - one.state.failures)
          if (worst === undefined) return []
          const { error, failingSince, failures: failed } = worst.state
          return [{ name, failures: failed, failingSince, error, lateMs: worst.lateMs }]
        })
  }
}

/**
 * The background loops of a program (docs/reference/operations.md#loops), and their metrics. A part without the loops
 * of a service registry keeps its state where no probe reads it.
 */
export class Loops extends Context.Reference<ReturnType<typeof makeLoops>>("runplane/server/Loops", {
  defaultValue: () => makeLoops(() => Clock.Clock.defaultValue().currentTimeMillisUnsafe())
}) {
  /** Loops whose metrics are in the registry; `now` is Unix milliseconds. */
  static readonly make = makeLoops
}
