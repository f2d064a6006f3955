import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { serveParent } from "../../process/ParentLink.ts"
import { readStamp } from "../../runtime/History.ts"
import { Deliveries } from "../Deliveries.ts"
import { type EventStream, followEvents } from "../EventStream.ts"
import type { StreamBroken } from "../StreamProgress.ts"
import { countEvents } from "./CountEvents.ts"
import { ReadersCommand, type ReadersReply } from "./TailProtocol.ts"

/** Streams that are opened at a time. */
const OPENED_AT_ONCE = 8

const program = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const deliveries = new Deliveries()
  const streams: Array<EventStream> = []

  const listener = (frame: Buffer, receivedMicros: number) => {
    const emitted = readStamp(frame)
    if (emitted !== undefined) deliveries.note(emitted, receivedMicros)
  }
  const open = Effect.fnUntraced(function* ({ clients, headers, listeners, path, url }: Of<"Open">) {
    const target = { url, headers }
    // Spread over all of them, as those that are served last wait longest.
    const every = Math.ceil(clients / listeners)
    const opened = yield* Effect.forEach(
      Array.from({ length: clients }, (_, number) => number),
      (number) => (number % every === 0 ? followEvents(target, path, listener) : countEvents(target, path)),
      { concurrency: OPENED_AT_ONCE }
    )
    streams.push(...opened)
    return { _tag: "Opened" } satisfies ReadersReply
  })
  const awaited = Effect.fnUntraced(function* ({ events, leadSeconds }: Of<"Await">) {
    yield* Effect.forEach(streams, ({ brought }) => brought(events), { discard: true })
    const bytes = streams.reduce((sum, stream) => sum + stream.bytes(), 0)
    return { _tag: "Brought", times: deliveries.times(leadSeconds), bytes } satisfies ReadersReply
  })
  const answer = (command: ReadersCommand): Effect.Effect<ReadersReply, StreamBroken> =>
    command._tag === "Open" ? Effect.provideService(open(command), Scope.Scope, scope) : awaited(command)

  yield* serveParent<ReadersCommand, ReadersReply, StreamBroken, never>({
    greeting: { _tag: "Ready" },
    command: ReadersCommand,
    answer
  })
})

type Of<Tag extends ReadersCommand["_tag"]> = Extract<ReadersCommand, { readonly _tag: Tag }>

NodeRuntime.runMain(Effect.scoped(program))
