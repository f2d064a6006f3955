import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect"
import { createGrpcTransport } from "@connectrpc/connect-node"
import { GuardedSessionManager, MACPRuntimeService, type StreamSessionRequest } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { RuntimeCallFailed } from "./AgentFailure.ts"
import type { BootstrapFile } from "./Bootstrap.ts"

/** Milliseconds a unary call may take. Streams have no deadline. */
const CALL_TIMEOUT_MS = 10_000

export interface RuntimeConnection {
  readonly client: Client<typeof MACPRuntimeService>
  /** One unary call with the agent's credential; interruption cancels it. */
  readonly call: <A>(
    name: string,
    run: (options: { signal: AbortSignal; headers: Record<string, string>; timeoutMs: number }) => Promise<A>
  ) => Effect.Effect<A, RuntimeCallFailed>
  readonly headers: Record<string, string>
}

/** Opens the agent's connection to the runtime; it closes with the scope. */
export const connect = (bootstrap: BootstrapFile): Effect.Effect<RuntimeConnection, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new GuardedSessionManager(baseUrlOf(bootstrap))),
      (manager) => Effect.sync(() => manager.abort())
    ),
    (sessionManager) => {
      const transport = createGrpcTransport({ baseUrl: baseUrlOf(bootstrap), sessionManager })
      const client = createClient(MACPRuntimeService, transport)
      const headers = { authorization: `Bearer ${credentialOf(bootstrap)}` }
      return {
        client,
        headers,
        call: (name, run) =>
          Effect.tryPromise({
            try: (signal) => run({ signal, headers, timeoutMs: CALL_TIMEOUT_MS }),
            catch: (cause) => callFailure(name, cause)
          })
      }
    }
  )

/** What a gRPC failure is to an agent. */
export const callFailure = (call: string, cause: unknown): RuntimeCallFailed => {
  const failure = ConnectError.from(cause)
  return new RuntimeCallFailed({ call, status: STATUS_NAMES[failure.code], detail: failure.rawMessage })
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

const STATUS_NAMES: Readonly<Record<Code, string>> = {
  [Code.Canceled]: "canceled",
  [Code.Unknown]: "unknown",
  [Code.InvalidArgument]: "invalid_argument",
  [Code.DeadlineExceeded]: "deadline_exceeded",
  [Code.NotFound]: "not_found",
  [Code.AlreadyExists]: "already_exists",
  [Code.PermissionDenied]: "permission_denied",
  [Code.ResourceExhausted]: "resource_exhausted",
  [Code.FailedPrecondition]: "failed_precondition",
  [Code.Aborted]: "aborted",
  [Code.OutOfRange]: "out_of_range",
  [Code.Unimplemented]: "unimplemented",
  [Code.Internal]: "internal",
  [Code.Unavailable]: "unavailable",
  [Code.DataLoss]: "data_loss",
  [Code.Unauthenticated]: "unauthenticated"
}
