import { assert, describe, it } from "@effect/vitest"
import { RunDescriptor } from "@runplane/domain"
import { PolicyRegistration } from "../../../src/control-plane/policies/PolicyRequests.ts"
import { Reason, runEventsQuery, runListQuery, runStreamQuery } from "../../../src/control-plane/runs/RunRequests.ts"
import { bodySchema } from "../../../src/validation/RequestSchema.ts"
import { decode } from "../../support/Decode.ts"

const descriptorBody = bodySchema(RunDescriptor, { unknownKeys: "reject" })
const reasonBody = bodySchema(Reason, { unknownKeys: "drop" })
const policyBody = bodySchema(PolicyRegistration, { unknownKeys: "drop" })

const session = {
  modeName: "macp.mode.decision.v1",
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  ttlMs: 60_000,
  participants: [{ id: "a" }]
}
const minimal: RunDescriptor = { mode: "live", runtime: { kind: "rust" }, session }
const withSession = (change: object): object => ({ ...minimal, session: { ...session, ...change } })
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, at]))

describe("a run descriptor", () => {
  it("passes with the required fields only, and with all of them", () => {
    assert.deepStrictEqual(decode(descriptorBody, minimal), { messages: [], value: minimal })
    const full: RunDescriptor = {
      mode: "sandbox",
      runtime: { kind: "rust", version: "v1" },
      session: {
        sessionId: "anything",
        ...session,
        policyVersion: "policy.default",
        metadata: { cancelCallback: { url: "http://a" }, deep: [1, null, { x: [] }] }
      },
      execution: {
        idempotencyKey: "k",
        tags: ["a"],
        requester: { actorId: "me", actorType: "user" }
      }
    }
    assert.deepStrictEqual(decode(descriptorBody, full), { messages: [], value: full })
  })

  it("treats a null optional field as absent", () => {
    const { messages, value } = decode(descriptorBody, {
      ...withSession({ sessionId: null, metadata: null }),
      execution: { tags: null, requester: null }
    })
    assert.deepStrictEqual(messages, [])
    assert.deepStrictEqual(value, { ...minimal, execution: {} })
  })

  const broken: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    [
      "an empty body",
      {},
      [
        "mode must be one of the following values: live, sandbox",
        "runtime should not be null or undefined",
        "session should not be null or undefined"
      ]
    ],
    ["an unknown key", { ...minimal, kickoff: [] }, ["property kickoff should not exist"]],
    [
      "unknown keys below",
      {
        mode: "live",
        runtime: { kind: "rust", x: 1 },
        session: { ...session, policyHints: {}, participants: [{ id: "a", role: "r" }] },
        execution: { y: 1, requester: { z: 1 } }
      },
      [
        "runtime.property x should not exist",
        "session.property policyHints should not exist",
        "session.participants.0.property role should not exist",
        "execution.property y should not exist",
        "execution.requester.property z should not exist"
      ]
    ],
    ["a runtime that is not an object", { ...minimal, runtime: "rust" }, ["runtime must be an object"]],
    ["a kind that is not a text", { ...minimal, runtime: { kind: 1 } }, ["runtime.kind must be a string"]],
    [
      "missing texts",
      { ...minimal, session: { ttlMs: 1, participants: [{ id: "a" }] } },
      ["modeName", "modeVersion", "configurationVersion"].flatMap((key) => [
        `session.${key} must be a string`,
        `session.${key} should not be empty`
      ])
    ],
    ["an empty text", withSession({ modeName: "" }), ["session.modeName should not be empty"]],
    [
      "a ttl that is a text",
      withSession({ ttlMs: "1000" }),
      ["session.ttlMs must be an integer number", "session.ttlMs must be a positive number"]
    ],
    ["a broken ttl", withSession({ ttlMs: 1.5 }), ["session.ttlMs must be an integer number"]],
    ["a ttl of zero", withSession({ ttlMs: 0 }), ["session.ttlMs must be a positive number"]],
    ["participants that are no array", withSession({ participants: {} }), ["session.participants must be an array"]],
    ["no participants", withSession({ participants: [] }), ["session.participants must contain at least 1 elements"]],
    [
      "1001 participants",
      withSession({ participants: Array.from({ length: 1001 }, () => ({})) }),
      ["Maximum 1000 participants per session"]
    ],
    [
      "broken participants",
      withSession({ participants: [{ id: "a" }, {}, "b", { id: "" }] }),
      [
        "session.participants.1.id must be a string",
        "session.participants.1.id should not be empty",
        "session.participants.2 must be an object",
        "session.participants.3.id should not be empty"
      ]
    ],
    ["metadata that is an array", withSession({ metadata: [] }), ["session.metadata must be an object"]],
    ["1001 keys of metadata", withSession({ metadata: keys(1_001) }), ["session.metadata must have at most 1000 keys"]],
    [
      "a long idempotency key",
      { ...minimal, execution: { idempotencyKey: "x".repeat(256) } },
      ["execution.idempotencyKey must be shorter than or equal to 255 characters"]
    ],
    [
      "tags that are no texts",
      { ...minimal, execution: { tags: ["a", 1] } },
      ["execution.each value in tags must be a string"]
    ],
    [
      "tags that are no array",
      { ...minimal, execution: { tags: "a" } },
      ["execution.each value in tags must be a string", "execution.tags must be an array"]
    ],
    [
      "a strange requester",
      { ...minimal, execution: { requester: { actorType: "robot" } } },
      ["execution.requester.actorType must be one of the following values: user, service, system"]
    ]
  ]
  it.each(broken)("is refused for %s", (_name, body, messages) => {
    const result = decode(descriptorBody, body)
    assert.deepStrictEqual(result.messages, messages)
    assert.isUndefined(result.value)
  })

  it("accepts 1000 participants and a key of 255 characters", () => {
    const body = {
      ...withSession({ participants: Array.from({ length: 1000 }, (_, id) => ({ id: String(id) })) }),
      execution: { idempotencyKey: "x".repeat(255) }
    }
    assert.deepStrictEqual(decode(descriptorBody, body).messages, [])
  })
})

describe("a reason", () => {
  it("may be absent, drops unknown keys, and must be a text", () => {
    assert.deepStrictEqual(decode(reasonBody, undefined).value, {})
    assert.deepStrictEqual(decode(reasonBody, { reason: "r", x: 1 }).value, { reason: "r" })
    assert.deepStrictEqual(decode(reasonBody, { reason: 1 }).messages, ["reason must be a string"])
  })
})

describe("a policy registration", () => {
  const rules = { voting: {} }

  it("fills in mode, description and schema version", () => {
    assert.deepStrictEqual(decode(policyBody, { policyId: "p", rules, x: 1 }).value, {
      policyId: "p",
      mode: "*",
      description: "",
      rules,
      schemaVersion: 3
    })
  })

  it.each([
    [{ rules }, ["policyId is required"]],
    [{ policyId: "", rules }, ["policyId is required"]],
    [{ policyId: "p", rules, schemaVersion: "1" }, ["schemaVersion must be one of 1, 2, 3"]],
    [{ policyId: "p", rules, schemaVersion: 4 }, ["schemaVersion must be one of 1, 2, 3"]],
    [{ policyId: "p", rules: [] }, ["rules must be a JSON object"]],
    [{ policyId: "p" }, ["rules must be a JSON object"]]
  ])("refuses %j", (body, messages) => {
    assert.deepStrictEqual(decode(policyBody, body).messages, messages)
  })
})

describe("the query of the run list", () => {
  it.each([
    [{ limit: "0" }, ["limit must not be less than 1"]],
    [{ limit: "201" }, ["limit must not be greater than 200"]],
    [{ limit: "1.5" }, ["limit must be an integer number"]],
    [
      { limit: "many" },
      ["limit must not be greater than 200", "limit must not be less than 1", "limit must be an integer number"]
    ],
    [{ offset: "-1" }, ["offset must not be less than 0"]],
    [
      { sortBy: "id" },
      ["sortBy must be one of the following values: createdAt, updatedAt, duration, cost, tokens, events"]
    ],
    [
      { sortBy: "mark.9" },
      ["sortBy must be one of the following values: createdAt, updatedAt, duration, cost, tokens, events"]
    ],
    [{ sortOrder: "up" }, ["sortOrder must be one of the following values: asc, desc"]],
    [{ createdAfter: "yesterday" }, ["createdAfter must be a valid ISO 8601 date string"]],
    [
      { status: "open" },
      [
        "status must be one of the following values: queued, starting, binding_session, running, suspended, completed, failed, cancelled"
      ]
    ],
    [{ environment: ["a", "b"] }, ["environment must be a string"]]
  ])("refuses %j", (query, messages) => {
    assert.deepStrictEqual(decode(runListQuery, query).messages, messages)
  })

  it("reads lists, switches and dates", () => {
    const { value } = decode(runListQuery, {
      tags: [" a,b,,", "c"],
      includeArchived: "yes",
      createdBefore: "2026-07-01T12:00:00+02:00",
      includeSandbox: "true",
      search: "x"
    })
    assert.deepInclude(value, {
      tags: ["a", "b", "c"],
      includeArchived: false,
      createdBefore: "2026-07-01T10:00:00.000Z",
      search: "x"
    })
    assert.isTrue(decode(runListQuery, { includeArchived: "true" }).value?.includeArchived)
  })

  it("has defaults", () => {
    assert.deepStrictEqual(decode(runListQuery, {}).value, {
      limit: 50,
      offset: 0,
      sortBy: "createdAt",
      sortOrder: "desc",
      includeArchived: false
    })
  })
})

describe("the query of events and of the stream", () => {
  it("has no upper limit for pages of events", () => {
    assert.strictEqual(decode(runEventsQuery, { limit: "100000" }).value?.limit, 100_000)
    assert.deepStrictEqual(decode(runEventsQuery, {}).value, { afterSeq: 0, limit: 200 })
    assert.deepStrictEqual(decode(runEventsQuery, { afterSeq: "-1", afterTs: "x" }).messages, [
      "afterSeq must not be less than 0",
      "afterTs must be a valid ISO 8601 date string"
    ])
  })

  it("takes only the text true for a snapshot, and heartbeats of at least a second", () => {
    assert.deepStrictEqual(decode(runStreamQuery, {}).value, { includeSnapshot: true })
    assert.deepStrictEqual(decode(runStreamQuery, { includeSnapshot: "0", afterSeq: "0" }).value, {
      includeSnapshot: false,
      afterSeq: 0
    })
    assert.deepStrictEqual(decode(runStreamQuery, { heartbeatMs: "999" }).messages, [
      "heartbeatMs must not be less than 1000"
    ])
    assert.deepStrictEqual(decode(runStreamQuery, { heartbeatMs: "1500.5" }).messages, [
      "heartbeatMs must be an integer number"
    ])
  })
})
