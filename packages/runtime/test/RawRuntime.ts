import { createServer, type Http2Server, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2"
import type { Socket } from "node:net"
import { toBinary } from "@bufbuild/protobuf"
import { RuntimeClient, RuntimeCredentials, StreamSessionResponseSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { framed } from "../src/GrpcFrames.ts"
import { envelopeFrame } from "./GrpcClients.ts"

export const ANSWERED = { ":status": 200, "content-type": "application/grpc+proto" }

/** A call as a server without any gRPC sees it. */
export interface RawCall {
  readonly stream: ServerHttp2Stream
  readonly headers: NodeJS.Dict<string | Array<string>>
  readonly socket: Socket | undefined
}

/** The message of an envelope with that id, as it is sent. */
export const sent = (messageId: string, payloadBytes = 1): Uint8Array =>
  framed(toBinary(StreamSessionResponseSchema, envelopeFrame("s1", messageId, new Uint8Array(payloadBytes))))

/** A frame whose prefix says what is given, whatever follows it. */
export const claimed = (flag: number, length: number, bytes = new Uint8Array(0)): Uint8Array => {
  const prefix = Buffer.alloc(5)
  prefix[0] = flag
  prefix.writeUInt32BE(length, 1)
  return Buffer.concat([prefix, bytes])
}

/** Answers with that body and these trailers; without trailers the stream just ends. */
export const answerWith = (
  { stream }: RawCall,
  body: Uint8Array,
  trailers?: OutgoingHttpHeaders,
  headers: OutgoingHttpHeaders = ANSWERED
): void => {
  stream.respond(headers, { waitForTrailers: trailers !== undefined })
  if (trailers !== undefined) stream.on("wantTrailers", () => stream.sendTrailers(trailers))
  stream.end(body)
}

/** A client of a server that answers each call in its own way, on the loopback. */
export const withRawRuntime = <A, E>(
  answer: (call: RawCall) => void,
  use: (client: RuntimeClient["Service"]) => Effect.Effect<A, E>,
  options: { readonly maxReceiveBytes?: number; readonly maxSendBytes?: number } = {}
) =>
  Effect.gen(function* () {
    const address = yield* serve(answer)
    const client = RuntimeClient.layerGrpc({ address, ...options })
    return yield* Effect.provide(
      Effect.flatMap(RuntimeClient, use),
      client.pipe(Layer.provide(RuntimeCredentials.layerNone))
    )
  }).pipe(Effect.scoped)

const serve = (answer: (call: RawCall) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Http2Server; readonly sockets: Set<Socket> }>((resume) => {
        const server = createServer()
        const sockets = new Set<Socket>()
        server.on("connection", (socket: Socket) => sockets.add(socket))
        // What the client does to a server that misbehaves is none of a test's business.
        server.on("sessionError", () => {})
        server.on("stream", (stream, headers) => {
          stream.on("error", () => {})
          answer({ stream, headers, socket: [...sockets].at(-1) })
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed({ server, sockets })))
      }),
      ({ server, sockets }) =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    ),
    ({ server }) => {
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("the server has no port")
      return `127.0.0.1:${address.port}`
    }
  )
