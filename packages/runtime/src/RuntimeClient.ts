import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { guardUnaryCalls } from "./BreakerClient.ts"
import { CircuitBreaker } from "./CircuitBreaker.ts"
import { type GrpcClientOptions, makeGrpcClient } from "./GrpcClient.ts"
import type { RuntimeClientShape } from "./RuntimeClientShape.ts"
import type { RuntimeCredentials } from "./RuntimeCredentials.ts"

/**
 * The runtime as an observer uses it: it reads, watches and controls sessions, and cannot write into one, for there is
 * no Send. A runtime in memory is in `@runplane/runtime/testing`.
 */
export class RuntimeClient extends Context.Service<RuntimeClient, RuntimeClientShape>()(
  "runplane/runtime/RuntimeClient"
) {
  /** gRPC by connect-node, with everything given by the caller. */
  static readonly layerGrpc = (options: GrpcClientOptions): Layer.Layer<RuntimeClient, never, RuntimeCredentials> =>
    Layer.effect(RuntimeClient, makeGrpcClient(options))

  /** Puts the circuit breaker around the unary calls of the client below; streams pass. */
  static readonly layerBreaker: Layer.Layer<RuntimeClient, never, RuntimeClient | CircuitBreaker> = Layer.effect(
    RuntimeClient,
    Effect.gen(function* () {
      return guardUnaryCalls(yield* RuntimeClient, yield* CircuitBreaker)
    })
  )
}
