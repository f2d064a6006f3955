/**
 * The records of a zip without compression (APPNOTE 6.3.10, without Zip64), whose bytes depend on names and contents
 * alone: all times are those of 1980-01-01, and there are no attributes.
 */

/** A file as the records of a zip have it. */
export interface ZipEntry {
  /** ASCII. */
  readonly name: string
  readonly bytes: number
  readonly crc32: number
}

/** An entry with the position of its local header. */
export interface PlacedEntry extends ZipEntry {
  readonly offset: number
}

/** Bytes of the largest zip of this form. */
export const MAX_ZIP_BYTES = 0xffff_ffff

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const VERSION = 20
/** 1980-01-01, the earliest date of the format. */
const DATE = 0x21

type Field = readonly [bytes: 2 | 4, value: number]

const record = (fields: ReadonlyArray<Field>, name = ""): Buffer => {
  const buffer = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0) + name.length)
  let at = 0
  for (const [bytes, value] of fields) at = buffer.writeUIntLE(value, at, bytes)
  buffer.write(name, at, "ascii")
  return buffer
}

/** Version, flags, method and time; then the content. */
const shared = ({ bytes, crc32, name }: ZipEntry): ReadonlyArray<Field> => [
  ...([
    [2, VERSION],
    [2, 0],
    [2, 0],
    [2, 0],
    [2, DATE]
  ] as const),
  ...([
    [4, crc32],
    [4, bytes],
    [4, bytes],
    [2, name.length],
    [2, 0]
  ] as const)
]

/** The header before the content of a file. */
export const localHeader = (entry: ZipEntry): Buffer => record([[4, LOCAL], ...shared(entry)], entry.name)

const centralHeader = (entry: PlacedEntry): Buffer =>
  record(
    [
      ...([
        [4, CENTRAL],
        [2, VERSION]
      ] as const),
      ...shared(entry),
      // Comment, disk, attributes inside and outside.
      ...([
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, entry.offset]
      ] as const)
    ],
    entry.name
  )

/** The directory at the end, which begins at `offset`. */
export const centralDirectory = (entries: ReadonlyArray<PlacedEntry>, offset: number): Buffer => {
  const headers = Buffer.concat(entries.map(centralHeader))
  const counts = [
    [2, entries.length],
    [2, entries.length]
  ] as const
  const end = record([[4, END], [2, 0], [2, 0], ...counts, [4, headers.length], [4, offset], [2, 0]])
  return Buffer.concat([headers, end])
}
