import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib"

const OPTIONS = {
  params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS, [constants.BROTLI_PARAM_QUALITY]: 11 }
}

/** The files below a folder, by their paths with slashes. */
export const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.replaceAll("\\", "/"))
    .sort()

/** Packs files of a folder into one: a line of JSON with their paths and sizes, then their bytes, compressed. */
export const pack = (folder: string, paths: ReadonlyArray<string>, into: string): void => {
  const contents = paths.map((path) => readFileSync(join(folder, path)))
  const list = paths.map((path, index) => ({ path, bytes: contents[index]?.length ?? 0 }))
  writeFileSync(
    into,
    brotliCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(list)}\n`), ...contents]), OPTIONS)
  )
}

/** Writes the packed files into a folder. */
export const unpack = (packed: string, folder: string): void => {
  const bytes = brotliDecompressSync(readFileSync(packed))
  let at = bytes.indexOf("\n") + 1
  const list: ReadonlyArray<{ readonly path: string; readonly bytes: number }> = JSON.parse(
    bytes.toString("utf8", 0, at)
  )
  for (const { bytes: length, path } of list) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes.subarray(at, at + length))
    at += length
  }
}
