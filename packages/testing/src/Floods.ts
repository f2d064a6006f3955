/** A request whose repeated field has very many elements without content, or one very large value. */
export interface Flood {
  readonly name: string
  readonly signal: "traces" | "logs"
  readonly encoding: "protobuf" | "json"
  readonly body: () => Buffer
  /** What becomes of it: refused as a whole, or cut with a count of the parts that are dropped. */
  readonly becomes: "refused" | "cut"
}

type Signal = Flood["signal"]

/** A field of protobuf with a length. */
const field = (number: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content])
}

const varint = (value: number): Buffer => {
  const bytes: Array<number> = []
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128)
  return Buffer.from([...bytes, left])
}

const repeated = (unit: Uint8Array, count: number): Buffer => Buffer.alloc(unit.length * count, unit)
const empties = (number: number, count: number) => repeated(Buffer.concat([varint(number * 8 + 2), varint(0)]), count)
const time = (number: number) => Buffer.concat([varint(number * 8 + 1), Buffer.from("00c0a1f3a5c49717", "hex")])

const IDS = { trace: "5b".repeat(16), span: "5c".repeat(8) }
const ids = (signal: Signal) => {
  const [trace, span, name] = signal === "traces" ? [1, 2, 5] : [9, 10, 12]
  const times = signal === "traces" ? [time(7), time(8)] : [time(1)]
  return Buffer.concat([
    field(trace, Buffer.from(IDS.trace, "hex")),
    field(span, Buffer.from(IDS.span, "hex")),
    field(name, Buffer.from("flood")),
    ...times
  ])
}
const item = (signal: Signal, ...more: ReadonlyArray<Uint8Array>) => field(2, ids(signal), ...more)
const within = (signal: Signal, ...more: ReadonlyArray<Uint8Array>) => field(1, field(2, item(signal, ...more)))
const valued = (value: Uint8Array) => Buffer.concat([field(1, Buffer.from("message")), field(2, value)])

const protobufOf = (signal: Signal, count: number): Readonly<Record<string, () => Buffer>> => {
  const attributes = signal === "traces" ? 9 : 6
  return {
    "groups of resources": () => empties(1, count),
    "groups of scopes": () => field(1, empties(2, count)),
    items: () => field(1, field(2, empties(2, count))),
    "attributes of a resource": () => field(1, field(1, empties(1, count)), field(2, item(signal))),
    "entities of a resource": () => field(1, field(1, empties(3, count)), field(2, item(signal))),
    "attributes of a scope": () => field(1, field(2, field(1, empties(3, count)), item(signal))),
    "attributes of an item": () => within(signal, empties(attributes, count)),
    "unknown fields of an item": () => within(signal, repeated(Buffer.from([0xf8, 0x01, 0x00]), count)),
    "values of a list": () => within(signal, field(attributes, valued(field(5, empties(1, count))))),
    "values of a map": () => within(signal, field(attributes, valued(field(6, empties(1, count))))),
    ...(signal === "traces"
      ? {
          events: () => within(signal, empties(11, count)),
          links: () => within(signal, empties(13, count)),
          "attributes of an event": () => within(signal, field(11, empties(3, count))),
          "attributes of a link": () => within(signal, field(13, empties(4, count)))
        }
      : {
          "values of a list in a body": () => within(signal, field(5, field(5, empties(1, count)))),
          "values of a map in a body": () => within(signal, field(5, field(6, empties(1, count))))
        })
  }
}

const jsonOf = (signal: Signal, count: number): Readonly<Record<string, () => Buffer>> => {
  const { groups, items, scopes } =
    signal === "traces"
      ? { groups: "resourceSpans", scopes: "scopeSpans", items: "spans" }
      : { groups: "resourceLogs", scopes: "scopeLogs", items: "logRecords" }
  const named = signal === "traces" ? '"name":"flood"' : '"eventName":"flood"'
  const head = `"traceId":"${IDS.trace}","spanId":"${IDS.span}",${named}`
  const fill = (unit: string) => repeated(Buffer.from(`${unit},`), count).subarray(0, (unit.length + 1) * count - 1)
  const text = (begin: string, end: string, unit = "{}") =>
    Buffer.concat([Buffer.from(begin), fill(unit), Buffer.from(end)])
  const inItem = (begin: string, end: string, unit?: string) =>
    text(`{"${groups}":[{"${scopes}":[{"${items}":[{${head},${begin}`, `${end}}]}]}]}`, unit)
  const inAttribute = (begin: string, end: string) =>
    inItem(`"attributes":[{"key":"message","value":${begin}`, `${end}}]`)
  const one = `"${items}":[{${head}}]`
  return {
    "groups of resources": () => text(`{"${groups}":[`, "]}"),
    "groups of scopes": () => text(`{"${groups}":[{"${scopes}":[`, "]}]}"),
    items: () => text(`{"${groups}":[{"${scopes}":[{"${items}":[`, "]}]}]}"),
    "attributes of a resource": () => text(`{"${groups}":[{"resource":{"attributes":[`, `]},"${scopes}":[{${one}}]}]}`),
    "entities of a resource": () => text(`{"${groups}":[{"resource":{"entityRefs":[`, `]},"${scopes}":[{${one}}]}]}`),
    "attributes of a scope": () => text(`{"${groups}":[{"${scopes}":[{"scope":{"attributes":[`, `]},${one}}]}]}`),
    "attributes of an item": () => inItem('"attributes":[', "]"),
    "unknown fields of an item": () => inItem("", "", '"":0'),
    "values of a list": () => inAttribute('{"arrayValue":{"values":[', "]}}"),
    "values of a map": () => inAttribute('{"kvlistValue":{"values":[', "]}}"),
    ...(signal === "traces"
      ? {
          events: () => inItem('"events":[', "]"),
          links: () => inItem('"links":[', "]"),
          "attributes of an event": () => inItem('"events":[{"attributes":[', "]}]"),
          "attributes of a link": () => inItem('"links":[{"attributes":[', "]}]")
        }
      : {
          "values of a list in a body": () => inItem('"body":{"arrayValue":{"values":[', "]}}"),
          "values of a map in a body": () => inItem('"body":{"kvlistValue":{"values":[', "]}}")
        })
  }
}

/** Requests of `count` elements without content in each repeated field of the format, in both encodings. */
export const floodsOf = (count: number): ReadonlyArray<Flood> =>
  (["traces", "logs"] as const).flatMap((signal) =>
    (["protobuf", "json"] as const).flatMap((encoding) =>
      Object.entries((encoding === "protobuf" ? protobufOf : jsonOf)(signal, count)).map(
        ([name, body]): Flood => ({
          name: `${name} (${signal}, ${encoding})`,
          signal,
          encoding,
          body,
          becomes: name.startsWith("values") ? "cut" : "refused"
        })
      )
    )
  )

/** Requests with one text of so many bytes: a value, and the names around it. */
export const giantsOf = (bytes: number): ReadonlyArray<Flood> => {
  const text = () => Buffer.alloc(bytes, "giant ")
  const protobuf: Readonly<Record<string, () => Buffer>> = {
    value: () => within("traces", field(9, valued(field(1, text())))),
    "text in a list": () => within("traces", field(9, valued(field(5, field(1, field(1, text())))))),
    "name of an attribute": () => within("traces", field(9, field(1, text()), field(2, field(1, Buffer.from("v")))))
  }
  const inAttribute = (begin: string, end: string) => {
    const head = `"traceId":"${IDS.trace}","spanId":"${IDS.span}","name":"flood"`
    const span = `{"resourceSpans":[{"scopeSpans":[{"spans":[{${head},"attributes":[{${begin}"`
    return Buffer.concat([Buffer.from(span), text(), Buffer.from(`"${end}}]}]}]}]}`)])
  }
  const json: Readonly<Record<string, () => Buffer>> = {
    value: () => inAttribute('"key":"message","value":{"stringValue":', "}"),
    "text in a list": () => inAttribute('"key":"message","value":{"arrayValue":{"values":[{"stringValue":', "}]}}"),
    "name of an attribute": () => inAttribute('"key":', ',"value":{"stringValue":"v"}')
  }
  return [protobuf, json].flatMap((bodies, index) =>
    Object.entries(bodies).map(([name, body]): Flood => {
      const encoding = index === 0 ? "protobuf" : "json"
      return { name: `one ${name} (${encoding})`, signal: "traces", encoding, body, becomes: "cut" }
    })
  )
}
