import * as Schema from "effect/Schema"

export const RunMode = Schema.Literals(["live", "sandbox"]).annotate({ identifier: "RunMode" })
export type RunMode = typeof RunMode.Type

export const Requester = Schema.Struct({
  actorId: Schema.optionalKey(Schema.String),
  actorType: Schema.optionalKey(Schema.Literals(["user", "service", "system"]))
}).annotate({ identifier: "Requester" })
export type Requester = typeof Requester.Type

export const MAX_PARTICIPANTS = 1000
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255
/** Unicode code units of a text that runs or policies are found by: the database's indexes hold no text of any length. */
export const MAX_NAME_LENGTH = 512

export const SessionDescriptor = Schema.Struct({
  sessionId: Schema.optionalKey(Schema.String),
  modeName: Schema.String,
  modeVersion: Schema.String,
  configurationVersion: Schema.String,
  policyVersion: Schema.optionalKey(Schema.String),
  ttlMs: Schema.Int,
  participants: Schema.Array(Schema.Struct({ id: Schema.String })),
  metadata: Schema.optionalKey(Schema.JsonObject)
}).annotate({ identifier: "SessionDescriptor" })
export type SessionDescriptor = typeof SessionDescriptor.Type

/**
 * The scenario-agnostic body of `POST /runs` (run-control-plane "RunDescriptor"). This is the shape of an accepted
 * descriptor; the field rules and their messages are those of `validateRunDescriptor` in packages/api.
 */
export const RunDescriptor = Schema.Struct({
  mode: RunMode,
  runtime: Schema.Struct({ kind: Schema.String, version: Schema.optionalKey(Schema.String) }),
  session: SessionDescriptor,
  execution: Schema.optionalKey(
    Schema.Struct({
      idempotencyKey: Schema.optionalKey(Schema.String),
      tags: Schema.optionalKey(Schema.Array(Schema.String)),
      requester: Schema.optionalKey(Requester)
    })
  )
}).annotate({ identifier: "RunDescriptor" })
export type RunDescriptor = typeof RunDescriptor.Type
