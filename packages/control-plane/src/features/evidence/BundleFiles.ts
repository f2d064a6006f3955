import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import type { Sliced } from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import type { RunErased, RunGone } from "../../event-log/runs/RunGone.ts"
import { centralDirectory, localHeader, MAX_ZIP_BYTES, type PlacedEntry, type ZipEntry } from "./StoredZip.ts"

/** A file changed between the two reads that a bundle makes of it, so the bundle would not fit its manifest. */
export class EvidenceChanged extends Data.TaggedError("EvidenceChanged")<{ readonly file: string }> {
  override get message(): string {
    return `${this.file} changed while the bundle was made; the same request makes a new one`
  }
}

/** Why the files of a bundle cannot be read. */
export type ReadFailure = SqlError | RunErased | RunGone

/** The files are more than a bundle can hold. */
export class BundleTooLarge extends Data.TaggedError("BundleTooLarge") {
  override get message(): string {
    return `the bundle is larger than ${MAX_ZIP_BYTES} bytes; leave the frames out (includeRaw=false), or search fewer runs`
  }
}

/** Why a bundle ends before its end. */
export type BundleFailure = ReadFailure | EvidenceChanged | BundleTooLarge

/**
 * A file of a bundle. The content of a large one is read twice, for its hash, which stands in the manifest, and when it
 * is sent: so no large file is held in memory.
 */
export interface BundleFile {
  readonly name: string
  readonly content: Stream.Stream<string, ReadFailure>
}

/** A file with its hash. */
export interface HashedFile extends ZipEntry {
  /** Hexadecimal. */
  readonly sha256: string
  /** Lines of the content. */
  readonly lines: number
  readonly content: Stream.Stream<Uint8Array, BundleFailure>
}

/** The part of a sent file that the manifest and the directory of the zip need. */
export type SentFile = Omit<HashedFile, "content"> & PlacedEntry

/** Bytes of a file that is kept from its hash until it is sent. */
const KEPT_BYTES = 256 * 1024

/** The same of what proves the rows of a large file: of some 200,000 events. It is computed once then. */
export const KEPT_PROOF_BYTES = 16 * 1024 * 1024

export const textFile = (name: string, text: string): BundleFile => ({ name, content: Stream.make(text) })

/** A JSON document with an indent, for people too. */
export const documentText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

export const jsonFile = (name: string, value: unknown): BundleFile => textFile(name, documentText(value))

const NEWLINE = 0x0a

const meter = () => {
  const hash = createHash("sha256")
  let bytes = 0
  let crc = 0
  let lines = 0
  return {
    take: (chunk: Uint8Array): void => {
      hash.update(chunk)
      crc = crc32(chunk, crc)
      bytes += chunk.length
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1
    },
    read: () => ({ bytes, crc32: crc, sha256: hash.digest("hex"), lines })
  }
}

/** Reads a file for its hash. */
export const hashed = Effect.fnUntraced(function* ({
  content,
  name
}: BundleFile): Effect.fn.Return<HashedFile, ReadFailure> {
  const keeper = keeping(KEPT_BYTES)
  yield* Stream.runForEach(Stream.encodeText(content), (chunk) => Effect.sync(() => keeper.take(chunk)))
  return keeper.file(name, content)
})

/** Measures a file, and keeps it while it has at most so many bytes. */
const keeping = (most: number) => {
  const taken = meter()
  const chunks: Array<Uint8Array> = []
  let kept = 0
  return {
    take: (chunk: Uint8Array): void => {
      taken.take(chunk)
      kept += chunk.length
      if (kept <= most) chunks.push(chunk)
      else chunks.length = 0
    },
    /** The file, which is read again from this content where it is not kept. */
    file: (name: string, content: BundleFile["content"]): HashedFile => {
      const found = { name, ...taken.read() }
      return { ...found, content: kept <= most ? Stream.fromIterable(chunks) : readAgain(content, found) }
    }
  }
}

/** A file with a line for each row. */
export interface RowsFile<Row> {
  readonly name: string
  /** Makes the lines of one reading, in the order of the rows. */
  readonly lines: () => (row: Row) => string
  /** Bytes of it that are kept until it is sent. */
  readonly keep?: number
}

/** Reads rows once for the hashes of several files, in slices, because the lines of proofs take long. */
export const hashedTogether = Effect.fnUntraced(function* <Row>(
  pages: Stream.Stream<ReadonlyArray<Row>, ReadFailure>,
  files: ReadonlyArray<RowsFile<Row>>
): Effect.fn.Return<ReadonlyArray<HashedFile>, ReadFailure> {
  const made = files.map((file) => ({ file, lineOf: file.lines(), keeper: keeping(file.keep ?? KEPT_BYTES) }))
  yield* Stream.runForEach(pages, (page) =>
    Effect.gen(function* () {
      for (const { keeper, lineOf } of made) keeper.take(utf8.encode(yield* inSlices(linesOfPage(page, lineOf))))
    })
  )
  return made.map(({ file: { lines, name }, keeper }) => keeper.file(name, rowsContent(pages, lines)))
})

const utf8 = new TextEncoder()

const rowsContent = <Row>(
  pages: Stream.Stream<ReadonlyArray<Row>, ReadFailure>,
  lines: RowsFile<Row>["lines"]
): BundleFile["content"] =>
  Stream.suspend(() => {
    const lineOf = lines()
    return Stream.mapEffect(pages, (page) => inSlices(linesOfPage(page, lineOf)))
  })

function* linesOfPage<Row>(page: ReadonlyArray<Row>, lineOf: (row: Row) => string): Sliced<string> {
  let text = ""
  for (const row of page) {
    text += `${lineOf(row)}\n`
    yield
  }
  return text
}

/** A file of these bytes. */
export const hashedBytes = (name: string, bytes: Uint8Array): HashedFile => {
  const taken = meter()
  taken.take(bytes)
  return { name, ...taken.read(), content: Stream.make(bytes) }
}

export const hashedText = (name: string, text: string): HashedFile => hashedBytes(name, Buffer.from(text, "utf8"))

/** The content of a hashed file, which fails where it is not the hashed one. */
const readAgain = (
  content: BundleFile["content"],
  { name, sha256 }: Pick<HashedFile, "name" | "sha256">
): HashedFile["content"] =>
  Stream.suspend(() => {
    const taken = meter()
    const bytes = Stream.map(Stream.encodeText(content), (chunk) => {
      taken.take(chunk)
      return chunk
    })
    return Stream.concat(
      bytes,
      Stream.suspend(() =>
        taken.read().sha256 === sha256 ? Stream.empty : Stream.fail(new EvidenceChanged({ file: name }))
      )
    )
  })

/** The bytes of a file in a zip, with a generous share of the directory. */
const zipBytes = ({ bytes, name }: HashedFile): number => bytes + 2 * (100 + name.length)

/** Whether one zip can hold these files. */
export const fitsOneZip = (files: ReadonlyArray<HashedFile>): boolean =>
  files.reduce((sum, file) => sum + zipBytes(file), 0) <= MAX_ZIP_BYTES

/** A zip that is written file by file, in the order of their names. */
export const makeZipWriter = () => {
  const sent: Array<SentFile> = []
  let offset = 0
  let whole = 0
  return {
    /** The files that were sent, for the manifest. */
    sent: sent as ReadonlyArray<SentFile>,
    add: (file: HashedFile): Stream.Stream<Uint8Array, BundleFailure> =>
      Stream.suspend(() => {
        const header = localHeader(file)
        const { content, ...entry } = file
        sent.push({ ...entry, offset })
        offset += header.length + file.bytes
        whole += zipBytes(file)
        if (whole > MAX_ZIP_BYTES) return Stream.fail(new BundleTooLarge())
        return Stream.concat(Stream.make(header), content)
      }),
    end: (): Stream.Stream<Uint8Array> => Stream.suspend(() => Stream.make(centralDirectory(sent, offset)))
  }
}
