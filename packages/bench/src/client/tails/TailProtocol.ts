import * as Schema from "effect/Schema"

/** Commands of the bench to the process that reads many streams. */
export const ReadersCommand = Schema.Union([
  /** Opens so many clients, of which some record when each event came; answered when all have their first bytes. */
  Schema.TaggedStruct("Open", {
    url: Schema.String,
    headers: Schema.Record(Schema.String, Schema.String),
    path: Schema.String,
    clients: Schema.Int,
    listeners: Schema.Int
  }),
  /** Answered when each client has received so many events; those of the first seconds are reported apart. */
  Schema.TaggedStruct("Await", { events: Schema.Int, leadSeconds: Schema.Number })
])
export type ReadersCommand = typeof ReadersCommand.Type

/** Of times in milliseconds. */
const Spread = Schema.Struct({
  count: Schema.Int,
  p50: Schema.Number,
  p95: Schema.Number,
  p99: Schema.Number,
  max: Schema.Number
})

export const ReadersReply = Schema.Union([
  Schema.TaggedStruct("Ready", {}),
  Schema.TaggedStruct("Opened", {}),
  Schema.TaggedStruct("Brought", {
    times: Schema.Struct({ first: Schema.optionalKey(Spread), settled: Spread }),
    bytes: Schema.Int
  })
])
export type ReadersReply = typeof ReadersReply.Type

/**
 * Commands of the bench to the plain server: frames of so many bytes, made at an even pace and sent to every client.
 * Answered when all are written to the sockets.
 */
export const PushCommand = Schema.TaggedStruct("Push", {
  frameBytes: Schema.Int,
  frames: Schema.Int,
  perSecond: Schema.Number
})
export type PushCommand = typeof PushCommand.Type

export const PushReply = Schema.Union([
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  Schema.TaggedStruct("Pushed", {})
])
export type PushReply = typeof PushReply.Type
