import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { create, type DescMessage, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf"
import { assert } from "@effect/vitest"
import {
  type CommitmentPayload,
  CommitmentPayloadSchema,
  messageTypes,
  RegisterPolicyRequestSchema,
  UnregisterPolicyRequestSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, observer, send, subscribe } from "./Calls.ts"
import { envelope, startPayload } from "./Envelopes.ts"
import type { ForeignClient } from "./ForeignClient.ts"

const Json = Schema.Record(Schema.String, Schema.Json)

/** What a message has instead of the session's own values. */
const Overrides = Schema.Struct({
  session_id: Schema.optional(Schema.String),
  macp_version: Schema.optional(Schema.String),
  mode: Schema.optional(Schema.String)
})

const Message = Schema.Struct({
  sender: Schema.String,
  message_type: Schema.String,
  payload_type: Schema.String,
  payload: Json,
  expect: Schema.Literals(["accept", "reject"]),
  expected_error_code: Schema.optional(Schema.String),
  envelope: Schema.optional(Overrides),
  /** The fixture sets the runtime's clock, which no call can do. */
  accepted_at_ms: Schema.optional(Schema.Int)
})

/** A scripted session (docs/internals/runtime.md#conformance). Keys that begin with an underscore are comments. */
export const Fixture = Schema.Struct({
  mode: Schema.String,
  initiator: Schema.String,
  participants: Schema.Array(Schema.String),
  mode_version: Schema.String,
  configuration_version: Schema.String,
  policy_version: Schema.optional(Schema.String),
  ttl_ms: Schema.Int,
  policy: Schema.optional(
    Schema.Struct({
      policy_id: Schema.String,
      mode: Schema.String,
      schema_version: Schema.Int,
      description: Schema.optional(Schema.String),
      rules: Json
    })
  ),
  messages: Schema.Array(Message),
  expected_final_state: Schema.String,
  expected_resolution: Schema.optional(Json),
  expect_resolution_present: Schema.optional(Schema.Boolean),
  expected_mode_state: Schema.optional(Json)
})

export type Fixture = typeof Fixture.Type

// Third-party fixtures are kept beside the repository, not in it.
const SHARED = fileURLToPath(new URL("../../../../../shared/spec/conformance", import.meta.url))
const OWN = fileURLToPath(new URL("../fixtures", import.meta.url))

export interface FixtureFile {
  readonly name: string
  readonly fixture: Fixture
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Fixture))

const readFolder = (folder: string, label: string): ReadonlyArray<FixtureFile> =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".json") && file !== "schema.json")
    .map((file) => ({ name: `${label}/${file}`, fixture: decode(readFileSync(join(folder, file), "utf8")) }))

/** The fixtures of other projects, empty when their folder is absent. */
export const sharedFixtures = (): ReadonlyArray<FixtureFile> =>
  existsSync(SHARED) ? ["runtime-0.6.1", "spec-2026-07"].flatMap((set) => readFolder(join(SHARED, set), set)) : []

export const ownFixtures = (): ReadonlyArray<FixtureFile> => readFolder(OWN, "sandbox")

/** The fixtures that the reference runtime brings in its sources; empty when those are absent. */
export const fixturesOfRuntime = (sources: string): ReadonlyArray<FixtureFile> => {
  const folder = join(sources, "tests", "conformance")
  return existsSync(folder) ? readFolder(folder, "macp-runtime") : []
}

/** A runtime to play fixtures on, which takes names for credentials. */
export interface Target {
  readonly address: string
  /** Who may read the session of a fixture. */
  readonly readerOf: (fixture: Fixture) => string
  /** The state of the session's mode, where the runtime exposes it. */
  readonly modeState?: (sessionId: string) => Effect.Effect<unknown>
}

/** Plays a fixture over a connection of its own in a session of its own, and checks everything it expects. */
export const play = Effect.fnUntraced(
  function* ({ fixture, name }: FixtureFile, target: Target) {
    const client = yield* connect(target.address)
    const { policy } = fixture
    // A runtime that lives on must not know it any more when the next fixture brings another one of this name.
    if (policy !== undefined) yield* Effect.acquireRelease(register(client, policy), () => unregister(client, policy))
    const sessionId = randomUUID()
    const state = yield* Effect.promise(() => converse(client, fixture, name, sessionId))
    assert.strictEqual(STATES[state], fixture.expected_final_state, "final state")
    const accepted = fixture.messages.flatMap(({ expect }, index) => (expect === "accept" ? [`m${index + 1}`] : []))
    const reader = target.readerOf(fixture)
    const frames = yield* Effect.promise(() => replay(client, sessionId, reader, accepted.length + 1))
    assert.deepStrictEqual(
      frames.map(({ messageId }) => messageId),
      ["start", ...accepted],
      "replay"
    )
    assertResolution(fixture, frames.at(-1))
    if (target.modeState === undefined) return
    assertSubset(yield* target.modeState(sessionId), fixture.expected_mode_state ?? {}, "mode state")
  },
  (effect) => Effect.scoped(effect)
)
export const playOnSandbox = (file: FixtureFile) =>
  Effect.flatMap(Sandbox, ({ address, modeState }) =>
    play(file, { address, modeState, readerOf: () => observer })
  ).pipe(Effect.provide(Sandbox.layer({ port: 0, observers: [observer] })))

type Policy = NonNullable<Fixture["policy"]>

const register = (client: ForeignClient, { description = "", mode, policy_id, rules, schema_version }: Policy) =>
  Effect.promise(async () => {
    const policyDescriptor = {
      policyId: policy_id,
      mode,
      description,
      rules: JSON.stringify(rules),
      schemaVersion: schema_version
    }
    const request = create(RegisterPolicyRequestSchema, { policyDescriptor })
    const { error, ok } = await client.unary("registerPolicy", request, observer)
    assert.isTrue(ok, error)
  })

const unregister = (client: ForeignClient, { policy_id }: Policy) =>
  Effect.promise(() =>
    client.unary("unregisterPolicy", create(UnregisterPolicyRequestSchema, { policyId: policy_id }), observer)
  )

const STATES: Readonly<Record<number, string>> = {
  1: "Open",
  2: "Resolved",
  3: "Expired",
  4: "Suspended",
  5: "Cancelled"
}

/** Sends the start and every message, compares each answer, and gives the state of the last accepted one. */
const converse = async (client: ForeignClient, fixture: Fixture, name: string, sessionId: string) => {
  const { mode } = fixture
  const start = startPayload({
    participants: [...fixture.participants],
    modeVersion: fixture.mode_version,
    configurationVersion: fixture.configuration_version,
    policyVersion: fixture.policy_version ?? "",
    ttlMs: BigInt(fixture.ttl_ms)
  })
  let ack = await send(client, envelope("SessionStart", "start", start, { mode, sessionId }), fixture.initiator)
  assert.isTrue(ack.ok, `the start of ${name}: ${ack.error?.code}`)
  let state = ack.sessionState
  for (const [index, message] of fixture.messages.entries()) {
    const { macp_version: macpVersion = "1.0", mode: itsMode = mode, session_id = sessionId } = message.envelope ?? {}
    const rest = { mode: itsMode, sessionId: session_id, macpVersion }
    const payload = payloadOf(mode, message)
    ack = await send(client, envelope(message.message_type, `m${index + 1}`, payload, rest), message.sender)
    const where = `message ${index + 1} (${message.message_type}) of ${name}`
    assert.strictEqual(ack.ok ? "accept" : "reject", message.expect, `${where}: ${ack.error?.code}`)
    if (message.expected_error_code !== undefined) {
      assert.strictEqual(ack.error?.code, message.expected_error_code, where)
    }
    if (ack.ok) state = ack.sessionState
  }
  return state
}

const replay = async (client: ForeignClient, sessionId: string, reader: string, count: number) => {
  const stream = client.session(reader)
  stream.write(subscribe(sessionId))
  const frames = await stream.frames.take(count)
  stream.halfClose()
  return frames.flatMap(({ response }) => (response.case === "envelope" ? [response.value] : []))
}

const assertResolution = (fixture: Fixture, last: { messageType: string; payload: Uint8Array } | undefined) => {
  const isResolved = last?.messageType === "Commitment"
  if (fixture.expect_resolution_present !== undefined) {
    assert.strictEqual(isResolved, fixture.expect_resolution_present, "resolution present")
  }
  if (fixture.expected_resolution === undefined) return
  assert(isResolved, "a resolution is expected")
  assertSubset(snakeCase(fromBinary(CommitmentPayloadSchema, last.payload)), fixture.expected_resolution, "resolution")
}

const snakeCase = (commitment: CommitmentPayload) =>
  toJson(CommitmentPayloadSchema, commitment, { useProtoFieldName: true, alwaysEmitImplicit: true })

/** The two fixture sets name payload types differently, so the type is found by mode and message type. */
const schemaOf = (
  mode: string,
  { message_type, payload_type }: Pick<typeof Message.Type, "message_type" | "payload_type">
): DescMessage => {
  const parts = mode.replace(/^(macp\.mode|ext)\./, "")
  const names = [payload_type, `macp.v1.${message_type}Payload`, `macp.modes.${parts}.${message_type}Payload`]
  const schema = names.map((name) => messageTypes.getMessage(name)).find((found) => found !== undefined)
  assert(schema !== undefined, `no payload type for ${message_type} of ${mode}`)
  return schema
}

/** Conventions of the fixtures: bytes are UTF-8 text or an ignored array, an absent outcome is a positive one. */
export const payloadOf = (
  mode: string,
  message: Pick<typeof Message.Type, "message_type" | "payload_type" | "payload">
): Uint8Array<ArrayBuffer> => {
  const schema = schemaOf(mode, message)
  const fields = schema.fields.flatMap((field): Array<[string, Schema.Json]> => {
    const value = message.payload[field.name]
    if (value === undefined) return field.name === "outcome_positive" ? [[field.name, true]] : []
    const isBytes = field.fieldKind === "scalar" && field.scalar === BYTES
    if (!isBytes) return [[field.name, value]]
    return typeof value === "string" ? [[field.name, Buffer.from(value).toString("base64")]] : []
  })
  return toBinary(schema, fromJson(schema, Schema.decodeUnknownSync(MutableJson)(Object.fromEntries(fields))))
}

/** Number of the scalar type `bytes` in a field descriptor. */
const BYTES = 12

const MutableJson = Schema.MutableJson

const assertSubset = (actual: unknown, expected: unknown, path: string): void => {
  if (typeof expected !== "object" || expected === null) {
    assert.deepStrictEqual(actual, expected, path)
    return
  }
  for (const [key, value] of Object.entries(expected)) assertSubset(Object(actual)[key], value, `${path}.${key}`)
}
