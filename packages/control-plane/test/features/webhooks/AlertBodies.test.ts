import { assert, describe, it } from "@effect/vitest"
import { type AlertFormat, type AlertNotice, alertBody } from "@runplane/domain"
import { Ajv2020 } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { RECEIVERS } from "./AlertReceivers.ts"

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
const FORMATS = Object.keys(RECEIVERS) as ReadonlyArray<AlertFormat>
const validators = new Map(FORMATS.map((format) => [format, ajv.compile(RECEIVERS[format])]))

/** The body as the receiver reads it. */
const bodyOf = (format: AlertFormat, notice: AlertNotice): ReturnType<typeof JSON.parse> =>
  JSON.parse(JSON.stringify(alertBody(format, notice)))

const assertValid = (format: AlertFormat, notice: AlertNotice) => {
  const body = bodyOf(format, notice)
  const validate = validators.get(format)
  assert.isTrue(validate?.(body), `${format}: ${JSON.stringify(validate?.errors)}`)
  assert.isBelow(Buffer.byteLength(JSON.stringify(body)), 28_000)
  return body
}

const firing: AlertNotice["firing"] = {
  id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10",
  ruleId: "support-budget",
  ruleName: "Budget of support",
  measure: "costUsd",
  per: "scenario",
  window: "month",
  key: "support/refund@1.0.0",
  period: "2026-07",
  periodEndsAt: "2026-07-31T22:00:00.000Z",
  level: 1,
  at: 95,
  severity: "critical",
  value: 96.4,
  runId: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11",
  scenarioRef: "support/refund@1.0.0",
  seq: 4711,
  status: "open",
  startsAt: "2026-07-20T10:00:00.000Z",
  silenced: false
}

const fired: AlertNotice = {
  event: "alert.fired",
  timestamp: "2026-07-20T10:00:01.000Z",
  firing,
  link: "https://runs.example.org/console/#/runs/0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11",
  routingKey: "R0UT1NGKEY0123456789012345678901"
}
const repeated: AlertNotice = { ...fired, event: "alert.repeated", timestamp: "2026-07-20T10:05:00.000Z" }
const resolved: AlertNotice = {
  ...fired,
  event: "alert.resolved",
  timestamp: "2026-07-31T22:00:00.000Z",
  firing: { ...firing, status: "resolved", endsAt: "2026-07-31T22:00:00.000Z", resolvedBy: "period" }
}
const actionFailed: AlertNotice = {
  ...fired,
  event: "alert.action_failed",
  failedAction: { type: "suspend", error: "the session does not allow it" }
}

/** Markup of each receiver, a megabyte, control characters, directions of lines, halves of characters. */
const HOSTILE = [
  "<!channel> <https://evil.example|log in> <script>alert(1)</script> & \" '",
  "**bold** [log in](https://evil.example) `code` {{ template }}",
  "a\r\nBcc: all@example.org\n\nhello\u0000\u001b[31m\u0085",
  "\u202etxt.exe\u2066 \u200f مرحبا",
  "\ud83d",
  "👩‍👩‍👧‍👦".repeat(400),
  "&".repeat(5_000),
  "x".repeat(1_000_000)
]

const hostile = (text: string, notice: AlertNotice): AlertNotice => ({
  ...notice,
  link: `https://runs.example.org/?q=${text}`,
  failedAction: { type: text, error: text },
  routingKey: "R0UT1NGKEY0123456789012345678901",
  firing: {
    ...notice.firing,
    ruleName: text,
    key: text,
    scenarioRef: text,
    acknowledgedBy: text,
    note: text,
    measure: `markBelow:${text}`
  }
})

/** Each text of a body, the keys included. */
const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)])
}

describe.each(FORMATS)("the format %s", (format) => {
  it.each([
    ["fired", fired],
    ["repeated", repeated],
    ["resolved", resolved],
    ["action_failed", actionFailed]
  ] as const)("%s is what the receiver takes", (_, notice) => {
    const text = JSON.stringify(assertValid(format, notice))
    assert.include(text, format === "generic" ? '"value":96.4' : "$96.40")
    assert.include(text, "Budget of support")
    if (notice.failedAction !== undefined) assert.include(text, notice.failedAction.error)
  })

  it.each(HOSTILE)("bounds and escapes hostile names %#", (text) => {
    for (const notice of [fired, resolved]) {
      const body = assertValid(format, hostile(text, notice))
      for (const each of textsOf(body)) {
        // A relay or a terminal must not act on any text; lines are separated by us alone.
        assert.notMatch(each, /[\p{Bidi_Control}\0-\t\v-\x1f\x7f-\x9f]/u)
        assert.isTrue(each.isWellFormed())
      }
    }
  })

  it.prop("is what the receiver takes, whatever the names", [Arbitrary.schema(Schema.String)], ([text]) => {
    assertValid(format, hostile(text === "" ? "-" : text, fired))
  })
})

describe("the sentences of an alert", () => {
  const mail = (notice: AlertNotice) => bodyOf("mail", notice)

  it("speak of the value of the firing in the past, once the alert has fired", () => {
    assert.include(mail(fired).subject, "cost is $96.40, threshold $95.00")
    for (const notice of [repeated, resolved]) {
      assert.include(mail(notice).subject, "cost was $96.40, threshold $95.00")
    }
  })

  it.each([
    ["value", "as the value is back on the other side of its bound"],
    ["period", "as the period ended"],
    ["run", "as the run ended"],
    ["rule", "as the rule was changed, disabled or removed"]
  ] as const)("say why it ended: %s", (resolvedBy, text) => {
    const { text: body } = mail({ ...resolved, firing: { ...resolved.firing, resolvedBy } })
    assert.include(body, `Resolved: 2026-07-31T22:00:00.000Z, ${text}`)
  })

  it("say of a rate that fires below its level that it is below, not at most", () => {
    const measure = { measure: "agreementBelow", at: 0.8, value: 0.5 }
    assert.include(
      mail({ ...fired, firing: { ...firing, ...measure } }).text,
      "agreement of repeated runs: 50 % (level: below 80 %)"
    )
    assert.include(mail(fired).text, "(level: at least $95.00)")
  })
})

describe("Slack", () => {
  it("cannot be made to mention people or to link elsewhere", () => {
    for (const text of HOSTILE) {
      const shown = textsOf(bodyOf("slack", { ...hostile(text, fired), link: undefined })).join("\n")
      assert.notMatch(shown, /[<>]/)
    }
  })

  it("shows a link of ours alone", () => {
    const { blocks } = bodyOf("slack", { ...fired, link: "https://runs.example.org/a|b>c" })
    assert.strictEqual(blocks.at(-1).elements[0].text, "<https://runs.example.org/a%7Cb%3Ec|Open in Runplane>")
  })

  it.each(["javascript:alert(1)", "not a link", `https://runs.example.org/${"x".repeat(3_000)}`])(
    "leaves the link %# out",
    (link) => assert.notInclude(JSON.stringify(bodyOf("slack", { ...fired, link })), "Open in Runplane")
  )
})

describe("Alertmanager", () => {
  const alertOf = (notice: AlertNotice) => bodyOf("alertmanager", notice)[0]

  it("has the same labels in all notifications of a firing", () => {
    const { labels } = alertOf(fired)
    assert.deepStrictEqual(labels, {
      alertname: "Budget of support",
      severity: "critical",
      scenario: "support/refund@1.0.0",
      run: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11",
      rule: "support-budget",
      key: "support/refund@1.0.0",
      threshold: "$95.00"
    })
    for (const notice of [repeated, resolved, actionFailed]) assert.deepStrictEqual(alertOf(notice).labels, labels)
  })

  it("ends an open alert after four lost repetitions, and a resolved one when it was resolved", () => {
    assert.strictEqual(alertOf(fired).endsAt, "2026-07-20T10:20:01.000Z")
    assert.strictEqual(alertOf(repeated).endsAt, "2026-07-20T10:25:00.000Z")
    assert.strictEqual(alertOf(resolved).endsAt, "2026-07-31T22:00:00.000Z")
  })

  it("never ends an alert before it starts", () => {
    const early = { ...resolved, firing: { ...resolved.firing, endsAt: "2026-07-20T09:59:59.999Z" } }
    assert.strictEqual(alertOf(early).endsAt, firing.startsAt)
  })
})

describe("PagerDuty", () => {
  it.each([
    ["trigger", fired],
    ["trigger", actionFailed],
    ["acknowledge", { ...repeated, firing: { ...firing, acknowledgedAt: "2026-07-20T10:04:00.000Z" } }],
    ["resolve", resolved]
  ] as const)("%s has the firing as its incident", (action, notice) => {
    const { dedup_key, event_action } = bodyOf("pagerduty", notice)
    assert.deepStrictEqual([event_action, dedup_key], [action, firing.id])
  })
})

describe("mail", () => {
  it("has a subject of one line and markup of ours alone", () => {
    for (const text of HOSTILE) {
      const { html, subject } = bodyOf("mail", { ...hostile(text, fired), link: undefined })
      assert.notMatch(subject, /[\r\n]/)
      assert.deepStrictEqual([...new Set(html.match(/<\/?[a-z]+[^>]*>/g))].toSorted(), [
        "</p>",
        "</strong>",
        "</table>",
        "</td>",
        "</th>",
        "</tr>",
        "<p>",
        "<strong>",
        "<table>",
        "<td>",
        '<th align="left">',
        "<tr>"
      ])
    }
  })
})
