import { type BacktestLine, BacktestScope, type BacktestTruth, MAX_BACKTEST_RUNS } from "@runplane/api"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { failed, usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { jsonText } from "../../JsonText.ts"
import { plainText } from "../../narrative/PlainText.ts"
import { output, printFacts } from "../../Output.ts"
import { policyFlags, readPolicyFlags } from "./PolicyFlags.ts"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

type Flip = Extract<BacktestLine, { readonly type: "flip" }>
type Summary = Extract<BacktestLine, { readonly type: "summary" }>

/** `runplane policies backtest` */
export const backtest = Command.make(
  "backtest",
  {
    ...policyFlags,
    scenario: text("scenario", "Only runs of scenarios with this text"),
    mode: text("mode", "Only runs of this session mode"),
    tag: Flag.String("tag").pipe(Flag.withDescription("Only runs with this tag; may be repeated"), Flag.atLeast(0)),
    after: text("created-after", "Only runs created after this time"),
    before: text("created-before", "Only runs created before this time"),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription(`Most runs, the latest ones; 1 to ${MAX_BACKTEST_RUNS}`),
      Flag.withDefault(MAX_BACKTEST_RUNS)
    )
  },
  ({ after, before, limit, mode, policy, policyVersion, scenario, tag }) =>
    Effect.gen(function* () {
      const change = yield* readPolicyFlags({ policy, policyVersion })
      if (!("policy" in change) && !("policyVersion" in change)) {
        return yield* usageProblem("say which policy: --policy FILE, or --policy-version ID")
      }
      const scope = yield* Schema.decodeUnknownEffect(BacktestScope)({
        limit,
        ...(tag.length > 0 && { tags: tag }),
        ...(Option.isSome(scenario) && { scenarioRef: scenario.value }),
        ...(Option.isSome(mode) && { modeName: mode.value }),
        ...(Option.isSome(after) && { createdAfter: after.value }),
        ...(Option.isSome(before) && { createdBefore: before.value })
      }).pipe(Effect.mapError((error) => usageProblem(plainText(error.message))))
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const { format, style } = yield* output
          const flips: Array<Flip> = []
          let summary: Summary | undefined
          const take = (line: BacktestLine) => {
            if (line.type === "summary") summary = line
            if (format === "jsonl") return Console.log(jsonText(line))
            if (line.type !== "flip") return Effect.void
            if (format === "json") return Effect.sync(() => void flips.push(line))
            const change = style.dim(`${line.from} -> ${line.to}`)
            return Console.log(`${line.runId}  ${change}  ${plainText(line.reasons.join("; "))}`)
          }
          const lines = yield* api.decisions.backtest({ payload: { ...change, scope } })
          yield* Stream.runForEach(lines, take)
          if (summary === undefined) return yield* failed("the answer was cut before its end; try again")
          if (format === "json") return yield* Console.log(jsonText({ ...summary, flips }, 2))
          if (format === "text") yield* printSummary(summary)
        })
      )
    })
).pipe(Command.withDescription("Show which runs would have ended otherwise under another policy"))

const printSummary = (summary: Summary) => {
  const { byRule, examined, flipped, isLimited, policyVersion, skipped, truth, unchanged } = summary
  return printFacts(
    [
      ["Policy", policyVersion],
      ["Runs", `${examined} examined${isLimited ? ", there are more (--limit)" : ""}`],
      ["Unchanged", String(unchanged)],
      ["Otherwise", String(flipped)],
      ["By rule", countsText(byRule)],
      ["Left out", countsText(skipped)],
      ["Truth", truth && truthText(truth)]
    ],
    summary
  )
}

const truthText = ({ gained, judged, lost, right, rightUnderPolicy }: BacktestTruth) => {
  const runs = (title: string, ids: ReadonlyArray<string>) => (ids.length > 0 ? `; ${title} ${ids.join(", ")}` : "")
  const counts = `${right} of ${judged} outcomes were right, ${rightUnderPolicy} would have been`
  return `${counts}${runs("newly right:", gained)}${runs("newly wrong:", lost)}`
}

const countsText = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ")
