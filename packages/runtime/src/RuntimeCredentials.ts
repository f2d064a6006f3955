import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { MINT_TIMEOUT_MS, type MintedToken, mintToken, TOKEN_TTL_SECONDS } from "./MintToken.ts"

/** Identity of the control plane where the settings name none. */
export const CONTROL_PLANE_IDENTITY = "macp-control-plane"
/** A minted token is replaced this long before it expires. */
export const TOKEN_REFRESH_EARLY_MS = 40_000
/** A shorter life reported by the token service counts as this much. */
export const TOKEN_MINIMUM_LIFE_MS = 60_000
/** After a failed request for a token no other is made for so long: a dead token service must not delay every call. */
export const MINT_RETRY_AFTER_MS = 5000
/**
 * A token refused by the runtime is replaced only if it is older than this, so that refusals cannot flood the service.
 */
export const TOKEN_MINIMUM_AGE_MS = 5000

const DEV_HEADER = "x-macp-agent-id"

export interface TokenServiceOptions {
  readonly url: string
  readonly timeoutMs?: number
  readonly ttlSeconds?: number
  readonly sender?: string
  /** Requests the right to change policies. */
  readonly canManageRegistry?: boolean
}

export interface RuntimeCredentialsOptions {
  readonly tokenService?: TokenServiceOptions
  readonly bearer?: Redacted.Redacted
  /** Identity sent as development header and as bearer value; development runtimes take any bearer as the sender. */
  readonly devAgentId?: string
}

/** Metadata of a call; secrets stay wrapped until they are put on the wire. */
export type CredentialHeaders = ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>

/**
 * Who we are towards the runtime: minted JWT, else static bearer, else development identity, else nothing.
 */
export class RuntimeCredentials extends Context.Service<
  RuntimeCredentials,
  {
    /** Never fails: without a minted token the next step of the chain applies. */
    readonly headers: Effect.Effect<CredentialHeaders>
    /**
     * The runtime refused the credential: a cached token is not used again. True when there may be another one by now,
     * so that a call is worth a second attempt.
     */
    readonly refused: Effect.Effect<boolean>
    /** The headers of another sender; only development credentials, which are names, have them. */
    readonly inNameOf?: (sender: string) => CredentialHeaders
  }
>()("runplane/runtime/RuntimeCredentials") {
  /** Without a credential, for runtimes without authentication. */
  static readonly layerNone: Layer.Layer<RuntimeCredentials> = Layer.succeed(RuntimeCredentials, {
    headers: Effect.succeed([]),
    refused: Effect.succeed(false)
  })

  static readonly layerChain = (
    options: RuntimeCredentialsOptions
  ): Layer.Layer<RuntimeCredentials, never, HttpClient.HttpClient> => Layer.effect(RuntimeCredentials, make(options))
}

const make = Effect.fnUntraced(function* (options: RuntimeCredentialsOptions) {
  const fallback = staticHeaders(options)
  if (options.tokenService === undefined) {
    const isName = options.bearer === undefined && options.devAgentId !== undefined
    return RuntimeCredentials.of({
      headers: Effect.succeed(fallback),
      refused: Effect.succeed(false),
      ...(isName ? { inNameOf: developmentHeaders } : {})
    })
  }
  const token = yield* makeCachedToken(options.tokenService)
  return RuntimeCredentials.of({
    headers: Effect.map(token.current, (minted) => (minted === undefined ? fallback : bearerHeaders(minted))),
    refused: token.refused
  })
})

const staticHeaders = ({ bearer, devAgentId }: RuntimeCredentialsOptions): CredentialHeaders => {
  if (bearer !== undefined) return bearerHeaders(bearer)
  return devAgentId === undefined ? [] : developmentHeaders(devAgentId)
}

const developmentHeaders = (name: string): CredentialHeaders => {
  const identity = Redacted.make(name)
  // Runtimes since 0.5 read only the bearer, older ones the header.
  return [[DEV_HEADER, identity], ...bearerHeaders(identity)]
}

const bearerHeaders = (token: Redacted.Redacted): CredentialHeaders => [
  ["authorization", Redacted.make(`Bearer ${Redacted.value(token)}`)]
]

interface CachedToken extends MintedToken {
  readonly mintedAt: number
}

/** The token of the auth service, minted again before it ends; undefined while there is none. */
const makeCachedToken = Effect.fnUntraced(function* (options: TokenServiceOptions) {
  const { timeoutMs = MINT_TIMEOUT_MS, ttlSeconds = TOKEN_TTL_SECONDS, sender = CONTROL_PLANE_IDENTITY, url } = options
  const scopes = {
    can_start_sessions: false,
    is_observer: true,
    ...(options.canManageRegistry === true ? { can_manage_mode_registry: true } : {})
  }
  const mint = Effect.gen(function* () {
    const minted = yield* mintToken({ url, timeoutMs }, { sender, ttlSeconds, scopes })
    const token: CachedToken = { ...minted, mintedAt: yield* Clock.currentTimeMillis }
    return token
  }).pipe(Effect.tapError(({ message }) => Effect.logWarning(`no runtime token from the token service: ${message}`)))

  // Callers that come at the same time share one request, and a failed one is not repeated at once.
  const tokens = yield* Cache.makeWith((_sender: string) => mint, {
    capacity: 1,
    timeToLive: Exit.match({
      onFailure: () => MINT_RETRY_AFTER_MS,
      onSuccess: ({ lifeMs }) => Math.max(lifeMs, TOKEN_MINIMUM_LIFE_MS) - TOKEN_REFRESH_EARLY_MS
    })
  })
  return {
    current: Cache.get(tokens, sender).pipe(
      Effect.map(({ token }) => token),
      Effect.orElseSucceed(() => undefined)
    ),
    refused: Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Cache.invalidateWhen(tokens, sender, ({ mintedAt }) => now - mintedAt >= TOKEN_MINIMUM_AGE_MS)
    )
  }
})
