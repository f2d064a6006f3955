import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { readCertificates } from "@runplane/server"
import * as Effect from "effect/Effect"
import { invalidConfig } from "../common/LaunchErrors.ts"
import type { LauncherSettingsShape } from "../LauncherSettings.ts"

/** How the service calls the runtime: as the agents do. */
export const runtimeOptions = Effect.fnUntraced(function* (settings: LauncherSettingsShape) {
  const { runtimeAddress: address, runtimeTls: tls, runtimeTlsCaFile: caFile } = settings
  const ca =
    caFile === undefined
      ? undefined
      : yield* readCertificates(caFile).pipe(
          Effect.mapError(({ message }) => invalidConfig(`PROTO_RUNTIME_TLS_CA_FILE cannot be used: ${message}`)),
          Effect.provide(NodeFileSystem.layer)
        )
  return { address, tls, ca }
})
