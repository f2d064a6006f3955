import {
  type DescMessage,
  type DescMethod,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary
} from "@bufbuild/protobuf"
import * as grpc from "@grpc/grpc-js"
import { MACPRuntimeService } from "@runplane/runtime"

const marshal = (schema: DescMessage) => ({
  serialize: (message: Message) => Buffer.from(toBinary(schema, message)),
  deserialize: (bytes: Buffer) => fromBinary(schema, bytes)
})

const definitionOf = (method: DescMethod): grpc.MethodDefinition<Message, Message> => {
  const request = marshal(method.input)
  const response = marshal(method.output)
  return {
    path: `/${MACPRuntimeService.typeName}/${method.name}`,
    requestStream: method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming",
    responseStream: method.methodKind === "server_streaming" || method.methodKind === "bidi_streaming",
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize
  }
}

type Methods = typeof MACPRuntimeService.method
type Input<K extends keyof Methods> = MessageShape<Methods[K]["input"]>
type Output<K extends keyof Methods> = MessageShape<Methods[K]["output"]>

/** A frame stream read one by one, with the status it ended with. */
export class Frames<A> {
  readonly #items: Array<A> = []
  readonly #waiting: Array<(item: A | undefined) => void> = []
  readonly status: Promise<grpc.StatusObject>

  constructor(readable: grpc.ClientReadableStream<A> | grpc.ClientDuplexStream<never, A>) {
    readable.on("data", (item: A) => {
      const waiter = this.#waiting.shift()
      if (waiter === undefined) this.#items.push(item)
      else waiter(item)
    })
    // The status carries the same failure; without a listener the process would end.
    readable.on("error", () => undefined)
    this.status = new Promise((resolve) => readable.on("status", resolve))
    this.status.then(() => {
      for (const waiter of this.#waiting.splice(0)) waiter(undefined)
    })
  }

  /** The next frame, undefined when the stream ended first. */
  next(): Promise<A | undefined> {
    const item = this.#items.shift()
    if (item !== undefined) return Promise.resolve(item)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async take(count: number): Promise<Array<A>> {
    const taken: Array<A> = []
    while (taken.length < count) {
      const item = await this.next()
      if (item === undefined) return taken
      taken.push(item)
    }
    return taken
  }

  /** Frames that were not requested. */
  get unread(): number {
    return this.#items.length
  }
}

/** A client made by another gRPC library, with the protobuf code as its only common part with the server. */
export class ForeignClient {
  readonly #client: grpc.Client

  constructor(address: string) {
    this.#client = new grpc.Client(address, grpc.credentials.createInsecure(), {
      // A connection of its own: a slow reader of one client must not hold up the calls of another.
      "grpc.use_local_subchannel_pool": 1
    })
  }

  close(): void {
    this.#client.close()
  }

  unary<K extends keyof Methods & string>(name: K, request: Input<K>, token?: string): Promise<Output<K>> {
    const definition = definitionOf(MACPRuntimeService.method[name])
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest<Message, Message>(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        request,
        metadata(token),
        (error, response) => (error === null ? resolve(response as Output<K>) : reject(error))
      )
    })
  }

  watch<K extends keyof Methods & string>(name: K, request: Input<K>, token?: string) {
    const definition = definitionOf(MACPRuntimeService.method[name])
    const call = this.#client.makeServerStreamRequest<Message, Output<K>>(
      definition.path,
      definition.requestSerialize,
      (bytes) => definition.responseDeserialize(bytes) as Output<K>,
      request,
      metadata(token)
    )
    return { frames: new Frames<Output<K>>(call), cancel: () => call.cancel() }
  }

  session(token?: string) {
    const definition = definitionOf(MACPRuntimeService.method.streamSession)
    const call = this.#client.makeBidiStreamRequest<Input<"streamSession">, Output<"streamSession">>(
      definition.path,
      definition.requestSerialize,
      (bytes) => definition.responseDeserialize(bytes) as Output<"streamSession">,
      metadata(token)
    )
    return {
      frames: new Frames<Output<"streamSession">>(call),
      write: (request: Input<"streamSession">) => call.write(request),
      halfClose: () => call.end(),
      pause: () => call.pause(),
      resume: () => call.resume(),
      cancel: () => call.cancel()
    }
  }
}

const metadata = (token: string | undefined): grpc.Metadata => {
  const values = new grpc.Metadata()
  if (token !== undefined) values.set("authorization", `Bearer ${token}`)
  return values
}
