import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { timedRequest } from "../client/TimedRequest.ts"
import type { Figure, Outcome } from "../Figures.ts"
import { inFreshSurroundings, withControlPlane } from "../FreshWorld.ts"
import { within } from "../Measurement.ts"
import type { DecisionsLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { copyRun } from "../reads/BigDatabase.ts"
import { WrongAnswer } from "../reads/HttpLoad.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { spreadOf } from "../Statistics.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./Fleet.ts"

/** One kind of request, sent several times. */
export interface AnswerFound {
  readonly name: string
  /** Milliseconds: the median, and the longest that a probe of the same process waited at that time. */
  readonly millis: number
  readonly blocked: number
  /** Most MiB by which the process grew. */
  readonly grown: number
}

export interface DecisionsFound {
  readonly load: DecisionsLoad
  readonly examined: number
  readonly flipped: number
  /** Seconds of the backtest of all runs. */
  readonly seconds: number
  /** MiB by which the largest resident set of all runs exceeds that of a tenth of them. */
  readonly grown: number
  /** The longest that a probe waited at that time. Milliseconds. */
  readonly blocked: number
  readonly answers: ReadonlyArray<AnswerFound>
}

const BYTES_PER_MIB = 1024 * 1024
const MILLIS_PER_SECOND = 1_000
/** Requests of each kind; the first is not counted. */
const REPEATS = 5
/** Envelopes of the run that is copied: one proposal, everything said about it, and the commitment. */
const COPIED_ENVELOPES = 24
/** Rounds of requests about a short run before the measurement. */
const WARM_UPS = 50
const PROBE_EVERY = Duration.millis(5)
const TIMEOUT = Duration.minutes(10)
const DAYS = 30

/** No evaluation is as sure as that: every run flips. */
const policy = { rules: { evaluation: { required_before_voting: true, minimum_confidence: 1 } } }

const Summary = Schema.fromJsonString(
  Schema.Struct({ type: Schema.Literal("summary"), examined: Schema.Int, flipped: Schema.Int })
)

/** Tries a policy on many runs, and reads the decisions of two long ones, in a process that did not write them. */
export const decisions = Effect.fn("Decisions.measure")(
  function* (load: DecisionsLoad) {
    const long = yield* Effect.scoped(withControlPlane(written(load)))
    const backtest = yield* Effect.scoped(withControlPlane(tried(load)))
    const answers = yield* Effect.scoped(withControlPlane(answersOf(long)))
    const found: DecisionsFound = { load, ...backtest, answers }
    return found
  },
  (effect) => inFreshSurroundings(effect)
)

/** Writes a run and its copies, and two long ones that differ in nothing but their end. */
const written = Effect.fnUntraced(function* ({ longEnvelopes, runs }: DecisionsLoad) {
  const template = yield* decidedRun(COPIED_ENVELOPES)
  yield* copyRun(template, { runs: runs - 1, days: DAYS })
  return { short: template, left: yield* decidedRun(longEnvelopes), right: yield* openRun(longEnvelopes) }
})

const decidedRun = (envelopes: number) => finishedRun(envelopes, true)
const openRun = (envelopes: number) => finishedRun(envelopes, false)

const finishedRun = Effect.fnUntraced(function* (envelopes: number, isDecided: boolean) {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(1, envelopes)
  yield* runtime.run({ _tag: "Release", sessions: fleet.sessions })
  if (isDecided) yield* runtime.run({ _tag: "Commit", sessions: fleet.sessions })
  yield* awaitEnvelopes(fleet, envelopes + (isDecided ? 1 : 0))
  yield* closeFleet(fleet)
  return fleet.runIds[0] ?? ""
})

const tried = Effect.fnUntraced(function* ({ runs }: DecisionsLoad) {
  const { usage } = yield* ControlPlaneProcess
  const backtest = (limit: number) =>
    within("the backtest", timedRequest("/policies/backtest", { policy, scope: { limit } }), TIMEOUT)
  const part = Math.max(1, Math.ceil(runs / 10))
  for (let round = 0; round < 3; round++) yield* backtest(part)
  const before = yield* usage
  const { blocked, value } = yield* probed(backtest(runs))
  const after = yield* usage
  const last = value.text.trimEnd().split("\n").at(-1) ?? ""
  const { examined, flipped } = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Summary)(last),
    ({ message }) => new WrongAnswer({ reason: message })
  )
  return {
    examined,
    flipped,
    seconds: value.millis / MILLIS_PER_SECOND,
    grown: (after.peakBytes - before.peakBytes) / BYTES_PER_MIB,
    blocked
  }
})

interface Written {
  readonly short: string
  readonly left: string
  readonly right: string
}

const requestsFor = (left: string, right: string) =>
  [
    ["divergence", timedRequest(`/runs/${left}/divergence?with=${right}`)],
    ["compare", timedRequest("/runs/compare", { leftRunId: left, rightRunId: right })],
    ["forecast", timedRequest(`/runs/${right}/forecast`)],
    ["why", timedRequest(`/runs/${left}/decision/why`)],
    ["what-if", timedRequest(`/runs/${left}/what-if`, { policy })]
  ] as const

const answersOf = Effect.fnUntraced(function* ({ left, right, short }: Written) {
  const { usage } = yield* ControlPlaneProcess
  // The memory of the first answers is not that of a long run.
  for (let round = 0; round < WARM_UPS; round++) {
    for (const [, request] of requestsFor(short, short)) yield* request
  }
  const before = yield* usage
  return yield* Effect.forEach(requestsFor(left, right), ([name, request]) =>
    Effect.gen(function* () {
      yield* request
      const { blocked, value } = yield* probed(Effect.forEach(Array.from({ length: REPEATS }), () => request))
      const { peakBytes } = yield* usage
      const found: AnswerFound = {
        name,
        millis: spreadOf(value.map(({ millis }) => millis)).p50,
        blocked,
        grown: (peakBytes - before.residentBytes) / BYTES_PER_MIB
      }
      return found
    })
  )
})

/** Probes the process again and again while the effect runs. */
const probed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let blocked = 0
  const probe = Effect.tap(timedRequest("/livez"), ({ millis }) =>
    Effect.sync(() => {
      blocked = Math.max(blocked, millis)
    })
  )
  const probing = yield* Effect.forkChild(Effect.forever(Effect.andThen(probe, Effect.sleep(PROBE_EVERY))))
  const value = yield* effect
  yield* Fiber.interrupt(probing)
  return { value, blocked }
})

export const decisionsOutcome = ({
  answers,
  examined,
  flipped,
  grown,
  blocked,
  load,
  seconds
}: DecisionsFound): Outcome => {
  const { aims, longEnvelopes } = load
  const scenario = `decisions of ${number(load.runs)} runs, and of two of ${number(longEnvelopes)} envelopes`
  const line =
    `${scenario}: backtest of ${number(examined)} in ${number(seconds)} s, ${number(flipped)} flip, ` +
    `peak ${number(grown)} MiB above that of a tenth, probe blocked ${number(blocked)} ms; ` +
    answers
      .map(
        (one) => `${one.name} ${number(one.millis)} ms, blocked ${number(one.blocked)} ms, + ${number(one.grown)} MiB`
      )
      .join("; ")
  const aim = (value: number | undefined) => (value === undefined ? {} : { aim: value })
  const ofAnswers = answers.flatMap(({ blocked, millis, name, grown }): ReadonlyArray<Figure> => {
    const isAimed = name === "divergence" || name === "compare"
    return [
      { name, value: millis, unit: "ms", better: "less", ...(isAimed && aim(aims?.answer)) },
      { name: `${name}, probe blocked`, value: blocked, unit: "ms", better: "less", ...aim(aims?.blocked) },
      { name: `${name}, memory`, value: grown, unit: "MiB", better: "less", ...(isAimed && aim(aims?.memory)) }
    ]
  })
  return {
    scenario,
    line,
    figures: [
      { name: "backtest", value: seconds, unit: "s", better: "less", ...aim(aims?.backtest) },
      { name: "backtest, memory", value: grown, unit: "MiB", better: "less", ...aim(aims?.growth) },
      { name: "backtest, probe blocked", value: blocked, unit: "ms", better: "less", ...aim(aims?.blocked) },
      ...ofAnswers
    ]
  }
}
