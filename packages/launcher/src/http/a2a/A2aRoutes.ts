import { createHash } from "node:crypto"
import { type Actor, mayUse, RUNPLANE_VERSION, roleText } from "@runplane/api"
import { A2A_VERSION_HEADER } from "@runplane/domain"
import { launcherForm, RouteGuard, readSettings, ServiceSettings, Shutdown } from "@runplane/server"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpIncomingMessage, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { LauncherSettings } from "../../LauncherSettings.ts"
import { makeA2aMetrics } from "../../operate/A2aMetrics.ts"
import { outcomeOf, type TaskError, taskError } from "../../tasks/TaskErrors.ts"
import { readJson } from "../../tasks/TaskRequests.ts"
import { Tasks, type TasksShape } from "../../tasks/Tasks.ts"
import { personIdOfCaller } from "../LaunchHttp.ts"
import { METHODS } from "./A2aMethods.ts"
import { agentCardOf } from "./AgentCard.ts"
import { type Binding, httpJson, jsonRpc, readHttpJson, readRpc, versionFault } from "./Bindings.ts"
import { makeOpenRequests } from "./OpenRequests.ts"

const BASE = "/a2a"
const CARD = "/.well-known/agent-card.json"
const MAX_BODY_BYTES = 1024 * 1024

type Request = HttpServerRequest.HttpServerRequest

/** Whether the handlers of A2A read the body of this path themselves: its media type is not that of other bodies. */
export const isA2aPath = (path: string): boolean => path === BASE || path.startsWith(`${BASE}/`)

/** A method may need more than the role of its route. */
const routeOf = ({ method }: Request) => ({ method, path: BASE, access: "viewer" }) as const

const settings = { keys: ServiceSettings.AUTH_API_KEYS, issuer: ServiceSettings.OIDC_ISSUER }

/** A committee as an A2A server (docs/reference/a2a.md). */
export const A2aRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const tasks = yield* Tasks
    const { a2a, serviceName } = yield* LauncherSettings
    if (tasks === undefined || a2a === undefined) return Layer.empty
    const { issuer, keys } = yield* readSettings(settings)
    const facts = {
      name: serviceName,
      version: RUNPLANE_VERSION,
      url: `${a2a.publicUrl}${BASE}`,
      hasKeys: keys.length > 0,
      issuer
    }
    const card = cardRoute(tasks, facts)
    const call = yield* makeCalls(tasks)
    return Layer.mergeAll(
      HttpRouter.add("GET", CARD, card),
      // A client that knows the interface alone looks for the card below it.
      HttpRouter.add("GET", `${BASE}${CARD}`, card),
      ...(["GET", "POST", "DELETE"] as const).map((verb) => HttpRouter.add(verb, `${BASE}/*`, call))
    )
  })
)

const cardRoute = (tasks: TasksShape, facts: Parameters<typeof agentCardOf>[0]) => (request: Request) =>
  tasks.skills.pipe(
    Effect.map((skills) => {
      const text = JSON.stringify(agentCardOf(facts, skills))
      const etag = `"${createHash("sha256").update(text).digest("base64url")}"`
      const headers = { etag, "cache-control": "no-cache" }
      return request.headers["if-none-match"] === etag
        ? HttpServerResponse.empty({ status: 304, headers })
        : HttpServerResponse.text(text, { contentType: "application/json", headers })
    }),
    Effect.catch((error) => Effect.succeed(httpJson.error(error)))
  )

const makeCalls = Effect.fnUntraced(function* (tasks: TasksShape) {
  const guard = yield* RouteGuard
  const shutdown = yield* Shutdown
  const open = makeOpenRequests()
  const metrics = yield* makeA2aMetrics(tasks, open.open)

  interface Named {
    readonly method: string
    readonly params: unknown
  }

  const answer = Effect.fn("A2aRoutes.answer")(function* (
    request: Request,
    actor: Actor,
    binding: Binding,
    { method: name, params }: Named
  ) {
    const method = METHODS.get(name)
    const label = method === undefined ? "unknown" : name
    const refuse = (error: TaskError) => {
      metrics.answered(label, outcomeOf(error))
      return binding.error(error)
    }
    const version = versionFault(
      request.headers[A2A_VERSION_HEADER] ?? queryOf(request).get("A2A-Version") ?? undefined
    )
    if (version !== undefined) return refuse(version)
    if (method === undefined) return refuse(taskError("MethodNotFound", "no method has this name"))
    if (!mayUse(actor.role, method.access)) {
      metrics.answered(label, "forbidden")
      return launcherForm.forbidden(roleText([method.access], actor.role, actor.actorType === "user" ? "token" : "key"))
    }
    const caller = { id: actor.actorId, person: personIdOfCaller(actor) }
    const held = Effect.acquireRelease(open.acquire(caller.id), () => open.release(caller.id))
    const answered = yield* Effect.andThen(
      held,
      method.run(tasks, { caller, params, lastEventId: lastEventIdOf(request) })
    ).pipe(Effect.scoped, Effect.result)
    if (Result.isFailure(answered)) {
      if (answered.failure._tag === "TaskError") return refuse(answered.failure)
      metrics.answered(label, "too_many_open")
      return HttpServerResponse.setHeader(launcherForm.tooManyRequests, "retry-after", RETRY_SECONDS)
    }
    metrics.answered(label, "ok")
    const { success } = answered
    if (success._tag === "Result") return binding.result(success.result)
    const crowded = () => taskError("Unavailable", "the service has too many requests open")
    const updates = Stream.unwrap(Effect.as(Effect.mapError(held, crowded), success.updates))
    return binding.stream(Stream.interruptWhen(updates, Effect.raceFirst(shutdown.begun, expiry(actor))))
  })

  const rpc = (request: Request) =>
    guard(
      Effect.fnUntraced(function* (actor) {
        const text = yield* bodyOf(request)
        if (typeof text !== "string") return text
        const body = readJson(text)
        if (Result.isFailure(body)) return jsonRpc(null).error(body.failure)
        const { call, id } = readRpc(body.success)
        const binding = jsonRpc(id)
        if (Result.isFailure(call)) return binding.error(call.failure)
        return yield* answer(request, actor, binding, call.success)
      }),
      routeOf(request)
    )

  const rest = (request: Request) =>
    guard(
      Effect.fnUntraced(function* (actor) {
        const path = pathOf(request)
        const named = readHttpJson(request.method, path.slice(BASE.length), Object.fromEntries(queryOf(request)))
        if (named === undefined) return launcherForm.notFound(request.method, path)
        if (!SENDS.has(named.method)) return yield* answer(request, actor, httpJson, named)
        const text = yield* bodyOf(request)
        if (typeof text !== "string") return text
        const params = readJson(text)
        if (Result.isFailure(params)) return httpJson.error(params.failure)
        return yield* answer(request, actor, httpJson, { method: named.method, params: params.success })
      }),
      routeOf(request)
    )

  // The path of the interfaces is that of JSON-RPC; HTTP+JSON has the paths below it.
  return (request: Request) => {
    const path = pathOf(request)
    return request.method === "POST" && (path === BASE || path === `${BASE}/`) ? rpc(request) : rest(request)
  }
})

/** A stream ends with the token of its caller. */
const expiry = ({ expiresAtUnixMs }: Actor): Effect.Effect<void> =>
  expiresAtUnixMs === undefined
    ? Effect.never
    : Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(Math.max(0, expiresAtUnixMs - now)))

const RETRY_SECONDS = "10"
const SENDS: ReadonlySet<string> = new Set(["SendMessage", "SendStreamingMessage"])
const JSON_TYPES: ReadonlySet<string> = new Set(["application/json", "application/a2a+json"])

/** The text of a body within its bounds, or the answer to one that is not read. */
const bodyOf = Effect.fnUntraced(function* (request: Request) {
  const type = request.headers["content-type"] ?? ""
  if (!JSON_TYPES.has(type.split(";")[0]?.trim().toLowerCase() ?? "")) return launcherForm.unsupportedMediaType(type)
  if (Number(request.headers["content-length"]) > MAX_BODY_BYTES) return launcherForm.payloadTooLarge
  const read = yield* request.text.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_BODY_BYTES)),
    Effect.option
  )
  return Option.getOrElse(read, () => launcherForm.payloadTooLarge)
})

const pathOf = ({ url }: Request): string => url.split("?")[0] ?? url

const queryOf = ({ url }: Request): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "")

const INDEX = /^\d{1,15}$/

const lastEventIdOf = ({ headers }: Request): number | undefined => {
  const given = headers["last-event-id"]?.trim() ?? ""
  return INDEX.test(given) ? Number(given) : undefined
}
