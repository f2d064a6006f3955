import { assert, describe, it } from "@effect/vitest"
import { slackSignatureFault } from "../../src/slack/SlackSignature.ts"

/** The example of Slack's documents. */
const SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
const TIME = 1_531_420_618
const BODY =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
  "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
  "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121." +
  "803a0bc887a14d10d2c447fce8b6703c"
const SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"

const signed = { body: Buffer.from(BODY), timestamp: String(TIME), signature: SIGNATURE }
const at = (seconds: number) => (TIME + seconds) * 1_000

describe("the signature of Slack", () => {
  it("accepts the example of the documents, five minutes before and after", () => {
    for (const seconds of [-300, 0, 300]) assert.isUndefined(slackSignatureFault(signed, SECRET, at(seconds)))
  })

  it("refuses another time, body, secret and signature", () => {
    const changed = [
      [signed, SECRET, at(301), "five minutes"],
      [signed, SECRET, at(-301), "five minutes"],
      [{ ...signed, body: Buffer.from(`${BODY}&`) }, SECRET, at(0), "does not fit"],
      [signed, `${SECRET}6`, at(0), "does not fit"],
      [{ ...signed, timestamp: String(TIME + 1) }, SECRET, at(0), "does not fit"],
      [{ ...signed, timestamp: undefined }, SECRET, at(0), "not a time"],
      [{ ...signed, timestamp: "1e9" }, SECRET, at(0), "not a time"],
      [{ ...signed, signature: undefined }, SECRET, at(0), "does not fit"],
      [{ ...signed, signature: SIGNATURE.toUpperCase() }, SECRET, at(0), "does not fit"],
      [{ ...signed, signature: SIGNATURE.slice(0, -1) }, SECRET, at(0), "does not fit"]
    ] as const
    for (const [request, secret, now, text] of changed) {
      assert.include(slackSignatureFault(request, secret, now), text)
    }
  })
})
