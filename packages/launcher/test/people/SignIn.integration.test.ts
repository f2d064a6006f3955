import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { AUDIENCE, CLIENT_ID, makeCodeIssuer } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { approval, ask, keysEnv, makeInboxStage } from "./InboxStage.ts"

const keys = { "key-ana": ["ana", "voter"], "key-bo": ["bo", "voter"], "key-in": ["sender", "ingest"] } as const

/** A browser that keeps cookies, and follows no redirect by itself. */
const makeBrowser = () => {
  const jar = new Map<string, string>()
  const open = (address: string) =>
    Effect.promise(async () => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
      const answer = await fetch(address, { redirect: "manual", headers: { accept: "text/html", cookie } })
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ""] = set.split(";")
        const at = pair.indexOf("=")
        if (set.includes("Max-Age=0")) jar.delete(pair.slice(0, at))
        else jar.set(pair.slice(0, at), pair.slice(at + 1))
      }
      const location = answer.headers.get("location")
      return {
        status: answer.status,
        to: location === null ? "" : new URL(location, address).href,
        text: await answer.text()
      }
    })
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
  return { open, cookie, jar }
}

const withIssuer = Effect.gen(function* () {
  const issuer = yield* makeCodeIssuer
  issuer.state.person = { sub: "tom", preferred_username: "Tom", roles: ["voter"], groups: ["risk"] }
  const rules = { assign: ["group:risk"] }
  const stage = yield* makeInboxStage(
    [
      { session: "one", rules },
      { session: "fresh", rules: { ...rules, proof: "fresh" } }
    ],
    { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: AUDIENCE, OIDC_CLIENT_ID: CLIENT_ID }
  )
  return { issuer, ...stage }
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("the sign-in at an issuer", (it) => {
  it.effect("knows the person by its cookie, with the groups of its token, until it signs out", () =>
    Effect.gen(function* () {
      const { openItem, propose, url } = yield* withIssuer
      yield* propose("one")
      const id = yield* openItem("one")
      const browser = makeBrowser()
      const begun = yield* browser.open(`${url}/inbox/sign-in?to=/inbox/${id}`)
      assert.strictEqual(begun.status, 303)
      const asked = new URL(begun.to).searchParams
      assert.strictEqual(asked.get("redirect_uri"), `${url}/inbox/callback`)
      assert.strictEqual(asked.get("code_challenge_method"), "S256")
      const led = yield* browser.open(begun.to)
      const back = yield* browser.open(led.to)
      assert.deepStrictEqual([back.status, back.to], [303, `${url}/inbox/${id}`], back.text)
      assert.deepStrictEqual([...browser.jar.keys()], ["runplane-person"])

      // The same answer of the issuer signs no other browser in, and not this one twice.
      assert.strictEqual((yield* makeBrowser().open(led.to)).status, 400)
      assert.strictEqual((yield* browser.open(led.to)).status, 400)

      const headers = { cookie: browser.cookie(), origin: url }
      const me = yield* ask(url, "GET", "/me", headers)
      const tom = { id: "user:tom", name: "user:Tom", type: "user", role: "voter", isVoter: true }
      assert.deepStrictEqual(me.body, tom)
      assert.strictEqual((yield* ask(url, "GET", "/packs", headers)).status, 401, "the cookie opens the inbox alone")
      const item = yield* ask(url, "GET", `/inbox/${id}`, headers)
      assert.deepInclude(item.body, { mayAnswer: true, proof: { needed: "session", given: "fresh" } })
      const nonce = { ...headers, "x-page-nonce": item.body.nonce }
      const answered = yield* ask(url, "POST", `/inbox/${id}/answers`, nonce, approval(item.body))
      assert.strictEqual(answered.status, 200, answered.text)
      assert.deepInclude(answered.body.given, { by: "tom" })

      assert.strictEqual((yield* ask(url, "POST", "/inbox/sign-out", { cookie: browser.cookie() })).status, 403)
      assert.strictEqual((yield* ask(url, "POST", "/inbox/sign-out", headers)).status, 204)
      assert.strictEqual((yield* ask(url, "GET", `/inbox/${id}`, headers)).status, 401)
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a changed state, a stranger's token, an agent, and a person without a role", () =>
    Effect.gen(function* () {
      const { issuer, url } = yield* withIssuer
      const { person } = issuer.state
      const signIn = Effect.fnUntraced(function* (change: (callback: string) => string = (callback) => callback) {
        const browser = makeBrowser()
        const begun = yield* browser.open(`${url}/inbox/sign-in?to=https://evil.example`)
        const led = yield* browser.open(begun.to)
        const { status, text, to } = yield* browser.open(change(led.to))
        return { status, text, to, has: browser.jar.has("runplane-person") }
      })
      assert.deepInclude(yield* signIn(), { status: 303, to: `${url}/inbox`, has: true })
      const changed = yield* signIn((callback) => callback.replace(/state=[^&]*/, "state=other"))
      assert.deepInclude(changed, { status: 400, has: false }, changed.text)
      for (const claims of [{ nonce: "other" }, { aud: "another-client" }, { iss: "http://127.0.0.1:1" }, { exp: 1 }]) {
        issuer.state.spoil = (all) => ({ ...all, ...claims })
        const spoilt = yield* signIn()
        assert.deepInclude(spoilt, { status: 400, has: false }, JSON.stringify([claims, spoilt]))
      }
      issuer.state.spoil = (all) => all
      issuer.state.person = { ...person, roles: ["ingest"] }
      assert.deepInclude(yield* signIn(), { status: 403, has: false })
      issuer.state.person = { ...person, macp_scopes: {} }
      assert.deepInclude(yield* signIn(), { status: 403, has: false })
    }).pipe(Effect.scoped)
  )

  it.effect("proves a fresh sign-in by its time at the issuer", () =>
    Effect.gen(function* () {
      const { issuer, openItem, propose, url } = yield* withIssuer
      yield* propose("fresh")
      const id = yield* openItem("fresh")
      const answer = Effect.fnUntraced(function* (query: string) {
        const browser = makeBrowser()
        const begun = yield* browser.open(`${url}/inbox/sign-in?to=/inbox/${id}${query}`)
        const back = yield* browser.open((yield* browser.open(begun.to)).to)
        const headers = { cookie: browser.cookie(), origin: url }
        const { body } = yield* ask(url, "GET", `/inbox/${id}`, headers)
        const nonce = { ...headers, "x-page-nonce": String(body.nonce) }
        const answered = yield* ask(url, "POST", `/inbox/${id}/answers`, nonce, approval(body))
        const maxAge = new URL(begun.to).searchParams.get("max_age")
        const shown = { status: answered.status, code: answered.body.errorCode, given: body.proof?.given }
        return { maxAge, back: back.status, ...shown }
      })
      const refused = { status: 403, code: "SIGN_IN_NOT_FRESH", given: "session" }
      const signedOut = { maxAge: "300", back: 400, status: 401, code: undefined, given: undefined }
      issuer.state.age = 3_600
      assert.deepStrictEqual(yield* answer(""), { maxAge: null, back: 303, ...refused })
      // The issuer did not sign the person in anew: its answer is refused.
      assert.deepStrictEqual(yield* answer("&fresh=true"), signedOut)
      issuer.state.age = 5
      issuer.state.spoil = ({ auth_time: _, ...claims }) => claims
      assert.deepStrictEqual(yield* answer(""), { maxAge: null, back: 303, ...refused }, "the token has no time")
      assert.deepStrictEqual(yield* answer("&fresh=true"), signedOut)
      issuer.state.spoil = (claims) => claims
      const program = {
        authorization: `Bearer ${issuer.token({ ...issuer.state.person, auth_time: Date.now() / 1_000 })}`
      }
      const { body } = yield* ask(url, "GET", `/inbox/${id}`, program)
      assert.deepStrictEqual(body.proof, { needed: "fresh", given: "session" })
      const sent = yield* ask(url, "POST", `/inbox/${id}/answers`, program, approval(body))
      assert.deepInclude(sent.body, { errorCode: "SIGN_IN_NOT_FRESH" }, "a token that a program keeps")
      assert.deepStrictEqual(yield* answer("&fresh=true"), {
        maxAge: "300",
        back: 303,
        status: 200,
        code: undefined,
        given: "fresh"
      })
    }).pipe(Effect.scoped)
  )

  it.effect("is fresh by the clock of the database, until the answer is stored", () =>
    Effect.gen(function* () {
      const { issuer, openItem, propose, rows, url } = yield* withIssuer
      yield* propose("fresh")
      const id = yield* openItem("fresh")
      const browser = makeBrowser()
      issuer.state.age = 5
      const begun = yield* browser.open(`${url}/inbox/sign-in?to=/inbox/${id}&fresh=true`)
      yield* browser.open((yield* browser.open(begun.to)).to)
      const headers = { cookie: browser.cookie(), origin: url }
      const { body } = yield* ask(url, "GET", `/inbox/${id}`, headers)
      assert.deepStrictEqual(body.proof, { needed: "fresh", given: "fresh" })
      const sql = Context.get(rows, PgClient.PgClient)
      const age = (seconds: number) => sql`UPDATE people.sign_ins SET auth_time = now() - ${seconds} * interval '1 s'`
      const answer = ask(
        url,
        "POST",
        `/inbox/${id}/answers`,
        { ...headers, "x-page-nonce": body.nonce },
        approval(body)
      )
      yield* age(301)
      assert.deepInclude((yield* answer).body, { statusCode: 403, errorCode: "SIGN_IN_NOT_FRESH" })
      yield* age(200)
      assert.deepInclude(yield* answer, { status: 200 })
      yield* age(3_600)
      assert.deepInclude(yield* answer, { status: 200 }, "the same answer is answered with the first, whatever its age")
      const [stored] = yield* sql`SELECT proof FROM people.answers WHERE item = ${id}::uuid`
      assert.deepStrictEqual(stored, { proof: "fresh" })
    }).pipe(Effect.scoped)
  )

  it.effect("answers 503 while the issuer is away", () =>
    Effect.gen(function* () {
      const stage = yield* makeInboxStage([], {
        OIDC_ISSUER: "http://127.0.0.1:9",
        OIDC_AUDIENCE: AUDIENCE,
        OIDC_CLIENT_ID: CLIENT_ID
      })
      assert.strictEqual((yield* makeBrowser().open(`${stage.url}/inbox/sign-in`)).status, 503)
    }).pipe(Effect.scoped)
  )
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("the sign-in with a key", (it) => {
  it.effect("ends with a wrong key, a key that sends telemetry, and a request of another site", () =>
    Effect.gen(function* () {
      const { url } = yield* makeInboxStage([], { ...keysEnv(keys), AUTH_FAILURE_LIMIT: "2" })
      const page = yield* makeBrowser().open(`${url}/inbox/sign-in`)
      assert.include(page.text, 'type="password"')
      const sign = (key: string, origin = url) =>
        Effect.map(ask(url, "POST", "/inbox/sign-in", { origin }, { key }), ({ status }) => status)
      assert.strictEqual(yield* sign("key-ana", "https://evil.example"), 403)
      assert.strictEqual(yield* sign("key-in"), 403)
      assert.strictEqual(yield* sign("no"), 401)
      assert.strictEqual(yield* sign("no"), 401)
      assert.strictEqual(yield* sign("no"), 429)
      assert.strictEqual(yield* sign("key-ana"), 204)
      assert.strictEqual((yield* ask(url, "POST", "/inbox/sign-in", { origin: url }, { kee: 1 })).status, 400)
    }).pipe(Effect.scoped)
  )

  it.effect("is needed for nothing on the loopback without keys: the person is local", () =>
    Effect.gen(function* () {
      const open = yield* makeInboxStage([{ session: "one" }], {})
      yield* open.propose("one")
      const id = yield* open.openItem("one")
      assert.strictEqual(
        (yield* makeBrowser().open(`${open.url}/inbox/sign-in?to=/inbox/${id}`)).to,
        `${open.url}/inbox/${id}`
      )
      const { body } = yield* ask(open.url, "GET", `/inbox/${id}`)
      assert.deepInclude(body, { mayAnswer: true, proof: { needed: "session", given: "none" } })
      const answered = yield* ask(open.url, "POST", `/inbox/${id}/answers`, {}, approval(body))
      assert.deepInclude(answered.body.given, { by: "local" })
    }).pipe(Effect.scoped)
  )
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("an item that is read and answered over HTTP", (it) => {
  it.effect("is changed by no GET: of a scanner, a preview, or a person", () =>
    Effect.gen(function* () {
      const { itemsOf, openItem, propose, url } = yield* makeInboxStage([{ session: "one" }], keysEnv(keys))
      yield* propose("one")
      const id = yield* openItem("one")
      const seen = () =>
        Effect.map(
          ask(url, "GET", `/inbox/${id}`, { "x-api-key": "key-bo", "x-runplane-via": "mcp t/1" }),
          ({ body }) => body.seenAt
        )
      const paths = [
        "/inbox",
        `/inbox/${id}`,
        "/inbox/sign-in",
        "/inbox/callback?code=x&state=y",
        `/inbox/${id}/answers`,
        `/inbox/${id}/return`
      ]
      for (const path of paths) {
        for (const accept of ["text/html", "application/json"]) {
          yield* Effect.forEach(Array.from({ length: 50 }), () => ask(url, "GET", path, { accept }), {
            concurrency: 10
          })
        }
      }
      assert.isUndefined(yield* seen(), "no scanner has seen it")
      const [cookie = ""] = (
        (yield* ask(url, "POST", "/inbox/sign-in", { origin: url }, { key: "key-ana" })).headers.get("set-cookie") ?? ""
      ).split(";")
      for (const path of paths) {
        yield* Effect.forEach(Array.from({ length: 50 }), () => ask(url, "GET", path, { cookie }), { concurrency: 10 })
      }
      assert.isDefined(yield* seen(), "the person has seen it")
      const [item] = yield* itemsOf("one")
      assert.deepInclude(item, { state: "open", given: undefined })
    }).pipe(Effect.scoped)
  )

  it.effect("takes the first answer alone, repeated or at the same time", () =>
    Effect.gen(function* () {
      const rounds = ["r1", "r2", "r3", "r4", "r5"]
      const { itemsOf, openItem, propose, url } = yield* makeInboxStage(
        rounds.map((session) => ({ session })),
        keysEnv(keys)
      )
      for (const session of rounds) {
        yield* propose(session)
        const id = yield* openItem(session)
        const { body } = yield* ask(url, "GET", `/inbox/${id}`, { "x-api-key": "key-ana" })
        const send = (key: string, reason: string) =>
          ask(url, "POST", `/inbox/${id}/answers`, { "x-api-key": key }, approval(body, reason))
        const both = yield* Effect.all([send("key-ana", "of ana"), send("key-bo", "of bo")], { concurrency: 2 })
        const won = both.find(({ status }) => status === 200)
        const lost = both.find(({ status }) => status !== 200)
        assert.strictEqual(lost?.status, 409)
        assert.deepInclude(lost?.body, { errorCode: "ITEM_ANSWERED" })
        assert.deepStrictEqual(lost?.body.metadata, { by: won?.body.given.by, at: won?.body.given.at, act: "approve" })
        const winner = won?.body.given.by
        const again = yield* send(`key-${winner}`, `of ${winner}`)
        assert.deepStrictEqual([again.status, again.body.given], [200, won?.body.given])
        const other = yield* send(`key-${winner}`, "another reason")
        assert.strictEqual(other.status, 409)
        const items = yield* itemsOf(session)
        assert.lengthOf(items, 1)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is returned with a reason, and to a colleague who then may answer", () =>
    Effect.gen(function* () {
      const { openItem, propose, url } = yield* makeInboxStage(
        [{ session: "one", rules: { assign: ["person:ana"] } }],
        keysEnv({ ...keys, "key-rita": ["rita", "voter"] })
      )
      yield* propose("one")
      const id = yield* openItem("one")
      const give = (key: string, body: object) => ask(url, "POST", `/inbox/${id}/return`, { "x-api-key": key }, body)
      assert.strictEqual((yield* give("key-bo", { to: "person:bo", reason: "I take it" })).status, 403)
      const toRequester = yield* give("key-ana", { to: "person:rita", reason: "she knows" })
      assert.deepInclude(toRequester.body, { errorCode: "VALIDATION_ERROR", metadata: { field: "to" } })
      const returned = yield* give("key-ana", { to: "person:bo", reason: "I am on leave" })
      assert.deepStrictEqual(
        returned.body.assigned.map(({ to }: { readonly to: string }) => to),
        ["person:ana", "person:bo"]
      )
      const { body } = yield* ask(url, "GET", `/inbox/${id}`, { "x-api-key": "key-bo" })
      assert.deepInclude(body.returns[0], { by: "ana", to: "person:bo", reason: "I am on leave" })
      const answered = yield* ask(url, "POST", `/inbox/${id}/answers`, { "x-api-key": "key-bo" }, approval(body))
      assert.strictEqual(answered.status, 200, answered.text)
      assert.strictEqual((yield* give("key-ana", { reason: "too late" })).status, 410)
    }).pipe(Effect.scoped)
  )
})
