import { create } from "@bufbuild/protobuf"
import type { ServerDuplexStream, UntypedServiceImplementation } from "@grpc/grpc-js"
import {
  RuntimeClient,
  RuntimeCredentials,
  type RuntimeError,
  type StreamSessionRequest,
  type StreamSessionResponse,
  StreamSessionResponseSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { serveGrpcJs } from "./GrpcJsServer.ts"

interface Options {
  readonly requestTimeoutMs?: number
  readonly maxReceiveBytes?: number
  readonly maxSendBytes?: number
}

/** A client of a grpc-js server with these handlers; runs on the real clock. */
export const withClient = <A, E>(
  handlers: UntypedServiceImplementation,
  use: (client: RuntimeClient["Service"]) => Effect.Effect<A, E>,
  options: Options = {}
) =>
  Effect.gen(function* () {
    const address = yield* serveGrpcJs(handlers)
    return yield* Effect.flatMap(RuntimeClient, use).pipe(
      Effect.provide(
        RuntimeClient.layerGrpc({ address, ...options }).pipe(
          Layer.provide(RuntimeCredentials.layerChain({ bearer: Redacted.make("s3cret") })),
          Layer.provide(FetchHttpClient.layer)
        )
      )
    )
  }).pipe(Effect.scoped)

export type SessionStream = ServerDuplexStream<StreamSessionRequest, StreamSessionResponse>

export const envelopeFrame = (sessionId: string, messageId: string, payload = new Uint8Array([1])) =>
  create(StreamSessionResponseSchema, {
    response: {
      case: "envelope",
      value: {
        messageType: "Vote",
        messageId,
        sessionId,
        sender: "agent://a",
        timestampUnixMs: 1790000000000n,
        payload
      }
    }
  })

export const fails = <A>(effect: Effect.Effect<A, RuntimeError>) => Effect.flip(effect)
