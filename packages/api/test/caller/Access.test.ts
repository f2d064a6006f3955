import { assert, describe, it } from "@effect/vitest"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import * as Schema from "effect/Schema"
import { accessOf, mayUse, rankedRoles, roles, takesVoters, withoutAccess } from "../../src/caller/Access.ts"
import { ControlPlaneApi } from "../../src/control-plane/ControlPlaneApi.ts"
import { LauncherApi } from "../../src/launcher/LauncherApi.ts"

const endpointsForVoters = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<string> => {
  const endpoints: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      if (takesVoters(endpoint)) endpoints.push(`${endpoint.method} ${endpoint.path}`)
    }
  })
  return endpoints
}

describe("roles", () => {
  it("each include the permissions of the one before, but ingest reads nothing, a viewer sends nothing, and a voter neither", () => {
    const levels = ["public", "any", ...rankedRoles] as const
    const table = roles.map((role) => levels.map((access) => mayUse(role, access)))
    assert.deepStrictEqual(table, [
      [true, true, true, false, false, false],
      [true, true, false, true, false, false],
      [true, true, true, true, true, false],
      [true, true, true, true, true, true],
      [true, true, false, false, false, false]
    ])
  })

  it("let voters use the inbox, their delegations and passkeys, and no other endpoint that requires a role", () => {
    const taking = [...endpointsForVoters(ControlPlaneApi), ...endpointsForVoters(LauncherApi)]
    assert.deepStrictEqual(taking, [
      "GET /inbox",
      "GET /inbox/stream",
      "GET /inbox/:id",
      "POST /inbox/:id/answers",
      "POST /inbox/:id/challenges",
      "POST /inbox/:id/return",
      "POST /inbox/:id/question",
      "GET /people/me/delegations",
      "POST /people/me/delegations",
      "DELETE /people/me/delegations/:id",
      "GET /people/me/passkeys",
      "POST /people/me/passkeys/challenges",
      "POST /people/me/passkeys",
      "DELETE /people/me/passkeys/:id"
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
