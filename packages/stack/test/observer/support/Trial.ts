import { randomUUID } from "node:crypto"
import { assert } from "@effect/vitest"
import { type Fault, Sandbox, SandboxFaults } from "@runplane/sandbox"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { Dice } from "./Dice.ts"
import { mixed, SINGLE, type Trouble } from "./FaultMix.ts"
import { awaitEnd, playSession, postRun } from "./PlayedSession.ts"
import { anyScript, type SessionScript, withStep } from "./SessionScript.ts"
import { assertConverged, exportOf } from "./Verdict.ts"

/** Runs under way at the same time. */
const CONCURRENCY = 24

/** What holds for all trials of a test. */
export interface Circumstances {
  /** The runtime drops the history of a session when it ends, so a late subscriber misses it. */
  readonly forgetful?: boolean
  /** Watches and connections are cut beside what the trials do. */
  readonly unrest?: boolean
}

interface Trial {
  readonly seed: number
  readonly trouble: Trouble
  readonly script: SessionScript
  readonly dice: Dice
}

/** The trial of a seed: every third has several troubles at once, the others each one in turn. */
const trialOf = (seed: number): Trial => {
  const dice = new Dice(seed)
  const single = SINGLE[seed % SINGLE.length]
  const trouble = single === undefined || seed % 3 === 0 ? mixed(dice) : single
  const script = anyScript(dice)
  return { seed, trouble, dice, script: trouble.compacts ? withStep(script, { kind: "compact" }, dice) : script }
}

const run = Effect.fnUntraced(function* ({ dice, script, trouble }: Trial, { forgetful = false }: Circumstances) {
  const plan = yield* SandboxFaults
  const sessionId = randomUUID()
  const faults = trouble.faults(sessionId, dice)
  yield* Effect.forEach(faults, plan.inject, { discard: true })
  if (script.posted === "before") yield* postRun(sessionId, script)
  const played = yield* playSession(sessionId, script)
  if (script.posted === "after") yield* postRun(sessionId, script)
  yield* awaitEnd(sessionId)
  assertConverged(played, yield* exportOf(sessionId), forgetful ? { loses: "anything" } : trouble, faults)
})

/** Faults for all sessions at once, in turn. */
const COMMON_FAULTS: ReadonlyArray<Fault | "disconnect"> = [
  { kind: "cut", stream: "lifecycle", afterFrames: 0, times: 1 },
  "disconnect",
  { kind: "refuse", stream: "lifecycle", times: 2 },
  { kind: "cut", stream: "signals", afterFrames: 0, status: "aborted", times: 1 }
]
/** Between two of them. */
const COMMON_FAULTS_EVERY = "300 millis"

/** Cuts the watches of all sessions, and now and then every connection, until it is interrupted. */
const unrest = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { inject } = yield* SandboxFaults
  for (let turn = 0; ; turn++) {
    yield* Effect.sleep(COMMON_FAULTS_EVERY)
    const next = COMMON_FAULTS[turn % COMMON_FAULTS.length]
    if (next === "disconnect") yield* sandbox.disconnect
    else if (next !== undefined) yield* inject(next)
  }
})

/** Lets the observer converge in the trials of these seeds, and says of all that fail how to make them again. */
export const assertConvergence = Effect.fnUntraced(function* (
  seeds: ReadonlyArray<number>,
  circumstances: Circumstances = {}
) {
  if (circumstances.unrest) yield* Effect.forkScoped(unrest)
  const failures = yield* Effect.forEach(
    seeds,
    (seed) => {
      const trial = trialOf(seed)
      return Effect.match(Effect.sandbox(run(trial, circumstances)), {
        onSuccess: () => [],
        onFailure: (cause) => [`${describe(trial)}\n${Cause.pretty(cause)}`]
      })
    },
    { concurrency: CONCURRENCY }
  )
  const reports = failures.flat()
  if (reports.length > 0) assert.fail(`${reports.length} of ${seeds.length} trials failed\n${reports.join("\n\n")}`)
}, Effect.scoped)

const describe = ({ script, seed, trouble }: Trial) =>
  `OBSERVER_FAULT_SEED=${seed} (${trouble.name}; ${script.mode}, ${script.ending}, posted ${script.posted})`

/**
 * The seeds to try: one alone when OBSERVER_FAULT_SEED names it, else as many as OBSERVER_FAULT_RUNS says, from
 * OBSERVER_FAULT_FIRST on.
 */
export const seedsToTry = (count: number): ReadonlyArray<number> => {
  const { OBSERVER_FAULT_FIRST: first = "1", OBSERVER_FAULT_RUNS: runs, OBSERVER_FAULT_SEED: seed } = process.env
  if (seed !== undefined) return [Number(seed)]
  return Array.from({ length: Number(runs ?? count) }, (_, index) => Number(first) + index)
}
