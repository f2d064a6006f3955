import { assert, describe, it } from "@effect/vitest"
import { crossSiteRefusal, type Provenance } from "../../src/http/CrossSite.ts"

const trust = { allowsOrigin: (origin: string) => origin === "http://localhost:3000", hosts: new Set(["runs.example"]) }

const program: Provenance = {
  method: "POST",
  host: "127.0.0.1:3001",
  origin: undefined,
  fetchSite: undefined,
  fetchMode: undefined
}

const refused = (from: Partial<Provenance>) => crossSiteRefusal({ ...program, ...from }, trust) !== undefined

describe("requests to a service without keys", () => {
  it.each([
    {},
    { host: undefined },
    { host: "localhost:3001" },
    { host: "LOCALHOST." },
    { host: "[::1]:3001" },
    { host: "control-plane:3001" },
    { host: "host.docker.internal:3001" },
    { host: "runs.example" },
    { fetchMode: "cors" }
  ])("of programs are let in: %j", (from) => {
    assert.isFalse(refused(from))
  })

  it.each([
    { origin: "http://localhost:3000" },
    { origin: "http://127.0.0.1:3001", fetchSite: "same-origin" },
    { origin: "https://runs.example", host: "runs.example" },
    { origin: "http://localhost:3000", fetchSite: "same-site" },
    { method: "GET", fetchSite: "none", fetchMode: "navigate" },
    { method: "GET", fetchSite: "cross-site", fetchMode: "navigate" }
  ])("of pages that may call are let in: %j", (from) => {
    assert.isFalse(refused(from))
  })

  it.each([
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "http://127.0.0.1:9999" },
    { origin: "not an origin", host: undefined },
    { fetchSite: "cross-site", fetchMode: "no-cors" },
    { fetchSite: "cross-site", fetchMode: "navigate" },
    { method: "GET", fetchSite: "cross-site", fetchMode: "no-cors" }
  ])("of pages of others are refused: %j", (from) => {
    assert.isTrue(refused(from))
  })

  it.each(["evil.example", "evil.example:3001", "127.0.0.1.evil.example", "localhost.evil.example"])(
    "under a name that another site can point here are refused: %s",
    (host) => {
      assert.include(crossSiteRefusal({ ...program, host }, trust), "ALLOWED_HOSTS")
    }
  )
})
