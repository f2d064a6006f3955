import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { timedRequest } from "../client/TimedRequest.ts"
import type { Outcome } from "../Figures.ts"
import { inFreshSurroundings, withControlPlane } from "../FreshWorld.ts"
import { within } from "../Measurement.ts"
import type { IdleSessionsLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { awaitEnvelopes, closeFleet, type Fleet, openFleet } from "./Fleet.ts"

export interface IdleSessionsFound {
  readonly load: IdleSessionsLoad
  /** MiB of the process before the first session, with all of them open, and after the last has ended. */
  readonly before: number
  readonly open: number
  readonly after: number
  /** The same of the heap alone. */
  readonly heapBefore: number
  readonly heapOpen: number
  readonly heapAfter: number
  /** Share of a core while nothing happens. */
  readonly cpu: number
  /** Of the service with the database. */
  readonly connections: number
  /** Seconds from the start of a process until its port was open, and until it followed every session. */
  readonly listening: number
  readonly takenUp: number
  /** Milliseconds of the slowest answer of `/livez` meanwhile, and MiB of the largest resident set. */
  readonly slowest: number
  readonly peak: number
}

/** Runs that are opened at the same time. */
const OPENED_AT_ONCE = 250
const BYTES_PER_MIB = 1024 * 1024
const MILLIS_PER_SECOND = 1_000
const NANOS_PER_SECOND = 1e9
const PATIENCE = Duration.minutes(10)
/** How long is waited for what follows from the end of a run, checkpoints and tallies, and for V8's own work. */
const AFTERMATH = Duration.seconds(30)
const PROBE_EVERY = Duration.millis(100)

/**
 * Opens sessions in which nothing happens, measures the process that follows them, lets a new process follow them, and
 * ends them all at once. Memory is measured after a full collection.
 */
export const idleSessions = Effect.fn("IdleSessions.measure")(function* (load: IdleSessionsLoad) {
  return yield* inFreshSurroundings(
    Effect.gen(function* () {
      const first = yield* Effect.scoped(withControlPlane(opened(load)))
      const runtime = yield* RuntimeProcess
      yield* runtime.run({ _tag: "ForgetSubscribers", sessions: first.fleet.sessions })
      const second = yield* Effect.scoped(withControlPlane(takenUp(first.fleet)))
      const { fleet: _, ...seen } = first
      const found: IdleSessionsFound = { load, ...seen, ...second }
      return found
    })
  )
})

const opened = Effect.fnUntraced(function* (load: IdleSessionsLoad) {
  const { memory, usage } = yield* ControlPlaneProcess
  const before = yield* memory
  const rounds = Array.from({ length: Math.ceil(load.sessions / OPENED_AT_ONCE) }, (_, round) =>
    Math.min(OPENED_AT_ONCE, load.sessions - round * OPENED_AT_ONCE)
  )
  const fleets = yield* Effect.forEach(rounds, (count) => openStarted(count))
  const fleet: Fleet = {
    sessions: fleets.flatMap(({ sessions }) => sessions),
    runIds: fleets.flatMap(({ runIds }) => runIds)
  }
  yield* Effect.sleep(AFTERMATH)
  const open = yield* memory
  // A full collection of a large heap keeps V8 busy for a while afterwards.
  yield* Effect.sleep(AFTERMATH)
  const started = yield* usage
  yield* Effect.sleep(Duration.seconds(load.seconds))
  const cpu = ((yield* usage).cpuSeconds - started.cpuSeconds) / load.seconds
  return {
    fleet,
    before: before.residentBytes / BYTES_PER_MIB,
    heapBefore: before.heapBytes / BYTES_PER_MIB,
    open: open.residentBytes / BYTES_PER_MIB,
    heapOpen: open.heapBytes / BYTES_PER_MIB,
    cpu,
    connections: yield* connections
  }
})

/** Sessions with nothing but their SessionStart. */
const openStarted = Effect.fnUntraced(function* (count: number) {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(count, 1)
  yield* runtime.run({ _tag: "Release", sessions: fleet.sessions })
  yield* awaitEnvelopes(fleet, count)
  return fleet
})

const takenUp = Effect.fnUntraced(function* (fleet: Fleet) {
  const { listeningAfter, memory, usage } = yield* ControlPlaneProcess
  const runtime = yield* RuntimeProcess
  const started = yield* Clock.monotonicTimeNanos
  const followed = runtime.run({ _tag: "AwaitSubscribed", sessions: fleet.sessions })
  const slowest = yield* Ref.make(0)
  yield* Effect.raceFirst(within("all sessions followed again", followed, PATIENCE), probing(slowest))
  const seconds = Number((yield* Clock.monotonicTimeNanos) - started) / NANOS_PER_SECOND
  const { peakBytes } = yield* usage
  yield* closeFleet(fleet, PATIENCE)
  yield* Effect.sleep(AFTERMATH)
  const after = yield* memory
  const listening = listeningAfter / MILLIS_PER_SECOND
  return {
    listening,
    takenUp: listening + seconds,
    slowest: yield* Ref.get(slowest),
    peak: peakBytes / BYTES_PER_MIB,
    after: after.residentBytes / BYTES_PER_MIB,
    heapAfter: after.heapBytes / BYTES_PER_MIB
  }
})

/** Probes the process again and again, as the supervisor of a container does. */
const probing = (slowest: Ref.Ref<number>) =>
  timedRequest("/livez").pipe(
    Effect.flatMap(({ millis }) => Ref.update(slowest, (most) => Math.max(most, millis))),
    Effect.andThen(Effect.sleep(PROBE_EVERY)),
    Effect.forever
  )

const connections = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'runplane-control-plane'`
  return row?.count ?? 0
})

export const idleSessionsOutcome = (found: IdleSessionsFound): Outcome => {
  const {
    after,
    before,
    connections,
    cpu,
    heapAfter,
    heapBefore,
    heapOpen,
    listening,
    load,
    open,
    peak,
    slowest,
    takenUp
  } = found
  const { aims } = load
  const scenario = `${number(load.sessions)} idle sessions`
  const each = ((open - before) / load.sessions) * 1_024
  return {
    scenario,
    line:
      `${scenario}: ${number(open)} MiB (heap ${number(heapOpen)}) after ${number(before)} (${number(heapBefore)}) ` +
      `without one, ${number(each)} KiB each; ${number(after)} MiB (${number(heapAfter)}) after all have ended; ` +
      `${number(cpu * 100)} % of a core over ${load.seconds} s; ${connections} connections; ` +
      `restart: listening after ${number(listening)} s, all followed after ${number(takenUp)} s, ` +
      `${number(peak)} MiB at most and /livez answered within ${number(slowest)} ms meanwhile`,
    figures: [
      { name: "memory", value: open, unit: "MiB", better: "less", ...(aims && { aim: aims.memory }) },
      { name: "of a session", value: each, unit: "KiB", better: "less" },
      { name: "memory after their end", value: after, unit: "MiB", better: "less" },
      { name: "CPU", value: cpu * 100, unit: "%", better: "less", ...(aims && { aim: aims.cpu }) },
      {
        name: "database connections",
        value: connections,
        unit: "",
        better: "less",
        ...(aims && { aim: aims.connections })
      },
      { name: "restart", value: takenUp, unit: "s", better: "less", ...(aims && { aim: aims.restart }) },
      { name: "most memory of a restart", value: peak, unit: "MiB", better: "less" },
      { name: "slowest probe of a restart", value: slowest, unit: "ms", better: "less" }
    ]
  }
}
