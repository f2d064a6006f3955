import { once } from "node:events"
import { createServer, request } from "node:http"

export interface BreakingProxy {
  readonly origin: string
  /** Answers that the proxy has broken. */
  readonly broken: () => number
  readonly stop: () => Promise<void>
}

/** A proxy in front of a service. It closes the connection within the first `times` answers to these requests. */
export const startBreakingProxy = async (service: string, breaks: RegExp, times: number): Promise<BreakingProxy> => {
  let broken = 0
  const server = createServer((incoming, outgoing) => {
    const { headers, method = "GET", url = "/" } = incoming
    const host = new URL(service).host
    const forwarded = request(new URL(url, service), {
      method,
      headers: { ...headers, host, "accept-encoding": "identity" }
    })
    forwarded.on("response", (answer) => {
      const isBroken = breaks.test(url) && broken < times
      if (isBroken) broken++
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      if (!isBroken) return void answer.pipe(outgoing)
      answer.once("data", (part: Buffer) =>
        outgoing.write(part.subarray(0, Math.floor(part.length / 2)), () => outgoing.destroy())
      )
    })
    forwarded.on("error", () => outgoing.destroy())
    outgoing.on("close", () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the proxy has no port")
  return {
    origin: `http://127.0.0.1:${address.port}`,
    broken: () => broken,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
