/**
 * A computation that stops between its parts, none of which takes long: whoever makes it may do something else
 * meanwhile.
 */
export type Sliced<A> = Generator<undefined, A, undefined>

/** Makes all of it without a stop. */
export const runSliced = <A>(parts: Sliced<A>): A => {
  while (true) {
    const { done, value } = parts.next()
    if (done) return value
  }
}
