import { assert, describe, it } from "@effect/vitest"
import { evidenceReader, type RunEvidence, runSliced } from "@runplane/domain"
import { commits, type Drafts, eventsOf, opened, proposes, votes } from "../support/deliberations.ts"
import { sha256 } from "../support/digests.ts"
import { draft, reread } from "../support/events.ts"

const evidenceOf = (...drafts: Drafts): RunEvidence => {
  const reader = evidenceReader(sha256, () => undefined)
  for (const event of eventsOf(...drafts)) runSliced(reader.take(reread(event)))
  return runSliced(reader.read({ scenario: "loans/fast@1.0.0" }))
}

const rules = { voting: { algorithm: "majority" } }
const calls = (data: Readonly<Record<string, string | number>>) =>
  draft("llm.call.completed", { sender: "a", decodedPayload: { model: "m", promptTokens: 2, totalTokens: 2, ...data } })

describe("the evidence of a run", () => {
  it("has no gap in a run without one, and names each kind", () => {
    const { gaps } = evidenceOf(opened({ rules }), proposes())
    assert.lengthOf(Object.keys(gaps), 8)
    for (const gap of Object.values(gaps)) assert.deepInclude(gap, { count: 0, events: [] })
  })

  it("counts late spans, gaps of the stream, assumed senders, guessed prices and calls without usage", () => {
    const { gaps } = evidenceOf(
      draft("session.stream.opened", { status: "gap", detail: "history was dropped" }),
      draft("session.stream.opened", { status: "opened" }),
      draft("message.received", { sender: "a", late: true }),
      draft("message.received", { sender: "a", attribution: "assumed" }),
      draft("message.received", { sender: "a", altered: { amount: 1 } }),
      calls({ costBasis: "fallback", estimatedCostUsd: 1 }),
      calls({ costBasis: "catalogue", estimatedCostUsd: 1, prompt: "Rate it" }),
      calls({ usage: "missing" })
    )
    const counts = Object.fromEntries(Object.entries(gaps).map(([kind, { count }]) => [kind, count]))
    assert.deepStrictEqual(counts, {
      ...{ streamGaps: 1, lateSpans: 1, assumedAttributions: 1, guessedPrices: 1, callsWithoutUsage: 1 },
      ...{ callsWithoutPrompt: 2, alteredMessages: 1, unknownEvents: 0 }
    })
    assert.deepInclude(gaps.streamGaps.events[0], { index: 1, detail: "history was dropped" })
    assert.deepInclude(gaps.guessedPrices.events[0], { index: 6, detail: "m" })
  })

  it("lists the first 200 events of a kind, and counts all", () => {
    const late = Array.from({ length: 203 }, () => draft("message.received", { sender: "a", late: true }))
    const { lateSpans } = evidenceOf(late).gaps
    assert.strictEqual(lateSpans.count, 203)
    assert.lengthOf(lateSpans.events, 200)
  })

  it("sums the calls of a model, and hashes its prompts", () => {
    const { models } = evidenceOf(
      calls({ prompt: "Rate it", estimatedCostUsd: 0.1, costBasis: "builtin" }),
      calls({ prompt: "Rate it", estimatedCostUsd: 0.2 }),
      calls({ prompt: "", model: "other" })
    )
    assert.deepStrictEqual(
      models.models.map(({ calls: count, estimatedCostUsd, model }) => [model, count, estimatedCostUsd]),
      [
        ["m", 2, 0.3],
        ["other", 1, 0]
      ]
    )
    const [first, second, third] = models.calls
    assert.strictEqual(first?.promptSha256, Buffer.from(sha256(Buffer.from("Rate it"))).toString("hex"))
    assert.strictEqual(second?.promptSha256, first?.promptSha256)
    // An erased prompt is empty.
    assert.isUndefined(third?.promptSha256)
  })

  it("makes a forecast after each ballot, of the time of that ballot", () => {
    const { forecasts, whatIf } = evidenceOf(
      opened({ rules }),
      proposes(),
      votes("a", "APPROVE"),
      votes("b", "APPROVE")
    )
    assert.deepStrictEqual(
      forecasts.map(({ by, forecast, index }) => [by, index, forecast.atIndex]),
      [
        ["a", 5, 5],
        ["b", 6, 6]
      ]
    )
    assert.isFalse("unknown" in whatIf)
  })

  it("says why nothing is known without rules", () => {
    const { oversight, policy, whatIf } = evidenceOf(
      draft("run.created", { status: "queued", modeName: "mode.of.mine" })
    )
    assert.deepInclude(policy, { policyVersion: null, source: "unknown", rules: null })
    assert.deepStrictEqual(whatIf, { unknown: "no event names the policy of the session" })
    assert.deepInclude(oversight, { initiator: null, authority: null, commitment: null, participants: [] })
  })

  it("names who could commit, who stayed silent, who changed a ballot, and what was stopped", () => {
    const { oversight } = evidenceOf(
      opened({ rules }),
      proposes(),
      votes("a", "REJECT"),
      draft("run.suspended", { reason: "wait" }),
      draft("run.resumed", {}),
      votes("a", "APPROVE"),
      commits(true)
    )
    assert.strictEqual(oversight.authority, "initiator_only")
    assert.deepStrictEqual(
      oversight.participants.map(({ acts, id, mayCommit }) => [id, mayCommit, acts]),
      [
        ["lead", true, 1],
        ["a", false, 3],
        ["b", false, 0],
        ["c", false, 0]
      ]
    )
    assert.deepStrictEqual(oversight.silent, ["b", "c"])
    assert.deepInclude(oversight.overrides[0], { kind: "changed-ballot", by: "a" })
    assert.deepStrictEqual(
      oversight.interventions.map(({ kind, reason, suspendedMs }) => [kind, reason, suspendedMs]),
      [
        ["suspended", "wait", undefined],
        ["resumed", undefined, 1_000]
      ]
    )
    assert.deepInclude(oversight.commitment, { by: "lead", action: "decision.selected", positive: true })
  })

  it("names a commitment against its votes, and one that replaces an earlier decision", () => {
    const against = evidenceOf(
      opened({ rules: { voting: { algorithm: "none" } } }),
      ...[proposes(), votes("a", "REJECT"), votes("b", "REJECT")],
      draft("decision.finalized", {
        ...{ sender: "lead", messageType: "Commitment" },
        decodedPayload: {
          ...{ action: "decision.selected", outcome_positive: true },
          supersedes: { sessionId: "s0", commitmentHash: "sha256:0" }
        }
      })
    ).oversight.overrides
    assert.sameMembers(
      against.map(({ kind }) => kind),
      ["against-votes", "supersedes"]
    )
  })

  it("is the same whenever it is made", () => {
    const drafts = [opened({ rules }), proposes(), votes("a", "APPROVE"), commits(true)]
    assert.deepStrictEqual(evidenceOf(...drafts), evidenceOf(...drafts))
    assert.notInclude(evidenceOf(...drafts).why, "printed at")
    assert.include(evidenceOf(...drafts).why, "scenario loans/fast\\@1.0.0")
  })
})
