import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url")
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest()

const USER_PRESENT = 1
const USER_VERIFIED = 4
const HAS_CREDENTIAL = 0x40

/** What an authenticator does otherwise than it should. */
export interface Misuse {
  readonly type?: string
  readonly origin?: string
  readonly host?: string
  readonly isUnverified?: boolean
  readonly counter?: number
}

/** The algorithm of a passkey. */
export type PasskeyKind = "ES256" | "RS256"

const pairOf = (kind: PasskeyKind) =>
  kind === "ES256"
    ? generateKeyPairSync("ec", { namedCurve: "P-256" })
    : generateKeyPairSync("rsa", { modulusLength: 2_048 })

/** A new key of a passkey, and its public half as authenticators write it: COSE. */
const makePasskeyKey = (kind: PasskeyKind) => {
  const { privateKey, publicKey } = pairOf(kind)
  const { n = "", x = "", y = "" } = publicKey.export({ format: "jwk" })
  const parts =
    kind === "ES256"
      ? // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
        [["a5010203262001215820", x] as const, ["225820", y] as const]
      : // {1: 3, 3: -257, -1: n, -2: 65537}
        [["a401030339010020590100", n] as const, ["2143010001", ""] as const]
  const cose = Buffer.concat(
    parts.flatMap(([head, value]) => [Buffer.from(head, "hex"), Buffer.from(value, "base64url")])
  )
  return { privateKey, cose }
}

/** An authenticator of WebAuthn with one passkey, for a page at this origin. */
export const makeAuthenticator = (origin: string, kind: PasskeyKind = "ES256") => {
  const { cose, privateKey } = makePasskeyKey(kind)
  const id = randomBytes(32)
  let counter = 0

  const clientData = (challenge: string, type: string, { origin: other = origin }: Misuse) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: other, crossOrigin: false }))

  const data = (flags: number, { counter: given, host = new URL(origin).hostname, isUnverified = false }: Misuse) => {
    counter = given ?? counter + 1
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(host), Buffer.from([flags | (isUnverified ? 0 : USER_VERIFIED)]), count])
  }

  return {
    id: base64url(id),
    publicKey: base64url(cose),

    /** Makes the passkey: what `navigator.credentials.create` returns, as JSON. */
    create: (challenge: string, misuse: Misuse = {}) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const authData = Buffer.concat([data(USER_PRESENT | HAS_CREDENTIAL, misuse), Buffer.alloc(16), length, id, cose])
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestationObject = Buffer.concat([
        Buffer.from("a363666d74646e6f6e656761747453746d74a0686175746844617461", "hex"),
        Buffer.from(
          authData.length < 256 ? [0x58, authData.length] : [0x59, authData.length >> 8, authData.length % 256]
        ),
        authData
      ])
      return {
        id: base64url(id),
        clientDataJSON: base64url(clientData(challenge, misuse.type ?? "webauthn.create", misuse)),
        attestationObject: base64url(attestationObject)
      }
    },

    /** Signs a challenge: what `navigator.credentials.get` returns, as JSON. */
    get: (challenge: string, misuse: Misuse = {}) => {
      const authenticatorData = data(USER_PRESENT, misuse)
      const clientDataJSON = clientData(challenge, misuse.type ?? "webauthn.get", misuse)
      const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)])
      return {
        id: base64url(id),
        authenticatorData: base64url(authenticatorData),
        clientDataJSON: base64url(clientDataJSON),
        signature: base64url(sign("sha256", signed, privateKey))
      }
    }
  }
}
