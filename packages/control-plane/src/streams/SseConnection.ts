import { ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { RequestFacts } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { TrySend } from "./FollowerLoop.ts"
import type { SharedFrames } from "./SharedFrames.ts"
import { sharedFrames } from "./SseFrames.ts"

/** The connection of one client of an event stream. */
export interface SseConnection {
  /** The facts of its request: reads for the stream wait for the turn of its caller (docs/reference/http.md#turns). */
  readonly facts: typeof RequestFacts.Service
  /** Sends the headers at once. Node would send them with the first frame, which may be a heartbeat away. */
  readonly flushHeaders: Effect.Effect<void>
  /**
   * Writes frames to the socket directly (docs/reference/streams.md#one-write). Returns false when the socket is not
   * ready: the frames then go through the stream, which waits for the client.
   */
  readonly tryWrite: (frames: SharedFrames) => boolean
}

/** A connection without a socket. */
export const detachedConnection: SseConnection = {
  facts: { client: "", actor: undefined, address: "" },
  flushHeaders: Effect.void,
  tryWrite: () => false
}

/** Writes deliveries that many clients share to the socket, where it is ready. */
export const writeShared =
  ({ tryWrite }: SseConnection): TrySend =>
  (delivery) => {
    const shared = sharedFrames(delivery)
    return shared !== undefined && tryWrite(shared)
  }

/** The connection of the current request. */
export const currentConnection = Effect.gen(function* (): Effect.fn.Return<SseConnection, never, HttpServerRequest> {
  const facts = yield* RequestFacts
  const response: unknown = NodeHttpServerRequest.toServerResponse(yield* HttpServerRequest)
  if (!(response instanceof ServerResponse)) return { ...detachedConnection, facts }
  return {
    facts,
    flushHeaders: Effect.sync(() => response.flushHeaders()),
    tryWrite: ({ chunk }) => {
      if (!isReady(response)) return false
      response.socket?.write(chunk)
      return true
    }
  }
})

/** Whether the response is open, chunked, and has no unsent bytes. */
const isReady = (response: ServerResponse): boolean =>
  response.headersSent &&
  response.chunkedEncoding &&
  response.writableLength === 0 &&
  !response.writableEnded &&
  response.socket?.writable === true

/** The seq of a Last-Event-ID header; other text is ignored. */
export const lastEventSeq = (lastEventId: string | undefined): number | undefined => {
  const text = lastEventId?.trim() ?? ""
  const seq = Number(text)
  return /^\d+$/.test(text) && Number.isSafeInteger(seq) ? seq : undefined
}
