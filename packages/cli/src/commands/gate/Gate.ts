import {
  baselineFault,
  expectedSide,
  GateBaseline,
  impossibleDemand,
  isOtherScenario,
  shadowPlanText
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CliFailure, EXIT_CODES, failed, usageProblem } from "../../CliFailure.ts"
import { withServices } from "../../Connection.ts"
import { expectedCosts, planText } from "../../gate/ExpectedCost.ts"
import { type LoadedCase, readGateFile } from "../../gate/GateFiles.ts"
import {
  baselineOfProgress,
  exitCodeOfReport,
  type GateEnd,
  recordFault,
  reportLines,
  reportOf
} from "../../gate/GateReport.ts"
import { emptyProgress, type GateShadow, runGate } from "../../gate/GateRunner.ts"
import { annotations, commentMarkdown, summaryMarkdown } from "../../gate/GitHub.ts"
import { junitXml } from "../../gate/JUnit.ts"
import { liveTrials, lossOf, probeOf, requireServices } from "../../gate/LiveTrial.ts"
import { jsonText } from "../../JsonText.ts"
import { output, printedAsJson } from "../../Output.ts"
import { readJson } from "../common/Input.ts"

const fileFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

const durationOf = (name: string, text: string) => {
  const [, count = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? []
  const ms = UNIT_MS[unit]
  return ms === undefined
    ? Effect.fail(usageProblem(`--${name} ${text} is not a duration: 90s, 15m or 1h`))
    : Effect.succeed(Number(count) * ms)
}

/** `runplane gate cases.yaml` (docs/reference/gate.md) */
export const gate = Command.make(
  "gate",
  {
    files: Argument.String("file").pipe(Argument.withDescription("A file with cases, as YAML"), Argument.atLeast(1)),
    runs: Flag.Int("runs").pipe(Flag.withDescription("Runs of each case at its first look"), Flag.withDefault(20)),
    maxRuns: Flag.Int("max-runs").pipe(
      Flag.withDescription("Most runs of a case, at most four times --runs, which is the default"),
      Flag.optional
    ),
    concurrency: Flag.Int("concurrency").pipe(Flag.withDescription("Runs at a time"), Flag.withDefault(4)),
    maxCost: Flag.Finite("max-cost").pipe(Flag.withDescription("US dollars of all runs together"), Flag.optional),
    timeout: Flag.String("timeout").pipe(
      Flag.withDescription("Time of the whole gate: 90s, 15m or 1h"),
      Flag.withDefault("15m")
    ),
    marksWait: Flag.String("marks-wait").pipe(
      Flag.withDescription("Time for marks after the runs of a look: 60s, 5m"),
      Flag.withDefault("60s")
    ),
    baseline: fileFlag("baseline", "Compare with the runs of this file"),
    record: fileFlag("record", "Write the runs to this file, as a baseline"),
    junit: fileFlag("junit", "Write the report as JUnit XML to this file"),
    comment: fileFlag("comment", "Write the report as Markdown for a pull or merge request to this file"),
    shadow: Flag.String("shadow").pipe(
      Flag.withDescription(
        "Compare the votes of a shadow of the scenarios with those of its participant: risk-officer~new-agent"
      ),
      Flag.optional
    ),
    github: Flag.Boolean("github").pipe(
      Flag.withDescription("Also print annotations of GitHub, and append to GITHUB_STEP_SUMMARY"),
      Flag.withDefault(false)
    ),
    strict: Flag.Boolean("strict").pipe(
      Flag.withDescription("End with 6 when the verdict is inconclusive"),
      Flag.withDefault(false)
    )
  },
  (flags) =>
    Effect.gen(function* () {
      const { concurrency, runs } = flags
      if (runs < 1 || concurrency < 1) return yield* usageProblem("--runs and --concurrency are at least 1")
      const plan = { runs, maxRuns: Option.getOrElse(flags.maxRuns, () => 4 * runs) }
      const timeout = yield* durationOf("timeout", flags.timeout)
      const marksWait = yield* durationOf("marks-wait", flags.marksWait)
      const baseline = Option.isSome(flags.baseline) ? yield* readBaseline(flags.baseline.value) : undefined
      const cases = (yield* Effect.forEach(flags.files, readGateFile)).flat()
      yield* requirePossible(cases, plan)
      const shadowName = Option.getOrUndefined(flags.shadow)
      if (shadowName !== undefined) yield* requireSides(cases)
      if (baseline !== undefined) yield* requireSameScenarios(cases, baseline)
      const maxCostUsd = Option.getOrUndefined(flags.maxCost)
      const { format, style } = yield* output
      const gateId = (yield* (yield* SecureRandom.SecureRandom).uuidV4()).slice(0, 8)
      const progress = emptyProgress(cases)
      const shadow: GateShadow | undefined =
        shadowName === undefined
          ? undefined
          : {
              name: shadowName,
              onHalf: (loaded, pairs) => Console.error(`${loaded.case.name}: ${shadowPlanText(pairs, plan)}`)
            }
      let page: string | undefined

      const print = Effect.fnUntraced(function* (end: GateEnd | undefined) {
        const report = reportOf(gateId, progress, { ...plan, shadow }, { baseline, end, maxCostUsd, page })
        if (!(yield* printedAsJson(report))) yield* Console.log(reportLines(report, style).join("\n"))
        if (flags.github) {
          // A JSON document has standard output for itself.
          const show = format === "text" ? Console.log : Console.error
          yield* Effect.forEach(annotations(report), (line) => show(line), { discard: true })
          const summary = process.env["GITHUB_STEP_SUMMARY"]
          if (summary) yield* write(summary, summaryMarkdown(report), "a")
        }
        if (Option.isSome(flags.comment)) yield* write(flags.comment.value, commentMarkdown(report), "w")
        if (Option.isSome(flags.junit)) yield* write(flags.junit.value, junitXml(report), "w")
        return report
      })

      const ended = yield* withServices((services) =>
        Effect.gen(function* () {
          yield* requireServices(services)
          page = `${services.consoleUrl}/gates/${gateId}`
          const costs = yield* expectedCosts(services.plane, cases, baseline)
          if (format === "text") yield* Console.error(`gate ${gateId}: ${planText(cases, plan, costs)}, ${page}`)
          const expectedUsd = (one: LoadedCase) => costs.get(one.case.name) ?? 0
          const limits = { ...plan, shadow, concurrency, maxCostUsd, marksWait, expectedUsd, baseline }
          return yield* runGate(progress, limits, liveTrials(gateId, services, shadowName)).pipe(
            Effect.raceFirst(lossOf(probeOf(services))),
            Effect.timeoutOption(timeout)
          )
        })
      ).pipe(
        // Before the page is known, no run was launched.
        Effect.tapError(({ code }) =>
          code === EXIT_CODES.unreachable && page !== undefined ? print("unreachable") : Effect.void
        ),
        Effect.onInterrupt(() =>
          Effect.andThen(
            Effect.sync(() => {
              process.exitCode = EXIT_CODES.failed
            }),
            Effect.ignore(print("interrupted"))
          )
        )
      )
      const end = Option.isNone(ended) ? "timeout" : progress.isOutOfBudget ? "budget" : undefined
      const report = yield* print(end)
      const unrecorded = Option.isSome(flags.record) ? recordFault(report, plan) : undefined
      if (Option.isSome(flags.record) && unrecorded === undefined) {
        const recordedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
        yield* write(flags.record.value, jsonText(baselineOfProgress(progress, plan, recordedAt), 2), "w")
      }
      if (report.verdict === "inconclusive")
        yield* Console.error(
          `the gate is inconclusive; ${end === "timeout" ? "--timeout allows more time" : "--max-runs allows more runs"}`
        )
      if (Option.isSome(flags.record) && unrecorded !== undefined)
        yield* Console.error(`runplane: ${flags.record.value} is not written: ${unrecorded}`)
      const verdict = exitCodeOfReport(report, flags.strict)
      const code = verdict === EXIT_CODES.ok && unrecorded !== undefined ? EXIT_CODES.unmeasured : verdict
      // The report says why.
      if (code !== EXIT_CODES.ok) return yield* new CliFailure({ reason: "", code })
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
).pipe(Command.withDescription("Run scenarios until it is clear whether they decide as demanded"))

const requirePossible = (
  cases: ReadonlyArray<LoadedCase>,
  plan: { readonly runs: number; readonly maxRuns: number }
) => {
  const faults = cases.flatMap(({ case: { expect = {}, name } }) => {
    const fault = impossibleDemand(expect, plan)
    return fault === undefined ? [] : [`${name}: ${fault}`]
  })
  return faults.length === 0
    ? Effect.void
    : Effect.fail(usageProblem(`${faults.join("; ")}; raise --runs or --max-runs`))
}

/** A vote is right or wrong only where the case says which outcome is. */
const requireSides = (cases: ReadonlyArray<LoadedCase>) => {
  const without = cases.flatMap(({ case: { expect = {}, name } }) => (expectedSide(expect) === undefined ? [name] : []))
  return without.length === 0
    ? Effect.void
    : Effect.fail(usageProblem(`--shadow needs expect.positive, true or false, of each case: ${without.join(", ")}`))
}

const requireSameScenarios = (cases: ReadonlyArray<LoadedCase>, baseline: GateBaseline) => {
  const other = cases.flatMap(({ case: { name, scenarioRef } }) => {
    const before = baseline.cases[name]
    return before !== undefined && isOtherScenario(scenarioRef, before)
      ? [`${name} is a case of ${scenarioRef}, in the baseline of ${before.scenarioRef}`]
      : []
  })
  return other.length === 0 ? Effect.void : Effect.fail(usageProblem(`${other.join("; ")}; record the baseline anew`))
}

const readBaseline = Effect.fnUntraced(function* (file: string) {
  const baseline = yield* Schema.decodeUnknownEffect(GateBaseline)(yield* readJson(file)).pipe(
    Effect.mapError(() => usageProblem(`${file} is not a baseline; --record writes one`))
  )
  const fault = baselineFault(baseline)
  if (fault !== undefined) return yield* usageProblem(`${file}: ${fault}; record it anew`)
  return baseline
})

const write = Effect.fnUntraced(function* (file: string, text: string, flag: "a" | "w") {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.writeFileString(file, text, { flag }), ({ reason }) =>
    failed(`${file} cannot be written (${reason._tag})`)
  )
})
