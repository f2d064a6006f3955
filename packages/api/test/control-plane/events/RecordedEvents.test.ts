import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import { CanonicalEvent, decodeEventText } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const examples: unknown = JSON.parse(
  readFileSync(new URL("../../../document/examples/control-plane.json", import.meta.url), "utf8")
)

/** The texts of all events in the recorded answers: as JSON, and as frames and lines of streams. */
const eventTexts = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string")
    return [...value.matchAll(/^data: (\{.*"schemaVersion":3.*\})$/gm)].flatMap(([, text = ""]) => [text])
  if (typeof value !== "object" || value === null) return []
  if ("schemaVersion" in value && "seq" in value && "data" in value && !("eventType" in value))
    return [JSON.stringify(value)]
  return Object.values(value).flatMap(eventTexts)
}

const codec = Schema.fromJsonString(CanonicalEvent)

it("types every recorded event, and gives back the very text", () => {
  const texts = eventTexts(examples)
  assert.isAbove(texts.length, 8)
  for (const text of texts) {
    const event = Result.getOrThrow(decodeEventText(text))
    assert.notStrictEqual(event.type, "unknown")
    assert.strictEqual(JSON.stringify(event.recorded), text)
    assert.strictEqual(Schema.encodeSync(codec)(Schema.decodeSync(codec)(text)), text)
  }
})
