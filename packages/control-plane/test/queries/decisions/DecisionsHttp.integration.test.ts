import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { policyResolved, RunId, sessionBound } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import {
  AT,
  COST,
  commits,
  decided,
  LEAD,
  MAJORITY,
  MODE,
  opened,
  proposes,
  RISK,
  recorded,
  recordedAs,
  said,
  session,
  votes
} from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun, dropRun } from "../../support/Runs.ts"
import { backtest, linesOf } from "./Backtests.ts"
import { lockedEvents, readingEvents } from "./EventLocks.ts"

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

  it.effect("says of a commitment that its voters rejected that they did, in every form", () =>
    Effect.gen(function* () {
      const on = (proposalId: string, vote: string) =>
        [LEAD, RISK, COST].map((by) => said("proposal.updated", "Vote", by, { proposalId, vote }))
      const runId = yield* recorded(
        sessionBound(AT, session("p.half")),
        policyResolved(AT, session("p.half"), {
          ...MAJORITY,
          policyId: "p.half",
          rules: JSON.stringify({ voting: { algorithm: "majority" } })
        }),
        said("proposal.created", "Proposal", LEAD, { proposalId: "p1", option: "go" }),
        said("proposal.created", "Proposal", RISK, { proposalId: "p2", option: "hold" }),
        ...on("p1", "REJECT"),
        ...on("p2", "APPROVE"),
        said("decision.finalized", "Commitment", LEAD, { action: "go", outcome_positive: true, proposalId: "c1" })
      )
      const json = yield* call("GET", `/runs/${runId}/decision/why`)
      assert.strictEqual(json.status, 200, json.text)
      assert.deepInclude(json.body.outcome, { action: "go", positive: true, proposalId: "p1", againstVotes: true })
      assert.deepStrictEqual(json.body.warnings, [
        "the voters rejected go (0 approve, 3 reject), and it was committed: the policy counts the votes on 2 proposals together"
      ])
      assert.deepInclude(json.body.tallies[0], { proposalId: "p1", option: "go", isCommitted: true, reject: 3 })
      assert.deepInclude(json.body.counted, { proposals: 2, approve: 3, reject: 3, passes: true, threshold: 0.5 })
      const votes = json.body.rules.find(({ rule }: { readonly rule: string }) => rule === "voting.algorithm")
      assert.deepInclude(votes, { have: 0.5, need: 0.5 })
      for (const media of ["text/markdown", "text/html"]) {
        const page = yield* call("GET", `/runs/${runId}/decision/why`, { headers: { accept: media } })
        assert.include(page.text, "Approved against its votes: go")
        assert.include(page.text, "on hold: 3 approve, 0 reject")
      }
    })
  )

  it.effect("explains a decision in three forms", () =>
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
      const acts = (yield* call("GET", `/runs/${runId}/events?type=proposal.updated`)).body.data
      assert.notStrictEqual(acts[0].seq, acts[0].index)
      assert.include(html.text, `[event ${acts[0].index}]`)
      assert.match(html.text, /printed at \d{4}-\d\d-\d\dT[\d:.]+Z \(UTC\) for /)
    })
  )

  it.effect("shows the card of a decision, as of any event, with the words of the printed record", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const card = yield* call("GET", `/runs/${runId}/decision/card`)
      assert.strictEqual(card.status, 200, card.text)
      assert.deepInclude(card.body, { runId, verdict: "for", word: "Approved", action: "decision.selected", by: LEAD })
      assert.deepInclude(card.body.rings[0], { committed: true, counts: { for: 2, against: 1, abstained: 0, none: 0 } })
      assert.isTrue(card.body.sentences.some(({ text }: { text: string }) => text.startsWith("Carried by 2 of 3")))
      const acts = (yield* call("GET", `/runs/${runId}/events?type=proposal.updated`)).body.data
      const then = yield* call("GET", `/runs/${runId}/decision/card?atSeq=${acts[0].seq}`)
      assert.deepInclude(then.body, { verdict: "open", word: "Open", voted: 1, participants: 3 })
      assert.isTrue(then.body.sentences.some(({ text }: { text: string }) => text.startsWith("An approval ")))
      const before = yield* call("GET", `/runs/${runId}/decision/card?atSeq=0`)
      assert.deepInclude(before.body, { verdict: "open", rings: [], participants: 0 })
      const page = yield* call("GET", `/runs/${runId}/decision/why`, { headers: { accept: "text/html" } })
      assert.match(page.text, /<svg role="img" aria-label="[^"]*Approved \(committed by /)
      const unknown = yield* call("GET", `/runs/${randomUUID()}/decision/card`)
      assert.strictEqual(unknown.status, 404)
    })
  )

  it.effect("names the missing facts of a run without a decision, and of one without rules", () =>
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

  it.effect("reads a policy that is not on record from the registry, and reports a missing one", () =>
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

  it.effect("computes the result of other votes and other rules", () =>
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
        call("GET", `/runs/${runId}/divergence?with=unknown`),
        call("GET", `/runs/${runId}/forecast?atSeq=-1`),
        call("GET", `/runs/${runId}/forecast?atSeq=soon`)
      ])
      assert.deepStrictEqual(
        bad.map(({ status }) => status),
        [400, 400, 400, 400]
      )
    })
  )

  it.effect("returns 404 for a run that is deleted while it is read", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const sql = yield* PgClient.PgClient
      const reading = yield* readingEvents("WITH RECURSIVE requested")
      const release = yield* lockedEvents(
        Effect.andThen(sql`DELETE FROM canonical_events WHERE run_id = ${runId}::uuid`, dropRun(runId))
      )
      const question = yield* Effect.forkChild(call("GET", `/runs/${runId}/decision/why`))
      yield* until(reading, (count) => count === 1)
      yield* release
      const { body, status } = yield* Fiber.join(question)
      assert.deepStrictEqual([status, body.errorCode], [404, "RUN_NOT_FOUND"])
    })
  )

  it.effect("explains runs that were stored without policy and participants as far as their events allow", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const bound = sessionBound(AT, session("p.old"))
      const old = yield* recorded(bound, proposes, votes(RISK, "APPROVE"), votes(COST, "REJECT"), commits)
      // The older form of events, without participants.
      yield* sql`
        UPDATE canonical_events SET event = (jsonb_set(event::jsonb, '{schemaVersion}', '1') #- '{data,participants}'
          #- '{data,initiator}' #- '{data,decodedPayload,outcome_positive}')::json
        WHERE run_id = ${old}::uuid`
      yield* sql`UPDATE runs SET tags = '{old}' WHERE id = ${old}::uuid`
      const { body: said } = yield* call("GET", `/runs/${old}/events?type=proposal.updated`)
      const forecast = yield* call("GET", `/runs/${old}/forecast?atSeq=${said.data.at(-1).seq}`)
      assert.deepInclude(forecast.body, { policyVersion: "p.old", policySource: "unknown", outcomes: [] })
      assert.include(forecast.body.note, "the rules of p.old were not recorded")
      const why = yield* call("GET", `/runs/${old}/decision/why`)
      assert.deepInclude(why.body, {
        policySource: "unknown",
        rules: [],
        minimalSet: [],
        participants: [LEAD, RISK, COST]
      })
      assert.deepInclude(why.body.outcome, { action: "decision.selected", positive: true })
      assert.lengthOf(why.body.claims, 4)
      assert.include(why.body.notes.join("; "), "no event declares the participants")
      assert.include(why.body.notes.join("; "), "the registry does not have them")
      const unruled = yield* ask(old, { votes: [{ participantId: RISK, vote: "REJECT" }] })
      assert.strictEqual(unruled.status, 400)
      assert.include(unruled.body.message, "the rules of p.old were not recorded")
      const policy = { rules: { voting: { algorithm: "unanimous" } } }
      const other = yield* ask(old, { policy })
      assert.deepStrictEqual([other.status, other.body.before.allowed, other.body.after.allowed], [201, true, false])
      assert.include(other.body.notes.join("; "), "p.old were not recorded")
      const now = yield* recorded(bound, proposes, votes(RISK, "APPROVE"), votes(COST, "REJECT"), commits)
      assert.strictEqual((yield* call("GET", `/runs/${old}/divergence?with=${now}`)).body.divergence, null)
      const compared = yield* call("POST", "/runs/compare", { body: { leftRunId: old, rightRunId: now } })
      assert.deepStrictEqual([compared.status, compared.body.divergence], [201, null])
      const tried = yield* backtest({ policy, scope: { tags: ["old"] } })
      assert.deepInclude(linesOf(tried.text).at(-1), { examined: 1, flipped: 1 })
      const fake = yield* RuntimeFake
      yield* fake.client.registerPolicy({ ...MAJORITY, policyId: "p.old" })
      const known = yield* call("GET", `/runs/${old}/decision/why`)
      assert.deepInclude(known.body, { policySource: "registry" })
      assert.isNotEmpty(known.body.rules)
    })
  )

  it.effect("has an answer for runs with an unknown mode, without a decision, and after their deletion", () =>
    Effect.gen(function* () {
      const known = yield* decided
      const bound = sessionBound(AT, session("policy.default", "ext.mode.multi.v1"))
      const other = yield* recorded(bound, proposes, votes(RISK, "APPROVE"), commits)
      const empty = yield* createRun()
      const deleted = yield* recordedAs("completed", ...opened, votes(RISK, "APPROVE"), commits)
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE runs SET tags = '{plain}' WHERE id = ANY(${[other, empty, deleted]}::text[]::uuid[])`
      assert.strictEqual((yield* call("DELETE", `/runs/${deleted}`)).status, 204)
      const policy = { rules: { voting: { algorithm: "majority" } } }
      const questions = (runId: RunId) =>
        Effect.all([
          call("GET", `/runs/${runId}/forecast`),
          call("GET", `/runs/${runId}/decision/why`),
          ask(runId, { policy }),
          call("GET", `/runs/${runId}/divergence?with=${known}`),
          call("GET", `/runs/${known}/divergence?with=${runId}`),
          call("POST", "/runs/compare", { body: { leftRunId: known, rightRunId: runId } })
        ])
      const [forecast, why, whatIf, ...others] = yield* questions(other)
      assert.deepStrictEqual([forecast.status, why.status, whatIf.status], [200, 200, 400])
      for (const text of [forecast.body.note, why.body.notes.join("; "), whatIf.body.message]) {
        assert.include(text, "no rules are known for ext.mode.multi.v1")
      }
      assert.deepStrictEqual(
        others.map(({ status }) => status),
        [200, 200, 201]
      )
      const [nothing, unexplained, unasked, ...apart] = yield* questions(empty)
      assert.deepInclude(nothing.body, { outcomes: [] })
      assert.deepInclude(unexplained.body, {
        outcome: null,
        summary: "nothing is decided; no event names the policy of the session"
      })
      assert.deepStrictEqual([unasked.status, unasked.body.before.allowed], [201, false])
      assert.deepStrictEqual(
        apart.map(({ body }) => body.divergence.kind),
        ["only-right", "only-left", "only-left"]
      )
      for (const { body, status } of yield* questions(deleted)) {
        assert.deepStrictEqual([status, body.errorCode], [404, "RUN_NOT_FOUND"])
      }
      const tried = yield* backtest({ policy, scope: { tags: ["plain"] } })
      const skipped = { "another mode": 1, "no decision": 1 }
      assert.deepInclude(linesOf(tried.text).at(-1), { examined: 2, unchanged: 0, flipped: 0, skipped })
    })
  )
})
