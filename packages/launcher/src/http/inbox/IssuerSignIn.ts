import { heldIn, nameOf, subjectOf } from "@runplane/server"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import type { IssuerAway, OidcClient, SignInRefused } from "./OidcClient.ts"
import { pendingIn, withoutPending, withPending } from "./PageCookie.ts"
import { refusedPage, TITLE, textPage } from "./SignInPage.ts"
import { pathTo, queryOf, type Ready, redirect, type SignInTools, wayBackIn } from "./SignInTools.ts"

const RETRY_SECONDS = "10"

const issuerAway = ({ message }: IssuerAway) =>
  Effect.as(
    Effect.logWarning(`people cannot sign in at OIDC_ISSUER: ${message}`),
    HttpServerResponse.setHeader(
      textPage(TITLE, "The issuer does not answer. Try again later.", 503),
      "retry-after",
      RETRY_SECONDS
    )
  )

/** Leads the browser to the issuer. `fresh=true` requires that the person has signed in there just now. */
export const beginAtIssuer = (
  oidc: OidcClient,
  { address }: Ready,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const isFresh = queryOf(request).get("fresh") === "true"
  return oidc.begin(`${address.url}/inbox/callback`, { to: wayBackIn(request), isFresh }).pipe(
    Effect.map(({ pending, url }) => withPending(redirect(url), address, pending)),
    Effect.catch(issuerAway)
  )
}

/** The answer to a browser that the issuer leads back: the sign-in is stored, or a page says why it is not. */
export const finishAtIssuer = Effect.fn("finishAtIssuer")(function* (
  tools: SignInTools,
  request: HttpServerRequest.HttpServerRequest
) {
  const { claimNames, oidc, readyFor, spendWrong } = tools
  const ready = readyFor(request)
  const pending = typeof ready === "string" ? Option.none() : pendingIn(request, ready.address)
  if (typeof ready === "string" || oidc === undefined || Option.isNone(pending)) {
    return refusedPage("No sign-in of this browser has begun, or it took too long.", 400)
  }
  const { address, store } = ready
  const { to } = pending.value

  const refused = Effect.fnUntraced(function* ({ message }: SignInRefused) {
    const retryAfter = yield* spendWrong(request)
    return retryAfter === undefined
      ? refusedPage(`The sign-in failed: ${message}.`, 400, to)
      : HttpServerResponse.setHeader(textPage(TITLE, "Too many tries.", 429), "retry-after", String(retryAfter))
  })

  const answer = yield* oidc.finish(`${address.url}/inbox/callback?${queryOf(request)}`, pending.value).pipe(
    Effect.flatMap((claims) => {
      const person = subjectOf(claims)
      const { groups, isAgent, isVoter, role, signedInAtUnixMs } = heldIn(claims, claimNames)
      if (person === undefined) return Effect.succeed(refusedPage("The ID token has no usable subject.", 403, to))
      if (isAgent) return Effect.succeed(refusedPage("An agent never answers for a person.", 403, to))
      if (role === undefined || role === "ingest") {
        const text = `You have no role here: the claim ${claimNames.role} of your ID token holds no role that reads or answers.`
        return Effect.succeed(refusedPage(text, 403, to))
      }
      const by = { _tag: "issuer", role, isVoter, groups, signedInAtUnixMs } as const
      return store(redirect(pathTo(address, to)), { person, name: nameOf(claims), by })
    }),
    Effect.catchTags({ IssuerAway: issuerAway, SignInRefused: refused })
  )
  return withoutPending(answer, address)
})
