import { launcherError, mayUse } from "@runplane/api"
import { launcherForm } from "@runplane/server"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { orUnavailable } from "../../people/Outage.ts"
import { beginAtIssuer, finishAtIssuer } from "./IssuerSignIn.ts"
import { isOfPage } from "./PageAddress.ts"
import { hashOfToken, tokenIn, withoutToken } from "./PageCookie.ts"
import { databaseAway } from "./PageSignIns.ts"
import { keyPage, TITLE, textPage } from "./SignInPage.ts"
import { makeSignInTools, pathTo, redirect, type SignInTools, wayBackIn } from "./SignInTools.ts"

const LONGEST_KEY = 1_000
const KeyBody = Schema.fromJsonString(Schema.Struct({ key: Schema.String.check(Schema.isMaxLength(LONGEST_KEY)) }))
const readKey = Schema.decodeUnknownEffect(KeyBody)

type Request = HttpServerRequest.HttpServerRequest

const begin = (tools: SignInTools) => (request: Request) => {
  const { addressOf, isOpen, oidc, readyFor } = tools
  const to = wayBackIn(request)
  if (isOpen) {
    // Without authentication no person signs in: it is `local`.
    const address = addressOf(request)
    return Effect.succeed(redirect(address === undefined ? to : pathTo(address, to)))
  }
  const ready = readyFor(request)
  if (typeof ready === "string") return Effect.succeed(textPage(TITLE, `The service is not set up: ${ready}.`, 500))
  return oidc === undefined ? Effect.succeed(keyPage(pathTo(ready.address, to))) : beginAtIssuer(oidc, ready, request)
}

const withKey = ({ holders, readyFor, spendWrong }: SignInTools) =>
  Effect.fn("SignInRoutes.withKey")(function* (request: Request) {
    const ready = readyFor(request)
    if (typeof ready === "string") {
      return HttpServerResponse.jsonUnsafe(launcherError("INVALID_CONFIG", ready), { status: 500 })
    }
    if (!isOfPage(request, ready.address)) {
      return launcherForm.forbidden("a sign-in has to come from a page of the inbox")
    }
    const body = yield* Effect.option(Effect.flatMap(request.text, readKey))
    if (Option.isNone(body)) return launcherForm.unreadableBody('the body must be {"key": text}')
    const { key } = body.value
    const holder = holders.ofKey(key)
    if (holder === undefined) {
      const retryAfter = yield* spendWrong(request)
      return retryAfter === undefined
        ? launcherForm.unauthenticated("")
        : HttpServerResponse.setHeader(launcherForm.tooManyRequests, "retry-after", String(retryAfter))
    }
    if (!mayUse(holder.role, "viewer") && holder.role !== "voter") {
      return launcherForm.forbidden(`a key of the role ${holder.role} neither reads nor answers questions`)
    }
    const by = { _tag: "key", keySha256: holders.hashOfKey(key) } as const
    const signedIn = HttpServerResponse.empty({ status: 204 })
    return yield* ready.store(signedIn, { person: holder.actorId, name: undefined, by })
  })

const signOut = ({ addressOf, people }: SignInTools) =>
  Effect.fn("SignInRoutes.signOut")(function* (request: Request) {
    const address = addressOf(request)
    if (address === undefined || !isOfPage(request, address)) {
      return launcherForm.forbidden("a sign-out has to come from a page of the inbox")
    }
    const token = tokenIn(request, address)
    const signedOut = Effect.succeed(withoutToken(HttpServerResponse.empty({ status: 204 }), address))
    if (token === undefined || people === undefined) return yield* signedOut
    return yield* Effect.andThen(people.signIns.remove(hashOfToken(token)), signedOut).pipe(
      orUnavailable,
      Effect.catch(() => Effect.succeed(databaseAway))
    )
  })

/** The sign-in of people to the inbox (docs/reference/people.md#sign-in). None of the routes acts on an item. */
export const SignInRoutes = Layer.unwrap(
  Effect.map(makeSignInTools, (tools) =>
    Layer.mergeAll(
      HttpRouter.add("GET", "/inbox/sign-in", begin(tools)),
      HttpRouter.add("GET", "/inbox/callback", (request) => finishAtIssuer(tools, request)),
      HttpRouter.add("POST", "/inbox/sign-in", withKey(tools)),
      HttpRouter.add("POST", "/inbox/sign-out", signOut(tools))
    )
  )
).pipe(Layer.provide(SecureRandom.layerWebCrypto))
