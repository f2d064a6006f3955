import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { BenchDatabase } from "./BenchDatabase.ts"
import type { Figure } from "./Figures.ts"
import { machineCpuSeconds } from "./process/CpuTime.ts"
import { number } from "./Report.ts"
import { RuntimeProcess } from "./runtime/RuntimeProcess.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"

/** Nothing takes this long, but what says so. */
const TIMEOUT = Duration.minutes(2)
const NANOS_PER_SECOND = 1e9
const MICROS_PER_SECOND = 1e6
const BYTES_PER_MIB = 1024 * 1024

/** An expected state did not come in time: data is lost or a process hangs, so the figures are void. */
export class NeverHappened extends Data.TaggedError("NeverHappened")<{
  readonly what: string
  readonly timeout: Duration.Duration
}> {
  override get message(): string {
    return `waited ${Duration.format(this.timeout)} in vain: ${this.what}`
  }
}

export const within = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>, timeout = TIMEOUT) =>
  Effect.timeoutOrElse(effect, { duration: timeout, orElse: () => new NeverHappened({ what, timeout }) })

/** The cost of an effect. CPU times are seconds; undefined where they cannot be read. */
export interface Cost {
  readonly seconds: number
  /** Of the control plane's process, all threads. */
  readonly serviceCpu: number
  /** Of the further processes of the bench that were named. */
  readonly helpersCpu: number | undefined
  /** Of the database server with its backends. */
  readonly databaseCpu: number | undefined
  /** Everything on the machine besides the bench: the noise in the figures. */
  readonly foreignCpu: number | undefined
  /** The control plane's largest resident set since it started. */
  readonly peakBytes: number
}

/** Runs the effect and returns its cost; `helpers` reads the CPU time of further processes of the bench. */
export const measured = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  helpers: Effect.Effect<number | undefined> = Effect.succeed(0)
) {
  const before = yield* readMeters(helpers)
  const started = yield* Clock.monotonicTimeNanos
  const value = yield* effect
  const ended = yield* Clock.monotonicTimeNanos
  const after = yield* readMeters(helpers)
  const databaseCpu = difference(after.database, before.database)
  const all = difference(after.machine, before.machine)
  const ours = difference(after.bench, before.bench)
  const serviceCpu = after.service.cpuSeconds - before.service.cpuSeconds
  const cost: Cost = {
    seconds: Number(ended - started) / NANOS_PER_SECOND,
    serviceCpu,
    helpersCpu: difference(after.helpers, before.helpers),
    databaseCpu,
    // Clocks of different grain can make the difference slightly negative.
    foreignCpu:
      all === undefined || ours === undefined || databaseCpu === undefined
        ? undefined
        : Math.max(0, all - ours - databaseCpu - serviceCpu),
    peakBytes: after.service.peakBytes
  }
  return { value, cost }
})

const readMeters = Effect.fnUntraced(function* (helpers: Effect.Effect<number | undefined>) {
  const helped = yield* helpers
  const runtime = yield* (yield* RuntimeProcess).cpuSeconds
  const own = process.cpuUsage()
  return {
    service: yield* (yield* ControlPlaneProcess).usage,
    database: yield* (yield* BenchDatabase).cpuSeconds,
    machine: yield* machineCpuSeconds,
    helpers: helped,
    bench:
      runtime === undefined || helped === undefined
        ? undefined
        : runtime + helped + (own.user + own.system) / MICROS_PER_SECOND
  }
})

const difference = (after: number | undefined, before: number | undefined) =>
  after === undefined || before === undefined ? undefined : after - before

export const costFigures = ({ databaseCpu, peakBytes, serviceCpu }: Cost): ReadonlyArray<Figure> => [
  { name: "control plane CPU", value: serviceCpu, unit: "s", better: "less" },
  ...(databaseCpu === undefined
    ? []
    : [{ name: "PostgreSQL CPU", value: databaseCpu, unit: "s", better: "less" } as const]),
  { name: "control plane peak memory", value: peakBytes / BYTES_PER_MIB, unit: "MiB", better: "less" }
]

export const costInWords = ({ databaseCpu, foreignCpu, peakBytes, seconds, serviceCpu }: Cost): string =>
  [
    `CPU ${number(serviceCpu)} s`,
    ...(databaseCpu === undefined ? [] : [`PostgreSQL ${number(databaseCpu)} s`]),
    `peak ${number(peakBytes / BYTES_PER_MIB)} MiB`,
    ...(foreignCpu === undefined ? [] : [`others ${number(foreignCpu / seconds)} CPUs`])
  ].join(", ")
