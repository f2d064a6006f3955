import { assert, describe, it } from "@effect/vitest"
import { claimAt, nameOf, roleOf, subjectOf } from "../../src/oidc/Claims.ts"

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
  const email = "ann@example.org"
  it.each([
    [{ preferred_username: "ann", email, sub: "1" }, "ann"],
    [{ email, sub: "1" }, email],
    [{ email, email_verified: true }, email],
    [{ email, email_verified: false }, undefined],
    [{ email, email_verified: "false" }, undefined],
    [{ email, email_verified: "true" }, undefined],
    [{ email, email_verified: null }, undefined],
    [{ preferred_username: " ", email }, email],
    [{ preferred_username: "an\nn" }, undefined],
    [{ preferred_username: "an\u0000n" }, undefined],
    [{ preferred_username: "an\u200bn" }, undefined],
    [{ preferred_username: "\u202enna" }, undefined],
    [{ preferred_username: "\ud800" }, undefined],
    [{ preferred_username: "a".repeat(256) }, undefined],
    [{ sub: "1" }, undefined]
  ])("of %j is %j", (claims, name) => {
    assert.strictEqual(nameOf(claims), name)
  })
})

describe("the subject of a token", () => {
  it.each([
    [{ sub: "248289761001", preferred_username: "ann" }, "248289761001"],
    [{ sub: "a".repeat(255) }, "a".repeat(255)],
    [{ sub: "a".repeat(256) }, undefined],
    [{ sub: "" }, undefined],
    [{ sub: "1\u200b" }, undefined],
    [{ sub: 5 }, undefined],
    [{ preferred_username: "ann", email: "ann@example.org" }, undefined]
  ])("of %j is %j", (claims, subject) => {
    assert.strictEqual(subjectOf(claims), subject)
  })
})
