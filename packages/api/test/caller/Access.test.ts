import { assert, describe, it } from "@effect/vitest"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as Schema from "effect/Schema"
import { accessOf, mayUse, roles, withoutAccess } from "../../src/caller/Access.ts"
import { ControlPlaneApi } from "../../src/control-plane/ControlPlaneApi.ts"
import { LauncherApi } from "../../src/launcher/LauncherApi.ts"

describe("roles", () => {
  it("each include the permissions of the one before, but ingest reads nothing and a viewer sends nothing", () => {
    const table = roles.map((role) => (["public", "any", ...roles] as const).map((access) => mayUse(role, access)))
    assert.deepStrictEqual(table, [
      [true, true, true, false, false, false],
      [true, true, false, true, false, false],
      [true, true, true, true, true, false],
      [true, true, true, true, true, true]
    ])
  })

  it("are named by every endpoint of both services", () => {
    assert.deepStrictEqual(withoutAccess(ControlPlaneApi), [])
    assert.deepStrictEqual(withoutAccess(LauncherApi), [])
  })

  it("that an endpoint does not name are found, and until then it is for administrators", () => {
    const open = HttpApiEndpoint.get("open", "/open", { success: Schema.String })
    assert.deepStrictEqual(withoutAccess(HttpApi.make("x").add(HttpApiGroup.make("g").add(open))), ["GET /open"])
    assert.strictEqual(accessOf(open), "admin")
  })
})
