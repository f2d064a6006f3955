import { assert, describe, it } from "@effect/vitest"
import { claimAt, nameOf, roleOf } from "../../src/oidc/Claims.ts"

describe("the role of a token", () => {
  it.each([
    ["viewer", "viewer"],
    [["everyone", "viewer", "admin", "operator"], "admin"],
    ["openid operator", "operator"],
    ["operators", undefined],
    ["ADMIN", undefined],
    [["administrator"], undefined],
    [[["admin"]], undefined],
    [{ admin: true }, undefined],
    [null, undefined],
    [7, undefined],
    [[], undefined]
  ])("is the highest that the claim holds: %j is %j", (roles, role) => {
    assert.strictEqual(roleOf({ roles }, "roles"), role)
  })

  it("is found by the exact name of the claim first, then by the way through objects", () => {
    assert.strictEqual(roleOf({ realm_access: { roles: ["viewer"] } }, "realm_access.roles"), "viewer")
    assert.strictEqual(
      roleOf({ "https://runplane.example/roles": ["admin"] }, "https://runplane.example/roles"),
      "admin"
    )
    assert.isUndefined(roleOf({ realm_access: "admin" }, "realm_access.roles"))
    assert.isUndefined(roleOf({}, "roles"))
  })

  it("is never what every object has", () => {
    for (const name of ["constructor", "__proto__.constructor", "toString.name"]) assert.isUndefined(claimAt({}, name))
  })
})

describe("the name of a token's holder", () => {
  it.each([
    [{ preferred_username: "ann", email: "ann@example.org", sub: "1" }, "ann"],
    [{ email: "ann@example.org", sub: "1" }, "ann@example.org"],
    [{ email: "ann@example.org", email_verified: false, sub: "1" }, "1"],
    [{ preferred_username: " ", sub: "1" }, "1"],
    [{ preferred_username: "an\nn", sub: "1" }, "1"],
    [{ preferred_username: "an\u0000n", sub: "1" }, "1"],
    [{ preferred_username: "\ud800", sub: "1" }, "1"],
    [{ preferred_username: "a".repeat(256), sub: "1" }, "1"],
    [{ sub: 5 }, undefined],
    [{}, undefined]
  ])("of %j is %j", (claims, name) => {
    assert.strictEqual(nameOf(claims), name)
  })
})
