import type * as http2 from "node:http2"
import { Http2SessionManager } from "@connectrpc/connect-node"

/** Milliseconds between HTTP/2 pings; without them a vanished peer is never noticed on an idle stream. */
export const PING_INTERVAL_MS = 30_000
/** Debug data of the GOAWAY of a peer that wants fewer pings. */
export const TOO_MANY_PINGS = "too_many_pings"
/** Milliseconds a peer has to answer a ping. */
export const PING_TIMEOUT_MS = 10_000
/** Megabytes of HTTP/2 state per connection; Node's own 10 are too few for many full windows. */
const SESSION_MEMORY_MB = 64

/**
 * The interval of the pings of all connections to a peer. A peer that ends a connection because of too many pings has
 * it doubled for all of them, as gRPC has it; connections that were opened with the same interval double it once.
 */
export class Keepalive {
  #intervalMs: number
  readonly #onWidened: (intervalMs: number) => void

  constructor(intervalMs = PING_INTERVAL_MS, onWidened: Keepalive["widen"] = () => {}) {
    this.#intervalMs = intervalMs
    this.#onWidened = onWidened
  }

  get intervalMs(): number {
    return this.#intervalMs
  }

  readonly widen = (intervalMs: number): void => {
    if (intervalMs <= this.#intervalMs) return
    this.#intervalMs = intervalMs
    this.#onWidened(intervalMs)
  }
}

/**
 * Guards the session manager against two cases in which an error of an unused connection ends the
 * process. When the peer closes an idle connection (GOAWAY) the manager drops its listeners before the error arrives,
 * so every connection gets one of ours; and with pings on idle connections it restarts their timer while it destroys a
 * connection, and the late ping throws, so these are off: an idle connection is verified by a ping before its next use.
 */
export class GuardedSessionManager extends Http2SessionManager {
  readonly #guarded = new WeakSet<http2.Http2Session>()

  readonly #windowBytes: number | undefined
  readonly #keepalive: Keepalive

  constructor(url: string, { ca, keepalive = new Keepalive(), windowBytes }: SessionOptions = {}) {
    super(
      url,
      { pingIntervalMs: keepalive.intervalMs, pingTimeoutMs: PING_TIMEOUT_MS, pingIdleConnection: false },
      {
        maxSessionMemory: SESSION_MEMORY_MB,
        ...(windowBytes !== undefined && { settings: { initialWindowSize: windowBytes } }),
        ...(ca !== undefined && { ca })
      }
    )
    this.#windowBytes = windowBytes
    this.#keepalive = keepalive
    // The manager reads the interval before each ping, and would double its own only.
    Object.defineProperty(this["options"], "pingIntervalMs", { get: () => keepalive.intervalMs, set: () => {} })
  }

  override async request(...args: Parameters<Http2SessionManager["request"]>): Promise<http2.ClientHttp2Stream> {
    const stream = await super.request(...args)
    const { session } = stream
    if (session !== undefined && !this.#guarded.has(session)) {
      this.#guarded.add(session)
      session.on("error", ignoreLateError)
      const { intervalMs } = this.#keepalive
      session.on("goaway", (_code, _lastStream, data?: Uint8Array) => {
        if (data !== undefined && Buffer.from(data).equals(Buffer.from(TOO_MANY_PINGS))) {
          this.#keepalive.widen(intervalMs * 2)
        }
      })
      if (this.#windowBytes !== undefined) session.setLocalWindowSize(this.#windowBytes)
    }
    return stream
  }
}

export interface SessionOptions {
  /** Certificates in PEM form that are trusted in place of the system's roots. */
  readonly ca?: string | undefined
  readonly keepalive?: Keepalive
  /** What the peer may send before it is read; HTTP/2's own 65,535 bytes unless said. */
  readonly windowBytes?: number
}

// Calls that are open on the connection learn of its error by their own streams.
const ignoreLateError = () => {}
