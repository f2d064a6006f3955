import type { ScenarioSummary } from "@runplane/api"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { withLauncher } from "../../Connection.ts"
import { printRows } from "../../Output.ts"

/** A version of a scenario as `launch` takes it: `incident/region-failover@1.0.0`. */
const references = ({ packSlug = "", scenario, versions }: ScenarioSummary) =>
  versions.map((version) => `${packSlug}/${scenario}@${version}`)

const list = Command.make(
  "list",
  { pack: Flag.String("pack").pipe(Flag.withDescription("Only of the pack with this slug"), Flag.optional) },
  ({ pack }) =>
    withLauncher(({ catalog }) =>
      Effect.gen(function* () {
        const found = yield* Option.match(pack, {
          onNone: () => catalog.scenarios(),
          onSome: (packSlug) =>
            Effect.map(catalog.packScenarios({ params: { packSlug } }), (scenarios) =>
              scenarios.map((scenario) => ({ ...scenario, packSlug }))
            )
        })
        yield* printRows(
          [
            { title: "SCENARIO", text: ({ reference }) => reference },
            { title: "TEMPLATES", text: ({ summary }) => summary.templates.join(",") },
            { title: "NAME", text: ({ summary }) => summary.name, elastic: true }
          ],
          found.flatMap((summary) => references(summary).map((reference) => ({ reference, summary }))),
          found
        )
      })
    )
).pipe(Command.withDescription("List the scenarios of the packs, a line for each version"))

/** `runplane scenarios ...` */
export const scenarios = Command.make("scenarios").pipe(
  Command.withDescription("Scenarios that the launch service can launch"),
  Command.withSubcommands([list])
)
