import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { MAX_DESCRIPTION } from "../src/ToolSpec.ts"
import { toolNamed, tools } from "../src/Tools.ts"

/** The tools of the specification, by role. */
const READ = [
  ...["runs_search", "run_get", "run_story", "run_events", "run_wait", "decision_explain", "decision_forecast"],
  ...["decision_what_if", "runs_compare", "stability", "cost_summary", "fleet_tail", "policies_list", "policy_get"],
  ...["policy_backtest", "scenarios_search", "scenario_get", "seal_verify", "health", "alerts_list"],
  ...["inbox_list", "inbox_show"]
]
const ACT = [
  "scenario_compile",
  "scenario_launch",
  "run_suspend",
  "run_resume",
  "run_cancel",
  "mark_add",
  "alert_acknowledge"
]

const named = (access: string) => tools.filter((spec) => spec.access === access).map(({ name }) => name)

// docs/reference/mcp.md#tools
describe("the tools", () => {
  it("are these for each role", () => {
    assert.sameMembers(named("viewer"), READ)
    assert.sameMembers(named("operator"), ACT)
    assert.sameMembers(named("admin"), ["policy_register"])
    assert.lengthOf(new Set(tools.map(({ name }) => name)), tools.length)
  })

  it("say in few words when not to use them", () => {
    for (const { description, name } of tools) {
      assert.isAtMost(description.length, MAX_DESCRIPTION, name)
      assert.match(description, /\b(not|Not|never)\b/, name)
    }
  })

  it("demand a confirmation where they stop or start something, and hint at nothing that deletes", () => {
    const confirmed = tools.filter(({ preview }) => preview !== undefined).map(({ name }) => name)
    assert.sameMembers(confirmed, ["scenario_launch", "run_suspend", "run_resume", "run_cancel", "policy_register"])
    assert.sameMembers(
      tools.filter(({ hints }) => hints?.destructive === true).map(({ name }) => name),
      ["run_cancel"]
    )
    assert.isUndefined(toolNamed("run_delete"))
  })

  it("take numbers that JSON can write", () => {
    for (const { input, name, output } of tools) {
      const text = JSON.stringify([Schema.toJsonSchemaDocument(input), Schema.toJsonSchemaDocument(output)])
      assert.notMatch(text, /Infinity|NaN/, name)
    }
  })
})
