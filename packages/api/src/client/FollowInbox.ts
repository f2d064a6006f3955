import * as Effect from "effect/Effect"
import type * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { InboxApi } from "../launcher/InboxApi.ts"
import { INBOX_HEARTBEAT_MS, InboxChange, InboxStreamReady } from "../launcher/InboxStreams.ts"
import { framesOf, isRefused, opened, RunStreamBroken, reconnections } from "./EventFrames.ts"

type InboxCalls = Pick<HttpApiClient.ForApi<typeof InboxApi>, "inbox">

export interface FollowInboxOptions {
  /** Milliseconds between heartbeats; the default of the service when absent. */
  readonly heartbeatMs?: number
  /** Runs after each broken connection, before the client reconnects. */
  readonly onInterruption?: (failure: InboxStreamFailure) => Effect.Effect<void>
}

/**
 * A frame of `GET /inbox/stream`: the begin, an item after a change, or a reset because too much has changed since the
 * cursor (docs/reference/people.md#stream). After a `ready` that does not continue, and after a `reset`, the list is to
 * be read.
 */
export const InboxStreamEvent = Schema.Union([
  Schema.Struct({ event: Schema.Literal("ready"), data: Schema.fromJsonString(InboxStreamReady) }),
  Schema.Struct({ event: Schema.Literal("item"), data: Schema.fromJsonString(InboxChange) }),
  Schema.Struct({ event: Schema.Literal("reset") })
])
export type InboxStreamEvent = typeof InboxStreamEvent.Type

export type InboxStreamFailure =
  | Effect.Error<ReturnType<InboxCalls["inbox"]["stream"]>>
  | RunStreamBroken
  | Schema.SchemaError

/**
 * Follows the questions to the caller until the stream is interrupted. It reconnects with the id of the last frame as
 * `Last-Event-ID`, so no change is lost; the last state of an item may come twice. Fails when the service rejects the
 * request, such as after the end of a sign-in.
 */
export const followInbox = (
  api: InboxCalls,
  { heartbeatMs = INBOX_HEARTBEAT_MS, onInterruption }: FollowInboxOptions = {}
): Stream.Stream<InboxStreamEvent, InboxStreamFailure> =>
  Stream.unwrap(
    Effect.map(Ref.make<string | undefined>(undefined), (position) => {
      const connection = Stream.unwrap(
        Effect.flatMap(Ref.get(position), (id) =>
          Effect.map(
            opened(
              api.inbox.stream({
                query: { heartbeatMs },
                headers: id === undefined ? {} : { "last-event-id": id }
              }),
              heartbeatMs
            ),
            (bytes) =>
              framesOf(bytes, isName, heartbeatMs).pipe(
                Stream.tap(({ id: next }) => (next === undefined ? Effect.void : Ref.set(position, next))),
                Stream.filter(({ event }) => event !== "heartbeat"),
                Stream.mapEffect((frame) => decodeFrame(frame))
              )
          )
        )
      )
      return connection.pipe(
        Stream.concat(Stream.fail(new RunStreamBroken({ why: "it ended" }))),
        Stream.tapError((failure) => (isRefused(failure) ? Effect.void : (onInterruption?.(failure) ?? Effect.void))),
        Stream.retry(reconnections<InboxStreamFailure>())
      )
    })
  )

const isName = (name: string) => name === "ready" || name === "item" || name === "reset" || name === "heartbeat"

const decodeFrame = Schema.decodeUnknownEffect(InboxStreamEvent)
