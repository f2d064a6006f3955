import { parseArgs } from "node:util"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentClient } from "../client/AgentClient.ts"
import { Bootstrap } from "../client/Bootstrap.ts"
import * as SpanExport from "../client/SpanExport.ts"
import { EXAMPLE_AGENTS, UnknownAgent } from "./Agents.ts"
import { hostGone } from "./runner/HostPipe.ts"

/** The process that started the agent, and would stop it, is gone. */
class HostGone extends Data.TaggedError("HostGone") {
  override get message() {
    return "standard input ended: the host is gone"
  }
}

/** The command line names no agent. */
class UsageInvalid extends Data.TaggedError("UsageInvalid")<{ readonly message: string }> {}

const agentRefOf = Effect.try({
  try: () => parseArgs({ options: { agent: { type: "string", default: "" } } }).values.agent,
  catch: () => new UsageInvalid({ message: "usage: main.ts --agent <agentRef>" })
})

const runAgent = Effect.fnUntraced(function* (agentRef: string) {
  const agent = EXAMPLE_AGENTS[agentRef]
  if (agent === undefined) return yield* new UnknownAgent({ agentRef })
  yield* agent.pipe(
    Effect.raceFirst(Effect.andThen(hostGone, new HostGone())),
    Effect.provide(
      AgentClient.layer.pipe(
        Layer.provideMerge(SpanExport.layer),
        Layer.provideMerge(Bootstrap.layer),
        Layer.provide(NodeFileSystem.layer)
      )
    )
  )
})

/** `main.ts --agent <agentRef>`: takes part in the session of the bootstrap file, then exits 0. */
const program = agentRefOf.pipe(
  Effect.tapError(({ message }) => Console.error(message)),
  Effect.flatMap((agentRef) =>
    runAgent(agentRef).pipe(Effect.tapError(({ message }) => Console.error(`${agentRef}: ${message}`)))
  )
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
