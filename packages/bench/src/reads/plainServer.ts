import { createServer } from "node:http"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { serveParent } from "../process/ParentLink.ts"
import { PlainCommand, type PlainReply } from "./PlainProtocol.ts"

/** Plain node:http that answers everything with the bytes it was given: what is left of a request without a service. */
const program = Effect.gen(function* () {
  let body = Buffer.alloc(0)
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
    response.end(body)
  })
  const port = yield* Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
  const answer = (command: typeof PlainCommand.Type) =>
    Effect.sync((): PlainReply => {
      body = Buffer.from(command.body, "base64")
      return { _tag: "Done" }
    })
  yield* serveParent({ greeting: { _tag: "Listening", port }, command: PlainCommand, answer })
})

NodeRuntime.runMain(program)
