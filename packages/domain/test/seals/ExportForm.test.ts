import { assert, describe, it } from "@effect/vitest"
import { exportedLine, storedText } from "@runplane/domain"
import { eventsOf, opened, votes } from "../support/deliberations.ts"
import { textOf } from "../support/events.ts"

const texts = eventsOf(opened(), votes("a", "APPROVE"), votes("b", "caf\u00e9 \u{1F600}")).map(textOf)

describe("a line of an export", () => {
  it("holds the text that was stored", () => {
    for (const text of texts) {
      const line = exportedLine(text) ?? ""
      assert.isTrue(line.startsWith('{"type":"canonical_event","eventType":"'))
      assert.isFalse(line.includes('"text":"{'))
      assert.strictEqual(storedText(line), text)
    }
    for (const text of ['{"type" : "a"}', '{"ts":"t","a":1,"type":"b","data":{}}', '{"type":"x","2":1,"1":0}']) {
      const line = exportedLine(text) ?? ""
      assert.strictEqual(storedText(line), text)
      assert.isFalse(line.includes("\n"))
    }
    for (const text of ["[]", "1", "{", "{}"]) assert.isUndefined(exportedLine(text))
  })
})
