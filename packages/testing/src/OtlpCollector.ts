import { createServer, type IncomingHttpHeaders } from "node:http"
import * as Effect from "effect/Effect"
import { listening } from "./Loopback.ts"

type Attributes = Readonly<Record<string, unknown>>

/** A span as a collector sees it, its attributes as a record. */
export interface CollectedSpan {
  readonly service: unknown
  /** What is said of the service beside its name. */
  readonly resource: Attributes
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly events: ReadonlyArray<{ readonly name: string; readonly attributes: Attributes }>
  /** 1 is OK, 2 is ERROR. */
  readonly status: { readonly code: number; readonly message?: string }
}

type Json = ReturnType<typeof JSON.parse>

const attributesOf = (list: ReadonlyArray<Json>): Attributes =>
  Object.fromEntries(
    list.map(({ key, value }) => {
      const { boolValue, doubleValue, intValue, stringValue } = value
      return [key, stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue))]
    })
  )

const spansOf = (body: Json): ReadonlyArray<CollectedSpan> =>
  body.resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ spans }: Json) =>
      spans.map(
        (span: Json): CollectedSpan => ({
          ...span,
          service: attributesOf(resource.attributes)["service.name"],
          resource: attributesOf(resource.attributes),
          startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
          endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
          attributes: attributesOf(span.attributes),
          events: span.events.map((event: Json) => ({ name: event.name, attributes: attributesOf(event.attributes) }))
        })
      )
    )
  )

/**
 * A collector that takes traces as OTLP over HTTP, and reads those in JSON. What a service exports when it stops is
 * there once it has stopped.
 */
export const otlpCollector = Effect.gen(function* () {
  const spans: Array<CollectedSpan> = []
  const paths = new Set<string>()
  const types = new Set<string>()
  const headers: Array<IncomingHttpHeaders> = []
  const server = createServer((request, response) => {
    let text = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      text += chunk
    })
    request.on("end", () => {
      paths.add(`${request.method} ${request.url}`)
      const type = request.headers["content-type"] ?? ""
      types.add(type)
      headers.push(request.headers)
      if (type === "application/json") spans.push(...spansOf(JSON.parse(text)))
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  const port = yield* listening(server)
  return { url: `http://127.0.0.1:${port}`, spans, paths, types, headers }
})
