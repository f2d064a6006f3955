import * as Schema from "effect/Schema"
import { RemoteInterface } from "./RemoteCard.ts"
import { TurnText } from "./TurnRules.ts"

const text = (description: string) => Schema.String.annotate({ description })

/** An agent that speaks A2A, as a launch has pinned it. */
export const RemoteAgent = Schema.Struct({
  agentRef: text("Its name in the catalog"),
  entrypoint: text("Address of its card"),
  auth: Schema.optionalKey(text("The variable of the service's environment with its credential")),
  cardSha256: text("SHA-256 of the card as it was served, hexadecimal"),
  signature: text("What is known of the signatures of the card, in words"),
  interface: RemoteInterface
})
export type RemoteAgent = typeof RemoteAgent.Type

/** The participants of a launch that speak A2A, by their ids. */
export const RemoteTurns = Schema.Record(
  Schema.String,
  Schema.Struct({ rules: TurnText, agent: RemoteAgent })
).annotate({
  identifier: "RemoteTurns",
  description: "The participants that speak A2A, by their ids: the rules of their turns, and the agent as it was pinned"
})
export type RemoteTurns = typeof RemoteTurns.Type
