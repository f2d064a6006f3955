import type { EnrolmentChallenge, EnrolmentRequest, PasskeyChallenge } from "@runplane/api"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"

/** How long the prompt of the browser stays: the challenge is not valid longer. */
const TIMEOUT_MS = 300_000

/** The browser or the person has made nothing: nothing was sent. */
export class NotSigned extends Error {}

/** Whether this browser has passkeys: only on a page with TLS, and on localhost. */
export const hasPasskeys = (): boolean => window.isSecureContext && "PublicKeyCredential" in window

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Result.getOrThrow(Base64Url.decode(text)))
const textOf = (bytes: ArrayBuffer): string => Base64Url.encode(new Uint8Array(bytes))

const known = (ids: ReadonlyArray<string>) => ids.map((id) => ({ type: "public-key" as const, id: bytesOf(id) }))

/** Waits for the prompt of the browser. A closed prompt and one that timed out are the same to a page. */
const prompted = async (prompt: Promise<Credential | null>): Promise<PublicKeyCredential> => {
  const credential = await prompt.catch((cause: unknown) => {
    const name = cause instanceof Error ? cause.name : ""
    if (name === "InvalidStateError") throw new NotSigned("this device has a passkey of yours already")
    if (name === "NotAllowedError") throw new NotSigned("the prompt was closed, or it took too long")
    throw new NotSigned(cause instanceof Error ? cause.message : "the browser has made no passkey")
  })
  if (!(credential instanceof PublicKeyCredential)) throw new NotSigned("the browser has made no passkey")
  return credential
}

/** Lets a passkey of the person sign a challenge; its device verifies the person. */
export const signByPasskey = async (challenge: string, { passkeys, rpId }: PasskeyChallenge) => {
  const credential = await prompted(
    navigator.credentials.get({
      publicKey: {
        challenge: bytesOf(challenge),
        rpId,
        allowCredentials: known(passkeys),
        userVerification: "required",
        timeout: TIMEOUT_MS
      }
    })
  )
  const { response } = credential
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new NotSigned("the browser has signed nothing")
  return {
    credentialId: credential.id,
    authenticatorData: textOf(response.authenticatorData),
    clientDataJSON: textOf(response.clientDataJSON),
    signature: textOf(response.signature)
  }
}

/** Makes a new passkey of the person. */
export const makePasskey = async (
  name: string,
  { algorithms, challenge, passkeys, rpId, userId, userName }: EnrolmentChallenge
): Promise<EnrolmentRequest> => {
  const credential = await prompted(
    navigator.credentials.create({
      publicKey: {
        challenge: bytesOf(challenge),
        rp: { id: rpId, name: "Runplane inbox" },
        user: { id: bytesOf(userId), name: userName, displayName: userName },
        pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
        excludeCredentials: known(passkeys),
        authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
        attestation: "none",
        timeout: TIMEOUT_MS
      }
    })
  )
  const { response } = credential
  if (!(response instanceof AuthenticatorAttestationResponse)) throw new NotSigned("the browser has made no passkey")
  return {
    name,
    credentialId: credential.id,
    challenge,
    clientDataJSON: textOf(response.clientDataJSON),
    attestationObject: textOf(response.attestationObject)
  }
}
