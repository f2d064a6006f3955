import type { ScenarioSummary } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined, type Item } from "../Shape.ts"
import { action, type CallContext, page, ToolRefused, tool } from "../ToolSpec.ts"
import { json } from "./Decisions.ts"
import { text } from "./Inputs.ts"

const scalar = Schema.optionalKey(Schema.Json)

const scenarioRef = text("The scenario: pack/scenario@version, such as incident/region-failover@1.0.0")

/** The client of the launch service. The tools are listed only where there is one. */
export const launcherOf = ({ backend: { launcher } }: CallContext) =>
  launcher === undefined
    ? Effect.fail(
        new ToolRefused({ errorCode: "NO_LAUNCH_SERVICE", message: "the launch service has no known address" })
      )
    : Effect.succeed(launcher)

export const refOf = ({ packSlug, scenario, versions }: ScenarioSummary): string =>
  `${packSlug ?? ""}/${scenario}@${versions.at(-1) ?? ""}`

const scenariosSearch = tool({
  name: "scenarios_search",
  title: "Search scenarios",
  description:
    "The scenarios that can be launched, by words in their reference, name or tags. Not for runs of a scenario (runs_search " +
    "with q `scenario:...`).",
  access: "viewer",
  launches: true,
  input: { q: Schema.optionalKey(text("Words that must all occur, case ignored")) },
  output: { total: scalar, ...page },
  call: Effect.fnUntraced(function* (input, context) {
    const scenarios = yield* (yield* launcherOf(context)).catalog.scenarios()
    const words = (input.q ?? "")
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "")
    const found = scenarios.filter((scenario) => {
      const all = [refOf(scenario), scenario.name, scenario.summary ?? "", ...(scenario.tags ?? [])]
        .join(" ")
        .toLowerCase()
      return words.every((word) => all.includes(word))
    })
    return {
      facts: { total: found.length },
      items: found.map(
        (scenario): Item => ({
          row: defined({
            scenarioRef: refOf(scenario),
            name: scenario.name,
            templates: scenario.templates,
            agents: scenario.agentRefs.length,
            summary: scenario.summary
          })
        })
      ),
      rest: "scenario_get"
    }
  })
})

const REFERENCE = /^([^/@]+)\/([^/@]+)@([^/@]+)$/

export const scenarioFacts = Effect.fnUntraced(function* (reference: string, context: CallContext) {
  const [, packSlug = "", scenarioSlug = "", version = ""] = REFERENCE.exec(reference) ?? []
  if (version === "") {
    return yield* new ToolRefused({
      errorCode: "INVALID_SCENARIO_REF",
      message: "a reference is pack/scenario@version"
    })
  }
  const launcher = yield* launcherOf(context)
  const schema = yield* launcher.catalog.launchSchema({ params: { packSlug, scenarioSlug, version }, query: {} })
  const agents = schema.agents.map(({ agentRef, framework, role }) => ({ agentRef, framework, role }))
  return json({ ...schema, agents })
})

const scenarioGet = tool({
  name: "scenario_get",
  title: "Read the inputs of a scenario",
  description:
    "The JSON Schema of the inputs of a scenario with defaults, its participants and what it launches. Not for its past " +
    "outcomes (stability with scenarioRef).",
  access: "viewer",
  launches: true,
  input: { scenarioRef },
  output: { scenarioRef: scalar, formSchema: scalar, defaults: scalar },
  call: Effect.fnUntraced(function* (input, context) {
    return { facts: yield* scenarioFacts(input.scenarioRef, context), rest: "scenario_get" }
  })
})

const inputs = Schema.JsonObject.annotate({ description: "Inputs, as formSchema of scenario_get says" })
const templateId = Schema.optionalKey(text("Template whose inputs stand in for missing ones"))

const compiled = Effect.fnUntraced(function* (
  input: { readonly scenarioRef: string; readonly inputs: Schema.JsonObject; readonly templateId?: string },
  context: CallContext
) {
  const launcher = yield* launcherOf(context)
  const { display, mode, participantBindings, runDescriptor } = yield* launcher.launch.compile({
    payload: {
      scenarioRef: input.scenarioRef,
      inputs: input.inputs,
      ...(input.templateId !== undefined && { templateId: input.templateId })
    }
  })
  const { session } = runDescriptor
  return defined({
    scenarioRef: input.scenarioRef,
    title: display.title,
    mode,
    policy: session.policyVersion,
    ttlMs: session.ttlMs,
    participants: participantBindings.map(({ agentRef, participantId, role }) => ({ participantId, role, agentRef }))
  })
})

const scenarioCompile = tool({
  name: "scenario_compile",
  title: "Check inputs of a scenario",
  description:
    "Checks inputs against a scenario and says which session they would open. Starts nothing. Not for launching " +
    "(scenario_launch).",
  access: "operator",
  launches: true,
  input: { scenarioRef, inputs, templateId },
  output: { title: scalar, participants: scalar },
  call: Effect.fnUntraced(function* (input, context) {
    return { facts: yield* compiled(input, context), rest: "scenario_get" }
  })
})

const scenarioLaunch = action({
  name: "scenario_launch",
  title: "Launch a scenario",
  description:
    "Starts the agents of a scenario and its run, in two steps: without confirmToken it only says what it would start. " +
    "Agents may call paid models. Not for a check of inputs (scenario_compile).",
  access: "operator",
  launches: true,
  hints: { destructive: false, idempotent: false },
  input: { scenarioRef, inputs, templateId },
  output: { runId: scalar, sessionId: scalar },
  preview: Effect.fnUntraced(function* (input, context) {
    const { title, ...facts } = yield* compiled(input, context)
    return { facts: defined({ title, ...facts }), status: "none", index: 0, bindsFacts: true }
  }),
  call: Effect.fnUntraced(function* (input, context) {
    const launcher = yield* launcherOf(context)
    const { controlPlaneRun, hostedAgents, links, sessionId } = yield* launcher.launch.runExample({
      payload: {
        scenarioRef: input.scenarioRef,
        inputs: input.inputs,
        bootstrapAgents: true,
        ...(input.templateId !== undefined && { templateId: input.templateId })
      }
    })
    return {
      facts: defined({
        runId: controlPlaneRun?.runId,
        sessionId,
        status: controlPlaneRun?.status,
        agents: hostedAgents.length,
        page: links?.page
      }),
      rest: "run_get"
    }
  })
})

export const scenarioTools = [scenariosSearch, scenarioGet, scenarioCompile, scenarioLaunch]
