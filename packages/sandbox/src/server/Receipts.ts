import { generateKeyPairSync, hash, sign } from "node:crypto"
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect"
import { isReleaseFrom, issueReceipt, type ReceiptSigner, standardMode } from "@runplane/domain"
import { type MACPRuntimeService, SessionState } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Authenticator } from "../auth/Authenticator.ts"
import type { Session } from "../core/Session.ts"
import { Kernel } from "../kernel/Kernel.ts"
import type { SandboxOptions } from "../SandboxOptions.ts"
import { statusOf } from "./Answers.ts"

/** The issuer of the receipts of a sandbox. */
const ISSUER = "runtime:runplane-sandbox"
/** The rules of the sandbox; it has no revisions of its own. */
const SEMANTICS = { implementation: "runplane-sandbox", rev: 1 }

/** Receipts of decisions (docs/internals/runtime.md#receipts). The key lives as long as the process. */
export const makeReceipts = (context: Context.Context<Kernel | Authenticator>, options: SandboxOptions) => {
  const kernel = Context.get(context, Kernel)
  const authenticator = Context.get(context, Authenticator)
  const run = Effect.runPromiseWith(context)
  const isServed = options.receipts !== "off" && isReleaseFrom(options.release, "0.13.0")
  const key = isServed && options.receipts === "signed" ? newKey() : undefined
  const keySet = JSON.stringify({ keys: key === undefined ? [] : [key.jwk] })
  /** A session has one receipt: each call returns the text of the first one. */
  const issued = new WeakMap<Session, string>()

  /** Undefined for a session that gets no receipt: only those of the standard modes that are resolved have one. */
  const issue = (session: Session, now: number): string | undefined => {
    const { modeId: mode, resolution: wire, state } = session
    if (state !== SessionState.RESOLVED || wire === undefined || standardMode(mode) === undefined) return undefined
    const known = issued.get(session)
    if (known !== undefined) return known
    const issuedAt = new Date(now).toISOString().replace(/\.\d+Z$/, "Z")
    const facts = { sessionId: session.binding.sessionId, mode, wire, issuer: ISSUER, issuedAt, semantics: SEMANTICS }
    const receipt = issueReceipt((...parts) => hash("sha256", Buffer.concat(parts), "buffer"), facts, key?.signer)
    if (Result.isSuccess(receipt)) issued.set(session, receipt.success)
    return Result.getOrUndefined(receipt)
  }

  const handlers: Partial<ServiceImpl<typeof MACPRuntimeService>> = isServed
    ? {
        getDecisionReceipt: ({ sessionId }, call: HandlerContext) =>
          run(
            Effect.gen(function* () {
              const identity = yield* authenticator.authenticate(call.requestHeader).pipe(Effect.mapError(statusOf))
              // All readers of a session can read its receipt.
              yield* kernel.describe(sessionId, identity).pipe(Effect.mapError(statusOf))
              const session = kernel.find(sessionId)
              const receiptJson = session && issue(session, yield* Clock.currentTimeMillis)
              return receiptJson === undefined ? yield* Effect.fail(unavailable()) : { receiptJson }
            })
          ),
        getReceiptKeys: () => ({ jwksJson: keySet })
      }
    : {}
  return { handlers, capability: { getDecisionReceipt: isServed, signed: key !== undefined } }
}

const unavailable = () =>
  new ConnectError("ReceiptUnavailable", Code.FailedPrecondition, { "macp-error-code": "RECEIPT_UNAVAILABLE" })

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const { x = "" } = publicKey.export({ format: "jwk" })
  const keyId = `sandbox-${x.slice(0, 8)}`
  const signer: ReceiptSigner = { keyId, sign: (message) => sign(null, message, privateKey) }
  return { signer, jwk: { kty: "OKP", crv: "Ed25519", kid: keyId, x, alg: "EdDSA", use: "sig" } }
}
