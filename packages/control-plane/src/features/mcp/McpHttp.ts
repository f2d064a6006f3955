import { ControlPlaneClient, LauncherClient, Me, mayUse } from "@runplane/api"
import { type Backend, CurrentCaller, layerMcpHttp, makeSubscriptions, toolNamed, withVia } from "@runplane/mcp"
import {
  ControlPlaneSettings,
  controlPlaneForm,
  crossSiteRefusal,
  makeCors,
  provenanceOf,
  RequestFacts,
  readSettings,
  ServiceSettings
} from "@runplane/server"
import * as McpServer from "effect/ai/McpServer"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { IN_PROCESS, makeInProcessClient, withCredentials } from "./InProcess.ts"
import { makeConfirmations } from "./McpConfirmations.ts"
import { acceptsAnswers, readable, refusal, withBody } from "./McpRequests.ts"
import { makeMcpSessions } from "./McpSessions.ts"

const settings = {
  isEnabled: ControlPlaneSettings.MCP_ENABLED,
  confirm: ControlPlaneSettings.MCP_CONFIRM,
  maxConcurrency: ControlPlaneSettings.MCP_MAX_CONCURRENCY,
  maxResultBytes: ControlPlaneSettings.MCP_MAX_RESULT_BYTES,
  launcherUrl: ControlPlaneSettings.LAUNCHER_PUBLIC_URL,
  origins: ServiceSettings.CORS_ORIGIN,
  issuer: ServiceSettings.OIDC_ISSUER,
  basePath: ServiceSettings.PUBLIC_BASE_PATH,
  proxies: ServiceSettings.TRUST_PROXY
}

const METADATA_PATH = "/.well-known/oauth-protected-resource/mcp"

/** The launch service, with the credentials of the caller; it reads keys in `x-api-key` alone. */
const makeLauncher = Effect.fnUntraced(function* (baseUrl: string) {
  const client = HttpClient.mapRequest(withCredentials(yield* HttpClient.HttpClient), (request) => {
    const { authorization, "x-api-key": key } = request.headers
    const presented = key ?? authorization?.replace(/^Bearer +/, "")
    return presented === undefined ? request : HttpClientRequest.setHeader(request, "x-api-key", presented)
  })
  const layer = LauncherClient.layer({ baseUrl: baseUrl.replace(/\/+$/, "") }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, withVia(client)))
  )
  return yield* Effect.provide(LauncherClient, layer)
})

/** The name of a Host header without its port. */
const nameOf = (host: string) => host.replace(/:\d*$/, "").toLowerCase()

const LISTEN = "subscriptions/listen"

const decodeListen = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({
      params: Schema.Struct({
        notifications: Schema.Struct({ resourceSubscriptions: Schema.optionalKey(Schema.Array(Schema.String)) })
      })
    })
  )
)

const decodeMe = HttpClientResponse.schemaBodyJson(Me)

/**
 * `POST /mcp` (docs/reference/mcp.md). Its tools call this service by the typed client, in the process: the same
 * handlers answer, with the roles, limits and audit of the caller.
 */
export const mcpRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const { isEnabled, issuer, launcherUrl, origins, proxies, ...values } = yield* readSettings(settings)
    if (!isEnabled) return Layer.empty
    const inProcess = yield* makeInProcessClient(yield* HttpRouter.HttpRouter)
    const plane = yield* Effect.provide(
      ControlPlaneClient,
      ControlPlaneClient.layer({ baseUrl: IN_PROCESS }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, withVia(inProcess)))
      )
    )
    const subscriptions = yield* makeSubscriptions(plane)
    const sessions = makeMcpSessions(inProcess)
    const backend: Backend = {
      plane,
      subscriptions,
      launcher: launcherUrl === undefined ? undefined : yield* makeLauncher(launcherUrl),
      confirm: values.confirm,
      confirmations: yield* makeConfirmations,
      maxConcurrency: values.maxConcurrency,
      maxResultBytes: values.maxResultBytes
    }
    const cors = makeCors(origins)
    const publicAddress = ({ headers }: HttpServerRequest.HttpServerRequest, path: string) => {
      const protocol = (proxies > 0 ? headers["x-forwarded-proto"]?.split(",").at(-1)?.trim() : undefined) ?? "http"
      return `${protocol}://${headers["host"] ?? "localhost"}${values.basePath}${path}`
    }
    const isForeign = (request: HttpServerRequest.HttpServerRequest) => {
      const from = provenanceOf(request)
      const trust = { allowsOrigin: cors.allows, hosts: new Set([nameOf(from.host ?? "")]) }
      return from.origin !== undefined && crossSiteRefusal(from, trust) !== undefined
    }

    /** Authenticates by `GET /me`, and checks the role of the tool that the headers name. */
    const guard = HttpRouter.middleware((httpEffect) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        if (isForeign(request)) return controlPlaneForm.forbidden("this origin is not one of CORS_ORIGIN")
        const answer = yield* Effect.orDie(inProcess.get(`${IN_PROCESS}/me`))
        if (answer.status !== 200) {
          const body = HttpServerResponse.text(yield* Effect.orDie(answer.text), {
            status: answer.status,
            contentType: "application/json",
            ...(answer.headers["retry-after"] !== undefined && {
              headers: { "retry-after": answer.headers["retry-after"] }
            })
          })
          if (answer.status !== 401) return body
          const metadata = issuer === undefined ? "" : ` resource_metadata="${publicAddress(request, METADATA_PATH)}"`
          return HttpServerResponse.setHeader(body, "www-authenticate", `Bearer${metadata}`)
        }
        const { id, name: holder, role, type } = yield* Effect.orDie(decodeMe(answer))
        if (type !== "anonymous") (yield* RequestFacts).actor = { actorId: id, actorType: type, name: holder }
        if (role === "voter") {
          return controlPlaneForm.forbidden("an assistant never answers for a person: this caller has the role voter")
        }
        const name = request.headers["mcp-method"] === "tools/call" ? request.headers["mcp-name"] : undefined
        const tool = name === undefined ? undefined : toolNamed(McpServer.decodeNameHeader(name) ?? "")
        if (tool !== undefined && !mayUse(role, tool.access)) {
          return controlPlaneForm.forbidden(
            `the tool ${tool.name} needs the role ${tool.access}; this caller has ${role}`
          )
        }
        if (request.method === "POST" && !acceptsAnswers(request)) return refusal(406)
        if (request.headers["mcp-method"] === LISTEN) {
          const listen = yield* Effect.result(Effect.flatMap(request.text, decodeListen))
          const uris = Result.isSuccess(listen) ? (listen.success.params.notifications.resourceSubscriptions ?? []) : []
          if (!(yield* subscriptions.follow(uris, id))) return controlPlaneForm.tooManyRequests
        }
        const readableRequest = readable(request)
        const served = httpEffect.pipe(
          Effect.provideService(CurrentCaller, { id, role }),
          Effect.provideService(HttpServerRequest.HttpServerRequest, readableRequest)
        )
        const response = yield* sessions.serve(readableRequest, id, served)
        return HttpServerResponse.setHeader(
          withBody(response),
          "access-control-expose-headers",
          "Mcp-Session-Id, WWW-Authenticate"
        )
      })
    )
    const metadata = HttpRouter.add("GET", METADATA_PATH, (request) =>
      Effect.succeed(
        HttpServerResponse.jsonUnsafe({
          resource: publicAddress(request, "/mcp"),
          authorization_servers: [issuer],
          bearer_methods_supported: ["header"],
          resource_name: "Runplane"
        })
      )
    )
    const endpoint = layerMcpHttp(backend).pipe(Layer.provide(guard.layer))
    return issuer === undefined ? endpoint : Layer.merge(endpoint, metadata)
  })
).pipe(Layer.provide(FetchHttpClient.layer))
