import { InboxClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { SERVICE_PATH, SERVICE_URL } from "./Base.ts"
import { layerHttp } from "./Http.ts"
import { problemOf } from "./Problem.ts"
import { type CallWatch, settle } from "./Settle.ts"

/** The list of the inbox; an item is below it. */
export const INBOX_PATH = `${SERVICE_PATH}/inbox`

// The page shows the age of its own data instead of a light.
const UNWATCHED: CallWatch = { begin: () => () => {}, saw: () => {} }

const services = ManagedRuntime.make(
  InboxClient.layer({ baseUrl: SERVICE_URL }).pipe(Layer.provide(layerHttp(undefined)))
)

/** One call of the launch service that served this page, with the cookie of the sign-in. */
export const callInbox = <A, E>(
  make: (api: InboxClient["Service"]) => Effect.Effect<A, E>,
  signal?: AbortSignal
): Promise<A> => settle(services, Effect.flatMap(InboxClient, make), signal, UNWATCHED)

/** Where a person signs in, and comes back from; `isFresh`: although it has signed in before. */
export const signInAddress = (itemId: string | undefined, isFresh = false): string => {
  const to = itemId === undefined ? "/inbox" : `/inbox/${itemId}`
  return `${INBOX_PATH}/sign-in?${new URLSearchParams({ to, ...(isFresh && { fresh: "true" }) })}`
}

/** Ends the sign-in of this browser. */
export const endSignIn = async (): Promise<void> => {
  const answer = await fetch(`${INBOX_PATH}/sign-out`, { method: "POST" })
  if (!answer.ok) throw new Error(`the sign-out was answered with ${answer.status}`)
}

/** Whether the service answers this caller only after a sign-in. */
export const needsSignIn = (error: unknown): boolean => error !== null && problemOf(error, "").status === 401
