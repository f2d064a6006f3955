import { createHash } from "node:crypto"
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { InboxItem, type LauncherErrorCode, launcherErrorStatus } from "@runplane/api"
import { proposalHash, type Sha256 } from "@runplane/domain"
import { listening } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { command } from "../../support/Command.ts"

const sha256: Sha256 = (...parts) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const bytes = Buffer.from("\x0a\x02p1")
const ID = "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"
const hashed = {
  sessionId: "8d5a3f0c-93d4-4c4e-9d60-5c7f1c2a7e10",
  ...{ mode: "macp.mode.decision.v1", modeVersion: "1.0.0", configurationVersion: "c1" },
  ...{ policyVersion: "policy.default", policyHash: null, participants: ["lead", "officer"] },
  subject: {
    ...{ messageId: "m-1", sender: "lead", type: "Proposal", nonce: "cd".repeat(32) },
    payloadSha256: Buffer.from(sha256(bytes)).toString("hex")
  }
}
const HASH = proposalHash(sha256, hashed)
const shown = Schema.encodeSync(InboxItem)({
  ...{ id: ID, sessionId: hashed.sessionId, seat: "officer", scenarioRef: "demo/people@1.0.0" },
  ...{ mode: "decision", modeName: hashed.mode, state: "open", proposalHash: HASH },
  createdAt: "2026-11-30T10:00:00.000Z",
  payload: { type: "macp.modes.decision.v1.ProposalPayload", base64: bytes.toString("base64") },
  ...{ hashed, assigned: [], returns: [], escalations: [], delegations: [], mayAnswer: true, reasonRule: "optional" },
  proof: { needed: "session", given: "session" },
  ...{ acts: ["approve", "reject"], messages: [], policy: { version: "policy.default", lines: [] } },
  basis: { ordinal: 2, sha256: "ef".repeat(32), withheld: [] }
})

/** `runplane answer` against a service that refuses the answer so. */
const refusedWith = Effect.fnUntraced(function* (status: number, body: object) {
  const posts: Array<string> = []
  const server = createServer((request, response) => {
    const isAnswer = request.method === "POST"
    if (isAnswer) posts.push(request.url ?? "")
    response
      .writeHead(isAnswer ? status : 200, { "content-type": "application/json" })
      .end(JSON.stringify(isAnswer ? body : shown))
  })
  const url = `http://127.0.0.1:${yield* listening(server)}`
  const args = ["answer", ID, "--vote", "reject", "--reason", "no", "--hash", HASH.slice(0, 8), "--launcher-url", url]
  const ended = yield* command(...args)
  assert.deepStrictEqual(posts, [`/inbox/${ID}/answers`])
  return ended
})

/** The text of the service, and the sentence and the code of the command. */
const REFUSALS: ReadonlyArray<readonly [LauncherErrorCode, said: string, sentence: string, code: number]> = [
  ["VALIDATION_ERROR", "reason: this seat requires one", "reason: this seat requires one", 4],
  [
    "FORBIDDEN",
    "you may not answer: you are the requester of the run, who answers none of its questions",
    "you may not answer: you are the requester of the run, who answers none of its questions",
    4
  ],
  [
    "FORBIDDEN",
    "you may not answer: the role viewer reads questions, and answers none",
    "you may not answer: the role viewer reads questions, and answers none; a key with another role may do it",
    4
  ],
  [
    "SIGN_IN_NOT_FRESH",
    "a sign-in at the issuer of the last five minutes is required: sign in again in the page",
    "a sign-in at the issuer of the last five minutes is required: sign in again in the page",
    4
  ],
  [
    "PASSKEY_MISSING",
    "you have enrolled no passkey here before this question opened",
    "you have enrolled no passkey here before this question opened",
    4
  ],
  [
    "PASSKEY_REFUSED",
    "this question requires a passkey: answer it in its page",
    "this question requires a passkey: answer it in its page",
    4
  ],
  ["ITEM_NOT_FOUND", `no item has the id ${ID}`, `no item has the id ${ID}`, 3],
  [
    "ITEM_ANSWERED",
    "bo has answered this item with approve at 2026-11-30T10:01:00.000Z",
    "bo has answered this item with approve at 2026-11-30T10:01:00.000Z",
    4
  ],
  [
    "ITEM_STALE",
    "the item is stale: another proposal was accepted after what you were shown",
    "the item is stale: another proposal was accepted after what you were shown",
    4
  ],
  [
    "ITEM_NOT_OPEN",
    "the item is not open yet: it waits for the other participants",
    "the item is not open yet: it waits for the other participants",
    4
  ],
  [
    "BASIS_UNKNOWN",
    "the session was never at this basis: read the item again",
    "the session was never at this basis: read the item again",
    4
  ],
  ["HISTORY_GONE", "the item takes no answer: the history is gone", "the item takes no answer: the history is gone", 4],
  [
    "ITEM_CLOSED",
    "the item is closed: no answer came by its deadline",
    "the item is closed: no answer came by its deadline",
    4
  ],
  [
    "TOO_MANY_ANSWERS",
    "a person gives at most 30 answers a minute",
    "a person gives at most 30 answers a minute; wait a minute",
    4
  ],
  [
    "SESSION_UNREAD",
    "the item takes no answer now: the session is being read again",
    "the item takes no answer now: the session is being read again",
    1
  ],
  ["DATABASE_UNAVAILABLE", "the database of the inbox does not answer", "the database of the inbox does not answer", 1],
  [
    "INVALID_CONFIG",
    "questions to people need a database: set LAUNCHER_DATABASE_URL",
    "questions to people need a database: set LAUNCHER_DATABASE_URL",
    1
  ]
]

// docs/reference/cli.md#exit-codes
describe("runplane answer", () => {
  it.live.each(REFUSALS)("given %s (%s), ends with a sentence and a code", ([errorCode, message, sentence, code]) =>
    Effect.gen(function* () {
      const status = launcherErrorStatus[errorCode]
      const ended = yield* refusedWith(status, { statusCode: status, errorCode, message })
      const where = status < 500 ? "" : ` (${status} of http://127.0.0.1:`
      assert.strictEqual(ended.code, code, ended.reason)
      assert.isTrue(ended.reason.startsWith(`${sentence}${where}`), ended.reason)
      assert.notMatch(ended.reason, /THROTTLE_LIMIT|\n/)
      if (status < 500) assert.strictEqual(ended.reason, sentence)
    })
  )

  it.live("given a signature that does not fit, or more than one act, sends nothing", () =>
    Effect.gen(function* () {
      const server = createServer((request, response) => {
        assert.strictEqual(request.method, "GET")
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(shown))
      })
      const url = `http://127.0.0.1:${yield* listening(server)}`
      const run = (...args: ReadonlyArray<string>) => command("answer", ID, ...args, "--launcher-url", url)
      const signs = yield* run("--vote", "reject", "--hash", "00000000")
      assert.deepInclude(signs, { code: 2 })
      assert.include(signs.reason, "are not the first 8 signs of the hash: nothing was sent")
      const two = yield* run("--vote", "reject", "--act", "accept", "--hash", HASH.slice(0, 8))
      assert.deepInclude(two, { code: 2, reason: "give one of --vote, --act, --evaluate and --object" })
    })
  )

  it.live("given a service that is away, says so", () =>
    Effect.gen(function* () {
      const ended = yield* command("answer", ID, "--vote", "reject", "--launcher-url", "http://127.0.0.1:9")
      assert.strictEqual(ended.code, 5)
      assert.include(ended.reason, "cannot be reached")
    })
  )
})
