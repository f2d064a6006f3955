import * as Schema from "effect/Schema"

const Sessions = Schema.Array(Schema.String)

/** Commands of the bench to the scripted runtime. */
export const RuntimeCommand = Schema.Union([
  /**
   * Opens sessions whose history of this length is made, but not accepted yet; with payloads of so many bytes, or of
   * the usual ones.
   */
  Schema.TaggedStruct("Prepare", {
    sessions: Sessions,
    envelopes: Schema.Int,
    payloadBytes: Schema.optionalKey(Schema.Int)
  }),
  /** Answered when each of the sessions has a subscriber. */
  Schema.TaggedStruct("AwaitSubscribed", { sessions: Sessions }),
  /** Forgets who has subscribed so far, so that `AwaitSubscribed` waits for those who come now. */
  Schema.TaggedStruct("ForgetSubscribers", { sessions: Sessions }),
  /** Accepts the prepared histories at once, all of them or up to an ordinal. */
  Schema.TaggedStruct("Release", { sessions: Sessions, upTo: Schema.optionalKey(Schema.Int) }),
  /** Accepts so many stamped envelopes at an even pace, in turn for each of the sessions; answered after the last. */
  Schema.TaggedStruct("Pace", { sessions: Sessions, envelopes: Schema.Int, perSecond: Schema.Number }),
  /** Accepts the commitment of the sessions, as their next envelope. */
  Schema.TaggedStruct("Commit", { sessions: Sessions }),
  /** Resolves the sessions and notifies the watches. */
  Schema.TaggedStruct("Resolve", { sessions: Sessions })
])
export type RuntimeCommand = typeof RuntimeCommand.Type

export const RuntimeReply = Schema.Union([
  Schema.TaggedStruct("Listening", { address: Schema.String }),
  Schema.TaggedStruct("Done", {})
])
export type RuntimeReply = typeof RuntimeReply.Type
