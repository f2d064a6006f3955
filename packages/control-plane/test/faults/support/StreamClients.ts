import { createConnection } from "node:net"
import * as Schema from "effect/Schema"

/**
 * A program: clients of event streams on raw sockets, in its own process so that the test and the service do not spend
 * their time on it. Its argument is a `StreamCrowd`. It prints when all clients are connected, when all streams have
 * begun, when all have sent their last event, and other responses. It ends with its input.
 */

export const StreamCrowd = Schema.Struct({
  port: Schema.Number,
  count: Schema.Number,
  /** Clients that connect at a time, within the connection queue of a server. */
  atOnce: Schema.Number,
  /** The streams take turns among the keys and the runs; `lastSeq` is the last event of a run's backlog. */
  keys: Schema.Array(Schema.String),
  runs: Schema.Array(Schema.Struct({ runId: Schema.String, lastSeq: Schema.Number }))
})
export type StreamCrowd = typeof StreamCrowd.Type

const crowd = Schema.decodeUnknownSync(Schema.fromJsonString(StreamCrowd))(process.argv[2])
let requested = 0
let connected = 0
let begun = 0
let read = 0

const print = (line: string) => process.stdout.write(`${line}\n`)

/** Opens the next stream, and another one after its response. */
const openNext = () => {
  if (requested === crowd.count) return
  const run = crowd.runs[requested % crowd.runs.length]
  const key = crowd.keys[requested % crowd.keys.length]
  requested += 1
  const last = Buffer.from(`\nid: ${run?.lastSeq}\n`)
  const path = `/runs/${run?.runId}/stream?afterSeq=0`
  const socket = createConnection(crowd.port, "127.0.0.1", () => {
    const host = `127.0.0.1:${crowd.port}`
    connected += 1
    if (connected === crowd.count) print(`connected ${connected}`)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  })
  let tail = Buffer.alloc(0)
  let isRead = false
  const receive = (bytes: Buffer) => {
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
    if (status !== "HTTP/1.1 200 OK") return print(`rejected: ${status}`)
    begun += 1
    if (begun === crowd.count) print(`begun ${begun}`)
    receive(head)
    socket.on("data", receive)
  })
  socket.on("error", ({ message }) => print(`broken: ${message}`))
  socket.on("end", () => print("ended by the service"))
}

for (let client = 0; client < crowd.atOnce; client++) openNext()
process.stdin.resume().on("end", () => process.exit())
