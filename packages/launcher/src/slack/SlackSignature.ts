import { createHmac, timingSafeEqual } from "node:crypto"

/** A request that is older, or younger, is refused: a copy of it cannot be sent later. Seconds. */
const LONGEST_AGE_SECONDS = 300

/** What Slack sends beside the body. */
export interface SlackSigned {
  readonly body: Uint8Array
  readonly timestamp: string | undefined
  readonly signature: string | undefined
}

/** Why a request is not one of Slack; undefined for one that is. */
export const slackSignatureFault = (
  { body, signature = "", timestamp = "" }: SlackSigned,
  secret: string,
  nowUnixMs: number
): string | undefined => {
  if (!/^\d{1,12}$/.test(timestamp)) return "x-slack-request-timestamp is not a time in seconds"
  const mac = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex")
  const expected = Buffer.from(`v0=${mac}`)
  const given = Buffer.from(signature)
  const isSigned = expected.length === given.length && timingSafeEqual(expected, given)
  if (!isSigned) return "x-slack-signature does not fit the body"
  return Math.abs(nowUnixMs / 1_000 - Number(timestamp)) > LONGEST_AGE_SECONDS
    ? "x-slack-request-timestamp is more than five minutes from the clock of the service"
    : undefined
}
