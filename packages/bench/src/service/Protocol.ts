import * as Schema from "effect/Schema"

/** What the bench asks of the process that runs the control plane. */
export const ServiceCommand = Schema.Union([
  Schema.TaggedStruct("Usage", {}),
  Schema.TaggedStruct("StartProfile", {}),
  /** Writes what was profiled since the start as a `.cpuprofile`. */
  Schema.TaggedStruct("StopProfile", { file: Schema.String })
])
export type ServiceCommand = typeof ServiceCommand.Type

export const ServiceReply = Schema.Union([
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  Schema.TaggedStruct("Usage", { cpuSeconds: Schema.Number, peakBytes: Schema.Number }),
  Schema.TaggedStruct("Done", {})
])
export type ServiceReply = typeof ServiceReply.Type
