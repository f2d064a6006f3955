import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import { guardUnaryCalls } from "./BreakerClient.ts"
import { CircuitBreaker } from "./CircuitBreaker.ts"
import { type GrpcClientOptions, grpcClientSettings, makeGrpcClient } from "./GrpcClient.ts"
import type { RuntimeClientShape } from "./RuntimeClientShape.ts"
import { RuntimeCredentials } from "./RuntimeCredentials.ts"

/**
 * The runtime as an observer uses it: it reads, watches and controls sessions, and cannot write into one, for there is
 * no Send. The layers are composed here and nowhere else; a runtime in memory is in `@runplane/runtime/testing`.
 */
export class RuntimeClient extends Context.Service<RuntimeClient, RuntimeClientShape>()(
  "runplane/runtime/RuntimeClient"
) {
  /** gRPC by connect-node, with everything given by the caller. */
  static readonly layerGrpc = (options: GrpcClientOptions): Layer.Layer<RuntimeClient, never, RuntimeCredentials> =>
    Layer.effect(RuntimeClient, makeGrpcClient(options))

  /** gRPC, options from the RUNTIME_* settings. */
  static readonly layerConfig = Layer.effect(RuntimeClient, Effect.flatMap(grpcClientSettings, makeGrpcClient))

  /** Puts the circuit breaker around the unary calls of the client below; streams pass. */
  static readonly layerBreaker: Layer.Layer<RuntimeClient, never, RuntimeClient | CircuitBreaker> = Layer.effect(
    RuntimeClient,
    Effect.gen(function* () {
      return guardUnaryCalls(yield* RuntimeClient, yield* CircuitBreaker)
    })
  )

  /** What main uses: gRPC, credentials and breaker from the settings; the breaker is offered to the administration. */
  static readonly layer = RuntimeClient.layerBreaker.pipe(
    Layer.provide(RuntimeClient.layerConfig),
    Layer.provide(RuntimeCredentials.layer),
    Layer.provide(FetchHttpClient.layer),
    Layer.provideMerge(CircuitBreaker.layer)
  )
}
