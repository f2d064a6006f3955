import { isUuid, NOTICE_TOKEN_HEADER, noticePath, taskOfNotice } from "@runplane/domain"
import { launcherForm, makeWrongCredentials } from "@runplane/server"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { HttpIncomingMessage, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readRemoteJson } from "../../common/RemoteJson.ts"
import { People, type PeopleShape } from "../../people/People.ts"
import { tokenSha256 } from "../../people/turns/TurnCalls.ts"

/** Of the body of a notice, from which the id of a task is read. */
const MAX_NOTICE_BYTES = 1_024 * 1_024

const PATH = /^\/turns\/[^/]+\/notices$/

/** The body of a notice has the form of A2A, so its handler reads it. */
export const isTurnNoticePath = (path: string): boolean => PATH.test(path)

/** The notices of agents that speak A2A (docs/reference/a2a.md#notices). */
export const TurnNoticeRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const people = yield* People
    if (people === undefined) return Layer.empty
    return HttpRouter.use((router) =>
      Effect.flatMap(makeHandler(people), (handler) => router.add("POST", noticePath(":item"), handler))
    )
  })
)

const makeHandler = Effect.fnUntraced(function* ({ turns, turnWakes }: PeopleShape) {
  const spendWrong = yield* makeWrongCredentials

  return Effect.fn("TurnNoticeRoutes.notice")(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const { item = "" } = yield* HttpRouter.params
      const body = yield* request.text.pipe(
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_NOTICE_BYTES)),
        Effect.option
      )
      if (Option.isNone(body)) return launcherForm.payloadTooLarge
      const token = request.headers[NOTICE_TOKEN_HEADER] ?? ""
      const taskId = taskOfNotice(Option.getOrUndefined(readRemoteJson(body.value)))
      if (isUuid(item) && taskId !== undefined && (yield* turns.takesNotice(item, tokenSha256(token), taskId))) {
        yield* turnWakes.wake(item)
        return HttpServerResponse.empty({ status: 204 })
      }
      // One answer for an unknown turn, another token and another task: it says nothing about turns.
      const retryAfter = yield* spendWrong(request)
      if (retryAfter === undefined) return launcherForm.notFound("POST", noticePath(item))
      return HttpServerResponse.setHeader(launcherForm.tooManyRequests, "retry-after", String(retryAfter))
    },
    Effect.catchTag("SqlError", () => Effect.succeed(launcherForm.unavailable("the database does not answer")))
  )
})
