import { assert, it } from "@effect/vitest"
import * as Layer from "effect/Layer"
import * as Server from "../../src/http/Server.ts"
import { routes } from "../../src/Routes.ts"

const options = { host: "127.0.0.1", port: 0 }

it("does not compile a server without the routes of a feature", () => {
  const all = Server.layer(options, routes)
  // @ts-expect-error the groups of features have no handlers
  const none = Server.layer(options, { ...routes, api: Layer.empty })
  assert.deepStrictEqual([Layer.isLayer(all), Layer.isLayer(none)], [true, true])
})
