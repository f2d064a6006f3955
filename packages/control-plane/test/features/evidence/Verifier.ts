import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import * as Effect from "effect/Effect"
import { centralDirectory, localHeader, type PlacedEntry } from "../../../src/features/evidence/StoredZip.ts"

export const VERIFY = join(import.meta.dirname, "../../../../verify/verify.py")

/** Whether this machine has a Python that runs the verifier. */
export const hasPython =
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"], { stdio: "ignore" }).status === 0

export interface Verdict {
  readonly code: number | null
  readonly output: string
}

/** Runs a program of Python, without a pause of the service in this process. */
export const runPython = (args: ReadonlyArray<string>): Effect.Effect<Verdict> =>
  Effect.callback((resume) => {
    execFile("python3", args, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : null
      resume(Effect.succeed({ code, output: `${stdout}${stderr}` }))
    })
  })

/** A folder until the scope closes. */
export const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-evidence-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Runs `verify.py`, which is a program of its own, over a bundle. */
export const verify = (
  bundle: Uint8Array,
  {
    flags = [],
    keys,
    program = VERIFY
  }: { readonly flags?: ReadonlyArray<string>; readonly keys?: string | undefined; readonly program?: string } = {}
): Effect.Effect<Verdict> =>
  Effect.gen(function* () {
    const folder = yield* temporary
    const file = join(folder, "case.evidence.zip")
    writeFileSync(file, bundle)
    if (keys !== undefined) writeFileSync(join(folder, "keys.json"), keys)
    const given = keys === undefined ? [] : ["--keys", join(folder, "keys.json")]
    return yield* runPython([program, file, ...given, ...flags])
  }).pipe(Effect.scoped)

/** The files of a stored zip, by its local headers. */
export const filesIn = (zip: Buffer): Map<string, Buffer> => {
  const files = new Map<string, Buffer>()
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50; ) {
    const size = zip.readUInt32LE(at + 22)
    const begin = at + 30 + zip.readUInt16LE(at + 26)
    files.set(zip.toString("ascii", at + 30, begin), zip.subarray(begin, begin + size))
    at = begin + size
  }
  return files
}

/** A zip of these files, in their order. */
export const zipOf = (files: Iterable<readonly [name: string, content: Uint8Array]>): Buffer => {
  const parts: Array<Uint8Array> = []
  const entries: Array<PlacedEntry> = []
  let offset = 0
  for (const [name, content] of files) {
    const entry = { name, bytes: content.length, crc32: crc32(content) }
    const header = localHeader(entry)
    parts.push(header, content)
    entries.push({ ...entry, offset })
    offset += header.length + content.length
  }
  return Buffer.concat([...parts, centralDirectory(entries, offset)])
}
