import { assert, describe, it } from "@effect/vitest"
import { explainUnreached } from "../../../src/view/launch/Unreached.ts"

const launcher = "http://launch.example.org:3000/"

describe("a launch service that a page cannot read", () => {
  it.each([
    [
      "answers another origin",
      "http://runs.example.org",
      true,
      true,
      /answers, but does not allow pages of http:\/\/runs.*CORS_ORIGIN/
    ],
    ["is down", "http://runs.example.org", false, false, /does not answer at http:\/\/launch.*LAUNCHER_PUBLIC_URL/],
    ["has no https", "https://runs.example.org", false, true, /which has no https/],
    [
      "is down at the address of the page",
      "http://launch.example.org:3000",
      false,
      false,
      /^the launch service does not answer at/
    ]
  ] as const)("%s", (_, page, answers, isRefused, text) => {
    const found = explainUnreached({ page, launcher, answers })
    assert.strictEqual(found.isRefused, isRefused)
    assert.match(found.text, text)
  })
})
