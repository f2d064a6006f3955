import { parseArgs } from "node:util"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentClient } from "../client/AgentClient.ts"
import { Bootstrap } from "../client/Bootstrap.ts"
import { EXAMPLE_AGENTS, UnknownAgent } from "./Agents.ts"
import { hostGone } from "./HostPipe.ts"

/** The process that started the agent is gone, and nobody is left to stop it. */
class HostGone extends Data.TaggedError("HostGone") {
  override get message() {
    return "standard input ended: the host is gone"
  }
}

/** `main.ts --agent <agentRef>`: takes part in the session of the bootstrap file, then exits 0. */
const { agent: agentRef = "" } = parseArgs({ options: { agent: { type: "string" } }, strict: false }).values

const program = Effect.gen(function* () {
  const agent = EXAMPLE_AGENTS[agentRef]
  if (agent === undefined) return yield* new UnknownAgent({ agentRef })
  yield* agent.pipe(
    Effect.raceFirst(Effect.andThen(hostGone, new HostGone())),
    Effect.provide(AgentClient.layer.pipe(Layer.provideMerge(Bootstrap.layer), Layer.provide(NodeFileSystem.layer)))
  )
}).pipe(Effect.tapError((failure) => Console.error(`${agentRef === "" ? "agent" : agentRef}: ${failure.message}`)))

NodeRuntime.runMain(program, { disableErrorReporting: true })
