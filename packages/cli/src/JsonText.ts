import { visibleText } from "@runplane/domain"

/**
 * A value as JSON, with `indent` in lines of that indentation. Control characters and direction marks in its texts are
 * escapes, also where JSON would take them as they are: they act on a terminal.
 */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).split("\n").map(visibleText).join("\n")
