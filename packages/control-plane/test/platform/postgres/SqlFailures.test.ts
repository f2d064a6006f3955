import * as PgProtocol from "@effect/sql-pg/PgProtocol"
import { assert, describe, it } from "@effect/vitest"
import { isContention, isOutage, isTimeout } from "@runplane/database"
import { ConnectionError, LockTimeoutError, SqlError, StatementTimeoutError, UnknownError } from "effect/sql/SqlError"

const withState = (code: string, Reason: typeof UnknownError | typeof ConnectionError = UnknownError) =>
  new SqlError({ reason: new Reason({ cause: Object.assign(new Error("x"), { code }), operation: "query" }) })
const broken = (cause: Error) => new SqlError({ reason: new ConnectionError({ cause, operation: "query" }) })

describe("a failure of the database", () => {
  it("is an outage when the server accepts no connection", () => {
    assert.isTrue(isOutage(broken(new Error("read ECONNRESET"))))
    for (const state of ["53300", "53100", "57P01", "57P03", "58030", "25006", "3D000", "25P03"]) {
      assert.isTrue(isOutage(withState(state)), state)
    }
    assert.isTrue(isOutage(withState("08006", ConnectionError)))
  })

  it("is none when it is about the one request, even where the connection is lost over it", () => {
    const tooLarge = new PgProtocol.ParseError({ message: "Message length 16777300 exceeds maxMessageSize 16777216" })
    assert.isFalse(isOutage(broken(tooLarge)))
    assert.isFalse(isOutage(broken(new RangeError("Invalid array length"))))
    assert.isFalse(isOutage(withState("08P01", ConnectionError)))
    for (const state of ["53200", "53400", "54000", "22P05", "22021", "57014", "P0001"]) {
      assert.isFalse(isOutage(withState(state)), state)
    }
  })

  it("is a matter of time when a lock or the statement took too long", () => {
    const cause = new Error("x")
    const lock = new SqlError({ reason: new LockTimeoutError({ cause }) })
    const statement = new SqlError({ reason: new StatementTimeoutError({ cause }) })
    assert.deepStrictEqual([isTimeout(lock), isContention(lock), isOutage(lock)], [true, true, false])
    assert.deepStrictEqual([isTimeout(statement), isContention(statement), isOutage(statement)], [true, false, false])
  })
})
