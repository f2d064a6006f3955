/**
 * Without this: a read of a state of 230 KB takes 8.2 ms of the service's CPU instead of 4.4, because a large state is
 * read alone and in full (docs/internals/scale.md); costs up to 48 MiB. A state of 9 KB gains nothing.
 */
import { makeByteCache } from "./ByteCache.ts"

/** Bytes of all texts. */
const CACHE_BYTES = 48 * 1024 * 1024

/** JSON text of a state, and the position in the log and the revision that it belongs to. */
export interface StateText {
  readonly lastSeq: number
  readonly revision: number
  readonly text: string
}

/** The states of runs that readers requested last, as texts. */
export const makeStateTexts = () => makeByteCache<string, StateText>(CACHE_BYTES)
