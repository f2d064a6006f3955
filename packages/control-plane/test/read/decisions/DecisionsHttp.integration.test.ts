import { randomUUID } from "node:crypto"
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
import * as Effect from "effect/Effect"
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
})
