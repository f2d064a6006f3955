import { assert, describe, it } from "@effect/vitest"
import {
  artifactCreated,
  type EventFacts,
  measureOf,
  sentenceOf,
  sentenceText,
  TurnRecord,
  turnFactOf
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { eventsOf } from "../../support/deliberations.ts"
import { reread } from "../../support/events.ts"
import { turnRecord as base } from "./TurnRecords.ts"

const facts: EventFacts = {
  ...{ silenceMs: undefined, durationMs: undefined, streak: 0, isMindChange: false, end: undefined },
  isFailedAfterAll: false
}

const eventOf = (record: TurnRecord) => {
  const artifact = { artifactId: "a", kind: "a2a.turn", label: "Turn of remote", turn: turnFactOf(record) }
  const event = eventsOf(artifactCreated("2026-11-30T10:05:00.000Z", artifact, "observability-controller"))[0]
  if (event === undefined) throw new Error("no event")
  // As it is read from the log.
  return reread(event)
}

describe("the record of a turn", () => {
  it.each([
    ["failed", base, 1, "remote has a failed turn: late (hash 1a2b3c4d), and does not act"],
    [
      "failed, with an abstention",
      { ...base, outcome: "acted", origin: "failure", act: "abstain" },
      1,
      "remote has a failed turn: late (hash 1a2b3c4d), so it abstains"
    ],
    ["acted", { ...base, outcome: "acted", failure: undefined, act: "approve" }, 0, undefined],
    ["ended", { ...base, outcome: "ended", failure: undefined }, 0, undefined]
  ] as const)("that %s", (_, { failure, ...record }, count, words) => {
    const event = eventOf({ ...record, ...(failure !== undefined && { failure }) })
    assert.lengthOf(measureOf("failedTurns").change(event, facts, false), count)
    assert.lengthOf(measureOf("personSilent").change(event, facts, false), 0)
    const sentence = sentenceOf(event)
    assert.strictEqual(sentence && `${sentence.who} ${sentenceText(sentence, () => "")}`, words)
  })

  it("has no other member", () => {
    const decode = Schema.decodeUnknownResult(TurnRecord, { onExcessProperty: "error" })
    assert.strictEqual(decode(base)._tag, "Success")
    assert.strictEqual(decode({ ...base, text: "a text of the agent" })._tag, "Failure")
  })
})
