import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const uuidAt = (bytes: Uint8Array, offset: number): string => {
  const at = (index: number) => bytes[offset + index] ?? 0
  const text = (from: number, to: number) => {
    let out = ""
    for (let index = from; index < to; index++) out += hex[at(index)]
    return out
  }
  const version = hex[(at(6) & 0x0f) | 0x40]
  const variant = hex[(at(8) & 0x3f) | 0x80]
  return `${text(0, 4)}-${text(4, 6)}-${version}${text(7, 8)}-${variant}${text(9, 10)}-${text(10, 16)}`
}

/** Makes the random ids of the service: UUIDs of version 4 and trace ids, many at once where the log needs many. */
export class Ids extends Context.Service<
  Ids,
  {
    readonly uuid: Effect.Effect<string>
    readonly uuids: (count: number) => Effect.Effect<ReadonlyArray<string>>
    /** Seeds of the salts of texts (docs/reference/seal-format.md#digests), one after the other, of 16 bytes each. */
    readonly seeds: (count: number) => Effect.Effect<Uint8Array>
    /** 32 hexadecimal digits, a W3C trace id. */
    readonly traceId: Effect.Effect<string>
    /** 16 hexadecimal digits, a W3C span id. */
    readonly spanId: Effect.Effect<string>
  }
>()("runplane/control-plane/Ids") {
  static readonly layer = Layer.effect(
    Ids,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const uuids = (count: number) =>
        Effect.map(random.randomBytes(16 * count), (bytes) =>
          Array.from({ length: count }, (_, index) => uuidAt(bytes, 16 * index))
        )
      const seeds = (count: number) => random.randomBytes(16 * count)
      const digits = (size: number) =>
        Effect.map(random.randomBytes(size), (bytes) => Array.from(bytes, (byte) => hex[byte]).join(""))
      return Ids.of({ uuid: random.uuidV4(), uuids, seeds, traceId: digits(16), spanId: digits(8) })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
