import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { openTask } from "./OpenTask.ts"
import {
  type Court,
  decide,
  inputs,
  KEYS,
  makeCourt,
  message,
  POLICY,
  rpc,
  runsOf,
  serveLauncher,
  taskIn
} from "./TaskStage.ts"

class Served extends Context.Service<Served, Court>()("runplane/stack/test/Served") {
  static readonly layer = Layer.effect(
    Served,
    Effect.tap(makeCourt, (court) => serveLauncher(court))
  )
}

const state = (task: { readonly status: { readonly state: string } }) => task.status.state
const code = (answer: { readonly error?: { readonly code: number } }) => answer.error?.code

layer(Served.layer, { excludeTestServices: true, timeout: "60 seconds" })("a committee as an A2A server", (it) => {
  it.effect("decides a task: two callers with one message id get two runs, and neither finds the other's", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const sent = message("m-1", ...inputs("open"))
      const [ana, again, bo] = yield* Effect.all(
        [
          rpc(court, "ana", "SendMessage", sent),
          rpc(court, "ana", "SendMessage", sent),
          rpc(court, "bo", "SendMessage", sent)
        ],
        { concurrency: "unbounded" }
      )
      const [a, b] = [taskIn(ana).id, taskIn(bo).id]
      assert.strictEqual(taskIn(again).id, a)
      assert.notStrictEqual(a, b)
      yield* openTask(court, "ana", a)
      yield* openTask(court, "bo", b)
      const ids = (yield* runsOf(court)).map(({ id }) => String(id))
      assert.strictEqual(ids.filter((id) => id === a || id === b).length, 2)
      const run = yield* court.plane.api.runs.get({ params: { id: a }, query: {} })
      assert.include([...run.tags], "a2a")
      assert.deepNestedInclude(run.metadata, {
        "executionRequest.execution.requester": { actorId: "ana", actorType: "service" }
      })

      for (const method of ["GetTask", "CancelTask", "SubscribeToTask"]) {
        const other = yield* rpc(court, "bo", method, { id: a })
        const none = yield* rpc(court, "bo", method, { id: "00000000-0000-4000-8000-000000000000" })
        assert.strictEqual(code(other), -32001, method)
        assert.strictEqual(code(none), -32001, method)
      }
      assert.strictEqual(
        code(yield* rpc(court, "bo", "SendMessage", message("x", [{ text: "x" }], { taskId: a }))),
        -32001
      )
      const listed = yield* rpc(court, "bo", "ListTasks", {})
      assert.deepStrictEqual(
        listed.result.tasks.map(({ id }: { readonly id: string }) => id),
        [b]
      )
      const changed = yield* rpc(court, "ana", "SendMessage", message("m-1", ...inputs("open", "another")))
      assert.strictEqual(code(changed), -32602)
      assert.include(changed.error.message, "message.messageId m-1 was used before, with other content")

      yield* decide(court, a, true)
      yield* decide(court, b, false)
      const done = taskIn(yield* rpc(court, "ana", "SendMessage", { ...sent, configuration: {} }))
      assert.strictEqual(state(done), "TASK_STATE_COMPLETED")
      const [decision, seal] = ["decision", "seal"].map((name) =>
        done.artifacts.find(({ artifactId }: { readonly artifactId: string }) => artifactId === name)
      )
      assert.include(decision.parts[0].text, "# Approved")
      assert.include(decision.parts[0].text, "so it is")
      assert.deepNestedInclude(decision.parts[1].data, { verdict: "for", "outcome.positive": true })
      assert.strictEqual(decision.parts[1].data.record.runId, a)
      assert.strictEqual(seal.parts[0].data.runId, a)
      assert.deepStrictEqual(done.history[0].parts[0].data, { topic: "plan" })
      const against = taskIn(yield* rpc(court, "bo", "GetTask", { id: b, historyLength: 0 }))
      assert.strictEqual(state(against), "TASK_STATE_COMPLETED")
      assert.strictEqual(against.artifacts[0].parts[1].data.verdict, "against")
      assert.notProperty(against, "history")
      assert.strictEqual(code(yield* rpc(court, "bo", "CancelTask", { id: b })), -32002)
      assert.strictEqual(code(yield* rpc(court, "bo", "SubscribeToTask", { id: b })), -32004)
    })
  )

  it.effect("requires inputs by their schema, and launches when a message of the task has them", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const asked = taskIn(yield* rpc(court, "ana", "SendMessage", message("m-2", [{ text: "Decide!" }])))
      assert.strictEqual(state(asked), "TASK_STATE_INPUT_REQUIRED")
      const { skills } = asked.status.message.parts[1].data
      assert.notInclude(JSON.stringify(skills), "court/private")
      assert.deepInclude(skills.find(({ skill }: { readonly skill: string }) => skill === "court/open").inputs, {
        required: ["topic"]
      })
      const about = (data: object, id: string) =>
        message(id, [{ data }], { taskId: asked.id, metadata: { skill: "court/open" } })
      const wrong = taskIn(yield* rpc(court, "ana", "SendMessage", about({ topic: 7 }, "m-3")))
      assert.strictEqual(state(wrong), "TASK_STATE_INPUT_REQUIRED")
      assert.include(wrong.status.message.parts[0].text, "topic must be string")
      assert.strictEqual(wrong.status.message.parts[1].data.skill, "court/open")
      const right = taskIn(yield* rpc(court, "ana", "SendMessage", about({ topic: "plan" }, "m-4")))
      assert.strictEqual(right.id, asked.id)
      yield* openTask(court, "ana", asked.id)
      const late = yield* rpc(court, "ana", "SendMessage", about({ topic: "again" }, "m-5"))
      assert.strictEqual(code(late), -32004)
      yield* decide(court, asked.id, true)
      assert.strictEqual(state(taskIn(yield* rpc(court, "ana", "GetTask", { id: asked.id }))), "TASK_STATE_COMPLETED")

      const dropped = taskIn(yield* rpc(court, "ana", "SendMessage", message("m-6", [{ text: "No" }])))
      const canceled = taskIn(yield* rpc(court, "ana", "CancelTask", { id: dropped.id }))
      assert.strictEqual(state(canceled), "TASK_STATE_CANCELED")
      assert.strictEqual(
        code(
          yield* rpc(court, "ana", "SendMessage", {
            ...about({ topic: "x" }, "m-7"),
            message: { ...about({ topic: "x" }, "m-7").message, taskId: dropped.id }
          })
        ),
        -32004
      )
    })
  )

  it.effect("says why a launch has failed, and whom an open question is for", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const broken = taskIn(
        yield* rpc(court, "ana", "SendMessage", { ...message("m-8", ...inputs("broken")), configuration: {} })
      )
      assert.strictEqual(state(broken), "TASK_STATE_FAILED")
      assert.include(broken.status.message.parts[0].text, "COMPILATION_ERROR")
      // The same message is the same task, and no second launch.
      assert.strictEqual(
        taskIn(yield* rpc(court, "ana", "SendMessage", message("m-8", ...inputs("broken")))).id,
        broken.id
      )

      const { id } = taskIn(yield* rpc(court, "bo", "SendMessage", message("m-9", ...inputs("person"))))
      yield* openTask(court, "bo", id)
      yield* court.session.open(id, ["lead", "officer"])
      yield* court.session.propose(id)
      const waits = yield* until(
        Effect.map(rpc(court, "bo", "GetTask", { id }), taskIn),
        ({ status }) => status.message?.parts[0].text.includes("officer"),
        "100 millis"
      )
      assert.strictEqual(state(waits), "TASK_STATE_WORKING")
      assert.match(
        waits.status.message.parts[0].text,
        /the seat officer waits for an answer of person:ana or group:leads until 20/
      )
    })
  )

  it.effect("cancels where the session allows it", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const start = Effect.fnUntraced(function* (id: string, skill: string) {
        const task = taskIn(yield* rpc(court, "ana", "SendMessage", message(id, ...inputs(skill))))
        yield* openTask(court, "ana", task.id)
        yield* court.session.open(task.id, ["lead"], skill === "open" ? POLICY : "")
        yield* until(
          Effect.map(rpc(court, "ana", "GetTask", { id: task.id }), taskIn),
          (found) => state(found) === "TASK_STATE_WORKING",
          "100 millis"
        )
        return task.id
      })
      const open = yield* start("m-10", "open")
      const canceling = yield* rpc(court, "ana", "CancelTask", { id: open })
      assert.isUndefined(canceling.error, canceling.text)
      yield* until(
        Effect.map(rpc(court, "ana", "GetTask", { id: open }), taskIn),
        (found) => state(found) === "TASK_STATE_CANCELED",
        "100 millis"
      )
      const bound = yield* start("m-11", "bound")
      const refused = yield* rpc(court, "ana", "CancelTask", { id: bound })
      assert.strictEqual(code(refused), -32002, refused.text)
      const canceled = yield* rpc(court, "ana", "ListTasks", { status: "TASK_STATE_CANCELED" })
      assert.include(JSON.stringify(canceled.result.tasks), open)
      assert.notInclude(JSON.stringify(canceled.result.tasks), bound)
    })
  )

  it.effect("lets a participant of one committee query another, and vote as that decided", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const upper = taskIn(yield* rpc(court, "ana", "SendMessage", message("upper", ...inputs("open")))).id
      yield* openTask(court, "ana", upper)
      yield* court.session.open(upper)
      yield* court.session.propose(upper)
      // The participant of the upper committee has a key of its own.
      const lower = taskIn(yield* rpc(court, "bo", "SendMessage", message("lower", ...inputs("open")))).id
      yield* openTask(court, "bo", lower)
      yield* decide(court, lower, false)
      const answer = taskIn(yield* rpc(court, "bo", "GetTask", { id: lower }))
      const { verdict } = answer.artifacts[0].parts[1].data
      yield* court.session.vote(upper, verdict === "for" ? "APPROVE" : "REJECT")
      yield* court.session.commit(upper, verdict === "for")
      const done = yield* until(
        Effect.map(rpc(court, "ana", "GetTask", { id: upper }), taskIn),
        (found) => state(found) === "TASK_STATE_COMPLETED",
        "100 millis"
      )
      assert.strictEqual(done.artifacts[0].parts[1].data.verdict, "against")
    })
  )

  it.effect("streams a run, and continues behind the last index of a client", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const sent = message("s-1", ...inputs("open"))
      const follow = (method: string, params: object, headers: Readonly<Record<string, string>> = {}) =>
        Effect.promise(async () => {
          const response = await fetch(`${court.launcherUrl}/a2a`, {
            method: "POST",
            headers: { "content-type": "application/json", "a2a-version": "1.0", "x-api-key": KEYS.ana, ...headers },
            body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params })
          })
          const frames = (await response.text()).split("\n\n").filter((frame) => frame.startsWith("id:"))
          return frames.map((frame) => {
            const [id = "", data = ""] = frame.split("\n")
            const { id: rpcId, result } = JSON.parse(data.slice("data: ".length))
            assert.strictEqual(rpcId, 7)
            return { index: Number(id.slice("id: ".length)), result }
          })
        })
      const stream = yield* Effect.forkChild(follow("SendStreamingMessage", sent))
      const { id } = taskIn(yield* rpc(court, "ana", "SendMessage", sent))
      yield* openTask(court, "ana", id)
      yield* decide(court, id, true)
      const frames = yield* Fiber.join(stream)
      assert.property(frames[0]?.result, "task")
      const last = frames.at(-1)?.result.statusUpdate
      assert.strictEqual(state(last), "TASK_STATE_COMPLETED")
      const artifacts = frames.flatMap(({ result }) => result.artifactUpdate?.artifact.artifactId ?? [])
      assert.includeMembers(artifacts, ["decision", "seal"])
      const texts = (found: typeof frames) =>
        found.flatMap(({ index, result }) =>
          result.statusUpdate === undefined || result.statusUpdate.status.state !== "TASK_STATE_WORKING"
            ? []
            : [[index, result.statusUpdate.status.message.parts[0].text] as const]
        )
      const all = texts(frames)
      assert.include(JSON.stringify(all), "<b>so it is</b>")
      const [, second] = all
      const since = second?.[0] ?? assert.fail("the stream is too short")
      const rest = all.filter(([index]) => index > since)
      assert.isNotEmpty(rest)
      const byHeader = yield* follow("SubscribeToTask", { id }, { "last-event-id": String(since) })
      assert.strictEqual(byHeader[0]?.index, since)
      assert.deepStrictEqual(texts(byHeader), rest)
      assert.deepStrictEqual(texts(yield* follow("SendStreamingMessage", { ...sent, metadata: { since } })), rest)
    })
  )

  it.effect("lists pages, and answers roles, versions and hostile bodies", () =>
    Effect.gen(function* () {
      const court = yield* Served
      const context = "pages"
      const ids: Array<string> = []
      for (const at of [1, 2, 3]) {
        const sent = message(`p-${at}`, [{ text: "x" }], { contextId: context })
        ids.push(taskIn(yield* rpc(court, "bo", "SendMessage", sent)).id)
      }
      const first = (yield* rpc(court, "bo", "ListTasks", { contextId: context, pageSize: 2 })).result
      const second = (yield* rpc(court, "bo", "ListTasks", {
        contextId: context,
        pageSize: 2,
        pageToken: first.nextPageToken
      })).result
      const idsIn = ({ tasks }: { readonly tasks: ReadonlyArray<{ readonly id: string }> }) => tasks.map(({ id }) => id)
      assert.deepStrictEqual([...idsIn(first), ...idsIn(second)], ids.toReversed())
      assert.deepInclude(second, { nextPageToken: "", totalSize: 3, pageSize: 2 })
      assert.strictEqual(code(yield* rpc(court, "ana", "ListTasks", { pageToken: ids[0] })), -32602)

      assert.strictEqual((yield* rpc(court, "reader", "ListTasks", {})).status, 200)
      for (const method of ["SendMessage", "SendStreamingMessage", "CancelTask"]) {
        assert.strictEqual((yield* rpc(court, "reader", method, message("r", [{ text: "x" }]))).status, 403, method)
      }
      const post = (body: string, headers: Readonly<Record<string, string>> = {}) =>
        Effect.promise(async () => {
          const response = await fetch(`${court.launcherUrl}/a2a`, {
            method: "POST",
            headers: { "content-type": "application/json", "a2a-version": "1.0", "x-api-key": KEYS.bo, ...headers },
            body
          })
          return { status: response.status, text: await response.text() }
        })
      const codeOf = (answer: { readonly text: string }) => JSON.parse(answer.text).error?.code
      const call = (params: unknown, method = "SendMessage") =>
        JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
      assert.strictEqual((yield* post(call({}), { "x-api-key": "" })).status, 401)
      assert.strictEqual((yield* post(call({}), { "content-type": "text/plain" })).status, 415)
      assert.strictEqual(codeOf(yield* post(call({}), { "a2a-version": "0.3" })), -32009)
      assert.strictEqual(codeOf(yield* post("[]")), -32600)
      assert.strictEqual(codeOf(yield* post(`[${call({})},${call({})}]`)), -32600)
      assert.strictEqual(codeOf(yield* post(call({}, "DropTables"))), -32601)
      assert.strictEqual(codeOf(yield* post(call({}, "__proto__"))), -32601)
      assert.strictEqual(codeOf(yield* post("[".repeat(200_000))), -32700)
      assert.strictEqual(codeOf(yield* post(call({ id: "a\0b" }, "GetTask"))), -32602)
      assert.strictEqual(codeOf(yield* post(call({ id: "'; DROP TABLE people.a2a_tasks; --" }, "GetTask"))), -32001)
      const parts = Array.from({ length: 300_000 }, () => ({}))
      assert.strictEqual(codeOf(yield* post(call(message("h", parts)))), -32602)
      assert.strictEqual((yield* post(call(message("h", [{ text: "x".repeat(1_048_576) }])))).status, 413)
      assert.strictEqual((yield* post(`[${"{},".repeat(10_000_000)}{}]`)).status, 413)
      const long = JSON.parse((yield* post(call(message("h", [{ text: "x".repeat(1_000_000) }])))).text)
      assert.strictEqual(long.result.task.status.state, "TASK_STATE_INPUT_REQUIRED")
      // What JSON can hold and a database cannot.
      const odd = yield* rpc(court, "bo", "SendMessage", {
        ...message("odd", ...inputs("broken", "a\0b\ud800")),
        configuration: {}
      })
      assert.strictEqual(state(taskIn(odd)), "TASK_STATE_FAILED")
      const push = yield* rpc(court, "bo", "CreateTaskPushNotificationConfig", {
        taskId: ids[0],
        url: "http://127.0.0.1"
      })
      assert.strictEqual(code(push), -32003)
    })
  )
})
