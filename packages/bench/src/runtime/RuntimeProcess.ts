import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ChildFailed, startChild } from "../process/ChildProcess.ts"
import { cpuSecondsOfTree } from "../process/CpuTime.ts"
import { type RuntimeCommand, RuntimeReply } from "./RuntimeProtocol.ts"

/** The scripted runtime, in a process of its own. */
export class RuntimeProcess extends Context.Service<
  RuntimeProcess,
  {
    /** `host:port` of its gRPC server. */
    readonly address: string
    /** CPU seconds of the process; undefined where the platform does not say. */
    readonly cpuSeconds: Effect.Effect<number | undefined>
    /** Does what the command says and returns when it is done; one at a time. */
    readonly run: (command: RuntimeCommand) => Effect.Effect<void, ChildFailed>
  }
>()("runplane/bench/RuntimeProcess") {
  static readonly layer = Layer.effect(
    RuntimeProcess,
    Effect.gen(function* () {
      const name = "scripted runtime"
      const child = yield* startChild<RuntimeCommand, RuntimeReply>({
        name,
        entry: new URL("./main.ts", import.meta.url),
        environment: {},
        reply: RuntimeReply
      })
      if (child.greeting._tag !== "Listening") {
        return yield* new ChildFailed({ name, reason: "did not say where it listens" })
      }
      return RuntimeProcess.of({
        address: child.greeting.address,
        cpuSeconds: cpuSecondsOfTree(child.pid),
        run: (command) => Effect.asVoid(child.call(command))
      })
    })
  )
}
