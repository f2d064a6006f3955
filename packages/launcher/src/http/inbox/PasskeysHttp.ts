import { CurrentActor, LauncherApi, launcherError, type Passkey as PasskeyAnswer, type Passkeys } from "@runplane/api"
import { isFreshSignIn, PASSKEY_ALGORITHMS } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { NO_PEOPLE_DATABASE, People } from "../../people/People.ts"
import type { Passkey } from "../../people/passkeys/PasskeyRows.ts"
import type { PasskeyRefused } from "../../people/passkeys/WebAuthn.ts"
import { sha256 } from "../../people/SeatSession.ts"
import { passkeyError } from "./AnswerErrors.ts"
import { makeInboxCalls } from "./InboxCalls.ts"
import { orAway } from "./OrAway.ts"

/** What the nonce of the page of passkeys is for, in place of an item. */
const PAGE = "passkeys"

const NO_ISSUER = "a passkey is enrolled after a sign-in at an issuer, and a key has no time of sign-in"

const passkeyAnswer = ({ enrolledAt, id, name, rpId, usedAt }: Passkey): PasskeyAnswer => ({
  ...{ id, name, rpId, enrolledAt },
  ...(usedAt !== undefined && { usedAt })
})

const utf8 = new TextEncoder()

/** The passkeys of the caller (docs/reference/people.md#passkeys). */
export const PasskeysHttp = HttpApiBuilder.group(
  LauncherApi,
  "passkeys",
  Effect.fnUntraced(function* (handlers) {
    const people = yield* People
    const { caller, nonceOf, passkeyPage, writer } = yield* makeInboxCalls
    const withPeople =
      people === undefined ? Effect.fail(launcherError("INVALID_CONFIG", NO_PEOPLE_DATABASE)) : Effect.succeed(people)

    return handlers.handleAll({
      list: ({ request }) =>
        Effect.gen(function* () {
          const { items, passkeys } = yield* withPeople
          const { mayNot, person } = yield* caller(request)
          const data = (yield* passkeys.of(person.id)).map(passkeyAnswer)
          const page = yield* Effect.result(passkeyPage(request))
          const nonce = yield* nonceOf(request, PAGE)
          const obstacle =
            mayNot ??
            (person.signedInAtUnixMs === undefined ? NO_ISSUER : undefined) ??
            (page._tag === "Failure" ? page.failure.message : undefined)
          const isFresh = isFreshSignIn(person.signedInAtUnixMs, yield* items.now)
          const ready: Passkeys["enrolment"] = isFresh ? "ready" : "sign-in"
          const enrolment: Passkeys["enrolment"] = obstacle === undefined ? ready : "impossible"
          return {
            data,
            enrolment,
            ...(obstacle !== undefined && { why: obstacle }),
            ...(nonce !== undefined && { nonce })
          }
        }).pipe(orAway),

      begin: ({ headers, request }) =>
        Effect.gen(function* () {
          const { passkeys } = yield* withPeople
          const person = yield* writer(request, PAGE, headers["x-page-nonce"])
          const { rpId } = yield* passkeyPage(request)
          const { challenge, known } = yield* Effect.catchTag(passkeys.begin(person), "PasskeyRefused", refusal)
          const { actorId, name = actorId } = yield* CurrentActor
          return {
            challenge,
            rpId,
            userId: Base64Url.encode(sha256(utf8.encode(person.id))),
            userName: name.replace(/^user:/, ""),
            algorithms: PASSKEY_ALGORITHMS,
            passkeys: known.map(({ credentialId }) => credentialId)
          }
        }).pipe(orAway),

      enrol: ({ headers, payload, request }) =>
        Effect.gen(function* () {
          const { passkeys } = yield* withPeople
          const person = yield* writer(request, PAGE, headers["x-page-nonce"])
          const page = yield* passkeyPage(request)
          return passkeyAnswer(yield* Effect.catchTag(passkeys.enrol(person, page, payload), "PasskeyRefused", refusal))
        }).pipe(orAway),

      remove: ({ headers, params: { id }, request }) =>
        Effect.gen(function* () {
          const { passkeys } = yield* withPeople
          const person = yield* writer(request, PAGE, headers["x-page-nonce"])
          if (!(yield* passkeys.revoke(person, id))) {
            return yield* launcherError("PASSKEY_NOT_FOUND", `no passkey of yours has the id ${id}`)
          }
        }).pipe(orAway)
    })
  })
)

const refusal = ({ why }: PasskeyRefused) => Effect.fail(passkeyError(why))
