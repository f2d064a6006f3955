import { assert, describe, it } from "@effect/vitest"
import { unreachedText } from "../../../src/view/launch/Unreached.ts"

const launcher = "http://launch.example.org:3000/"

describe("a launch service that a page cannot read", () => {
  it.each([
    [
      "may not allow the page",
      "http://runs.example.org",
      /away, or it does not allow pages of http:\/\/runs.*CORS_ORIGIN/
    ],
    ["has no https", "https://runs.example.org", /which has no https.*LAUNCHER_PUBLIC_URL/],
    ["is away at the address of the page", "http://launch.example.org:3000", /^the launch service does not answer at/]
  ] as const)("%s", (_, page, text) => {
    assert.match(unreachedText(page, launcher), text)
  })
})
