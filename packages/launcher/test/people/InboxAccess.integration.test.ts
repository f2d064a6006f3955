import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { AUDIENCE, CLIENT_ID, makeCodeIssuer } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { approval, ask, type Headers, keysEnv, makeInboxStage } from "./InboxStage.ts"

const SECOND = "auditor"
const keys = {
  "key-ingest": ["sender", "ingest"],
  "key-viewer": ["eve", "viewer"],
  "key-operator": ["ops", "operator"],
  "key-admin": ["root", "admin"],
  "key-opal": ["opal", "operator"],
  "key-ana": ["ana", "voter"],
  "key-zoe": ["zoe", "voter"],
  "key-rita": ["rita", "voter"],
  "key-hana": ["hana", "voter"],
  "key-vera": ["vera", "viewer"]
} as const
const key = (name: keyof typeof keys): Headers => ({ "x-api-key": name })

const assign = ["person:ana", "person:opal", "person:rita", "person:hana", "person:vera", "group:risk"]
/** One session for each caller whose answer is stored, and one for all whose answer is not. */
const sessions = ["doors", "ana", "opal", "token", "cookie"].map((session) => ({ session, rules: { assign } }))
const seats = [...sessions, { session: "doors", seat: SECOND, rules: { assign: ["person:hana"] } }]

const PAGE = { origin: "", "sec-fetch-site": "same-origin" }

layer(NodeFileSystem.layer, { excludeTestServices: true })("the endpoints of the inbox", (it) => {
  it.effect("open for each kind of credential as its role and its assignment say", () =>
    Effect.gen(function* () {
      const issuer = yield* makeCodeIssuer
      const stage = yield* makeInboxStage(seats, {
        ...keysEnv(keys),
        OIDC_ISSUER: issuer.url,
        OIDC_AUDIENCE: AUDIENCE
      })
      const { openItem, propose, url } = stage
      for (const { session } of sessions) yield* propose(session)
      const items = new Map<string, string>()
      for (const { session } of sessions) items.set(session, yield* openItem(session))
      const idOf = (session: string) => items.get(session) ?? ""

      /** Hana has answered for the other seat of the session. */
      const second = yield* openItem("doors", SECOND)
      const secondItem = yield* ask(url, "GET", `/inbox/${second}`, key("key-hana"))
      const held = yield* ask(url, "POST", `/inbox/${second}/answers`, key("key-hana"), approval(secondItem.body))
      assert.strictEqual(held.status, 200, held.text)

      /** A cookie, by the sign-in with a key. */
      const signedIn = yield* ask(url, "POST", "/inbox/sign-in", { origin: url }, { key: "key-ana" })
      assert.strictEqual(signedIn.status, 204, signedIn.text)
      const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";")
      assert.match(cookie, /^runplane-person=[\w-]{43}$/)
      const page: Headers = { ...PAGE, origin: url, cookie }
      const nonceOf = (id: string) =>
        Effect.map(ask(url, "GET", `/inbox/${id}`, { cookie }), ({ body }) => String(body.nonce))

      const token = (claims: object) => ({ authorization: `Bearer ${issuer.token({ sub: "tom", ...claims })}` })
      const item = "doors"
      type Row = readonly [who: string, headers: Headers, expected: ReadonlyArray<number>, session?: string]
      // GET /inbox, GET /inbox?scope=all, GET /inbox/{id}, POST answers, POST return
      const table: ReadonlyArray<Row> = [
        ["no credential", {}, [401, 401, 401, 401, 401]],
        ["a wrong key", { "x-api-key": "no" }, [401, 401, 401, 401, 401]],
        ["ingest", key("key-ingest"), [403, 403, 403, 403, 403]],
        ["viewer", key("key-viewer"), [200, 200, 200, 403, 403]],
        ["viewer, assigned", key("key-vera"), [200, 200, 200, 403, 403]],
        ["operator", key("key-operator"), [200, 200, 200, 403, 403]],
        ["admin", key("key-admin"), [200, 200, 200, 403, 403]],
        ["voter", key("key-zoe"), [200, 403, 404, 403, 403]],
        ["the requester", key("key-rita"), [200, 403, 200, 403, 200]],
        ["a person on another seat", key("key-hana"), [200, 403, 200, 403, 200]],
        [
          "an agent's token",
          token({ roles: ["operator", "voter"], groups: ["risk"], macp_scopes: {} }),
          [200, 200, 200, 403, 403]
        ],
        ["a token without a role", token({ groups: ["risk"] }), [403, 403, 403, 403, 403]],
        ["a token for another audience", token({ aud: CLIENT_ID, roles: ["voter"] }), [401, 401, 401, 401, 401]],
        ["a token of another group", token({ roles: ["voter"], groups: ["legal"] }), [200, 403, 404, 403, 403]],
        ["an assistant of ana", { ...key("key-ana"), "x-runplane-via": "mcp test/1" }, [200, 403, 200, 403, 403]],
        ["a cookie without Origin", { cookie, "x-page-nonce": yield* nonceOf(idOf(item)) }, [200, 403, 200, 403, 403]],
        ["a cookie of another site", { ...page, origin: "https://evil.example" }, [200, 403, 200, 403, 403]],
        ["a cookie without the nonce", page, [200, 403, 200, 403, 403]],
        [
          "a cookie with another item's nonce",
          { ...page, "x-page-nonce": yield* nonceOf(idOf("ana")) },
          [200, 403, 200, 403, 403]
        ],
        [
          "a cookie with the nonce in other letters",
          { ...page, "x-page-nonce": (yield* nonceOf(idOf(item))).toUpperCase() },
          [200, 403, 200, 403, 403]
        ],
        ["voter, assigned", key("key-ana"), [200, 403, 200, 200, 410], "ana"],
        ["operator, assigned", key("key-opal"), [200, 200, 200, 200, 410], "opal"],
        ["a token of the group", token({ roles: ["voter"], groups: ["risk"] }), [200, 403, 200, 200, 410], "token"],
        [
          "a cookie with the nonce",
          { ...page, "x-page-nonce": yield* nonceOf(idOf("cookie")) },
          [200, 403, 200, 200, 410],
          "cookie"
        ]
      ]
      const shown = yield* ask(url, "GET", `/inbox/${idOf(item)}`, key("key-ana"))
      const found: Array<readonly [string, ReadonlyArray<number>]> = []
      for (const [who, headers, , session = item] of table) {
        const id = idOf(session)
        const { body } = session === item ? shown : yield* ask(url, "GET", `/inbox/${id}`, key("key-ana"))
        const statuses: Array<number> = []
        for (const [method, path, sent] of [
          ["GET", "/inbox", undefined],
          ["GET", "/inbox?scope=all", undefined],
          ["GET", `/inbox/${id}`, undefined],
          ["POST", `/inbox/${id}/answers`, approval(body)],
          ["POST", `/inbox/${id}/return`, { reason: "I am on leave" }]
        ] as const) {
          statuses.push((yield* ask(url, method, path, headers, sent)).status)
        }
        found.push([who, statuses])
      }
      assert.deepStrictEqual(
        found,
        table.map(([who, , expected]) => [who, expected])
      )
      const [stored] = yield* stage.itemsOf("doors")
      assert.strictEqual(stored?.state, "open", "no refused answer was stored")
    }).pipe(Effect.scoped)
  )
})
