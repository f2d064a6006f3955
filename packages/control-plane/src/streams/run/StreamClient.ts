import { ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { RequestFacts } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { SharedFrames } from "../../platform/http/SharedFrames.ts"

/** The client of an event stream, as its feed sees it. */
export interface StreamClient {
  /** Its request: what is read for the stream is read in the turns of its caller (docs/reference/http.md#turns). */
  readonly facts: typeof RequestFacts.Service
  /**
   * Sends the headers. Node keeps them back until the first byte, which may be a heartbeat away; the client shall see
   * that it is connected.
   */
  readonly greet: Effect.Effect<void>
  /**
   * Hands frames to the client at once, without whoever writes its stream (docs/reference/http.md#one-write). False
   * when it cannot take them now: then they have to go the way of all bytes, which waits for the client.
   */
  readonly take: (frames: SharedFrames) => boolean
}

/** A client that takes nothing by itself. */
export const passiveClient: StreamClient = {
  facts: { client: "", actor: undefined, address: "" },
  greet: Effect.void,
  take: () => false
}

/** The client that sent the current request. */
export const currentClient = Effect.gen(function* (): Effect.fn.Return<StreamClient, never, HttpServerRequest> {
  const facts = yield* RequestFacts
  const response: unknown = NodeHttpServerRequest.toServerResponse(yield* HttpServerRequest)
  if (!(response instanceof ServerResponse)) return { ...passiveClient, facts }
  return {
    facts,
    greet: Effect.sync(() => response.flushHeaders()),
    take: ({ chunk }) => {
      if (!isReady(response)) return false
      response.socket?.write(chunk)
      return true
    }
  }
})

/** Whether the answer has begun and not ended, is sent in chunks, and all that was written is on its way. */
const isReady = (response: ServerResponse): boolean =>
  response.headersSent &&
  response.chunkedEncoding &&
  response.writableLength === 0 &&
  !response.writableEnded &&
  response.socket?.writable === true
