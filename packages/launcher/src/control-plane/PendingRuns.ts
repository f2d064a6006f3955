import type { ControlPlaneRun, LaunchUnaffordable } from "@runplane/api"
import { RunDescriptor } from "@runplane/domain"
import { forever, roundGoesOn } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { oneLine } from "../common/LaunchErrors.ts"
import type { Descriptor, NoAnswer, SubmissionRefused } from "./Submission.ts"

/** Most runs that wait for the control plane, and most bytes of their descriptors as JSON. */
export const MOST_RUNS = 1_000
export const MOST_BYTES = 16 * 1024 * 1024
/** Between two rounds of submissions. */
const PAUSE_MS = 5_000
/** A run that the control plane has not accepted for so long is given up: no session lives longer. */
export const GIVE_UP_MS = 86_400_000

/** How long the control plane may need to discover a session after its end. */
const DISCOVERY_MS = 300_000

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const SUFFIX = ".run.json"

/** A run that waits, as its file has it. */
const PendingRun = Schema.Struct({
  /** When its launch was submitted first, epoch ms. */
  since: Schema.Finite,
  /** Why its launch has failed meanwhile. */
  failure: Schema.optionalKey(Schema.String),
  descriptor: RunDescriptor
})
type PendingRun = typeof PendingRun.Type

const decodePending = Schema.decodeUnknownOption(Schema.fromJsonString(PendingRun), { disableChecks: true })

/** Runs that were dropped before the control plane had them, since the start of the service. */
export interface DroppedRuns {
  readonly refused: number
  readonly expired: number
  readonly full: number
}

export interface WaitingRuns {
  readonly runs: number
  /** When the oldest one was submitted first, epoch ms. */
  readonly since: number | undefined
}

/** The runs of launches whose submission had no answer (docs/internals/launch.md#pending-runs). */
export interface PendingRuns {
  /** Keeps a descriptor until the control plane has accepted or refused it. */
  readonly keep: (descriptor: Descriptor) => Effect.Effect<void>
  /** The launch of a run has failed: it is abandoned as soon as the control plane has it. */
  readonly fail: (sessionId: string, reason: string) => Effect.Effect<void>
  readonly waiting: Effect.Effect<WaitingRuns>
  readonly dropped: Effect.Effect<DroppedRuns>
}

export interface PendingRunsOptions {
  /** Undefined: the runs are in memory alone, and a restart loses them. */
  readonly folder: string | undefined
  readonly submit: (
    descriptor: Descriptor
  ) => Effect.Effect<ControlPlaneRun, LaunchUnaffordable | SubmissionRefused | NoAnswer>
  readonly abandon: (runId: string, reason: string) => Effect.Effect<unknown>
}

/** Submits the runs in a loop of the scope. Those of an earlier service in the folder are read first. */
export const makePendingRuns = Effect.fnUntraced(function* ({ abandon, folder, submit }: PendingRunsOptions) {
  const files = yield* makeFiles(folder)
  const pending = new Map<string, PendingRun & { readonly bytes: number }>()
  const dropped = { refused: 0, expired: 0, full: 0 }
  let bytes = 0

  const put = (sessionId: string, run: PendingRun, size: number) => {
    bytes += size - (pending.get(sessionId)?.bytes ?? 0)
    pending.set(sessionId, { ...run, bytes: size })
  }
  const remove = (sessionId: string) =>
    Effect.suspend(() => {
      bytes -= pending.get(sessionId)?.bytes ?? 0
      pending.delete(sessionId)
      return files.remove(sessionId)
    })
  const drop = (sessionId: string, why: keyof DroppedRuns, text: string) =>
    Effect.andThen(
      Effect.sync(() => (dropped[why] += 1)),
      Effect.logWarning(`run ${sessionId} keeps neither scenario, tags nor launch metadata: ${text}`)
    )

  const add = Effect.fnUntraced(function* (run: PendingRun) {
    const { sessionId = "" } = run.descriptor.session
    const size = Buffer.byteLength(JSON.stringify(run))
    if (pending.size >= MOST_RUNS || bytes + size > MOST_BYTES) {
      yield* drop(sessionId, "full", `${pending.size} runs wait for the control plane already`)
      return false
    }
    put(sessionId, run, size)
    return true
  })

  const keep = Effect.fnUntraced(function* (descriptor: Descriptor) {
    const run = { since: yield* Clock.currentTimeMillis, descriptor }
    if (yield* add(run)) yield* files.write(descriptor.session.sessionId ?? "", run)
  })

  const fail = Effect.fnUntraced(function* (sessionId: string, reason: string) {
    const run = pending.get(sessionId)
    if (run === undefined) return
    put(sessionId, { ...run, failure: reason }, run.bytes + 2 * reason.length)
    yield* files.write(sessionId, { since: run.since, failure: reason, descriptor: run.descriptor })
  })

  /** Whether the control plane has answered. */
  const submitOne = Effect.fnUntraced(function* (sessionId: string) {
    const run = pending.get(sessionId)
    if (run === undefined) return true
    const age = (yield* Clock.currentTimeMillis) - run.since
    const answer = yield* Effect.result(submit(run.descriptor))
    if (Result.isSuccess(answer)) {
      // Read again: the launch may have failed while the submission was under way.
      const failure = pending.get(sessionId)?.failure
      yield* remove(sessionId)
      yield* Effect.logInfo(`the control plane has accepted run ${sessionId}, ${Math.round(age / 1_000)} s late`)
      if (failure !== undefined) yield* abandon(answer.success.runId, failure)
      return true
    }
    const { failure } = answer
    if (failure._tag === "SubmissionRefused") {
      yield* remove(sessionId)
      yield* drop(sessionId, "refused", `the control plane refuses it: ${oneLine(failure)}`)
      return true
    }
    // A budget refuses a new run, not one that has been discovered: until its session can have ended, it may be that.
    const isUnaffordable = failure._tag === "LaunchUnaffordable"
    const patienceMs = isUnaffordable ? run.descriptor.session.ttlMs + DISCOVERY_MS : GIVE_UP_MS
    if (age >= patienceMs) {
      yield* remove(sessionId)
      const text = `not accepted for ${Math.round(age / 60_000)} minutes: ${oneLine(failure)}`
      yield* drop(sessionId, isUnaffordable ? "refused" : "expired", text)
    }
    return isUnaffordable
  })

  const round = Effect.gen(function* () {
    for (const sessionId of [...pending.keys()]) {
      const isAnswered = yield* submitOne(sessionId)
      yield* roundGoesOn
      if (isAnswered) continue
      // The next round begins with another one: this one may be the reason.
      const run = pending.get(sessionId)
      if (run !== undefined) {
        pending.delete(sessionId)
        pending.set(sessionId, run)
      }
      return
    }
  })

  for (const run of yield* files.read) yield* add(run)
  if (pending.size > 0)
    yield* Effect.logInfo(`runs of an earlier service that wait for the control plane: ${pending.size}`)
  yield* Effect.forkScoped(forever("launched-runs", round, { every: PAUSE_MS }))

  const runs: PendingRuns = {
    keep,
    fail,
    waiting: Effect.sync(() => ({
      runs: pending.size,
      since: pending.size === 0 ? undefined : Math.min(...[...pending.values()].map(({ since }) => since))
    })),
    dropped: Effect.sync(() => ({ ...dropped }))
  }
  return runs
})

/** One file a run. A failure to write one leaves the run in memory, and is logged. */
const makeFiles = Effect.fnUntraced(function* (folder: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (folder === undefined) {
    return { read: Effect.succeed([]), write: () => Effect.void, remove: () => Effect.void }
  }
  const fileOf = (sessionId: string) => path.join(folder, `${sessionId}${SUFFIX}`)

  const readOne = Effect.fnUntraced(function* (name: string) {
    const run = decodePending(yield* fs.readFileString(path.join(folder, name)))
    if (Option.isNone(run)) yield* Effect.logWarning(`${path.join(folder, name)} does not hold a run: it is ignored`)
    return Option.toArray(run)
  })

  const readOrSkip = (name: string) =>
    Effect.catch(readOne(name), ({ message }) =>
      Effect.as(Effect.logWarning(`${path.join(folder, name)} cannot be read: ${message}`), [])
    )

  const read = fs.exists(folder).pipe(
    Effect.flatMap((exists) => (exists ? fs.readDirectory(folder) : Effect.succeed([]))),
    Effect.map((names) => names.filter((name) => name.endsWith(SUFFIX)).slice(0, MOST_RUNS)),
    Effect.flatMap((names) => Effect.forEach(names, readOrSkip)),
    Effect.map((runs): ReadonlyArray<PendingRun> => runs.flat().toSorted((left, right) => left.since - right.since)),
    Effect.catch(({ message }) =>
      Effect.as(Effect.logWarning(`the waiting runs of an earlier service cannot be read: ${message}`), [])
    )
  )

  /** As a whole: a reader gets the old content or the new one. It may hold the bearer of a cancel callback. */
  const write = (sessionId: string, run: PendingRun) =>
    Effect.gen(function* () {
      yield* fs.makeDirectory(folder, { recursive: true, mode: FOLDER_MODE })
      const part = `${fileOf(sessionId)}.part`
      yield* fs.writeFileString(part, JSON.stringify(run), { mode: FILE_MODE })
      yield* fs.rename(part, fileOf(sessionId))
    }).pipe(
      Effect.catch(({ message }) =>
        Effect.logWarning(`run ${sessionId} waits in memory alone, and a restart would lose it: ${message}`)
      )
    )

  const remove = (sessionId: string) =>
    Effect.catch(fs.remove(fileOf(sessionId), { force: true }), ({ message }) =>
      Effect.logWarning(`the file of run ${sessionId} stays: ${message}`)
    )
  return { read, write, remove }
})
