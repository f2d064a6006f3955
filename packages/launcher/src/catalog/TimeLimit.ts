import { createContext, Script } from "node:vm"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

const sandbox = { run: () => {} }
const context = createContext(sandbox)
const script = new Script("run()")

/**
 * Runs a pure function and ends it in the middle when it takes longer than the limit, ms of real time. The engine of
 * JavaScript does this to a regular expression, too; a timer could not, because the function holds the only thread.
 * Fails with undefined at the limit; what the function was changing then is in any state.
 */
export const withinMs = <A>(limitMs: number, run: () => A): Result.Result<A, undefined> => {
  let result: Result.Result<A, undefined> = Result.fail(undefined)
  sandbox.run = () => {
    result = Result.succeed(run())
  }
  try {
    script.runInContext(context, { timeout: limitMs })
  } catch (cause) {
    if (!(Predicate.hasProperty(cause, "code") && cause.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")) throw cause
  }
  return result
}
