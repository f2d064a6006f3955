import type { ArchiveFault } from "@runplane/archive"
import * as Data from "effect/Data"
import { ConnectionError, isSqlError, SqlError, UnknownError } from "effect/sql/SqlError"

/** Faults of a file, which a retry does not mend. */
const DAMAGED: ReadonlySet<ArchiveFault["kind"]> = new Set(["unreadable"])

/**
 * A run that has left the database could not be read from its files. The readers of the log have the errors of the
 * database; a store that does not answer is an outage like that of the database, and a damaged file is a fault.
 */
export class ArchiveUnread extends Data.TaggedError("ArchiveUnread")<{ readonly fault: ArchiveFault }> {
  override get message(): string {
    return `the archive cannot be read: ${this.fault.message}`
  }

  get asSqlError(): SqlError {
    const operation = "archive.read"
    return new SqlError({
      reason: DAMAGED.has(this.fault.kind)
        ? new UnknownError({ cause: this, operation })
        : new ConnectionError({ cause: this, operation })
    })
  }
}

export const isUnreadArchive = (error: unknown): boolean =>
  isSqlError(error) && error.reason.cause instanceof ArchiveUnread

/** A file of the archive cannot be read, now or later. */
export const isDamagedArchive = (error: unknown): boolean =>
  isSqlError(error) && error.reason.cause instanceof ArchiveUnread && DAMAGED.has(error.reason.cause.fault.kind)

export const unread = (fault: ArchiveFault): SqlError => new ArchiveUnread({ fault }).asSqlError
