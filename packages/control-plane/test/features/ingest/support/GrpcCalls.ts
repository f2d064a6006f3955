import { createServer } from "node:net"
import { BinaryReader } from "@bufbuild/protobuf/wire"
import {
  type Client,
  compressionAlgorithms,
  credentials,
  Metadata,
  makeClientConstructor,
  type ServiceError
} from "@grpc/grpc-js"
import * as Effect from "effect/Effect"

/** A free port of the loopback. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const exportMethod = (signal: "Trace" | "Logs" | "Metrics") => ({
  Export: {
    path: `/opentelemetry.proto.collector.${signal.toLowerCase()}.v1.${signal}Service/Export`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes
  }
})

/** A client of gRPC whose messages are bytes. */
export const grpcClient = (port: number, signal: "Trace" | "Logs" | "Metrics" = "Trace", gzip = false) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const Service = makeClientConstructor(exportMethod(signal), signal)
      return new Service(`127.0.0.1:${port}`, credentials.createInsecure(), {
        ...(gzip && { "grpc.default_compression_algorithm": compressionAlgorithms.gzip }),
        "grpc.max_send_message_length": -1
      })
    }),
    (client) => Effect.sync(() => client.close())
  )

export interface GrpcAnswer {
  readonly code: number
  readonly message: string
  readonly body: Buffer
  readonly details: Buffer | undefined
}

/** One export; a refusal is an answer with its code. */
export const exportBy = (
  client: Client,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<GrpcAnswer> =>
  Effect.callback((resume) => {
    const metadata = new Metadata()
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
    const same = (value: Buffer) => value
    const path = Reflect.get(client, "Export")?.path
    client.makeUnaryRequest(
      path,
      same,
      same,
      Buffer.from(bytes),
      metadata,
      (error: ServiceError | null, body?: Buffer) => {
        const [details] = error?.metadata.get("grpc-status-details-bin") ?? []
        resume(
          Effect.succeed({
            code: error?.code ?? 0,
            message: error?.details ?? "",
            body: body ?? Buffer.alloc(0),
            details: Buffer.isBuffer(details) ? details : undefined
          })
        )
      }
    )
  })

/** Rejected items and the message of a partial answer. */
export const partialOf = (body: Buffer): readonly [rejected: number, message: string] => {
  const outer = new BinaryReader(body)
  if (outer.len === 0) return [0, ""]
  outer.tag()
  const reader = new BinaryReader(outer.bytes())
  let rejected = 0
  let message = ""
  while (reader.pos < reader.len) {
    const [field] = reader.tag()
    if (field === 1) rejected = Number(reader.int64())
    else message = reader.string()
  }
  return [rejected, message]
}
