import * as PgProtocol from "@effect/sql-pg/PgProtocol"
import * as Data from "effect/Data"
import { SqlError, UnknownError } from "effect/sql/SqlError"

/** No connection came free in time, or the server did not open one. */
export class PoolExhausted extends Data.TaggedError("PoolExhausted")<{
  readonly waitedMs: number
  readonly connections: number
  /** Why the server opens no more connections. */
  readonly refusal: string | undefined
}> {
  override get message(): string {
    const refused = this.refusal === undefined ? "" : `; the server opens no more of them: ${this.refusal}`
    return `no database connection within ${this.waitedMs} ms (the pool has ${this.connections}${refused})`
  }
}

/** SQLSTATE of a statement that writes, on a server that takes no writes. */
const READ_ONLY = "25006"

/** The server takes no writes: a standby, or one that is read-only by its settings. */
export class ReadOnlyServer extends Data.TaggedError("ReadOnlyServer") {
  /** As the server has it for a statement that writes. */
  readonly code = READ_ONLY

  override get message(): string {
    return "the server takes no writes (transaction_read_only is on)"
  }

  asSqlError(operation: "connect" | "query"): SqlError {
    return new SqlError({ reason: new UnknownError({ cause: this, operation }) })
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

/** The server's text of a failed statement, which `SqlError.message` does not have. */
export const describeSqlError = (error: SqlError): string => {
  const cause: unknown = error.reason.cause
  if (!(cause instanceof Error)) return error.message
  // The error of Node.js for a host name with several addresses has no message.
  if (cause instanceof AggregateError && cause.message === "") {
    return [...new Set(cause.errors.map((each) => (each instanceof Error ? each.message : String(each))))].join("; ")
  }
  return cause.message
}

const sqlStateOf = ({ reason: { cause } }: SqlError): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/**
 * Classes of SQLSTATE that concern the server and not the statement: no
 * connection (08), no resources (53), operator intervention such as shutdown and start-up (57P), faults of the system
 * itself (58).
 */
const OUTAGES = /^(?:08|53|57P|58)/
/**
 * A standby that was not promoted, a database that does not exist (yet), a session that the server has ended because
 * its transaction was idle.
 */
const OUTAGE_STATES = new Set([READ_ONLY, "3D000", "25P03"])
/**
 * Failures of one statement in the classes of outages: the server could not parse the message (it was too large), had
 * no memory for it, or it exceeded a configured limit. The server accepts other statements.
 */
const STATEMENT_STATES = new Set(["08P01", "53200", "53400"])

/** The answer, or the message to the server, was too large for the driver, which then closes the connection. */
const isBeyondDriver = ({ reason: { cause } }: SqlError): boolean =>
  cause instanceof PgProtocol.ParseError || cause instanceof RangeError

/**
 * Whether the database was not available for any statement: no connection, or a server that serves none now. The same
 * request may succeed later. An error of the request itself is not an outage, even where it costs the connection.
 */
export const isOutage = (error: SqlError): boolean => {
  const state = sqlStateOf(error)
  if (STATEMENT_STATES.has(state) || isBeyondDriver(error)) return false
  const { _tag } = error.reason
  if (_tag === "ConnectionError" || _tag === "AuthenticationError") return true
  return OUTAGES.test(state) || OUTAGE_STATES.has(state)
}

/** Whether a statement that writes came to a server that takes no writes. */
export const isReadOnlyServer = (error: SqlError): boolean => sqlStateOf(error) === READ_ONLY

/** Whether the server opens no more connections: for the role, for the database, or at all. */
export const isTooManyConnections = (error: SqlError): boolean => sqlStateOf(error) === "53300"

/** Whether the connection failed, for any reason. */
export const isConnectFailure = ({ reason: { operation } }: SqlError): boolean => operation === "connect"

/** Whether a function was called with a value that it does not know. */
export const isBadArgument = (error: SqlError): boolean => sqlStateOf(error) === "22023"

/** Whether the transaction lost against another, so that a retry from its beginning can succeed. */
export const isContention = ({ reason: { _tag } }: SqlError): boolean =>
  _tag === "DeadlockError" || _tag === "SerializationError" || _tag === "LockTimeoutError"

/** Whether the timeout of a lock or of the statement ended it, whatever the statement was. */
export const isTimeout = ({ reason: { _tag } }: SqlError): boolean =>
  _tag === "LockTimeoutError" || _tag === "StatementTimeoutError"
