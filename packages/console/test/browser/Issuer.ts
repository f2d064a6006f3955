import { generateKeyPairSync, sign } from "node:crypto"
import { createServer } from "node:http"

const KEY_ID = "key-of-the-tests"

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** An OpenID Connect issuer on the loopback. */
export interface Issuer {
  readonly url: string
  /** A token of it for an operator by the name of ann, which expires after so many seconds. */
  readonly token: (expiresInSeconds: number) => string
  readonly close: () => void
}

export const startIssuer = async (): Promise<Issuer> => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const keys = [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID, alg: "ES256", use: "sig" }]
  const server = createServer((request, response) => {
    const isDiscovery = request.url?.endsWith("openid-configuration") === true
    const body = isDiscovery ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }
    response.setHeader("content-type", "application/json").end(JSON.stringify(body))
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the issuer listens on a port")
  const url = `http://127.0.0.1:${address.port}`
  return {
    url,
    token: (expiresInSeconds) => {
      const now = Math.floor(Date.now() / 1_000)
      const claims = {
        iss: url,
        aud: "runplane",
        sub: "f3b1",
        preferred_username: "ann",
        roles: ["operator"],
        iat: now - 600,
        exp: now + expiresInSeconds
      }
      const text = `${encoded({ alg: "ES256", kid: KEY_ID })}.${encoded(claims)}`
      const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" })
      return `${text}.${signature.toString("base64url")}`
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
