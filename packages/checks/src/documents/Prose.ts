import { read } from "../Repository.ts"

/** Code with comments of ours. */
export const isCode = (file: string): boolean =>
  /\.(?:ts|tsx|mjs|js|sql|proto|yaml|yml|toml)$|^\.ci\//.test(file) && !isGenerated(file)
export const isMarkdown = (file: string): boolean => file.endsWith(".md")
const isGenerated = (file: string) =>
  /\/(?:src|test)\/(?:runplane\/)?gen\/|^proto\/opentelemetry\/|\/openapi\/.*\.json$|^pnpm-lock\.yaml$/.test(file)

const texts = new Map<string, ReadonlyArray<string>>()

/** The lines of a file, which is read once. */
export const linesOf = (file: string): ReadonlyArray<string> => {
  const known = texts.get(file) ?? read(file).split("\n")
  texts.set(file, known)
  return known
}

/** The lines of a Markdown file outside of fenced code, numbered from 1. */
export const proseOf = (file: string): ReadonlyArray<{ readonly line: string; readonly number: number }> => {
  let fenced = false
  return linesOf(file).flatMap((line, at) => {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    return fenced || /^(?: {4}|\t)/.test(line) ? [] : [{ line, number: at + 1 }]
  })
}
