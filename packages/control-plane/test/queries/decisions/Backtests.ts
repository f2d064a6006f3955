import { call } from "../../support/HttpService.ts"

export const backtest = (body: unknown) => call("POST", "/policies/backtest", { body })
/** The answers of a backtest, in order. */
export const linesOf = (text: string): ReadonlyArray<ReturnType<typeof JSON.parse>> =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]))
