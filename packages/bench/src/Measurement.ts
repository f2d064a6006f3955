import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { BenchDatabase } from "./BenchDatabase.ts"
import type { Figure } from "./Figures.ts"
import { number } from "./Report.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"

/** Nothing of the bench takes this long. */
const PATIENCE = Duration.minutes(2)
const NANOS_PER_SECOND = 1e9
const BYTES_PER_MIB = 1024 * 1024

/** What was waited for did not happen: something is lost or stuck, and no figure would mean anything. */
export class NeverHappened extends Data.TaggedError("NeverHappened")<{ readonly what: string }> {
  override get message(): string {
    return `waited ${Duration.format(PATIENCE)} in vain: ${this.what}`
  }
}

export const within = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(effect, { duration: PATIENCE, orElse: () => new NeverHappened({ what }) })

/** What it cost to do something. */
export interface Cost {
  readonly seconds: number
  /** CPU seconds of the control plane's process, all threads. */
  readonly serviceCpu: number
  /** CPU seconds of the database server; undefined where they cannot be read. */
  readonly databaseCpu: number | undefined
  /** The control plane's largest resident set since it started. */
  readonly peakBytes: number
}

/** Does it and answers what it cost. */
export const measured = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const service = yield* ControlPlaneProcess
  const database = yield* BenchDatabase
  const databaseBefore = yield* database.cpuSeconds
  const before = yield* service.usage
  const started = yield* Clock.monotonicTimeNanos
  const value = yield* effect
  const ended = yield* Clock.monotonicTimeNanos
  const after = yield* service.usage
  const databaseAfter = yield* database.cpuSeconds
  const cost: Cost = {
    seconds: Number(ended - started) / NANOS_PER_SECOND,
    serviceCpu: after.cpuSeconds - before.cpuSeconds,
    databaseCpu:
      databaseBefore === undefined || databaseAfter === undefined ? undefined : databaseAfter - databaseBefore,
    peakBytes: after.peakBytes
  }
  return { value, cost }
})

export const costFigures = ({ databaseCpu, peakBytes, serviceCpu }: Cost): ReadonlyArray<Figure> => [
  { name: "control plane CPU", value: serviceCpu, unit: "s", better: "less" },
  ...(databaseCpu === undefined
    ? []
    : [{ name: "PostgreSQL CPU", value: databaseCpu, unit: "s", better: "less" } as const]),
  { name: "control plane peak memory", value: peakBytes / BYTES_PER_MIB, unit: "MiB", better: "less" }
]

export const costInWords = ({ databaseCpu, peakBytes, serviceCpu }: Cost): string =>
  [
    `CPU ${number(serviceCpu)} s`,
    ...(databaseCpu === undefined ? [] : [`PostgreSQL ${number(databaseCpu)} s`]),
    `peak ${number(peakBytes / BYTES_PER_MIB)} MiB`
  ].join(", ")
