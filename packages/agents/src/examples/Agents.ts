import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { AgentClient } from "../client/AgentClient.ts"
import type { AgentFailure } from "../client/AgentFailure.ts"
import type { Bootstrap } from "../client/Bootstrap.ts"
import { assessImpact, assessReplication, assessSecurity } from "./Assessment.ts"
import { commander, type NotTheInitiator } from "./Commander.ts"
import { specialist } from "./Specialist.ts"

/** There is no example agent of that name. */
export class UnknownAgent extends Data.TaggedError("UnknownAgent")<{ readonly agentRef: string }> {
  override get message() {
    return `unknown agent "${this.agentRef}", known are ${Object.keys(EXAMPLE_AGENTS).join(", ")}`
  }
}

export type ExampleAgent = Effect.Effect<void, AgentFailure | NotTheInitiator, AgentClient | Bootstrap>

/** The agents of the scenario `incident/region-failover`, by agentRef. Each ends when its work in the session is done. */
export const EXAMPLE_AGENTS: Readonly<Record<string, ExampleAgent>> = {
  "replication-agent": specialist({
    agentRef: "replication-agent",
    model: { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 260 },
    assess: assessReplication
  }),
  "impact-agent": specialist({
    agentRef: "impact-agent",
    model: { model: "vendor2-3-haiku", provider: "vendor2", baseLatencyMs: 310 },
    assess: assessImpact
  }),
  "security-agent": specialist({
    agentRef: "security-agent",
    model: { model: "vendor2-3-sonnet", provider: "vendor2", baseLatencyMs: 640 },
    assess: assessSecurity
  }),
  "commander-agent": commander
}
