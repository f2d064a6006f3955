import { gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import { baseUrl } from "../../../support/HttpService.ts"

/** Ids of a test, the same at each call with the same number. */
export const traceIdOf = (number: number) => `a${number.toString(16).padStart(31, "0")}`
export const spanIdOf = (number: number) => `b${number.toString(16).padStart(15, "0")}`

interface SpanOptions {
  readonly trace: number
  readonly span: number
  readonly parent?: number
  readonly name?: string
  readonly attributes?: Readonly<Record<string, string>>
  /** Numbers of linked traces; the link names their first span. */
  readonly links?: ReadonlyArray<number>
  readonly status?: number
  /** Milliseconds after the beginning of the test's time. */
  readonly startMs?: number
  readonly endMs?: number
  readonly events?: ReadonlyArray<{ readonly name: string; readonly attributes: Readonly<Record<string, string>> }>
}

/** All spans of a test are within the minute before it. */
const BEGIN_MS = Date.now() - 60_000
const nanos = (ms: number) => `${BEGIN_MS + ms}000000`

const attributesOf = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))

/** A span in the JSON of OTLP. */
export const span = (options: SpanOptions) => ({
  traceId: traceIdOf(options.trace),
  spanId: spanIdOf(options.span),
  ...(options.parent !== undefined && { parentSpanId: spanIdOf(options.parent) }),
  name: options.name ?? "invoke_agent coordinator",
  kind: 1,
  startTimeUnixNano: nanos(options.startMs ?? options.span),
  endTimeUnixNano: nanos(options.endMs ?? options.span + 10),
  attributes: attributesOf({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "coordinator",
    ...options.attributes
  }),
  links: (options.links ?? []).map((trace) => ({ traceId: traceIdOf(trace), spanId: spanIdOf(1), attributes: [] })),
  events: (options.events ?? []).map(({ attributes, name }) => ({
    timeUnixNano: nanos(options.endMs ?? options.span + 10),
    name,
    attributes: attributesOf(attributes)
  })),
  status: options.status === undefined ? {} : { code: options.status }
})

/** A tool call of the coordinator, whose span is the first of the trace. */
export const toolSpan = (trace: number, number: number) =>
  span({
    trace,
    span: number,
    parent: 1,
    name: "execute_tool lookup",
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup" }
  })

/** The request of spans in the JSON of OTLP. */
export const exportOf = (
  spans: ReadonlyArray<ReturnType<typeof span>>,
  resource: Readonly<Record<string, string>> = { "service.name": "committee" }
) => ({
  resourceSpans: [
    { resource: { attributes: attributesOf(resource) }, scopeSpans: [{ scope: { name: "test" }, spans }] }
  ]
})

/** The request of a log record in the JSON of OTLP. */
export const logOf = (
  trace: number,
  span: number,
  name: string,
  attributes: Readonly<Record<string, string>>,
  traceId = traceIdOf(trace)
) => ({
  resourceLogs: [
    {
      resource: { attributes: attributesOf({ "service.name": "committee" }) },
      scopeLogs: [
        {
          scope: { name: "test" },
          logRecords: [
            {
              ...{ traceId, spanId: spanIdOf(span), eventName: name, timeUnixNano: nanos(span + 5) },
              attributes: attributesOf(attributes)
            }
          ]
        }
      ]
    }
  ]
})

export interface Post {
  readonly url?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Posts bytes or JSON to an export path. */
export const post = Effect.fnUntraced(function* (body: Uint8Array<ArrayBuffer> | object, options: Post = {}) {
  const url = options.url ?? (yield* baseUrl)
  return yield* postTo(url, body, options)
})

/** The same for a service that the test names. */
export const postTo = (
  url: string,
  body: Uint8Array<ArrayBuffer> | object,
  { headers, path = "/v1/traces" }: Post = {}
) =>
  Effect.promise(async () => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: body instanceof Uint8Array ? body : JSON.stringify(body)
    })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    return { status: answer.status, headers: answer.headers, bytes, text: new TextDecoder().decode(bytes) }
  })

export const gzipped = (body: object): Uint8Array<ArrayBuffer> => Uint8Array.from(gzipSync(JSON.stringify(body)))
