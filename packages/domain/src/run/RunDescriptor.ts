import * as Schema from "effect/Schema"
import { Field, idempotencyKey, isOneLine } from "../values/Field.ts"

export const RunMode = Schema.Literals(["live", "sandbox"]).annotate({
  identifier: "RunMode",
  description: "`live` for a real run, `sandbox` for a trial, which gets the tag sandbox"
})
export type RunMode = typeof RunMode.Type

export const Requester = Schema.Struct({
  actorId: Schema.optionalKey(
    Field.text("Id of the requester, in the caller's own terms", "scenario-launch-service").check(isOneLine)
  ),
  actorType: Schema.optionalKey(
    Schema.Literals(["user", "service", "system"]).annotate({ description: "What the requester is" })
  )
}).annotate({ identifier: "Requester", description: "On whose behalf a run is created" })
export type Requester = typeof Requester.Type

export const MAX_PARTICIPANTS = 1000
/**
 * Unicode code units of a text that runs or policies are found by: the database's indexes hold no text of any length.
 */
export const MAX_NAME_LENGTH = 512

/** Tags of a run, and characters of each: lists show them all. */
export const MAX_TAGS = 100
export const MAX_TAG_LENGTH = 200

/** Sources of telemetry that a run names. */
export const MAX_TELEMETRY_SOURCES = 32

/** Keys of a session's metadata, those of values inside of it not counted. */
export const MAX_METADATA_KEYS = 1_000

const required = (description: string, example: string) =>
  Field.text(description, example).check(Schema.isMinLength(1), isOneLine)

/** The metadata that runs are found by. */
const INDEXED_METADATA = ["environment", "scenarioRef", "source", "sourceRef"]

const tooLongMetadata = (metadata: Schema.JsonObject) =>
  INDEXED_METADATA.filter((key) => {
    const text = metadata[key]
    return typeof text === "string" && text.length > MAX_NAME_LENGTH
  }).map((key) => ({
    path: [key],
    issue: `must be shorter than or equal to ${MAX_NAME_LENGTH} characters`
  }))

const tooManyKeys = (metadata: Schema.JsonObject) =>
  Object.keys(metadata).length <= MAX_METADATA_KEYS || `must have at most ${MAX_METADATA_KEYS} keys`

export const SessionDescriptor = Schema.Struct({
  sessionId: Schema.optionalKey(
    Field.text(
      "UUID v4, UUID v7, or base64url of 22 to 512 characters; allocated when absent. A UUID is the run's id as well"
      // Another form is refused with a code of its own.
    ).check(Schema.makeFilter(() => true, { toJsonSchema: () => ({ pattern: "^[A-Za-z0-9_-]{22,512}$" }) }))
  ),
  modeName: required("Session mode", "macp.mode.decision.v1"),
  modeVersion: required("Version of the mode", "1.0.0"),
  configurationVersion: required("Version of the configuration", "config.default"),
  policyVersion: Schema.optionalKey(
    Field.text("Id of the governance policy; the runtime's registry must know it when the session starts").check(
      isOneLine
    )
  ),
  // A document for integers: greater than 0 is at least 1.
  ttlMs: Field.integer("Time-to-live of the session, milliseconds", 300_000).check(
    Schema.isGreaterThan(0, { toJsonSchema: () => ({ minimum: 1 }) })
  ),
  participants: Schema.Array(
    Schema.Struct({
      id: required("Id of the participant", "impact-analyst").check(Schema.isMaxLength(MAX_NAME_LENGTH))
    })
  )
    .annotate({ description: "Declared participants" })
    .check(
      Schema.isMinLength(1),
      Schema.isMaxLength(MAX_PARTICIPANTS, { message: `Maximum ${MAX_PARTICIPANTS} participants per session` })
    ),
  metadata: Schema.optionalKey(
    Field.object(
      "Any JSON, kept with the run. cancelCallback ({url, bearer?}) or cancellationDelegated (true) make the run " +
        "cancellable; environment, scenarioRef, source and sourceRef are what runs are found by"
    ).check(
      Schema.makeFilter(tooManyKeys, { toJsonSchema: () => ({ maxProperties: MAX_METADATA_KEYS }) }),
      Schema.makeFilter(tooLongMetadata)
    )
  )
}).annotate({ identifier: "SessionDescriptor", description: "The session that the run is about" })
export type SessionDescriptor = typeof SessionDescriptor.Type

/** Who may add to a run by OpenTelemetry (docs/reference/ingest.md#joining). */
export const RunTelemetry = Schema.Struct({
  sources: Schema.Array(
    required("Name of an API key that exports spans, or `user:` and the subject of a token", "agents").check(
      Schema.isMaxLength(MAX_NAME_LENGTH)
    )
  )
    .annotate({ description: "Sources whose spans with the session's id join the run", examples: [["agents"]] })
    .check(Schema.isMaxLength(MAX_TELEMETRY_SOURCES))
}).annotate({ identifier: "RunTelemetry", description: "Which OpenTelemetry may join the run" })
export type RunTelemetry = typeof RunTelemetry.Type

/**
 * The session to observe and its runtime, without terms of a scenario: the launch service compiles it, and it is the
 * body of `POST /runs`. The field rules apply to what callers send; a stored descriptor is read with `disableChecks`.
 */
export const RunDescriptor = Schema.Struct({
  mode: RunMode,
  runtime: Schema.Struct({
    kind: Field.text("Registered kind of runtime", "rust").check(isOneLine),
    version: Schema.optionalKey(Field.text("Version of the runtime, kept with the run").check(isOneLine))
  }).annotate({ description: "The runtime that hosts the session" }),
  session: SessionDescriptor,
  telemetry: Schema.optionalKey(RunTelemetry),
  execution: Schema.optionalKey(
    Schema.Struct({
      idempotencyKey: Schema.optionalKey(
        idempotencyKey(
          "A second request with the same key answers with the first run, as it is by then; nothing is started"
        )
      ),
      tags: Schema.optionalKey(
        Schema.Array(Schema.String.check(Schema.isMaxLength(MAX_TAG_LENGTH), isOneLine))
          .annotate({ description: "Tags of the run", examples: [["nightly"]] })
          .check(Schema.isMaxLength(MAX_TAGS))
      ),
      requester: Schema.optionalKey(Requester)
    }).annotate({ description: "How the run is created, apart from its session" })
  )
}).annotate({
  identifier: "RunDescriptor",
  description:
    "What to run and on which runtime, in terms that no scenario knows; unknown keys are refused at every level"
})
export type RunDescriptor = typeof RunDescriptor.Type
