import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { AgentClient } from "../client/AgentClient.ts"
import type { AgentFailure } from "../client/AgentFailure.ts"
import { Bootstrap } from "../client/Bootstrap.ts"
import { type CallbackUnavailable, cancelRequested } from "../client/CancelCallback.ts"
import { assessImpact, assessReplication, assessSecurity } from "./Assessment.ts"
import { commander, type NotTheInitiator } from "./Commander.ts"
import { specialist } from "./Specialist.ts"

/** There is no example agent of that name. */
export class UnknownAgent extends Data.TaggedError("UnknownAgent")<{ readonly agentRef: string }> {
  override get message() {
    return `unknown agent "${this.agentRef}", known are ${Object.keys(EXAMPLE_AGENTS).join(", ")}`
  }
}

export type ExampleAgent = Effect.Effect<
  void,
  AgentFailure | NotTheInitiator | CallbackUnavailable,
  AgentClient | Bootstrap
>

/** Stops when the control plane asks for it; the initiator cancels the session first, with its own authority. */
const cancellable = <E, R>(agent: Effect.Effect<void, E, R>) =>
  Effect.raceFirst(agent, cancelRequested(cancelOwnSession))

const cancelOwnSession = Effect.fnUntraced(function* (reason: string) {
  const { initiator } = yield* Bootstrap
  const client = yield* AgentClient
  if (initiator !== undefined) yield* client.cancelSession(reason)
})

/** The agents of the scenario `incident/region-failover`, by agentRef. Each ends when its work in the session is done. */
export const EXAMPLE_AGENTS: Readonly<Record<string, ExampleAgent>> = {
  "replication-agent": cancellable(
    specialist({
      agentRef: "replication-agent",
      model: { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 260 },
      assess: assessReplication
    })
  ),
  "impact-agent": cancellable(
    specialist({
      agentRef: "impact-agent",
      model: { model: "vendor2-3-haiku", provider: "vendor2", baseLatencyMs: 310 },
      assess: assessImpact
    })
  ),
  "security-agent": cancellable(
    specialist({
      agentRef: "security-agent",
      model: { model: "vendor2-3-sonnet", provider: "vendor2", baseLatencyMs: 640 },
      assess: assessSecurity
    })
  ),
  "commander-agent": cancellable(commander)
}
