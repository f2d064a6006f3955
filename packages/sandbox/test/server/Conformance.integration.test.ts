import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type DescMessage, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { CommitmentPayloadSchema, DecisionMode } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { findMode } from "../../src/core/Modes.ts"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, send } from "../support/Calls.ts"
import { envelope, SESSION, startPayload } from "../support/Envelopes.ts"

// The fixtures are kept beside the repository, not in it.
const folder = fileURLToPath(new URL("../../../../../shared/spec/conformance", import.meta.url))

const Json = Schema.Record(Schema.String, Schema.Json)
const Fixture = Schema.fromJsonString(
  Schema.Struct({
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
    messages: Schema.Array(
      Schema.Struct({
        sender: Schema.String,
        message_type: Schema.String,
        payload_type: Schema.String,
        payload: Json,
        expect: Schema.Literals(["accept", "reject"]),
        expected_error_code: Schema.optional(Schema.String)
      })
    ),
    expected_final_state: Schema.String,
    expected_mode_state: Schema.optional(Json)
  })
)

const STATES: Readonly<Record<number, string>> = {
  1: "Open",
  2: "Resolved",
  3: "Expired",
  4: "Suspended",
  5: "Cancelled"
}

const SCHEMAS: Readonly<Record<string, DescMessage>> = {
  Proposal: DecisionMode.ProposalPayloadSchema,
  Evaluation: DecisionMode.EvaluationPayloadSchema,
  Objection: DecisionMode.ObjectionPayloadSchema,
  Vote: DecisionMode.VotePayloadSchema,
  Commitment: CommitmentPayloadSchema
}

/** The harness conventions of runtime-wire section 11.1: bytes are ignored, an absent outcome is a positive one. */
const payloadOf = (type: string, json: Readonly<Record<string, unknown>>): Uint8Array => {
  const schema = SCHEMAS[type]
  assert(schema !== undefined, `a fixture uses ${type}`)
  const { supporting_data: _, ...fields } = json
  const value = { ...(type === "Commitment" ? { outcome_positive: true } : {}), ...fields } as JsonValue
  return toBinary(schema, fromJson(schema, value))
}

const assertSubset = (actual: unknown, expected: unknown, path: string): void => {
  if (typeof expected !== "object" || expected === null) {
    assert.deepStrictEqual(actual, expected, path)
    return
  }
  for (const [key, value] of Object.entries(expected)) {
    assertSubset(Object(actual)[key], value, `${path}.${key}`)
  }
}

const play = (file: string) =>
  Effect.gen(function* () {
    const fixture = yield* Schema.decodeUnknownEffect(Fixture)(readFileSync(file, "utf8"))
    const sandbox = yield* Sandbox
    const client = yield* connect(sandbox.address)
    if (fixture.policy !== undefined) {
      const { description = "", mode, policy_id, rules, schema_version } = fixture.policy
      yield* sandbox.registerPolicy({
        policyId: policy_id,
        mode,
        description,
        rules: JSON.stringify(rules),
        schemaVersion: schema_version
      })
    }
    yield* Effect.promise(async () => {
      const start = startPayload({
        participants: [...fixture.participants],
        modeVersion: fixture.mode_version,
        configurationVersion: fixture.configuration_version,
        policyVersion: fixture.policy_version ?? "",
        ttlMs: BigInt(fixture.ttl_ms)
      })
      let ack = await send(client, envelope("SessionStart", "start", start, { mode: fixture.mode }), fixture.initiator)
      assert.isTrue(ack.ok)
      let state = ack.sessionState
      for (const [index, message] of fixture.messages.entries()) {
        const payload = payloadOf(message.message_type, message.payload)
        const sent = envelope(message.message_type, `m${index + 1}`, payload, { mode: fixture.mode })
        ack = await send(client, sent, message.sender)
        const got = ack.ok ? "accept" : `reject ${ack.error?.code}`
        const wanted = message.expect === "accept" ? "accept" : `reject ${message.expected_error_code}`
        assert.strictEqual(got, wanted, `message ${index + 1} of ${file}`)
        if (ack.ok) state = ack.sessionState
      }
      assert.strictEqual(STATES[state], fixture.expected_final_state)
    })
    assertSubset(yield* sandbox.modeState(SESSION), fixture.expected_mode_state ?? {}, "mode state")
  }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))

const fixtures = existsSync(folder)
  ? ["runtime-0.6.1", "spec-2026-07"].flatMap((set) =>
      readdirSync(join(folder, set))
        .filter((name) => name.endsWith(".json") && name !== "schema.json")
        .map((name) => ({ name: `${set}/${name}`, file: join(folder, set, name) }))
    )
  : []

const modeOf = (file: string): string =>
  Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ mode: Schema.String })))(readFileSync(file, "utf8"))
    .mode

const served = fixtures.filter(({ file }) => findMode(modeOf(file)) !== undefined)

describe("the conformance fixtures", () => {
  if (fixtures.length === 0) {
    it("are not beside this repository, so nothing was checked", () => {
      console.warn("conformance fixtures not found: these cases did not run")
    })
  }
  for (const { file, name } of served) it.live(`holds for ${name}`, () => play(file))
})
