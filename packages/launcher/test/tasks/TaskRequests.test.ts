import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { TaskError } from "../../src/tasks/TaskErrors.ts"
import { readJson, readList, readSend, readTaskRequest } from "../../src/tasks/TaskRequests.ts"

const send = (message: object, others: object = {}) =>
  readSend({ message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }], ...message }, ...others })

const fault = <A>(read: Result.Result<A, TaskError>) =>
  Result.isFailure(read) ? [read.failure.kind, read.failure.field] : assert.fail("it was read")

describe("the params of SendMessage", () => {
  it("have the data part, and what names the launch", () => {
    const read = Result.getOrThrow(
      send(
        { parts: [{ text: "x" }, { data: { a: 1 } }], contextId: "c", metadata: { skill: "p/s", template: "t" } },
        { configuration: { returnImmediately: true, historyLength: 0 }, metadata: { since: 7 } }
      )
    )
    assert.deepInclude(read, { returnImmediately: true, historyLength: 0, since: 7 })
    assert.deepInclude(read.message, { data: { a: 1 }, contextId: "c", skill: "p/s", template: "t" })
  })

  it("may have the number of a role, empty ids, null members, and members that the service does not know", () => {
    const read = Result.getOrThrow(
      send({ role: 1, taskId: "", contextId: null, extensions: [], later: {} }, { configuration: null, more: 1 })
    )
    assert.deepInclude(read.message, { taskId: undefined, contextId: undefined, data: undefined })
  })

  it("are refused with the first field at fault", () => {
    const faults = [
      [readSend([]), "params"],
      [readSend({}), "message"],
      [readSend({ message: [] }), "message"],
      [send({ messageId: "" }), "message.messageId"],
      [send({ messageId: "a\0b" }), "message.messageId"],
      [send({ messageId: "x".repeat(257) }), "message.messageId"],
      [send({ messageId: 7 }), "message.messageId"],
      [send({ contextId: "a\nb" }), "message.contextId"],
      [send({ role: "ROLE_AGENT" }), "message.role"],
      [send({ parts: [] }), "message.parts"],
      [send({ parts: Array.from({ length: 101 }, () => ({ text: "" })) }), "message.parts"],
      [send({ parts: ["x"] }), "message.parts.0"],
      [send({ parts: [{ data: 1 }, { data: 2 }] }), "message.parts"],
      [send({ metadata: { skill: 1 } }), "message.metadata.skill"],
      [send({}, { metadata: { since: -1 } }), "metadata.since"],
      [send({}, { configuration: { historyLength: -1 } }), "historyLength"],
      [send({}, { tenant: "t" }), "tenant"]
    ] as const
    for (const [read, field] of faults) assert.deepStrictEqual(fault(read), ["InvalidParams", field])
  })

  it("have neither files nor push notifications", () => {
    assert.deepStrictEqual(fault(send({ parts: [{ raw: "AA==" }] })), ["ContentTypeNotSupported", "message.parts.0"])
    assert.deepStrictEqual(fault(send({ parts: [{ url: "https://example.org" }] })), [
      "ContentTypeNotSupported",
      "message.parts.0"
    ])
    assert.deepStrictEqual(fault(send({}, { configuration: { taskPushNotificationConfig: {} } })), [
      "PushNotSupported",
      undefined
    ])
  })

  it("are the same content whatever their form, and another one for each thing that counts", () => {
    const content = (message: object) => JSON.stringify(Result.getOrThrow(send(message)).message.content)
    const base = { parts: [{ data: { a: 1 }, mediaType: "application/json" }], role: 1 }
    assert.strictEqual(content(base), content({ parts: [{ data: { a: 1 } }], taskId: "", extensions: [] }))
    const others = [
      { parts: [{ data: { a: 2 } }] },
      { parts: [{ data: { a: 1 } }, { text: "x" }] },
      { ...base, contextId: "c" },
      { ...base, taskId: "t" },
      { ...base, metadata: { skill: "s" } },
      { ...base, metadata: { template: "t" } }
    ]
    assert.strictEqual(new Set([base, ...others].map(content)).size, others.length + 1)
  })

  it.prop(
    "of any JSON are read or refused, and never a defect",
    [Arbitrary.schema(Schema.Json), Arbitrary.schema(Schema.Json)],
    ([params, part]) => {
      for (const read of [readSend, readTaskRequest, readList]) assert.isDefined(read(params))
      assert.isDefined(send({ parts: [part] }))
    }
  )
})

describe("the other params", () => {
  it("of a task have its id, also with numbers as texts", () => {
    assert.deepStrictEqual(
      readTaskRequest({ id: "t", historyLength: "3", metadata: { since: "12" } }),
      Result.succeed({
        id: "t",
        historyLength: 3,
        since: 12
      })
    )
    for (const id of ["", "a\0", undefined, {}])
      assert.deepStrictEqual(fault(readTaskRequest({ id })), ["InvalidParams", "id"])
  })

  it("of a list have defaults, states by name and by number, and bounds", () => {
    assert.deepInclude(Result.getOrThrow(readList({})), { pageSize: 50, state: undefined, includeArtifacts: false })
    const state = (status: unknown) => Result.getOrThrow(readList({ status })).state
    assert.strictEqual(state("TASK_STATE_COMPLETED"), "TASK_STATE_COMPLETED")
    assert.strictEqual(state(3), "TASK_STATE_COMPLETED")
    assert.strictEqual(state("3"), "TASK_STATE_COMPLETED")
    assert.strictEqual(state("TASK_STATE_REJECTED"), "none")
    assert.isUndefined(state("TASK_STATE_UNSPECIFIED"))
    const faults = [
      [{ pageSize: 0 }, "pageSize"],
      [{ pageSize: 101 }, "pageSize"],
      [{ status: 99 }, "status"],
      [{ statusTimestampAfter: "yesterday" }, "statusTimestampAfter"]
    ] as const
    for (const [params, field] of faults) assert.deepStrictEqual(fault(readList(params)), ["InvalidParams", field])
  })
})

describe("a body", () => {
  it("is JSON of bounded depth that parsing does not change", () => {
    assert.deepStrictEqual(readJson('{"a":[1]}'), Result.succeed({ a: [1] }))
    const texts = ["", "{", "[".repeat(100_000), '{"a":12345678901234567890}', '{"a":1,"a":2}']
    for (const text of texts) assert.deepStrictEqual(fault(readJson(text)), ["ParseError", undefined])
  })
})
