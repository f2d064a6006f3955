import * as Effect from "effect/Effect"
import { ChildFailed, startChild } from "../../process/ChildProcess.ts"
import { cpuSecondsOfTree } from "../../process/CpuTime.ts"
import type { DeliveryTimes } from "../Deliveries.ts"
import type { StreamTarget } from "../EventStream.ts"
import { type ReadersCommand, ReadersReply } from "./TailProtocol.ts"

export interface TailReaders {
  /** CPU seconds of the process; undefined where the platform does not say. */
  readonly cpuSeconds: Effect.Effect<number | undefined>
  /** Waits until each of the clients has had so many events. */
  readonly brought: (
    events: number,
    leadSeconds: number
  ) => Effect.Effect<{ readonly times: DeliveryTimes; readonly bytes: number }, ChildFailed>
}

const NAME = "readers"

export interface TailReadersOptions {
  readonly target: StreamTarget
  /** Of the stream that all of them follow. */
  readonly path: string
  readonly clients: number
  /** So many of them record when each event came; the others count events. */
  readonly listeners: number
}

/**
 * Opens many clients of one stream in a process of their own, until the scope closes: two hundred clients are work
 * enough that they would be late beside anything else.
 */
export const openTailReaders = Effect.fn("TailReaders.open")(function* ({
  clients,
  listeners,
  path,
  target
}: TailReadersOptions) {
  const child = yield* startChild<ReadersCommand, ReadersReply>({
    name: NAME,
    entry: new URL("./main.ts", import.meta.url),
    environment: {},
    reply: ReadersReply
  })
  const { headers, url } = target
  yield* child.call({ _tag: "Open", url, headers, path, clients, listeners })
  const brought = Effect.fnUntraced(function* (events: number, leadSeconds: number) {
    const reply = yield* child.call({ _tag: "Await", events, leadSeconds })
    return reply._tag === "Brought" ? reply : yield* new ChildFailed({ name: NAME, reason: `answered ${reply._tag}` })
  })
  const readers: TailReaders = { brought, cpuSeconds: cpuSecondsOfTree(child.pid) }
  return readers
})
