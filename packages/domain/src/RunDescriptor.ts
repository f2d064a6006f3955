import * as Schema from "effect/Schema"
import { Field } from "./Field.ts"

export const RunMode = Schema.Literals(["live", "sandbox"]).annotate({
  identifier: "RunMode",
  description: "Whether a run is meant in earnest; a sandbox run gets the tag sandbox"
})
export type RunMode = typeof RunMode.Type

export const Requester = Schema.Struct({
  actorId: Schema.optionalKey(Field.text("Id of the requester, in the caller's own terms", "scenario-launch-service")),
  actorType: Schema.optionalKey(
    Schema.Literals(["user", "service", "system"]).annotate({ description: "What the requester is" })
  )
}).annotate({ identifier: "Requester", description: "On whose behalf a run is created" })
export type Requester = typeof Requester.Type

export const MAX_PARTICIPANTS = 1000
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255
/** Unicode code units of a text that runs or policies are found by: the database's indexes hold no text of any length. */
export const MAX_NAME_LENGTH = 512

export const SessionDescriptor = Schema.Struct({
  sessionId: Schema.optionalKey(Field.text("UUID v4, UUID v7, or base64url of 22 to 512 characters")),
  modeName: Field.text("Session mode", "macp.mode.decision.v1"),
  modeVersion: Field.text("Version of the mode", "1.0.0"),
  configurationVersion: Field.text("Version of the configuration", "config.default"),
  policyVersion: Schema.optionalKey(Field.text("Id of the governance policy; the runtime's registry must know it")),
  ttlMs: Field.integer("Time-to-live of the session, milliseconds", 300_000),
  participants: Schema.Array(Schema.Struct({ id: Field.text("Id of the participant", "impact-analyst") })).annotate({
    description: "Declared participants"
  }),
  metadata: Schema.optionalKey(Field.object("Any JSON, kept with the run"))
}).annotate({ identifier: "SessionDescriptor", description: "The session that a run is about" })
export type SessionDescriptor = typeof SessionDescriptor.Type

/**
 * The scenario-agnostic body of `POST /runs` (run-control-plane "RunDescriptor"). This is the shape of an accepted
 * descriptor; the field rules and their messages are those of `validateRunDescriptor` in packages/api.
 */
export const RunDescriptor = Schema.Struct({
  mode: RunMode,
  runtime: Schema.Struct({
    kind: Field.text("Registered kind of runtime", "rust"),
    version: Schema.optionalKey(Field.text("Version of the runtime"))
  }).annotate({ description: "The runtime that hosts the session" }),
  session: SessionDescriptor,
  execution: Schema.optionalKey(
    Schema.Struct({
      idempotencyKey: Schema.optionalKey(Field.text("A second request with the same key answers with the first run")),
      tags: Schema.optionalKey(Field.texts("Tags of the run")),
      requester: Schema.optionalKey(Requester)
    }).annotate({ description: "How the run is created, apart from its session" })
  )
}).annotate({ identifier: "RunDescriptor", description: "A run to be created, in terms that no scenario knows" })
export type RunDescriptor = typeof RunDescriptor.Type
