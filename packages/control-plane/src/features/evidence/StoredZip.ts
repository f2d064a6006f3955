/**
 * The records of a zip without compression (APPNOTE 6.3.10), whose bytes depend on names and contents alone: all times
 * are those of 1980-01-01, and there are no attributes. Sizes beyond 4 GiB have the fields of Zip64.
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

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50

const MAX_16 = 0xffff
const MAX_32 = 0xffffffff
const VERSION = 20
const VERSION_64 = 45
/** 1980-01-01, the earliest date of the format. */
const DATE = 0x21
const ZIP64_FIELD = 1

type Field = readonly [bytes: 2 | 4 | 8, value: number]

const record = (fields: ReadonlyArray<Field>, name = "", extra: ReadonlyArray<Field> = []): Uint8Array => {
  const all = [...fields, ...extra]
  const buffer = Buffer.alloc(all.reduce((sum, [bytes]) => sum + bytes, 0) + name.length)
  let at = 0
  const write = ([bytes, value]: Field) => {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  for (const field of fields) write(field)
  at += buffer.write(name, at, "ascii")
  for (const field of extra) write(field)
  return buffer
}

/** The Zip64 field of these values; none for values that fit 32 bits. */
const zip64 = (values: ReadonlyArray<number>): ReadonlyArray<Field> =>
  values.length === 0 ? [] : [[2, ZIP64_FIELD], [2, 8 * values.length], ...values.map((value): Field => [8, value])]

const sizeOf = (fields: ReadonlyArray<Field>) => fields.reduce((sum, [bytes]) => sum + bytes, 0)

const shared = (
  { bytes, crc32, name }: ZipEntry,
  isLarge: boolean,
  extra: ReadonlyArray<Field>
): ReadonlyArray<Field> => {
  const size = Math.min(bytes, MAX_32)
  return [
    ...([
      [2, isLarge ? VERSION_64 : VERSION],
      [2, 0],
      [2, 0],
      [2, 0],
      [2, DATE]
    ] as const),
    ...([
      [4, crc32],
      [4, size],
      [4, size],
      [2, name.length],
      [2, sizeOf(extra)]
    ] as const)
  ]
}

/** What stands before the content of a file. */
export const localHeader = (entry: ZipEntry): Uint8Array => {
  const isLarge = entry.bytes >= MAX_32
  const extra = zip64(isLarge ? [entry.bytes, entry.bytes] : [])
  return record([[4, LOCAL], ...shared(entry, isLarge, extra)], entry.name, extra)
}

const centralHeader = (entry: PlacedEntry): Uint8Array => {
  const { bytes, name, offset } = entry
  const large = [...(bytes >= MAX_32 ? [bytes, bytes] : []), ...(offset >= MAX_32 ? [offset] : [])]
  const extra = zip64(large)
  const isLarge = large.length > 0
  return record(
    [
      [4, CENTRAL],
      [2, isLarge ? VERSION_64 : VERSION],
      ...shared(entry, isLarge, extra),
      // Comment, disk, attributes inside and outside.
      ...([
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0]
      ] as const),
      [4, Math.min(offset, MAX_32)]
    ],
    name,
    extra
  )
}

/** The directory at the end, which begins at `offset`. */
export const centralDirectory = (entries: ReadonlyArray<PlacedEntry>, offset: number): Uint8Array => {
  const headers = entries.map(centralHeader)
  const bytes = headers.reduce((sum, header) => sum + header.length, 0)
  const count = entries.length
  const isLarge = count >= MAX_16 || bytes >= MAX_32 || offset >= MAX_32
  const large = isLarge
    ? [
        record([
          ...([
            [4, END_64],
            [8, 44],
            [2, VERSION_64],
            [2, VERSION_64],
            [4, 0],
            [4, 0]
          ] as const),
          ...([
            [8, count],
            [8, count],
            [8, bytes],
            [8, offset]
          ] as const)
        ]),
        record([
          [4, LOCATOR_64],
          [4, 0],
          [8, offset + bytes],
          [4, 1]
        ])
      ]
    : []
  const [shownCount, shownBytes, shownOffset] = [
    Math.min(count, MAX_16),
    Math.min(bytes, MAX_32),
    Math.min(offset, MAX_32)
  ]
  const end = record([
    ...([
      [4, END],
      [2, 0],
      [2, 0],
      [2, shownCount],
      [2, shownCount],
      [4, shownBytes]
    ] as const),
    ...([
      [4, shownOffset],
      [2, 0]
    ] as const)
  ])
  return Buffer.concat([...headers, ...large, end])
}
