import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { AgentClient } from "../client/AgentClient.ts"
import type { AgentFailure } from "../client/AgentFailure.ts"
import { Bootstrap } from "../client/Bootstrap.ts"
import { type CallbackUnavailable, cancelRequested } from "../client/CancelCallback.ts"
import { type AgentUnable, play } from "./runner/Play.ts"
import type { Strategy } from "./runner/Strategy.ts"
import { STRATEGIES } from "./Strategies.ts"

/** No example agent has that name. */
export class UnknownAgent extends Data.TaggedError("UnknownAgent")<{ readonly agentRef: string }> {
  override get message() {
    return `unknown agent "${this.agentRef}", known are ${Object.keys(EXAMPLE_AGENTS).join(", ")}`
  }
}

export type ExampleAgent = Effect.Effect<
  void,
  AgentFailure | AgentUnable | CallbackUnavailable,
  AgentClient | Bootstrap
>

/**
 * Plays a strategy until the control plane stops it; the initiator cancels the session first, on its own
 * authority.
 */
const agentOf = (agentRef: string, strategy: Strategy): ExampleAgent =>
  Effect.flatMap(Bootstrap, ({ participant_id: self }) =>
    play(strategy).pipe(
      Effect.raceFirst(cancelRequested(cancelOwnSession)),
      Effect.withSpan(`invoke_agent ${self}`, {
        attributes: { agentRef, "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self }
      })
    )
  )

const cancelOwnSession = Effect.fnUntraced(function* (reason: string) {
  const { initiator } = yield* Bootstrap
  const client = yield* AgentClient
  if (initiator !== undefined) yield* client.cancelSession(reason)
})

/** The agents of the scenario packs, by agentRef. Each ends when its work in the session is done. */
export const EXAMPLE_AGENTS: Readonly<Record<string, ExampleAgent>> = Object.fromEntries(
  Object.entries(STRATEGIES).map(([agentRef, strategy]) => [agentRef, agentOf(agentRef, strategy)])
)
