import { about, Field, isOfForm, isOneLine, isVisible } from "@runplane/domain"
import * as Schema from "effect/Schema"

const absent = Schema.optionalKey

const MAX_NAME = 60

const base64url = (most: number, description: string) =>
  Schema.String.annotate(about(description, "oWnGq3VtY0k")).check(Schema.isMaxLength(most), isOfForm(/^[\w-]+$/))

const credentialId = base64url(1_400, "Id of the credential, base64url")

/** How a passkey has signed an answer: `navigator.credentials.get` made it. */
export const PasskeyAssertion = Schema.Struct({
  credentialId,
  nonce: Schema.String.annotate(
    about("`nonce` of the challenge", "5f2b0c9d6a1e4873b2c5d8f09e7a6b1c3d4e5f60718293a4b5c6d7e8f9001122")
  ).check(isOfForm(/^[0-9a-f]{64}$/)),
  authenticatorData: base64url(2_048, "Data of the authenticator, base64url"),
  clientDataJSON: base64url(4_096, "Data of the browser, base64url"),
  signature: base64url(1_024, "Signature of the passkey, base64url")
}).annotate({
  identifier: "PasskeyAssertion",
  description: "How a passkey has signed the answer; required where the item needs the proof passkey"
})

/** The answer to `POST /inbox/:id/challenges`. */
export const PasskeyChallenge = Schema.Struct({
  nonce: Field.text("32 random bytes, hexadecimal: a member of what the passkey signs"),
  rpId: Field.text("Host of the page for which the passkeys were made", "inbox.example"),
  passkeys: Field.texts("Ids of the credentials that count, base64url")
}).annotate({ identifier: "PasskeyChallenge", description: "What a passkey signs together with the answer" })
export type PasskeyChallenge = typeof PasskeyChallenge.Type

export const Passkey = Schema.Struct({
  id: Field.text("Id of the passkey: UUID", "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"),
  name: Field.text("As the person has named it", "Phone"),
  rpId: Field.text("Host of the page for which it was made", "inbox.example"),
  enrolledAt: Field.time("When it was enrolled: it counts for questions that opened later"),
  usedAt: absent(Field.time("When it last signed an answer"))
}).annotate({ identifier: "Passkey", description: "A passkey of the caller" })
export type Passkey = typeof Passkey.Type

export const Passkeys = Schema.Struct({
  data: Schema.Array(Passkey).annotate({ description: "The passkeys of the caller, the oldest first" }),
  enrolment: Schema.Literals(["ready", "sign-in", "impossible"]).annotate({
    description: "Whether one can be enrolled now; sign-in: after a fresh sign-in at the issuer"
  }),
  why: absent(Field.text("Why none can be enrolled, in words")),
  nonce: absent(Field.text("For the header x-page-nonce; only for a caller that is known by its cookie"))
}).annotate({ identifier: "Passkeys", description: "The passkeys of the caller" })
export type Passkeys = typeof Passkeys.Type

/** The answer to `POST /people/me/passkeys/challenges`. */
export const EnrolmentChallenge = Schema.Struct({
  challenge: Field.text("32 random bytes, base64url, for `navigator.credentials.create`"),
  rpId: Field.text("Host of the page", "inbox.example"),
  userId: Field.text("The person for the authenticator: SHA-256 of its id, base64url"),
  userName: Field.text("The person for its reader", "ann"),
  algorithms: Schema.Array(Schema.Int).annotate({
    description: "COSE algorithms that are taken: -7, ES256; -257, RS256"
  }),
  passkeys: Field.texts("Ids of the credentials that are enrolled already, base64url")
}).annotate({ identifier: "EnrolmentChallenge", description: "What a new passkey is made for" })
export type EnrolmentChallenge = typeof EnrolmentChallenge.Type

/** The body of `POST /people/me/passkeys`. */
export const EnrolmentRequest = Schema.Struct({
  name: Schema.String.annotate(about("A name for the person", "Phone")).check(
    Schema.isMaxLength(MAX_NAME),
    isOneLine,
    isVisible
  ),
  credentialId,
  challenge: base64url(64, "`challenge` as it was given"),
  clientDataJSON: base64url(4_096, "Data of the browser, base64url"),
  attestationObject: base64url(16_384, "Attestation of the authenticator, base64url")
}).annotate({ identifier: "EnrolmentRequest", description: "A new passkey: `navigator.credentials.create` made it" })
export type EnrolmentRequest = typeof EnrolmentRequest.Type
