import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import * as Redacted from "effect/Redacted"
import type { StackSettings } from "./StackSettings.ts"

/** What the services have to know of each other. */
export interface Neighbours {
  readonly runtimeAddress: string
  readonly controlPlaneUrl: string
  /** Undefined: no auth service of ours. */
  readonly authUrl: string | undefined
}

/**
 * Ports from here on are those that agents listen on for cancel requests: below what systems give to outgoing
 * connections.
 */
export const CANCEL_CALLBACK_PORT_BASE = 23_000

type Environment = Readonly<Record<string, string>>

/** The sandbox knows no TLS. */
const SANDBOX: Environment = { RUNTIME_TLS: "false", RUNTIME_ALLOW_INSECURE: "true" }

/** A sandbox without signed tokens takes every bearer value for a name. */
const NAMES: Environment = {
  RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
  PROTO_AUTH_SERVICE_URL: "",
  MACP_AUTH_SERVICE_URL: "",
  PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true"
}

/**
 * Both services mint at our auth service; nothing else counts as a credential, so that a token which is refused is not
 * covered up by a name. The control plane may write policies: the launch service registers those of the packs through
 * it.
 */
const tokens = (authUrl: string): Environment => ({
  PROTO_AUTH_SERVICE_URL: authUrl,
  PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY: "true",
  RUNTIME_BEARER_TOKEN: "",
  RUNTIME_USE_DEV_HEADER: "false"
})

const credentials = (given: Environment, settings: StackSettings, authUrl: string | undefined): Environment => {
  if (authUrl !== undefined) return tokens(authUrl)
  if (settings.runtimeAddress === undefined) return NAMES
  // A runtime of somebody else's that trusts every caller needs no auth service; in production that has to be said.
  return isDevelopment(given)
    ? { PROTO_AUTH_DEVELOPMENT_CREDENTIALS: given["PROTO_AUTH_DEVELOPMENT_CREDENTIALS"] || "true" }
    : {}
}

const isDevelopment = (given: Environment) => (given["NODE_ENV"] || "development") === "development"

/**
 * How `POST /runs/:id/cancel` reaches the agents of this machine: a known port for each, and the permission to call an
 * address that is not a public one, which development gives.
 */
const cancelCallbacks = (given: Environment): Environment => ({
  PROTO_CANCEL_CALLBACK_PORT_BASE:
    given["PROTO_CANCEL_CALLBACK_PORT_BASE"] ||
    given["MACP_CANCEL_CALLBACK_PORT_BASE"] ||
    String(CANCEL_CALLBACK_PORT_BASE),
  ...(isDevelopment(given) && {
    CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS: given["CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS"] || "true"
  })
})

/**
 * The settings with which the services would run as processes of their own: those of this process, completed with where
 * their neighbours are. All other settings of the services stay what the user gave; a runtime of somebody else's is
 * spoken to as they say.
 */
export const serviceEnvironment = (
  given: Readonly<Record<string, string | undefined>>,
  settings: StackSettings,
  { authUrl, controlPlaneUrl, runtimeAddress }: Neighbours
): Record<string, string> => {
  const present = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const own: Environment = Object.fromEntries(present)
  const runtime: Environment = {
    ...own,
    ...cancelCallbacks(own),
    ...(settings.runtimeAddress === undefined ? SANDBOX : {}),
    ...credentials(own, settings, authUrl)
  }
  return {
    ...runtime,
    RUNTIME_ADDRESS: runtimeAddress,
    PACKS_DIR: settings.packsDir,
    SERVICE_ROOT: settings.root,
    PROTO_RUNTIME_ADDRESS: runtimeAddress,
    PROTO_RUNTIME_TLS: runtime["RUNTIME_TLS"] || "false",
    PROTO_RUNTIME_ALLOW_INSECURE: runtime["RUNTIME_ALLOW_INSECURE"] || "true",
    PROTO_CONTROL_PLANE_URL: controlPlaneUrl,
    ...(settings.apiKey !== undefined && { PROTO_CONTROL_PLANE_API_KEY: Redacted.value(settings.apiKey) })
  }
}
