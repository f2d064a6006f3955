import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import * as Effect from "effect/Effect"

export interface Received {
  /** Of the request. */
  readonly path: string
  /** Of the delivery, the same in each attempt. */
  readonly delivery: string
  readonly runId: string
}

/** A receiver of webhooks on the loopback, with all that it has accepted. */
export const receiver = Effect.gen(function* () {
  const received: Array<Received> = []
  const server = createServer(async (request, response) => {
    const { runId } = JSON.parse(await text(request))
    received.push({ path: request.url ?? "", delivery: String(request.headers["webhook-id"]), runId })
    response.end()
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  )
  const address = server.address()
  if (address === null || typeof address === "string") return yield* Effect.die(new Error("the receiver has no port"))
  return { received, url: (path: string) => `http://127.0.0.1:${address.port}${path}` }
})
