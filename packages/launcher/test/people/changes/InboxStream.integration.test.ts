import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { AUDIENCE, makeCodeIssuer, openSse, type SseFrame, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { MOST_CHANGES, STREAMS_A_PERSON } from "../../../src/people/changes/InboxChanges.ts"
import { approval, ask, type Headers, keysEnv, makeInboxStage } from "../InboxStage.ts"

const keys = { "key-ana": ["ana", "voter"], "key-bo": ["bo", "voter"], "key-zoe": ["zoe", "voter"] } as const
const key = (name: keyof typeof keys): Headers => ({ "x-api-key": name })
const seats = [
  { session: "one", rules: { assign: ["person:ana"] } },
  { session: "two", rules: { assign: ["person:bo"] } },
  { session: "both", rules: { assign: ["person:ana", "person:bo"] } }
]
const env = keysEnv(keys)

type Reader = Effect.Success<ReturnType<typeof openSse>>

/** The next frame of an item that is as the test waits for. */
const itemFrame = (reader: Reader, wanted: (data: SseFrame["data"]) => boolean) =>
  Effect.repeat(reader.nextOf("item"), { until: (frame) => frame === undefined || wanted(frame.data) })

/** A stream after its first frame. */
const follow = Effect.fnUntraced(function* (url: string, headers: Headers, query = "") {
  const reader = yield* openSse(`${url}/inbox/stream${query}`, headers)
  assert.strictEqual(reader.status, 200)
  const ready = yield* reader.next
  assert.strictEqual(ready?.event, "ready")
  return { ...reader, ready }
})

// docs/reference/people.md#stream
layer(NodeFileSystem.layer, { excludeTestServices: true })("the stream of the inbox", (it) => {
  it.effect("has the items of its person as they open, change and close, and no vote", () =>
    Effect.gen(function* () {
      const { openItem, propose, url } = yield* makeInboxStage(seats, env)
      const ana = yield* follow(url, key("key-ana"))
      const bo = yield* follow(url, key("key-bo"))
      const zoe = yield* follow(url, key("key-zoe"), "?heartbeatMs=1000")
      assert.deepStrictEqual(ana.ready?.data, { continued: false })
      for (const session of ["one", "two", "both"]) yield* propose(session)
      const [one, two, both] = [yield* openItem("one"), yield* openItem("two"), yield* openItem("both")]
      const seen: Array<string> = []
      const opened = yield* itemFrame(ana, ({ change, item }) => {
        seen.push(item.id)
        return item.id === both && change === "opened"
      })
      assert.deepInclude(opened?.data.item, { state: "open", seat: "officer" })

      const { body } = yield* ask(url, "GET", `/inbox/${both}`, key("key-bo"))
      const answered = yield* ask(url, "POST", `/inbox/${both}/answers`, key("key-bo"), approval(body, "it is fine"))
      assert.strictEqual(answered.status, 200, answered.text)
      const closed = yield* itemFrame(ana, ({ change, item }) => {
        seen.push(item.id)
        return item.id === both && change === "closed"
      })
      assert.strictEqual(closed?.data.item.state, "accepted")
      assert.notInclude(JSON.stringify(closed?.data), "approve")
      assert.notInclude(JSON.stringify(closed?.data), "it is fine")
      assert.sameMembers([...new Set(seen)], [one, both])
      const boSeen = yield* itemFrame(bo, ({ item }) => item.id === two && item.state === "open")
      assert.isDefined(boSeen)

      // A colleague to whom it is returned gets it from then on.
      const returned = yield* ask(url, "POST", `/inbox/${one}/return`, key("key-ana"), {
        reason: "I am away",
        to: "person:zoe"
      })
      assert.strictEqual(returned.status, 200, returned.text)
      const given = yield* zoe.nextOf("item")
      assert.strictEqual(given?.data.item.id, one)
    }).pipe(Effect.scoped)
  )

  it.effect("continues without loss, and resets a reader that was away for too long", () =>
    Effect.gen(function* () {
      const { itemsOf, openItem, propose, sql, url } = yield* makeInboxStage(seats, env)
      yield* propose("one")
      const id = yield* openItem("one")
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const reader = yield* follow(url, key("key-ana"), "?heartbeatMs=1000")
          return (yield* reader.nextOf("heartbeat"))?.id ?? ""
        })
      )
      yield* propose("two")
      yield* openItem("two")
      const { body } = yield* ask(url, "GET", `/inbox/${id}`, key("key-ana"))
      yield* ask(url, "POST", `/inbox/${id}/answers`, key("key-ana"), approval(body))
      yield* until(itemsOf("one"), ([item]) => item?.state === "accepted")
      const again = yield* follow(url, { ...key("key-ana"), "last-event-id": first })
      assert.deepStrictEqual(again.ready?.data, { continued: true })
      const frame = yield* again.next
      assert.deepInclude(frame?.data, { change: "closed" })
      assert.strictEqual(frame?.data.item.id, id)

      // What is not a cursor begins anew; one that the database has not reached yet is reset.
      const other = yield* follow(url, { ...key("key-ana"), "last-event-id": "9:3:" })
      assert.deepStrictEqual(other.ready?.data, { continued: false })
      const ahead = yield* follow(url, { ...key("key-ana"), "last-event-id": "900000000:900000000:" })
      assert.strictEqual((yield* ahead.next)?.event, "reset")

      yield* sql`
        INSERT INTO people.items (id, session_id, seat, subject, state, hashed, proposal_hash, payload, payload_type)
        SELECT gen_random_uuid(), session_id, seat, subject, 'withdrawn', hashed, proposal_hash, payload, payload_type
        FROM people.items, generate_series(1, ${MOST_CHANGES}::int) WHERE id = ${id}::uuid`
      const late = yield* follow(url, { ...key("key-ana"), "last-event-id": first })
      const reset = yield* late.next
      assert.strictEqual(reset?.event, "reset")
      const next = yield* follow(url, { ...key("key-ana"), "last-event-id": reset?.id ?? "" })
      yield* sql`UPDATE people.items SET seen_at = now() WHERE id = ${id}::uuid`
      assert.strictEqual((yield* next.next)?.data.item.id, id)
    }).pipe(Effect.scoped)
  )

  it.effect("gives a slow reader the last state of each item, and not each change", () =>
    Effect.gen(function* () {
      const { openItem, propose, sql, url } = yield* makeInboxStage(seats, env)
      yield* propose("one")
      const id = yield* openItem("one")
      const slow = yield* follow(url, key("key-ana"))
      const changes = 200
      for (let at = 1; at <= changes; at += 1) {
        yield* sql`UPDATE people.items SET reason = ${`change ${at}`} WHERE id = ${id}::uuid`
      }
      let frames = 0
      const last = yield* itemFrame(slow, ({ item }) => {
        frames += 1
        return item.reason === `change ${changes}`
      })
      assert.strictEqual(last?.data.item.id, id)
      assert.isBelow(frames, changes)
    }).pipe(Effect.scoped)
  )

  it.effect("ends with the sign-in, and with the token", () =>
    Effect.gen(function* () {
      const issuer = yield* makeCodeIssuer
      const { url } = yield* makeInboxStage(seats, { ...env, OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE })
      const signedIn = yield* ask(url, "POST", "/inbox/sign-in", { origin: url }, { key: "key-ana" })
      const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";")
      const page = yield* follow(url, { cookie }, "?heartbeatMs=1000")
      yield* page.nextOf("heartbeat")
      const out = yield* ask(url, "POST", "/inbox/sign-out", { cookie, origin: url })
      assert.strictEqual(out.status, 204)
      // A heartbeat may be on its way.
      assert.deepStrictEqual(
        (yield* page.rest).filter(({ event }) => event !== "heartbeat"),
        []
      )
      assert.strictEqual((yield* openSse(`${url}/inbox/stream`, { cookie })).status, 401)

      const seconds = Math.floor(Date.now() / 1_000)
      const token = issuer.token({ sub: "tom", roles: ["voter"], exp: seconds - 56 })
      const short = yield* follow(url, { authorization: `Bearer ${token}` }, "?heartbeatMs=1000")
      yield* short.rest
    }).pipe(Effect.scoped)
  )

  it.effect("ends with the service, and continues at the next one", () =>
    Effect.gen(function* () {
      const { itemsOf, openItem, propose, restart, url } = yield* makeInboxStage(seats, env)
      yield* propose("one")
      const id = yield* openItem("one")
      const reader = yield* follow(url, key("key-ana"), "?heartbeatMs=1000")
      const cursor = (yield* reader.nextOf("heartbeat"))?.id ?? ""
      const ended = yield* Effect.forkChild(
        Effect.repeat(reader.nextText, { until: (text) => text === undefined || text.startsWith("retry: ") })
      )
      const second = yield* restart
      assert.match((yield* Fiber.join(ended)) ?? "", /^retry: \d+$/)
      yield* until(ask(second, "GET", `/inbox/${id}`, key("key-ana")), ({ body }) => body.basis !== undefined)
      const { body } = yield* ask(second, "GET", `/inbox/${id}`, key("key-ana"))
      const answered = yield* ask(second, "POST", `/inbox/${id}/answers`, key("key-ana"), approval(body))
      assert.strictEqual(answered.status, 200, answered.text)
      yield* until(itemsOf("one"), ([item]) => item?.state === "accepted")
      const again = yield* follow(second, { ...key("key-ana"), "last-event-id": cursor })
      const closed = yield* itemFrame(again, ({ change }) => change === "closed")
      assert.strictEqual(closed?.data.item.id, id)
    }).pipe(Effect.scoped)
  )

  it.effect("is opened by assigned roles alone, and not without bound", () =>
    Effect.gen(function* () {
      const { url } = yield* makeInboxStage(seats, {
        ...keysEnv({ ...keys, "key-ingest": ["sender", "ingest"] })
      })
      assert.strictEqual((yield* openSse(`${url}/inbox/stream`)).status, 401)
      assert.strictEqual((yield* openSse(`${url}/inbox/stream`, { "x-api-key": "key-ingest" })).status, 403)
      assert.strictEqual((yield* ask(url, "GET", "/inbox/stream?heartbeatMs=1", key("key-ana"))).status, 400)
      for (let at = 0; at < STREAMS_A_PERSON; at += 1) yield* follow(url, key("key-ana"))
      const refused = yield* ask(url, "GET", "/inbox/stream", key("key-ana"))
      assert.strictEqual(refused.status, 429)
      assert.strictEqual(refused.body.errorCode, "TOO_MANY_STREAMS")
      assert.strictEqual(refused.headers.get("retry-after"), "10")
      yield* follow(url, key("key-bo"))
    }).pipe(Effect.scoped)
  )
})
