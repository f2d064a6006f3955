import { createHmac } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { type Answer, listening, request, until } from "@runplane/testing"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export const SECRET = "secret-of-the-tests"
export const TEAM = "T000TEST"
const TOKEN = "xoxb-of-the-tests"

/** Settings of a service with the Slack app of the tests. */
export const slackEnv = {
  LAUNCHER_SLACK_SIGNING_SECRET: SECRET,
  LAUNCHER_SLACK_TEAM: TEAM,
  LAUNCHER_PUBLIC_URL: "https://launch.example.test"
}
export const withBot = { ...slackEnv, LAUNCHER_SLACK_BOT_TOKEN: TOKEN }

/** A call that Slack got. */
export interface SlackCall {
  readonly path: string
  readonly authorization: string | undefined
  readonly body: ReturnType<typeof JSON.parse>
}

const bodyOf = async (incoming: IncomingMessage) => {
  const parts: Array<Buffer> = []
  for await (const part of incoming) parts.push(Buffer.from(part))
  return JSON.parse(Buffer.concat(parts).toString())
}

/** A server with the Web API of Slack and its addresses of responses. */
export const makeFakeSlack = Effect.gen(function* () {
  const calls: Array<SlackCall> = []
  const state = { failures: 0 }
  let messages = 0
  const server = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      const path = incoming.url ?? ""
      if (state.failures > 0) {
        state.failures -= 1
        return response.writeHead(500).end()
      }
      calls.push({ path, authorization: incoming.headers.authorization, body })
      messages += 1
      const ts = body.ts ?? `${messages}.0001`
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ ok: true, channel: body.channel === undefined ? undefined : `D-${body.channel}`, ts }))
    })
  })
  const url = `http://127.0.0.1:${yield* listening(server)}`

  return {
    addresses: { api: `${url}/api`, responses: url },
    responseUrl: (name: string) => `${url}/response/${name}`,
    /** The next so many calls fail. */
    fail: (failures: number) => {
      state.failures = failures
    },
    calls,
    /** The calls of one path, once there are enough of them. */
    callsOf: (path: string, count: number) =>
      until(
        Effect.sync(() => calls.filter((call) => call.path === path)),
        (found) => found.length >= count
      ),
    /** The sentence of a press, once it has come. */
    sentence: (name: string) =>
      Effect.map(
        until(
          Effect.sync(() =>
            calls.filter(({ body, path }) => path === `/response/${name}` && body.response_type === "ephemeral")
          ),
          (found) => found.length > 0
        ),
        (found) => String(found.at(-1)?.body.text)
      ),
    /** The message that a press has replaced its own by, once it has come. */
    replaced: (name: string) =>
      Effect.map(
        until(
          Effect.sync(() => calls.filter(({ body, path }) => path === `/response/${name}` && body.replace_original)),
          (found) => found.length > 0
        ),
        ([found]) => JSON.stringify(found?.body)
      )
  }
})

export type FakeSlack = Effect.Success<typeof makeFakeSlack>

/** How a request differs from one of Slack. */
export interface Spoilt {
  readonly secret?: string
  readonly ageSeconds?: number
  /** What is sent instead of the body that is signed. */
  readonly sent?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a payload as Slack does. */
export const send = Effect.fnUntraced(function* (
  url: string,
  payload: unknown,
  { ageSeconds = 0, headers = {}, secret = SECRET, sent }: Spoilt = {}
) {
  const body = `payload=${encodeURIComponent(typeof payload === "string" ? payload : JSON.stringify(payload))}`
  const timestamp = String(Math.floor((yield* Clock.currentTimeMillis) / 1_000) - ageSeconds)
  const signature = `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`
  const answer: Answer = yield* request("POST", `${url}/inbox/slack`, {
    body: sent ?? body,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": signature,
      ...headers
    }
  })
  return answer
})

/** A press of a button as Slack sends it. */
export const pressed = (value: string, user: string, responseUrl: string, team = TEAM) => ({
  type: "block_actions",
  team: { id: team, domain: "tests" },
  user: { id: user, username: "x", team_id: team },
  trigger_id: "trigger",
  response_url: responseUrl,
  actions: [{ type: "button", action_id: "approve", block_id: "b", value }]
})
