import type { LaunchSchema, ScenarioSummary } from "@runplane/api"
import { DEFAULT_POLICY_ID } from "@runplane/domain"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { usageProblem } from "../../CliFailure.ts"
import { withLauncher } from "../../Connection.ts"
import { output, printedAsJson, printFacts, printRows } from "../../Output.ts"
import { briefly } from "../../Table.ts"
import { inputColumns, inputRows } from "./InputRows.ts"

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

const REFERENCE = /^([^/@]+)\/([^/@]+)@([^/@]+)$/

const show = Command.make(
  "show",
  {
    reference: Argument.String("scenario").pipe(
      Argument.withDescription("Reference of the scenario, such as incident/region-failover@1.0.0")
    ),
    template: Flag.String("template").pipe(Flag.withDescription("With the defaults of this template"), Flag.optional)
  },
  ({ reference, template }) =>
    Effect.gen(function* () {
      yield* output
      const [, packSlug = "", scenarioSlug = "", version = ""] = REFERENCE.exec(reference) ?? []
      if (version === "") {
        return yield* usageProblem(
          `"${reference}" is not a reference such as incident/region-failover@1.0.0; runplane scenarios list shows them`
        )
      }
      yield* withLauncher(({ catalog }) =>
        Effect.gen(function* () {
          const launch = yield* catalog.launchSchema({
            params: { packSlug, scenarioSlug, version },
            query: Option.match(template, { onNone: () => ({}), onSome: (slug) => ({ template: slug }) })
          })
          if (yield* printedAsJson(launch)) return
          const { launchSummary, participants } = launch
          yield* printFacts(
            [
              ["Scenario", launch.scenarioRef],
              ["Template", launch.templateId],
              ["Mode", `${launchSummary.modeName} ${launchSummary.modeVersion}`],
              ["Policy", policyText(launchSummary)],
              ["Decisions", launch.expectedDecisionKinds?.join(", ")],
              ["Session", `${briefly(launchSummary.ttlMs)} at most`],
              ["Initiator", launchSummary.initiatorParticipantId]
            ],
            launch
          )
          yield* Console.log("")
          yield* printRows(
            [
              { title: "PARTICIPANT", text: ({ id }) => id },
              { title: "ROLE", text: ({ role }) => role },
              { title: "AGENT", text: ({ agentRef }) => agentRef, elastic: true }
            ],
            participants
          )
          const inputs = inputRows(launch.formSchema, launch.defaults)
          yield* Console.log("")
          if (inputs.length === 0) return yield* Console.log("It has no inputs.")
          yield* printRows(inputColumns(inputs), inputs)
        })
      )
    })
).pipe(Command.withDescription("Show a scenario: its policy, its participants, and its inputs with their limits"))

/** The policy and what the pack says about it. */
const policyText = ({ policyHints, policyVersion }: LaunchSchema["launchSummary"]): string => {
  const { description, type } = policyHints ?? {}
  const hints = [type, description].filter(Predicate.isString)
  return `${policyVersion ?? DEFAULT_POLICY_ID}${hints.length === 0 ? "" : ` (${hints.join(": ")})`}`
}

/** `runplane scenarios ...` */
export const scenarios = Command.make("scenarios").pipe(
  Command.withDescription("Scenarios that the launch service can launch"),
  Command.withSubcommands([list, show])
)
