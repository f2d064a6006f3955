import { createHash } from "node:crypto"
import { interfaceOf, type RemoteAgent, RemoteCard } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readRemoteJson } from "../common/RemoteJson.ts"
import { type CardForged, verifyCard } from "./CardSignature.ts"
import { type Bounds, RemoteFailure, RemoteHttp, timedOut } from "./RemoteHttp.ts"

/** A card, and the keys of its signatures. */
const CARD: Bounds = { maxBytes: 256 * 1_024, timeoutMs: 5_000 }
/** Redirects of one fetch, all within the origin. */
const MAX_REDIRECTS = 3

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const readCard = Schema.decodeUnknownEffect(RemoteCard)

export interface CardAddress {
  readonly agentRef: string
  readonly entrypoint: string
  readonly auth: string | undefined
}

/** The value of a variable with a credential; undefined where it is not set. */
export type Credential = (name: string) => string | undefined

/** Fetches agent cards. A failure has the reason in words. */
export const makeCards = Effect.fnUntraced(function* (credential: Credential) {
  const http = yield* RemoteHttp

  const follow = Effect.fnUntraced(function* (address: string, auth: string | undefined) {
    const { origin } = new URL(address)
    let url = address
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const request = HttpClientRequest.setHeaders(HttpClientRequest.get(url), {
        accept: "application/json",
        ...authorizationOf(auth, credential)
      })
      const { headers, status, text } = yield* http.send(request, CARD)
      if (!REDIRECTS.has(status)) {
        if (status === 200) return text
        const kind = status >= 500 || status === 429 || status === 408 ? "away" : "refused"
        return yield* new RemoteFailure({ kind, reason: `it answers ${status}` })
      }
      const location = headers["location"]
      if (location === undefined || !URL.canParse(location, url)) {
        return yield* new RemoteFailure({ kind: "refused", reason: `it answers ${status} without a location` })
      }
      const next = new URL(location, url)
      if (next.origin !== origin) {
        return yield* new RemoteFailure({ kind: "refused", reason: "it redirects to another origin" })
      }
      url = next.href
    }
    return yield* new RemoteFailure({ kind: "refused", reason: `it redirects more than ${MAX_REDIRECTS} times` })
  })

  /** The text at an address, with its redirects. The bound of time is that of all of them. */
  const get = (address: string, auth: string | undefined) =>
    Effect.timeoutOrElse(follow(address, auth), {
      duration: CARD.timeoutMs,
      orElse: () => Effect.fail(timedOut(CARD.timeoutMs))
    })

  return {
    /** The agent as its card describes it now. */
    pin: Effect.fn("RemoteCards.pin")(function* ({ agentRef, auth, entrypoint }: CardAddress) {
      const text = yield* get(entrypoint, auth)
      const unreadable = () => new RemoteFailure({ kind: "refused", reason: "it is not an agent card in JSON" })
      const document = yield* Effect.mapError(Effect.fromOption(readRemoteJson(text)), unreadable)
      const card = yield* Effect.mapError(readCard(document), unreadable)
      const chosen = interfaceOf(card, entrypoint)
      if (Result.isFailure(chosen)) return yield* new RemoteFailure({ kind: "refused", reason: chosen.failure })
      const { origin } = new URL(entrypoint)
      const signature = yield* verifyCard(document, card, origin, (address) => get(address, undefined)).pipe(
        Effect.catchTag("CardForged", ({ reason }: CardForged) =>
          Effect.fail(new RemoteFailure({ kind: "refused", reason }))
        )
      )
      const agent: RemoteAgent = {
        agentRef,
        entrypoint,
        ...(auth !== undefined && { auth }),
        cardSha256: cardHash(text),
        signature,
        interface: chosen.success
      }
      return agent
    }),

    /** The hash of the card as it is served now. */
    hashNow: ({ auth, entrypoint }: Pick<RemoteAgent, "entrypoint" | "auth">) =>
      Effect.map(get(entrypoint, auth), cardHash)
  }
})

const cardHash = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex")

/** The header with the credential of an agent. */
export const authorizationOf = (name: string | undefined, credential: Credential): Readonly<Record<string, string>> => {
  const value = name === undefined ? undefined : credential(name)
  return value === undefined || value === "" ? {} : { authorization: `Bearer ${value}` }
}
