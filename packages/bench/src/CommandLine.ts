import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { NAMED_ONLY, SCENARIOS, type ScenarioName } from "./Plan.ts"

export interface BenchOptions {
  readonly scenarios: ReadonlyArray<ScenarioName>
  readonly repetitions: number
  readonly json: boolean
  readonly profiles: string | undefined
  /** Of the loads that have one: sessions, envelopes or events; undefined for the one that the aims are set for. */
  readonly size: number | undefined
}

/** Enough for a median. */
const DEFAULT_REPETITIONS = 3
const MAX_REPETITIONS = 100
const MAX_SIZE = 1_000_000_000

const Scenarios = Schema.String.check(
  Schema.makeFilter((text: string) => {
    const unknown = namesIn(text).find((name) => !isScenario(name))
    return unknown === undefined ? undefined : `unknown scenario "${unknown}"`
  })
)

const namesIn = (text: string) => text.split(",").map((name) => name.trim())

const isScenario = (name: string): name is ScenarioName => SCENARIOS.some((known) => known === name)

/** `npm run bench`: passes the plan, the repetitions and the form of the report to `run`. */
export const benchCommand = <E, R>(run: (options: BenchOptions) => Effect.Effect<void, E, R>) =>
  Command.make(
    "npm run bench --",
    {
      only: Flag.String("only").pipe(
        Flag.withDescription(
          `Some of the scenarios, separated by commas: ${SCENARIOS.join(", ")}; only by name: ${NAMED_ONLY.join(", ")}`
        ),
        Flag.withSchema(Scenarios),
        Flag.withDefault(SCENARIOS.filter((name) => !NAMED_ONLY.includes(name)).join(","))
      ),
      repeat: Flag.Int("repeat").pipe(
        Flag.withDescription(`Number of repetitions, ${DEFAULT_REPETITIONS} unless said otherwise`),
        Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_REPETITIONS }))),
        Flag.withDefault(DEFAULT_REPETITIONS)
      ),
      json: Flag.Boolean("json").pipe(
        Flag.withDescription("One JSON document on stdout, progress on stderr"),
        Flag.withDefault(false)
      ),
      size: Flag.Int("size").pipe(
        Flag.withDescription(
          "Another size for long-run (envelopes), idle-sessions (sessions), full-log (events), decisions (runs)"
        ),
        Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_SIZE }))),
        Flag.withDefault(0)
      ),
      profile: Flag.String("profile").pipe(
        Flag.withDescription("CPU profiles of the control plane, of the last repetition, into this folder"),
        Flag.withDefault("")
      )
    },
    ({ json, only, profile, repeat, size }) =>
      run({
        json,
        repetitions: repeat,
        size: size === 0 ? undefined : size,
        scenarios: namesIn(only).filter(isScenario),
        profiles: profile === "" ? undefined : profile
      })
  ).pipe(
    Command.withDescription(
      "Measures the control plane: from the runtime's gRPC stream through the log to its event streams. " +
        "All but those that run only by name take about fifteen minutes."
    )
  )
