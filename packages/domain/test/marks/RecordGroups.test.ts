import { assert, describe, it } from "@effect/vitest"
import {
  type AgentVote,
  addGroupedVote,
  emptyGroups,
  groupRecords,
  MAX_RECORD_GROUPS,
  promptText,
  recordText,
  type VoteFacts
} from "@runplane/domain"
import { commits, draftLlmCall, opened, proposes, recordOf, votes } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"

interface Given {
  readonly count: number
  readonly right?: boolean
  readonly confidence?: number
  readonly facts?: Partial<VoteFacts>
}

const vote = (confidence: number | undefined): AgentVote => ({
  isForOutcome: true,
  isAgainstMajority: false,
  isPivotal: false,
  confidence,
  costUsd: 0,
  guessedCostUsd: 0
})

/** Votes in groups, those of the latest runs first. */
const tallyOf = (...given: ReadonlyArray<Given>) =>
  given
    .flatMap((one) => Array.from({ length: one.count }, () => one))
    .reduce(
      (so, { confidence, facts, right }) =>
        addGroupedVote(so, vote(confidence), right, {
          prompt: undefined,
          model: undefined,
          policyVersion: undefined,
          week: "2026-11-23",
          ...facts
        }),
      emptyGroups
    )

const text = (...given: ReadonlyArray<Given>) => recordText(tallyOf(...given), { isCut: false, since: "2026-11-23" })
const v1 = { facts: { prompt: "v1" } }
const v2 = { facts: { prompt: "v2" } }

describe("the record in words", () => {
  it.each<readonly [string, ReadonlyArray<Given>, string]>([
    ["no vote", [], "It voted in no decided run since 2026-11-23."],
    [
      "one vote that is not judged",
      [{ count: 1 }],
      "It voted in 1 decided run since 2026-11-23, and no decision of them is judged: nothing says how often it was right."
    ],
    [
      "one judged vote",
      [{ count: 1, right: true, ...v1 }],
      "Right in 1 of 1 judged decision since 2026-11-23. All with the prompt v1. Its judged votes state no confidence."
    ],
    [
      "few votes, none with a prompt",
      [
        { count: 3, right: true, confidence: 0.9 },
        { count: 1, right: false, confidence: 0.9 }
      ],
      "Right in 75 % of 4 judged decisions since 2026-11-23 (30 % to 95 %). Its runs record no prompt. " +
        "Whether its confidence fits is open with 4 of at least 20 votes that state one."
    ],
    [
      "a new prompt without truth",
      [
        { count: 2, ...v2 },
        { count: 2, right: true, ...v1 }
      ],
      "With the latest prompt v2 no decision is judged yet."
    ],
    [
      "an old prompt without truth",
      [
        { count: 2, right: true, ...v2 },
        { count: 2, ...v1 }
      ],
      "With the latest prompt v2 all of them, with earlier ones no decision is judged."
    ],
    [
      "two prompts, and runs that record none",
      [
        { count: 26, right: true, confidence: 0.95, ...v2 },
        { count: 5, right: false, confidence: 0.95, ...v2 },
        { count: 13, right: true, confidence: 0.95, ...v1 },
        { count: 8, right: false, confidence: 0.95, ...v1 },
        { count: 2, right: true, confidence: 0.95 }
      ],
      "Right in 76 % of 54 judged decisions since 2026-11-23 (63 % to 85 %). " +
        "With the latest prompt v2 right in 84 % of 31 (67 % to 93 %), before in 62 % of 21 (41 % to 79 %): " +
        "22 points more (difference -2 to 45), which may be chance; the runs of 2 record no prompt. " +
        "Overconfident by 19 points (8 to 31): it states 95 % and is right in 76 % of 54."
    ],
    [
      "a prompt that is better beyond chance",
      [
        { count: 95, right: true, ...v2 },
        { count: 5, right: false, ...v2 },
        { count: 50, right: true, ...v1 },
        { count: 50, right: false, ...v1 }
      ],
      "before in 50 % of 100 (40 % to 60 %): 45 points more (difference 34 to 55). Its judged"
    ],
    [
      "a prompt that is worse",
      [
        { count: 50, right: true, ...v2 },
        { count: 50, right: false, ...v2 },
        { count: 95, right: true, ...v1 },
        { count: 5, right: false, ...v1 }
      ],
      "45 points less (difference -55 to -34)."
    ],
    [
      "too little confidence",
      [
        { count: 30, right: true, confidence: 0.6 },
        { count: 1, right: false, confidence: 0.6 }
      ],
      "Underconfident by 37 points (30 to 43): it states 60 % and is right in 97 % of 31."
    ],
    [
      "a confidence that fits",
      [
        { count: 16, right: true, confidence: 0.8 },
        { count: 4, right: false, confidence: 0.8 }
      ],
      "Neither over- nor underconfident as far as 20 votes show: it states 80 % and is right in 80 % of 20, a difference of -18 to 18 points."
    ]
  ])("of %s", (_, given, expected) => {
    assert.include(text(...given), expected)
  })

  it("says that there are more runs", () => {
    assert.include(
      recordText(tallyOf({ count: 2, right: true }), { isCut: true }),
      "judged decisions, of the latest runs ("
    )
  })

  it("does not call a few equal votes a known confidence", () => {
    const [record] = groupRecords(tallyOf({ count: 3, right: true, confidence: 0.9 }), "week")
    assert.deepInclude(record?.confidence?.gap, { low: -1 })
  })
})

describe("the groups of a record", () => {
  it("are in the order of the latest run, the unknown ones at the end, and add up", () => {
    const tally = tallyOf({ count: 2, right: true, ...v2 }, { count: 1 }, { count: 3, right: false, ...v1 })
    const found = groupRecords(tally, "prompt")
    assert.deepStrictEqual(
      found.map(({ judged, name, right, runs }) => [name, runs, judged, right]),
      [
        ["v2", 2, 2, 2],
        ["v1", 3, 3, 0],
        [undefined, 1, 0, 0]
      ]
    )
    assert.deepStrictEqual(groupRecords(emptyGroups, "week"), [])
  })

  it("are bounded, and the votes of older ones are counted", () => {
    const many = Array.from({ length: MAX_RECORD_GROUPS + 3 }, (_, at) => ({ count: 1, facts: { prompt: `v${at}` } }))
    const tally = tallyOf(...many)
    assert.lengthOf(groupRecords(tally, "prompt"), MAX_RECORD_GROUPS)
    assert.strictEqual(tally.older.prompt.runs, 3)
    assert.strictEqual(tally.all.runs, MAX_RECORD_GROUPS + 3)
  })
})

describe("a prompt for readers", () => {
  it.each([
    [{ name: null, version: null, hash: null }, undefined],
    [{ name: "", version: null, hash: "" }, undefined],
    [{ name: "risk", version: "3", hash: null }, "risk 3"],
    [{ name: null, version: null, hash: "9f86d081884c7d659a2f" }, "9f86d081884c"],
    [{ name: "risk", version: null, hash: "9f86d081884c7d659a2f" }, "risk (9f86d081884c)"]
  ])("%j is %s", (given, expected) => {
    assert.strictEqual(promptText(given), expected)
  })
})

describe("the models of a participant", () => {
  it("are those of its calls up to the decision, each once", () => {
    const { models } = recordOf(
      opened(),
      proposes("a"),
      draftLlmCall("a", "m1"),
      draftLlmCall("a", "m2"),
      draftLlmCall("a", "m1"),
      draftLlmCall("b", "m3"),
      votes("a", "APPROVE"),
      commits(true),
      draftLlmCall("a", "m4")
    )
    assert.deepStrictEqual(
      [...models],
      [
        ["a", ["m1", "m2"]],
        ["b", ["m3"]]
      ]
    )
  })

  it("have the prompts beside them that its spans state", () => {
    const call = (sender: string, promptHash: string) =>
      draft("llm.call.completed", { sender, promptHash, decodedPayload: { model: "m", totalTokens: 2 } })
    const { prompts } = recordOf(
      opened(),
      proposes("a"),
      call("a", "h1"),
      call("a", "h1"),
      call("b", "h2"),
      draftLlmCall("c", "m1"),
      commits(true),
      call("a", "h3")
    )
    assert.deepStrictEqual(
      [...prompts],
      [
        ["a", ["h1"]],
        ["b", ["h2"]]
      ]
    )
  })
})
