import { type Chance, chanceOf, type WireRequest } from "@runplane/testing"

const TEXTS = [
  "demo/full@1.0.0",
  "demo/many@2.0.0",
  "demo",
  "@",
  "/@",
  "demo/full@",
  "__proto__/constructor@toString",
  "",
  " ",
  "\u0000",
  "\ud800",
  "\u2028",
  "../../etc/passwd",
  "%2e%2e",
  "x".repeat(600),
  "x".repeat(70_000),
  "{{ inputs.customer }}",
  "C-1",
  "\u{1f3ad}",
  "\r\nset-cookie: a=b",
  "null"
] as const

/** JSON texts, so that what no value can say can be said. */
const VALUES = [
  "null",
  "true",
  "0",
  "-0",
  "1e999",
  "123456789012345678901234567890",
  "[]",
  "{}",
  '{"customer":"C-1"}',
  '{"customer":"C-1","amount":"x","list":[1,2,3]}',
  '{"__proto__":{"polluted":1},"constructor":1,"customer":"C-1"}',
  '{"customer":"C-1","customer":7}',
  `[${"1,".repeat(3_000)}1]`,
  `${"[".repeat(70)}${"]".repeat(70)}`,
  `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
  '{"length":1000000000}'
] as const

const jsonOf = (chance: Chance): string =>
  chance.below(2) === 0 ? chance.pick(VALUES) : JSON.stringify(chance.pick(TEXTS))

/** What each field of a body likes to be. */
const LIKED = {
  scenarioRef: '"demo/full@1.0.0"',
  templateId: '"small"',
  mode: '"live"',
  inputs: '{"customer":"C-7","amount":3}',
  bootstrapAgents: "false",
  tags: '["a"]',
  requester: '{"actorId":"me","actorType":"user"}',
  runLabel: '"label"',
  idempotencyKey: '"key-1"',
  gate: '{"case":"c","seed":7}',
  againOf: '"r1"'
} as const

const bodyOf = (chance: Chance): string => {
  const fields = Object.entries(LIKED).flatMap(([name, liked]) => {
    const needed = name === "scenarioRef" || name === "inputs" || name === "bootstrapAgents"
    if (!needed && chance.below(3) > 0) return []
    return [`${JSON.stringify(name)}:${chance.below(5) === 0 ? jsonOf(chance) : liked}`]
  })
  if (chance.below(8) === 0) fields.push(`${JSON.stringify(chance.pick(TEXTS))}:${jsonOf(chance)}`)
  // None of these may start agents.
  const text = `{${fields.join(",")}}`.replace('"bootstrapAgents":true', '"bootstrapAgents":false')
  switch (chance.below(16)) {
    case 0:
      return text.slice(0, chance.below(text.length))
    case 1:
      return jsonOf(chance)
    case 2:
      return `\ufeff${text}`
    case 3:
      return String.fromCharCode(...Array.from({ length: chance.below(60) }, () => chance.below(256)))
    case 4:
      return chance.below(4) === 0 ? `{"x":"${"x".repeat(1_100_000)}"}` : text
    default:
      return text
  }
}

const segmentOf = (chance: Chance, liked: string): string =>
  chance.below(3) > 0
    ? liked
    : chance.pick([
        encodeURIComponent(chance.pick(TEXTS).toWellFormed()),
        "%",
        "%zz",
        "%00",
        "%ff",
        "%c0%af",
        "..",
        "%2F",
        "a".repeat(513),
        "a".repeat(20_000),
        '"<>'
      ])

const pathOf = (chance: Chance): string => {
  const packs = `/packs/${segmentOf(chance, "demo")}/scenarios`
  return chance.pick([
    "/healthz",
    "/packs",
    "/scenarios",
    "/agents",
    packs,
    `/agents/${segmentOf(chance, "agent-lead")}`,
    `${packs}/${segmentOf(chance, "full")}/versions/${segmentOf(chance, "1.0.0")}/launch-schema?template=${segmentOf(chance, "small")}`,
    "/launch/compile",
    "/launch/compile",
    "/launch/compile",
    "/examples/run",
    "/examples/run",
    `/${segmentOf(chance, "nowhere")}`,
    "//packs",
    "*",
    "http://["
  ])
}

const HEADERS = [
  "x-request-id: a b",
  "x-api-key: \u00ff",
  "origin: \u00ff",
  "accept: image/png",
  "expect: 100-continue",
  "expect: x",
  "upgrade: h2c",
  "content-encoding: gzip",
  "access-control-request-headers: \u00ff\u0080",
  "bad name: x",
  "x-nul: a\u0000b",
  `x-long: ${"x".repeat(20_000)}`,
  "x-forwarded-for: a, b",
  "host:",
  "traceparent: 00-0-0-0"
] as const

const TYPES = [
  "application/json",
  "application/json",
  "application/json; charset=utf-16",
  "text/plain",
  ";",
  "\u00ff"
] as const

export interface HostileRequest extends WireRequest {
  readonly method: string
}

/** Request `number` of a seed. */
export const hostileRequest = (seed: number, number: number): HostileRequest => {
  const chance = chanceOf(seed, number)
  const path = pathOf(chance)
  const liked = path === "/launch/compile" || path === "/examples/run" ? "POST" : "GET"
  const method =
    chance.below(12) > 0 ? liked : chance.pick(["GET", "POST", "HEAD", "OPTIONS", "PUT", "QUERY", "CONNECT", "foo", ""])
  const body = Buffer.from(method === "GET" && chance.below(10) > 0 ? "" : bodyOf(chance))
  const fault = chance.below(40)
  const length = fault === 0 ? body.length + 10 : fault === 1 ? chance.pick([-1, 1e21, Number.NaN]) : body.length
  const framing = fault === 2 ? "transfer-encoding: chunked" : `content-length: ${length}`
  const head = [
    `${method} ${path} HTTP/${chance.below(60) === 0 ? chance.pick(["1.0", "9.9", "x"]) : "1.1"}`,
    "host: 127.0.0.1",
    "connection: close",
    `content-type: ${chance.below(10) > 0 ? "application/json" : chance.pick(TYPES)}`,
    ...(chance.below(6) === 0 ? [chance.pick(HEADERS)] : []),
    framing
  ]
  return { method, head: head.join("\r\n"), body, leaves: fault < 3 }
}
