import { assert, describe, it } from "@effect/vitest"
import {
  artifactCreated,
  type EventDraft,
  makeNormaliser,
  makeRedactor,
  measureOf,
  noMemory,
  noRedactor,
  type PayloadDecoder,
  RECEIPT_ARTIFACT,
  type ReceiptReport,
  readCommitment,
  reasonedCard,
  receiptReportIn,
  remember,
  specifiedPrices,
  why,
  whyHtml,
  whyMarkdown
} from "@runplane/domain"
import * as Result from "effect/Result"
import { commits, eventsOf, governed, opened, proposes, votes } from "../support/deliberations.ts"
import { sha256 } from "../support/digests.ts"
import { at, fold } from "../support/events.ts"
import { envelopeFrame, NOW, utf8 } from "../support/frames.ts"
import { FAIL_OVER, wireOf } from "../support/receipts.ts"

const HASH = "sha256:ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93"

const receipted = (receipt: ReceiptReport | undefined, kind = RECEIPT_ARTIFACT): EventDraft =>
  artifactCreated(at(0), { artifactId: "a1", kind, label: "Receipt of the decision", receipt }, "run-executor")

const VERIFIED: ReceiptReport = { verified: true, signed: true, issuer: "runtime:zurich", hash: HASH, keyId: "k1" }
const REFUTED: ReceiptReport = {
  verified: false,
  signed: true,
  issuer: "runtime:<b>",
  disagreements: ["reason"],
  reason: "it disagrees with the log in reason"
}

describe("the hash of a Commitment", () => {
  const decode: PayloadDecoder = (_, bytes) => ({ ...Result.getOrUndefined(readCommitment(bytes)) })
  const finalized = (payload: Uint8Array, patterns = "", messageType = "Commitment") => {
    const { redactor } = patterns === "" ? { redactor: noRedactor } : makeRedactor(patterns)
    const normaliser = makeNormaliser({ decode, redactor, prices: specifiedPrices, sha256 })
    return normaliser.normalise(new Set(), envelopeFrame(messageType, payload), NOW).drafts.at(-1)
  }

  it("is in decision.finalized, and stays that of the whole text when that is redacted", () => {
    for (const patterns of ["", "specialists"]) {
      const event = finalized(wireOf(FAIL_OVER), patterns)
      assert.strictEqual(event?.type, "decision.finalized")
      assert.strictEqual(event?.recorded.data["commitmentHash"], HASH)
    }
  })

  it("is absent for JSON and for a field that it does not cover", () => {
    for (const payload of [
      utf8('{"action":"decision.selected"}'),
      Uint8Array.from([...wireOf(FAIL_OVER), 82, 1, 120])
    ]) {
      const event = finalized(payload)
      assert.strictEqual(event?.type, "decision.finalized")
      assert.notProperty(event?.recorded.data, "commitmentHash")
    }
  })
})

describe("a receipt in the log", () => {
  const decided = [...opened(), proposes("a"), votes("a", "APPROVE"), votes("b", "APPROVE"), commits(true)]

  it("is in the state of a decision, the last one of several", () => {
    const { current } = fold([...decided, receipted(REFUTED), receipted(VERIFIED)]).decision
    assert.deepStrictEqual(current?.receipt, VERIFIED)
    assert.isTrue(current?.finalized)
  })

  it("is bounded in the state", () => {
    const reason = "\u0001".repeat(100_000)
    const { current } = fold([...decided, receipted({ ...REFUTED, reason, disagreements: [reason, reason] })]).decision
    assert.isBelow(JSON.stringify(current?.receipt).length, 16_000)
  })

  it("does not open a decision, and neither does an artifact without a report", () => {
    assert.deepStrictEqual(fold([...opened(), receipted(VERIFIED)]).decision, {})
    assert.notProperty(fold([...decided, receipted(undefined)]).decision.current, "receipt")
  })

  it("is in the decision record and its pages, escaped", () => {
    const { by, run } = governed([...decided, receipted(REFUTED)])
    const answer = reasonedCard(run, by)
    assert.deepStrictEqual(answer.why.receipt, REFUTED)
    const line = "receipt of the runtime: not verified (issuer runtime:"
    assert.include(whyMarkdown(answer), `${line}&lt;b&gt;): it disagrees with the log in reason`)
    assert.include(whyHtml(answer), `${line}&lt;b&gt;): it disagrees with the log in reason`)
    assert.notProperty(why(governed(decided).run, by), "receipt")
  })

  it("counts for the measure receiptFaults unless it is verified", () => {
    const values = eventsOf([receipted(REFUTED), receipted(VERIFIED), receipted(undefined), commits(true)]).map(
      (event) => measureOf("receiptFaults").change(event, remember(noMemory(), event), false).length
    )
    assert.deepStrictEqual(values, [1, 0, 0, 0])
  })

  it.each([["x"], [null], [{}], [{ verified: "yes" }]])("of another maker that is %j has no report", (receipt) => {
    const { recorded } = receipted(VERIFIED)
    assert.isUndefined(receiptReportIn({ ...recorded.data, receipt }))
  })
})
