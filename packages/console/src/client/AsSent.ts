import * as Effect from "effect/Effect"

/** The response mode of a call whose answer is needed as the service wrote it, such as an export with its proof. */
export const AS_SENT = "decoded-and-response"

interface Sent<E> {
  readonly text: Effect.Effect<string, E>
}

/** The text of an answer as the service sent it: a decoded event has more and other members than the recorded one. */
export const asSent = <A, E, E2, R>(
  answer: Effect.Effect<readonly [decoded: A, response: Sent<E2>], E, R>
): Effect.Effect<string, E | E2, R> => Effect.flatMap(answer, ([, { text }]) => text)
