import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { signingKeys, type TokenAlgorithm } from "../../src/auth/JsonWebKeys.ts"
import { identityOfToken } from "../../src/auth/SignedToken.ts"
import { T0 } from "../support/Sessions.ts"
import { AUDIENCE, ecKey, ISSUER, mint, rsaKey, secretKey } from "../support/Tokens.ts"

const rsa = rsaKey("rsa-1")
const ec = ecKey("ec-1")
const secret = secretKey("secret-1")
const stranger = ecKey("ec-1")
const published = [{ kty: "OKP", crv: "Ed25519", x: "AA" }, "no key", rsa.jwk, ec.jwk, secret.jwk]
const keys = signingKeys({ keys: published })

/** What a token is worth at `T0`; undefined when it is refused. */
const identify = Effect.fnUntraced(function* (
  token: string,
  algorithms: ReadonlyArray<TokenAlgorithm> = ["RS256", "ES256"]
) {
  yield* TestClock.setTime(T0)
  const identity = identityOfToken(token, keys, { issuer: ISSUER, audience: AUDIENCE, algorithms })
  return Option.getOrUndefined(yield* Effect.option(identity))
})

describe("a signed token", () => {
  it("passes over keys it cannot use", () => assert.lengthOf(keys, 3))

  it.effect("names its subject and allows everything but observing and managing by default", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* identify(mint(ec, T0)), {
        sender: "agent://lead",
        allowedModes: undefined,
        canStartSessions: true,
        maxOpenSessions: undefined,
        canManageModeRegistry: false,
        isObserver: false
      })
    })
  )

  it.effect("carries the scopes of its holder, and an empty list of modes allows none", () =>
    Effect.gen(function* () {
      const scopes = {
        allowed_modes: [],
        can_start_sessions: false,
        max_open_sessions: 2,
        can_manage_mode_registry: true,
        is_observer: true,
        of_somebody_else: "ignored"
      }
      assert.deepStrictEqual(yield* identify(mint(rsa, T0, { sub: "control-plane", macp_scopes: scopes })), {
        sender: "control-plane",
        allowedModes: new Set<string>(),
        canStartSessions: false,
        maxOpenSessions: 2,
        canManageModeRegistry: true,
        isObserver: true
      })
    })
  )

  const accepted: ReadonlyArray<readonly [string, string]> = [
    ["RS256", mint(rsa, T0)],
    ["ES256", mint(ec, T0)],
    ["a list of audiences", mint(ec, T0, { aud: ["other", AUDIENCE] })],
    ["an unknown key id, by trying every key", mint(ec, T0, {}, { kid: "other" })],
    ["no key id, by trying every key", mint(ec, T0, {}, { kid: undefined })],
    ["an end less than the leeway ago", mint(ec, T0 - 355_000)],
    ["a beginning less than the leeway ahead", mint(ec, T0, { nbf: T0 / 1_000 + 30 })]
  ]
  for (const [name, token] of accepted) {
    it.effect(`is accepted with ${name}`, () => Effect.map(identify(token), assert.isDefined))
  }

  const [header, claims, signature] = mint(ec, T0).split(".")
  const [, otherClaims] = mint(ec, T0, { sub: "agent://mallory" }).split(".")
  const refused: ReadonlyArray<readonly [string, string]> = [
    ["another issuer", mint(ec, T0, { iss: "other" })],
    ["another audience", mint(ec, T0, { aud: "other" })],
    ["no subject", mint(ec, T0, { sub: "" })],
    ["no end", mint(ec, T0, { exp: undefined })],
    ["an end longer than the leeway ago", mint(ec, T0 - 365_000)],
    ["a beginning further ahead than the leeway", mint(ec, T0, { nbf: T0 / 1_000 + 90 })],
    ["a scope of the wrong type", mint(ec, T0, { macp_scopes: { is_observer: "yes" } })],
    ["scopes that are no object", mint(ec, T0, { macp_scopes: "all" })],
    ["a key that is not in the set", mint(stranger, T0)],
    ["claims that were exchanged", `${header}.${otherClaims}.${signature}`],
    ["a cut signature", `${header}.${claims}.${signature?.slice(0, -4)}`],
    ["no signature", `${header}.${claims}.`],
    ["the algorithm none", mint(ec, T0, {}, { alg: "none" })],
    ["an algorithm that is not enabled", mint(secret, T0)],
    ["an extension that must be understood", mint(ec, T0, {}, { crit: ["exp"] })],
    ["two parts", `${header}.${claims}`],
    ["no JSON", "a.b.c"]
  ]
  for (const [name, token] of refused) {
    it.effect(`is refused with ${name}`, () => Effect.map(identify(token), assert.isUndefined))
  }

  it.effect("is accepted with HS256 only when that is enabled", () =>
    Effect.gen(function* () {
      assert.isDefined(yield* identify(mint(secret, T0), ["HS256"]))
      assert.isUndefined(yield* identify(mint(ec, T0), ["HS256"]))
    })
  )
})
