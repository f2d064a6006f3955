import { request as httpRequest, type IncomingMessage } from "node:http"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

export interface SseFrame {
  readonly event: string
  readonly id: string | undefined
  /** Of the type that the parser returns, so that tests can read its fields. */
  readonly data: ReturnType<typeof JSON.parse>
}

/** The connection broke instead of ending. */
export class StreamCut extends Data.TaggedError("StreamCut")<{ readonly message: string }> {}

/**
 * Reads an event stream over a connection of its own, until the scope closes: one frame for each read. Unread frames
 * stay in the connection, as with a slow client.
 */
export const openSse = Effect.fnUntraced(function* (url: string, headers: Readonly<Record<string, string>> = {}) {
  const response = yield* respond(url, headers)
  const chunks: AsyncIterator<string> = response.setEncoding("utf8").iterator({ destroyOnReturn: false })
  let buffered = ""

  const nextText = Effect.tryPromise({
    try: async () => {
      while (true) {
        const end = buffered.indexOf("\n\n")
        if (end >= 0) {
          const text = buffered.slice(0, end)
          buffered = buffered.slice(end + 2)
          return text
        }
        const chunk = await chunks.next()
        if (chunk.done === true) return undefined
        buffered += chunk.value
      }
    },
    catch: (error) => new StreamCut({ message: String(error) })
  })
  /** The next frame; undefined at the end of the stream. */
  const next = Effect.map(nextText, (text) => (text === undefined ? undefined : parseFrame(text)))
  /** The next frame of that name; the ones before it are dropped. */
  const nextOf = (event: string) =>
    Effect.repeat(next, { until: (frame) => frame === undefined || frame.event === event })
  /** The remaining frames, to the end of the stream. */
  const rest = Effect.gen(function* () {
    const frames: Array<SseFrame> = []
    for (let frame = yield* next; frame !== undefined; frame = yield* next) frames.push(frame)
    return frames
  })
  return { status: response.statusCode ?? 0, headers: new Headers(headersOf(response)), nextText, next, nextOf, rest }
})

/** An event as a follower keeps it: little enough to have hundreds of followers. */
export interface FollowedEvent {
  readonly type: string
  readonly index: number
}

/** Reads continuously and keeps the events. */
export interface SseFollower {
  readonly events: ReadonlyArray<FollowedEvent>
  readonly indexes: () => ReadonlyArray<number>
  /** Waits until the received events satisfy the condition; for ever, when the connection ends before. */
  readonly until: (condition: (events: ReadonlyArray<FollowedEvent>) => boolean) => Effect.Effect<void>
  /** Waits for the event of that index. */
  readonly received: (index: number) => Effect.Effect<void>
  /** How the connection ended. */
  readonly closed: Effect.Effect<"end" | "cut">
}

/** Follows the canonical events of a stream until the scope closes. */
export const followSse = Effect.fnUntraced(function* (url: string) {
  const { nextText } = yield* openSse(url)
  const events: Array<FollowedEvent> = []
  const waiting = new Set<{ readonly holds: () => boolean; readonly reached: Deferred.Deferred<void> }>()
  const ended = yield* Deferred.make<"end" | "cut">()

  const keep = (text: string) => {
    if (!text.startsWith("event: canonical_event")) return
    const { index, type } = parseFrame(text).data
    events.push({ type, index })
    for (const { holds, reached } of waiting) if (holds()) Deferred.doneUnsafe(reached, Effect.void)
  }
  yield* nextText.pipe(
    Effect.tap((text) => Effect.sync(() => text !== undefined && keep(text))),
    Effect.repeat({ until: (text) => text === undefined }),
    Effect.match({ onSuccess: () => "end" as const, onFailure: () => "cut" as const }),
    Effect.flatMap((how) => Deferred.succeed(ended, how)),
    Effect.forkScoped
  )

  const until: SseFollower["until"] = (condition) =>
    Effect.suspend(() => {
      if (condition(events)) return Effect.void
      const waiter = { holds: () => condition(events), reached: Deferred.makeUnsafe<void>() }
      waiting.add(waiter)
      return Effect.ensuring(
        Deferred.await(waiter.reached),
        Effect.sync(() => waiting.delete(waiter))
      )
    })
  return {
    events,
    indexes: () => events.map(({ index }) => index),
    until,
    received: (index) => until((all) => (all.at(-1)?.index ?? 0) >= index),
    closed: Deferred.await(ended)
  } satisfies SseFollower as SseFollower
})

const respond = Effect.fnUntraced(function* (url: string, headers: Readonly<Record<string, string>>) {
  const answered = yield* Deferred.make<IncomingMessage, StreamCut>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const outgoing = httpRequest(url, { agent: false, headers }, (response) =>
        Deferred.doneUnsafe(answered, Effect.succeed(response))
      )
      outgoing.on("error", ({ message }) => Deferred.doneUnsafe(answered, Effect.fail(new StreamCut({ message }))))
      outgoing.end()
      return outgoing
    }),
    (outgoing) => Effect.sync(() => outgoing.destroy())
  )
  return yield* Deferred.await(answered)
})

const headersOf = ({ headers }: IncomingMessage) =>
  Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])

const parseFrame = (text: string): SseFrame => {
  const fields = new Map(
    text.split("\n").map((line) => {
      const colon = line.indexOf(": ")
      return [line.slice(0, colon), line.slice(colon + 2)] as const
    })
  )
  return { event: fields.get("event") ?? "", id: fields.get("id"), data: JSON.parse(fields.get("data") ?? "null") }
}
