/**
 * A client in a process of its own, because the roots that Node trusts are read when it starts (NODE_EXTRA_CA_CERTS).
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RuntimeClient } from "../src/RuntimeClient.ts"
import { RuntimeCredentials } from "../src/RuntimeCredentials.ts"

const address = process.argv[2] ?? ""

const greet = RuntimeClient.use((client) => client.initialize).pipe(
  Effect.match({
    onSuccess: (identity) => `connected to ${identity.name}`,
    onFailure: (error) => error.reason
  }),
  Effect.provide(RuntimeClient.layerGrpc({ address, tls: true }).pipe(Layer.provide(RuntimeCredentials.layerNone)))
)

process.stdout.write(await Effect.runPromise(greet))
