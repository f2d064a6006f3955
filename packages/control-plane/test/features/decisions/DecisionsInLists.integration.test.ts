import { assert, layer } from "@effect/vitest"
import { draftEvent, type RunId } from "@runplane/domain"
import { until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { addRule, alertsOf, record, runningRun, spends } from "../../support/AlertRules.ts"
import { AT, COST, commits, decided, LEAD, opened, RISK, recorded, said, votes } from "../../support/Committee.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const listed = Effect.fnUntraced(function* (q: string, more = "") {
  const answer = yield* call("GET", `/runs?limit=200&q=${encodeURIComponent(q)}${more}`)
  assert.strictEqual(answer.status, 200, `${q}: ${answer.text}`)
  return answer.body.data.map(({ id }: { readonly id: RunId }) => id)
})

const decisionOf = Effect.fnUntraced(function* (runId: RunId) {
  const { body } = yield* call("GET", `/runs?limit=200&include=decision`)
  return body.data.find(({ id }: { readonly id: RunId }) => id === runId)?.decision
})

const awaitVerdict = (runId: RunId, verdict: string) =>
  until(decisionOf(runId), (decision) => decision?.verdict === verdict)

layer(layerTestService(), { excludeTestServices: true })("decisions in lists of runs", (it) => {
  it.effect("are there on request, and change nothing without it", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const before = yield* call("GET", "/runs?limit=200")
      yield* awaitVerdict(runId, "for")
      const after = yield* call("GET", "/runs?limit=200")
      assert.strictEqual(after.text, before.text)
      const decision = yield* decisionOf(runId)
      const { body: run } = yield* call("GET", `/runs/${runId}`)
      assert.match(decision.case, /^[0-9a-f]{32}$/)
      assert.deepStrictEqual(decision, {
        case: decision.case,
        ...{ verdict: "for", word: "Approved", action: "decision.selected", question: "go <b>now</b>" },
        ...{ counts: "2 for, 1 against, 3 of 3 voted", heads: { for: 2, against: 1, abstained: 0, none: 0 } },
        seats: [
          [RISK, "for", 1],
          [COST, "for", 1],
          [LEAD, "against", 1]
        ],
        asOfSeq: run.lastEventSeq
      })
      const included = yield* call("GET", "/runs?limit=200&include=decision")
      for (const entry of included.body.data) delete entry.decision
      assert.deepStrictEqual(included.body, after.body)
      assert.strictEqual((yield* call("GET", "/runs?include=nothing")).status, 400)
    })
  )

  it.effect("follow an open run, and say as of which event", () =>
    Effect.gen(function* () {
      const runId = yield* recorded(...opened, votes(RISK, "APPROVE"))
      yield* awaitVerdict(runId, "open")
      const open = yield* decisionOf(runId)
      assert.deepInclude(open, { word: "Open", counts: "1 for, 0 against, 1 of 3 voted" })
      const log = yield* EventLog
      yield* log.record({ runId, events: [votes(COST, "APPROVE"), commits] })
      yield* awaitVerdict(runId, "for")
      assert.isAbove((yield* decisionOf(runId)).asOfSeq, open.asOfSeq)
    })
  )

  it.effect("are bounded: names and questions are cut, and many voters are counted", () =>
    Effect.gen(function* () {
      const long = `${"<b>\u202e".repeat(3_000)}`
      const option = said("proposal.created", "Proposal", long, { option: long })
      const ballots = Array.from({ length: 40 }, (_, at) => votes(`${long}${at}`, "APPROVE"))
      const wide = yield* recorded(...opened.slice(0, 2), option, ...ballots)
      const narrow = yield* recorded(option, votes(long, "REJECT"))
      yield* awaitVerdict(wide, "open")
      yield* awaitVerdict(narrow, "open")
      for (const runId of [wide, narrow]) {
        assert.isBelow(JSON.stringify(yield* decisionOf(runId)).length, 8_000)
      }
    })
  )

  it.effect("have the same case for the same question of a scenario, whatever its version, and are found by it", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const runOf = Effect.fnUntraced(function* (scenarioRef: string, option: string, metadata = {}) {
        const runId = yield* createRun({ scenarioRef, metadata })
        const proposal = said("proposal.created", "Proposal", LEAD, { proposalId: runId, option, rationale: "now" })
        yield* log.record({ runId, events: [...opened.slice(0, 2), proposal] })
        yield* awaitVerdict(runId, "open")
        return runId
      })
      const gate = { gate: { case: "lagging" } }
      const first = yield* runOf("loans/fast@1.0.0", "grant")
      const again = yield* runOf("loans/fast@2.0.0", "grant")
      const others = [yield* runOf("loans/fast@1.0.0", "refuse"), yield* runOf("loans/slow@1.0.0", "grant")]
      const gated = [yield* runOf("loans/fast@1.0.0", "a", gate), yield* runOf("loans/fast@1.0.0", "b", gate)]
      const cases = yield* Effect.forEach([first, again, ...others, ...gated], (runId) =>
        Effect.map(decisionOf(runId), (decision) => decision.case)
      )
      const [one, same, other, slow, ofGate, sameGate] = cases
      assert.strictEqual(same, one)
      assert.strictEqual(sameGate, ofGate)
      assert.strictEqual(new Set([one, other, slow, ofGate]).size, 4)
      assert.sameMembers(yield* listed(`case:${one}`), [first, again])
      assert.sameMembers(yield* listed(`case:(${one},${ofGate}) has:case`), [first, again, ...gated])
    })
  )

  it.effect("are found by vote, dissent, outcome and proposal", () =>
    Effect.gen(function* () {
      const runId = yield* decided
      const open = yield* recorded(...opened, votes(RISK, "REJECT"))
      yield* awaitVerdict(runId, "for")
      yield* awaitVerdict(open, "open")
      const finds = Effect.fnUntraced(function* (q: string, wanted: ReadonlyArray<RunId>) {
        const found = yield* listed(q)
        for (const id of [runId, open]) assert.strictEqual(found.includes(id), wanted.includes(id), `${q} ${id}`)
      })
      yield* finds(`vote."${RISK}":APPROVE`, [runId])
      yield* finds(`vote."${RISK}":REJECT`, [open])
      yield* finds(`vote."${RISK}":(REJECT,APPROVE)`, [runId, open])
      yield* finds(`vote."${LEAD}":REJECT`, [runId])
      yield* finds(`-vote."${LEAD}":REJECT`, [open])
      yield* finds(`has:vote."${COST}"`, [runId])
      yield* finds(`vote.stranger:REJECT`, [])
      yield* finds(`dissent:${LEAD}`, [runId])
      yield* finds(`dissent:(${RISK},${LEAD})`, [runId])
      yield* finds("has:dissent", [runId])
      yield* finds("outcome:positive", [runId])
      yield* finds("outcome:for", [runId])
      yield* finds("outcome:(open,negative)", [open])
      yield* finds("has:outcome", [runId])
      yield* finds('proposal:"GO <B>"', [runId, open])
      yield* finds("proposal:%", [])
      const refused = yield* call("GET", `/runs?q=${encodeURIComponent(`vote."${RISK}":MAYBE`)}`)
      assert.strictEqual(refused.status, 400)
      assert.include(refused.text, 'at 21: \\"MAYBE\\" is not a value of vote; expected APPROVE, REJECT, ABSTAIN')
    })
  )

  it.effect("are found by times relative to the search", () =>
    Effect.gen(function* () {
      const runId = yield* runningRun
      const finds = (q: string) => Effect.map(listed(q), (found) => found.includes(runId))
      assert.isTrue(yield* finds("createdAt:>now-1d createdAt:<=now+1h"))
      assert.isTrue(yield* finds("-createdAt:now-2w..now-1w"))
      assert.isFalse(yield* finds("createdAt:now-2w..now-1w"))
      assert.isFalse(yield* finds("-createdAt:>now-90m"))
      assert.isFalse(yield* finds("createdAt:<now-100d OR createdAt:>now+1s"))
      assert.strictEqual((yield* call("GET", "/runs?q=createdAt:>now-1y")).status, 400)
      const events = yield* call("GET", `/events?q=${encodeURIComponent(`runId:${runId} ts:>now-1h`)}`)
      assert.isAbove(events.body.data.length, 0)
      const earlier = yield* call("GET", `/events?q=${encodeURIComponent(`runId:${runId} ts:<now-1h`)}`)
      assert.deepStrictEqual(earlier.body.data, [])
    })
  )

  it.effect("are found by the models of runtime sessions and by alerts", () =>
    Effect.gen(function* () {
      const [runId, other] = [yield* runningRun, yield* runningRun]
      const used = (model: string) =>
        draftEvent(
          "llm.call.completed",
          { ts: AT, subject: { kind: "participant", id: RISK }, source: { kind: "runtime", name: "rust-runtime" } },
          { sender: RISK, decodedPayload: { model, totalTokens: 10 } }
        )
      yield* record(runId, used("gpt-4o"), used("gpt-4o"), used("claude 9"))
      yield* until(listed('model:gpt-4o model:"claude 9"'), (found) => found.includes(runId))
      assert.notInclude(yield* listed("model:gpt-4o"), other)
      assert.include(yield* listed("-model:gpt-4o"), other)
      assert.include(yield* listed("has:model"), runId)
      const rule = yield* addRule({ name: "Costs more than $1" })
      yield* record(runId, spends(2))
      yield* alertsOf(rule, ({ length }) => length > 0)
      for (const name of [rule.id, rule.name]) {
        assert.deepStrictEqual(yield* listed(`alert:"${name}"`), [runId])
      }
      assert.deepStrictEqual(yield* listed("alert:none"), [])
    })
  )

  it.effect("are in saved views as relative as they were written", () =>
    Effect.gen(function* () {
      const q = "createdAt:>now-1d outcome:against"
      const saved = yield* call("POST", "/views", { body: { name: "declined today", resource: "runs", q } })
      assert.strictEqual(saved.status, 201, saved.text)
      const { body } = yield* call("GET", "/views")
      assert.include(JSON.stringify(body), q)
      const { body: described } = yield* call("GET", "/query/fields?resource=runs")
      const field = (name: string) => described.fields.find((one: { readonly name: string }) => one.name === name)
      assert.deepInclude(field("createdAt"), { type: "time", examples: ["now-1h", "now-1d", "now-7d"] })
      assert.deepInclude(field("vote"), { dotted: true, isFast: true, values: ["APPROVE", "REJECT", "ABSTAIN"] })
    })
  )
})
