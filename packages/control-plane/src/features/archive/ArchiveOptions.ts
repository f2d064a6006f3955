import type { FileBounds } from "@runplane/domain"
import * as Context from "effect/Context"

/** How the archive of a database is written. */
export interface ArchiveWriting {
  /** Names the database in the files. */
  readonly cell: string
  readonly bounds: FileBounds
  /** The longest time that an event waits for its file. Milliseconds. */
  readonly intervalMs: number
}

export class ArchiveOptions extends Context.Service<ArchiveOptions, ArchiveWriting>()(
  "runplane/control-plane/ArchiveOptions"
) {}
