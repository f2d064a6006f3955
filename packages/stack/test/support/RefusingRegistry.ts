import { createServer } from "node:http"
import { listening } from "@runplane/testing"
import * as Effect from "effect/Effect"

/** An npm registry on the loopback that has no package: it answers 404 and keeps the paths of the requests. */
export const refusingRegistry = Effect.gen(function* () {
  const requested: Array<string> = []
  const server = createServer((request, response) => {
    requested.push(request.url ?? "")
    response.writeHead(404, { "content-type": "application/json" }).end("{}")
  })
  const port = yield* listening(server)
  return { requested, url: `http://127.0.0.1:${port}/` }
})
