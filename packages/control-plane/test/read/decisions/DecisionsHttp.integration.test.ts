import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import {
  draftEvent,
  type EventDraft,
  policyResolved,
  RunId,
  type SessionSnapshot,
  sessionBound
} from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { EventLog } from "../../../src/log/EventLog.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const MODE = "macp.mode.decision.v1"
const [LEAD, RISK, COST] = ["agent://lead", "agent://risk", "agent://cost"]
const AT = "2026-07-01T10:00:00.000Z"

const session = (policyVersion: string, mode = MODE): SessionSnapshot => ({
  sessionId: "s",
  mode,
  state: "OPEN",
  startedAtUnixMs: 0,
  expiresAtUnixMs: 0,
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion,
  participants: [LEAD, RISK, COST],
  participantActivity: [],
  initiator: LEAD,
  contextId: "",
  extensionKeys: []
})

const MAJORITY = {
  policyId: "p.majority",
  mode: MODE,
  schemaVersion: 3,
  description: "more than half",
  rules: JSON.stringify({ voting: { algorithm: "majority", threshold: 0.6 } })
}

let messages = 0
const said = (
  type: "proposal.created" | "proposal.updated" | "decision.finalized",
  messageType: string,
  sender: string,
  payload: Readonly<Record<string, string | boolean>>
): EventDraft =>
  draftEvent(
    type,
    {
      ts: AT,
      subject: { kind: "proposal", id: "p1" },
      source: { kind: "runtime", name: "rust-runtime", rawType: messageType }
    },
    { messageType, sender, messageId: `m${messages++}`, decodedPayload: { proposalId: "p1", ...payload } }
  )
const proposes = said("proposal.created", "Proposal", LEAD, { option: "go <b>now</b>" })
const votes = (by: string, vote: string) => said("proposal.updated", "Vote", by, { vote, reason: "seen it" })
const commits = said("decision.finalized", "Commitment", LEAD, {
  action: "decision.selected",
  outcome_positive: true,
  reason: "agreed"
})

const recorded = Effect.fnUntraced(function* (...events: ReadonlyArray<EventDraft>) {
  const runId = yield* createRun()
  yield* (yield* EventLog).record({ runId, events })
  return runId
})

const opened = [sessionBound(AT, session("p.majority")), policyResolved(AT, session("p.majority"), MAJORITY), proposes]
const decided = recorded(...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits)

const backtest = (body: unknown) => call("POST", "/policies/backtest", { body })
const linesOf = (text: string): ReadonlyArray<ReturnType<typeof JSON.parse>> =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))

const ask = (runId: string, body: unknown) => call("POST", `/runs/${runId}/what-if`, { body })

layer(layerTestService(), { excludeTestServices: true })("decisions over HTTP", (it) => {
  it.effect("forecasts a decision as of any event", () =>
    Effect.gen(function* () {
      const runId = yield* recorded(...opened, votes(RISK, "APPROVE"), votes(COST, "APPROVE"))
      const now = yield* call("GET", `/runs/${runId}/forecast`)
      assert.strictEqual(now.status, 200, now.text)
      assert.deepInclude(now.body, { runId, modeName: MODE, policyVersion: "p.majority", policySource: "recorded" })
      assert.deepInclude(now.body.outcomes[0], { outcome: "positive", status: "met", settled: true })
      const events = yield* call("GET", `/runs/${runId}/events?type=proposal.created,proposal.updated`)
      const [proposal] = events.body.data
      const then = yield* call("GET", `/runs/${runId}/forecast?atSeq=${proposal.seq}`)
      assert.deepInclude(then.body, { atSeq: proposal.seq, atIndex: proposal.index })
      assert.strictEqual(then.body.outcomes[0].status, "possible")
      assert.strictEqual(then.body.outcomes[0].blockers[0].rule, "voting.algorithm")
      const before = yield* call("GET", `/runs/${runId}/forecast?atSeq=0`)
      assert.deepInclude(before.body, { runId, atSeq: 0, policySource: "unknown", outcomes: [] })
      assert.include(before.body.note, "no event names the policy")
    })
  )

  it.effect("tells why, in three forms", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const json = yield* call("GET", `/runs/${runId}/decision/why`)
      assert.strictEqual(json.status, 200, json.text)
      assert.deepInclude(json.body.outcome, { action: "decision.selected", positive: true, by: LEAD })
      assert.strictEqual(json.body.summary, `carried by 2 of 3; without any one of ${RISK}, ${COST} it would not stand`)
      const accept = (media: string) => call("GET", `/runs/${runId}/decision/why`, { headers: { accept: media } })
      const markdown = yield* accept("text/markdown")
      assert.strictEqual(markdown.headers.get("content-type"), "text/markdown; charset=utf-8")
      assert.isTrue(markdown.text.startsWith("# Approved: decision.selected\n"), markdown.text)
      const html = yield* accept("text/html,*/*;q=0.8")
      assert.strictEqual(html.headers.get("content-type"), "text/html; charset=utf-8")
      assert.include(html.headers.get("content-security-policy") ?? "", "default-src 'none'")
      assert.include(html.text, "go &lt;b&gt;now&lt;/b&gt;")
      assert.notInclude(html.text, "<b>")
    })
  )

  it.effect("says what is missing of a run without decision, and of one without rules", () =>
    Effect.gen(function* () {
      const open = yield* recorded(...opened)
      const { body } = yield* call("GET", `/runs/${open}/decision/why`)
      assert.strictEqual(body.outcome, null)
      assert.include(body.missing[0], "for a positive outcome")
      const empty = yield* createRun()
      const nothing = yield* call("GET", `/runs/${empty}/decision/why`)
      assert.strictEqual(nothing.status, 200)
      assert.deepInclude(nothing.body, { runId: empty, outcome: null, policySource: "unknown" })
    })
  )

  it.effect("asks the registry for a policy that is not on record, and says so when nobody has it", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.registered" })
      const known = yield* recorded(sessionBound(AT, session("p.registered")), proposes)
      const { body } = yield* call("GET", `/runs/${known}/forecast`)
      assert.deepInclude(body, { policyVersion: "p.registered", policySource: "registry" })
      const lost = yield* recorded(sessionBound(AT, session("p.gone")), proposes)
      const unknown = yield* call("GET", `/runs/${lost}/forecast`)
      assert.deepInclude(unknown.body, { policyVersion: "p.gone", policySource: "unknown", outcomes: [] })
      assert.include(unknown.body.note, "the registry does not have them")
    })
  )

  it.effect("tells what other votes and other rules would have made of a run", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const runId = yield* decided
      const votes = [{ participantId: RISK, vote: "REJECT" }]
      const turned = yield* ask(runId, { votes })
      assert.strictEqual(turned.status, 201, turned.text)
      assert.deepInclude(turned.body, { changed: true, basis: "exact" })
      assert.deepInclude(turned.body.before, { outcome: "positive", allowed: true })
      assert.deepInclude(turned.body.after, { outcome: "positive", allowed: false })
      assert.strictEqual(turned.body.smallestChange.length, 1)
      const rules = { voting: { algorithm: "unanimous" } }
      const stricter = yield* ask(runId, { policy: { mode: MODE, schemaVersion: 3, rules } })
      assert.isFalse(stricter.body.after.allowed)
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.unanimous", rules: JSON.stringify(rules) })
      const named = yield* ask(runId, { policyVersion: "p.unanimous" })
      assert.deepStrictEqual(named.body.after, stricter.body.after)
    })
  )

  it.effect("refuses what cannot be asked, and names the field", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const rules = { voting: { algoritm: "majority" } }
      const cases: ReadonlyArray<readonly [unknown, number, string]> = [
        [{ votes: [{ participantId: "agent://x", vote: "APPROVE" }] }, 400, "votes.0.participantId: agent://x"],
        [{ votes: [{ participantId: RISK, vote: "YES" }] }, 400, "votes.0.vote must be one of"],
        [{ votes: [{ participantId: RISK, vote: "REJECT", proposalId: "p9" }] }, 400, "votes.0.proposalId: p9"],
        [{ without: [RISK, "agent://x"] }, 400, "without.1: agent://x does not take part"],
        [{ policy: { mode: "macp.mode.task.v1", rules: {} } }, 400, "policy: the given policy is for"],
        [{ policy: { rules } }, 400, "algoritm"],
        [{ policy: { rules: [] } }, 400, "policy.rules"],
        [{ policy: { schemaVersion: 9, rules: {} } }, 400, "schemaVersion must be one of"],
        [{ policy: { mode: MODE, rules: { voting: { algorithm: "loudest" } } } }, 400, "policy"],
        [{ policy: { rules: {} }, policyVersion: "p" }, 400, "exclude each other"],
        [{ policyVersion: "p.nowhere" }, 404, "p.nowhere not found"],
        [{ votse: [] }, 400, "votse"]
      ]
      for (const [body, status, text] of cases) {
        const answer = yield* ask(runId, body)
        assert.strictEqual(answer.status, status, answer.text)
        assert.include(answer.text, text)
      }
      const other = yield* recorded(sessionBound(AT, session("policy.default", "ext.mode.multi.v1")))
      const otherMode = yield* ask(other, {})
      assert.strictEqual(otherMode.status, 400, otherMode.text)
      assert.include(otherMode.text, "no rules are known for ext.mode.multi.v1")
    })
  )

  it.effect("finds where two runs part, by its own address and in the comparison", () =>
    Effect.gen(function* () {
      const left = yield* decided
      const right = yield* recorded(...opened, votes(RISK, "APPROVE"), votes(COST, "REJECT"))
      const { body, status, text } = yield* call("GET", `/runs/${left}/divergence?with=${right}`)
      assert.strictEqual(status, 200, text)
      assert.deepInclude(body, { leftRunId: left, rightRunId: right })
      assert.deepInclude(body.divergence, { kind: "different", participantId: COST, details: ["vote"] })
      assert.deepInclude(body.divergence.consequence, { outcomeLeft: "positive", outcomeRight: "none" })
      const compared = yield* call("POST", "/runs/compare", { body: { leftRunId: left, rightRunId: right } })
      assert.deepStrictEqual(compared.body.divergence, body.divergence)
      const same = yield* call("GET", `/runs/${left}/divergence?with=${left}`)
      assert.strictEqual(same.body.divergence, null)
    })
  )

  it.effect("answers unknown and deleted runs with 404, and bad references with 400", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const unknown = RunId.make(randomUUID())
      const answers = yield* Effect.all([
        call("GET", `/runs/${unknown}/forecast`),
        call("GET", `/runs/${unknown}/decision/why`),
        ask(unknown, {}),
        call("GET", `/runs/${unknown}/divergence?with=${runId}`),
        call("GET", `/runs/${runId}/divergence?with=${unknown}`)
      ])
      for (const { body, status } of answers) {
        assert.deepStrictEqual(
          [status, body.errorCode, body.message],
          [404, "RUN_NOT_FOUND", `run ${unknown} not found`]
        )
      }
      const bad = yield* Effect.all([
        call("GET", `/runs/${runId}/divergence`),
        call("GET", `/runs/${runId}/divergence?with=nobody`),
        call("GET", `/runs/${runId}/forecast?atSeq=-1`),
        call("GET", `/runs/${runId}/forecast?atSeq=soon`)
      ])
      assert.deepStrictEqual(
        bad.map(({ status }) => status),
        [400, 400, 400, 400]
      )
    })
  )

  it.effect("tells line by line which runs another policy would have ended otherwise", () =>
    Effect.gen(function* () {
      const [flips, other] = [yield* decided, yield* recorded(...opened)]
      const task = yield* recorded(sessionBound(AT, session("p.t", "macp.mode.task.v1")), proposes, commits)
      const sql = yield* PgClient.PgClient
      const ids = [flips, other, task]
      yield* sql`UPDATE runs SET tags = '{tried}', scenario_ref = 'loans/big@1' WHERE id = ANY(${ids}::text[]::uuid[])`
      yield* sql`UPDATE runs SET mode_name = 'macp.mode.task.v1' WHERE id = ${task}::uuid`
      const scope = { tags: ["tried"] }
      const unanimous = { mode: MODE, rules: { voting: { algorithm: "unanimous" } } }
      const answer = yield* backtest({ policy: unanimous, scope })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("content-type"), "application/x-ndjson")
      const lines = linesOf(answer.text)
      assert.deepStrictEqual(lines[0], {
        type: "flip",
        runId: flips,
        from: "positive",
        to: "negative",
        reasons: ["the votes do not carry a positive outcome: 2 approve, 1 reject (unanimous)"]
      })
      assert.deepStrictEqual(lines[1], { type: "progress", examined: 3, total: 3, flipped: 1 })
      assert.deepStrictEqual(lines.slice(2), [
        {
          type: "summary",
          policyVersion: "the given policy",
          examined: 3,
          unchanged: 0,
          flipped: 1,
          skipped: { "no decision": 1, "another mode": 1 },
          byRule: { "voting.algorithm": 1 },
          isLimited: false
        }
      ])
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.tried" })
      const summary = (body: object) =>
        Effect.map(backtest({ policyVersion: "p.tried", ...body }), ({ text }) => linesOf(text).at(-1))
      assert.deepInclude(yield* summary({ scope }), { policyVersion: "p.tried", unchanged: 1, flipped: 0 })
      assert.deepInclude(yield* summary({ scope: { ...scope, limit: 2 } }), { examined: 2, isLimited: true })
      assert.deepInclude(yield* summary({ scope: { ...scope, modeName: MODE } }), { examined: 2 })
      assert.deepInclude(yield* summary({ scope: { ...scope, scenarioRef: "LOANS/" } }), { examined: 3 })
      assert.deepInclude(yield* summary({ scope: { ...scope, createdBefore: AT } }), { examined: 0 })
      assert.deepInclude(yield* summary({ scope: { ...scope, createdAfter: "2026-01-01" } }), { examined: 3 })
    })
  )

  it.effect("judges a run that is too large for one reading as any other", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 1_100 }, (_, at) => votes(RISK, at % 2 === 0 ? "REJECT" : "APPROVE"))
      const runId = yield* recorded(...opened, ...many, votes(COST, "APPROVE"), votes(LEAD, "REJECT"), commits)
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE runs SET tags = '{large}' WHERE id = ${runId}::uuid`
      const tried = (algorithm: string) =>
        Effect.map(backtest({ policy: { rules: { voting: { algorithm } } }, scope: { tags: ["large"] } }), ({ text }) =>
          linesOf(text).at(-1)
        )
      assert.deepInclude(yield* tried("majority"), { examined: 1, unchanged: 1 })
      assert.deepInclude(yield* tried("unanimous"), { examined: 1, flipped: 1 })
    })
  )

  it.effect("names what is wrong with a policy or a scope before the first line", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.broken", rules: '{"voting":{"algorithm":7}}' })
      const rules = {}
      const cases: ReadonlyArray<readonly [unknown, number, string]> = [
        [{}, 400, "policy or policyVersion is required"],
        [{ policy: { rules }, policyVersion: "p" }, 400, "exclude each other"],
        [{ policyVersion: "p.nowhere" }, 404, "p.nowhere not found"],
        [{ policyVersion: "p.broken" }, 400, "the rules of p.broken cannot be read"],
        [{ policy: { rules: { voting: { algoritm: "majority" } } } }, 400, "algoritm"],
        [{ policy: { rules, schemaVersion: 9 } }, 400, "schemaVersion must be one of"],
        [{ policy: { rules }, scope: { limit: 0 } }, 400, "scope.limit"],
        [{ policy: { rules }, scope: { limit: 10_001 } }, 400, "scope.limit"],
        [{ policy: { rules }, scope: { createdAfter: "yesterday" } }, 400, "scope.createdAfter"],
        [{ policy: { rules }, scope: { tags: "nightly" } }, 400, "scope.tags"],
        [{ policy: { rules }, scope: { scenario: "x" } }, 400, "scope.property scenario should not exist"],
        [{ policy: { rules }, scopes: {} }, 400, "scopes"]
      ]
      for (const [body, status, text] of cases) {
        const answer = yield* backtest(body)
        assert.strictEqual(answer.status, status, answer.text)
        assert.include(answer.text, text)
      }
    })
  )

  it.effect("stops at work when the client leaves", () =>
    Effect.gen(function* () {
      yield* decided
      const sql = yield* PgClient.PgClient
      const atWork = Effect.map(
        sql`SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%canonical_events%'`,
        (rows) => rows.length
      )
      // The reading of events waits for the lock for as long as the test holds it.
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`LOCK TABLE canonical_events IN ACCESS EXCLUSIVE MODE`
          const client = yield* Effect.forkChild(backtest({ policy: { rules: {} } }))
          yield* until(atWork, (count) => count === 1)
          yield* Fiber.interrupt(client)
          yield* until(atWork, (count) => count === 0)
        })
      )
    })
  )
})
