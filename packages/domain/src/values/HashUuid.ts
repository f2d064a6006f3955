/** A UUID of the first 128 bits of a hash, with a version and the variant of RFC 9562. `hex` is lower case. */
export const uuidOfHash = (hex: string, version: 4 | 5 | 8): string => {
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
