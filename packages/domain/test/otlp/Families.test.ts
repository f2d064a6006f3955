import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { Attributes } from "@runplane/domain"
import { FAMILIES } from "../../src/otlp/meaning/Families.ts"
import { receivedTelemetry } from "../../src/otlp/ReceivedTelemetry.ts"
import { makeRedactor } from "../../src/redaction/Redaction.ts"
import { goldenFolders, readGolden } from "./support/Golden.ts"
import { foldOf } from "./support/Read.ts"
import { agent, chat, span } from "./support/Spans.ts"
import { summaryOf } from "./support/Summary.ts"
import { runFold, sha256 } from "./support/TraceFolds.ts"

const folder = fileURLToPath(new URL("../../src/otlp/meaning/", import.meta.url))

describe("families of names", () => {
  it("are all in the list", async () => {
    const files = readdirSync(folder).filter((file) => / Family = \{/.test(readFileSync(`${folder}${file}`, "utf8")))
    const declared = await Promise.all(
      files.map(async (file) => {
        const names = [...readFileSync(`${folder}${file}`, "utf8").matchAll(/^export const (\w+): Family =/gm)]
        const module = await import(`${folder}${file}`)
        return names.map(([, name = ""]) => module[name])
      })
    )
    assert.sameMembers(declared.flat(), [...FAMILIES])
  })
})

/** Texts that agents and their users said in the recordings. */
const SAID = /ship release|do not ship|0 critical|ROLE:|Check release/

describe.skipIf(goldenFolders.length === 0)("content that is dropped", () => {
  it.each(goldenFolders)("of %s leaves no text, and all calls with their tokens", (name) => {
    const options = { redactor: makeRedactor("").redactor, content: "drop", keepUser: true, sha256 } as const
    const { requests } = readGolden(name)
    const dropped = requests.map((telemetry) => telemetry.map((each) => receivedTelemetry(options, each)))
    const kept = JSON.stringify(dropped).match(SAID)
    assert.isNull(kept, `... ${JSON.stringify(dropped).slice((kept?.index ?? 0) - 200, (kept?.index ?? 0) + 80)}`)
    const totals = (each: typeof requests) =>
      summaryOf(runFold(each.map((telemetry, nth) => ({ at: 1_000 + nth * 10, telemetry })))).totals
    assert.deepStrictEqual(totals(dropped), totals(requests))
  })
})

describe("spans that are not understood", () => {
  const plain = (id: string, attributes: Attributes, scope = "acme.tracer") =>
    span(id, [1, 2], attributes, { parent: "desk", scope })

  it("are counted by the scope of their instrumentation", () => {
    const { facts } = foldOf(
      span("desk", [0, 9], agent("desk")),
      plain("one", { "acme.kind": "llm" }),
      plain("two", { "acme.kind": "llm" }, "other.tracer"),
      plain("three", { "acme.kind": "llm" }),
      plain("http", { "http.request.method": "GET", "acme.kind": "x" }),
      plain("bare", {})
    )
    assert.deepStrictEqual(facts.unread, { "acme.tracer": 2, "other.tracer": 1 })
  })

  it("are none without one, and have a bounded number of scopes", () => {
    assert.isUndefined(foldOf(span("desk", [0, 9], agent("desk"))).facts.unread)
    const step = plain("step", { "acme.kind": "step" }, "test")
    assert.isUndefined(foldOf(span("desk", [0, 9], agent("desk")), step).facts.unread)
    const many = Array.from({ length: 40 }, (_, nth) => plain(`s${nth}`, { "acme.kind": "llm" }, `tracer-${nth}`))
    const { unread = {} } = foldOf(span("desk", [0, 9], agent("desk")), ...many).facts
    assert.lengthOf(Object.keys(unread), 17)
    assert.strictEqual(unread["others"], 24)
  })

  it.each<[string, Attributes, boolean]>([
    ["names nothing of them", { "sk.available_functions": "find_invoice" }, false],
    ["has an input", { "acme.input": "ship?" }, true],
    ["names an agent", { "acme.agent.id": "lead" }, true],
    ["has a kind of its own", { "acme.kind": "llm" }, true]
  ])("are counted around understood ones, unless the wrapper says nothing: it %s", (_, attributes, isCounted) => {
    const loop = plain("loop", attributes)
    const inner = span("inner", [1, 2], chat(10, 1), { parent: "loop" })
    const leaf = plain("leaf", attributes, "other.tracer")
    for (const spans of [
      [loop, inner, leaf],
      [leaf, inner, loop]
    ]) {
      const { unread } = foldOf(span("desk", [0, 9], agent("desk")), ...spans).facts
      assert.deepStrictEqual(unread, { ...(isCounted && { "acme.tracer": 1 }), "other.tracer": 1 })
    }
  })

  it("are not those that say only which code made them", () => {
    const endpoint = plain("endpoint", { "code.function.name": "app.answer", "error.type": "Refused" }, "fastapi")
    assert.isUndefined(foldOf(span("desk", [0, 9], agent("desk")), endpoint).facts.unread)
  })

  it.skipIf(goldenFolders.length === 0)("are none of the recordings", () => {
    const found = goldenFolders.flatMap((name) => {
      const { facts } = runFold(
        readGolden(name).requests.map((telemetry, nth) => ({ at: 1_000 + nth * 10, telemetry }))
      )
      return Object.entries(facts.unread ?? {}).map(([scope, spans]) => `${name} ${scope} ${spans}`)
    })
    assert.deepStrictEqual(found, [])
  })
})
