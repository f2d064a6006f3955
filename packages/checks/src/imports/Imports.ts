/** Every module a source names: static and type imports, re-exports, and dynamic imports with a literal. */
export const importsOf = (text: string): ReadonlyArray<string> =>
  PATTERNS.flatMap((pattern) =>
    Array.from(withoutComments(text).matchAll(pattern), (match) => match[1] ?? "").filter((found) => found !== "")
  )

const PATTERNS = [
  /^import\s+(?:type\s+)?(?:[\w*{][^"';]*?\sfrom\s*)?["']([^"']+)["']/gm,
  /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s*["']([^"']+)["']/gm,
  /\b(?:import|require)\(\s*["'`]([^"'`$]+)["'`]/g
]

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "")
