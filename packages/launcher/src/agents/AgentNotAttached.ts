import * as Data from "effect/Data"

/** An agent that was not started, or did not stay: the reason as AGENT_ATTACH_FAILED tells it. */
export class AgentNotAttached extends Data.TaggedError("AgentNotAttached")<{ readonly reason: string }> {}
