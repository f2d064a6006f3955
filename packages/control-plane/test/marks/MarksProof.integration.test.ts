import { assert, layer } from "@effect/vitest"
import { type Mark, type MarkValue, participantSeen, type RunId, verifyExport } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sha256 } from "../../src/platform/Sha256.ts"
import { appendMessages } from "../support/Appends.ts"
import { AT, commits, opened, RISK, recorded, votes } from "../support/Committee.ts"
import { endRun } from "../support/EndedRuns.ts"
import { call, layerTestService } from "../support/HttpService.ts"
import { createRun, readLog } from "../support/Runs.ts"
import { publishedKeys } from "../support/SealTests.ts"

const KEYS = ["key-of-ann", "key-of-bob", "key-of-adam"]
const settings = {
  AUTH_API_KEYS: KEYS.join(","),
  AUTH_API_KEY_NAMES: "ann,bob,adam",
  AUTH_API_KEY_ROLES: "operator,operator,admin"
}
const [ANN = {}, BOB = {}, ADAM = {}] = KEYS.map((key) => ({ authorization: `Bearer ${key}` }))
const callers = { ann: ANN, bob: BOB }

const decided = recorded(...opened, participantSeen(AT, RISK), votes(RISK, "APPROVE"), commits)
const get = (path: string) => call("GET", path, { headers: ADAM })
const exportOf = (runId: string, query: string) =>
  Effect.map(get(`/runs/${runId}/export?includeRaw=true&${query}`), ({ text }) => text)

const marks: ReadonlyArray<object> = [
  { target: { kind: "run" }, name: "quality", value: 0.5, source: "human", comment: "calm" },
  { target: { kind: "decision" }, name: "correct", value: "rejected", source: "api" },
  { target: { kind: "participant", id: RISK }, name: "tone", value: true, source: "api" },
  { target: { kind: "run" }, name: "quality", value: "fine", source: "judge", judge: { name: "strict" } },
  { target: { kind: "run" }, name: "quality", value: 0.7, source: "human" }
]

const ofRuns = marks.filter((mark) => "target" in mark && JSON.stringify(mark.target) === '{"kind":"run"}')

layer(layerTestService({ settings }), { excludeTestServices: true })("the log of a run with marks", (it) => {
  it.effect("stays as it was, byte for byte, and so do its state, its seal and its export", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      yield* endRun(runId)
      const paths = ["", "/events?limit=100", "/state", "/metrics", "/seal", "/messages"]
      const everything = Effect.gen(function* () {
        const answers = yield* Effect.forEach(paths, (path) => get(`/runs/${runId}${path}`))
        const exported = yield* exportOf(runId, "includeMarks=false")
        return {
          answers: answers.map(({ text }) => text),
          // The time of the export, and the digest over it.
          exported: exported.replace(/"exportedAt":"[^"]+"/, "").replace(/"digest":.*$/, ""),
          stored: yield* readLog(runId)
        }
      })
      const before = yield* everything
      const added: Array<Mark> = []
      for (const body of marks) {
        const { body: mark, status, text } = yield* call("POST", `/runs/${runId}/marks`, { body, headers: ANN })
        assert.strictEqual(status, 201, text)
        added.push(mark)
      }
      assert.deepStrictEqual(yield* everything, before)
      for (const { id } of added) {
        assert.strictEqual((yield* call("DELETE", `/runs/${runId}/marks/${id}`, { headers: ANN })).status, 204)
      }
      assert.deepStrictEqual(yield* everything, before)
    })
  )

  for (const format of ["json", "jsonl"]) {
    it.effect(`is exported with an appendix that the keys of the service verify (${format})`, () =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        yield* appendMessages(runId, 3, 3)
        const check = yield* publishedKeys
        yield* endRun(runId)
        const found = (text: string) => verifyExport(sha256, check, Buffer.from(text))
        const bare = yield* exportOf(runId, `format=${format}`)
        assert.deepInclude(found(bare), { ok: true, marks: null }, JSON.stringify(found(bare)))
        assert.notInclude(bare, '"marks":')
        const added: Array<Mark> = []
        for (const body of ofRuns) {
          added.push((yield* call("POST", `/runs/${runId}/marks`, { body, headers: ANN })).body)
        }
        yield* call("DELETE", `/runs/${runId}/marks/${added[0]?.id}`, { headers: ANN })
        const text = yield* exportOf(runId, `format=${format}`)
        assert.deepInclude(found(text), { ok: true, signature: "valid", marks: { entries: 4, signature: "valid" } })
        const changed = text.replace('"value":"fine"', '"value":"poor"')
        assert.deepStrictEqual(found(changed), {
          ok: false,
          why: "its appendix of marks does not fit from position 2 on: its content is not the one that was added"
        })
        const batch = yield* call("POST", "/runs/batch/export", { body: { runIds: [runId] }, headers: ADAM })
        assert.lengthOf(batch.body[0].marks.entries, 4)
      })
    )
  }
})

const step = Schema.Struct({
  do: Schema.Literals(["add", "add", "add", "delete"]),
  by: Schema.Literals(["ann", "bob"]),
  name: Schema.Literals(["quality", "tone"]),
  value: Schema.Literals([0, 1, 2]),
  key: Schema.Literals(["", "", "k1", "k2"]),
  judge: Schema.Literals(["", "", "strict"])
})
type Step = typeof step.Type

/** A mark of the model: what a list with history shows of it. */
interface ModelMark {
  readonly id: string
  readonly slot: string
  readonly value: MarkValue
  readonly author: string
  replacedBy?: string
  isDeleted?: true
}

const bodyOf = ({ judge, key, name, value }: Step) => ({
  ...{ target: { kind: "run" }, name, value, source: judge === "" ? "human" : "judge" },
  ...(judge !== "" && { judge: { name: judge } }),
  ...(key !== "" && { idempotencyKey: key })
})

/** What the list of a run shows, the oldest first. */
const shown = Effect.fnUntraced(function* (runId: RunId) {
  const { body } = yield* get(`/runs/${runId}/marks?history=true&limit=500`)
  const data: ReadonlyArray<Mark> = body.data
  return data.toReversed()
})

layer(layerTestService({ settings }), { excludeTestServices: true })("marks of concurrent callers", (it) => {
  it.effect.prop(
    "are those of a model, in sequence",
    [Schema.Array(step).check(Schema.isMaxLength(12))],
    ([steps]) =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const model: Array<ModelMark> = []
        const keyed = new Map<string, { readonly id: string; readonly body: string }>()
        for (const one of steps) {
          const author = one.by
          const last = model.findLast((mark) => mark.author === author && mark.isDeleted !== true)
          if (one.do === "delete") {
            if (last === undefined) continue
            const path = `/runs/${runId}/marks/${last.id}`
            assert.strictEqual((yield* call("DELETE", path, { headers: callers[author] })).status, 204)
            last.isDeleted = true
            continue
          }
          const sent = bodyOf(one)
          const answer = yield* call("POST", `/runs/${runId}/marks`, { body: sent, headers: callers[author] })
          const first = keyed.get(one.key)
          if (first !== undefined) {
            const isDeleted = model.find(({ id }) => id === first.id)?.isDeleted === true
            const isSame = first.body === JSON.stringify(sent) || isDeleted
            assert.strictEqual(answer.status, isSame ? 200 : 409)
            if (isSame) assert.strictEqual(answer.body.id, first.id)
            continue
          }
          assert.strictEqual(answer.status, 201, answer.text)
          const slot = `${one.name} ${one.judge === "" ? author : one.judge}`
          const current = model.find((mark) => mark.slot === slot && !mark.replacedBy && !mark.isDeleted)
          if (current !== undefined) current.replacedBy = answer.body.id
          model.push({ id: answer.body.id, slot, value: one.value, author })
          if (one.key !== "") keyed.set(one.key, { id: answer.body.id, body: JSON.stringify(sent) })
        }
        assert.deepStrictEqual(
          (yield* shown(runId)).map(({ deletedAt, id, replacedBy, value }) => [
            id,
            value,
            replacedBy,
            deletedAt !== undefined
          ]),
          model.map(({ id, isDeleted, replacedBy, value }) => [
            id,
            isDeleted === true ? undefined : value,
            replacedBy,
            isDeleted === true
          ])
        )
      }),
    { arbitrary: { runs: 25 } }
  )

  it.effect.prop(
    "have one current mark for each rater, and a chain that fits, at the same time",
    [Schema.Array(step).check(Schema.isMinLength(4), Schema.isMaxLength(16))],
    ([steps]) =>
      Effect.gen(function* () {
        const runId = yield* createRun()
        const act = (one: Step) =>
          Effect.gen(function* () {
            if (one.do === "add") {
              return yield* call("POST", `/runs/${runId}/marks`, { body: bodyOf(one), headers: callers[one.by] })
            }
            const own = (yield* shown(runId)).find(({ author }) => author === one.by)
            return yield* call("DELETE", `/runs/${runId}/marks/${own?.id ?? runId}`, { headers: callers[one.by] })
          })
        const answers = yield* Effect.all(steps.map(act), { concurrency: "unbounded" })
        for (const { status, text } of answers) assert.include([200, 201, 204, 404, 409], status, text)
        const all = yield* shown(runId)
        assert.lengthOf(all, answers.filter(({ status }) => status === 201).length)
        const current = all.filter(({ deletedAt, replacedBy }) => deletedAt === undefined && replacedBy === undefined)
        const slots = current.map(({ author, judge, name }) => `${name} ${judge?.name ?? author}`)
        assert.strictEqual(new Set(slots).size, slots.length)
        const found = verifyExport(sha256, yield* publishedKeys, Buffer.from(yield* exportOf(runId, "")))
        const entries = all.length + all.filter(({ deletedAt }) => deletedAt !== undefined).length
        const expected = entries === 0 ? null : { entries, signature: "valid" }
        assert.isTrue(found.ok, JSON.stringify(found))
        assert.deepStrictEqual(found.ok ? found.marks : undefined, expected)
      }),
    { arbitrary: { runs: 15 } }
  )
})
