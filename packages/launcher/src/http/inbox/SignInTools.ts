import { isOpen, LaunchSettings, makeWrongCredentials, readSettings, ServiceSettings } from "@runplane/server"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import { orUnavailable } from "../../people/Outage.ts"
import { NO_PEOPLE_DATABASE, People } from "../../people/People.ts"
import type { SignIn } from "../../people/SignInRows.ts"
import { makeOidcClient } from "./OidcClient.ts"
import { makePageAddress, NO_PAGE_ADDRESS, type PageAddress } from "./PageAddress.ts"
import { hashOfToken, makeToken, withToken } from "./PageCookie.ts"
import { databaseAway, makeKeyHolders } from "./PageSignIns.ts"

const settings = {
  keys: ServiceSettings.AUTH_API_KEYS,
  issuer: ServiceSettings.OIDC_ISSUER,
  roleClaim: ServiceSettings.OIDC_ROLE_CLAIM,
  groupsClaim: ServiceSettings.OIDC_GROUPS_CLAIM,
  clientId: LaunchSettings.OIDC_CLIENT_ID,
  clientSecret: LaunchSettings.OIDC_CLIENT_SECRET
}

/** A way to sign in that is ready: the rows that store it, and the address that its cookie is for. */
export interface Ready {
  readonly address: PageAddress
  /** Stores a sign-in, and adds its cookie to the answer. */
  readonly store: (
    answer: HttpServerResponse.HttpServerResponse,
    signIn: SignIn
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
}

/** What the routes of the sign-in share. */
export const makeSignInTools = Effect.gen(function* () {
  const people = yield* People
  const random = yield* SecureRandom.SecureRandom
  const { clientId, clientSecret, groupsClaim, issuer, keys, roleClaim } = yield* readSettings(settings)
  const addressOf = yield* makePageAddress
  const holders = yield* makeKeyHolders
  const oidc =
    issuer === undefined || clientId === undefined
      ? undefined
      : makeOidcClient({
          issuer,
          clientId,
          clientSecret: clientSecret === "" ? undefined : Redacted.make(clientSecret)
        })

  /** The way to sign in for a request, or why there is none. */
  const readyFor = (request: HttpServerRequest.HttpServerRequest): Ready | string => {
    const address = addressOf(request)
    if (people === undefined) return NO_PEOPLE_DATABASE
    if (address === undefined) return NO_PAGE_ADDRESS
    if (oidc === undefined && !holders.hasKeys) return "people sign in at OIDC_ISSUER: set OIDC_CLIENT_ID"
    return {
      address,
      store: (answer, signIn) =>
        Effect.gen(function* () {
          const token = yield* Effect.provideService(makeToken, SecureRandom.SecureRandom, random)
          yield* people.signIns.add(hashOfToken(token), signIn)
          return withToken(answer, address, token)
        }).pipe(
          orUnavailable,
          Effect.catch(() => Effect.succeed(databaseAway))
        )
    }
  }

  return {
    people,
    addressOf,
    holders,
    oidc,
    readyFor,
    spendWrong: yield* makeWrongCredentials,
    claimNames: { role: roleClaim, groups: groupsClaim },
    /** Whether every caller is let in, so that no person signs in. */
    isOpen: isOpen({ keys, issuer })
  }
})

export type SignInTools = Effect.Success<typeof makeSignInTools>

/** The inbox, or one item of it: nothing else is a way back from a sign-in. */
const WAY_BACK = /^\/inbox(?:\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/

export const queryOf = ({ url }: HttpServerRequest.HttpServerRequest) => new URLSearchParams(url.split("?")[1] ?? "")

/** Where a person goes after the sign-in. */
export const wayBackIn = (request: HttpServerRequest.HttpServerRequest): string => {
  const to = queryOf(request).get("to") ?? ""
  return WAY_BACK.test(to) ? to : "/inbox"
}

/** The path of a page as the browser has to name it. */
export const pathTo = ({ url }: PageAddress, to: string): string => new URL(url).pathname.replace(/\/$/, "") + to

export const redirect = (location: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status: 303, headers: { location, "cache-control": "no-store" } })
