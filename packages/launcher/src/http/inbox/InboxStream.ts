import { CurrentActor, type InboxChange, launcherError } from "@runplane/api"
import type { Person } from "@runplane/domain"
import { encodeFrames, retryHint, Shutdown, SignIns, sseResponse } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { isChangeCursor } from "../../people/changes/ChangeCursor.ts"
import {
  type InboxChanges,
  type ItemChanged,
  MOST_STREAMS,
  STREAMS_A_PERSON
} from "../../people/changes/InboxChanges.ts"
import { makeInboxCalls } from "./InboxCalls.ts"
import { listedItem } from "./ItemAnswers.ts"

interface StreamOptions {
  readonly heartbeatMs: number
  readonly lastEventId: string | undefined
}

/**
 * `GET /inbox/stream` (docs/reference/people.md#stream). The response draws each frame: a slow client holds the items
 * of one read, and then gets the last state of each item that changed meanwhile.
 */
export const makeInboxStream = Effect.gen(function* () {
  const { caller } = yield* makeInboxCalls
  const shutdown = yield* Shutdown
  const signIns = yield* SignIns

  /** The person of a request as it is now; undefined once its sign-in has ended. */
  const personOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const begun = yield* CurrentActor
    const { expiresAtUnixMs, isPage } = begun
    if (expiresAtUnixMs !== undefined && (yield* Clock.currentTimeMillis) >= expiresAtUnixMs) return undefined
    // A database that is away leaves it open whether the sign-in holds: the client comes again.
    const actor = isPage === true ? yield* Effect.orElseSucceed(signIns.find(request), () => undefined) : begun
    if (actor === undefined) return undefined
    return (yield* Effect.provideService(caller(request), CurrentActor, actor)).person
  })

  return Effect.fnUntraced(function* (
    changes: InboxChanges["Service"],
    request: HttpServerRequest.HttpServerRequest,
    { heartbeatMs, lastEventId }: StreamOptions
  ) {
    const { person } = yield* caller(request)
    const actor = yield* CurrentActor
    const current: Effect.Effect<Person | undefined, Effect.Error<ReturnType<typeof personOf>>> = personOf(
      request
    ).pipe(Effect.provideService(CurrentActor, actor))
    const wakes = yield* Effect.mapError(changes.watch(person.id), ({ _tag }) =>
      launcherError(
        "TOO_MANY_STREAMS",
        _tag === "too-many"
          ? `the service has ${MOST_STREAMS} streams of the inbox open at a time`
          : `a person has ${STREAMS_A_PERSON} streams of the inbox open at a time`
      )
    )
    const from = lastEventId?.trim() ?? ""
    const isContinued = isChangeCursor(from)
    const first = isContinued ? from : yield* changes.now

    const next = Effect.fnUntraced(function* (cursor: string) {
      const isWoken = Option.isSome(yield* Effect.timeoutOption(Queue.take(wakes), heartbeatMs))
      const reader = yield* current
      if (reader === undefined) return [[], Option.none()] as const
      if (!isWoken) return [[frame("heartbeat", {}, cursor)], Option.some(cursor)] as const
      const read = yield* changes.since(reader, cursor)
      const frames = read._tag === "Reset" ? [frame("reset", {}, read.cursor)] : itemFrames(read.items, read.cursor)
      return [frames, Option.some(read.cursor)] as const
    })

    const frames = Stream.succeed(frame("ready", { continued: isContinued }, first)).pipe(
      Stream.concat(Stream.paginate(first, next)),
      Stream.map((text) => encodeFrames(text)),
      Stream.interruptWhen(shutdown.begun),
      Stream.concat(retryHint(shutdown))
    )
    return sseResponse(frames, "a stream of the inbox")
  })
})

const frame = (event: string, data: object, id?: string): string =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`

/** The last frame has the cursor: a client that misses it reads all of them again. */
const itemFrames = (items: ReadonlyArray<ItemChanged>, cursor: string): ReadonlyArray<string> =>
  items.map(({ change, row }, at) => {
    const data: InboxChange = { change, item: listedItem(row) }
    return frame("item", data, at === items.length - 1 ? cursor : undefined)
  })
