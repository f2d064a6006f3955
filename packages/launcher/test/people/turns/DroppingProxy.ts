import { createServer, type IncomingMessage, request } from "node:http"
import { listening } from "@runplane/testing"
import * as Effect from "effect/Effect"

/** Where a connection is dropped: the agent gets the whole request in each case. */
export type Drop = "after the request" | "after the headers" | "in the stream"

const bodyOf = async (incoming: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** A proxy before an agent, which drops connections of calls as `dropOf` says. Cards pass. */
export const makeDroppingProxy = Effect.fnUntraced(function* (dropOf: (body: string) => Drop | undefined) {
  let upstream = 0
  let dropped = 0
  const server = createServer(async (incoming, outgoing) => {
    const body = await bodyOf(incoming)
    const drop = incoming.method === "POST" ? dropOf(body.toString()) : undefined
    if (drop !== undefined) dropped += 1
    const { headers, method, url } = incoming
    const forwarded = request(
      { port: upstream, host: "127.0.0.1", method, path: url, headers, agent: false },
      (answer) => {
        if (drop === "after the request") return incoming.socket.destroy()
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        if (drop === "after the headers") {
          outgoing.flushHeaders()
          return setImmediate(() => incoming.socket.destroy())
        }
        if (drop === "in the stream") {
          return answer.once("data", (chunk: Buffer) => {
            outgoing.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => incoming.socket.destroy())
          })
        }
        return answer.pipe(outgoing)
      }
    )
    forwarded.on("error", () => incoming.socket.destroy())
    forwarded.end(body)
  })
  const port = yield* listening(server)
  return {
    origin: `http://127.0.0.1:${port}`,
    dropped: () => dropped,
    to: (port: number) => {
      upstream = port
    }
  }
})
