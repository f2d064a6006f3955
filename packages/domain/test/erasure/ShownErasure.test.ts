import { assert, describe, it } from "@effect/vitest"
import { decisionRecord, decodeEventText, ERASED_TEXT, projectAll } from "@runplane/domain"
import * as Result from "effect/Result"
import { erase, whollyErased } from "../seals/erasures.ts"
import { commits, eventsOf, opened, says, votes } from "../support/deliberations.ts"
import { draft, number, RUN_ID, textOf } from "../support/events.ts"

describe("an erased text", () => {
  const events = eventsOf(
    opened(),
    says("a", "Proposal", { option: "refund", rationale: "Ann waited" }),
    says("b", "Objection", { severity: "low", reason: "no receipt" }),
    votes("a", "APPROVE"),
    says("b", "Vote", { vote: "APPROVE", reason: "" }),
    commits(true)
  )
  const erased = events.map(whollyErased)

  it("is shown as erased in the record and in the state", () => {
    const reasons = decisionRecord(erased).acts.map(({ reason }) => reason)
    assert.include(reasons, ERASED_TEXT)
    assert.notInclude(JSON.stringify(projectAll(RUN_ID, erased)), "no receipt")
    assert.include(JSON.stringify(projectAll(RUN_ID, erased)), ERASED_TEXT)
  })

  it("stays empty in what the log has recorded, which is what the chain covers", () => {
    for (const event of erased) assert.notInclude(JSON.stringify(event.recorded.data), ERASED_TEXT)
  })

  it("is not what an agent writes", () => {
    const [text = ""] = number([
      draft("tool.called", {
        erased: [{ pointer: "/data/decodedPayload/note", at: "x", reason: "y" }],
        decodedPayload: { erased: true, note: "" }
      })
    ]).map(textOf)
    const event = Result.getOrThrow(decodeEventText(text))
    assert.notInclude(JSON.stringify(event.data), ERASED_TEXT)
    assert.notProperty(event.recorded, "erased")
    assert.property(Result.getOrThrow(decodeEventText(erase(text, ["/data/decodedPayload/note"]))).recorded, "erased")
  })
})
