/** What an error says, on one line; validation errors say several things. */
export const oneLine = (error: {
  readonly message: string | ReadonlyArray<string>
  readonly _tag?: string
}): string => {
  const { message } = error
  const text = (typeof message === "string" ? message : message.join("; ")).replace(/\s*[\r\n]+\s*/g, " ").trim()
  return text === "" ? (error._tag ?? "unknown failure") : text
}
