/**
 * A long computation in short slices: the generator yields after each slice, so that the caller can let other work run
 * between two slices.
 */
export type Sliced<A> = Generator<undefined, A, undefined>

/** Runs all slices at once. */
export const runSliced = <A>(slices: Sliced<A>): A => {
  while (true) {
    const { done, value } = slices.next()
    if (done) return value
  }
}
