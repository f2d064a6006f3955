import { type LogStreamFailure, type RunStreamFailure, rootCauseOf } from "@runplane/api"
import * as Console from "effect/Console"
import { plainText } from "../story/PlainText.ts"

/** Says on standard error what broke the connection of a stream, before it is made again. */
export const sayInterruption = (failure: LogStreamFailure | RunStreamFailure) =>
  Console.error(`the connection is lost (${plainText(rootCauseOf(failure).message)}); trying again`)
