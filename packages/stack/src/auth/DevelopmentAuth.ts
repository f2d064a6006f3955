import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { crossSiteRefusal, provenanceOf, type Trust } from "@runplane/server"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type { HttpServerError, ServeError } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose"
import { type MintRequest, parseMintRequest } from "./MintRequest.ts"

/** The claims of a runtime token (docs/internals/runtime.md#token-service); times are Unix seconds. */
interface TokenClaims {
  readonly iss: string
  readonly aud: string
  readonly sub: string
  readonly iat: number
  readonly exp: number
  readonly macp_scopes: object
}

interface TokenSigner {
  /** The claims as a compact JWS. */
  readonly sign: (claims: TokenClaims) => Effect.Effect<string>
  /** The public keys that check the signatures: the content of `/.well-known/jwks.json`. */
  readonly keySet: { readonly keys: ReadonlyArray<object> }
}

/** Every runtime accepts it by default (docs/internals/runtime.md#signed-tokens). */
const ALGORITHM = "ES256"

/**
 * Signs with a key pair that is made here and never leaves the process: tokens of an earlier start are void, and there
 * is not a secret. That the platform cannot make or use such a key is a defect.
 */
const makeTokenSigner: Effect.Effect<TokenSigner> = Effect.promise(async () => {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  const webKey = await exportJWK(publicKey)
  const header = { alg: ALGORITHM, kid: await calculateJwkThumbprint(webKey), typ: "JWT" }
  return {
    keySet: { keys: [{ ...webKey, kid: header.kid, alg: ALGORITHM, use: "sig" }] },
    sign: Effect.fn("TokenSigner.sign")((claims: TokenClaims) =>
      Effect.promise(() => new SignJWT({ ...claims }).setProtectedHeader(header).sign(privateKey))
    )
  }
})

/** `iss` and `aud` of the tokens. */
export const TOKEN_ISSUER = "macp-auth-service"
export const TOKEN_AUDIENCE = "macp-runtime"

/** The port of auth services. */
export const DEFAULT_AUTH_PORT = 3200

/** Bytes of a request's body: 100 KiB. */
export const MAX_BODY_BYTES = 102_400

/** It mints for every caller, so it never listens on another address. */
const HOST = "127.0.0.1"

export interface DevelopmentAuthOptions {
  /** Undefined takes `DEFAULT_AUTH_PORT`, or a free one when that is taken; 0 takes a free one. */
  readonly port?: number | undefined
}

/** The port of the auth service is taken, or may not be opened. */
export class AuthPortUnavailable extends Data.TaggedError("AuthPortUnavailable")<{ readonly port: number }> {
  override get message() {
    return `port ${this.port} for the auth service cannot be opened; set AUTH_PORT to another one`
  }
}

/**
 * An auth service for development: mints signed tokens for every caller and with any scopes, as the separate product
 * does (docs/internals/runtime.md#token-service).
 *
 *     POST /tokens                   { sender, ttl_seconds?, scopes? } -> { token, sender, expires_in_seconds }
 *     GET  /.well-known/jwks.json    the key that they are signed with
 *     GET  /healthz                  { ok: true }
 *
 * It listens on the loopback only, and rejects the requests of web pages and of unknown hosts (403) and bodies of other
 * types than JSON (415). A runtime that verifies these tokens takes the sender and the scopes of each agent from them.
 */
export class DevelopmentAuth extends Context.Service<
  DevelopmentAuth,
  {
    /** What PROTO_AUTH_SERVICE_URL is set to. */
    readonly url: string
    readonly keysUrl: string
  }
>()("runplane/stack/DevelopmentAuth") {
  static readonly layer = ({ port }: DevelopmentAuthOptions = {}): Layer.Layer<DevelopmentAuth, AuthPortUnavailable> =>
    port === undefined
      ? Layer.catch(listen(DEFAULT_AUTH_PORT), () => unavailable(listen(0), 0))
      : unavailable(listen(port), port)
}

const unavailable = (layer: Layer.Layer<DevelopmentAuth, ServeError>, port: number) =>
  Layer.catch(layer, () => Layer.effectContext(Effect.fail(new AuthPortUnavailable({ port }))))

const listen = (port: number): Layer.Layer<DevelopmentAuth, ServeError> =>
  Layer.effect(
    DevelopmentAuth,
    Effect.map(HttpServer.HttpServer, ({ address }) => {
      const url = `http://${HOST}:${address._tag === "UnixPathAddress" ? port : address.port}`
      return DevelopmentAuth.of({ url, keysUrl: `${url}${KEYS_PATH}` })
    })
  ).pipe(
    Layer.provide(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
    Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BODY_BYTES))),
    Layer.provide(NodeHttpServer.layer(() => createServer(), { host: HOST, port, gracefulShutdownTimeout: 0 }))
  )

const KEYS_PATH = "/.well-known/jwks.json"

const routes = Layer.unwrap(
  Effect.map(makeTokenSigner, (signer) =>
    HttpRouter.addAll([
      HttpRouter.route("GET", "/healthz", fromHere(always({ ok: true }))),
      HttpRouter.route("GET", KEYS_PATH, fromHere(always(signer.keySet))),
      HttpRouter.route("POST", "/tokens", fromHere(tokens(signer)))
    ])
  )
)

const always = (body: object) => Effect.succeed(HttpServerResponse.jsonUnsafe(body))

/** This service has no pages: a browser that sends an origin shows a page of another service. */
const trust: Trust = { allowsOrigin: () => false, hosts: new Set() }

const fromHere = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    crossSiteRefusal(provenanceOf(request), trust) === undefined
      ? answer
      : Effect.succeed(refuse(403, "requests of web pages and of unknown hosts are refused"))
  )

const JSON_TYPE = /^application\/json *(;|$)/i

const tokens = (signer: TokenSigner) =>
  Effect.gen(function* () {
    const { headers, text } = yield* HttpServerRequest.HttpServerRequest
    // A page may send any other type without a preflight.
    if (!JSON_TYPE.test(headers["content-type"] ?? "")) return refuse(415, "content-type must be application/json")
    const request = parseMintRequest(yield* text)
    if (Result.isFailure(request)) return refuse(400, request.failure)
    return HttpServerResponse.jsonUnsafe(yield* mint(signer, request.success))
  }).pipe(Effect.catchTag("HttpServerError", (error) => Effect.succeed(unreadable(error))))

const mint = Effect.fn("DevelopmentAuth.mint")(function* (
  { sign }: TokenSigner,
  { scopes, sender, ttlSeconds }: MintRequest
) {
  const iat = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const token = yield* sign({
    iss: TOKEN_ISSUER,
    aud: TOKEN_AUDIENCE,
    sub: sender,
    iat,
    exp: iat + ttlSeconds,
    macp_scopes: scopes
  })
  return { token, sender, expires_in_seconds: ttlSeconds }
})

const refuse = (status: number, error: string) => HttpServerResponse.jsonUnsafe({ error }, { status })

const unreadable = ({ reason }: HttpServerError) =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
    ? refuse(413, `the body is larger than ${MAX_BODY_BYTES} bytes`)
    : refuse(400, "invalid JSON body")
