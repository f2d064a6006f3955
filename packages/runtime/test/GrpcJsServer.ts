import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf"
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation
} from "@grpc/grpc-js"
import { MACPRuntimeService } from "@runplane/runtime"
import * as Effect from "effect/Effect"

const codec = <Desc extends DescMessage>(schema: Desc) => ({
  serialize: (message: MessageShape<Desc>) => Buffer.from(toBinary(schema, message)),
  deserialize: (bytes: Buffer) => fromBinary(schema, bytes)
})

/** The service for grpc-js, an implementation of gRPC that shares no code with the client under test. */
const definition: ServiceDefinition = Object.fromEntries(
  MACPRuntimeService.methods.map((method) => {
    const request = codec(method.input)
    const response = codec(method.output)
    const entry: MethodDefinition<MessageShape<DescMessage>, MessageShape<DescMessage>> = {
      path: `/${MACPRuntimeService.typeName}/${method.name}`,
      requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
      responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
      requestSerialize: request.serialize,
      requestDeserialize: request.deserialize,
      responseSerialize: response.serialize,
      responseDeserialize: response.deserialize
    }
    return [method.localName, entry]
  })
)

/**
 * Runs the handlers on the loopback, on a free port unless one is named, until the scope closes; answers `host:port`.
 */
export const serveGrpcJs = (handlers: UntypedServiceImplementation, address = "127.0.0.1:0") =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Server; readonly port: number }, Error>((resume) => {
        const server = new Server({ "grpc.max_concurrent_streams": 128 })
        server.addService(definition, handlers)
        server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
          resume(error === null ? Effect.succeed({ server, port }) : Effect.fail(error))
        )
      }),
      ({ server }) => Effect.sync(() => server.forceShutdown())
    ),
    ({ port }) => `127.0.0.1:${port}`
  )
