import { createServer } from "node:net"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** A port of the stack is taken, or may not be opened. */
export class PortUnavailable extends Data.TaggedError("PortUnavailable")<{
  readonly port: number
  readonly purpose: string
  readonly setting: string
  readonly reason: string
}> {
  override get message() {
    return `port ${this.port} for the ${this.purpose} ${this.reason}; set ${this.setting} to another one`
  }
}

/** Opens the port for a moment; 0 is any port. Returns the opened port. */
export const probePort = Effect.fn("FreePort.probe")(function* (
  host: string,
  port: number,
  use: { readonly purpose: string; readonly setting: string }
): Effect.fn.Return<number, PortUnavailable> {
  return yield* Effect.callback<number, PortUnavailable>((resume) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reason = error.code === "EADDRINUSE" ? "is already in use" : `cannot be opened: ${error.message}`
      resume(Effect.fail(new PortUnavailable({ ...use, port, reason })))
    })
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      const opened = typeof address === "object" && address !== null ? address.port : port
      server.close(() => resume(Effect.succeed(opened)))
    })
  })
})
