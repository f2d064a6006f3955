import { create, fromBinary, toBinary } from "@bufbuild/protobuf"
import type { AttributeValue, Telemetry } from "@runplane/domain"
import { ExportLogsServiceRequestSchema } from "./gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.ts"
import { ExportTraceServiceRequestSchema } from "./gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts"
import type { AnyValue, KeyValue } from "./gen/opentelemetry/proto/common/v1/common_pb.ts"
import type { Resource } from "./gen/opentelemetry/proto/resource/v1/resource_pb.ts"

/** What the generated messages say about a protobuf request, in the form of the domain, without any bound. */
export const tracesOf = (bytes: Uint8Array): ReadonlyArray<Telemetry> =>
  fromBinary(ExportTraceServiceRequestSchema, bytes).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span): Telemetry => {
        const parent = hex(span.parentSpanId)
        return {
          kind: "span",
          ...emitterOf(resource, scope?.name, scope?.version),
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          ...(parent !== "" && { parentSpanId: parent }),
          name: span.name,
          startedAt: String(span.startTimeUnixNano),
          endedAt: String(span.endTimeUnixNano),
          status: ([undefined, "ok", "error"] as const)[span.status?.code ?? 0] ?? "unset",
          ...(span.status !== undefined && span.status.message !== "" && { statusMessage: span.status.message }),
          attributes: attributesOf(span.attributes),
          events: span.events.map(({ attributes, name, timeUnixNano }) => ({
            name,
            at: String(timeUnixNano),
            attributes: attributesOf(attributes)
          })),
          links: span.links.map(({ attributes, spanId, traceId }) => ({
            traceId: hex(traceId),
            spanId: hex(spanId),
            attributes: attributesOf(attributes)
          }))
        }
      })
    )
  )

export const logsOf = (bytes: Uint8Array): ReadonlyArray<Telemetry> =>
  fromBinary(ExportLogsServiceRequestSchema, bytes).resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords, scope }) =>
      logRecords.map((record): Telemetry => {
        const attributes = attributesOf(record.attributes)
        return {
          kind: "log",
          ...emitterOf(resource, scope?.name, scope?.version),
          traceId: hex(record.traceId),
          spanId: hex(record.spanId),
          name: record.eventName === "" ? String(attributes["event.name"] ?? "") : record.eventName,
          at: String(record.timeUnixNano === 0n ? record.observedTimeUnixNano : record.timeUnixNano),
          ...(record.body !== undefined && { body: jsonOf(record.body) }),
          attributes
        }
      })
    )
  )

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const emitterOf = (resource: Resource | undefined, scope = "", version = "") => ({
  resource: attributesOf(resource?.attributes ?? []),
  scope,
  ...(version !== "" && { scopeVersion: version })
})

const attributesOf = (pairs: ReadonlyArray<KeyValue>) =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value === undefined ? null : jsonOf(value)]))

const jsonOf = ({ value }: AnyValue): AttributeValue => {
  switch (value.case) {
    case "stringValue":
    case "boolValue":
      return value.value
    case "doubleValue":
      return value.value
    case "intValue":
      return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : String(value.value)
    case "arrayValue":
      return value.value.values.map(jsonOf)
    case "kvlistValue":
      return attributesOf(value.value.values)
    case "bytesValue":
      return Buffer.from(value.value).toString("base64")
    default:
      return null
  }
}

/** A request of one span, with fields of the generated message. */
export const traceRequest = (spans: ReadonlyArray<object>): Uint8Array =>
  toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, {
      resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: "test" }, spans: [...spans] }] }]
    })
  )

/** Ids and times of a span that every reader accepts. */
export const span = (fields: object) => ({
  traceId: new Uint8Array(16).fill(7),
  spanId: new Uint8Array(8).fill(3),
  startTimeUnixNano: 1_700_000_000_000_000_000n,
  endTimeUnixNano: 1_700_000_000_500_000_000n,
  ...fields
})

/** An attribute of any JSON value. */
export const attribute = (key: string, value: AttributeValue): object => ({ key, value: anyValue(value) })

const anyValue = (value: AttributeValue): object => {
  if (value === null) return {}
  if (typeof value === "string") return { value: { case: "stringValue", value } }
  if (typeof value === "boolean") return { value: { case: "boolValue", value } }
  if (typeof value === "number") {
    return Number.isSafeInteger(value)
      ? { value: { case: "intValue", value: BigInt(value) } }
      : { value: { case: "doubleValue", value } }
  }
  if (Array.isArray(value)) return { value: { case: "arrayValue", value: { values: value.map(anyValue) } } }
  const values = Object.entries(value).map(([key, member]) => attribute(key, member))
  return { value: { case: "kvlistValue", value: { values } } }
}
