import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@effect/vitest"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { ask } from "../InboxStage.ts"
import { directory, makeLinkStage, PUBLIC } from "./LinkStage.ts"

const TIMEOUT = 120_000

const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, "0")

layer(NodeFileSystem.layer, { excludeTestServices: true })("a personal link", (it) => {
  it.effect(
    "answers once with the code of the person, and is over with the answer",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([{ session: "one" }])
        const { acts, answerOf, codeOf, itemsOf, linkTo, mailsTo, post, sql } = stage
        yield* stage.propose("one")
        const token = yield* linkTo("dora")
        const [mail] = yield* mailsTo("dora@example.org")
        assert.include(mail?.text ?? "", "do not forward it")
        assert.notInclude(mail?.text ?? "", "option p1")

        const { body, status } = yield* post("read", { token })
        assert.strictEqual(status, 200)
        assert.deepInclude(body, { person: "dora", codeTo: "d…@example.net", codesLeft: 5 })
        assert.deepInclude(body.item, { mayAnswer: true, proof: { needed: "session", given: "link" } })
        assert.notProperty(body.item, "nonce")
        assert.notProperty(body.item, "seenAt")

        const answer = { ...(yield* answerOf(token)), token }
        const early = yield* post("answer", { ...answer, code: "000000" })
        assert.deepInclude(early.body, { statusCode: 403, errorCode: "LINK_CODE_MISSING" })
        const code = yield* codeOf(token, "dora")
        const [codeMail] = yield* mailsTo("dora@example.net")
        assert.notInclude(codeMail?.text ?? "", token)
        assert.notInclude(codeMail?.text ?? "", PUBLIC)
        const wrong = yield* post("answer", { ...answer, code: other(code) })
        assert.deepInclude(wrong.body, { statusCode: 403, errorCode: "LINK_CODE_WRONG", metadata: { left: 4 } })
        const right = yield* post("answer", { ...answer, code })
        assert.strictEqual(right.status, 200, right.text)
        assert.deepInclude(right.body.given, { by: "dora", proof: "link" })
        yield* until(itemsOf("one"), ([item]) => item?.state === "accepted")

        // The link and its code again, at each door of it.
        const before = yield* stage.state
        for (const [way, again] of [
          ["read", { token }],
          ["code", { token }],
          ["answer", { ...answer, code }],
          ["answer", { ...answer, act: "reject", code }]
        ] as const) {
          const { body } = yield* post(way, again)
          assert.deepInclude(body, { statusCode: 410, errorCode: "LINK_OVER" })
          assert.strictEqual(body.message, "the link is over: your answer is stored")
        }
        assert.deepStrictEqual(yield* stage.state, before)
        assert.lengthOf(yield* acts("one"), 1)

        // On record: how it came in, and what that proves.
        const [record] = yield* sql<{ readonly proof: string; readonly channel: string; readonly person: string }>`
          SELECT content ->> 'proof' AS proof, content ->> 'channel' AS channel, content ->> 'person' AS person
          FROM people.records WHERE kind = 'people.answer'`
        assert.deepStrictEqual(record, { proof: "link", channel: "link", person: "dora" })
        const audited = yield* sql<{ readonly action: string }>`SELECT action FROM people.audit ORDER BY id`
        for (const action of ["link.code", "link.wrong-code", "item.answered"]) {
          assert.include(
            audited.map((entry) => entry.action),
            action
          )
        }
      }),
    TIMEOUT
  )

  it.effect(
    "stored in the database as hashes alone, is found there by no search for it",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([{ session: "one" }])
        yield* stage.propose("one")
        const token = yield* stage.linkTo("dora")
        const code = yield* stage.codeOf(token, "dora")
        const tables = yield* stage.sql<{ readonly name: string }>`
          SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = 'people'`
        assert.isAbove(tables.length, 10)
        for (const { name } of tables) {
          const rows = yield* stage.sql<{ readonly text: string }>`
            SELECT coalesce(string_agg(to_jsonb(t)::text, ' '), '') AS text FROM ${stage.sql.literal(`people.${name}`)} t`
          const text = rows[0]?.text ?? ""
          assert.notInclude(text, token, name)
          assert.notInclude(text, Buffer.from(token, "base64url").toString("hex"), name)
          assert.notMatch(text, new RegExp(`\\b${code}\\b`), name)
          assert.notInclude(text, "@example", name)
        }
      }),
    TIMEOUT
  )

  it.effect(
    "given five wrong codes, its time, a deadline, or a code that is too old, takes no answer",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([
          { session: "wrong" },
          { session: "late", seat: "late" },
          { session: "dead", seat: "dead", rules: { deadline: "3s" } }
        ])
        const { acts, answerOf, codeOf, itemsOf, linkTo, mails, post, sql } = stage
        yield* stage.propose("wrong")
        const token = yield* linkTo("dora")
        const answer = { ...(yield* answerOf(token)), token }
        const code = yield* codeOf(token, "dora")
        const old = code
        const expired = sql`UPDATE people.links SET code_expires_at = now() - interval '1 second'`
        yield* expired
        const tooOld = yield* post("answer", { ...answer, code })
        assert.deepInclude(tooOld.body, {
          errorCode: "LINK_CODE_MISSING",
          message: "the code is too old: request another one"
        })
        const next = yield* codeOf(token, "dora")
        const lefts = []
        // A right code in between does not start the count anew: its answer is refused for another reason.
        for (const [number, given] of [old === next ? other(next) : old, other(next), other(next)].entries()) {
          const { body } = yield* post("answer", { ...answer, code: given })
          assert.strictEqual(body.errorCode, "LINK_CODE_WRONG", `code ${number}`)
          lefts.push(body.metadata.left)
        }
        const unfit = yield* post("answer", { ...answer, act: "accept", code: next })
        assert.deepInclude(unfit.body, { statusCode: 400, errorCode: "VALIDATION_ERROR" })
        for (let more = 0; more < 2; more += 1) {
          const { body } = yield* post("answer", { ...answer, code: other(next) })
          lefts.push(body.metadata.left)
        }
        assert.deepStrictEqual(lefts, [4, 3, 2, 1, 0])
        for (const way of ["read", "code", "answer"] as const) {
          const { body } = yield* post(way, way === "answer" ? { ...answer, code: next } : { token })
          assert.deepInclude(body, { statusCode: 410, message: "the link is over: 5 wrong codes have ended it" })
        }
        assert.strictEqual((yield* itemsOf("wrong"))[0]?.state, "open")
        assert.lengthOf(yield* acts("wrong"), 0)

        yield* stage.propose("late")
        const count = mails.received.filter(({ to }) => to === "dora@example.org").length
        const late = yield* linkTo("dora", Math.max(count, 2))
        const lateAnswer = { ...(yield* answerOf(late)), token: late, code: yield* codeOf(late, "dora") }
        const [life] = yield* sql<{ readonly hours: number }>`
          SELECT (extract(epoch FROM expires_at - created_at) / 3600)::float8 AS hours FROM people.links
          ORDER BY created_at DESC LIMIT 1`
        assert.approximately(life?.hours ?? 0, 24, 0.01)
        yield* sql`UPDATE people.links SET expires_at = now() - interval '1 second'`
        assert.deepInclude((yield* post("answer", lateAnswer)).body, {
          statusCode: 410,
          message: "the link is over: its time is over"
        })
        assert.strictEqual((yield* itemsOf("late", "late"))[0]?.state, "open")

        yield* stage.propose("dead")
        const dead = yield* linkTo("dora", 3)
        yield* until(itemsOf("dead", "dead"), ([item]) => item?.state === "expired")
        assert.deepInclude((yield* post("read", { token: dead })).body, {
          statusCode: 410,
          message: "the link is over: no answer came by its deadline"
        })
      }),
    TIMEOUT
  )

  it.effect(
    "forwarded, or with the code of another link, answers neither for its person nor for another question",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([
          { session: "one", rules: { assign: ["person:dora", "person:emil"] } },
          { session: "two", seat: "two", rules: { assign: ["person:emil"] } }
        ])
        const { acts, answerOf, codeOf, linkTo, post, url } = stage
        yield* stage.propose("one")
        const [doras, emils] = [yield* linkTo("dora"), yield* linkTo("emil")]
        const [item] = yield* stage.itemsOf("one")
        const answer = yield* answerOf(doras)
        const emilsCode = yield* codeOf(emils, "emil")
        const dorasCode = yield* codeOf(doras, "dora")
        // Emil has the link of Dora, and codes of his own.
        if (emilsCode !== dorasCode) {
          const { body } = yield* post("answer", { ...answer, token: doras, code: emilsCode })
          assert.strictEqual(body.errorCode, "LINK_CODE_WRONG")
        }
        // The same link at the doors of persons who sign in.
        for (const headers of [{ "x-api-key": doras }, { authorization: `Bearer ${doras}` }]) {
          const { status } = yield* ask(url, "POST", `/inbox/${item?.id}/answers`, headers, answer)
          assert.strictEqual(status, 401)
        }
        // The link of one question with what another one has shown.
        yield* stage.propose("two")
        const twos = yield* linkTo("emil", 2)
        const answerTwo = yield* answerOf(twos)
        const crossed = yield* post("answer", { ...answerTwo, token: emils, code: emilsCode })
        assert.strictEqual(crossed.status, 409, crossed.text)
        const unknown = yield* post("answer", { ...answer, token: "A".repeat(43), code: dorasCode })
        assert.deepInclude(unknown.body, { statusCode: 404, errorCode: "LINK_NOT_FOUND" })
        assert.lengthOf(yield* acts("one"), 0)
        assert.lengthOf(yield* acts("two"), 0)
        // Emil answers by his own link; the one of Dora is over with it.
        const right = yield* post("answer", { ...answer, token: emils, code: emilsCode })
        assert.deepInclude(right.body.given, { by: "emil", proof: "link" })
        const late = yield* post("answer", { ...answer, token: doras, code: dorasCode })
        assert.strictEqual(late.body.message, "the link is over: the question has an answer of another person")
      }),
    TIMEOUT
  )

  it.effect(
    "fetched by a scanner, changes nothing",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([{ session: "one" }])
        yield* stage.propose("one")
        const token = yield* stage.linkTo("dora")
        yield* until(stage.sql`SELECT FROM people.notices WHERE state = 'sent'`, (sent) => sent.length === 1)
        const before = yield* stage.state
        const paths = [
          "/inbox/link",
          "/inbox/link/read",
          "/inbox/link/code",
          "/inbox/link/answer",
          `/inbox/link/${token}`
        ]
        for (const path of paths) {
          for (const accept of ["text/html", "application/json"]) {
            for (const method of ["GET", "HEAD"]) {
              yield* Effect.forEach(
                Array.from({ length: 5 }),
                () => ask(stage.url, method, `${path}?token=${token}&code=000000&act=approve`, { accept }),
                { concurrency: 5 }
              )
            }
          }
        }
        assert.deepStrictEqual(yield* stage.state, before)
        assert.strictEqual((yield* stage.post("read", { token })).status, 200)
        assert.deepStrictEqual(yield* stage.state, before, "a read of the page changes nothing, too")
      }),
    TIMEOUT
  )

  it.effect(
    "is not made for a seat that needs a sign-in, and is refused there at its POST",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([
          { session: "open" },
          { session: "fresh", seat: "fresh", rules: { proof: "fresh" } },
          { session: "passkey", seat: "passkey", rules: { proof: "passkey" } }
        ])
        const { codeOf, answerOf, linkTo, post, sql } = stage
        yield* stage.propose("open")
        const token = yield* linkTo("dora")
        const answer = { ...(yield* answerOf(token)), token, code: yield* codeOf(token, "dora") }
        for (const seat of ["fresh", "passkey"]) {
          yield* stage.propose(seat)
          const item = yield* stage.openItem(seat, seat)
          const failed = sql<{ readonly reason: string }>`
            SELECT reason FROM people.notices WHERE item = ${item}::uuid AND state = 'failed'`
          const [notice] = yield* until(failed, (found) => found.length > 0)
          assert.include(notice?.reason ?? "", "requires a sign-in")
          assert.lengthOf(yield* sql`SELECT FROM people.links WHERE item = ${item}::uuid`, 0)
          // Even a row that no code of the service writes gives no right.
          yield* sql`
            UPDATE people.links l SET item = i.id, proposal_hash = i.proposal_hash FROM people.items i
            WHERE i.id = ${item}::uuid`
          for (const way of ["read", "code", "answer"] as const) {
            const { body } = yield* post(way, way === "answer" ? answer : { token })
            assert.deepInclude(body, { statusCode: 403, errorCode: "LINK_REFUSED" })
          }
          assert.lengthOf(yield* stage.acts(seat), 0)
        }
      }),
    TIMEOUT
  )

  it.effect(
    "of a person whom the directory gives no link any more, is refused; a code that is not sent is said",
    () =>
      Effect.gen(function* () {
        const stage = yield* makeLinkStage([{ session: "one" }])
        const { answerOf, codeOf, linkTo, post } = stage
        yield* stage.propose("one")
        const token = yield* linkTo("dora")
        const answer = { ...(yield* answerOf(token)), token, code: yield* codeOf(token, "dora") }
        for (let sent = 1; sent < 5; sent += 1) assert.strictEqual((yield* post("code", { token })).status, 200)
        assert.deepInclude((yield* post("code", { token })).body, { statusCode: 429, errorCode: "TOO_MANY_CODES" })
        // A code that the mail server does not take counts for nothing.
        yield* stage.sql`UPDATE people.links SET sent_codes = 4`
        yield* stage.mails.stop
        const away = yield* post("code", { token })
        assert.deepInclude(away.body, { statusCode: 503, errorCode: "CODE_NOT_SENT" })
        assert.include(away.body.message, "the code was not sent: connection refused")
        assert.isNotNull(away.headers.get("retry-after"))
        const [left] = yield* stage.sql<{ readonly sent: number }>`
          SELECT sent_codes AS sent FROM people.links WHERE code_sha256 IS NULL`
        assert.strictEqual(left?.sent, 4)
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${stage.pack}/people.yaml`, directory.replace(/ {2}dora: .*\n/, "  dora: {}\n"))
        for (const way of ["read", "code", "answer"] as const) {
          const { body } = yield* post(way, way === "answer" ? answer : { token })
          assert.deepInclude(body, { statusCode: 403, errorCode: "LINK_REFUSED" })
        }
        assert.lengthOf(yield* stage.acts("one"), 0)
      }),
    TIMEOUT
  )
})
