import { createHash } from "node:crypto"
import type { Actor } from "@runplane/api"
import { actorsOf, indexOfKey, launcherForm, readSettings, ServiceSettings, SignIns } from "@runplane/server"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { orUnavailable } from "../../people/Outage.ts"
import { People } from "../../people/People.ts"
import type { SignIn } from "../../people/SignInRows.ts"
import { isOfPage, makePageAddress } from "./PageAddress.ts"
import { hashOfToken, tokenIn } from "./PageCookie.ts"

const settings = {
  keys: ServiceSettings.AUTH_API_KEYS,
  names: ServiceSettings.AUTH_API_KEY_NAMES,
  roles: ServiceSettings.AUTH_API_KEY_ROLES
}

/** Seconds until a database that does not answer is worth another try. */
const RETRY_SECONDS = "5"

export const databaseAway = HttpServerResponse.setHeader(
  launcherForm.unavailable("the database of the inbox does not answer"),
  "retry-after",
  RETRY_SECONDS
)

const hashOfKey = (key: string): Uint8Array => createHash("sha256").update(key).digest()

/** The keys of the service as people sign in with them. */
export const makeKeyHolders = Effect.gen(function* () {
  const { keys, names, roles } = yield* readSettings(settings)
  const actors = yield* Effect.orDie(actorsOf(keys, names, roles))
  const byHash = new Map(keys.map((key, index) => [Hex.encode(hashOfKey(key)), actors[index]]))
  return {
    hasKeys: keys.length > 0,
    /** The holder of a key; undefined for a wrong one. */
    ofKey: (key: string) => actors[indexOfKey(keys, key)],
    /** The holder of a configured key with this hash: a key that is removed ends its sign-ins. */
    ofHash: (hash: Uint8Array) => byHash.get(Hex.encode(hash)),
    hashOfKey
  }
}).pipe(Effect.provide(Digest.layerWebCrypto))

const actorOf = (signIn: SignIn, ofHash: (hash: Uint8Array) => Actor | undefined): Actor | undefined => {
  const { by, name, person } = signIn
  if (by._tag === "key") {
    const holder = ofHash(by.keySha256)
    return holder && { ...holder, isPage: true }
  }
  const { groups, isVoter, role, signedInAtUnixMs } = by
  return {
    actorId: `user:${person}`,
    actorType: "user",
    ...(name !== undefined && { name: `user:${name}` }),
    role,
    groups,
    isPage: true,
    ...(isVoter && { isVoter }),
    ...(signedInAtUnixMs !== undefined && { signedInAtUnixMs })
  }
}

/**
 * Knows persons by the cookie of the page. A request that writes has to come from a page of this service: a browser
 * sends the cookie with those of other sites too, where it does not know `SameSite`.
 */
export const layerPageSignIns = Layer.effect(
  SignIns,
  Effect.gen(function* () {
    const people = yield* People
    const addressOf = yield* makePageAddress
    const holders = yield* makeKeyHolders
    if (people === undefined) return { find: () => Effect.undefined }
    return {
      find: Effect.fn("PageSignIns.find")(function* (request: HttpServerRequest.HttpServerRequest) {
        const address = addressOf(request)
        const token = address && tokenIn(request, address)
        if (address === undefined || token === undefined) return undefined
        const signIn = yield* Effect.mapError(
          orUnavailable(people.signIns.find(hashOfToken(token))),
          () => databaseAway
        )
        const actor = signIn && actorOf(signIn, holders.ofHash)
        if (actor === undefined) return undefined
        const isRead = request.method === "GET" || request.method === "HEAD"
        if (!isRead && !isOfPage(request, address)) {
          return yield* Effect.fail(
            launcherForm.forbidden("a request with a cookie has to come from a page of the inbox")
          )
        }
        return actor
      })
    }
  })
)
