import { launcherForm, makeWrongCredentials } from "@runplane/server"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import { HttpIncomingMessage, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { LauncherSettings, type LauncherSlack } from "../../LauncherSettings.ts"
import { NO_PEOPLE_DATABASE, People, type PeopleShape } from "../../people/People.ts"
import { makeSlackClient } from "../../slack/SlackClient.ts"
import { isOfTeam, MAX_PRESS_BYTES, REASON, readSlackPayload, type SlackPayload } from "../../slack/SlackPayload.ts"
import { slackSignatureFault } from "../../slack/SlackSignature.ts"
import { sentenceBody } from "../../slack/SlackTexts.ts"
import { makeSlackPresses, type Press, type PressOutcome, pressOf } from "./SlackPresses.ts"

const PATH = "/inbox/slack"

/** Slack shows an error after three seconds: a press that takes longer is acknowledged, and goes on. Milliseconds. */
export const ACK_MS = 2_000
/** A press that takes longer has failed. Milliseconds. */
const LONGEST_MS = 60_000
/** Presses at the same time; above it Slack shows the person that the app has failed. */
const MAX_PRESSES = 100
/** Tries of one sentence. */
const SENTENCE_TRIES = 3

const SLOW =
  "The service is slow: it is not known yet whether your answer is stored. Another sentence says so; without one, press again: the same answer counts once."
const FAILED =
  "The service has failed: it is not known whether your answer is stored. Press again: the same answer counts once."

const failed: PressOutcome = { sentence: FAILED, message: undefined, isReasonFault: false }

/** The body of a press is signed as it is, so its handler reads it. */
export const isSlackPath = (path: string): boolean => path === PATH

const ok = HttpServerResponse.empty({ status: 200 })

/** The presses of buttons in Slack (docs/reference/people.md#slack). */
export const SlackRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const people = yield* People
    const { slack } = yield* LauncherSettings
    if (slack === undefined) return Layer.empty
    if (people === undefined) return yield* Effect.die(new Error(NO_PEOPLE_DATABASE))
    return HttpRouter.use((router) =>
      Effect.flatMap(makeHandler(people, slack), (handler) => router.add("POST", PATH, handler))
    )
  })
)

const makeHandler = Effect.fnUntraced(function* (people: PeopleShape, slack: LauncherSlack) {
  const client = yield* makeSlackClient
  const press = yield* makeSlackPresses(people, slack, client)
  const spendWrong = yield* makeWrongCredentials
  const fibers = yield* FiberSet.make<PressOutcome, never>()

  /** A sentence by the address of the press, else as a direct message. One that neither takes is logged. */
  const say = Effect.fnUntraced(function* ({ member, responseUrl }: Press, sentence: string) {
    const direct =
      slack.botToken === undefined
        ? undefined
        : client.call("chat.postMessage", slack.botToken, { channel: member, text: sentence })
    const said =
      responseUrl === undefined
        ? direct
        : client.respond(responseUrl, sentenceBody(sentence)).pipe(
            Effect.retry({ times: SENTENCE_TRIES - 1, schedule: Schedule.exponential("300 millis") }),
            Effect.catchTag("SlackCallFailed", (failure) => direct ?? Effect.fail(failure))
          )
    if (said === undefined) return yield* Effect.logWarning("a press in Slack has no address for its sentence")
    yield* Effect.catchTag(Effect.asVoid(said), "SlackCallFailed", ({ message }) => Effect.logWarning(message))
  })

  const replace = ({ responseUrl }: Press, { message }: PressOutcome) =>
    message === undefined || responseUrl === undefined
      ? Effect.void
      : client
          .respond(responseUrl, { replace_original: true, ...message })
          .pipe(Effect.catchTag("SlackCallFailed", (failure) => Effect.logWarning(failure.message)))

  const work = (pressed: Press) =>
    press(pressed).pipe(
      Effect.timeout(LONGEST_MS),
      Effect.catchCause((cause) => Effect.as(Effect.logError("a press in Slack has failed", cause), failed))
    )

  /** The rest of a press, after its acknowledgement: the sentence, then the message. */
  const finish = (pressed: Press, outcome: PressOutcome) =>
    Effect.andThen(
      outcome.sentence === undefined ? Effect.void : say(pressed, outcome.sentence),
      replace(pressed, outcome)
    )

  const answer = Effect.fnUntraced(function* (pressed: Press, payload: SlackPayload) {
    if ((yield* FiberSet.size(fibers)) >= MAX_PRESSES) return launcherForm.unavailable("too many presses at a time")
    const worked = yield* FiberSet.run(fibers, work(pressed))
    const outcome = yield* Effect.timeoutOption(Fiber.join(worked), ACK_MS)
    if (Option.isSome(outcome)) {
      const { isReasonFault, sentence } = outcome.value
      if (isReasonFault && payload.type === "view_submission" && sentence !== undefined) {
        return HttpServerResponse.jsonUnsafe({ response_action: "errors", errors: { [REASON]: sentence } })
      }
      yield* FiberSet.run(fibers, Effect.as(finish(pressed, outcome.value), outcome.value))
      return ok
    }
    const rest = Effect.gen(function* () {
      yield* say(pressed, SLOW)
      const late = yield* Fiber.join(worked)
      yield* finish(pressed, late)
      return late
    })
    yield* FiberSet.run(fibers, rest)
    return ok
  })

  return Effect.fn("SlackRoutes.press")(function* (request: HttpServerRequest.HttpServerRequest) {
    const body = yield* request.arrayBuffer.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_PRESS_BYTES)),
      Effect.option
    )
    if (Option.isNone(body)) return launcherForm.payloadTooLarge
    const bytes = new Uint8Array(body.value)
    const { "x-slack-request-timestamp": timestamp, "x-slack-signature": signature } = request.headers
    const now = yield* Clock.currentTimeMillis
    const fault = slackSignatureFault({ body: bytes, timestamp, signature }, Redacted.value(slack.signingSecret), now)
    if (fault !== undefined) {
      const retryAfter = yield* spendWrong(request)
      if (retryAfter === undefined) return launcherForm.forbidden(fault)
      return HttpServerResponse.setHeader(launcherForm.tooManyRequests, "retry-after", String(retryAfter))
    }
    const payload = Option.getOrUndefined(readSlackPayload(bytes))
    if (payload === undefined) return launcherForm.unreadableBody("payload is not a press or a form of Slack")
    const pressed = pressOf(payload)
    if (isOfTeam(payload, slack.team)) return yield* answer(pressed, payload)
    // By the address of the press alone: the app writes to members of its own workspace.
    const refused = client
      .respond(pressed.responseUrl ?? "", sentenceBody(FOREIGN))
      .pipe(Effect.catchTag("SlackCallFailed", ({ message }) => Effect.logWarning(message)))
    yield* FiberSet.run(fibers, Effect.as(refused, failed))
    return ok
  })
})

const FOREIGN = "Nothing was done: this service takes presses of one workspace, and not of yours."
