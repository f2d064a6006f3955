import { createPublicKey, verify } from "node:crypto"
import {
  checkPasskey,
  type PasskeyRecord,
  type PasskeyTools,
  type ProvedAnswer,
  type SignedAnswer,
  signedText
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { sha256 } from "../SeatSession.ts"
import { type Passkey, PasskeyRows } from "./PasskeyRows.ts"
import { type PasskeyPage, refuse, refused, verified, webAuthn } from "./WebAuthn.ts"

/** What a passkey has made in the page, in base64url. */
export interface PasskeyAssertion extends Pick<PasskeyRecord, "authenticatorData" | "clientDataJSON" | "signature"> {
  readonly credentialId: string
  /** The nonce of the challenge, hexadecimal. */
  readonly nonce: string
}

/** Where the counter begins in the data of an authenticator. */
const COUNTER_AT = 33

const utf8 = new TextEncoder()

const tools: PasskeyTools = {
  sha256,
  verify: (jwk, message, signature) => {
    try {
      return verify("sha256", message, createPublicKey({ key: jwk, format: "jwk" }), signature)
    } catch {
      // No point of the curve, so no key.
      return false
    }
  }
}

/** The answers that passkeys sign. */
export class PasskeyProofs extends Context.Service<PasskeyProofs, Effect.Success<typeof make>>()(
  "runplane/launcher/PasskeyProofs"
) {
  static readonly layer = Layer.effect(
    PasskeyProofs,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(PasskeyRows.layer))
}

const make = Effect.gen(function* () {
  const rows = yield* PasskeyRows

  return {
    /** Begins an answer: its nonce, and the passkeys that can sign it. */
    challenge: Effect.fn("PasskeyProofs.challenge")(function* (person: string, item: string, { rpId }: PasskeyPage) {
      const known = yield* rows.before(person, item, rpId)
      if (known.length === 0) return yield* refuse({ _tag: "missing" })
      return { nonce: Hex.encode(yield* rows.challenge(person, item)), known }
    }),

    /**
     * The record of the passkey that has signed an answer, in the transaction that stores it: the nonce and the counter
     * are spent with it.
     */
    prove: Effect.fn("PasskeyProofs.prove")(function* (
      person: string,
      page: PasskeyPage,
      answer: Omit<SignedAnswer, "nonce"> & Pick<ProvedAnswer, "askedAt">,
      { authenticatorData, clientDataJSON, credentialId, nonce, signature }: PasskeyAssertion
    ) {
      yield* rows.lock(person)
      const known = yield* rows.before(person, answer.item, page.rpId)
      if (known.length === 0) return yield* refuse({ _tag: "missing" })
      const passkey = known.find((one) => one.credentialId === credentialId)
      if (passkey === undefined) {
        return yield* refused("it is not one of yours that was enrolled before the question opened")
      }
      const bytes = Result.getOrUndefined(Hex.decode(nonce))
      if (bytes === undefined || !(yield* rows.take(person, answer.item, bytes))) {
        return yield* refused(
          "its challenge is not one of this question, was used already, or is older than five minutes"
        )
      }
      const record = recordOf(
        passkey,
        { authenticatorData, clientDataJSON, signature },
        signedText({ ...answer, nonce })
      )
      const verdict = checkPasskey(tools, answer, record)
      if (verdict._tag !== "valid")
        return yield* refused(verdict._tag === "invalid" ? verdict.why : "nothing is signed")
      // Devices without a counter send 0.
      const counter = Buffer.from(authenticatorData, "base64url").readUInt32BE(COUNTER_AT)
      if (passkey.counter > 0 && counter <= passkey.counter) {
        return yield* refused("its counter went backwards: the key may be a copy")
      }
      const { verifyAuthenticationResponse } = yield* webAuthn
      const { authenticationInfo, verified: isRight } = yield* verified(() =>
        verifyAuthenticationResponse({
          response: {
            id: credentialId,
            rawId: credentialId,
            type: "public-key",
            response: { authenticatorData, clientDataJSON, signature },
            clientExtensionResults: {}
          },
          expectedChallenge: Base64Url.encode(sha256(utf8.encode(record.signed))),
          expectedOrigin: page.origin,
          expectedRPID: page.rpId,
          credential: {
            id: passkey.credentialId,
            publicKey: Uint8Array.from(passkey.publicKey),
            counter: passkey.counter
          },
          requireUserVerification: true
        })
      )
      if (!isRight) return yield* refused("its signature is not one of the key")
      yield* rows.used(passkey.id, authenticationInfo.newCounter)
      return record
    })
  }
})

const recordOf = (
  { enrolledAt, publicKey, rpId }: Passkey,
  assertion: Pick<PasskeyRecord, "authenticatorData" | "clientDataJSON" | "signature">,
  signed: string
): PasskeyRecord => ({ signed, publicKey: Base64Url.encode(publicKey), enrolledAt, rpId, ...assertion })
