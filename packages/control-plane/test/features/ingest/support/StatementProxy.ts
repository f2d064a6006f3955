import { createServer, connect as openSocket, type Socket } from "node:net"
import { onLoopback } from "@runplane/testing"
import * as Effect from "effect/Effect"

/**
 * A point in the exchange of one statement: before the server gets it, after the server has executed it and before the
 * commit of its own transaction, or after the server's answer and before the client gets that.
 */
export type Moment = "before" | "executed" | "answered"

export interface StatementStep {
  readonly statement: RegExp
  readonly moment: Moment
  /** A statement that the same transaction has executed. */
  readonly within?: RegExp
}

/** Messages of the protocol begin with a letter and the bytes of everything behind that letter. */
const HEADER_BYTES = 5
const STARTUP = 196_608
const SYNC = "S".charCodeAt(0)
const FLUSH = Buffer.from([0x48, 0, 0, 0, 4])
/** The end of one statement: CommandComplete, EmptyQueryResponse or ErrorResponse. */
const ENDS: ReadonlySet<string> = new Set(["C", "I", "E"])

/** Splits bytes into whole messages. `isStartup` is for the first message of a client, which has no letter. */
const makeSplitter = (isStartup: boolean) => {
  let rest = Buffer.alloc(0)
  let hasStarted = !isStartup
  return (piece: Buffer): ReadonlyArray<Buffer> => {
    rest = Buffer.concat([rest, piece])
    const messages: Array<Buffer> = []
    for (;;) {
      const lengthAt = hasStarted ? 1 : 0
      if (rest.length < lengthAt + 4) return messages
      const end = lengthAt + rest.readInt32BE(lengthAt)
      if (rest.length < end) return messages
      const message = rest.subarray(0, end)
      if (!hasStarted) hasStarted = message.readInt32BE(4) === STARTUP
      messages.push(message)
      rest = rest.subarray(end)
    }
  }
}

const textAt = (message: Buffer, from: number): string => message.toString("utf8", from, message.indexOf(0, from))

/** A PostgreSQL server behind a proxy that knows the statements, and calls `reached` at one step of one of them. */
export const statementProxy = Effect.fnUntraced(function* (url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let armed: { readonly step: StatementStep; readonly reached: () => void } | undefined
  /** Clients of the process that was killed receive nothing more. */
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const fire = () => {
    const reached = armed?.reached
    armed = undefined
    reached?.()
    cutAll()
  }

  const server = createServer((client) => {
    const upstream = openSocket(Number(target.port), target.hostname)
    const texts = new Map<string, string>()
    /** Statements that are sent and not answered; whether the step waits for the answer of one. */
    const open: Array<boolean> = []
    let transaction = ""
    /** The step waits for the end of this statement, whose Sync is not sent. */
    let isHeld = false

    const bound = (text: string): boolean => {
      const step = armed?.step
      const isStep = step?.statement.test(text) === true && (step.within?.test(transaction) ?? true)
      transaction = /^\s*(?:BEGIN|COMMIT|ROLLBACK)/.test(text) ? "" : `${transaction}\n${text}`
      if (isStep && step?.moment === "before") {
        fire()
        return false
      }
      isHeld ||= isStep && step?.moment === "executed"
      open.push(isStep)
      return true
    }
    const fromClient = (message: Buffer): boolean => {
      const type = String.fromCharCode(message[0] ?? 0)
      if (type === "P") {
        const name = textAt(message, HEADER_BYTES)
        texts.set(name, textAt(message, HEADER_BYTES + Buffer.byteLength(name) + 1))
      } else if (type === "Q") return bound(textAt(message, HEADER_BYTES))
      else if (type === "B") {
        const portal = textAt(message, HEADER_BYTES)
        return bound(texts.get(textAt(message, HEADER_BYTES + Buffer.byteLength(portal) + 1)) ?? "")
      }
      return true
    }
    const split = makeSplitter(true)
    client.on("data", (piece: Buffer) => {
      for (const message of split(piece)) {
        if (client.destroyed || !fromClient(message)) return
        // Without its Sync the implicit transaction of the statement does not commit.
        upstream.write(isHeld && message[0] === SYNC ? FLUSH : message)
      }
    })
    const splitAnswer = makeSplitter(false)
    upstream.on("data", (piece: Buffer) => {
      for (const message of splitAnswer(piece)) {
        if (client.destroyed) return
        if (ENDS.has(String.fromCharCode(message[0] ?? 0)) && open.shift() === true) return fire()
        client.write(message)
      }
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.once("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  const port = yield* onLoopback(server, cutAll)
  const through = new URL(url)
  through.port = String(port)
  return {
    url: through.href,
    /** Calls `reached` at the first moment that fits, and cuts all connections. */
    arm: (step: StatementStep, reached: () => void) => {
      armed = { step, reached }
    },
    disarm: () => {
      armed = undefined
    }
  }
})
