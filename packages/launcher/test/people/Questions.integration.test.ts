import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { MOST_QUESTIONS, QUESTIONS_PER_MINUTE } from "../../src/people/questions/Questions.ts"
import { MOST_RETURNS } from "../../src/people/Returns.ts"
import { approval, ask, type Headers, keysEnv, makeInboxStage } from "./InboxStage.ts"

const keys = { "key-ana": ["ana", "voter"], "key-bo": ["bo", "voter"], "key-zoe": ["zoe", "voter"] } as const
const key = (name: keyof typeof keys): Headers => ({ "x-api-key": name })

// docs/reference/people.md#answering
layer(NodeFileSystem.layer, { excludeTestServices: true })("a question to the agents", (it) => {
  it.effect("is stored with its record and its audit, without an act, and shown to the assigned", () =>
    Effect.gen(function* () {
      const { itemsOf, openItem, propose, sql, url } = yield* makeInboxStage([{ session: "one" }], keysEnv(keys))
      yield* propose("one")
      const id = yield* openItem("one")
      const path = `/inbox/${id}/question`
      const text = "Is the replica behind?"
      const sent = yield* ask(url, "POST", path, key("key-ana"), { text })
      assert.strictEqual(sent.status, 200, sent.text)
      assert.deepInclude(sent.body.questions[0], { by: "ana", text })
      const shown = yield* ask(url, "GET", `/inbox/${id}`, key("key-bo"))
      assert.deepStrictEqual(shown.body.questions, sent.body.questions)
      assert.strictEqual((yield* itemsOf("one"))[0]?.state, "open")

      const records = yield* sql<{ readonly content: string; readonly label: string }>`
        SELECT content::text AS content, label FROM people.records WHERE kind = 'people.question'`
      assert.lengthOf(records, 1)
      assert.deepInclude(JSON.parse(records[0]?.content ?? ""), { v: 1, item: id, person: "ana", text })
      assert.notInclude(records[0]?.label ?? "", text)
      const audit = yield* sql<{ readonly actor: string; readonly detail: string }>`
        SELECT actor, detail::text AS detail FROM people.audit WHERE action = 'item.question'`
      assert.deepStrictEqual(
        audit.map(({ actor }) => actor),
        ["ana"]
      )
      assert.notInclude(audit[0]?.detail ?? "", text)

      for (const [headers, body, status, code] of [
        [key("key-zoe"), { text }, 403, "FORBIDDEN"],
        [key("key-ana"), { text: "" }, 400, undefined],
        [key("key-ana"), { text: " " }, 400, undefined],
        [key("key-ana"), { text: "a".repeat(4_001) }, 400, undefined]
      ] as const) {
        const refused = yield* ask(url, "POST", path, headers, body)
        assert.deepStrictEqual([refused.status, refused.body.errorCode], [status, code], refused.text)
      }
      const unknown = yield* ask(url, "POST", `/inbox/${crypto.randomUUID()}/question`, key("key-ana"), { text })
      assert.strictEqual(unknown.status, 404)

      const answered = yield* ask(url, "POST", `/inbox/${id}/answers`, key("key-bo"), approval(shown.body))
      assert.strictEqual(answered.status, 200, answered.text)
      const late = yield* ask(url, "POST", path, key("key-ana"), { text })
      assert.deepStrictEqual([late.status, late.body.errorCode], [410, "ITEM_CLOSED"])
    }).pipe(Effect.scoped)
  )

  it.effect("is refused when a person sends too many", () =>
    Effect.gen(function* () {
      const { openItem, propose, sql, url } = yield* makeInboxStage([{ session: "one" }], keysEnv(keys))
      yield* propose("one")
      const id = yield* openItem("one")
      yield* sql`
        INSERT INTO people.questions (item, person, text)
        SELECT ${id}::uuid, 'ana', 'Why?' FROM generate_series(1, ${QUESTIONS_PER_MINUTE}::int)`
      const refused = yield* ask(url, "POST", `/inbox/${id}/question`, key("key-ana"), { text: "Why?" })
      assert.deepStrictEqual([refused.status, refused.body.errorCode], [429, "TOO_MANY_QUESTIONS"])
      assert.strictEqual(refused.headers.get("retry-after"), "60")
      assert.strictEqual(
        (yield* ask(url, "POST", `/inbox/${id}/question`, key("key-bo"), { text: "Why?" })).status,
        200
      )
    }).pipe(Effect.scoped)
  )

  it.effect("is refused about an item that has as many as are shown with it", () =>
    Effect.gen(function* () {
      const { openItem, propose, sql, url } = yield* makeInboxStage([{ session: "one" }], keysEnv(keys))
      yield* propose("one")
      const id = yield* openItem("one")
      yield* sql`
        INSERT INTO people.questions (item, person, text, asked_at)
        SELECT ${id}::uuid, 'ana', 'Why?', now() - interval '1 hour' FROM generate_series(1, ${MOST_QUESTIONS}::int)`
      const refused = yield* ask(url, "POST", `/inbox/${id}/question`, key("key-ana"), { text: "Why?" })
      assert.deepStrictEqual([refused.status, refused.body.metadata], [400, { field: "text" }], refused.text)
      yield* sql`
        INSERT INTO people.item_assignees (item, assignee, added_by, reason)
        SELECT ${id}::uuid, NULL, 'ana', 'on leave' FROM generate_series(1, ${MOST_RETURNS}::int)`
      const returned = yield* ask(url, "POST", `/inbox/${id}/return`, key("key-ana"), { reason: "on leave" })
      assert.deepStrictEqual([returned.status, returned.body.metadata], [400, { field: "reason" }], returned.text)
    }).pipe(Effect.scoped)
  )

  it.effect("is taken from a delegate", () =>
    Effect.gen(function* () {
      const { openItem, propose, url } = yield* makeInboxStage([{ session: "one" }], keysEnv(keys))
      yield* propose("one")
      const id = yield* openItem("one")
      const question = ask(url, "POST", `/inbox/${id}/question`, key("key-zoe"), { text: "Why?" })
      assert.strictEqual((yield* question).status, 403)
      const until = "2099-01-01T00:00:00Z"
      const tooLong = yield* ask(url, "POST", "/people/me/delegations", key("key-ana"), {
        ...{ to: "person:zoe", until, reason: "on leave" }
      })
      assert.strictEqual(tooLong.status, 400)
      const soon = new Date((yield* Clock.currentTimeMillis) + 3_600_000).toISOString()
      const delegated = yield* ask(url, "POST", "/people/me/delegations", key("key-ana"), {
        ...{ to: "person:zoe", until: soon, reason: "on leave" }
      })
      assert.strictEqual(delegated.status, 201, delegated.text)
      const sent = yield* question
      assert.strictEqual(sent.status, 200, sent.text)
      assert.deepInclude(sent.body.questions[0], { by: "zoe" })
    }).pipe(Effect.scoped)
  )
})
