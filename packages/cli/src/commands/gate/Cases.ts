import type { ControlPlaneClient } from "@runplane/api"
import { caseOfRun, type GateCase, isTerminal, uniqueName } from "@runplane/domain"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { failed, usageProblem } from "../../CliFailure.ts"
import { withControlPlane } from "../../Connection.ts"
import { appendCase } from "../../gate/CaseText.ts"
import { parseGateFile, readGateText } from "../../gate/GateFiles.ts"
import { followTrial } from "../../gate/LiveTrial.ts"
import { printFacts } from "../../Output.ts"
import { parseInput } from "../common/Input.ts"

const add = Command.make(
  "add",
  {
    run: Argument.String("run").pipe(Argument.withDescription("Id of the run, or of its session")),
    expectOutcome: Flag.Boolean("expect-outcome").pipe(
      Flag.withDescription("Expect the outcome of the run"),
      Flag.withDefault(false)
    ),
    file: Flag.String("file").pipe(
      Flag.withDescription("Gate file that gets the case; it is created if it does not exist"),
      Flag.withDefault("gate.yaml")
    ),
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of the case; its scenario and the start of the id unless given"),
      Flag.optional
    ),
    input: Flag.String("input").pipe(
      Flag.withAlias("i"),
      Flag.withDescription("name=value that replaces an input of the run, or that was not recorded; may be repeated"),
      Flag.atLeast(0)
    )
  },
  ({ expectOutcome, file, input, name, run }) =>
    Effect.gen(function* () {
      const inputs = Object.fromEntries(yield* Effect.forEach(input, parseInput))
      const { found, ...outcome } = yield* withControlPlane((plane) => readRun(plane, run, expectOutcome))
      const made = caseOfRun({ metadata: found.metadata, inputs, ...outcome })
      if (Result.isFailure(made)) return yield* failed(`run ${found.id} cannot become a case: ${made.failure}`)
      const text = yield* readOrEmpty(file)
      const used = text.trim() === "" ? [] : yield* parseGateFile(text, file)
      const names = used.map((loaded) => loaded.case.name)
      if (Option.isSome(name) && names.includes(name.value)) {
        return yield* usageProblem(`${file} has a case ${name.value}; choose another --name`)
      }
      const [, scenario = "case"] = /([^/@]+)@/.exec(made.success.scenarioRef) ?? []
      const plain = Option.getOrElse(name, () => uniqueName(`${scenario} ${found.id.slice(0, 8)}`, names))
      const one: GateCase = { name: plain, ...made.success }
      const extended = yield* appendCase(text, file, one, `Run ${found.id}`)
      const fs = yield* FileSystem.FileSystem
      yield* Effect.mapError(fs.writeFileString(file, extended), ({ reason }) =>
        failed(`${file} cannot be written (${reason._tag})`)
      )
      yield* printFacts(
        [
          ["Case", one.name],
          ["File", file],
          ["Scenario", one.scenarioRef],
          ["Expects", one.expect?.action],
          ["Run it", `runplane gate ${file}`]
        ],
        { file, case: one }
      )
    })
).pipe(Command.withDescription("Make a case of a gate from a recorded run"))

/** The run, and with an expectation the trial of its events. */
const readRun = Effect.fnUntraced(function* (plane: ControlPlaneClient["Service"], id: string, expectOutcome: boolean) {
  const found = yield* plane.api.runs.get({ params: { id }, query: {} })
  if (!expectOutcome) return { found }
  if (!isTerminal(found.status)) return yield* failed(`run ${found.id} has not ended; its outcome is open`)
  const { trial } = yield* followTrial(plane, found.id)
  return { found, trial }
})

/** The text of a file; empty without the file. */
const readOrEmpty = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const isThere = yield* Effect.orElseSucceed(fs.exists(file), () => true)
  return isThere ? yield* readGateText(file) : ""
})

/** `runplane cases ...` (docs/reference/gate.md#cases-from-runs) */
export const cases = Command.make("cases").pipe(
  Command.withDescription("Cases of gates"),
  Command.withSubcommands([add])
)
