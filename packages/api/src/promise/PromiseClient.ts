/**
 * A client of either service on `fetch` alone, for browsers and programs without Effect. It knows the operations as
 * data: the build binds it to the operations of each OpenAPI document (docs/reference/clients.md).
 */

/** Where an operation is: its method and its path. */
export type OperationTable = Readonly<Record<string, readonly [method: string, path: string]>>

/** What an operation takes and answers. */
export interface OperationShape {
  readonly path?: object
  readonly query?: object
  readonly body?: unknown
  readonly answer: unknown
}

export interface ClientOptions {
  /** The address of the service, such as `http://127.0.0.1:3001`. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Another `fetch`; the global one without it. */
  readonly fetch?: typeof globalThis.fetch
}

/** The members of a shape but its answer. A mapping over `keyof Shape` keeps which of them are optional. */
type RequestOf<Shape extends OperationShape> = {
  readonly [Key in keyof Shape as Exclude<Key, "answer">]: Shape[Key]
} & { readonly signal?: AbortSignal }

/** The service refused, or failed: its status, its code, and its words. */
export class RunplaneError extends Error {
  override readonly name = "RunplaneError"
  readonly status: number
  readonly errorCode: string | undefined
  readonly body: unknown

  constructor(status: number, body: unknown) {
    const fields = typeof body === "object" && body !== null ? body : {}
    const text = "message" in fields ? fields.message : `the service answered ${status}`
    super(Array.isArray(text) ? text.join("; ") : String(text))
    this.status = status
    this.errorCode = "errorCode" in fields && typeof fields.errorCode === "string" ? fields.errorCode : undefined
    this.body = body
  }
}

/** One message of an event stream. */
export interface StreamMessage {
  readonly event: string
  readonly id: string | undefined
  readonly data: unknown
}

export interface Client<Operations extends { readonly [Name in keyof Operations]: OperationShape }> {
  /** Calls an operation of the OpenAPI document by its name. Rejects with `RunplaneError` when it is refused. */
  readonly call: <Name extends keyof Operations & string>(
    name: Name,
    ...request: Record<never, never> extends RequestOf<Operations[Name]>
      ? [request?: RequestOf<Operations[Name]>]
      : [request: RequestOf<Operations[Name]>]
  ) => Promise<Operations[Name]["answer"]>
}

interface Given {
  readonly path?: object
  readonly query?: object
  readonly body?: unknown
  readonly signal?: AbortSignal
}
export const makeCalls = (table: OperationTable, options: ClientOptions) => {
  const send = async (name: string, given: Given = {}, headers: Record<string, string> = {}): Promise<Response> => {
    const [method, path] = table[name] ?? []
    if (method === undefined || path === undefined) throw new TypeError(`the service has no operation "${name}"`)
    const fetch = options.fetch ?? globalThis.fetch
    const response = await fetch(
      `${options.baseUrl.replace(/\/+$/, "")}${filled(path, given.path)}${queryOf(given.query)}`,
      {
        method,
        headers: {
          ...(options.apiKey === undefined
            ? {}
            : { authorization: `Bearer ${options.apiKey}`, "x-api-key": options.apiKey }),
          ...(given.body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(given.body === undefined ? {} : { body: JSON.stringify(given.body) }),
        ...(given.signal === undefined ? {} : { signal: given.signal })
      }
    )
    if (!response.ok) throw new RunplaneError(response.status, await answerOf(response))
    return response
  }
  return { send, call: async (name: string, given?: Given): Promise<unknown> => answerOf(await send(name, given)) }
}

const filled = (path: string, parameters: object = {}): string =>
  Object.entries(parameters).reduce(
    (text, [key, value]) => text.replace(`{${key}}`, encodeURIComponent(String(value))),
    path
  )

const queryOf = (query: object = {}): string => {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value))
  const text = search.toString()
  return text === "" ? "" : `?${text}`
}

const answerOf = async (response: Response): Promise<unknown> => {
  const type = response.headers.get("content-type") ?? ""
  if (type.startsWith("application/zip")) return new Uint8Array(await response.arrayBuffer())
  const text = await response.text()
  if (!/^application\/([\w.]+\+)?json\b/.test(type)) return text
  return text === "" ? undefined : JSON.parse(text)
}

/** The messages of an event stream, as they come. */
export async function* messagesOf(response: Response): AsyncGenerator<StreamMessage> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let buffered = ""
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      buffered += value
      for (let end = buffered.indexOf("\n\n"); end >= 0; end = buffered.indexOf("\n\n")) {
        const message = parsed(buffered.slice(0, end))
        buffered = buffered.slice(end + 2)
        if (message !== undefined) yield message
      }
    }
  } finally {
    // Who stops listening closes the connection.
    await reader.cancel().catch(() => undefined)
  }
}

const parsed = (text: string): StreamMessage | undefined => {
  const fields = new Map<string, string>()
  for (const line of text.split("\n")) {
    const at = line.indexOf(":")
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ""))
  }
  const data = fields.get("data")
  if (data === undefined) return undefined
  return { event: fields.get("event") ?? "message", id: fields.get("id"), data: JSON.parse(data) }
}

export interface FollowOptions {
  /** Events after this seq; from the beginning of the run without it. */
  readonly afterSeq?: number
  readonly signal?: AbortSignal
}

/** Pause before a broken stream is opened again. Milliseconds; it doubles up to the longest. */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"])

/**
 * The events of a run to its end, each once and in order: a broken connection is made again after the last event
 * received. A message `reset` says that the service was restored from a backup and the events received so far are void:
 * all events since `afterSeq` come again. Ends with the event that ends the run, or with the last event of a run whose
 * end is not after `afterSeq`; rejects when the service refuses.
 */
export async function* followRun(
  send: ReturnType<typeof makeCalls>["send"],
  runId: string,
  { afterSeq = 0, signal }: FollowOptions = {}
): AsyncGenerator<StreamMessage> {
  let seq = afterSeq
  let pause = FIRST_PAUSE_MS
  const stopping = signal === undefined ? {} : { signal }
  while (true) {
    try {
      const query = { afterSeq: seq, snapshots: "first" }
      const response = await send("streamRun", { path: { id: runId }, query, ...stopping })
      let lastSeq = Number.POSITIVE_INFINITY
      for await (const message of messagesOf(response)) {
        pause = FIRST_PAUSE_MS
        if (message.event === "reset") {
          // A cursor of the caller that is beyond the end has nothing before it to come again.
          const isAgain = seq > afterSeq
          seq = isAgain ? afterSeq : Number(message.id)
          yield message
          if (isAgain) break
          continue
        }
        if (message.event !== "canonical_event") {
          // The stream of a run that had ended stays open; its snapshot says so.
          if (message.event === "snapshot") lastSeq = lastSeqOf(message.data)
          if (seq >= lastSeq) return
          continue
        }
        seq = Number(message.id)
        yield message
        if (ENDS.has(typeOf(message.data)) || seq >= lastSeq) return
      }
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (error instanceof RunplaneError && error.status < 500 && error.status !== 429) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pause * (0.8 + Math.random() * 0.4)))
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}

const typeOf = (event: unknown): string =>
  typeof event === "object" && event !== null && "type" in event ? String(event.type) : ""

/** The seq of the last event of a run that has ended, by its snapshot. */
const lastSeqOf = (state: unknown): number => {
  const { run, timeline } = Object(state)
  return ["completed", "failed", "cancelled"].includes(run?.status)
    ? (timeline?.latestSeq ?? Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY
}
