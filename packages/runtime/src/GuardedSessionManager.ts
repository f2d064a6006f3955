import type * as http2 from "node:http2"
import { Http2SessionManager } from "@connectrpc/connect-node"

/** Milliseconds between HTTP/2 pings; without them a vanished peer is never noticed on an idle stream. */
export const PING_INTERVAL_MS = 30_000
/** Milliseconds a peer has to answer a ping. */
export const PING_TIMEOUT_MS = 10_000
/** Megabytes of HTTP/2 state per connection; Node's own 10 are too few for many full windows. */
const SESSION_MEMORY_MB = 64

/**
 * The session manager with two ways closed in which an error of a connection that nobody uses any more ends the
 * process. When the peer says goodbye to an idle connection the manager drops its listeners before the error arrives,
 * so every connection gets one of ours; and with pings on idle connections it restarts their timer while it destroys a
 * connection, and the late ping throws, so these are off: an idle connection is verified by a ping before its next use.
 */
export class GuardedSessionManager extends Http2SessionManager {
  readonly #guarded = new WeakSet<http2.Http2Session>()

  readonly #windowBytes: number | undefined

  /** `windowBytes` is what the peer may send before it is read; HTTP/2's own 65,535 bytes unless said. */
  constructor(url: string, windowBytes?: number) {
    super(
      url,
      { pingIntervalMs: PING_INTERVAL_MS, pingTimeoutMs: PING_TIMEOUT_MS, pingIdleConnection: false },
      {
        maxSessionMemory: SESSION_MEMORY_MB,
        ...(windowBytes !== undefined && { settings: { initialWindowSize: windowBytes } })
      }
    )
    this.#windowBytes = windowBytes
  }

  override async request(...args: Parameters<Http2SessionManager["request"]>): Promise<http2.ClientHttp2Stream> {
    const stream = await super.request(...args)
    const { session } = stream
    if (session !== undefined && !this.#guarded.has(session)) {
      this.#guarded.add(session)
      session.on("error", ignoreLateError)
      if (this.#windowBytes !== undefined) session.setLocalWindowSize(this.#windowBytes)
    }
    return stream
  }
}

// Calls that are open on the connection learn of its error by their own streams.
const ignoreLateError = () => {}
