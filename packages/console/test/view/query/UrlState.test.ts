import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import {
  flagParam,
  listParam,
  numberParam,
  readParams,
  textParam,
  wordParam,
  writeParams
} from "../../../src/view/query/UrlState.ts"
import { linkTo } from "../../../src/view/run/Permalink.ts"

const params = {
  search: textParam,
  archived: flagParam,
  at: numberParam(1),
  sort: wordParam(["newest", "oldest"]),
  tags: listParam
}

describe("the state of a page in its address", () => {
  it("has a default for everything", () => {
    assert.deepStrictEqual(readParams(params, ""), {
      search: "",
      archived: false,
      at: undefined,
      sort: "newest",
      tags: []
    })
  })

  it("writes what was changed, keeps what belongs to others, and leaves defaults out", () => {
    const search = writeParams(params, "?other=1&sort=oldest", { search: "a&b=c", tags: ["x", "y"], sort: "newest" })
    assert.strictEqual(search, "?other=1&search=a%26b%3Dc&tags=x%2Cy")
    assert.deepInclude(readParams(params, search), { search: "a&b=c", tags: ["x", "y"], sort: "newest" })
    assert.strictEqual(writeParams(params, search, { search: "", tags: [] }), "?other=1")
  })

  it.each(["?at=0", "?at=-1", "?at=1.5", "?at=1e3", "?at=abc", "?at=", `?at=${"9".repeat(40)}`])(
    "reads no index from %s",
    (search) => {
      assert.isUndefined(readParams(params, search).at)
    }
  )

  it("cuts texts that are too long", () => {
    assert.lengthOf(readParams(params, `?search=${"x".repeat(100_000)}`).search, 2_000)
  })

  it.prop("reads any address", [Schema.String], ([search]) => {
    const values = readParams(params, search)
    const again = readParams(params, writeParams(params, search, values))
    assert.deepStrictEqual(again, values)
  })
})

describe("a permalink", () => {
  it("has the index and the view, and keeps the rest of the address", () => {
    const address = "https://host.example/base/console/runs/r1?view=timeline&zoom=12-60&at=7"
    assert.strictEqual(linkTo(address, { at: 30 }), address.replace("at=7", "at=30"))
    assert.strictEqual(
      linkTo(address, { view: "events", event: 31, at: undefined }),
      "https://host.example/base/console/runs/r1?view=events&zoom=12-60&event=31"
    )
  })
})
