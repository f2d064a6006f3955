import * as Schema from "effect/Schema"

/** Commands of the bench to the process that runs the control plane. */
export const ServiceCommand = Schema.Union([
  Schema.TaggedStruct("Usage", {}),
  /** The memory of the process after a full collection. */
  Schema.TaggedStruct("Memory", {}),
  Schema.TaggedStruct("StartProfile", {}),
  /** Writes what was profiled since the start as a `.cpuprofile`. */
  Schema.TaggedStruct("StopProfile", { file: Schema.String })
])
export type ServiceCommand = typeof ServiceCommand.Type

export const ServiceReply = Schema.Union([
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  Schema.TaggedStruct("Usage", {
    cpuSeconds: Schema.Number,
    peakBytes: Schema.Number,
    residentBytes: Schema.Number
  }),
  Schema.TaggedStruct("Memory", { residentBytes: Schema.Number, heapBytes: Schema.Number }),
  Schema.TaggedStruct("Done", {})
])
export type ServiceReply = typeof ServiceReply.Type
