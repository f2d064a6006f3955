import type { Run, StabilityAnswer } from "@runplane/api"
import { isTerminal, type ShareInterval, wilson } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { outcomeWords } from "../decision/OutcomeWords.ts"
import { counted, percent } from "../format/Format.ts"
import { queryValue } from "../query/QueryCompletion.ts"
import { gateIdOf } from "./GateLinks.ts"

const optional = Schema.optionalKey

/** `metadata.gate` of a run (docs/reference/gate.md#files). */
const GateMetadata = Schema.Struct({
  gate: Schema.Struct({
    case: Schema.String,
    seed: optional(Schema.Union([Schema.String, Schema.Number])),
    variant: optional(Schema.String)
  })
})
const readMetadata = Schema.decodeUnknownOption(GateMetadata)

/** How many runs of a gate or a case ended. */
export interface Progress {
  readonly total: number
  readonly ended: number
}

const progressOf = (runs: ReadonlyArray<Run>): Progress => ({
  total: runs.length,
  ended: runs.filter(({ status }) => isTerminal(status)).length
})

/** `20 runs`, or `17 of 20 runs ended`. */
export const progressText = ({ ended, total }: Progress): string =>
  ended === total ? counted(total, "run") : `${ended} of ${counted(total, "run")} ended`

/** A run of a gate, with its parameters. */
export interface GateRun {
  readonly run: Run
  readonly seed: string | undefined
  readonly variant: string | undefined
}

/** The runs of a case of a gate, the first first. */
export interface GateCaseRuns extends Progress {
  readonly name: string
  readonly runs: ReadonlyArray<GateRun>
  readonly hasVariants: boolean
}

/** The cases of a gate in the order of their first runs. */
export const casesOf = (runs: ReadonlyArray<Run>): ReadonlyArray<GateCaseRuns> => {
  const found = runs
    .flatMap((run) =>
      Option.match(readMetadata(run.metadata), {
        onNone: () => [],
        onSome: ({ gate }) => [{ run, name: gate.case, seed: gate.seed?.toString(), variant: gate.variant }]
      })
    )
    .sort((left, right) => (left.run.createdAt < right.run.createdAt ? -1 : 1))
  return [...Map.groupBy(found, ({ name }) => name)].map(([name, group]) => ({
    name,
    ...progressOf(group.map(({ run }) => run)),
    runs: group.map(({ run, seed, variant }) => ({ run, seed, variant })),
    hasVariants: group.some(({ variant }) => variant !== undefined)
  }))
}

/** A gate in the list of recent ones. */
export interface RecentGate extends Progress {
  readonly id: string
  readonly cases: ReadonlyArray<string>
  /** When its first listed run was created. */
  readonly at: string
  /** Its oldest runs are beyond the list. */
  readonly isCut: boolean
}

/** The gates of the newest runs, the newest first; the last one may lack runs when `isCut`. */
export const recentGates = (newest: ReadonlyArray<Run>, isCut: boolean): ReadonlyArray<RecentGate> => {
  const groups = [...Map.groupBy(newest, (run) => gateIdOf(run) ?? "")].filter(([id]) => id !== "")
  return groups.map(([id, runs], nth) => ({
    id,
    ...progressOf(runs),
    cases: casesOf(runs).map(({ name }) => name),
    at: runs.at(-1)?.createdAt ?? "",
    isCut: isCut && nth === groups.length - 1
  }))
}

/** The properties that the page of stability groups by, and their titles. */
export const GROUPINGS = {
  day: "Day",
  week: "Week",
  model: "Model",
  promptHash: "Prompt",
  policyVersion: "Policy",
  template: "Template",
  source: "Source",
  variant: "Variant",
  scenario: "Scenario"
} as const
export type Grouping = keyof typeof GROUPINGS

export type StabilityFigures = Pick<
  StabilityAnswer,
  "n" | "excluded" | "outcomes" | "agreement" | "mindChanges" | "cost" | "durationMs"
>
export type StabilityRow = StabilityFigures & { readonly value: string }

/** The groups of an answer with the value of their property. */
export const groupRows = ({ by = [] }: StabilityAnswer, grouping: Grouping): ReadonlyArray<StabilityRow> =>
  by.map((group) => ({ ...group, value: group[grouping] ?? "" }))

const DAY_MS = 86_400_000
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** The search for the runs of a group; undefined where no field of the search has the property. */
export const groupSearch = (q: string, grouping: Grouping, value: string): string | undefined => {
  const condition = conditionOf(grouping, value)
  if (condition === undefined) return undefined
  return q.trim() === "" ? condition : `(${q}) ${condition}`
}

const conditionOf = (grouping: Grouping, value: string): string | undefined => {
  switch (grouping) {
    case "day":
    case "week": {
      const from = Date.parse(value)
      const days = grouping === "day" ? 1 : 7
      return Number.isNaN(from) ? undefined : `createdAt:>=${value} createdAt:<${dateOf(from + days * DAY_MS)}`
    }
    case "policyVersion":
      return fieldOf("policyVersion", value)
    case "promptHash":
      return fieldOf("metadata.promptHash", value)
    case "template":
      return fieldOf("metadata.templateId", value)
    case "variant":
      return fieldOf("metadata.gate.variant", value)
    case "scenario":
      return fieldOf("scenario", value)
    case "model":
    case "source":
      return undefined
  }
}

const fieldOf = (field: string, value: string): string =>
  value === "" ? `-has:${field}` : `${field}:${queryValue(value)}`

/** An outcome, its share and the 95 % interval of its share. */
export interface OutcomeBar extends ShareInterval {
  readonly text: string
  /** `17 of 20 runs, 85 %`. */
  readonly countText: string
  /** `95 % interval 64 % to 95 %`. */
  readonly intervalText: string
  readonly positive: boolean | null
}

export const outcomeBars = ({ n, outcomes }: Pick<StabilityAnswer, "n" | "outcomes">): ReadonlyArray<OutcomeBar> =>
  outcomes.map((outcome) => {
    const { count, positive } = outcome
    const interval = wilson(count, n)
    return {
      ...interval,
      text: outcomeWords(outcome),
      countText: `${count} of ${counted(n, "run")}, ${percent(interval.rate)}`,
      intervalText: intervalText(interval),
      positive
    }
  })

export const intervalText = ({ high, low }: Pick<ShareInterval, "high" | "low">): string =>
  `95 % interval ${percent(low)} to ${percent(high)}`

/** `2 failed, 1 cancelled`; empty when all runs count. */
export const excludedText = ({ byReason }: StabilityAnswer["excluded"]): string =>
  Object.entries(byReason)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(", ")
