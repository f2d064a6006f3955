import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { AUDIENCE, makeCodeIssuer, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { approval, ask, type Headers, keysEnv, makeInboxStage } from "../InboxStage.ts"
import { SEAT } from "../SeatNames.ts"

const SECOND = "auditor"
const keys = {
  "key-ingest": ["sender", "ingest"],
  "key-viewer": ["eve", "viewer"],
  "key-operator": ["ops", "operator"],
  "key-admin": ["root", "admin"],
  "key-ana": ["ana", "voter"],
  "key-ben": ["ben", "voter"],
  "key-cem": ["cem", "voter"],
  "key-rita": ["rita", "voter"],
  "key-hana": ["hana", "voter"]
} as const
const key = (name: keyof typeof keys): Headers => ({ "x-api-key": name })
const PATH = "/people/me/delegations"
const UNKNOWN = "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11"

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const body = (more: object = {}) => ({ to: "person:ben", until: inHours(24), reason: "on leave", ...more })

layer(NodeFileSystem.layer, { excludeTestServices: true })("the doors of delegations", (it) => {
  it.effect("have one answer for each credential", () =>
    Effect.gen(function* () {
      const issuer = yield* makeCodeIssuer
      const { url } = yield* makeInboxStage([], {
        ...keysEnv(keys),
        OIDC_ISSUER: issuer.url,
        OIDC_AUDIENCE: AUDIENCE
      })
      const signedIn = yield* ask(url, "POST", "/inbox/sign-in", { origin: url }, { key: "key-cem" })
      const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";")
      const page: Headers = { origin: url, cookie }
      const nonce = String((yield* ask(url, "GET", PATH, { cookie })).body.nonce)
      const token = (claims: object) => ({ authorization: `Bearer ${issuer.token({ sub: "tom", ...claims })}` })
      // GET, POST, DELETE of an unknown one
      const table: ReadonlyArray<readonly [who: string, headers: Headers, expected: ReadonlyArray<number>]> = [
        ["no credential", {}, [401, 401, 401]],
        ["a wrong key", { "x-api-key": "no" }, [401, 401, 401]],
        ["ingest", key("key-ingest"), [403, 403, 403]],
        ["viewer", key("key-viewer"), [403, 403, 403]],
        ["voter", key("key-ana"), [200, 201, 404]],
        ["operator", key("key-operator"), [200, 201, 404]],
        ["admin", key("key-admin"), [200, 201, 404]],
        ["a token of a voter", token({ roles: ["voter"] }), [200, 201, 404]],
        ["an agent's token", token({ roles: ["operator", "voter"], macp_scopes: {} }), [403, 403, 403]],
        ["a token without a role", token({}), [403, 403, 403]],
        ["a token of a viewer", token({ roles: ["viewer"] }), [403, 403, 403]],
        ["an assistant of ana", { ...key("key-ana"), "x-runplane-via": "mcp test/1" }, [403, 403, 403]],
        ["a cookie without Origin", { cookie, "x-page-nonce": nonce }, [200, 403, 403]],
        [
          "a cookie of another site",
          { ...page, origin: "https://evil.example", "x-page-nonce": nonce },
          [200, 403, 403]
        ],
        ["a cookie without the nonce", page, [200, 403, 403]],
        ["a cookie with the nonce", { ...page, "x-page-nonce": nonce }, [200, 201, 404]]
      ]
      const found: Array<readonly [string, ReadonlyArray<number>]> = []
      for (const [who, headers] of table) {
        const statuses: Array<number> = []
        for (const [method, path, sent] of [
          ["GET", PATH, undefined],
          ["POST", PATH, body()],
          ["DELETE", `${PATH}/${UNKNOWN}`, undefined]
        ] as const) {
          statuses.push((yield* ask(url, method, path, headers, sent)).status)
        }
        found.push([who, statuses])
      }
      assert.deepStrictEqual(
        found,
        table.map(([who, , expected]) => [who, expected])
      )
    }).pipe(Effect.scoped)
  )

  it.effect("refuse with the name of the field, and what to write", () =>
    Effect.gen(function* () {
      const { url } = yield* makeInboxStage([], keysEnv(keys))
      const post = (more: object) => ask(url, "POST", PATH, key("key-ana"), body(more))
      const october = "2026-10-25T02:30[Europe/Berlin]"
      const rows: ReadonlyArray<readonly [more: object, field: string, text: string]> = [
        [{ to: "person:ana" }, "to", "a person does not delegate to itself"],
        [{ to: "person:ANA" }, "to", "a person does not delegate to itself"],
        [{ until: inHours(-1) }, "until", "this time is over"],
        [{ until: inHours(91 * 24) }, "until", "at most 90 days"],
        [{ from: inHours(48) }, "until", "the end is not after the beginning"],
        [{ from: inHours(-2) }, "from", "this time is over"],
        [{ until: "tomorrow" }, "until", "write a time with an offset"],
        [{ until: october }, "until", "write 2026-10-25T02:30:00.000+02:00 or 2026-10-25T02:30:00.000+01:00"],
        [{ from: "2027-03-28T02:30[Europe/Berlin]" }, "from", "as its clocks go forward"],
        [{ until: "2026-12-24T18:00[Europe/Berlln]" }, "until", "no time zone has the name Europe/Berlln"]
      ]
      for (const [more, field, text] of rows) {
        const { body: refused, status } = yield* post(more)
        assert.deepStrictEqual(
          [status, refused.errorCode, refused.metadata?.field],
          [400, "VALIDATION_ERROR", field],
          JSON.stringify(refused)
        )
        assert.include(refused.message, `${field}: `)
        assert.include(refused.message, text)
      }
      for (const [more, name] of [
        [{ to: "group:risk" }, "to"],
        [{ to: "ben" }, "to"],
        [{ reason: " " }, "reason"],
        [{ scenarios: [] }, "scenarios"],
        [{ scenarios: ["all"] }, "scenarios"],
        [{ until: undefined }, "until"],
        [{ forever: true }, "forever"]
      ] as const) {
        const { status, text } = yield* post(more)
        assert.strictEqual(status, 400, text)
        assert.include(text, name)
      }
      assert.deepStrictEqual((yield* ask(url, "GET", PATH, key("key-ana"))).body, { given: [], received: [] })
      const bad = yield* ask(url, "DELETE", `${PATH}/no-uuid`, key("key-ana"))
      assert.strictEqual(bad.status, 400, bad.text)
    }).pipe(Effect.scoped)
  )

  it.effect("let the delegate answer, and keep it from all others and from the persons of other seats", () =>
    Effect.gen(function* () {
      const stage = yield* makeInboxStage(
        [
          { session: "one", rules: { assign: ["person:ana"], escalate: [{ after: "1s", to: ["person:cem"] }] } },
          { session: "two", rules: { assign: ["person:ana"], reveal: "before" } },
          { session: "two", seat: SECOND, rules: { assign: ["person:hana"], reveal: "before" } }
        ],
        keysEnv(keys)
      )
      const { url } = stage
      for (const session of ["one", "two"]) yield* stage.propose(session)
      const one = yield* stage.openItem("one")
      const [first, second] = [yield* stage.openItem("two"), yield* stage.openItem("two", SECOND)]
      const show = (id: string, who: Headers) => ask(url, "GET", `/inbox/${id}`, who)
      const ready = (id: string, who: Headers) =>
        until(show(id, who), ({ body: item }) => (item.acts?.length ?? 0) > 0 && item.basis !== undefined)
      const answer = (id: string, who: Headers, item: Parameters<typeof approval>[0]) =>
        ask(url, "POST", `/inbox/${id}/answers`, who, approval(item))

      // Of ana to ben for one scenario of this pack, and of ben to cem: cem gets nothing of ana.
      const made = yield* ask(url, "POST", PATH, key("key-ana"), body({ scenarios: ["demo/people"] }))
      assert.strictEqual(made.status, 201, made.text)
      assert.deepInclude(made.body, { by: "ana", to: "ben", state: "active", scenarios: ["demo/people"] })
      yield* ask(url, "POST", PATH, key("key-ben"), body({ to: "person:rita" }))
      yield* ask(url, "POST", PATH, key("key-ana"), body({ to: "person:hana" }))
      const lists = (yield* ask(url, "GET", PATH, key("key-ben"))).body
      assert.deepStrictEqual(
        [lists.given, lists.received].map((all: ReadonlyArray<{ by: string; to: string }>) =>
          all.map(({ by, to }) => [by, to])
        ),
        [[["ben", "rita"]], [["ana", "ben"]]]
      )

      const { body: forBen } = yield* ready(one, key("key-ben"))
      assert.deepInclude(forBen, { onBehalfOf: "ana", mayAnswer: true })
      assert.strictEqual(
        (yield* show(one, key("key-rita"))).status,
        404,
        "no delegate of a delegate, who is the requester"
      )
      const passed = yield* ask(url, "POST", `/inbox/${one}/return`, key("key-ben"), { to: "person:cem", reason: "x" })
      assert.strictEqual(passed.status, 403, passed.text)
      assert.include(passed.body.message, "you answer for ana, by a delegation")

      // The step adds cem, and the item says when.
      const { body: escalated } = yield* until(
        show(one, key("key-ana")),
        ({ body: item }) => item.escalations?.length === 1
      )
      assert.deepInclude(escalated.escalations[0], { step: 1, to: ["person:cem"], cause: "time", reach: "persons" })
      assert.deepStrictEqual(
        escalated.assigned.map(({ step, to }: { step?: number; to: string }) => [to, step]),
        [
          ["person:ana", undefined],
          ["person:cem", 1]
        ]
      )
      assert.deepStrictEqual(escalated.returns, [])
      assert.sameDeepMembers(
        escalated.delegations.map(({ by, to }: { by: string; to: string }) => [by, to]),
        [
          ["ana", "ben"],
          ["ana", "hana"]
        ]
      )
      assert.strictEqual((yield* ready(one, key("key-cem"))).body.mayAnswer, true)
      const answered = yield* answer(one, key("key-ben"), forBen)
      assert.strictEqual(answered.status, 200, answered.text)
      assert.deepInclude(answered.body.given, { by: "ben", onBehalfOf: "ana" })
      const late = yield* answer(one, key("key-cem"), escalated)
      assert.deepStrictEqual([late.status, late.body.errorCode], [409, "ITEM_ANSWERED"])

      // Hana answers her seat. From then on she holds no other one, by a delegation either.
      const { body: own } = yield* ready(second, key("key-hana"))
      assert.strictEqual((yield* answer(second, key("key-hana"), own)).status, 200)
      const { body: other } = yield* ready(first, key("key-ben"))
      const held = yield* answer(first, key("key-hana"), other)
      assert.strictEqual(held.status, 403, held.text)
      assert.include(held.body.message, "the person of another seat of this session")
      const { body: shownToHana } = yield* show(first, key("key-hana"))
      assert.deepInclude(shownToHana, { mayAnswer: false, onBehalfOf: "ana" })
      assert.include(
        shownToHana.delegations.find(({ to }: { to: string }) => to === "hana").mayNotBecause,
        "the person of another seat"
      )

      // A revoked delegation gives no right, and cannot be revoked by its delegate or twice.
      const foreign = yield* ask(url, "DELETE", `${PATH}/${made.body.id}`, key("key-ben"))
      assert.deepStrictEqual([foreign.status, foreign.body.errorCode], [404, "DELEGATION_NOT_FOUND"])
      const revoked = yield* ask(url, "DELETE", `${PATH}/${made.body.id}`, key("key-ana"))
      assert.deepStrictEqual([revoked.status, revoked.body.state], [200, "revoked"])
      const twice = yield* ask(url, "DELETE", `${PATH}/${made.body.id}`, key("key-ana"))
      assert.deepStrictEqual([twice.status, twice.body.errorCode], [409, "CONFLICT"])
      const without = yield* answer(first, key("key-ben"), other)
      assert.strictEqual(without.status, 403, without.text)
      assert.strictEqual((yield* show(first, key("key-ben"))).status, 404)

      const audit = (yield* ask(url, "GET", "/people/audit?actor=ana&limit=200", key("key-admin"))).body.data
      assert.deepStrictEqual(
        audit
          .map(({ action, detail }: { action: string; detail: { to?: string } }) => `${action} ${detail.to}`)
          .filter((line: string) => line.startsWith("delegation."))
          .toReversed(),
        ["delegation.created ben", "delegation.created hana", "delegation.revoked ben"]
      )
      assert.notInclude(JSON.stringify(audit), "on leave")
      const { body: kept } = yield* show(first, key("key-ana"))
      assert.strictEqual(kept.state, "open", "no refused answer was stored")
      assert.strictEqual(SEAT, kept.seat)
    }).pipe(Effect.scoped)
  )

  it.effect("have one person without a sign-in, who delegates to no other", () =>
    Effect.gen(function* () {
      const { url } = yield* makeInboxStage([], {})
      const refused = yield* ask(url, "POST", PATH, {}, body())
      assert.strictEqual(refused.status, 403, refused.text)
      assert.include(refused.body.message, "who cannot delegate")
    }).pipe(Effect.scoped)
  )
})
