import { FRESH_SECONDS } from "@runplane/domain"
import type { Claims } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as client from "openid-client"
import { oneLine } from "../../common/LaunchErrors.ts"
import type { Pending } from "./PageCookie.ts"

/** Seconds that one answer of the issuer may take. */
const TIMEOUT_SECONDS = 5

/** What the issuer says about itself is read again after this time. */
const DISCOVERY_TTL_MS = 3_600_000

/** The issuer does not answer, or not as it has to. */
export class IssuerAway extends Data.TaggedError("IssuerAway")<{ readonly message: string }> {}

/** The issuer has refused the sign-in, or its answer belongs to another one. */
export class SignInRefused extends Data.TaggedError("SignInRefused")<{ readonly message: string }> {}

export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted | undefined
}

/**
 * Signs people in at an OpenID Connect issuer, by its authorization code with PKCE. The library checks the answer: its
 * state, and signature, issuer, audience, nonce and age of the ID token.
 */
export const makeOidcClient = ({ clientId, clientSecret, issuer }: OidcOptions) => {
  let known: { readonly configuration: client.Configuration; readonly readAt: number } | undefined

  const configuration = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && now < known.readAt + DISCOVERY_TTL_MS) return known.configuration
    const secret = clientSecret === undefined ? undefined : Redacted.value(clientSecret)
    const read = yield* Effect.tryPromise({
      try: () =>
        client.discovery(new URL(issuer), clientId, secret, secret === undefined ? client.None() : undefined, {
          timeout: TIMEOUT_SECONDS,
          execute: [
            client.enableNonRepudiationChecks,
            // The setting takes an address without TLS on the loopback only.
            ...(issuer.startsWith("http:") ? [client.allowInsecureRequests] : [])
          ]
        }),
      catch: (cause) => new IssuerAway({ message: textOf(cause) })
    })
    known = { configuration: read, readAt: now }
    return read
  })

  return {
    /** The address at the issuer to which the browser goes, and what it has to come back with. */
    begin: Effect.fn("OidcClient.begin")(function* (
      redirect: string,
      { isFresh, to }: Pick<Pending, "to" | "isFresh">
    ) {
      const read = yield* configuration
      const verifier = client.randomPKCECodeVerifier()
      const pending: Pending = { state: client.randomState(), nonce: client.randomNonce(), verifier, to, isFresh }
      const challenge = yield* Effect.promise(() => client.calculatePKCECodeChallenge(verifier))
      const url = client.buildAuthorizationUrl(read, {
        redirect_uri: redirect,
        scope: "openid profile email",
        code_challenge: challenge,
        code_challenge_method: "S256",
        state: pending.state,
        nonce: pending.nonce,
        ...(isFresh && { max_age: String(FRESH_SECONDS) })
      })
      return { url: url.href, pending }
    }),

    /** The claims of the person whom the issuer has signed in. `current` is the address it led the browser to. */
    finish: Effect.fn("OidcClient.finish")(function* (current: string, pending: Pending) {
      const read = yield* configuration
      const tokens = yield* Effect.tryPromise({
        try: () =>
          client.authorizationCodeGrant(read, new URL(current), {
            expectedState: pending.state,
            expectedNonce: pending.nonce,
            pkceCodeVerifier: pending.verifier,
            ...(pending.isFresh && { maxAge: FRESH_SECONDS })
          }),
        catch: (cause) =>
          isRefusal(cause) ? new SignInRefused({ message: textOf(cause) }) : new IssuerAway({ message: textOf(cause) })
      })
      const claims: Claims | undefined = tokens.claims()
      return claims ?? (yield* new SignInRefused({ message: "the issuer gave no ID token" }))
    })
  }
}

export type OidcClient = ReturnType<typeof makeOidcClient>

/** Faults of a network and of time, which are not about this sign-in. */
const AWAY: ReadonlySet<string> = new Set(["OAUTH_TIMEOUT", "OAUTH_ABORT", "OAUTH_RESPONSE_IS_NOT_CONFORM"])

const isRefusal = (cause: unknown): boolean => {
  if (cause instanceof client.AuthorizationResponseError || cause instanceof client.ResponseBodyError) return true
  return cause instanceof client.ClientError && !AWAY.has(cause.code ?? "")
}

/** What is wrong, with the issuer's own words where it has some. */
const textOf = (cause: unknown): string => {
  if (cause instanceof client.AuthorizationResponseError || cause instanceof client.ResponseBodyError) {
    return oneLine({ message: cause.error_description ?? cause.error }).slice(0, 500)
  }
  return cause instanceof Error ? oneLine(cause).slice(0, 500) : "it failed"
}
