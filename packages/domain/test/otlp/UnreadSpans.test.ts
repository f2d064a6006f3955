import { assert, it } from "@effect/vitest"
import { type JsonObject, unreadSpansText } from "@runplane/domain"

it.each<[JsonObject, string | undefined]>([
  [{}, undefined],
  [{ unreadSpans: { count: 0, scopes: {} } }, undefined],
  [{ unreadSpans: "many" }, undefined],
  [{ unreadSpans: { count: 1, scopes: { "acme.tracer": 1 } } }, "1 span of acme.tracer was not understood"],
  [{ unreadSpans: { count: 2, scopes: { "": 2 } } }, "2 spans of an unnamed scope were not understood"],
  [{ unreadSpans: { count: 2 } }, "2 spans were not understood"],
  [
    { unreadSpans: { count: 9, scopes: { a: 4, b: 2, c: 2, d: 1 } } },
    "9 spans of a, b, c and 1 more were not understood"
  ]
])("the metadata %j of a run gives %s", (metadata, text) => {
  assert.strictEqual(unreadSpansText(metadata), text)
})
