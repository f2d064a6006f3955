import { CurrentActor, type InboxItem, launcherError } from "@runplane/api"
import { RequestFacts } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import { Directory } from "../../catalog/Directory.ts"
import { LaunchedRuns } from "../../control-plane/LaunchedRuns.ts"
import { controlPlaneForPeople, LauncherSettings } from "../../LauncherSettings.ts"
import { personForbidden } from "./AnswerErrors.ts"
import { callerOf, ListenHost, noLocalPerson, personIdOf } from "./Caller.ts"
import { makePageAddress, NO_PASSKEY_PAGE, passkeyPageOf } from "./PageAddress.ts"
import { isPageNonce, pageNonce, tokenIn } from "./PageCookie.ts"

/** How long a page waits for the link to its run. */
const RUN_TIMEOUT_MS = 2_000

/** What the handlers of the inbox know about a request beside its parameters. */
export const makeInboxCalls = Effect.gen(function* () {
  const runs = yield* LaunchedRuns
  const directory = yield* Directory
  const settings = yield* LauncherSettings
  const addressOf = yield* makePageAddress
  const withoutPerson = noLocalPerson(yield* ListenHost)

  const caller = Effect.fnUntraced(function* ({ headers }: HttpServerRequest.HttpServerRequest) {
    const actor = yield* CurrentActor
    if (actor.actorType === "anonymous" && withoutPerson !== undefined) return yield* personForbidden(withoutPerson)
    const { via } = yield* RequestFacts
    return callerOf(actor, {
      isAssistant: via !== undefined,
      packGroups: yield* directory.groupsOf(personIdOf(actor)),
      headers
    })
  })

  /** The token of the cookie by which the caller is known. */
  const pageToken = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if ((yield* CurrentActor).isPage !== true) return undefined
    const address = addressOf(request)
    return address && tokenIn(request, address)
  })

  return {
    caller,

    /** The person of a request that writes. One that is known by a cookie proves that it comes from the item's page. */
    writer: Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      item: string,
      nonce: string | undefined
    ) {
      const { mayNot, person } = yield* caller(request)
      if (mayNot !== undefined) return yield* personForbidden(mayNot)
      const token = yield* pageToken(request)
      if (token !== undefined && !isPageNonce(token, item, nonce)) {
        return yield* launcherError(
          "FORBIDDEN",
          "x-page-nonce does not fit what is written: read it again for its nonce"
        )
      }
      return person
    }),

    /** The page of a request as its passkeys know it. */
    passkeyPage: (request: HttpServerRequest.HttpServerRequest) => {
      const address = addressOf(request)
      const page = address && passkeyPageOf(address)
      return page === undefined ? Effect.fail(personForbidden(NO_PASSKEY_PAGE)) : Effect.succeed(page)
    },

    /** The nonce of the item's page; undefined for a caller without a cookie. */
    nonceOf: (request: HttpServerRequest.HttpServerRequest, item: string) =>
      Effect.map(pageToken(request), (token) => (token === undefined ? undefined : pageNonce(token, item))),

    /** The links to the run of a session; undefined while the control plane does not have it or does not answer. */
    runOf: Effect.fnUntraced(function* (sessionId: string) {
      const base = controlPlaneForPeople(settings)
      if (base === undefined) return undefined
      const found = yield* Effect.option(Effect.timeout(runs.find(sessionId), RUN_TIMEOUT_MS))
      const runId = Option.getOrUndefined(found)?.run.runId
      const run: InboxItem["run"] =
        runId === undefined ? undefined : { runId, api: `${base}/runs/${runId}`, page: `${base}/console/runs/${runId}` }
      return run
    })
  }
})
