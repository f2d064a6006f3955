import * as Data from "effect/Data"

/** An agent that was not started, or did not stay: the reason as AGENT_ATTACH_FAILED tells it. */
export class AgentNotAttached extends Data.TaggedError("AgentNotAttached")<{
  readonly reason: string
  /** Keys of the manifest that lead to what is missing, where it is that. */
  readonly at?: ReadonlyArray<string>
  /** What its author can do about it. */
  readonly remedy?: string
}> {}
