import type { ToolSpec } from "./ToolSpec.ts"
import { actionTools } from "./tools/Actions.ts"
import { alertTools } from "./tools/Alerts.ts"
import { decisionTools } from "./tools/Decisions.ts"
import { fleetTools } from "./tools/Fleet.ts"
import { peopleTools } from "./tools/People.ts"
import { policyTools } from "./tools/Policies.ts"
import { runTools } from "./tools/Runs.ts"
import { scenarioTools } from "./tools/Scenarios.ts"

/** All tools (docs/reference/mcp.md#tools). Nothing deletes. */
export const tools: ReadonlyArray<ToolSpec> = [
  ...runTools,
  ...decisionTools,
  ...fleetTools,
  ...alertTools,
  ...policyTools,
  ...scenarioTools,
  ...peopleTools,
  ...actionTools
]

const byName: ReadonlyMap<string, ToolSpec> = new Map(tools.map((spec) => [spec.name, spec]))

/** The tool of a name. */
export const toolNamed = (name: string): ToolSpec | undefined => byName.get(name)
