/** One thing that a tool has to say about a file of the packs. An error makes the tool fail, a warning does not. */
export interface Finding {
  readonly level: "error" | "warning"
  /** Relative to the packs directory. */
  readonly file: string
  readonly message: string
}

export const errorIn = (file: string, message: string): Finding => ({ level: "error", file, message })

export const warningIn = (file: string, message: string): Finding => ({ level: "warning", file, message })

export const countOf = (findings: ReadonlyArray<Finding>, level: Finding["level"]): number =>
  findings.filter((finding) => finding.level === level).length
