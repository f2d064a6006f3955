import { assert, describe, it } from "@effect/vitest"
import { parseQuery, type Query, type QueryFields } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { nastyText, pick } from "../support/arbitraries.ts"

const fields: QueryFields = [
  { name: "status", type: "keyword", values: ["running", "failed", "cancelled"] },
  { name: "mode", type: "keyword" },
  { name: "title", type: "text" },
  { name: "id", type: "uuid" },
  { name: "cost", type: "number" },
  { name: "createdAt", type: "time" },
  { name: "archived", type: "flag" },
  { name: "metadata", type: "text", dotted: true },
  { name: "mark", type: "value", dotted: true, hasAny: true }
]

/** A query in short, without its spans. */
const short = (query: Query): string => {
  switch (query.kind) {
    case "and":
    case "or":
      return `${query.kind}(${query.of.map(short).join(" ")})`
    case "not":
      return `not(${short(query.of)})`
    case "search":
      return `search(${JSON.stringify(query.text)})`
    default: {
      const name = query.path === undefined ? query.field : `${query.field}/${query.path}`
      if (query.kind === "has") return `has(${name})`
      if (query.kind === "in") return `${name} in ${JSON.stringify(query.values)}`
      if (query.kind === "range") return `${name} ${JSON.stringify([query.from ?? null, query.to ?? null])}`
      return `${name} ${query.op} ${JSON.stringify(query.value)}`
    }
  }
}

const read = (text: string): string =>
  Result.match(parseQuery(text, fields), { onSuccess: short, onFailure: ({ message }) => message })

const meanings: ReadonlyArray<readonly [text: string, meaning: string]> = [
  ["", "and()"],
  ["   ", "and()"],
  ["status:failed", 'status eq "failed"'],
  ["status:failed archived:false", 'and(status eq "failed" archived eq false)'],
  ["status:failed AND archived:true", 'and(status eq "failed" archived eq true)'],
  ["-status:failed", 'not(status eq "failed")'],
  ["-(status:failed deploy)", 'not(and(status eq "failed" search("deploy")))'],
  ["status:(failed,cancelled)", 'status in ["failed","cancelled"]'],
  ["status:( failed , cancelled )", 'status in ["failed","cancelled"]'],
  ["deploy v2", 'and(search("deploy") search("v2"))'],
  ['"deploy v2"', 'search("deploy v2")'],
  ['"status:none"', 'search("status:none")'],
  ['"OR"', 'search("OR")'],
  ['title:"say \\"hi\\""', 'title eq "say \\"hi\\""'],
  ["title:a:b", 'title eq "a:b"'],
  ["title:OR", 'title eq "OR"'],
  ["a OR b c", 'or(search("a") and(search("b") search("c")))'],
  ["(a OR b) c", 'and(or(search("a") search("b")) search("c"))'],
  ["cost:>5", "cost gt 5"],
  ["cost:>=-0.5", "cost gte -0.5"],
  ["cost:<2 cost:<=3", "and(cost lt 2 cost lte 3)"],
  ["cost:1..5", "cost [1,5]"],
  ["cost:1.. archived:true", "and(cost [1,null] archived eq true)"],
  ["cost:1.. -status:failed", 'and(cost [1,null] not(status eq "failed"))'],
  ["cost:..5", "cost [null,5]"],
  ["cost:-3", "cost eq -3"],
  ["createdAt:2026-07-01..2026-07-02T10:30", 'createdAt ["2026-07-01T00:00:00.000Z","2026-07-02T10:30:00.000Z"]'],
  ["createdAt:2026-07-01", 'createdAt ["2026-07-01T00:00:00.000Z","2026-07-01T23:59:59.999Z"]'],
  ["createdAt:..2026-07-01", 'createdAt [null,"2026-07-01T23:59:59.999Z"]'],
  ['metadata."a://b \\"c\\"":x', 'metadata/a://b "c" eq "x"'],
  ['-metadata."a b":x c', 'and(not(metadata/a b eq "x") search("c"))'],
  ['metadata."a"', 'and(search("metadata.") search("a"))'],
  ['has:metadata."a:b"', "has(metadata/a:b)"],
  ["createdAt:>now-1d", 'createdAt gt "now-1d"'],
  ["createdAt:<=now", 'createdAt lte "now"'],
  ["createdAt:now-2w..now-1w", 'createdAt ["now-2w","now-1w"]'],
  ["-createdAt:>now+90m", 'not(createdAt gt "now+90m")'],
  ["title:now-1d", 'title eq "now-1d"'],
  ["createdAt:>2026-07-01", 'createdAt gt "2026-07-01T23:59:59.999Z"'],
  ["createdAt:<=2026-07-01", 'createdAt lte "2026-07-01T23:59:59.999Z"'],
  ["createdAt:>=2026-07-01", 'createdAt gte "2026-07-01T00:00:00.000Z"'],
  ["createdAt:<2026-07-01", 'createdAt lt "2026-07-01T00:00:00.000Z"'],
  [
    "createdAt:(2026-07-01T10:00Z,2026-07-02T10:00Z)",
    'createdAt in ["2026-07-01T10:00:00.000Z","2026-07-02T10:00:00.000Z"]'
  ],
  [
    "createdAt:(2026-07-01,2026-07-02T10:00Z)",
    'or(createdAt ["2026-07-01T00:00:00.000Z","2026-07-01T23:59:59.999Z"] createdAt ["2026-07-02T10:00:00.000Z","2026-07-02T10:00:00.000Z"])'
  ],
  ["createdAt:2026-07-01T10:00Z", 'createdAt eq "2026-07-01T10:00:00.000Z"'],
  ["id:5B1F6C0E-6F0A-4C53-9A56-0D9C6F5F7A10", 'id eq "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"'],
  ["createdAt:>2026-07-01T10:00:00+02:00", 'createdAt gt "2026-07-01T08:00:00.000Z"'],
  ["has:cost -has:metadata.team", "and(has(cost) not(has(metadata/team)))"],
  ["metadata.team:payments", 'metadata/team eq "payments"'],
  ["metadata.a.b:x", 'metadata/a.b eq "x"'],
  ["mark.quality:>0.8", "mark/quality gt 0.8"],
  ["mark.quality:0.2..0.5", "mark/quality [0.2,0.5]"],
  ["mark.quality:..0.5", "mark/quality [null,0.5]"],
  ["mark.quality:>=-1", "mark/quality gte -1"],
  ["-mark.correct:false", "not(mark/correct eq false)"],
  ["mark.correct:true mark.tone:rude", 'and(mark/correct eq true mark/tone eq "rude")'],
  ['mark.tone:("rude",3,true)', 'mark/tone in ["rude",3,true]'],
  ['mark.grade:"1"', 'mark/grade eq "1"'],
  ['mark.grade:"true"', 'mark/grade eq "true"'],
  ["mark.tone:1e3", 'mark/tone eq "1e3"'],
  ["has:mark", "has(mark)"],
  ["-has:mark has:mark.tone", "and(not(has(mark)) has(mark/tone))"]
]

const faults: ReadonlyArray<readonly [text: string, message: string | RegExp]> = [
  ["stauts:failed", /^at 1: unknown field "stauts"; expected status, mode, .*, metadata\.<name>, mark\.<name>$/],
  ["a color:red", /^at 3: unknown field "color"/],
  ["metadata:x", /^at 1: unknown field "metadata"/],
  ["metadata.:x", /^at 1: unknown field/],
  ["status:done", 'at 8: "done" is not a value of status; expected running, failed, cancelled'],
  ["status:(failed,done)", 'at 16: "done" is not a value of status; expected running, failed, cancelled'],
  ["cost:much", 'at 6: "much" is not a value of cost; expected a number'],
  ["cost:>", "at 7: cost needs a value; expected a number"],
  ["cost:1e999", /is not a value of cost/],
  ["archived:yes", 'at 10: "yes" is not a value of archived; expected true, false'],
  ["id:5b1f", 'at 4: "5b1f" is not a value of id; expected a UUID'],
  ["createdAt:0000-01-01", /is not a value of createdAt/],
  ["createdAt:9999-12-31T23:59:00-02:00", /is not a value of createdAt/],
  ['metadata."a:x', /^at 10: the quote is not closed/],
  ["createdAt:>now-1y", /^at 12: "now-1y" is not a value of createdAt; expected a time such as .* or now-1d/],
  ["createdAt:>now-d", /^at 12: "now-d" is not a value of createdAt/],
  ["createdAt:>now-1.5d", /is not a value of createdAt/],
  ["createdAt:>now-999999w", /is not a value of createdAt/],
  ["createdAt:>Now-1d", /is not a value of createdAt/],
  ["createdAt:now -1d..", /^at 18: /],
  ["createdAt:2026-02-30", /is not a value of createdAt/],
  ["createdAt:2026-02-30T10:00:00Z", /is not a value of createdAt/],
  ["title:>a", "at 7: title has no order, it is a text; expected a value, a list of values"],
  ["mode:a..b", "at 7: mode has no order, it is a keyword; expected a value, a list of values"],
  ["cost:..", "at 6: a range needs at least one end; expected a value"],
  ["status:", "at 8: status needs a value; expected running, failed, cancelled"],
  ["status:(failed", 'at 15: unexpected "" in a list of values; expected ,, )'],
  ["status:()", "at 9: status needs a value; expected running, failed, cancelled"],
  ["has:", /^at 5: has: needs a field; expected status/],
  ["has:nothing", /^at 5: unknown field "nothing"/],
  ["mark:true", /^at 1: unknown field "mark"/],
  ["has:metadata", /^at 5: unknown field "metadata"/],
  ["mark.tone:>rude", 'at 12: "rude" is not a value of mark; expected a number'],
  ["mark.tone:rude..2", /^at 15: "rude" has no order; expected a number$/],
  ["mark.tone:1..rude", 'at 14: "rude" is not a value of mark; expected a number'],
  ["(a", "at 3: the parenthesis is not closed; expected )"],
  ["a)", 'at 2: unexpected ")"; expected a condition'],
  ["()", "at 2: the parentheses are empty; expected a condition"],
  ["a OR", "at 5: OR needs a condition on both sides; expected a condition"],
  ["OR a", "at 1: OR needs a condition on both sides; expected a condition"],
  ["a AND AND b", "at 3: AND needs a condition on both sides; expected a condition"],
  ["AND a", "at 1: AND needs a condition on both sides; expected a condition"],
  ["- a", "at 3: a minus needs the excluded condition right after it; expected a condition"],
  ["--a", "at 2: a minus needs the excluded condition right after it; expected a condition"],
  ["-", "at 2: a minus needs the excluded condition right after it; expected a condition"],
  ['title:"open', 'at 7: the quote is not closed; expected "'],
  [":x", 'at 1: ":" is not a condition; expected a condition'],
  ['"status":failed', 'at 9: ":" is not a condition; expected a condition'],
  ["a, b", 'at 2: "," is not a condition; expected a condition'],
  ["x".repeat(2_001), "at 2001: the query is longer than 2000 characters"],
  [`${"(".repeat(21)}a${")".repeat(21)}`, "at 21: more than 20 nested parentheses"],
  ["a ".repeat(101), "at 201: more than 100 conditions"],
  [`cost:(${Array.from({ length: 101 }, (_, at) => at).join()})`, /more than 100 conditions/]
]

describe("a query", () => {
  for (const [text, meaning] of meanings)
    it(`means what it says: ${text}`, () => assert.strictEqual(read(text), meaning))

  for (const [text, message] of faults) {
    it(`is refused with its position and what is allowed there: ${text.slice(0, 40)}`, () => {
      if (typeof message === "string") assert.strictEqual(read(text), message)
      else assert.match(read(text), message)
    })
  }

  it("knows the position of each condition", () => {
    const query = Result.getOrThrow(parseQuery("a  status:failed cost:1..5", fields))
    assert(query.kind === "and")
    assert.deepStrictEqual(
      query.of.map((one) => ("start" in one ? [one.start, one.end] : [])),
      [
        [0, 1],
        [3, 16],
        [17, 26]
      ]
    )
  })

  const pieces = [
    "status",
    "cost",
    "metadata.x",
    "mark.x",
    "mark",
    "has",
    ":",
    "(",
    ")",
    ",",
    "-",
    " ",
    "OR",
    "AND",
    ">=",
    "..",
    '"',
    "1",
    "failed",
    "\\"
  ]
  const jumble = Arbitrary.map(Arbitrary.array(pick(pieces), { maxLength: 24 }), (parts) => parts.join(""))

  it.prop(
    "of any text is read or refused within it, and never throws",
    { jumble, text: nastyText },
    ({ jumble, text }) => {
      for (const query of [jumble, text, `status:${text}`, `title:"${text}"`]) {
        Result.match(parseQuery(query, fields), {
          onSuccess: (found) => assert.isString(short(found)),
          onFailure: ({ position, why }) => {
            assert.isTrue(position >= 0 && position <= query.length, why)
            assert.isAtMost(why.length, 200)
          }
        })
      }
    }
  )

  const value = Arbitrary.filter(Arbitrary.schema(Schema.String), (text) => text.length < 500)

  it.prop("takes any quoted value as it is", { value }, ({ value }) => {
    const quoted = `title:"${value.replace(/["\\]/g, "\\$&")}"`
    const query = Result.getOrThrow(parseQuery(quoted, fields))
    assert.deepInclude(query, { kind: "compare", field: "title", op: "eq", value })
  })
})
