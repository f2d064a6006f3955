import { jsonFault, jsonFaultText } from "@runplane/domain"
import { lineAt } from "./LineOfPath.ts"

/**
 * What a JSON file says that would not be read as it is written (docs/reference/packs.md#exact-numbers), with its field
 * and line; undefined for a good file, and for text that is not JSON.
 */
export const jsonFaultInFile = (text: string): string | undefined => {
  const fault = jsonFault(text)
  return fault && `${jsonFaultText(fault)} (line ${lineAt(text, fault.offset)})`
}
