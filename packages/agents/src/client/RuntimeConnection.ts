import { type Client, ConnectError, createClient } from "@connectrpc/connect"
import { createGrpcTransport } from "@connectrpc/connect-node"
import { grpcStatusName } from "@runplane/domain"
import { GuardedSessionManager, MACPRuntimeService, type StreamSessionRequest } from "@runplane/runtime"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { RuntimeCallFailed } from "./AgentFailure.ts"
import { type BootstrapFile, RenewedCredential } from "./Bootstrap.ts"

/** Milliseconds a unary call may take. Streams have no deadline. */
const CALL_TIMEOUT_MS = 10_000

export interface RuntimeConnection {
  readonly client: Client<typeof MACPRuntimeService>
  /** One unary call with the agent's credential; interruption cancels it. */
  readonly call: <A>(
    name: string,
    run: (options: { signal: AbortSignal; headers: Record<string, string>; timeoutMs: number }) => Promise<A>
  ) => Effect.Effect<A, RuntimeCallFailed>
  /** With the current credential. */
  readonly headers: () => Record<string, string>
  /** Uses the renewed credential after the runtime has refused the current one; false without a new one. */
  readonly renew: Effect.Effect<boolean>
}

/**
 * Opens the agent's connection to the runtime; it closes with the scope. A call that is refused for its credential is
 * made once more with a renewed one.
 */
export const connect = Effect.fnUntraced(function* (
  bootstrap: BootstrapFile
): Effect.fn.Return<RuntimeConnection, never, Scope.Scope> {
  const sessionManager = yield* Effect.acquireRelease(
    Effect.sync(() => new GuardedSessionManager(baseUrlOf(bootstrap))),
    (manager) => Effect.sync(() => manager.abort())
  )
  const transport = createGrpcTransport({ baseUrl: baseUrlOf(bootstrap), sessionManager })
  let credential = credentialOf(bootstrap)
  const trace = yield* traceParent
  const headers = () => ({ authorization: `Bearer ${credential}`, ...trace })
  const renew = (yield* RenewedCredential).pipe(
    Effect.map((renewed) => {
      if (renewed === undefined || renewed === "" || renewed === credential) return false
      credential = renewed
      return true
    })
  )
  const callOnce: RuntimeConnection["call"] = (name, run) =>
    Effect.tryPromise({
      try: (signal) => run({ signal, headers: headers(), timeoutMs: CALL_TIMEOUT_MS }),
      catch: (cause) => callFailure(name, cause)
    })
  return {
    client: createClient(MACPRuntimeService, transport),
    headers,
    renew,
    call: (name, run) =>
      Effect.catchIf(
        callOnce(name, run),
        ({ status }) => status === "unauthenticated",
        (failure) => Effect.flatMap(renew, (isNew) => (isNew ? callOnce(name, run) : Effect.fail(failure)))
      )
  }
})

const TRACE_PARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The trace of the launch, as the launch service names it in `TRACEPARENT`: it goes with every call. */
const traceParent = Effect.map(
  Effect.orElseSucceed(Config.String("TRACEPARENT"), () => ""),
  (given) => (TRACE_PARENT.test(given) ? { traceparent: given } : {})
)

/** What a gRPC failure is to an agent. */
export const callFailure = (call: string, cause: unknown): RuntimeCallFailed => {
  const failure = ConnectError.from(cause)
  return new RuntimeCallFailed({ call, status: grpcStatusName(failure.code).toLowerCase(), detail: failure.rawMessage })
}

/** One subscribe frame, then an open request side: half-closing it would end the subscription. */
export async function* subscribeFrames(first: StreamSessionRequest, signal: AbortSignal) {
  yield first
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}

const baseUrlOf = ({ runtime_url, secure }: BootstrapFile): string =>
  runtime_url.includes("://") ? runtime_url : `${secure === true ? "https" : "http"}://${runtime_url}`

/** Without a minted credential the participant id is the development identity. */
const credentialOf = ({ auth_token, participant_id }: BootstrapFile): string =>
  auth_token === undefined || auth_token === "" ? participant_id : auth_token
