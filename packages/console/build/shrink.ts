import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import type { Plugin, Rolldown } from "vite"

/** Compressed script that a first visit may load, bytes: the entry, and any one page on top of it. */
const FIRST_LOAD_BYTES = 220_000

/** The modules of pages; what they load later (dialogs, graphs, forms) is not part of a first load. */
const PAGE = /\/src\/pages\/.*Page\.tsx$/

const TEXT = /\.(html|js|css|svg|json)$/

const brotli = (bytes: Uint8Array) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })

/**
 * Writes the compressed forms of every text file beside it, and holds the budget of the first load: the build fails
 * when the entry and the largest page that it leads to are larger than that together. With `CONSOLE_BUDGET=report` it
 * only prints the size, so that a start does not fail for some bytes.
 */
export const shrink = (): Plugin => {
  let folder = ""
  let chunks: ReadonlyArray<Rolldown.OutputChunk> = []
  return {
    name: "runplane:shrink",
    apply: "build",
    configResolved: ({ build, root }) => {
      folder = resolve(root, build.outDir)
    },
    generateBundle: (_, bundle) => {
      chunks = Object.values(bundle).filter((output) => output.type === "chunk")
    },
    closeBundle: () => {
      // This hook also runs after a failed build, which has its own error.
      if (chunks.length === 0) return
      const sizes = new Map<string, number>()
      for (const path of filesIn(folder).filter((name) => TEXT.test(name))) {
        const bytes = readFileSync(path)
        const small = brotli(bytes)
        writeFileSync(`${path}.br`, small)
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
        sizes.set(relative(folder, path).replaceAll("\\", "/"), small.length)
      }
      const heaviest = firstLoads(chunks, sizes)[0]
      if (heaviest === undefined) return
      const summary = `first load ${heaviest.bytes} bytes of compressed script (${heaviest.page}), budget ${FIRST_LOAD_BYTES}`
      if (heaviest.bytes > FIRST_LOAD_BYTES && process.env["CONSOLE_BUDGET"] !== "report") {
        throw new Error(`${summary}: too large`)
      }
      process.stdout.write(`${summary}\n`)
    }
  }
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())

/** What a visit that begins on each page loads, the heaviest first. The inbox is a page by itself. */
const firstLoads = (chunks: ReadonlyArray<Rolldown.OutputChunk>, sizes: ReadonlyMap<string, number>) => {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const closure = (name: string, seen: Set<string>): Set<string> => {
    if (seen.has(name)) return seen
    seen.add(name)
    for (const imported of byName.get(name)?.imports ?? []) closure(imported, seen)
    return seen
  }
  const entries = chunks.filter(({ isEntry }) => isEntry).map(({ fileName, name }) => ({ fileName, name }))
  const index = entries.find(({ name }) => name === "index")
  const pages = chunks.filter(({ facadeModuleId }) => PAGE.test(facadeModuleId ?? ""))
  const visits = [
    ...entries.map(({ fileName }) => [fileName]),
    ...(index === undefined ? [] : pages.map(({ fileName }) => [fileName, index.fileName]))
  ]
  return visits
    .map(([page = "", ...others]) => {
      const loaded = new Set<string>()
      for (const name of [page, ...others]) closure(name, loaded)
      return { page, bytes: [...loaded].reduce((total, name) => total + (sizes.get(name) ?? 0), 0) }
    })
    .toSorted((one, other) => other.bytes - one.bytes)
}
