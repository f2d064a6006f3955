import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect"
import type { Release } from "@runplane/domain"
import type { MACPRuntimeService } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Authenticator } from "../auth/Authenticator.ts"
import type { Identity } from "../auth/Identity.ts"
import { PROTOCOL_VERSION } from "../core/EnvelopeShape.ts"
import type { ModeInfo } from "../core/Mode.ts"
import { Unauthenticated } from "../core/Rejection.ts"
import { type ControlKind, Kernel } from "../kernel/Kernel.ts"
import { ModeRegistry } from "../kernel/ModeRegistry.ts"
import { PolicyRegistry } from "../kernel/PolicyRegistry.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { ackOf, denialOfAck, statusOf } from "./Answers.ts"
import { listSessions } from "./ListSessions.ts"
import { makeReceipts } from "./Receipts.ts"
import { send } from "./Send.ts"
import { makeStreamSession, type StreamServices } from "./StreamSession.ts"
import { makeWatches, type WatchServices } from "./Watches.ts"

/**
 * What Initialize answers, the modes excepted: identity and capabilities (docs/internals/runtime.md#rpcs). The version
 * is the release whose rules are followed: by it clients judge what the runtime can do.
 */
const runtimeInfo = (release: Release) => ({
  ...RUNTIME_INFO,
  runtimeInfo: { ...RUNTIME_INFO.runtimeInfo, version: release }
})

/** Clients that know only the reference runtime name it in their requests. */
const REFERENCE_RUNTIME = "macp-runtime"

const RUNTIME_INFO = {
  selectedProtocolVersion: PROTOCOL_VERSION,
  runtimeInfo: {
    name: "runplane-sandbox",
    title: "Runplane sandbox runtime",
    description: "Development runtime: sessions in memory, gone when the process ends.",
    websiteUrl: ""
  },
  capabilities: {
    sessions: { stream: true, listSessions: true, watchSessions: true },
    cancellation: { cancelSession: true },
    progress: { progress: true },
    manifest: { getManifest: true },
    modeRegistry: { listModes: true, listChanged: true },
    roots: { listRoots: true, listChanged: false },
    policyRegistry: { registerPolicy: true, listPolicies: true, listChanged: true }
  },
  instructions: "Authenticate every call with `authorization: Bearer <token>`."
} as const

export type HandlerServices = StreamServices | WatchServices

/** The RPCs of `MACPRuntimeService` over the kernel (docs/internals/runtime.md#rpcs). */
export const makeHandlers = (
  context: Context.Context<HandlerServices>,
  options: SandboxOptions
): Partial<ServiceImpl<typeof MACPRuntimeService>> => {
  const run = Effect.runPromiseWith(context)
  const kernel = Context.get(context, Kernel)
  const policies = Context.get(context, PolicyRegistry)
  const modes = Context.get(context, ModeRegistry)
  const authenticator = Context.get(context, Authenticator)
  const receipts = makeReceipts(context, options)
  const supportedModes = () => [...modes.list("standard"), ...modes.list("extension")].map(({ mode }) => mode)

  const identify = (call: HandlerContext) =>
    authenticator.authenticate(call.requestHeader).pipe(Effect.mapError(statusOf))

  const manage = (call: HandlerContext) => Effect.flatMap(identify(call), requireManager)

  const control = (kind: ControlKind) => (request: { sessionId: string; reason: string }, call: HandlerContext) =>
    run(
      Effect.gen(function* () {
        const identity = yield* identify(call)
        const { reason, sessionId } = request
        const result = yield* kernel.control(kind, sessionId, reason, identity).pipe(Effect.mapError(statusOf))
        const now = yield* Clock.currentTimeMillis
        return { ack: ackOf(result, { messageId: "", sessionId }, now, options.release) }
      })
    )

  return {
    initialize: ({ supportedProtocolVersions }) => {
      if (supportedProtocolVersions.length === 0) {
        throw new ConnectError("supported_protocol_versions is empty", Code.InvalidArgument)
      }
      if (!supportedProtocolVersions.includes(PROTOCOL_VERSION)) {
        throw new ConnectError(
          `UNSUPPORTED_PROTOCOL_VERSION: this runtime speaks ${PROTOCOL_VERSION}`,
          Code.FailedPrecondition
        )
      }
      const info = runtimeInfo(options.release)
      const capabilities = { ...info.capabilities, decisionReceipt: receipts.capability }
      return { ...info, capabilities, supportedModes: supportedModes() }
    },

    send: ({ envelope }, call) => {
      if (envelope === undefined) throw new ConnectError("envelope is missing", Code.InvalidArgument)
      const identity = authenticator
        .authenticate(call.requestHeader)
        .pipe(
          Effect.mapError(({ message }) => ({ ...Unauthenticated, variant: `${Unauthenticated.variant}: ${message}` }))
        )
      return run(
        Effect.flatMap(send(kernel, options, envelope, identity), (ack) => {
          const denial = options.denialsAsStatus ? denialOfAck(ack) : undefined
          return denial === undefined ? Effect.succeed({ ack }) : Effect.fail(denial)
        })
      )
    },

    streamSession: makeStreamSession(context, options),

    getSession: ({ sessionId }, call) =>
      run(
        identify(call).pipe(
          Effect.flatMap((identity) => kernel.describe(sessionId, identity).pipe(Effect.mapError(statusOf))),
          Effect.map((metadata) => ({ metadata }))
        )
      ),
    cancelSession: control("cancel"),
    suspendSession: control("suspend"),
    resumeSession: control("resume"),
    listSessions: (request, call) =>
      run(
        identify(call).pipe(Effect.andThen(listSessions(kernel.sessions(), request).pipe(Effect.mapError(statusOf))))
      ),

    getManifest: ({ agentId }) => {
      if (!["", RUNTIME_INFO.runtimeInfo.name, REFERENCE_RUNTIME].includes(agentId)) {
        throw new ConnectError(`no manifest for ${agentId}`, Code.NotFound)
      }
      const { description, name, title } = RUNTIME_INFO.runtimeInfo
      const types = ["application/protobuf"]
      return {
        manifest: {
          agentId: name,
          title,
          description,
          supportedModes: supportedModes(),
          inputContentTypes: types,
          outputContentTypes: types
        }
      }
    },

    listModes: () => ({ modes: modes.list("standard").map(descriptor) }),
    listExtModes: () => ({ modes: modes.list("extension").map(descriptor) }),
    registerExtMode: ({ modeDescriptor }, call) =>
      run(
        Effect.gen(function* () {
          yield* manage(call)
          if (modeDescriptor === undefined) {
            return yield* Effect.fail(new ConnectError("descriptor required", Code.InvalidArgument))
          }
          return yield* answered(modes.register(modeDescriptor))
        })
      ),
    unregisterExtMode: ({ mode }, call) => run(Effect.andThen(manage(call), answered(modes.unregister(mode)))),
    promoteMode: ({ mode, promotedModeName }, call) =>
      run(
        manage(call).pipe(
          Effect.andThen(Effect.result(modes.promote(mode, promotedModeName))),
          Effect.map((result) =>
            Result.isSuccess(result)
              ? { ok: true, error: "", mode: result.success }
              : { ok: false, error: result.failure.message, mode: "" }
          )
        )
      ),
    listRoots: () => ({ roots: [] }),

    registerPolicy: ({ policyDescriptor }, call) =>
      run(
        Effect.gen(function* () {
          yield* manage(call)
          if (policyDescriptor === undefined) return { ok: false, error: "policy_descriptor is missing" }
          return yield* answered(policies.register(policyDescriptor))
        })
      ),
    unregisterPolicy: ({ policyId }, call) =>
      run(Effect.andThen(manage(call), answered(policies.unregister(policyId)))),
    getPolicy: ({ policyId }, call) =>
      run(
        Effect.flatMap(identify(call), () => {
          const policyDescriptor = policies.find(policyId)
          return policyDescriptor === undefined
            ? Effect.fail(new ConnectError(`policy ${policyId} not found`, Code.NotFound))
            : Effect.succeed({ policyDescriptor })
        })
      ),
    listPolicies: ({ mode }, call) =>
      run(Effect.map(identify(call), () => ({ descriptors: [...policies.list(mode)] }))),

    ...receipts.handlers,
    ...makeWatches(context, options)
  }
}

const requireManager = (identity: Identity) =>
  identity.canManageModeRegistry
    ? Effect.succeed(identity)
    : Effect.fail(new ConnectError("FORBIDDEN: caller may not manage registries", Code.PermissionDenied))

const answered = <E extends { readonly message: string }>(effect: Effect.Effect<void, E>) =>
  effect.pipe(
    Effect.result,
    Effect.map((result) =>
      Result.isSuccess(result) ? { ok: true, error: "" } : { ok: false, error: result.failure.message }
    )
  )

const descriptor = (info: ModeInfo) => ({
  ...info,
  messageTypes: [...info.messageTypes],
  schemaUris: { ...info.schemaUris },
  terminalMessageTypes: ["Commitment"]
})
