import { assert, describe, it } from "@effect/vitest"
import { DAY, delegates, type Found, type Given, HOUR, instant, modelAt, OPENED } from "./escalationModel.ts"

const STEPS: NonNullable<Given["rules"]> = {
  deadline: "4h",
  escalate: [
    { after: "1h", to: ["group:leads"] },
    { after: "3h", to: ["person:cro"] }
  ]
}
const given = (more: Given = {}): Given => ({ ...more, rules: { ...STEPS, ...more.rules } })
const escalating = (...to: ReadonlyArray<string>): NonNullable<Given["rules"]> => ({ escalate: [{ after: "1h", to }] })
const dee = (more: Parameters<typeof delegates>[2] = {}) => ({ delegations: [delegates("ana", "dee", more)] })

/** `who | steps | alerts | state` */
const shown = ({ alerts, state, steps, who }: Found): string =>
  [who.join(", "), steps.join(" "), alerts.join(", "), state].join(" | ")

/** What is so after some hours. */
const rows: ReadonlyArray<readonly [title: string, given: Given, hours: number, expected: string]> = [
  // Escalation by time.
  ["no step at the opening", given(), 0, "ana, bo |  |  | open"],
  ["no step a moment before its time", given(), 1 - 1 / HOUR, "ana, bo |  |  | open"],
  ["the first step at its time", given(), 1, "ana, bo, lea | 1 |  | open"],
  ["the first step until the second", given(), 3 - 1 / HOUR, "ana, bo, lea | 1 |  | open"],
  ["both steps, and all persons from before", given(), 3, "ana, bo, lea, cro | 1 2 |  | open"],
  ["no answer after the deadline", given(), 4, " | 1 2 |  | expired"],
  ["the act of the deadline", given({ rules: { onDeadline: "reject" } }), 4, " | 1 2 |  | accepted"],
  ["steps without a deadline", given({ rules: { deadline: "2d" } }), 30, "ana, bo, lea, cro | 1 2 |  | open"],
  [
    "steps in the order of their times",
    given({
      rules: {
        escalate: [
          { after: "3h", to: ["person:cro"] },
          { after: "1h", to: ["group:leads"] }
        ]
      }
    }),
    2,
    "ana, bo, lea | 2 |  | open"
  ],
  ["a step to a person who may answer already", given({ rules: escalating("person:ana") }), 1, "ana, bo | 1 |  | open"],
  [
    "a step to a group and a person",
    given({ rules: escalating("group:leads", "person:cro") }),
    1,
    "ana, bo, lea, cro | 1 |  | open"
  ],
  ["a colleague by a return, with a step", given({ returnedTo: ["person:eve"] }), 1, "ana, bo, lea, eve | 1 |  | open"],
  // Escalation to no person.
  [
    "a group without a member",
    given({ rules: escalating("group:empty") }),
    0,
    "ana, bo |  | opens, step 1: none | open"
  ],
  [
    "a group without a member when its step comes",
    given({ rules: escalating("group:empty") }),
    1,
    "ana, bo | 1 | opens, step 1: none, step 1: none | open"
  ],
  [
    "the requester alone",
    given({ rules: escalating("person:rita"), requester: "rita" }),
    0,
    "ana, bo |  | opens, step 1: none | open"
  ],
  [
    "a group of the requester alone",
    given({ rules: escalating("group:board"), requester: "rita" }),
    0,
    "ana, bo |  | opens, step 1: none | open"
  ],
  [
    "the person of another seat alone",
    given({ rules: escalating("person:otto"), otherSeat: ["otto"] }),
    0,
    "ana, bo |  | opens, step 1: none | open"
  ],
  [
    "the requester and another person",
    given({ rules: escalating("person:rita", "person:cro"), requester: "rita" }),
    1,
    "ana, bo, cro | 1 |  | open"
  ],
  [
    "the requester where the rules allow it",
    given({ rules: { ...escalating("person:rita"), distinctFrom: [] }, requester: "rita" }),
    1,
    "ana, bo, rita | 1 |  | open"
  ],
  [
    "another seat that is not excluded",
    given({ rules: { ...escalating("person:otto"), distinctFrom: ["requester"] }, otherSeat: ["otto"] }),
    1,
    "ana, bo, otto | 1 |  | open"
  ],
  [
    "a group that only tokens can have",
    given({ rules: escalating("group:empty"), known: { elsewhere: "tokens" } }),
    0,
    "ana, bo |  |  | open"
  ],
  [
    "a group that only tokens can have when its step comes",
    given({ rules: escalating("group:empty"), known: { elsewhere: "tokens" } }),
    1,
    "ana, bo | 1 | step 1: unknown | open"
  ],
  [
    "a group with a known member of a token",
    given({ known: { elsewhere: "tokens" } }),
    1,
    "ana, bo, lea | 1 |  | open"
  ],
  [
    "the requester alone beside tokens",
    given({ rules: escalating("person:rita"), requester: "rita", known: { elsewhere: "tokens" } }),
    0,
    "ana, bo |  | opens, step 1: none | open"
  ],
  [
    "the second of two steps",
    given({
      rules: {
        escalate: [
          { after: "1h", to: ["group:leads"] },
          { after: "2h", to: ["group:empty"] }
        ]
      }
    }),
    1,
    "ana, bo, lea | 1 | opens, step 2: none | open"
  ],
  // Delegation.
  ["a delegate beside its author", given(dee()), 0, "ana, bo, dee for ana |  |  | open"],
  [
    "a delegate of a person who is not assigned",
    given({ delegations: [delegates("eve", "dee")] }),
    0,
    "ana, bo |  |  | open"
  ],
  [
    "a delegate of a person whom a step adds",
    given({ delegations: [delegates("cro", "dee")] }),
    3,
    "ana, bo, lea, cro, dee for cro | 1 2 |  | open"
  ],
  [
    "no delegate of a delegate",
    given({ delegations: [delegates("ana", "dee"), delegates("dee", "eve")] }),
    0,
    "ana, bo, dee for ana |  |  | open"
  ],
  [
    "two that delegate to each other",
    given({ delegations: [delegates("ana", "dee"), delegates("dee", "ana")] }),
    0,
    "ana, bo, dee for ana |  |  | open"
  ],
  ["a delegation to itself", given({ delegations: [delegates("eve", "eve")] }), 0, "ana, bo |  |  | open"],
  ["a delegation that has not begun", given(dee({ fromUnixMs: OPENED + 2 * HOUR })), 1, "ana, bo, lea | 1 |  | open"],
  [
    "a delegation that has begun meanwhile",
    given(dee({ fromUnixMs: OPENED + 2 * HOUR })),
    2,
    "ana, bo, lea, dee for ana | 1 |  | open"
  ],
  ["a delegation that has ended", given(dee({ untilUnixMs: OPENED + 2 * HOUR })), 2, "ana, bo, lea | 1 |  | open"],
  ["a delegation that was revoked", given(dee({ revokedAtUnixMs: OPENED + HOUR })), 1, "ana, bo, lea | 1 |  | open"],
  [
    "a delegation for this scenario",
    given(dee({ scenarios: ["demo/people"] })),
    0,
    "ana, bo, dee for ana |  |  | open"
  ],
  [
    "a delegation for this version",
    given(dee({ scenarios: ["demo/people@1.0.0"] })),
    0,
    "ana, bo, dee for ana |  |  | open"
  ],
  [
    "a delegation for other scenarios",
    given(dee({ scenarios: ["demo/other", "demo/people@2.0.0"] })),
    0,
    "ana, bo |  |  | open"
  ],
  ["a delegate who is assigned itself", given({ delegations: [delegates("ana", "bo")] }), 0, "ana, bo |  |  | open"],
  // Delegation and distinct persons.
  [
    "a delegation to the requester",
    given({ delegations: [delegates("ana", "rita")], requester: "rita" }),
    0,
    "ana, bo, lea | 1 |  | open"
  ],
  [
    "a delegation to the requester, later",
    given({ delegations: [delegates("ana", "rita")], requester: "rita" }),
    3,
    "ana, bo, lea, cro | 1 2 |  | open"
  ],
  [
    "a delegation to the person of another seat",
    given({ delegations: [delegates("ana", "otto")], otherSeat: ["otto"] }),
    0,
    "ana, bo, lea | 1 |  | open"
  ],
  [
    "a delegation to the requester without a step",
    given({ rules: { escalate: [] }, delegations: [delegates("ana", "rita")], requester: "rita" }),
    0,
    "ana, bo |  | opens, no step | open"
  ],
  [
    "a delegation to the requester, and a step to no person",
    given({ rules: escalating("group:empty"), delegations: [delegates("ana", "rita")], requester: "rita" }),
    0,
    "ana, bo | 1 | opens, step 1: none, step 1: none | open"
  ],
  [
    "a delegation to the requester where the rules allow it",
    given({ rules: { distinctFrom: [] }, delegations: [delegates("ana", "rita")], requester: "rita" }),
    0,
    "ana, bo, rita for ana |  |  | open"
  ],
  [
    "a delegation to the requester for another scenario",
    given({ delegations: [delegates("ana", "rita", { scenarios: ["demo/other"] })], requester: "rita" }),
    0,
    "ana, bo |  |  | open"
  ],
  [
    "a delegation of the requester",
    given({ delegations: [delegates("ana", "dee")], requester: "ana" }),
    0,
    "bo |  |  | open"
  ],
  [
    "a delegation of the person of another seat",
    given({ delegations: [delegates("ana", "dee")], otherSeat: ["ana"] }),
    0,
    "bo |  |  | open"
  ],
  [
    "a delegate whose author answered the other seat by it",
    given({ delegations: [delegates("ana", "dee")], otherSeat: ["dee", "ana"] }),
    0,
    "bo, lea | 1 |  | open"
  ]
]

describe("the escalation of a question", () => {
  it.each(rows)("has %s", (_, of, hours, expected) => {
    assert.strictEqual(shown(modelAt(of, (of.openedAt ?? OPENED) + hours * HOUR)), expected)
  })

  it("wakes for the next step, and then for the deadline", () => {
    const wakes = [0, 1, 3].map((hours) => modelAt(given(), OPENED + hours * HOUR).wakeAtUnixMs)
    assert.deepStrictEqual(
      wakes,
      [1, 3, 4].map((hours) => OPENED + hours * HOUR)
    )
  })
})

/** Zones: the hour that comes twice in October, and the one that is missing in March. */
describe("the times of a delegation and of steps in a zone", () => {
  const october = instant("2026-10-25T00:00[Europe/Berlin]")
  const march = instant("2026-03-29T00:00[Europe/Berlin]")
  const endsAt = (openedAt: number, until: string): Given =>
    given({
      openedAt,
      rules: { deadline: "12h", escalate: [] },
      ...dee({ fromUnixMs: openedAt - DAY, untilUnixMs: instant(until) })
    })
  const whoAt = (of: Given, at: string) => modelAt(of, instant(at)).who.join(", ")

  const table: ReadonlyArray<readonly [title: string, given: Given, at: string, who: string]> = [
    [
      "the first 02:30 of October, before it",
      endsAt(october, "2026-10-25T02:30+02:00"),
      "2026-10-25T02:29+02:00",
      "ana, bo, dee for ana"
    ],
    [
      "the first 02:30 of October, at it",
      endsAt(october, "2026-10-25T02:30+02:00"),
      "2026-10-25T02:30+02:00",
      "ana, bo"
    ],
    [
      "the second 02:30 of October, at the first",
      endsAt(october, "2026-10-25T02:30+01:00"),
      "2026-10-25T02:30+02:00",
      "ana, bo, dee for ana"
    ],
    [
      "the second 02:30 of October, at it",
      endsAt(october, "2026-10-25T02:30+01:00"),
      "2026-10-25T02:30+01:00",
      "ana, bo"
    ],
    [
      "03:00 in October, in the hour that comes twice",
      endsAt(october, "2026-10-25T03:00[Europe/Berlin]"),
      "2026-10-25T02:59+01:00",
      "ana, bo, dee for ana"
    ],
    [
      "03:00 in March, a minute before it",
      endsAt(march, "2026-03-29T03:00[Europe/Berlin]"),
      "2026-03-29T01:59+01:00",
      "ana, bo, dee for ana"
    ],
    [
      "03:00 in March, a minute later",
      endsAt(march, "2026-03-29T03:00[Europe/Berlin]"),
      "2026-03-29T03:00+02:00",
      "ana, bo"
    ],
    [
      "18:00 in New York",
      endsAt(OPENED, "2026-12-01T06:00[America/New_York]"),
      "2026-12-01T11:59+01:00",
      "ana, bo, dee for ana"
    ]
  ]

  it.each(table)("end a delegation until %s", (_, of, at, who) => {
    assert.strictEqual(whoAt(of, at), who)
  })

  it("make a step after elapsed hours, whatever the clocks do", () => {
    const of = given({ openedAt: instant("2026-10-25T01:30[Europe/Berlin]"), rules: escalating("group:leads") })
    assert.deepStrictEqual(modelAt(of, instant("2026-10-25T02:29:59+02:00")).steps, [])
    assert.deepStrictEqual(modelAt(of, instant("2026-10-25T02:30+02:00")).steps, [1])
  })
})
