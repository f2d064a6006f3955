import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { PasskeyRecord } from "@runplane/domain"
import { type Misuse, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approval, ask } from "../InboxStage.ts"
import { FROM, smtpServer } from "../notices/NoticeStage.ts"
import { authenticator, makePasskeyStage, PAGE } from "./PasskeyStage.ts"

const rules = { assign: ["group:risk"], proof: "passkey" } as const
const decodeRecord = Schema.decodeUnknownSync(Schema.fromJsonString(PasskeyRecord))

const refusal = { status: 403, code: "PASSKEY_REFUSED" }
const shownOf = ({ body, status }: { readonly status: number; readonly body: { readonly errorCode?: string } }) => ({
  status,
  code: body.errorCode
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("a passkey", (it) => {
  it.effect("is enrolled after a fresh sign-in, listed, noted in the audit, and deleted", () =>
    Effect.gen(function* () {
      const stage = yield* makePasskeyStage([])
      const { enrol, passkeys, rows, signIn, url, withNonce } = stage
      const old = yield* signIn("tom", 600)
      assert.deepInclude((yield* passkeys(old)).body, { data: [], enrolment: "sign-in" })
      const early = yield* ask(url, "POST", "/people/me/passkeys/challenges", yield* withNonce(old))
      assert.deepStrictEqual(shownOf(early), { status: 403, code: "SIGN_IN_NOT_FRESH" })
      const tom = yield* signIn("tom")
      assert.deepInclude((yield* passkeys(tom)).body, { data: [], enrolment: "ready" })
      const noNonce = yield* ask(url, "POST", "/people/me/passkeys/challenges", tom)
      assert.strictEqual(noNonce.status, 403, "the page of another site does not know the nonce")
      const phone = authenticator()
      const { answer, enrolment } = yield* enrol(tom, phone)
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepInclude(answer.body, { name: "Phone", rpId: "inbox.example" })
      // The same challenge enrols nothing again, and no passkey twice.
      const again = yield* ask(url, "POST", "/people/me/passkeys", yield* withNonce(tom), enrolment)
      assert.deepStrictEqual(shownOf(again), refusal)
      assert.deepStrictEqual(shownOf((yield* enrol(tom, phone)).answer), refusal)
      const [one] = (yield* passkeys(tom)).body.data
      assert.deepStrictEqual(one, answer.body)

      const other = yield* signIn("bea")
      assert.deepStrictEqual((yield* passkeys(other)).body.data, [], "of another person")
      const foreign = yield* ask(url, "DELETE", `/people/me/passkeys/${one.id}`, yield* withNonce(other))
      assert.strictEqual(foreign.status, 404)
      const removed = yield* ask(url, "DELETE", `/people/me/passkeys/${one.id}`, yield* withNonce(tom))
      assert.strictEqual(removed.status, 204)
      assert.deepStrictEqual((yield* passkeys(tom)).body.data, [])
      const sql = Context.get(rows, PgClient.PgClient)
      const audit = yield* sql<{ readonly actor: string; readonly action: string }>`
        SELECT actor, action FROM people.audit WHERE action LIKE 'passkey.%' ORDER BY id`
      assert.deepStrictEqual(
        audit.map(({ action, actor }) => `${actor} ${action}`),
        ["tom passkey.enrolled", "tom passkey.refused", "tom passkey.refused", "tom passkey.deleted"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("is announced by mail to the person in whose name it was enrolled, once", () =>
    Effect.gen(function* () {
      const { received, url } = yield* smtpServer()
      const directory = "people: { tom: { email: tom@example.org } }"
      const stage = yield* makePasskeyStage([], { LAUNCHER_SMTP_URL: url, LAUNCHER_SMTP_FROM: FROM }, directory)
      const { enrol, signIn, sql } = stage
      const isRefused = (yield* enrol(yield* signIn("tom"), authenticator(), { isUnverified: true })).answer.status
      assert.strictEqual(isRefused, 403)
      assert.strictEqual((yield* enrol(yield* signIn("tom"), authenticator())).answer.status, 201)
      // Bea has no address: the audit has the notice that was not sent.
      assert.strictEqual((yield* enrol(yield* signIn("bea"), authenticator())).answer.status, 201)
      const states = sql<{ readonly person: string; readonly state: string }>`
        SELECT person, state FROM people.notices ORDER BY person`
      const ended = yield* until(states, (rows) => rows.length === 2 && rows.every(({ state }) => state !== "pending"))
      assert.deepStrictEqual(
        ended.map(({ person, state }) => `${person} ${state}`),
        ["bea failed", "tom sent"]
      )
      const [mail] = received
      assert.deepInclude(mail, { to: "tom@example.org", subject: "A passkey was enrolled in your name" })
      assert.match(mail?.text ?? "", /Name: Phone\r\nTime: \d{4}-\d\d-\d\d \d\d:\d\d UTC\r\nHost: inbox\.example\r\n/)
      assert.include(mail?.text, `${PAGE}/inbox`)
      assert.lengthOf(received, 1)
    }).pipe(Effect.scoped)
  )

  it.effect.each<readonly [string, Misuse]>([
    ["at another origin", { origin: "https://evil.example" }],
    ["for another host", { host: "evil.example" }],
    ["without a verified person", { isUnverified: true }],
    ["as an assertion", { type: "webauthn.get" }]
  ])("is not enrolled when it was made %s", ([, misuse]) =>
    Effect.gen(function* () {
      const { enrol, passkeys, signIn } = yield* makePasskeyStage([])
      const tom = yield* signIn("tom")
      const { answer } = yield* enrol(tom, authenticator(), misuse)
      assert.deepStrictEqual(shownOf(answer), refusal, answer.text)
      assert.deepStrictEqual((yield* passkeys(tom)).body.data, [])
    }).pipe(Effect.scoped)
  )

  it.effect("of RS256 signs an answer too, as that of a computer without another algorithm", () =>
    Effect.gen(function* () {
      const stage = yield* makePasskeyStage([{ session: "one", rules }])
      const { challenge, enrol, item, openItem, propose, send, signIn, signed, sql } = stage
      const tom = yield* signIn("tom")
      const computer = authenticator("RS256")
      const { answer: enrolled } = yield* enrol(tom, computer)
      assert.strictEqual(enrolled.status, 201, enrolled.text)
      yield* propose("one")
      const shown = yield* item(tom, yield* openItem("one"))
      const { body: given } = yield* challenge(tom, shown)
      const stored = yield* send(tom, shown, signed(shown, given.nonce, computer))
      assert.strictEqual(stored.status, 200, stored.text)
      const [row] = yield* sql<{ readonly passkey: string }>`SELECT passkey::text AS passkey FROM people.answers`
      assert.strictEqual(decodeRecord(row?.passkey ?? "").publicKey, computer.publicKey)
    }).pipe(Effect.scoped)
  )

  it.effect("signs an answer, with its record in the row, and its counter goes on", () =>
    Effect.gen(function* () {
      const stage = yield* makePasskeyStage([
        { session: "one", rules },
        { session: "two", rules }
      ])
      const { challenge, enrol, item, openItem, passkeys, propose, rows, send, signIn, signed } = stage
      const tom = yield* signIn("tom")
      const phone = authenticator()
      yield* enrol(tom, phone)
      yield* propose("one")
      const shown = yield* item(tom, yield* openItem("one"))
      assert.deepStrictEqual(shown.proof, { needed: "passkey", given: "fresh" })
      const unsigned = yield* send(tom, shown, approval(shown))
      assert.deepStrictEqual(shownOf(unsigned), refusal)
      const { body: given } = yield* challenge(tom, shown)
      assert.deepInclude(given, { rpId: "inbox.example", passkeys: [phone.id] })
      const answer = signed(shown, given.nonce, phone)
      const stored = yield* send(tom, shown, answer)
      assert.strictEqual(stored.status, 200, stored.text)
      const again = yield* send(tom, shown, answer)
      assert.deepStrictEqual([again.status, again.body.given], [200, stored.body.given], "the same answer again")
      const sql = Context.get(rows, PgClient.PgClient)
      const [row] = yield* sql<{ readonly proof: string; readonly passkey: string }>`
        SELECT proof, passkey::text AS passkey FROM people.answers WHERE item = ${shown.id}::uuid`
      const { passkey = "", proof } = row ?? {}
      assert.strictEqual(proof, "passkey")
      assert.deepInclude(decodeRecord(passkey), { rpId: "inbox.example", publicKey: phone.publicKey })
      const [used] = (yield* passkeys(tom)).body.data
      assert.isString(used.usedAt)

      // Of the next question: a counter that goes backwards is that of a copy.
      yield* propose("two")
      const next = yield* item(tom, yield* openItem("two"))
      const { body: second } = yield* challenge(tom, next)
      const copied = yield* send(tom, next, signed(next, second.nonce, phone, { counter: 1 }))
      assert.deepStrictEqual(shownOf(copied), refusal)
      assert.include(copied.text, "its counter went backwards")
      const right = yield* send(tom, next, signed(next, second.nonce, phone, { counter: 9 }))
      assert.strictEqual(right.status, 200, right.text)
    }).pipe(Effect.scoped)
  )

  it.effect("proves nothing for another person, question, challenge or key", () =>
    Effect.gen(function* () {
      const stage = yield* makePasskeyStage([
        { session: "one", rules },
        { session: "two", rules }
      ])
      const { challenge, enrol, item, itemsOf, openItem, passkeys, propose, send, signIn, signed, url, withNonce } =
        stage
      const tom = yield* signIn("tom")
      const bea = yield* signIn("bea")
      const [phone, desk, key, late] = [authenticator(), authenticator(), authenticator(), authenticator()]
      yield* enrol(tom, phone)
      yield* enrol(tom, key)
      yield* enrol(bea, desk)
      yield* propose("one")
      yield* propose("two")
      const one = yield* item(tom, yield* openItem("one"))
      const two = yield* item(tom, yield* openItem("two"))
      yield* enrol(tom, late)
      const { body: given } = yield* challenge(tom, one)
      assert.sameMembers(given.passkeys, [phone.id, key.id], "no key of bea, and none that was enrolled later")
      const { body: ofTwo } = yield* challenge(tom, two)
      const ofBea = yield* item(bea, one.id)
      const { body: givenBea } = yield* challenge(bea, ofBea)
      const [, removed] = (yield* passkeys(tom)).body.data
      yield* ask(url, "DELETE", `/people/me/passkeys/${removed.id}`, yield* withNonce(tom))

      const attempts: ReadonlyArray<readonly [string, object, RegExp]> = [
        ["the passkey of another person", signed(one, given.nonce, desk), /not one of yours/],
        ["a key that was enrolled after the question opened", signed(one, given.nonce, late), /not one of yours/],
        ["a key that was deleted", signed(one, given.nonce, key), /not one of yours/],
        ["the challenge of another question", signed(one, ofTwo.nonce, phone), /not one of this question/],
        ["the challenge of another person", signed(one, givenBea.nonce, phone), /not one of this question/],
        ["a challenge that no service made", signed(one, "ab".repeat(32), phone), /not one of this question/],
        ["no verified person", signed(one, given.nonce, phone, { isUnverified: true }), /verified no person/],
        ["another origin", signed(one, given.nonce, phone, { origin: "https://evil.example" }), /another origin/],
        ["another page of the host", signed(one, given.nonce, phone, { origin: `${PAGE}:444` }), /origin/],
        ["another host", signed(one, given.nonce, phone, { host: "evil.example" }), /another host/],
        ["an enrolment", signed(one, given.nonce, phone, { type: "webauthn.create" }), /not one of an assertion/],
        ["another reason", { ...signed(one, given.nonce, phone), reason: "other" }, /signed another answer/],
        ["another act", { ...signed(one, given.nonce, phone), act: "reject" }, /signed another answer/],
        ["the answer to another question", { ...signed(two, given.nonce, phone), ...approval(one) }, /signed another/]
      ]
      for (const [name, body, why] of attempts) {
        const answer = yield* send(tom, one, body)
        assert.deepStrictEqual(shownOf(answer), refusal, `${name}: ${answer.text}`)
        assert.match(answer.text, why, name)
      }
      assert.isUndefined((yield* itemsOf("one"))[0]?.given)
      const right = signed(one, given.nonce, phone)
      assert.strictEqual((yield* send(tom, one, right)).status, 200)

      // The spent challenge signs no other question.
      const replayed = yield* send(tom, two, signed(two, given.nonce, phone))
      assert.match(replayed.text, /not one of this question, was used already/)
      const without = yield* challenge(yield* signIn("eve"), yield* item(yield* signIn("eve"), two.id))
      assert.strictEqual(without.status, 403)
    }).pipe(Effect.scoped)
  )

  it.effect("is missing for a person who has enrolled none before the question", () =>
    Effect.gen(function* () {
      const { challenge, enrol, item, openItem, propose, send, signIn, signed } = yield* makePasskeyStage([
        { session: "one", rules }
      ])
      const tom = yield* signIn("tom")
      yield* propose("one")
      const shown = yield* item(tom, yield* openItem("one"))
      const phone = authenticator()
      yield* enrol(tom, phone)
      assert.deepStrictEqual(shownOf(yield* challenge(tom, shown)), { status: 403, code: "PASSKEY_MISSING" })
      const sent = yield* send(tom, shown, signed(shown, "ab".repeat(32), phone))
      assert.deepStrictEqual(shownOf(sent), { status: 403, code: "PASSKEY_MISSING" })
    }).pipe(Effect.scoped)
  )
})
