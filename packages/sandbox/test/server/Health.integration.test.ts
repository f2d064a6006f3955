import { assert, describe, it } from "@effect/vitest"
import * as grpc from "@grpc/grpc-js"
import * as Effect from "effect/Effect"
import { Sandbox } from "../../src/Sandbox.ts"

/** Both messages have one field: a string on the way in, a number on the way out. */
const serialize = (service: string) => Buffer.concat([Buffer.from([10, service.length]), Buffer.from(service)])
const deserialize = (bytes: Buffer) => bytes[1]

const SERVING = 1
const SERVICE_UNKNOWN = 3

const connect = (address: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new grpc.Client(address, grpc.credentials.createInsecure())),
    (client) => Effect.sync(() => client.close())
  )

const check = (client: grpc.Client, service: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    client.makeUnaryRequest("/grpc.health.v1.Health/Check", serialize, deserialize, service, (error, status) =>
      error === null ? resolve(status) : reject(error)
    )
  })

describe("the health service", () => {
  it.live("reports the server and its service as serving, without a credential", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      yield* Effect.promise(async () => {
        assert.strictEqual(await check(client, ""), SERVING)
        assert.strictEqual(await check(client, "macp.v1.MACPRuntimeService"), SERVING)
        const refusal = await check(client, "other").then(
          () => undefined,
          (failure: grpc.ServiceError) => failure.code
        )
        assert.strictEqual(refusal, grpc.status.NOT_FOUND)
      })
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("keeps a watch open after its first answer", () =>
    Effect.gen(function* () {
      const client = yield* connect((yield* Sandbox).address)
      const watch = (service: string) =>
        Effect.promise(
          () =>
            new Promise<number | undefined>((resolve) => {
              const call = client.makeServerStreamRequest(
                "/grpc.health.v1.Health/Watch",
                serialize,
                deserialize,
                service
              )
              call.on("error", () => undefined)
              call.on("data", (status: number) => {
                call.cancel()
                resolve(status)
              })
            })
        )
      assert.strictEqual(yield* watch("macp.v1.MACPRuntimeService"), SERVING)
      assert.strictEqual(yield* watch("other"), SERVICE_UNKNOWN)
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )
})
