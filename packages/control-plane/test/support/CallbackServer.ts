import { createServer } from "node:http"
import { listening } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"

export interface CallbackRequest {
  readonly method: string | undefined
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
  /** Answers a request that was left hanging. */
  readonly answer: (status: number) => void
}

/** An initiator's callback endpoint on the loopback. `answer` is a status, or `hang` for no answer at all. */
export const callbackServer = Effect.fnUntraced(function* (answer: number | "hang") {
  const requests = yield* Queue.unbounded<CallbackRequest>()
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      body += chunk
    })
    request.on("end", () => {
      const late = (status: number) => void response.writeHead(status).end()
      Queue.offerUnsafe(requests, { method: request.method, headers: request.headers, body, answer: late })
      if (answer !== "hang") response.writeHead(answer, { location: "/elsewhere" }).end("ignored")
    })
  })
  const port = yield* listening(server)
  return { url: `http://127.0.0.1:${port}/cancel`, requests }
})
