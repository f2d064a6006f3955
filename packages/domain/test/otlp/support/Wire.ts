import type {
  Attributes,
  AttributeValue,
  Emitter,
  LogRecord,
  Span,
  SpanEvent,
  SpanLink,
  Telemetry
} from "@runplane/domain"

/** A reader of OTLP bodies for tests: only the fields of a fold, no limits. */

interface Field {
  readonly number: number
  readonly value: bigint
  readonly bytes: Uint8Array
}

const NO_BYTES = new Uint8Array()

const fieldsOf = (bytes: Uint8Array): ReadonlyArray<Field> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fields: Array<Field> = []
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >>> 3
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint(), bytes: NO_BYTES })
        break
      case 1:
        fields.push({ number, value: view.getBigUint64(at, true), bytes: bytes.subarray(at, at + 8) })
        at += 8
        break
      case 2: {
        const length = Number(varint())
        fields.push({ number, value: 0n, bytes: bytes.subarray(at, at + length) })
        at += length
        break
      }
      default:
        fields.push({ number, value: BigInt(view.getUint32(at, true)), bytes: bytes.subarray(at, at + 4) })
        at += 4
    }
  }
  return fields
}

const all = (fields: ReadonlyArray<Field>, number: number) => fields.filter((field) => field.number === number)
const one = (fields: ReadonlyArray<Field>, number: number) => fields.findLast((field) => field.number === number)
const textOf = (field: Field | undefined): string => new TextDecoder().decode(field?.bytes ?? NO_BYTES)
const hexOf = (field: Field | undefined): string => Buffer.from(field?.bytes ?? NO_BYTES).toString("hex")
const timeOf = (field: Field | undefined): string => String(field?.value ?? 0n)

const integerOf = (value: bigint): AttributeValue => {
  const signed = BigInt.asIntN(64, value)
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : String(signed)
}

const readValue = (bytes: Uint8Array): AttributeValue => {
  const [field] = fieldsOf(bytes)
  switch (field?.number) {
    case 1:
      return textOf(field)
    case 2:
      return field.value !== 0n
    case 3:
      return integerOf(field.value)
    case 4:
      return new DataView(field.bytes.buffer, field.bytes.byteOffset, 8).getFloat64(0, true)
    case 5:
      return all(fieldsOf(field.bytes), 1).map((item) => readValue(item.bytes))
    case 6:
      return attributesOf(all(fieldsOf(field.bytes), 1))
    case 7:
      return Buffer.from(field.bytes).toString("base64")
    default:
      return null
  }
}

const attributesOf = (fields: ReadonlyArray<Field>): Attributes =>
  Object.fromEntries(
    fields.map(({ bytes }) => {
      const pair = fieldsOf(bytes)
      return [textOf(one(pair, 1)), readValue(one(pair, 2)?.bytes ?? NO_BYTES)]
    })
  )

/** The telemetry of a body of protobuf. Both kinds of request have the same shape. */
export const readProtobuf = (body: Uint8Array, kind: Telemetry["kind"]): ReadonlyArray<Telemetry> =>
  all(fieldsOf(body), 1).flatMap((group) => {
    const fields = fieldsOf(group.bytes)
    const resource = attributesOf(all(fieldsOf(one(fields, 1)?.bytes ?? NO_BYTES), 1))
    return all(fields, 2).flatMap((scoped) => {
      const inner = fieldsOf(scoped.bytes)
      const scope = fieldsOf(one(inner, 1)?.bytes ?? NO_BYTES)
      const version = textOf(one(scope, 2))
      const emitter: Emitter = {
        resource,
        scope: textOf(one(scope, 1)),
        ...(version !== "" && { scopeVersion: version })
      }
      return all(inner, 2).map(({ bytes }) =>
        kind === "span" ? spanOf(fieldsOf(bytes), emitter) : logOf(fieldsOf(bytes), emitter)
      )
    })
  })

const STATUSES = ["unset", "ok", "error"] as const

const spanOf = (fields: ReadonlyArray<Field>, emitter: Emitter): Span => {
  const parentSpanId = hexOf(one(fields, 4))
  const status = fieldsOf(one(fields, 15)?.bytes ?? NO_BYTES)
  const statusMessage = textOf(one(status, 2))
  return {
    ...emitter,
    kind: "span",
    traceId: hexOf(one(fields, 1)),
    spanId: hexOf(one(fields, 2)),
    ...(parentSpanId !== "" && { parentSpanId }),
    name: textOf(one(fields, 5)),
    startedAt: timeOf(one(fields, 7)),
    endedAt: timeOf(one(fields, 8)),
    status: STATUSES[Number(one(status, 3)?.value ?? 0n)] ?? "unset",
    ...(statusMessage !== "" && { statusMessage }),
    attributes: attributesOf(all(fields, 9)),
    events: all(fields, 11).map(({ bytes }): SpanEvent => {
      const event = fieldsOf(bytes)
      return { name: textOf(one(event, 2)), at: timeOf(one(event, 1)), attributes: attributesOf(all(event, 3)) }
    }),
    links: all(fields, 13).map(({ bytes }): SpanLink => {
      const link = fieldsOf(bytes)
      return { traceId: hexOf(one(link, 1)), spanId: hexOf(one(link, 2)), attributes: attributesOf(all(link, 4)) }
    })
  }
}

const logOf = (fields: ReadonlyArray<Field>, emitter: Emitter): LogRecord => {
  const body = one(fields, 5)
  const attributes = attributesOf(all(fields, 6))
  const at = timeOf(one(fields, 1))
  return {
    ...emitter,
    kind: "log",
    traceId: hexOf(one(fields, 9)),
    spanId: hexOf(one(fields, 10)),
    name: textOf(one(fields, 12)) || String(attributes["event.name"] ?? ""),
    at: at === "0" ? timeOf(one(fields, 11)) : at,
    ...(body !== undefined && { body: readValue(body.bytes) }),
    attributes
  }
}

interface JsonValue {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: string | number
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values?: ReadonlyArray<JsonValue> }
  readonly kvlistValue?: { readonly values?: ReadonlyArray<JsonPair> }
}
interface JsonPair {
  readonly key: string
  readonly value?: JsonValue
}
interface JsonSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status?: { readonly code?: number; readonly message?: string }
  readonly attributes?: ReadonlyArray<JsonPair>
  readonly events?: ReadonlyArray<{ name: string; timeUnixNano: string; attributes?: ReadonlyArray<JsonPair> }>
}
interface JsonBody {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes?: ReadonlyArray<JsonPair> }
    readonly scopeSpans: ReadonlyArray<{
      readonly scope: { readonly name: string }
      readonly spans: ReadonlyArray<JsonSpan>
    }>
  }>
}

const jsonValue = (value: JsonValue = {}): AttributeValue =>
  value.stringValue ??
  value.boolValue ??
  (value.intValue === undefined ? undefined : Number(value.intValue)) ??
  value.doubleValue ??
  value.arrayValue?.values?.map((item) => jsonValue(item)) ??
  (value.kvlistValue === undefined ? null : jsonAttributes(value.kvlistValue.values))

const jsonAttributes = (pairs: ReadonlyArray<JsonPair> = []): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, jsonValue(value)]))

/** The spans of a body of JSON, as our own emitters write it. */
export const readJson = (text: string): ReadonlyArray<Telemetry> => {
  const body: JsonBody = JSON.parse(text)
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ attributes, endTimeUnixNano, events = [], startTimeUnixNano, status, ...span }): Span => {
        const { name, parentSpanId, spanId, traceId } = span
        return {
          kind: "span",
          resource: jsonAttributes(resource.attributes),
          scope: scope.name,
          traceId,
          spanId,
          name,
          ...(parentSpanId !== undefined && { parentSpanId }),
          startedAt: startTimeUnixNano,
          endedAt: endTimeUnixNano,
          status: STATUSES[status?.code ?? 0] ?? "unset",
          ...(status?.message !== undefined && { statusMessage: status.message }),
          attributes: jsonAttributes(attributes),
          events: events.map((event) => ({
            name: event.name,
            at: event.timeUnixNano,
            attributes: jsonAttributes(event.attributes)
          })),
          links: []
        }
      })
    )
  )
}
