import {
  A2A_VERSION,
  A2A_VERSION_HEADER,
  INTERNAL_ERROR_CODE,
  JSON_TYPE,
  type RemoteAgent,
  RemoteEvent,
  type RemoteInterface,
  RemoteReply,
  RemoteTask,
  TASK_NOT_FOUND_CODE,
  TEXT_TYPE
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { JsonObject } from "../common/Json.ts"
import { readRemoteJson } from "../common/RemoteJson.ts"
import { authorizationOf, type Credential } from "./RemoteCards.ts"
import { type Bounds, type RemoteAnswer, RemoteFailure, RemoteHttp } from "./RemoteHttp.ts"

/** Bytes of an answer, and of one event of a stream: the answer of an agent is a small data part. */
const MAX_BYTES = 1_024 * 1_024
/** One request. An agent that works longer answers a stream, or a task to poll. */
const CALL: Bounds = { maxBytes: MAX_BYTES, timeoutMs: 30_000 }
/** A stream without any byte for so long is taken for a dead connection: the task is read. Milliseconds. */
const SILENCE_MS = 60_000
/** Bytes of one stream, and how long it is read. */
const STREAM_BYTES = 8 * MAX_BYTES
const STREAM_MS = 600_000
/** Tasks of a context that are read, and messages of the history of each. */
const PAGE_SIZE = 50
const HISTORY = 20

const decodeTask = Schema.decodeUnknownEffect(RemoteTask)
const decodeReply = Schema.decodeUnknownEffect(RemoteReply)
const decodeEvent = Schema.decodeUnknownEffect(RemoteEvent)
const decodeList = Schema.decodeUnknownEffect(
  Schema.Struct({
    tasks: Schema.optionalKey(Schema.Array(RemoteTask)),
    nextPageToken: Schema.optionalKey(Schema.String)
  })
)

const RpcAnswer = Schema.Struct({
  result: Schema.optionalKey(Schema.NullOr(Schema.Json)),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Finite }))
})
const decodeRpc = Schema.decodeUnknownEffect(RpcAnswer)

/** Codes of JSON-RPC after which the same request may go better later. */
const PASSING: ReadonlySet<number> = new Set([INTERNAL_ERROR_CODE, -32000])

/** One operation in both bindings. */
interface Operation {
  readonly method: string
  readonly params: JsonObject
  readonly rest: (base: string) => HttpClientRequest.HttpClientRequest
}

const id = (task: string) => encodeURIComponent(task)

const operations = {
  send: (message: JsonObject, waits: boolean, notices: Notices | undefined): Operation => {
    const configuration = { returnImmediately: !waits, acceptedOutputModes: OUTPUT, ...noticesTo(notices) }
    const params = { message, configuration }
    return {
      method: "SendMessage",
      params,
      rest: (base) => HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${base}/message:send`), params)
    }
  },
  stream: (message: JsonObject, notices: Notices | undefined): Operation => {
    const params = { message, configuration: { acceptedOutputModes: OUTPUT, ...noticesTo(notices) } }
    return {
      method: "SendStreamingMessage",
      params,
      rest: (base) => HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${base}/message:stream`), params)
    }
  },
  get: (task: string): Operation => ({
    method: "GetTask",
    params: { id: task, historyLength: HISTORY },
    rest: (base) => HttpClientRequest.get(`${base}/tasks/${id(task)}`, { urlParams: { historyLength: HISTORY } })
  }),
  list: (contextId: string, pageToken: string): Operation => {
    const params = { contextId, pageSize: PAGE_SIZE, historyLength: HISTORY, ...(pageToken !== "" && { pageToken }) }
    return {
      method: "ListTasks",
      params,
      rest: (base) => HttpClientRequest.get(`${base}/tasks`, { urlParams: params })
    }
  },
  cancel: (task: string): Operation => ({
    method: "CancelTask",
    params: { id: task },
    rest: (base) => HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${base}/tasks/${id(task)}:cancel`), {})
  }),
  subscribe: (task: string): Operation => ({
    method: "SubscribeToTask",
    params: { id: task },
    rest: (base) => HttpClientRequest.get(`${base}/tasks/${id(task)}:subscribe`)
  })
}

/** Where an agent sends notices of a task, and the token by which they count. */
export interface Notices {
  readonly id: string
  readonly url: string
  readonly token: string
}

const noticesTo = (notices: Notices | undefined) =>
  notices === undefined ? {} : { taskPushNotificationConfig: { ...notices } }

const OUTPUT = [JSON_TYPE, TEXT_TYPE]

/** The trace and the notices of a message. */
export interface Sending {
  readonly traceparent: string | undefined
  readonly notices: Notices | undefined
}

/** Pages of tasks that are read. */
const MAX_PAGES = 20

/** The calls of A2A 1.0, over JSON-RPC or HTTP+JSON as the card of the agent offers. Each is one attempt. */
export const makeRemoteCalls = Effect.fnUntraced(function* (credential: Credential) {
  const http = yield* RemoteHttp

  const requestOf = (agent: RemoteAgent, operation: Operation, traceparent: string | undefined) => {
    const { binding, tenant, url } = agent.interface
    const request =
      binding === "JSONRPC"
        ? HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(url), {
            jsonrpc: "2.0",
            id: 1,
            method: operation.method,
            params: { ...operation.params, ...(tenant !== undefined && { tenant }) }
          })
        : operation.rest(tenant === undefined ? url : `${url}/${encodeURIComponent(tenant)}`)
    return HttpClientRequest.setHeaders(request, {
      [A2A_VERSION_HEADER]: A2A_VERSION,
      ...authorizationOf(agent.auth, credential),
      ...(traceparent !== undefined && { traceparent })
    })
  }

  /** The result of an answer; its failure says what the agent refuses, without its words. */
  const resultOf = Effect.fnUntraced(function* (
    { interface: { binding } }: RemoteAgent,
    answer: RemoteAnswer
  ): Effect.fn.Return<unknown, RemoteFailure> {
    const { status, text } = answer
    if (binding === "JSONRPC" && status === 200) return yield* rpcResult(text)
    if (status >= 200 && status < 300) return yield* readJson(text)
    if (status === 404 && binding === "HTTP+JSON")
      return yield* failure("not-found", "the agent does not know the task")
    const isPassing = status >= 500 || status === 408 || status === 429
    return yield* failure(isPassing ? "away" : "refused", `the agent answers ${status}`)
  })

  const call = (agent: RemoteAgent, operation: Operation, traceparent?: string, bounds = CALL) =>
    Effect.flatMap(http.send(requestOf(agent, operation, traceparent), bounds), (answer) => resultOf(agent, answer))

  const events = (agent: RemoteAgent, operation: Operation, traceparent: string | undefined) =>
    Stream.unwrap(
      Effect.map(http.open(requestOf(agent, operation, traceparent), CALL), (opened) =>
        opened._tag === "Answer"
          ? Stream.fromEffect(Effect.flatMap(resultOf(agent, opened.answer), readAs(decodeEvent)))
          : eventsOf(agent, opened.bytes)
      )
    )

  return {
    /** `waits`: the answer comes when the task has stopped. */
    send: (agent: RemoteAgent, message: JsonObject, { notices, traceparent, waits }: Sending & { waits: boolean }) =>
      Effect.flatMap(call(agent, operations.send(message, waits, notices), traceparent), readAs(decodeReply)),
    stream: (agent: RemoteAgent, message: JsonObject, { notices, traceparent }: Sending) =>
      events(agent, operations.stream(message, notices), traceparent),
    subscribe: (agent: RemoteAgent, task: string, traceparent: string | undefined) =>
      events(agent, operations.subscribe(task), traceparent),
    get: (agent: RemoteAgent, task: string) => Effect.flatMap(call(agent, operations.get(task)), readAs(decodeTask)),
    cancel: (agent: RemoteAgent, task: string) =>
      Effect.asVoid(call(agent, operations.cancel(task), undefined, { ...CALL, timeoutMs: CANCEL_MS })),
    /** The tasks of a context. */
    list: Effect.fnUntraced(function* (agent: RemoteAgent, contextId: string) {
      const found: Array<RemoteTask> = []
      let pageToken = ""
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const answer = yield* Effect.flatMap(call(agent, operations.list(contextId, pageToken)), readAs(decodeList))
        // An agent that ignores the filter answers tasks of others, too.
        found.push(...(answer.tasks ?? []).filter((task) => task.contextId === contextId))
        pageToken = answer.nextPageToken ?? ""
        if (pageToken === "") break
      }
      return found
    })
  }
})

export type RemoteCalls = Effect.Success<ReturnType<typeof makeRemoteCalls>>

/** A cancellation is a courtesy: it holds nothing up. Milliseconds. */
const CANCEL_MS = 5_000

const failure = (kind: RemoteFailure["kind"], reason: string): Effect.Effect<never, RemoteFailure> =>
  Effect.fail(new RemoteFailure({ kind, reason }))

const unreadable = () =>
  new RemoteFailure({ kind: "refused", reason: "the answer of the agent is not what A2A defines" })

const readJson = (text: string) => Effect.mapError(Effect.fromOption(readRemoteJson(text)), unreadable)

const readAs =
  <A>(decode: (value: unknown) => Effect.Effect<A, Schema.SchemaError>) =>
  (value: unknown): Effect.Effect<A, RemoteFailure> =>
    Effect.mapError(decode(value), unreadable)

const rpcResult = Effect.fnUntraced(function* (text: string): Effect.fn.Return<unknown, RemoteFailure> {
  const { error, result } = yield* Effect.flatMap(readJson(text), readAs(decodeRpc))
  if (error === undefined) return result
  if (error.code === TASK_NOT_FOUND_CODE) return yield* failure("not-found", "the agent does not know the task")
  return yield* failure(PASSING.has(error.code) ? "away" : "refused", `the agent answers the error ${error.code}`)
})

/** A stream that goes on and on ends here: then the task is read, and its stream is opened again after a pause. */
const bounded = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.suspend(() => {
    let left = STREAM_BYTES
    return bytes.pipe(
      Stream.takeWhile((chunk) => {
        left -= chunk.length
        return left >= 0
      }),
      Stream.interruptWhen(Effect.sleep(STREAM_MS))
    )
  })

/** The events of a text. A `retry` field makes none: the service has its own pauses. */
const parseEvents = (texts: Stream.Stream<string, RemoteFailure>) =>
  Stream.suspend(() => {
    let events: Array<Sse.Event> = []
    const parser = Sse.makeParser(
      (event) => {
        if (event._tag === "Event") events.push(event)
      },
      { maxEventSize: MAX_BYTES }
    )
    const parse = (text: string) =>
      Effect.suspend(() => {
        const error = parser.feed(text)
        const found = events
        events = []
        return error === undefined
          ? Effect.succeed(found)
          : failure("too-large", `an event of the stream is over ${MAX_BYTES} bytes`)
      })
    return Stream.flattenIterable(Stream.mapEffect(texts, parse))
  })

const eventsOf = (
  { interface: { binding } }: { readonly interface: RemoteInterface },
  bytes: Stream.Stream<Uint8Array, RemoteFailure>
) =>
  bounded(bytes).pipe(
    Stream.timeoutOrElse({
      duration: SILENCE_MS,
      orElse: () =>
        Stream.fail(new RemoteFailure({ kind: "away", reason: `the stream is silent for ${SILENCE_MS} ms` }))
    }),
    Stream.decodeText(),
    parseEvents,
    Stream.mapEffect(({ data }) =>
      Effect.flatMap(binding === "JSONRPC" ? rpcResult(data) : readJson(data), readAs(decodeEvent))
    )
  )
