import * as Effect from "effect/Effect"
import { ChildFailed, startChild } from "../../process/ChildProcess.ts"
import { cpuSecondsOfTree } from "../../process/CpuTime.ts"
import type { Spread } from "../../Statistics.ts"
import { type PushCommand, PushReply } from "./TailProtocol.ts"
import { openTailReaders, type TailReadersOptions } from "./TailReaders.ts"

const NAME = "plain server"

export interface PlainPushed {
  /** From the moment a frame is made to its arrival at a client, after the seconds at the start. */
  readonly millis: Spread
  /** CPU seconds of the server; undefined where the platform does not say. */
  readonly cpu: number | undefined
}

/**
 * Sends as many frames of as many bytes at the same pace from a server that does nothing else, to clients of the same
 * kind: what this machine can do at best.
 */
export const plainPush = Effect.fn("PlainPush.measure")(
  function* (
    load: Omit<PushCommand, "_tag">,
    leadSeconds: number,
    readers: Pick<TailReadersOptions, "clients" | "listeners">
  ) {
    const child = yield* startChild<PushCommand, PushReply>({
      name: NAME,
      entry: new URL("./pushServer.ts", import.meta.url),
      environment: {},
      reply: PushReply
    })
    if (child.greeting._tag !== "Listening") return yield* new ChildFailed({ name: NAME, reason: "did not listen" })
    const target = { url: `http://127.0.0.1:${child.greeting.port}`, headers: {} }
    const { brought } = yield* openTailReaders({ ...readers, target, path: "/" })
    const cpuSeconds = cpuSecondsOfTree(child.pid)
    const before = yield* cpuSeconds
    yield* child.call({ _tag: "Push", ...load })
    const { times } = yield* brought(load.frames, leadSeconds)
    const after = yield* cpuSeconds
    const pushed: PlainPushed = {
      millis: times.settled,
      cpu: after === undefined || before === undefined ? undefined : after - before
    }
    return pushed
  },
  (effect) => Effect.scoped(effect)
)
