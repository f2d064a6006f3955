/** The few parts of RFC 3161 in DER that a request has, and that show whether an answer grants it. */

const INTEGER = 0x02
const OCTETS = 0x04
const SEQUENCE = 0x30
/** 2.16.840.1.101.3.4.2.1 (SHA-256) with its parameter NULL. */
const SHA_256 = Buffer.from("300d06096086480165030402010500", "hex")
const TRUE = Buffer.from("0101ff", "hex")

const tagged = (tag: number, content: Uint8Array): Uint8Array => {
  // Nothing here is longer than 127 bytes.
  return Buffer.concat([Buffer.from([tag, content.length]), content])
}

/** An integer without a sign: the shortest form, whose first bit is 0. */
const unsigned = (bytes: Uint8Array): Uint8Array => {
  const start = bytes.findIndex((byte) => byte !== 0)
  const short = start < 0 ? Buffer.of(0) : bytes.subarray(start)
  return tagged(INTEGER, (short[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), short]) : short)
}

/** The query for a stamp of a SHA-256 digest, with the certificate of the authority. */
export const stampRequest = (digest: Uint8Array, nonce: Uint8Array): Uint8Array =>
  tagged(
    SEQUENCE,
    Buffer.concat([
      unsigned(Buffer.of(1)),
      tagged(SEQUENCE, Buffer.concat([SHA_256, tagged(OCTETS, digest)])),
      unsigned(nonce),
      TRUE
    ])
  )

/** The content of the value at the beginning of the bytes; undefined for another tag, or for too few bytes. */
const contentOf = (bytes: Uint8Array, tag: number): Uint8Array | undefined => {
  const [found, first] = bytes
  if (found !== tag || first === undefined) return undefined
  const more = first < 0x80 ? 0 : first & 0x7f
  if (more > 4) return undefined
  const length = more === 0 ? first : bytes.subarray(2, 2 + more).reduce((sum, byte) => sum * 256 + byte, 0)
  const content = bytes.subarray(2 + more, 2 + more + length)
  return content.length === length ? content : undefined
}

/**
 * Why an answer grants no stamp of the digest; undefined for one that does. Whether its signature is that of the
 * authority is for the reader of the bundle to check, who chooses the authorities.
 */
export const grantedStamp = (answer: Uint8Array, digest: Uint8Array, nonce: Uint8Array): string | undefined => {
  const whole = contentOf(answer, SEQUENCE)
  const info = whole && contentOf(whole, SEQUENCE)
  const status = info && contentOf(info, INTEGER)
  if (status === undefined) return "its answer is not a time stamp"
  // 0 grants, and 1 grants with modifications.
  if (status.length !== 1 || (status[0] ?? 2) > 1)
    return `it refused with status ${Buffer.from(status).toString("hex")}`
  const has = (value: Uint8Array) => Buffer.from(answer).includes(Buffer.from(value))
  if (!has(tagged(OCTETS, digest))) return "its stamp is of another digest"
  return has(unsigned(nonce)) ? undefined : "its stamp answers another request"
}
