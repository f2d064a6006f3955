import { parseArgs } from "node:util"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { SCENARIOS, type ScenarioName } from "./Plan.ts"

export interface CommandLine {
  readonly help: boolean
  readonly scenarios: ReadonlyArray<ScenarioName>
  readonly repetitions: number
  readonly json: boolean
  readonly profiles: string | undefined
}

/** The command line has something that is not understood. */
export class UsageProblem extends Data.TaggedError("UsageProblem")<{ readonly reason: string }> {
  override get message(): string {
    return `${this.reason}; npm run bench -- --help lists what there is`
  }
}

/** Enough for a median. */
const DEFAULT_REPETITIONS = 3
const MAX_REPETITIONS = 100

export const HELP = `Measures the control plane: from the runtime's gRPC stream through the log to its event streams.

  npm run bench                            everything, ${DEFAULT_REPETITIONS} times; about five minutes
  npm run bench -- --only throughput       some of: ${SCENARIOS.join(", ")} (separated by commas)
  npm run bench -- --repeat 1              number of repetitions
  npm run bench -- --json                  one JSON document on stdout, progress on stderr
  npm run bench -- --profile FOLDER        CPU profiles of the control plane, of the last repetition, into a folder
  npm run bench -- --help                  this text
`

/** Understands the arguments after `npm run bench --`. */
export const parseCommandLine = (args: ReadonlyArray<string>): Result.Result<CommandLine, UsageProblem> =>
  Result.flatMap(
    Result.try({
      try: () =>
        parseArgs({
          args: [...args],
          options: {
            help: { type: "boolean", short: "h", default: false },
            only: { type: "string", default: SCENARIOS.join(",") },
            repeat: { type: "string", default: String(DEFAULT_REPETITIONS) },
            json: { type: "boolean", default: false },
            profile: { type: "string" }
          }
        }).values,
      catch: (error) => new UsageProblem({ reason: error instanceof Error ? error.message : String(error) })
    }),
    ({ help, json, only, profile, repeat }) => {
      const names = only.split(",").map((name) => name.trim())
      const unknown = names.find((name) => !isScenario(name))
      if (unknown !== undefined) return Result.fail(new UsageProblem({ reason: `unknown scenario "${unknown}"` }))
      const repetitions = Number(repeat)
      if (!Number.isInteger(repetitions) || repetitions < 1 || repetitions > MAX_REPETITIONS) {
        return Result.fail(new UsageProblem({ reason: `--repeat wants a number from 1 to ${MAX_REPETITIONS}` }))
      }
      return Result.succeed({ help, json, repetitions, scenarios: names.filter(isScenario), profiles: profile })
    }
  )

const isScenario = (name: string): name is ScenarioName => SCENARIOS.some((known) => known === name)
