import type { InvalidPackData } from "../common/LaunchErrors.ts"
import { lineOfPath } from "../common/LineOfPath.ts"

/** A fault in a file of the packs. An error makes the tool fail, a warning does not. */
export interface Finding {
  readonly level: "error" | "warning"
  /** Relative to the packs directory. */
  readonly file: string
  /** From 1; absent when it concerns the whole file, or when the message names it. */
  readonly line?: number
  readonly message: string
}

/** A file, and its text where it could be read. */
export interface Source {
  readonly file: string
  readonly text?: string
}

export const errorIn = (file: string, message: string): Finding => ({ level: "error", file, message })

export const warningIn = (file: string, message: string): Finding => ({ level: "warning", file, message })

/** A finding about the value at a path of keys, with the line of its last key that exists. */
export const findingAt = (
  { file, text }: Source,
  { at, level, message }: Pick<Finding, "level" | "message"> & { readonly at?: ReadonlyArray<string> }
): Finding => {
  const line = text === undefined || at === undefined ? undefined : lineOfPath(text, at)
  return line === undefined ? { level, file, message } : { level, file, line, message }
}

/** Why a file does not load. */
export const failureIn = (source: Source, { at, message }: InvalidPackData): Finding =>
  findingAt(source, { level: "error", message, ...(at !== undefined && { at }) })

export const countOf = (findings: ReadonlyArray<Finding>, level: Finding["level"]): number =>
  findings.filter((finding) => finding.level === level).length
