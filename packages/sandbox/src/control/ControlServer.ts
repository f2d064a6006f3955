import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Fault } from "../faults/Fault.ts"
import { SandboxFaults } from "../faults/SandboxFaults.ts"
import { Sandbox } from "../Sandbox.ts"

/** Largest run bundle that can be posted, in bytes: 64 MiB. */
export const MAX_BUNDLE_BYTES = 67_108_864

export interface ControlOptions {
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
}

/**
 * Faults and replays over HTTP, for tests that run in another process:
 *
 *     GET    /faults                      those in force
 *     POST   /faults                      a `Fault`; answers its id
 *     DELETE /faults, /faults/:id         all, one
 *     POST   /sessions/:id/compact        makes the history so far unavailable
 *     POST   /disconnect                  cuts every connection
 *     POST   /replays                     { bundle, speed?, sessionId? }; answers when the replay has ended
 *
 * It knows no credentials and belongs on the loopback interface.
 */
export class ControlServer extends Context.Service<ControlServer, { readonly address: string }>()(
  "runplane/sandbox/ControlServer"
) {
  static readonly layer = ({
    host,
    port
  }: ControlOptions): Layer.Layer<ControlServer, HttpServerError.ServeError, Sandbox | SandboxFaults> =>
    Layer.effect(
      ControlServer,
      Effect.map(HttpServer.HttpServer, ({ address }) => ({
        address: "port" in address ? `${host}:${address.port}` : host
      }))
    ).pipe(
      Layer.provide(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
      Layer.provide(NodeHttpServer.layer(() => createServer(), { host, port, gracefulShutdownTimeout: 0 }))
    )
}

const FaultId = Schema.Struct({ id: Schema.NumberFromString.check(Schema.isInt()) })
const SessionId = Schema.Struct({ id: Schema.String })
const ReplayRequest = Schema.Struct({
  bundle: Schema.Unknown,
  speed: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  sessionId: Schema.optionalKey(Schema.NonEmptyString)
})

const done = HttpServerResponse.empty({ status: 204 })

const refuse = (status: number) => (failure: { readonly message: string }) =>
  Effect.succeed(HttpServerResponse.jsonUnsafe({ message: failure.message }, { status }))

const notFound = HttpServerResponse.jsonUnsafe({ message: "not found" }, { status: 404 })

const routes = HttpRouter.addAll([
  HttpRouter.route(
    "GET",
    "/faults",
    Effect.gen(function* () {
      const { active } = yield* SandboxFaults
      return HttpServerResponse.jsonUnsafe(yield* active)
    })
  ),
  HttpRouter.route(
    "POST",
    "/faults",
    Effect.gen(function* () {
      const { inject } = yield* SandboxFaults
      const fault = yield* HttpServerRequest.schemaBodyJson(Fault, { onExcessProperty: "error" })
      return HttpServerResponse.jsonUnsafe({ id: yield* inject(fault) }, { status: 201 })
    }).pipe(Effect.catchTags({ SchemaError: refuse(400), HttpServerError: refuse(400) }))
  ),
  HttpRouter.route(
    "DELETE",
    "/faults",
    Effect.gen(function* () {
      const { clear } = yield* SandboxFaults
      yield* clear
      return done
    })
  ),
  HttpRouter.route(
    "DELETE",
    "/faults/:id",
    Effect.gen(function* () {
      const { remove } = yield* SandboxFaults
      const { id } = yield* HttpRouter.schemaPathParams(FaultId)
      return (yield* remove(id)) ? done : notFound
    }).pipe(Effect.catchTag("SchemaError", refuse(400)))
  ),
  HttpRouter.route(
    "POST",
    "/sessions/:id/compact",
    Effect.gen(function* () {
      const { compactHistory } = yield* SandboxFaults
      const { id } = yield* HttpRouter.schemaPathParams(SessionId)
      yield* compactHistory(id)
      return done
    }).pipe(Effect.catchTags({ SchemaError: refuse(400), SessionNotFound: refuse(404) }))
  ),
  HttpRouter.route(
    "POST",
    "/disconnect",
    Effect.gen(function* () {
      const { disconnect } = yield* Sandbox
      yield* disconnect
      return done
    })
  ),
  HttpRouter.route(
    "POST",
    "/replays",
    Effect.gen(function* () {
      const { replayBundle } = yield* Sandbox
      const { bundle, ...options } = yield* HttpServerRequest.schemaBodyJson(ReplayRequest).pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BUNDLE_BYTES))
      )
      return HttpServerResponse.jsonUnsafe(yield* replayBundle(bundle, options))
    }).pipe(
      Effect.catchTags({
        SchemaError: refuse(400),
        HttpServerError: refuse(400),
        BundleUnreadable: refuse(400),
        SessionIdTaken: refuse(409)
      })
    )
  )
])
