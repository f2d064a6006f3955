/**
 * A random UUID, of version 4. Pages of plain http by a name or an address have no `crypto.randomUUID`: browsers have
 * it for https and for the own machine alone.
 */
export const newId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte, number) => {
    const marked = number === 6 ? (byte & 0x0f) | 0x40 : number === 8 ? (byte & 0x3f) | 0x80 : byte
    return marked.toString(16).padStart(2, "0")
  }).join("")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
