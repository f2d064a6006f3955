import * as Data from "effect/Data"
import { SqlError, UnknownError } from "effect/sql/SqlError"

/** Nobody gave a connection back in time, or the server did not open one. */
export class PoolExhausted extends Data.TaggedError("PoolExhausted")<{
  readonly waitedMs: number
  readonly connections: number
}> {
  override get message(): string {
    return `no database connection within ${this.waitedMs} ms (the pool has ${this.connections})`
  }
}

/** The server rolled a transaction back that was to be committed. */
export class TransactionAborted extends Data.TaggedError("TransactionAborted") {
  override get message(): string {
    return "the transaction was rolled back instead of committed"
  }

  get asSqlError(): SqlError {
    return new SqlError({ reason: new UnknownError({ cause: this, operation: "commit" }) })
  }
}

/** The server's own words of a failed statement; `SqlError.message` only says that it failed. */
export const describeSqlError = (error: SqlError): string => {
  const cause: unknown = error.reason.cause
  if (!(cause instanceof Error)) return error.message
  // What Node.js makes of a host name with several addresses has no message of its own.
  if (cause instanceof AggregateError && cause.message === "") {
    return [...new Set(cause.errors.map((each) => (each instanceof Error ? each.message : String(each))))].join("; ")
  }
  return cause.message
}

const sqlStateOf = ({ reason: { cause } }: SqlError): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/**
 * Classes of SQLSTATE that say nothing about the statement, only that this server cannot serve anybody now: no
 * connection (08), no resources (53), operator intervention such as shutdown and start-up (57P), faults of the system
 * itself (58).
 */
const OUTAGES = /^(?:08|53|57P|58)/
/** A standby that has not been promoted, and a database that is not there (yet). */
const OUTAGE_STATES = new Set(["25006", "3D000"])

/** Whether the database could not be used at all, whatever was asked of it. The same request may do well later. */
export const isOutage = (error: SqlError): boolean => {
  const { _tag } = error.reason
  if (_tag === "ConnectionError" || _tag === "AuthenticationError") return true
  const state = sqlStateOf(error)
  return OUTAGES.test(state) || OUTAGE_STATES.has(state)
}

/** Whether a function was asked about something that it cannot know. */
export const isBadArgument = (error: SqlError): boolean => sqlStateOf(error) === "22023"

/** Whether the transaction lost against another and would do well when made again from its beginning. */
export const isContention = ({ reason: { _tag } }: SqlError): boolean =>
  _tag === "DeadlockError" || _tag === "SerializationError" || _tag === "LockTimeoutError"
