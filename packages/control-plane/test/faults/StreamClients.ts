import { createConnection } from "node:net"
import * as Schema from "effect/Schema"

/**
 * A program: clients of event streams on a raw socket each, apart from the test so that reading costs neither it nor
 * the service time. Its only argument names the streams. It prints on its standard output when all streams have been
 * requested, when all have begun and when all have sent their last event, and every other response. It ends
 * with its input.
 */

export const StreamCrowd = Schema.Struct({
  port: Schema.Number,
  count: Schema.Number,
  /** Clients that connect at the same time: no more than a server's queue of connections holds. */
  atOnce: Schema.Number,
  /** The streams take turns among the keys and the runs; `lastSeq` is the last event of a run's backlog. */
  keys: Schema.Array(Schema.String),
  runs: Schema.Array(Schema.Struct({ runId: Schema.String, lastSeq: Schema.Number }))
})
export type StreamCrowd = typeof StreamCrowd.Type

const crowd = Schema.decodeUnknownSync(Schema.fromJsonString(StreamCrowd))(process.argv[2])
let asked = 0
let connected = 0
let begun = 0
let read = 0

const print = (line: string) => process.stdout.write(`${line}\n`)

/** Opens the next stream, and the one after it as soon as the service has answered this one. */
const openNext = () => {
  if (asked === crowd.count) return
  const run = crowd.runs[asked % crowd.runs.length]
  const key = crowd.keys[asked % crowd.keys.length]
  asked += 1
  const last = Buffer.from(`\nid: ${run?.lastSeq}\n`)
  const path = `/runs/${run?.runId}/stream?afterSeq=0`
  const socket = createConnection(crowd.port, "127.0.0.1", () => {
    const host = `127.0.0.1:${crowd.port}`
    connected += 1
    if (connected === crowd.count) print(`asked ${connected}`)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  })
  let tail = Buffer.alloc(0)
  let isRead = false
  const look = (bytes: Buffer) => {
    const seen = Buffer.concat([tail, bytes])
    tail = Buffer.from(seen.subarray(-last.length))
    if (isRead || !seen.includes(last)) return
    isRead = true
    read += 1
    if (read === crowd.count) print(`read ${read}`)
  }
  socket.once("data", (head: Buffer) => {
    openNext()
    const [status] = head.toString("latin1").split("\r\n", 1)
    if (status !== "HTTP/1.1 200 OK") return print(`refused: ${status}`)
    begun += 1
    if (begun === crowd.count) print(`begun ${begun}`)
    look(head)
    socket.on("data", look)
  })
  socket.on("error", ({ message }) => print(`broken: ${message}`))
  socket.on("end", () => print("ended by the service"))
}

for (let client = 0; client < crowd.atOnce; client++) openNext()
process.stdin.resume().on("end", () => process.exit())
