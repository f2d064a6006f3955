import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CircuitBreaker } from "./CircuitBreaker.ts"
import { type GrpcClientOptions, makeGrpcClient } from "./GrpcClient.ts"
import type { RuntimeClientShape } from "./RuntimeClientShape.ts"
import type { RuntimeCredentials } from "./RuntimeCredentials.ts"
import { collectSessions } from "./SessionListing.ts"

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

/** The client with every unary call guarded; each page of a listing is a separate call. */
const guardUnaryCalls = (client: RuntimeClientShape, { guard }: CircuitBreaker["Service"]): RuntimeClientShape => {
  const listSessionsPage: RuntimeClientShape["listSessionsPage"] = (request) =>
    guard("ListSessions", client.listSessionsPage(request))
  return {
    ...client,
    initialize: guard("Initialize", client.initialize),
    getSession: (sessionId) => guard("GetSession", client.getSession(sessionId)),
    listSessionsPage,
    listSessions: collectSessions(listSessionsPage, client.listing),
    cancelSession: (control) => guard("CancelSession", client.cancelSession(control)),
    suspendSession: (control) => guard("SuspendSession", client.suspendSession(control)),
    resumeSession: (control) => guard("ResumeSession", client.resumeSession(control)),
    registerPolicy: (policy) => guard("RegisterPolicy", client.registerPolicy(policy)),
    unregisterPolicy: (policyId) => guard("UnregisterPolicy", client.unregisterPolicy(policyId)),
    getPolicy: (policyId) => guard("GetPolicy", client.getPolicy(policyId)),
    listPolicies: (mode) => guard("ListPolicies", client.listPolicies(mode)),
    getDecisionReceipt: (sessionId) => guard("GetDecisionReceipt", client.getDecisionReceipt(sessionId)),
    getReceiptKeys: guard("GetReceiptKeys", client.getReceiptKeys),
    listModes: guard("ListModes", client.listModes),
    listRoots: guard("ListRoots", client.listRoots),
    getManifest: (agentId) => guard("GetManifest", client.getManifest(agentId))
  }
}
