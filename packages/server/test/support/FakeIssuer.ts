import { createServer, type ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from "jose"

/** What an issuer does with a request in position of answering it. */
export type Mischief = (path: string, response: ServerResponse) => boolean

/** Claims that open the services of the tests. */
export const goodClaims = {
  aud: "runplane",
  sub: "f3b1",
  preferred_username: "ann",
  roles: ["other-app-admin", "operator"]
}

const KINDS = { ES256: "ES256", RS256: "RS256" } as const

/** An OpenID Connect issuer on the loopback; it goes with the scope. */
export const makeIssuer = Effect.gen(function* () {
  const paths: Array<string> = []
  const keys: Array<object> = []
  let mischief: Mischief | undefined
  let counted = 0

  const server = createServer((request, response) => {
    const path = request.url ?? ""
    paths.push(path)
    if (mischief?.(path, response) === true) return
    const body = path.endsWith("openid-configuration") ? { issuer: url, jwks_uri: `${url}/keys` } : { keys }
    response.setHeader("content-type", "application/json").end(JSON.stringify(body))
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((done) => server.close(() => done()))
      })
  )
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the issuer listens on a port")
  const url = `http://127.0.0.1:${address.port}`

  /** A key that the issuer has; published unless `published` is false. */
  const makeKey = (alg: keyof typeof KINDS = "ES256", published = true) =>
    Effect.promise(async () => {
      const { privateKey, publicKey } = await generateKeyPair(alg)
      const kid = `key-${++counted}`
      const publish = async () => void keys.push({ ...(await exportJWK(publicKey)), kid, alg, use: "sig" })
      if (published) await publish()
      /** A token of this key; a claim or a header that is undefined is left out. */
      const sign = (claims: object = {}, header: Partial<JWTHeaderParameters> = {}) =>
        Effect.promise(() => {
          const now = Math.floor(Date.now() / 1000)
          const all = { iss: url, iat: now, exp: now + 300, ...goodClaims, ...claims }
          return new SignJWT(all).setProtectedHeader({ alg, kid, ...header }).sign(privateKey)
        })
      return { kid, sign, publicKey, publish: Effect.promise(publish) }
    })

  return {
    url,
    paths,
    makeKey,
    /** What is done with requests from now on; undefined: what is right. */
    behave: (next: Mischief | undefined) => {
      mischief = next
    }
  }
})
