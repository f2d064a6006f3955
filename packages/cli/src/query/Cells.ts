import { visibleText } from "@runplane/domain"
import type { Value } from "./engine/Exchange.ts"

/** A value as the text of a cell; undefined for null. */
export const cellText = (value: Value): string | undefined =>
  value === null ? undefined : typeof value === "string" ? value : JSON.stringify(value)

/** A line of CSV (RFC 4180): null is empty, an empty text is quoted. */
export const csvLine = (values: ReadonlyArray<Value>): string =>
  values
    .map((value) => {
      const text = cellText(value)
      if (text === undefined) return ""
      return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    })
    .join(",")

/** The same for a terminal, on which control characters of a value would act. */
export const visibleCsvLine = (values: ReadonlyArray<Value>): string => visibleText(csvLine(values))
