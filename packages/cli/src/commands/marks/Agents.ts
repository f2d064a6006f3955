import type { AgentVoteRecord } from "@runplane/api"
import { costText, percentText, RECORD_GROUPS, type RecordGroup, usdText } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withControlPlane } from "../../Connection.ts"
import { printedAsJson, printFacts, printRows } from "../../Output.ts"
import type { Column } from "../../Table.ts"
import { timeOf } from "../common/Since.ts"

const DEFAULT_RUNS = 1_000

/** `runplane agents record` */
const record = Command.make(
  "record",
  {
    agent: Argument.String("agent").pipe(Argument.withDescription("Participant id of the agent")),
    since: Flag.String("since").pipe(
      Flag.withDescription("Only runs created since this time: 30d, 12h, or a date"),
      Flag.optional
    ),
    by: Flag.Literals("by", RECORD_GROUPS).pipe(
      Flag.withDescription("Also the record of each prompt, model, policy version or week"),
      Flag.optional
    ),
    query: Flag.String("query").pipe(Flag.withDescription("Only runs that this search finds"), Flag.optional),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("Most runs, the latest ones; 1 to 10000"),
      Flag.withDefault(DEFAULT_RUNS)
    )
  },
  ({ agent, by, limit, query, since }) =>
    Effect.gen(function* () {
      const from = Option.isSome(since) ? { since: yield* timeOf(since.value) } : {}
      yield* withControlPlane(({ api }) =>
        Effect.gen(function* () {
          const found = yield* api.markReports.record({
            params: { participantId: agent },
            query: {
              limit,
              ...from,
              ...(Option.isSome(query) && { q: query.value }),
              ...(Option.isSome(by) && { by: by.value })
            }
          })
          if (yield* printedAsJson(found)) return
          if (found.summary !== undefined) yield* Console.log(`${found.summary}\n`)
          yield* printFacts(factsOf(found), found)
          if (found.by !== undefined && Option.isSome(by)) {
            yield* Console.log("")
            yield* printRows(groupColumns(by.value), found.by)
            const { olderGroups = 0 } = found
            if (olderGroups > 0) yield* Console.log(`and ${olderGroups} runs of older ones`)
          }
          if (found.reliability.length > 0) yield* Console.log(["", ...curveLines(found.reliability)].join("\n"))
        })
      )
    })
).pipe(Command.withDescription("Show how often the votes of an agent were right"))

export const agents = Command.make("agents").pipe(
  Command.withDescription("Show the records of agents"),
  Command.withSubcommands([record])
)

type Group = NonNullable<AgentVoteRecord["by"]>[number]

const GROUP_TITLES = { prompt: "PROMPT", model: "MODEL", policyVersion: "POLICY", week: "WEEK" } as const

const groupColumns = (by: RecordGroup): ReadonlyArray<Column<Group>> => [
  { title: GROUP_TITLES[by], text: ({ name }) => name ?? "not recorded" },
  { title: "VOTES", text: ({ runs }) => String(runs) },
  {
    title: "RIGHT",
    text: ({ judged, right, rightInterval, rightShare }) =>
      rightShare === undefined || rightInterval === undefined
        ? "none judged"
        : `${right} of ${judged}, ${percentText(rightShare)} (${percentText(rightInterval.low)} to ${percentText(rightInterval.high)})`
  },
  {
    title: "CONFIDENCE",
    text: ({ confidence }) =>
      confidence === undefined
        ? ""
        : `states ${percentText(confidence.mean)} of ${confidence.n}, right ${percentText(confidence.right)}`
  }
]

const factsOf = (found: AgentVoteRecord): ReadonlyArray<readonly [string, string | undefined]> => {
  const { brier, costPerRightUsd, examined, judged, right, rightInterval, rightShare, runs } = found
  const isGuessed = found.guessedCostUsd > 0
  return [
    ["Agent", found.participantId],
    ["Runs", `${runs} with its vote, of ${examined} read${found.truncated ? ", there are more (--limit)" : ""}`],
    ["With outcome", `${found.withOutcome} of ${runs}`],
    [
      "Right",
      rightShare === undefined || rightInterval === undefined
        ? "unknown: no decision has a mark `correct`"
        : `${right} of ${judged}, ${percentText(rightShare)} (${percentText(rightInterval.low)} to ${percentText(rightInterval.high)})`
    ],
    [
      "Against most",
      found.againstMajority > 0 ? `right in ${found.rightAgainstMajority} of ${found.againstMajority}` : undefined
    ],
    ["Pivotal", `${found.pivotal} votes`],
    ["Brier score", brier && `${brier.score.toFixed(3)} of ${brier.n} confidences; 0 is best, 0.25 is a coin`],
    ["Cost", costText(found.costUsd, isGuessed ? found.guessedCostUsd : 0)],
    ["Per right vote", costPerRightUsd === undefined ? undefined : usdText(costPerRightUsd, 4)]
  ]
}

/** Characters of a full bar. */
const BAR = 40

/**
 * The reliability curve: the share of right votes in each bin of confidences as a bar, and the mean confidence as the
 * line that the bar of a calibrated agent ends at.
 */
export const curveLines = (bins: AgentVoteRecord["reliability"]): ReadonlyArray<string> => [
  "  CONFIDENCE   RIGHT (# share, | stated)                     VOTES",
  ...bins.map(({ confidence, high, low, n, right }) => {
    const stated = Math.min(BAR - 1, Math.round(confidence * BAR))
    const bar = Array.from({ length: BAR }, (_, at) => (at === stated ? "|" : at < Math.round(right * BAR) ? "#" : "."))
    const range = `${low.toFixed(1)} - ${high.toFixed(1)}`
    return `  ${range.padEnd(11)}  ${bar.join("")} ${percentText(right).padStart(5)}  ${n}`
  })
]
