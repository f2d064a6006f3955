import { type Chance, chanceOf, type WireRequest } from "@runplane/testing"
import { type DeclaredEndpoint, declaredEndpoints, isObject } from "./Declared.ts"
import { fittingJson, hostileJson, hostileText, jsonTextOf, type Liked, mutated } from "./HostileValues.ts"

/** Ids of things that exist, so that requests get past the first look-up. */
export interface Known {
  readonly runs: ReadonlyArray<string>
  readonly webhooks: ReadonlyArray<string>
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "M-SEARCH", "QUERY"]
const NO_METHODS = ["get", "FOO", "CONNECT", "", "PRI", "G\u0000T", "POST POST"]

/** Longest path; above it the whole head no longer fits what Node.js takes. */
const LONG_PATHS = [500, 513, 5_000, 15_000, 20_000]

/** Always present: a request that waits for the end of its run would last the default of 30 s. */
const WAIT_LIMIT = "timeoutMs"

const GARBAGE = ["%", "%2", "%zz", "%00", "%ff", "%c0%af", "%ED%A0%80", "%2e%2e%2f", "..", "//", "%2F", "%25", ";", "+"]

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

const garbage = (chance: Chance): string =>
  Array.from({ length: 1 + chance.below(4) }, () => chance.pick(GARBAGE)).join(chance.pick(["", "a", "/"]))

const hostileSegment = (chance: Chance): string => {
  if (chance.happens(0.3)) return garbage(chance)
  if (chance.happens(0.15)) return "a".repeat(chance.pick(LONG_PATHS))
  if (chance.happens(0.1)) return chance.pick(["a b", "\u00ff\u0080", "<>", '"', "[id]", "{id}", "a\u0001b"])
  return encoded(hostileText(chance)).slice(0, 8_000)
}

const pathOf = ({ path }: DeclaredEndpoint, known: Known, chance: Chance): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name) => {
    if (chance.happens(0.3)) return hostileSegment(chance)
    if (path.startsWith("/webhooks")) return chance.pick(known.webhooks)
    return name === "id" ? chance.pick(known.runs) : encoded(chance.pick(["policy.known", hostileText(chance)]))
  })
  if (chance.happens(0.96)) return filled
  return chance.pick([
    `${filled}/`,
    `/${filled}`,
    `${filled}/${hostileSegment(chance)}`,
    filled.toUpperCase(),
    "*",
    "/"
  ])
}

const likedOf =
  (known: Known): Liked =>
  (field, chance) => {
    if (field === "kind") return chance.happens(0.9) ? "fake" : undefined
    if (field === "runIds") return Array.from({ length: chance.below(4) }, () => chance.pick(known.runs))
    if (field.endsWith("RunId") || field === "runId") return chance.pick(known.runs)
    if (field === "sessionId") return chance.happens(0.2) ? chance.pick(known.runs) : uuid(chance)
    // Addresses that no host has.
    if (field === "url") return "https://192.0.2.1/hook"
    if (field === "modeName" || field === "mode") return chance.happens(0.5) ? "macp.mode.decision.v1" : undefined
    if (field === WAIT_LIMIT) return chance.below(200)
    if (field === "rules") return chance.happens(0.5) ? { voting: { algorithm: "majority" } } : undefined
    if (field === "metadata" && chance.happens(0.5)) {
      return chance.pick<unknown>([
        { cancellationDelegated: true },
        { cancelCallback: { url: "http://127.0.0.1:9/cancel", bearer: hostileText(chance) } },
        { cancelCallback: hostileJson(chance), source: hostileText(chance), sourceRef: hostileText(chance) },
        { scenarioRef: hostileText(chance), environment: hostileText(chance), durationMs: hostileJson(chance) }
      ])
    }
    return undefined
  }

const uuid = (chance: Chance): string =>
  "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx".replaceAll("x", () => chance.below(16).toString(16))

const queryOf = ({ query }: DeclaredEndpoint, known: Known, chance: Chance): string => {
  if (chance.happens(0.04)) return `?${garbage(chance)}`
  if (chance.happens(0.02)) return `?${"a=1&".repeat(chance.below(3_000))}`
  const liked = likedOf(known)
  const parts = query.flatMap(({ name, schema }) => {
    if (name !== WAIT_LIMIT && chance.happens(0.6)) return []
    const count = chance.happens(0.1) ? 2 : 1
    return Array.from({ length: count }, () => {
      const hostile = chance.happens(0.4)
      if (hostile && chance.happens(0.1)) return `${name}=${garbage(chance)}`
      const value = hostile ? hostileText(chance).slice(0, 1_000) : String(fittingJson(schema, chance, liked, name))
      return `${name}${chance.happens(0.05) ? chance.pick(["[]", "[a]", "[__proto__]"]) : ""}=${encoded(value)}`
    })
  })
  return parts.length === 0 ? "" : `?${parts.join("&")}`
}

const MAX_BODY_BYTES = 1024 * 1024
const emptyBody = Buffer.alloc(0)

const bodyOf = ({ body, method }: DeclaredEndpoint, known: Known, chance: Chance): Buffer => {
  if (body === undefined && (method === "GET" || chance.happens(0.7))) return emptyBody
  const fault = chance.below(20)
  if (fault === 0)
    return Buffer.alloc(MAX_BODY_BYTES + chance.pick([1, 100_000, 3_000_000]), chance.pick(["a", "[", " "]))
  if (fault === 1) return Buffer.from(jsonTextOf({ x: "x".repeat(MAX_BODY_BYTES - chance.pick([0, 7, 8, 9, 100])) }))
  if (fault === 2) return Buffer.from(Array.from({ length: chance.below(300) }, () => chance.below(256)))
  if (fault === 3) return emptyBody
  if (fault < 6) return Buffer.from(jsonTextOf(hostileJson(chance)))
  const fitting = body === undefined ? {} : fittingJson(body, chance, likedOf(known))
  const changes = chance.below(4)
  const value = Array.from({ length: changes }).reduce((current) => mutated(current, chance), fitting)
  const bytes = Buffer.from(jsonTextOf(value))
  if (fault === 6) return bytes.subarray(0, chance.below(bytes.length + 1))
  if (fault === 7) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
  if (fault === 8) return Buffer.from(bytes.toString(), "utf16le")
  return bytes
}

const CONTENT_TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "multipart/form-data",
  "application/json; charset=utf-16",
  "application/json;;;",
  "APPLICATION/JSON",
  "application/msgpack",
  "application/octet-stream",
  "text/event-stream",
  "/",
  ";",
  "\u00ff"
]

const ODD_HEADERS: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["x-request-id", ["", "a b", "\u00ff", "x".repeat(5_000), "ok-1"]],
  ["authorization", ["Bearer", "Bearer ", "Basic !!!", "\u00ff\u00fe", "Bearer a b c", "Bearer x\u00a0"]],
  ["last-event-id", ["", "NaN", "-1", "1e999", "99999999999999999999", "\u00ff", "0x1", "1.5", "9007199254740993"]],
  ["accept", ["", "image/png", "*/*;q=x", "application/problem+json"]],
  ["accept-encoding", ["gzip, br", "\u00ff", "identity;q=0"]],
  ["content-encoding", ["gzip", "br", "deflate", "x"]],
  ["origin", ["null", "http://evil.example", "\u00ff", "http://localhost:3000"]],
  ["access-control-request-method", ["GET", "\u00ff"]],
  ["access-control-request-headers", ["x-a", "a\tb", "\u00ff\u0080", "x".repeat(3_000)]],
  ["cookie", ["a=b; =; ;;", "%zz=%zz", "\u00ff=1"]],
  ["traceparent", ["00-0-0-0", "ff-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff", "\u00ff"]],
  ["b3", ["0", "a-b-c-d", "\u00ff"]],
  ["range", ["bytes=0-", "bytes=9-1"]],
  ["if-none-match", ["*", '"']],
  ["expect", ["100-continue", "200-ok", "x"]],
  ["upgrade", ["websocket", "h2c"]],
  ["connection", ["upgrade", "keep-alive, upgrade", "x"]],
  ["x-forwarded-for", ["a, b, c", "\u00ff", ""]],
  ["x-http-method-override", ["DELETE"]],
  ["forwarded", ["for=[::1"]],
  ["te", ["trailers"]],
  ["host", ["", "a b", "\u00ff", "evil.example:99999", "[::1"]],
  ["x-long", ["x".repeat(20_000)]],
  ["bad name", ["x"]],
  ["x-nul", ["a\u0000b"]]
]

type Headers = ReadonlyArray<readonly [string, string]>

const headersOf = (body: Buffer, chance: Chance): Headers => {
  const odd = Array.from({ length: chance.happens(0.35) ? 1 + chance.below(2) : 0 }, () => {
    const [name, values] = chance.pick(ODD_HEADERS)
    return [name, chance.pick(values)] as const
  })
  const contentType: Headers = chance.happens(0.06)
    ? []
    : [["content-type", chance.happens(0.06) ? chance.pick(CONTENT_TYPES) : "application/json"]]
  const host: Headers = odd.some(([name]) => name === "host") || chance.happens(0.005) ? [] : [["host", "127.0.0.1"]]
  return [
    ...host,
    ...contentType,
    ...odd,
    ...(body.length > 0 ? ([["content-length", `${body.length}`]] as const) : [])
  ]
}

const chunksOf = (body: Buffer, chance: Chance): Buffer => {
  const size = 1 + chance.below(Math.max(1, body.length))
  const parts: Array<Buffer> = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"))
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")])
}

/** How the bytes of a request lie about their length; `leaves` where the server would have to wait for more. */
const framed = (headers: Headers, body: Buffer, chance: Chance) => {
  const others = headers.filter(([name]) => name !== "content-length")
  const withLength = (length: string) => [...others, ["content-length", length] as const]
  const fault = chance.below(60)
  if (fault < 3) {
    return {
      headers: [...others, ["transfer-encoding", "chunked"] as const],
      body: chunksOf(body, chance),
      leaves: false
    }
  }
  if (fault === 3) return { headers: withLength(String(body.length + 10)), body, leaves: true }
  if (fault === 4)
    return { headers: withLength(chance.pick(["-1", "x", "1e3", "99999999999999999999"])), body, leaves: true }
  if (fault === 5) {
    const broken = Buffer.from(chance.pick(["zz\r\nx\r\n", "5\r\nab", "fffffffffffffffff\r\n", "-1\r\n\r\n"]))
    return { headers: [...others, ["transfer-encoding", "chunked"] as const], body: broken, leaves: true }
  }
  if (fault === 6) {
    return {
      headers: [...headers, ["transfer-encoding", "chunked"] as const],
      body: chunksOf(body, chance),
      leaves: false
    }
  }
  return { headers, body, leaves: false }
}

export interface HostileRequest extends WireRequest {
  readonly number: number
  readonly method: string
  readonly body: Buffer
}

/**
 * Request `number` of a seed. Which known ids it uses is chosen by the seed too; the ids themselves are the world's.
 */
export const hostileRequest = (seed: number, number: number, known: Known): HostileRequest => {
  const chance = chanceOf(seed, number)
  const endpoint = declaredEndpoints[number % declaredEndpoints.length] ?? chance.pick(declaredEndpoints)
  const method = chance.happens(0.93)
    ? endpoint.method
    : chance.happens(0.8)
      ? chance.pick(METHODS)
      : chance.pick(NO_METHODS)
  const target = chance.happens(0.005) ? chance.pick(["", "http://[", "http://evil/runs", "?", "#"]) : undefined
  const path = target ?? `${pathOf(endpoint, known, chance)}${queryOf(endpoint, known, chance)}`
  const content = bodyOf(endpoint, known, chance)
  const { body, headers, leaves } = framed(headersOf(content, chance), content, chance)
  const version = chance.happens(0.99) ? "HTTP/1.1" : chance.pick(["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/x", ""])
  const lines = [...headers, ["connection", "close"] as const].map(([name, value]) => `${name}: ${value}`)
  return { number, method, head: [`${method} ${path} ${version}`, ...lines].join("\r\n"), body, leaves }
}

/** Characters of a line, and lines. */
const SHOWN = 400
const SHOWN_LINES = 20

const short = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}... (${text.length})` : text)

/** What a report of a failure shows of a request. */
export const shown = ({ number, head, body }: HostileRequest): string => {
  const lines = [`request ${number}:`, ...head.split("\r\n"), "", body.toString("latin1")]
  return lines.slice(0, SHOWN_LINES).map(short).join("\n")
}

/** Ids in an answer that further requests may use. */
export const learnt = (body: unknown): Known => {
  if (!isObject(body)) return { runs: [], webhooks: [] }
  const { events, id, runId } = body
  if (typeof runId === "string") return { runs: [runId], webhooks: [] }
  return { runs: [], webhooks: typeof id === "string" && Array.isArray(events) ? [id] : [] }
}
