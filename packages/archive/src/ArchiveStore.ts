import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ArchiveFault } from "./ArchiveFault.ts"

/** Where an archive is: a directory, or a prefix of a bucket. Paths are relative to it, with slashes. */
export interface ArchiveTarget {
  /** Its address, without credentials. */
  readonly url: string
  /**
   * Makes the file visible as a whole, or not at all; a file of that path is replaced. After success it is durable.
   */
  readonly put: (path: string, bytes: Uint8Array) => Effect.Effect<void, ArchiveFault>
  /** Bytes of the file; fails with `missing` without one. */
  readonly size: (path: string) => Effect.Effect<number, ArchiveFault>
  /** The bytes from a position up to another one, which is not included. */
  readonly read: (path: string, from: number, to: number) => Effect.Effect<Uint8Array<ArrayBuffer>, ArchiveFault>
  /** The paths below a prefix that ends with a slash, or all; without temporary files. */
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<string>, ArchiveFault>
  /** Does nothing without such a file. */
  readonly remove: (path: string) => Effect.Effect<void, ArchiveFault>
}

export class ArchiveStore extends Context.Service<ArchiveStore, ArchiveTarget>()("runplane/archive/ArchiveStore") {}
