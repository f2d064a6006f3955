import { Agent, request } from "node:http"
import { gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import { WrongAnswer } from "../reads/HttpLoad.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"

/** The traces of one export request. */
export interface ExportLoad {
  /** Number of the first trace; ids follow from it. */
  readonly firstTrace: number
  readonly traces: number
  readonly spansPerTrace: number
  /** Bytes of the messages of each model call and of the arguments of each tool call. */
  readonly contentBytes: number
  /** Without the root the run only ends by idleness. */
  readonly hasRoot: boolean
}

const SENTENCE = "The counterparty is within its limits and settlement risk is covered by the collateral. "
const NANOS_PER_MILLI = "000000"
/** A span lasts so long, and starts so long after the one before. Milliseconds. */
const SPAN_MS = 20

type Values = Readonly<Record<string, string | number>>

const attributesOf = (values: Values) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: value } : { stringValue: value }
  }))

const idOf = (number: number, digits: number) => (number + 1).toString(16).padStart(digits, "0")

/** The attributes of a span: an agent at the root, then model and tool calls in turn. */
const valuesOf = (trace: number, index: number, text: string): Values => {
  if (index === 0) return { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk" }
  if (index % 2 === 0) {
    return {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "limits",
      "gen_ai.tool.call.id": `call-${trace}-${index}`,
      "gen_ai.tool.call.arguments": JSON.stringify({ question: text })
    }
  }
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.response.id": `response-${trace}-${index}`,
    "gen_ai.usage.input_tokens": 400 + index,
    "gen_ai.usage.output_tokens": 60,
    "gen_ai.input.messages": JSON.stringify([{ role: "user", parts: [{ type: "text", content: text }] }])
  }
}

const nameOf = (index: number) =>
  index === 0 ? "invoke_agent desk" : index % 2 === 0 ? "execute_tool limits" : "chat gpt-4o"

/** An export request in the JSON of OTLP, children before their root as exporters send them. */
export const exportBody = ({ contentBytes, firstTrace, hasRoot, spansPerTrace, traces }: ExportLoad, now: number) => {
  const text = SENTENCE.repeat(Math.ceil(contentBytes / SENTENCE.length)).slice(0, contentBytes)
  const spans = Array.from({ length: traces }, (_, number) => {
    const trace = firstTrace + number
    const startMs = now - SPAN_MS * (spansPerTrace + 1)
    const indexes = Array.from({ length: spansPerTrace }, (_, index) => spansPerTrace - 1 - index)
    return indexes.map((position) => {
      const index = hasRoot ? position : position + 1
      const isRoot = index === 0
      const start = isRoot ? startMs : startMs + SPAN_MS * position
      const end = isRoot ? startMs + SPAN_MS * spansPerTrace : start + SPAN_MS
      return {
        traceId: idOf(trace, 32),
        spanId: idOf(index, 16),
        ...(!isRoot && { parentSpanId: idOf(0, 16) }),
        name: nameOf(index),
        kind: 1,
        startTimeUnixNano: `${start}${NANOS_PER_MILLI}`,
        endTimeUnixNano: `${end}${NANOS_PER_MILLI}`,
        attributes: attributesOf(valuesOf(trace, index, text)),
        status: {}
      }
    })
  }).flat()
  const resource = { attributes: attributesOf({ "service.name": "desk", "telemetry.sdk.language": "python" }) }
  const body = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "bench" }, spans }] }] }
  return Buffer.from(JSON.stringify(body))
}

const MAX_SOCKETS = 8
const OK = 200

/** Posts bodies as exporters do, compressed and over kept connections. Any answer but an empty success fails. */
export const makeExporter = Effect.gen(function* () {
  const { headers, url } = yield* ControlPlaneProcess
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })),
    (kept) => Effect.sync(() => kept.destroy())
  )
  return (body: Buffer) =>
    Effect.callback<void, WrongAnswer>((resume) => {
      const failed = (reason: string) => resume(Effect.fail(new WrongAnswer({ reason: `/v1/traces: ${reason}` })))
      const coded = { "content-type": "application/json", "content-encoding": "gzip" }
      const outgoing = request(
        `${url}/v1/traces`,
        { agent, method: "POST", headers: { ...headers, ...coded } },
        (response) => {
          const parts: Array<Buffer> = []
          response.on("data", (part: Buffer) => parts.push(part))
          response.once("error", ({ message }) => failed(message))
          response.once("end", () => {
            const text = Buffer.concat(parts).toString("utf8")
            if (response.statusCode === OK && text === "{}") resume(Effect.void)
            else failed(`${response.statusCode} ${text.slice(0, 200)}`)
          })
        }
      )
      outgoing.once("error", ({ message }) => failed(message))
      outgoing.end(body)
      return Effect.sync(() => outgoing.destroy())
    })
})

export const compressed = (body: Buffer): Buffer => gzipSync(body, { level: 1 })
