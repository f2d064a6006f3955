import type { InboxItem } from "@runplane/api"
import { passkeyChallenge, signedText } from "@runplane/domain"
import {
  AUDIENCE,
  CLIENT_ID,
  type Misuse,
  makeAuthenticator,
  makeCodeIssuer,
  type PasskeyKind,
  request
} from "@runplane/testing"
import * as Effect from "effect/Effect"
import { sha256 } from "../../../src/people/SeatSession.ts"
import { approval, ask, type Headers, makeInboxStage, type StagedSeat } from "../InboxStage.ts"

/** The page as browsers know it: passkeys are made for its host. */
export const PAGE = "https://inbox.example"

type Authenticator = ReturnType<typeof makeAuthenticator>
type Shown = Pick<InboxItem, "id" | "basis" | "proposalHash">

/** A launch service with an issuer, whose page is at an address of its own. */
export const makePasskeyStage = Effect.fnUntraced(function* (
  seats: ReadonlyArray<StagedSeat>,
  env: Readonly<Record<string, string>> = {},
  directory?: string
) {
  const issuer = yield* makeCodeIssuer
  const sso = { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE, OIDC_CLIENT_ID: CLIENT_ID }
  const options = directory === undefined ? {} : { directory }
  const stage = yield* makeInboxStage(seats, { ...sso, LAUNCHER_PUBLIC_URL: PAGE, ...env }, options)
  const { url } = stage

  /** Signs a person in, and returns what its browser sends. */
  const signIn = Effect.fnUntraced(function* (sub: string, ageSeconds = 5) {
    issuer.state.person = { sub, roles: ["voter"], groups: ["risk"] }
    issuer.state.age = ageSeconds
    const open = (path: string, cookie = "") =>
      Effect.promise(async () => {
        const answer = await fetch(path, { redirect: "manual", headers: { accept: "text/html", cookie } })
        const cookies = answer.headers.getSetCookie().flatMap((set) => set.split(";")[0] ?? [])
        return { to: answer.headers.get("location") ?? "", cookies }
      })
    const begun = yield* open(`${url}/inbox/sign-in`)
    const led = yield* open(begun.to)
    const back = yield* open(led.to.replace(PAGE, url), begun.cookies.join("; "))
    const person = back.cookies.find((one) => one.startsWith("__Host-runplane-person="))
    const headers: Headers = { cookie: person ?? "", origin: PAGE }
    return headers
  })

  const passkeys = (headers: Headers) => ask(url, "GET", "/people/me/passkeys", headers)

  const withNonce = (headers: Headers) =>
    Effect.map(passkeys(headers), ({ body }): Headers => ({ ...headers, "x-page-nonce": String(body.nonce) }))

  /** Enrols the passkey of an authenticator. */
  const enrol = Effect.fnUntraced(function* (headers: Headers, authenticator: Authenticator, misuse: Misuse = {}) {
    const mine = yield* withNonce(headers)
    const { body } = yield* ask(url, "POST", "/people/me/passkeys/challenges", mine)
    const { id: credentialId, ...made } = authenticator.create(body.challenge, misuse)
    const enrolment = { name: "Phone", credentialId, challenge: body.challenge, ...made }
    return { enrolment, answer: yield* ask(url, "POST", "/people/me/passkeys", mine, enrolment) }
  })

  const item = (headers: Headers, id: string) =>
    Effect.map(ask(url, "GET", `/inbox/${id}`, headers), ({ body }) => body)

  const challenge = (headers: Headers, shown: Shown & { readonly nonce: string }) =>
    ask(url, "POST", `/inbox/${shown.id}/challenges`, { ...headers, "x-page-nonce": shown.nonce })

  /** The body of an answer that an authenticator has signed. */
  const signed = (shown: Shown, nonce: string, authenticator: Authenticator, misuse: Misuse = {}, reason = "fine") => {
    const answer = approval(shown, reason)
    const text = signedText({ ...answer, act: "approve", item: shown.id, nonce })
    const { id: credentialId, ...assertion } = authenticator.get(passkeyChallenge(sha256, text), misuse)
    return { ...answer, passkey: { credentialId, nonce, ...assertion } }
  }

  const send = (headers: Headers, shown: { readonly id: string; readonly nonce: string }, body: object) =>
    request("POST", `${url}/inbox/${shown.id}/answers`, {
      headers: { ...headers, "x-page-nonce": shown.nonce },
      body
    })

  return { ...stage, issuer, signIn, passkeys, withNonce, enrol, item, challenge, signed, send }
})

export const authenticator = (kind?: PasskeyKind) => makeAuthenticator(PAGE, kind)
