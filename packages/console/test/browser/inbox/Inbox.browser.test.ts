import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import type { Page } from "playwright-core"
import { looksRight } from "../Looks.ts"
import { openPage, tearDown } from "../Stage.ts"
import { type Answer, failed, NONCE, question, startInbox } from "./InboxService.ts"

let inbox: Awaited<ReturnType<typeof startInbox>>

beforeAll(async () => {
  inbox = await startInbox()
})
beforeEach(() => {
  inbox.answers.length = 0
  inbox.posted.length = 0
  inbox.refuseWith(undefined)
  inbox.signedIn(true)
  inbox.away(false)
  inbox.streaming(true)
})
afterAll(async () => {
  inbox.close()
  await tearDown()
})

const open = async (path: string, width = 390) => {
  const stage = await openPage({ origin: inbox.url, signedIn: false, width })
  await stage.page.goto(`${inbox.url}${path}`)
  return stage
}

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name })
/** The buttons take presses. */
const steady = (page: Page) => page.locator("[data-steady=true]").waitFor()
const bar = (page: Page) => page.getByRole("region", { name: "Your answer" })

const item = question()
const PATH = `/inbox/${item.id}`
const SIGNS = item.proposalHash.slice(0, 8)

// docs/reference/people.md#answering
describe("the page of the inbox", () => {
  it("answers a question with two presses, bound to what it has shown, and follows the answer", async () => {
    inbox.set([question(undefined, { reasonRule: "optional" })])
    const { context, misdeeds, page } = await open("/inbox")
    await page.getByRole("link", { name: /Fail checkout over/ }).click()
    await page.getByRole("heading", { level: 1, name: "Fail checkout over to eu-west now?" }).waitFor()
    await page.getByText("us-east has lost two of three zones.").waitFor()
    await page.getByText("Approval can be committed at once; a rejection becomes impossible.").waitFor()
    await steady(page)
    await button(page, "Approve").click()
    await steady(page)
    await button(page, `Approve ${SIGNS}`).click()
    await page.getByText("on its way into the session").waitFor()
    inbox.change(item.id, { state: "accepted" })
    await page.getByText("The session has the answer on record.").waitFor()
    const [sent, ...others] = inbox.answers
    assert.lengthOf(others, 0)
    const { ordinal, sha256 } = item.basis ?? { ordinal: 0, sha256: "" }
    assert.deepStrictEqual(sent, {
      answer: { act: "approve", reason: "", proposalHash: item.proposalHash, basis: { ordinal, sha256 } },
      nonce: NONCE,
      origin: inbox.url
    })
    assert.deepStrictEqual(misdeeds, { errors: [], foreign: [] })
    await context.close()
  })

  it("begins a rejection with its reason, which survives a reload and not the answer", async () => {
    inbox.set([question()])
    const { context, page } = await open(PATH)
    await steady(page)
    await button(page, "Reject").click()
    const reason = page.getByRole("textbox", { name: /Reason, required/ })
    assert.isTrue(await reason.evaluate((field) => field === document.activeElement))
    await steady(page)
    await button(page, `Reject ${SIGNS}`).click()
    await page.getByText("Write a reason first.").waitFor()
    assert.lengthOf(inbox.answers, 0)
    await reason.fill("The replica is behind.")
    await page.reload()
    await steady(page)
    await button(page, "Reject").click()
    assert.strictEqual(await reason.inputValue(), "The replica is behind.")
    await steady(page)
    await button(page, `Reject ${SIGNS}`).click()
    await page.getByText("on its way into the session").waitFor()
    assert.strictEqual(inbox.answers[0]?.answer.reason, "The replica is behind.")
    inbox.set([question()])
    await page.reload()
    await steady(page)
    await button(page, "Reject").click()
    assert.strictEqual(await reason.inputValue(), "")
    await context.close()
  })

  it("sends a confidence with an evaluation and a vote, and says that a vote has none in the session", async () => {
    inbox.set([question(undefined, { reasonRule: "optional", acts: ["evaluate", "approve", "abstain"] })])
    const { context, page } = await open(PATH)
    await steady(page)
    await button(page, "Abstain").click()
    const confidence = page.getByLabel("Confidence, optional")
    assert.strictEqual(await confidence.count(), 0)
    await button(page, "Back").click()
    await steady(page)
    await button(page, "Evaluate").click()
    await confidence.waitFor()
    assert.strictEqual(await bar(page).getByText("A vote has none in the session").count(), 0)
    await button(page, "Back").click()
    await steady(page)
    await button(page, "Approve").click()
    await bar(page).getByText("A vote has none in the session: it is in the record of the run alone.").waitFor()
    await confidence.fill("80")
    await steady(page)
    await button(page, `Approve ${SIGNS}`).click()
    await page.getByText("Write a confidence from 0 to 1, such as 0.8, or none.").waitFor()
    assert.lengthOf(inbox.answers, 0)
    await confidence.fill("0,8")
    await button(page, `Approve ${SIGNS}`).click()
    await page.getByText("on its way into the session").waitFor()
    assert.strictEqual(inbox.answers[0]?.answer.confidence, 0.8)
    await context.close()
  })

  it("returns a question with two presses, to all or to a colleague, and shows who returned it", async () => {
    inbox.set([question()])
    const { context, page } = await open(PATH)
    await steady(page)
    await button(page, "Return it to the group or a colleague").click()
    await bar(page).getByText("A return makes no decision").waitFor()
    await steady(page)
    await button(page, "Return the question").click()
    await page.getByText("Write a reason first.").waitFor()
    const reason = page.getByRole("textbox", { name: "Reason, required: all who may answer read it" })
    await reason.fill("I am away.")
    await button(page, "Return the question").click()
    await bar(page).getByText("ann returned it to all who may answer.").waitFor()
    assert.deepStrictEqual(inbox.posted, [{ path: "return", body: { reason: "I am away." }, nonce: NONCE }])

    inbox.refuseWith(failed(400, "VALIDATION_ERROR", "to: person:ben may not answer", { field: "to" }))
    await steady(page)
    await button(page, "Return it to the group or a colleague").click()
    await page.getByRole("combobox", { name: "Return to" }).selectOption("A colleague")
    await reason.fill("Ben knows the region.")
    await steady(page)
    await button(page, "Return the question").click()
    await page.getByText("Write the id of the colleague, without spaces.").waitFor()
    await page.getByRole("textbox", { name: "Id of the colleague" }).fill("ben")
    await button(page, "Return the question").click()
    await page.getByRole("alert").getByText("The return was refused").waitFor()
    inbox.refuseWith(undefined)
    await button(page, "Return the question").click()
    await bar(page).getByText("ann returned it; ben may answer too.").waitFor()
    await page.getByText("Ben knows the region.").waitFor()
    await context.close()
  })

  it("takes no press while what is under the thumb has just moved, and says what changed", async () => {
    inbox.set([question(undefined, { reasonRule: "optional" })])
    const { context, page } = await open(PATH)
    await steady(page)
    await button(page, "Approve").dblclick()
    assert.strictEqual(await button(page, `Approve ${SIGNS}`).getAttribute("aria-disabled"), "true")
    await steady(page)
    assert.lengthOf(inbox.answers, 0)
    const more = { ordinal: 6, by: "risk-analyst", type: "Objection", severity: "high", reason: "Not tested." }
    inbox.change(item.id, { messages: [...item.messages, more] })
    await page.locator("[data-steady=false]").waitFor()
    await bar(page).getByText("An objection of risk-analyst came in.").waitFor()
    await steady(page)
    await button(page, `Approve ${SIGNS}`).click()
    await page.getByText("on its way into the session").waitFor()
    await context.close()
  })

  it.each([
    ["bytes", { payload: question("Delete all backups").payload }, /not those that its hash was made from/],
    ["member", { hashed: { ...item.hashed, policyVersion: "policy.none" } }, /this browser computes/],
    ["session", { sessionId: "another" }, /about another session/]
  ])("sends no answer when the hash does not fit the shown %s", async (_, changes, why) => {
    inbox.set([question(undefined, changes)])
    const { context, page } = await open(PATH)
    await page.getByText(why).waitFor()
    await bar(page).getByText("no answer is sent").waitFor()
    assert.strictEqual(await button(page, "Approve").count(), 0)
    await context.close()
  })

  it.each<readonly [Answer, string]>([
    [
      failed(409, "ITEM_ANSWERED", "ben has answered", { by: "ben", at: "2026-07-01T10:00:00.000Z", act: "reject" }),
      "ben rejected at"
    ],
    [
      failed(409, "ITEM_STALE", "the item is stale: another proposal was accepted", { newItem: "n1" }),
      "Another proposal was accepted"
    ],
    [failed(410, "ITEM_CLOSED", "the item is closed: no answer came by its deadline"), "Too late"],
    [
      failed(403, "FORBIDDEN", "you may not answer: you are the requester of the run"),
      "Refused: your answer was not sent"
    ],
    [
      failed(403, "SIGN_IN_NOT_FRESH", "this question requires a sign-in at the issuer of the last five minutes"),
      "Your sign-in is too old: your answer was not sent"
    ],
    [failed(429, "TOO_MANY_ANSWERS", "a person gives at most 30 answers a minute"), "Too many answers"],
    [failed(503, "SESSION_UNREAD", "the session is being read again"), "Not now: your answer was not sent"],
    [[502, "Bad gateway"], "It is not known whether your answer arrived"]
  ])("explains a refused answer: %s %s", async (answer, text) => {
    inbox.set([question(undefined, { reasonRule: "optional" })])
    inbox.refuseWith(answer)
    const { context, page } = await open(PATH)
    await steady(page)
    await button(page, "Approve").click()
    await steady(page)
    await button(page, `Approve ${SIGNS}`).click()
    await page.getByRole("alert").getByText(text).waitFor()
    await context.close()
  })

  it("shows who was quicker after the own answer was refused, and the way to the question that follows", async () => {
    // The page does not know the change yet.
    inbox.streaming(false)
    inbox.set([question(undefined, { reasonRule: "optional" })])
    inbox.refuseWith(failed(409, "ITEM_STALE", "the item is stale: another proposal was accepted", { newItem: "n1" }))
    const { context, page } = await open(PATH)
    await steady(page)
    await button(page, "Approve").click()
    await steady(page)
    inbox.change(item.id, { state: "stale", acts: [], newItem: "n1" })
    await button(page, `Approve ${SIGNS}`).click()
    await page.getByRole("alert").getByText("The question has changed: your answer was not sent").waitFor()
    await page.getByRole("link", { name: "Open the question that follows" }).waitFor()
    await context.close()
  })

  it("says why an item takes no answer, and what is withheld", async () => {
    inbox.set([question(undefined, { mayAnswer: false, mayNotBecause: "you are the requester of the run" })])
    const { context, page } = await open(PATH)
    await bar(page).getByText("You may not answer: you are the requester of the run.").waitFor()
    const { consequences: _, ...withheld } = question()
    inbox.set([
      {
        ...withheld,
        basis: { ordinal: 5, sha256: "ef".repeat(32), withheld: [5] },
        messages: item.messages.slice(0, 2)
      }
    ])
    await page.getByText("One message of another participant is withheld").waitFor()
    await page.getByText("What each answer leads to is withheld").waitFor()
    assert.strictEqual(await page.locator("[data-ring] [data-vote=for]").count(), 0)
    await page.locator("[data-ring]").getByText("votes withheld").waitFor()
    await context.close()
  })

  it("names the person for whom one answers, and the steps of the escalation", async () => {
    const at = new Date(Date.now() - 60_000).toISOString()
    const step = { at, cause: "time", reach: "persons" } as const
    inbox.set([
      question(undefined, {
        onBehalfOf: "ana",
        escalations: [
          { ...step, step: 1, to: ["group:risk-leads"] },
          { ...step, step: 2, to: ["person:rita"], reach: "none", why: "rita is the requester of the run" }
        ]
      })
    ])
    const { context, page } = await open(PATH)
    await page.getByText("You answer for ana").waitFor()
    await page.getByText("Escalated to group:risk-leads at").waitFor()
    await page.getByText(/Escalated to person:rita at .*: no person of these may answer/).waitFor()
    await context.close()
  })

  it("leads to the sign-in, and back to the question", async () => {
    inbox.signedIn(false)
    const { context, page } = await open(PATH)
    const link = page.getByRole("link", { name: "Sign in" })
    assert.strictEqual(await link.getAttribute("href"), `/inbox/sign-in?to=${encodeURIComponent(PATH)}`)
    await context.close()
  })

  it("lists open questions, closed ones on demand, and its age when it is old", async () => {
    inbox.set([
      item,
      { ...question("Refund now?"), id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11", state: "expired", acts: [] }
    ])
    const { context, page } = await open("/inbox")
    await page.getByText("Fail checkout over to eu-west now?").waitFor()
    assert.strictEqual(await page.getByText("Refund now?").count(), 0)
    await page.getByRole("link", { name: "Show closed ones" }).click()
    await page.getByText("Refund now?").waitFor()
    await page.getByText("No answer came by the deadline.").waitFor()
    await page.getByRole("link", { name: "Show open ones" }).click()
    inbox.away(true)
    await page.locator("[data-stale]").getByText("the database of the inbox does not answer").waitFor()
    inbox.away(false)
    inbox.set([])
    await page.getByText("No question waits for you").waitFor()
    await context.close()
  })

  it("reads again when the stream says so, and at intervals with a sentence while it is away", async () => {
    inbox.set([item])
    const { context, page } = await open("/inbox")
    await page.getByText("Fail checkout over to eu-west now?").waitFor()
    const polling = page.getByText("The live stream is away: this page reads again every few seconds.")
    // With the stream the next reading at an interval is a minute away.
    inbox.set([item, question("Refund now?", { id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a11" })])
    await page.getByText("Refund now?").waitFor()
    assert.strictEqual(await polling.count(), 0)
    inbox.streaming(false)
    await polling.waitFor()
    inbox.set([question("Restore now?", { id: "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a12" })])
    await page.getByText("Restore now?").waitFor()
    await looksRight(page, "inbox-polling", [1280, 360])
    inbox.streaming(true)
    await polling.waitFor({ state: "detached" })
    await context.close()
  })

  it("is answered with the keyboard alone", async () => {
    inbox.set([question()])
    const { context, page } = await open("/inbox", 1280)
    await page.getByText("Fail checkout over to eu-west now?").waitFor()
    const focus = async (name: RegExp) => {
      for (let left = 40; left > 0; left--) {
        const text = await page.evaluate(() => document.activeElement?.textContent ?? "")
        if (name.test(text)) return
        await page.keyboard.press("Tab")
      }
      throw new Error(`no press of Tab leads to ${name}`)
    }
    await focus(/^Fail checkout over/)
    await page.keyboard.press("Enter")
    await steady(page)
    await focus(/^Reject$/)
    await page.keyboard.press("Enter")
    await page.keyboard.type("Too early.")
    await steady(page)
    await focus(/^Reject [0-9a-f]{8}$/)
    await page.keyboard.press("Enter")
    await page.getByText("on its way into the session").waitFor()
    assert.strictEqual(inbox.answers[0]?.answer.reason, "Too early.")
    await context.close()
  })

  it("looks right on a phone and on a desk, in both themes", async () => {
    inbox.set([question()])
    const { context, page } = await open(PATH)
    await steady(page)
    await looksRight(page, "inbox-item", [1280, 390, 360])
    await button(page, "Reject").click()
    await steady(page)
    await looksRight(page, "inbox-confirm", [390, 360])
    await button(page, "Back").click()
    await steady(page)
    await button(page, "Return it to the group or a colleague").click()
    await page.getByRole("combobox", { name: "Return to" }).selectOption("A colleague")
    await steady(page)
    await looksRight(page, "inbox-return", [1280, 360])
    await page.getByRole("link", { name: "Inbox" }).click()
    await page.getByText("Questions to you").waitFor()
    await looksRight(page, "inbox-list", [1280, 390, 360])
    inbox.change(item.id, { state: "sent", acts: [] })
    await page.goto(`${inbox.url}${PATH}`)
    await page.getByText("on its way into the session").waitFor()
    await looksRight(page, "inbox-sent", [390, 360])
    inbox.signedIn(false)
    await page.reload()
    await page.getByRole("link", { name: "Sign in" }).waitFor()
    await looksRight(page, "inbox-sign-in", [390])
    await context.close()
  })
})
