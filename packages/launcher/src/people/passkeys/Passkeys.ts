import * as PgClient from "@effect/sql-pg/PgClient"
import { isFreshSignIn, PASSKEY_ALGORITHMS, passkeyKey } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { ItemRows } from "../ItemRows.ts"
import { RecordRows } from "../RecordRows.ts"
import { PasskeyRows } from "./PasskeyRows.ts"
import { type PasskeyPage, refuse, refused, verified, webAuthn } from "./WebAuthn.ts"

/** A person as it has signed in: `signedInAtUnixMs` is the time at the issuer, of a page alone. */
export interface PasskeyHolder {
  readonly id: string
  readonly signedInAtUnixMs?: number | undefined
}

/** A new passkey as the page has made it, in base64url. */
export interface Enrolment {
  readonly name: string
  readonly credentialId: string
  readonly challenge: string
  readonly clientDataJSON: string
  readonly attestationObject: string
}

/** Passkeys of a person. */
const MOST_PASSKEYS = 20

/** The passkeys of persons: they enrol them after a fresh sign-in, and delete them. */
export class Passkeys extends Context.Service<Passkeys, Effect.Success<typeof make>>()("runplane/launcher/Passkeys") {
  static readonly layer = Layer.effect(
    Passkeys,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(PasskeyRows.layer))
}

const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* PasskeyRows
  const { audit, now } = yield* ItemRows
  const records = yield* RecordRows

  const requireFresh = Effect.fnUntraced(function* ({ signedInAtUnixMs }: PasskeyHolder) {
    if (!isFreshSignIn(signedInAtUnixMs, yield* now)) return yield* refuse({ _tag: "not-fresh" })
  })

  const requireCapacity = Effect.fnUntraced(function* (person: string) {
    if ((yield* rows.of(person)).length >= MOST_PASSKEYS) {
      return yield* refuse({ _tag: "too-many", most: MOST_PASSKEYS })
    }
  })

  const enrolNow = Effect.fnUntraced(function* (person: PasskeyHolder, page: PasskeyPage, enrolment: Enrolment) {
    yield* requireFresh(person)
    const { attestationObject, challenge, clientDataJSON, credentialId, name } = enrolment
    const nonce = Result.getOrUndefined(Base64Url.decode(challenge))
    if (nonce === undefined || !(yield* rows.take(person.id, undefined, nonce))) {
      return yield* refused("its challenge is not one of you, was used already, or is older than five minutes")
    }
    const { verifyRegistrationResponse } = yield* webAuthn
    const made = yield* verified(() =>
      verifyRegistrationResponse({
        response: {
          id: credentialId,
          rawId: credentialId,
          type: "public-key",
          response: { clientDataJSON, attestationObject },
          clientExtensionResults: {}
        },
        expectedChallenge: challenge,
        expectedOrigin: page.origin,
        expectedRPID: page.rpId,
        requireUserVerification: true,
        supportedAlgorithmIDs: [...PASSKEY_ALGORITHMS]
      })
    )
    if (!made.verified) return yield* refused("its attestation is not right")
    const { counter, id, publicKey } = made.registrationInfo.credential
    if (passkeyKey(publicKey) === undefined) return yield* refused("its public key is not one of ES256 or RS256")
    // Two enrolments at the same time count each other.
    yield* rows.lock(person.id)
    yield* requireCapacity(person.id)
    const passkey = yield* rows.add(person.id, { name, credentialId: id, publicKey, rpId: page.rpId, counter })
    if (passkey === undefined) return yield* refuse({ _tag: "known" })
    yield* audit(person.id, "passkey.enrolled", undefined, { passkey: passkey.id, name })
    return passkey
  })

  return {
    of: rows.of,

    /** Begins an enrolment: the challenge, and the passkeys that the person has. */
    begin: Effect.fn("Passkeys.begin")(function* (person: PasskeyHolder) {
      yield* requireFresh(person)
      yield* requireCapacity(person.id)
      return {
        challenge: Base64Url.encode(yield* rows.challenge(person.id, undefined)),
        known: yield* rows.of(person.id)
      }
    }),

    /** Stores a passkey that the page has made for the challenge. Its person is notified by mail. */
    enrol: Effect.fn("Passkeys.enrol")((person: PasskeyHolder, page: PasskeyPage, enrolment: Enrolment) =>
      sql.withTransaction(enrolNow(person, page, enrolment)).pipe(
        Effect.tap(() => records.wake),
        // After the transaction, which leaves nothing of a refused one.
        Effect.tapErrorTag("PasskeyRefused", ({ why }) =>
          audit(person.id, "passkey.refused", undefined, { why: why._tag === "refused" ? why.reason : why._tag })
        )
      )
    ),

    /** Deletes a passkey; false where the person has none with this id. */
    revoke: Effect.fn("Passkeys.revoke")(function* (person: PasskeyHolder, id: string) {
      const name = yield* rows.revoke(person.id, id)
      if (name !== undefined) yield* audit(person.id, "passkey.deleted", undefined, { passkey: id, name })
      return name !== undefined
    }, sql.withTransaction)
  }
})
