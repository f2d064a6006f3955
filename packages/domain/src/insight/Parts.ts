/**
 * A computation that stops between its parts, none of which takes long: whoever makes it may do something else
 * meanwhile.
 */
export type Parts<A> = Generator<undefined, A, undefined>

/** Makes all of it without a stop. */
export const atOnce = <A>(parts: Parts<A>): A => {
  while (true) {
    const { done, value } = parts.next()
    if (done) return value
  }
}
