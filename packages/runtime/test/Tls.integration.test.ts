import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { createSecureServer } from "node:http2"
import { rootCertificates } from "node:tls"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { create } from "@bufbuild/protobuf"
import { connectNodeAdapter } from "@connectrpc/connect-node"
import { assert, describe, it } from "@effect/vitest"
import { RuntimeClient, RuntimeCredentials } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { InitializeResponseSchema } from "../src/gen/macp/v1/core_pb.ts"
import { MACPRuntimeService } from "../src/gen/macp/v1/service_pb.ts"

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/tls/${name}`, import.meta.url))
const CERTIFICATE = fixture("localhost.cert.pem")
const CHILD = fileURLToPath(new URL("./TlsChild.ts", import.meta.url))

/** A runtime behind TLS on a free port; answers the port. */
const secureRuntime = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createSecureServer(
      { cert: readFileSync(CERTIFICATE), key: readFileSync(fixture("localhost.key.pem")) },
      connectNodeAdapter({
        routes: (router) =>
          router.service(MACPRuntimeService, {
            initialize: () =>
              create(InitializeResponseSchema, {
                selectedProtocolVersion: "1.0",
                runtimeInfo: { name: "behind-tls", version: "1" }
              })
          })
      })
    )
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    return { server, port: typeof address === "object" && address !== null ? address.port : 0 }
  }),
  ({ server }) => Effect.promise(() => new Promise<void>((resolve) => server.close(() => resolve())))
)

const greet = (port: number, trusted: Record<string, string>) =>
  Effect.promise(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, `localhost:${port}`], {
      env: { PATH: process.env["PATH"] ?? "", ...trusted }
    })
    return stdout
  })

describe("the gRPC client with TLS", () => {
  it.live("speaks to a runtime whose certificate it trusts, and to no other", () =>
    Effect.gen(function* () {
      const { port } = yield* secureRuntime
      assert.strictEqual(yield* greet(port, { NODE_EXTRA_CA_CERTS: CERTIFICATE }), "connected to behind-tls")
      assert.notInclude(yield* greet(port, {}), "connected")
    })
  )

  it.live("trusts the certificates that it is given in place of the system's roots", () =>
    Effect.gen(function* () {
      const { port } = yield* secureRuntime
      const greetTrusting = (ca: string) =>
        RuntimeClient.use(({ initialize }) => initialize).pipe(
          Effect.match({ onSuccess: ({ name }) => `connected to ${name}`, onFailure: ({ reason }) => reason }),
          Effect.provide(
            RuntimeClient.layerGrpc({ address: `localhost:${port}`, tls: true, ca }).pipe(
              Layer.provide(RuntimeCredentials.layerNone)
            )
          )
        )
      assert.strictEqual(yield* greetTrusting(readFileSync(CERTIFICATE, "utf8")), "connected to behind-tls")
      assert.notInclude(yield* greetTrusting(rootCertificates[0] ?? ""), "connected")
    }).pipe(Effect.scoped)
  )
})
