import { createHmac, createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto"

export const ISSUER = "macp-auth-service"
export const AUDIENCE = "macp-runtime"

/** A key pair with its published half. */
export interface TestKey {
  readonly algorithm: "RS256" | "ES256" | "HS256"
  readonly id: string
  readonly jwk: object
  readonly sign: (text: string) => string
}

const signer = (key: KeyObject) => (text: string) =>
  createSign("sha256").update(text).sign({ key, dsaEncoding: "ieee-p1363" }, "base64url")

export const rsaKey = (id: string): TestKey => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: id, alg: "RS256", use: "sig" }
  return { algorithm: "RS256", id, jwk, sign: signer(privateKey) }
}

export const ecKey = (id: string): TestKey => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return { algorithm: "ES256", id, jwk: { ...publicKey.export({ format: "jwk" }), kid: id }, sign: signer(privateKey) }
}

export const secretKey = (id: string): TestKey => {
  const secret = randomBytes(32)
  const sign = (text: string) => createHmac("sha256", secret).update(text).digest("base64url")
  return { algorithm: "HS256", id, jwk: { kty: "oct", kid: id, k: secret.toString("base64url") }, sign }
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** A token, by default of agent://lead and valid for five minutes from `now`. */
export const mint = (key: TestKey, now: number, claims: object = {}, header: object = {}): string => {
  const seconds = Math.floor(now / 1_000)
  const body = { iss: ISSUER, aud: AUDIENCE, sub: "agent://lead", iat: seconds, exp: seconds + 300, ...claims }
  const signed = `${part({ alg: key.algorithm, kid: key.id, ...header })}.${part(body)}`
  return `${signed}.${key.sign(signed)}`
}
