import * as Schema from "effect/Schema"

/** The bytes of every answer from now on, in base64. */
export const PlainCommand = Schema.TaggedStruct("Answer", { body: Schema.String })
export type PlainCommand = typeof PlainCommand.Type

export const PlainReply = Schema.Union([
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  Schema.TaggedStruct("Done", {})
])
export type PlainReply = typeof PlainReply.Type
