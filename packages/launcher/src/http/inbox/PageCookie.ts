import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import { SIGN_IN_HOURS } from "../../people/SignInRows.ts"
import type { PageAddress } from "./PageAddress.ts"

const TOKEN_BYTES = 32
const TOKEN = /^[\w-]{43}$/

/** A browser sends a cookie with this prefix only to the host that set it, over https. */
const nameOf = (name: string, { isSecure }: PageAddress) => (isSecure ? `__Host-${name}` : name)

const PERSON = "runplane-person"
const PENDING = "runplane-sign-in"

/** How long a person may take at the issuer. */
const PENDING_MINUTES = 10

const setCookie = (
  response: HttpServerResponse.HttpServerResponse,
  address: PageAddress,
  { maxAgeMinutes, name, value }: { readonly name: string; readonly value: string; readonly maxAgeMinutes: number }
) =>
  HttpServerResponse.setCookieUnsafe(response, nameOf(name, address), value, {
    httpOnly: true,
    secure: address.isSecure,
    sameSite: "lax",
    path: "/",
    maxAge: `${maxAgeMinutes} minutes`
  })

/** A new token of a cookie. */
export const makeToken = Effect.flatMap(SecureRandom.SecureRandom, ({ randomBytes }) =>
  Effect.map(randomBytes(TOKEN_BYTES), Base64Url.encode)
)

export const hashOfToken = (token: string): Uint8Array => createHash("sha256").update(token).digest()

/** The token that the cookie of a request holds. */
export const tokenIn = (
  { cookies }: Pick<HttpServerRequest.HttpServerRequest, "cookies">,
  address: PageAddress
): string | undefined => {
  const token = cookies[nameOf(PERSON, address)]
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

export const withToken = (response: HttpServerResponse.HttpServerResponse, address: PageAddress, token: string) =>
  setCookie(response, address, { name: PERSON, value: token, maxAgeMinutes: SIGN_IN_HOURS * 60 })

export const withoutToken = (response: HttpServerResponse.HttpServerResponse, address: PageAddress) =>
  setCookie(response, address, { name: PERSON, value: "", maxAgeMinutes: 0 })

/** A sign-in on its way to the issuer and back. Only the browser that began it has this. */
export const Pending = Schema.Struct({
  state: Schema.String,
  nonce: Schema.String,
  verifier: Schema.String,
  to: Schema.String,
  isFresh: Schema.Boolean
})
export type Pending = typeof Pending.Type

const PendingText = Schema.StringFromBase64Url.pipe(Schema.decodeTo(Schema.fromJsonString(Pending)))
const encodePending = Schema.encodeSync(PendingText)
const decodePending = Schema.decodeUnknownOption(PendingText)

export const pendingIn = ({ cookies }: Pick<HttpServerRequest.HttpServerRequest, "cookies">, address: PageAddress) =>
  decodePending(cookies[nameOf(PENDING, address)])

export const withPending = (response: HttpServerResponse.HttpServerResponse, address: PageAddress, pending: Pending) =>
  setCookie(response, address, { name: PENDING, value: encodePending(pending), maxAgeMinutes: PENDING_MINUTES })

export const withoutPending = (response: HttpServerResponse.HttpServerResponse, address: PageAddress) =>
  setCookie(response, address, { name: PENDING, value: "", maxAgeMinutes: 0 })

/** The nonce of the page of an item, for the holder of a token. */
export const pageNonce = (token: string, item: string): string =>
  createHmac("sha256", Buffer.from(token, "base64url")).update(item).digest("hex")

/** Whether a text is the nonce of this item's page. */
export const isPageNonce = (token: string, item: string, given: string | undefined): boolean => {
  const expected = Buffer.from(pageNonce(token, item))
  const sent = Buffer.from(given ?? "")
  return expected.length === sent.length && timingSafeEqual(expected, sent)
}
