import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import * as Redacted from "effect/Redacted"
import type { StackSettings } from "./StackSettings.ts"

/** What the services have to know of each other. */
export interface Neighbours {
  readonly runtimeAddress: string
  readonly controlPlaneUrl: string
}

/**
 * How to speak to the sandbox: in plain text, with the name of the control plane as the credential, since the sandbox takes
 * every bearer value for a name. A runtime of somebody else's is spoken to as the user's settings say.
 */
const SANDBOX = {
  RUNTIME_TLS: "false",
  RUNTIME_ALLOW_INSECURE: "true",
  RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
  PROTO_AUTH_SERVICE_URL: "",
  MACP_AUTH_SERVICE_URL: ""
}

/**
 * The settings with which the services would run as processes of their own: those of this process, completed with where
 * their neighbours are. All other settings of the services stay what the user gave.
 */
export const serviceEnvironment = (
  given: Readonly<Record<string, string | undefined>>,
  settings: StackSettings,
  { controlPlaneUrl, runtimeAddress }: Neighbours
): Record<string, string> => {
  const present = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const runtime = { ...Object.fromEntries(present), ...(settings.runtimeAddress === undefined ? SANDBOX : {}) }
  return {
    ...runtime,
    RUNTIME_ADDRESS: runtimeAddress,
    PACKS_DIR: settings.packsDir,
    SERVICE_ROOT: settings.root,
    // Registered by the stack, before anything can be launched.
    REGISTER_POLICIES_ON_LAUNCH: "false",
    PROTO_RUNTIME_ADDRESS: runtimeAddress,
    PROTO_RUNTIME_TLS: runtime["RUNTIME_TLS"] ?? "false",
    PROTO_RUNTIME_ALLOW_INSECURE: runtime["RUNTIME_ALLOW_INSECURE"] ?? "true",
    PROTO_CONTROL_PLANE_URL: controlPlaneUrl,
    ...(settings.apiKey !== undefined && { PROTO_CONTROL_PLANE_API_KEY: Redacted.value(settings.apiKey) })
  }
}
