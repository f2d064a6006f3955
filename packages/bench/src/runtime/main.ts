import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { serveParent } from "../process/ParentLink.ts"
import { RuntimeCommand, type RuntimeReply } from "./RuntimeProtocol.ts"
import { makeScriptedRuntime } from "./ScriptedRuntime.ts"

const done: RuntimeReply = { _tag: "Done" }

/** The scripted runtime as a process of its own, so that its work is not counted as the control plane's. */
const program = Effect.gen(function* () {
  const runtime = yield* makeScriptedRuntime
  const greeting: RuntimeReply = { _tag: "Listening", address: runtime.address }
  yield* serveParent<RuntimeCommand, RuntimeReply, never, never>({
    greeting,
    command: RuntimeCommand,
    answer: (command) => Effect.as(runtime.run(command), done)
  })
})

NodeRuntime.runMain(Effect.scoped(program))
