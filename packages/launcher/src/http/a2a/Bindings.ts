import { A2A_VERSION } from "@runplane/domain"
import { encodeFrames, sseResponse } from "@runplane/server"
import { HttpServerResponse } from "effect/http"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { httpErrorOf, rpcErrorOf, type TaskError, taskError } from "../../tasks/TaskErrors.ts"
import type { TaskUpdate } from "../../tasks/TaskStream.ts"

/** How the answers of one binding look. */
export interface Binding {
  readonly result: (result: object) => HttpServerResponse.HttpServerResponse
  readonly error: (error: TaskError) => HttpServerResponse.HttpServerResponse
  readonly stream: (updates: Stream.Stream<TaskUpdate, TaskError>) => HttpServerResponse.HttpServerResponse
}

export type RpcId = string | number | null

/** JSON-RPC: each answer has the id of its request, also each object of a stream. */
export const jsonRpc = (id: RpcId): Binding => {
  const answer = (body: object) => ({ jsonrpc: "2.0", id, ...body })
  return {
    result: (result) => HttpServerResponse.jsonUnsafe(answer({ result })),
    error: (error) => HttpServerResponse.jsonUnsafe(answer({ error: rpcErrorOf(error) })),
    stream: sse(
      (response) => answer({ result: response }),
      (error) => answer({ error: rpcErrorOf(error) })
    )
  }
}

const REST_TYPE = "application/a2a+json"

export const httpJson: Binding = {
  result: (result) => HttpServerResponse.text(JSON.stringify(result), { contentType: REST_TYPE }),
  error: (error) => {
    const { body, status } = httpErrorOf(error)
    return HttpServerResponse.text(JSON.stringify(body), { status, contentType: REST_TYPE })
  },
  stream: sse(
    (response) => response,
    (error) => httpErrorOf(error).body
  )
}

/** Clients with a short limit between two reads, 5 s in Python, keep the stream of a slow task. Milliseconds. */
const LIFE_MS = 2_000
const LIFE = encodeFrames(": the task goes on\n\n")

/** Each frame has the index that it reaches as its id, so `Last-Event-ID` continues a stream. */
function sse(objectOf: (response: object) => object, failureOf: (error: TaskError) => object): Binding["stream"] {
  return (updates) => {
    const frames = updates.pipe(
      Stream.map(({ index, response }) => `id: ${index}\ndata: ${JSON.stringify(objectOf(response))}\n\n`),
      Stream.catch((error) => Stream.succeed(`event: error\ndata: ${JSON.stringify(failureOf(error))}\n\n`)),
      Stream.map((frame) => encodeFrames(frame))
    )
    const life = Stream.map(Stream.tick(LIFE_MS), () => LIFE)
    return sseResponse(Stream.merge(frames, life, { haltStrategy: "left" }), "a stream of a task")
  }
}

const MOST_ID_CHARACTERS = 256

/** A request of JSON-RPC. `id` is that of the answer, also to one that is refused. */
export interface RpcCall {
  readonly id: RpcId
  readonly call: Result.Result<{ readonly method: string; readonly params: unknown }, TaskError>
}

/** Reads a request of JSON-RPC 2.0. */
export const readRpc = (body: unknown): RpcCall => {
  const refuse = (id: RpcId, why: string): RpcCall => ({ id, call: Result.fail(taskError("InvalidRequest", why)) })
  if (Array.isArray(body)) return refuse(null, "batches are not supported: send one request at a time")
  if (!isObject(body)) return refuse(null, "the request must be an object")
  const { id: given, jsonrpc, method, params } = body
  const id = rpcIdOf(given)
  if (id === undefined) {
    return refuse(null, `id must be a whole number, or a text of at most ${MOST_ID_CHARACTERS} characters`)
  }
  if (jsonrpc !== "2.0") return refuse(id, 'jsonrpc must be "2.0"')
  if (typeof method !== "string" || method === "") return refuse(id, "method must be a text")
  return { id, call: Result.succeed({ method, params: params ?? {} }) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const rpcIdOf = (id: unknown): RpcId | undefined =>
  id === null ||
  (typeof id === "number" && Number.isInteger(id)) ||
  (typeof id === "string" && id.length <= MOST_ID_CHARACTERS)
    ? id
    : undefined

/** A request of HTTP+JSON as a method and its params; undefined for a path that the binding does not have. */
export const readHttpJson = (
  verb: string,
  path: string,
  query: Readonly<Record<string, unknown>>
): { readonly method: string; readonly params: Readonly<Record<string, unknown>> } | undefined => {
  const to = `${verb} ${path}`
  if (to === "POST /message:send") return { method: "SendMessage", params: {} }
  if (to === "POST /message:stream") return { method: "SendStreamingMessage", params: {} }
  if (to === "GET /tasks") return { method: "ListTasks", params: query }
  if (to === "GET /extendedAgentCard") return { method: "GetExtendedAgentCard", params: {} }
  if (PUSH.test(path)) return { method: "ListTaskPushNotificationConfigs", params: {} }
  const [, text = "", act = ""] = TASK.exec(path) ?? []
  const id = decoded(text)
  if (id === undefined) return undefined
  if (act === "" && verb === "GET") return { method: "GetTask", params: { ...query, id } }
  if (act === ":cancel" && verb === "POST") return { method: "CancelTask", params: { id } }
  if (act !== ":subscribe" || (verb !== "GET" && verb !== "POST")) return undefined
  const { since, ...others } = query
  return { method: "SubscribeToTask", params: { ...others, id, ...(since !== undefined && { metadata: { since } }) } }
}

const PUSH = /^\/tasks\/[^/]+\/pushNotificationConfigs(?:\/[^/]*)?$/
const TASK = /^\/tasks\/([^/:]+)(:cancel|:subscribe)?$/

const decoded = (text: string): string | undefined => {
  if (text === "") return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const VERSION = /^1(?:\.\d+){0,2}$/

/** Why a version is not served; a request without one is of version 0.3. Minor versions of 1 are compatible. */
export const versionFault = (version: string | undefined): TaskError | undefined => {
  const asked = version === undefined || version === "" ? "0.3" : version
  if (VERSION.test(asked)) return undefined
  const shown = asked.length > 32 ? `${asked.slice(0, 32)}...` : asked
  return taskError("VersionNotSupported", `version ${shown} is not served: send A2A-Version: ${A2A_VERSION}`)
}
